// Rules about shapes and element types, and rewrites of fills and broadcasts.
#include <algorithm>

#include "passes/simplify/rules.h"

namespace ms {
namespace {

Attr Compose(const std::vector<Attr>& arguments) {
  const Ints& inner = std::get<Ints>(arguments[0]);
  Ints perm = std::get<Ints>(arguments[1]);
  auto rank = static_cast<int64_t>(inner.size());
  for (int64_t& axis : perm) {
    int64_t from = inner[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
    axis = from < 0 ? from + rank : from;
  }
  return perm;
}

bool IsIdentity(const Match& m) {
  const Ints& perm = m.attr<Ints>("p");
  auto rank = static_cast<int64_t>(perm.size());
  for (int64_t i = 0; i < rank; ++i) {
    if (perm[static_cast<size_t>(i)] != i && perm[static_cast<size_t>(i)] + rank != i) return false;
  }
  return true;
}

// Of a matrix: its axes are swapped.
bool IsNoIdentity(const Match& m) { return !IsIdentity(m); }

Attr Not(const std::vector<Attr>& arguments) { return !std::get<bool>(arguments[0]); }

// Casts of x to a type that holds all its values.
bool IsWidening(const Match& m) {
  DType from = m["x"].type().dtype();
  DType to = m.attr<DType>("t");
  if (from == DType::kFloat16 || from == DType::kBFloat16)
    return to == DType::kFloat32 || to == DType::kFloat64;
  if (IsSigned(from) && IsSigned(to)) return ItemSize(to) >= ItemSize(from);
  return from == DType::kFloat32 && to == DType::kFloat64;
}

struct ArrayOps {
  const OpDef* fill = Ops().Find("Fill");
  const OpDef* broadcast = Ops().Find("BroadcastTo");
  const OpDef* transpose = Ops().Find("Transpose");
  const OpDef* stop_gradient = Ops().Find("StopGradient");
  const OpDef* add_n = Ops().Find("AddN");
  const OpDef* ones_like = Ops().Find("OnesLike");
  const OpDef* zeros_like = Ops().Find("ZerosLike");
};
const ArrayOps& Arrays() {
  static const ArrayOps ops;
  return ops;
}

bool IsFill(const Node& node) { return node.op && node.op == Arrays().fill; }

// Reshape, Transpose, ... of Fill is Fill; a view of a constant is a constant.
bool SimplifyFill(Rewriter& rewriter, Node& node) {
  bool rearranges = node.op->view || node.op == Arrays().broadcast || node.op == Arrays().transpose;
  if (!rearranges || node.op == Arrays().stop_gradient || node.inputs.size() != 1) return false;
  const Node& input = *node.inputs[0].node;
  const Type& type = node.outputs[0];
  Var made;
  if (IsFill(input) && !type.weak()) {
    made = rewriter.emitter().Full(input.attr<double>("value"), type).var;
  } else if (input.kind == NodeKind::kConstant && node.op->view) {
    made = rewriter.emitter().Constant(input.value.Reshaped(type.shape()), type.weak());
  } else {
    return false;
  }
  rewriter.Replace({&node, 0}, made);
  return true;
}

// The ones that a loss is seeded with depend on nothing: else what goes back would have to wait for
// all that goes forward. Larger ones stay, as they lie where their pattern does.
bool SimplifyLike(Rewriter& rewriter, Node& node) {
  bool ones = node.op == Arrays().ones_like, zeros = node.op == Arrays().zeros_like;
  const Type& type = node.outputs[0];
  if (!(ones || zeros) || type.shape().rank() > 0 || type.weak()) return false;
  rewriter.Replace({&node, 0}, rewriter.emitter().Scalar(ones ? 1 : 0, type.dtype()).var);
  return true;
}

bool IsSpread(const Var& v) {
  return v.node->op &&
         (v.node->op == Arrays().broadcast || (IsFill(*v.node) && v.type().shape().rank() > 0));
}

// An op with a scalar body broadcasts by itself: it can read the small input of a BroadcastTo, or
// one number in place of a Fill.
bool SimplifyBroadcasts(Rewriter& rewriter, Node& node) {
  if (!node.op->scalar || node.inputs.size() < 2) return false;
  if (std::none_of(node.inputs.begin(), node.inputs.end(), IsSpread)) return false;
  Types types;
  for (const Var& v : node.inputs) {
    if (!IsSpread(v))
      types.push_back(v.type());
    else if (IsFill(*v.node))
      types.emplace_back(v.type().dtype(), Shape{});
    else
      types.push_back(v.node->inputs[0].type());
  }
  try {
    static const Attrs kNone;
    if (!(Infer(*node.op, types, node.attrs ? *node.attrs : kNone) == node.outputs)) return false;
  } catch (const Error&) {
    return false;  // an op that broadcasts by rules of its own
  }
  Vars inputs = node.inputs;
  for (Var& v : inputs) {
    if (!IsSpread(v)) continue;
    v = IsFill(*v.node)
            ? rewriter.emitter().Scalar(v.node->attr<double>("value"), v.type().dtype()).var
            : v.node->inputs[0];
  }
  rewriter.Replace({&node, 0}, rewriter.emitter().Emit(*node.op, inputs, node.attrs)[0]);
  return true;
}

// AddN of one tensor, or with zeros among its inputs.
bool SimplifySum(Rewriter& rewriter, Node& node) {
  if (node.op != Arrays().add_n) return false;
  Vars inputs;
  for (const Var& v : node.inputs) {
    if (!IsSplat(v, 0)) inputs.push_back(v);
  }
  if (inputs.empty()) inputs.push_back(node.inputs[0]);
  if (inputs.size() == node.inputs.size() && inputs.size() > 1) return false;
  Var sum =
      inputs.size() == 1 ? inputs[0] : rewriter.emitter().Emit(*node.op, inputs, node.attrs)[0];
  if (!(sum.type() == node.outputs[0])) return false;
  rewriter.Replace({&node, 0}, sum);
  return true;
}

}  // namespace

const RuleTable& ArrayRules() {
  static const RuleTable rules{
      {
          Rule("Reshape(x)").To("x"),
          Rule("Flatten(x)").To("x"),
          Rule("Squeeze(x)").To("x"),
          Rule("BroadcastTo(x)").To("x"),
          Rule("Tile(x)").To("x"),
          Rule("Cast(x)").To("x"),
          Rule("Identity(x)").To("x"),
          Rule("Reshape(Reshape(x), shape=s)").To("Reshape(x, shape=s)"),
          Rule("Reshape(Flatten(x), shape=s)").To("Reshape(x, shape=s)"),
          Rule("Reshape(Squeeze(x), shape=s)").To("Reshape(x, shape=s)"),
          Rule("Reshape(ExpandDims(x), shape=s)").To("Reshape(x, shape=s)"),
          Rule("BroadcastTo(BroadcastTo(x), shape=s)").To("BroadcastTo(x, shape=s)"),
          Rule("Cast(Cast(x, dtype=t), dtype=u)").When(IsWidening).To("Cast(x, dtype=u)"),
          Rule("Transpose(x, perm=p)").When(IsIdentity).To("x"),
          Rule("Transpose(Transpose(x, perm=p), perm=q)").To("Transpose(x, perm=Compose(p, q))"),
          Rule("Reshape(ReduceSum(x, axis=a, keep_dims=1))")
              .To("ReduceSum(x, axis=a, keep_dims=0)"),
      },
      {{"Compose", Compose}}};
  return rules;
}

const RuleTable& FastRules() {
  static const RuleTable rules{
      {
          Rule("MatMul(Transpose(x, perm=p), y, transpose_a=s, transpose_b=t)")
              .When(IsNoIdentity)
              .To("MatMul(x, y, transpose_a=Not(s), transpose_b=t)"),
          Rule("MatMul(x, Transpose(y, perm=p), transpose_a=s, transpose_b=t)")
              .When(IsNoIdentity)
              .To("MatMul(x, y, transpose_a=s, transpose_b=Not(t))"),
      },
      {{"Not", Not}}};
  return rules;
}

bool SimplifyArrays(Rewriter& rewriter, Node& node) {
  return SimplifyFill(rewriter, node) || SimplifyLike(rewriter, node) ||
         SimplifyBroadcasts(rewriter, node) || SimplifySum(rewriter, node);
}

}  // namespace ms
