#include "passes/fuse/expand.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "ir/rewrite.h"
#include "ops/axes.h"
#include "passes/fuse/fusable.h"

namespace ms {
namespace {

constexpr int64_t kLongestRow = 1 << 16;

Term Along(const char* reduction, const Term& x, const Ints& axes) {
  return x.emitter->Call(reduction, {x}, {{"axis", axes}, {"keep_dims", true}});
}
Term Call(const char* op, const Term& x) { return x.emitter->Call(op, {x}); }

// Half types are computed in Float32, as the kernels do.
DType Wide(DType t) { return t == DType::kFloat64 ? t : DType::kFloat32; }
Term Widened(const Term& x) { return CastTo(x, Wide(x.dtype())); }

// ---- softmax: the last axis
Terms ExpandSoftmax(ExpandContext& c) {
  Term x = Widened(c.in(0));
  Term e = Call("Exp", x - Along("ReduceMax", x, {-1}));
  return {CastTo(e * Call("Reciprocal", Along("ReduceSum", e, {-1})), c.in(0).dtype())};
}

Terms ExpandSoftmaxGrad(ExpandContext& c) {
  Term y = Widened(c.in(0)), dy = Widened(c.in(1));
  return {CastTo(y * (dy - Along("ReduceSum", y * dy, {-1})), c.in(0).dtype())};
}

Terms ExpandLogSoftmax(ExpandContext& c) {
  Term x = Widened(c.in(0));
  Term shifted = x - Along("ReduceMax", x, {-1});
  Term sum = Along("ReduceSum", Call("Exp", shifted), {-1});
  return {CastTo(shifted - Call("Log", sum), c.in(0).dtype())};
}

Terms ExpandLogSoftmaxGrad(ExpandContext& c) {
  Term y = Widened(c.in(0)), dy = Widened(c.in(1));
  return {CastTo(dy - Call("Exp", y) * Along("ReduceSum", dy, {-1}), c.in(0).dtype())};
}

// ---- layer norm
struct Rows {
  Ints axes;      // that are averaged over
  Ints repeated;  // that gamma does not have

  Rows(ExpandContext& c, const Shape& x) {
    int rank = x.rank();
    int norm = Wrap(c.attr<int64_t>("begin_norm_axis"), rank);
    int parameters = Wrap(c.attr<int64_t>("begin_params_axis"), rank);
    for (int i = norm; i < rank; ++i) axes.push_back(i);
    for (int i = 0; i < parameters; ++i) repeated.push_back(i);
  }
  Term Mean(const Term& x) const { return Along("ReduceMean", x, axes); }
};

Terms ExpandLayerNorm(ExpandContext& c) {
  Rows rows(c, c.in(0).shape());
  Term x = Widened(c.in(0)), gamma = Widened(c.in(1)), beta = Widened(c.in(2));
  Term mean = rows.Mean(x);
  Term centred = x - mean;
  Term variance = rows.Mean(centred * centred);
  Term r = Call("Rsqrt", variance + c.attr<double>("epsilon"));
  return {CastTo(centred * r * gamma + beta, c.in(0).dtype()), mean, variance};
}

// With h = (x - m) r and a = dy gamma: dx = r (a - mean(a) - h mean(a h)).
Terms ExpandLayerNormGrad(ExpandContext& c) {
  Rows rows(c, c.in(1).shape());
  Term dy = Widened(c.in(0)), x = Widened(c.in(1)), gamma = Widened(c.in(4));
  Term r = Call("Rsqrt", Widened(c.in(2)) + c.attr<double>("epsilon"));
  Term h = (x - Widened(c.in(3))) * r;
  Term a = dy * gamma;
  Term dx = r * (a - rows.Mean(a) - h * rows.Mean(a * h));
  auto parameter = [&](const Term& t) {
    Term sum = rows.repeated.empty() ? t : Along("ReduceSum", t, rows.repeated);
    return CastTo(Reshape(sum, c.in(4).shape()), c.in(4).dtype());
  };
  return {CastTo(dx, c.in(1).dtype()), parameter(dy * h), parameter(dy)};
}

// ---- whether all elements hold, or any: the least or greatest of numbers, which groups reduce
bool IsTest(const OpDef* op) {
  static const OpDef* const tests[] = {&Ops().Get("ReduceAll"), &Ops().Get("ReduceAny")};
  return op == tests[0] || op == tests[1];
}

Term ExpandTest(const Term& x, const Node& test) {
  static const OpDef* const all = &Ops().Get("ReduceAll");
  Ints axes(static_cast<size_t>(x.shape().rank()));
  std::iota(axes.begin(), axes.end(), 0);
  const char* reduction = test.op == all ? "ReduceMin" : "ReduceMax";
  Term found = Along(reduction, CastTo(x, DType::kInt32), axes);
  return Reshape(CastTo(found, DType::kBool), test.outputs[0].shape());
}

// What an op becomes, and its input that has the shape of the rows.
struct Expansion {
  Terms (*expand)(ExpandContext&);
  size_t rows;
};

const Expansion* ExpansionOf(const OpDef* op) {
  static const std::unordered_map<const OpDef*, Expansion> table{
      {&Ops().Get("Softmax"), {ExpandSoftmax, 0}},
      {&Ops().Get("SoftmaxGrad"), {ExpandSoftmaxGrad, 0}},
      {&Ops().Get("LogSoftmax"), {ExpandLogSoftmax, 0}},
      {&Ops().Get("LogSoftmaxGrad"), {ExpandLogSoftmaxGrad, 0}},
      {&Ops().Get("LayerNorm"), {ExpandLayerNorm, 0}},
      {&Ops().Get("LayerNormGrad"), {ExpandLayerNormGrad, 1}},
  };
  auto it = table.find(op);
  return it == table.end() ? nullptr : &it->second;
}

// How long a row is; 0 where rows do not lie together.
int64_t RowOf(const Node& node) {
  const Expansion* expansion = ExpansionOf(node.op);
  const Shape& x = node.inputs[expansion->rows].type().shape();
  if (x.symbolic() || x.empty()) return 0;
  if (node.op->AttrIndex("begin_norm_axis") >= 0) {
    int norm = Wrap(node.attr<int64_t>("begin_norm_axis"), x.rank());
    int parameters = Wrap(node.attr<int64_t>("begin_params_axis"), x.rank());
    return parameters > 0 ? x.Product(norm, x.rank()) : 0;
  }
  const Attr& axis = (*node.attrs)[static_cast<size_t>(node.op->AttrIndex("axis"))];
  const Ints* list = std::get_if<Ints>(&axis);
  int last = Wrap(list ? (*list)[0] : std::get<int64_t>(axis), x.rank());
  return last == x.rank() - 1 ? x.back() : 0;
}

class Expander {
 public:
  explicit Expander(Graph* graph) : graph_(graph), nodes_(*graph) {}

  bool Run() {
    std::vector<bool> chosen(graph_->nodes().size());
    // Both ways: a choice makes neighbours of others that are chosen.
    bool any = false;
    for (const Node* node : graph_->nodes()) {
      chosen[node->id] = (Candidate(*node) && Pays(*node)) || Tests(*node);
      any = any || chosen[node->id];
    }
    if (!any) return false;
    Rewriter rewriter(graph_);
    rewriter.Walk([&](Node& node) {
      if (node.id >= chosen.size() || !chosen[node.id]) return;
      rewriter.emitter().span = node.span;
      Terms inputs;
      for (const Var& v : node.inputs) inputs.push_back(rewriter.emitter().Wrap(v));
      if (IsTest(node.op)) {
        rewriter.Replace({&node, 0}, ExpandTest(inputs[0], node).var);
        return rewriter.Drop(node);
      }
      ExpandContext context(rewriter.emitter(), inputs, *node.op, *node.attrs);
      Terms results = ExpansionOf(node.op)->expand(context);
      for (uint32_t i = 0; i < results.size(); ++i) rewriter.Replace({&node, i}, results[i].var);
      rewriter.Drop(node);
    });
    return rewriter.changed();
  }

 private:
  bool Candidate(const Node& node) const {
    if (node.kind != NodeKind::kApply || !ExpansionOf(node.op)) return false;
    int64_t row = RowOf(node);
    return row > 1 && row <= kLongestRow;
  }

  // A test of a whole tensor that is computed, and would be stored for it alone.
  bool Tests(const Node& node) const {
    if (node.kind != NodeKind::kApply || !IsTest(node.op)) return false;
    const Var& x = node.inputs[0];
    if (!IsBool(x.type().dtype()) || x.type().shape().symbolic()) return false;
    Var source = nodes_.Source(x);
    int64_t size = x.type().shape().size();
    return nodes_.kind(source.node) == FuseKind::kCompute && !nodes_.IsResult(source.node) &&
           source.type().shape().size() == size && size > 1 && node.outputs[0].shape().size() == 1;
  }

  bool Fuses(const Node* node, int64_t size) const {
    return (nodes_.kind(node) == FuseKind::kCompute || Candidate(*node)) &&
           node->outputs[0].shape().size() == size;
  }

  // An input in the shape of the rows is made beside it, or its first result is used so.
  bool Pays(const Node& node) const {
    int64_t size = node.outputs[0].shape().size();
    bool made = false;
    for (const Var& v : node.inputs) {
      const Node* source = nodes_.Source(v).node;
      made = made || Fuses(source, size);
    }
    // Its kernel sums gamma's and beta's gradients on the way: what follows saves less than that.
    if (node.op == &Ops().Get("LayerNormGrad")) return made && FromRows(node);
    return made || Used(node, size);
  }

  bool Used(const Node& node, int64_t size) const {
    std::vector<const Node*> pending{&node};
    while (!pending.empty()) {
      const Node* next = pending.back();
      pending.pop_back();
      for (const Node* user : nodes_.users(next)) {
        if (nodes_.kind(user) == FuseKind::kGlue)
          pending.push_back(user);
        else if (Fuses(user, size))
          return true;
      }
    }
    return false;
  }

  // Whether another op over rows is a few elementwise steps before its tangent.
  bool FromRows(const Node& node) const {
    std::vector<const Node*> pending{nodes_.Source(node.inputs[0]).node};
    for (size_t i = 0; i < pending.size() && i < 16; ++i) {
      const Node* next = pending[i];
      if (next->kind == NodeKind::kApply && Candidate(*next)) return true;
      if (nodes_.kind(next) != FuseKind::kCompute) continue;
      for (const Var& v : next->inputs) pending.push_back(nodes_.Source(v).node);
    }
    return false;
  }

  Graph* graph_;
  FuseNodes nodes_;
};

}  // namespace

bool ExpandForFusion(Graph* graph) {
  bool any = std::any_of(graph->nodes().begin(), graph->nodes().end(), [](const Node* node) {
    return node->op && (IsTest(node->op) || ExpansionOf(node->op));
  });
  return any && Expander(graph).Run();
}

}  // namespace ms
