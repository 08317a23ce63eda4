// Products, softmax and products in a row become Attention: [drop](softmax(scale q k^T + mask)) v
// as users write it, before gradients are made of it, so that Attention's own gradient is used. The
// matrices in between must have no other reader. Where a scale lies (on the product, or as a
// division), which operand the mask is, and how a transposed operand is written makes no
// difference.
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/rewrite.h"
#include "passes/applies.h"
#include "passes/passes.h"

namespace ms {
namespace {

struct Names {
  const OpDef* matmul = Ops().Find("MatMul");
  const OpDef* batch_matmul = Ops().Find("BatchMatMul");
  const OpDef* softmax = Ops().Find("Softmax");
  const OpDef* dropout = Ops().Find("Dropout");
  const OpDef* transpose = Ops().Find("Transpose");
  const OpDef* add = Ops().Find("Add");
  const OpDef* sub = Ops().Find("Sub");
  const OpDef* mul = Ops().Find("Mul");
  const OpDef* div = Ops().Find("Div");
  const OpDef* real_div = Ops().Find("RealDiv");
  const OpDef* select = Ops().Find("Select");
  const OpDef* fill = Ops().Find("Fill");
  const OpDef* broadcast = Ops().Find("BroadcastTo");
  const OpDef* stop_gradient = Ops().Find("StopGradient");
};
const Names& Known() {
  static const Names names;
  return names;
}

// An operand of a product, perhaps with its last two axes the other way round.
struct Operand {
  Var value;
  bool across = false;
};

struct Attention {
  Operand query, key, value;
  struct Added {
    Var mask;
    bool negative;
  };
  std::vector<Added> added;
  Var hidden;  // a boolean mask
  bool hides_where_false = false;
  double scale = 1, fill = 0;
  const Node* dropout = nullptr;
};

bool IsProduct(const Node& node) {
  return node.op && (node.op == Known().matmul || node.op == Known().batch_matmul);
}

bool SwapsLastAxes(const Ints& perm) {
  auto rank = static_cast<int64_t>(perm.size());
  auto axis = [&](int64_t i) { return perm[static_cast<size_t>(i)]; };
  for (int64_t i = 0; i < rank; ++i) {
    int64_t from = i < rank - 2 ? i : 2 * rank - 3 - i;
    if (axis(i) != from && axis(i) + rank != from) return false;
  }
  return rank >= 2;
}

// The operand without a transposition that the product, or a node before it, makes.
Operand Seen(const Var& v, bool transposed) {
  if (v.node->op == Known().transpose && SwapsLastAxes(v.node->attr<Ints>("perm"))) {
    return {v.node->inputs[0], !transposed};
  }
  return {v, transposed};
}

// The value without the broadcasting that its reader does by itself.
Var Narrow(Var v) {
  while (v.node->op && v.node->op == Known().broadcast) v = v.node->inputs[0];
  return v;
}

// The number that all elements are.
std::optional<double> Number(const Var& given) {
  Var v = Narrow(given);
  const Node& node = *v.node;
  if (node.op && node.op == Known().fill) return node.attr<double>("value");
  if (node.kind != NodeKind::kConstant || node.value.size() == 0) return std::nullopt;
  double first = node.value.Piece(0, Shape{}).Item();
  if (!IsSplat(v, first)) return std::nullopt;
  return first;
}

Shape Lead(const Var& v) { return v.type().shape().Part(0, v.type().shape().rank() - 2); }

class Matcher {
 public:
  // `differentiated`: a gradient is still to be made of the graph.
  Matcher(const Graph& graph, bool differentiated) : differentiated_(differentiated) {
    for (const Node* node : graph.nodes()) {
      for (const Var& v : node->inputs) ++uses_[v];
    }
    for (const Var& v : graph.outputs()) ++uses_[v];
    for (const Node* node : graph.parameters()) active_[node] = IsDifferentiable(DTypeOf(node));
  }

  std::optional<Attention> At(const Node& root) {
    if (!IsProduct(root) || root.attr<bool>("transpose_a")) return std::nullopt;
    Attention found;
    Var p = root.inputs[0];
    if (!Once(p)) return std::nullopt;
    if (p.node->op == Known().dropout && p.index == 0) {
      if (uses_[{p.node, 1}] != 0) return std::nullopt;
      found.dropout = p.node;
      p = p.node->inputs[0];
    }
    if (!p.node->op || p.node->op != Known().softmax || !Once(p) || !AlongRows(*p.node))
      return std::nullopt;
    found.value = Seen(root.inputs[1], root.attr<bool>("transpose_b"));
    shape_ = p.type().shape();
    dtype_ = p.type().dtype();
    if (!Scores(p.node->inputs[0], &found)) return std::nullopt;
    bool same = Lead(found.query.value) == Lead(found.value.value) &&
                Lead(found.query.value) == Lead(found.key.value) &&
                Lead(root.inputs[0]) == Lead(found.query.value);
    if (!same) return std::nullopt;
    return found;
  }

 private:
  static DType DTypeOf(const Node* node) {
    return node->outputs[0].is_tensor() ? node->outputs[0].dtype() : DType::kBool;
  }
  bool Once(const Var& v) { return uses_[v] == 1; }

  static bool AlongRows(const Node& softmax) {
    const Attr& axis = (*softmax.attrs)[static_cast<size_t>(softmax.op->AttrIndex("axis"))];
    const Ints* list = std::get_if<Ints>(&axis);
    int64_t at = list ? (*list)[0] : std::get<int64_t>(axis);
    return at == -1 || at == softmax.outputs[0].shape().rank() - 1;
  }

  // From the softmax down to the product of queries and keys: masks first, then factors.
  bool Scores(const Var& v, Attention* found) {
    const Node& node = *v.node;
    if (!node.op || !Once(v) || !(v.type().shape() == shape_) || v.type().dtype() != dtype_)
      return false;
    const Names& ops = Known();
    if (node.op == ops.broadcast) return Scores(node.inputs[0], found);  // to the shape it has
    if (IsProduct(node)) {
      if (node.attr<bool>("transpose_a")) return false;
      found->query = {node.inputs[0], false};
      found->key = Seen(node.inputs[1], !node.attr<bool>("transpose_b"));
      return true;
    }
    if (node.op == ops.mul || node.op == ops.div || node.op == ops.real_div)
      return Scaled(node, found);
    if (found->scale != 1) return false;
    if (node.op == ops.add || node.op == ops.sub) {
      if (Masked(node, 0, found)) return true;
      return node.op == ops.add && Masked(node, 1, found);
    }
    return node.op == ops.select && Hidden(node, found);
  }

  bool Scaled(const Node& node, Attention* found) {
    for (size_t i : {size_t{0}, size_t{1}}) {
      if (i == 1 && node.op != Known().mul) return false;
      std::optional<double> factor = Number(node.inputs[1 - i]);
      if (!factor || (node.op != Known().mul && *factor == 0)) continue;
      found->scale = node.op == Known().mul ? found->scale * *factor : found->scale / *factor;
      return Scores(node.inputs[i], found);
    }
    return false;
  }

  bool Masked(const Node& node, size_t i, Attention* found) {
    Var mask = Narrow(node.inputs[1 - i]);
    if (found->hidden || mask.type().dtype() != dtype_ || !Worth(mask)) return false;
    Attention tried = *found;
    tried.added.push_back({mask, node.op == Known().sub});
    if (!Scores(node.inputs[i], &tried)) return false;
    *found = std::move(tried);
    return true;
  }

  bool Hidden(const Node& node, Attention* found) {
    if (found->hidden || !found->added.empty()) return false;
    for (size_t i : {size_t{1}, size_t{2}}) {
      std::optional<double> fill = Number(node.inputs[i]);
      if (!fill) continue;
      found->hidden = Narrow(node.inputs[0]);
      found->hides_where_false = i == 2;
      found->fill = *fill;
      if (!Scores(node.inputs[3 - i], found)) return false;
      return found->added.empty();
    }
    return false;
  }

  // A mask as large as all scores that is computed, or one that learns, is better off as it is.
  bool Worth(const Var& mask) {
    bool computed = mask.node->kind == NodeKind::kApply;
    if (computed && mask.type().shape() == shape_ && shape_.rank() > 2) return false;
    return !differentiated_ || !Active(*mask.node);
  }

  // Whether a parameter of the graph, of which a gradient may be asked, is in the value.
  bool Active(const Node& node) {
    auto [it, fresh] = active_.emplace(&node, false);
    if (!fresh) return it->second;
    bool any = false;
    if (node.op != Known().stop_gradient) {
      for (const Var& v : node.inputs) {
        if (!v.type().is_tensor() || IsDifferentiable(v.type().dtype())) any |= Active(*v.node);
      }
    }
    return active_[&node] = any;
  }

  bool differentiated_;
  std::unordered_map<Var, int, VarHash> uses_;
  std::unordered_map<const Node*, bool> active_;
  Shape shape_;  // of the scores that are being matched
  DType dtype_ = DType::kFloat32;
};

class Builder {
 public:
  explicit Builder(Rewriter& rewriter) : rewriter_(rewriter), emit_(rewriter.emitter()) {}

  // Instead of the random choice itself, what it would be made from.
  void TakeKey(const Node& dropout) {
    keys_[&dropout] = emit_.Call(
        "DropoutKey", {},
        {{"Seed0", dropout.attr<int64_t>("Seed0")}, {"Seed1", dropout.attr<int64_t>("Seed1")}});
    rewriter_.Replace({const_cast<Node*>(&dropout), 0}, dropout.inputs[0]);
    rewriter_.Drop(dropout);
  }

  Var Make(const Attention& a) {
    Term key =
        a.dropout ? keys_.at(a.dropout) : emit_.Full(0, Type(DType::kInt64, Shape{int64_t{2}}));
    double keep = a.dropout ? a.dropout->attr<double>("keep_prob") : 1.0;
    return emit_
        .CallMany("Attention",
                  {Straight(a.query), Straight(a.key), Straight(a.value), Mask(a), key},
                  {{"scale", a.scale}, {"fill", a.fill}, {"keep_prob", keep}})[0]
        .var;
  }

 private:
  Term Now(const Var& v) { return emit_.Wrap(rewriter_.Current(v)); }

  Term Straight(const Operand& operand) {
    Term x = Now(operand.value);
    if (!operand.across) return x;
    Ints perm;
    for (int i = 0; i < x.shape().rank(); ++i) perm.push_back(i);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return emit_.Call("Transpose", {x}, {{"perm", perm}});
  }

  Term Mask(const Attention& a) {
    if (a.hidden) {
      Term hidden = Now(a.hidden);
      return a.hides_where_false ? emit_.Call("LogicalNot", {hidden}) : hidden;
    }
    Term sum;
    for (size_t i = a.added.size(); i-- > 0;) {
      Term mask = Now(a.added[i].mask);
      if (a.added[i].negative) mask = -mask;
      sum = sum ? sum + mask : mask;
    }
    return sum ? sum : emit_.Full(0, Type(DType::kBool, Shape{}));
  }

  Rewriter& rewriter_;
  GraphEmitter& emit_;
  std::unordered_map<const Node*, Term> keys_;
};

bool MatchIn(Graph* graph, bool differentiated) {
  Matcher matcher(*graph, differentiated);
  std::unordered_map<const Node*, Attention> found;
  std::unordered_set<const Node*> dropouts;
  for (const Node* node : graph->nodes()) {
    if (!node->op) continue;
    if (auto match = matcher.At(*node)) {
      if (match->dropout) dropouts.insert(match->dropout);
      found.emplace(node, std::move(*match));
    }
  }
  if (found.empty()) return false;
  Rewriter rewriter(graph);
  Builder builder(rewriter);
  rewriter.Walk([&](Node& node) {
    if (dropouts.contains(&node)) builder.TakeKey(node);
    auto at = found.find(&node);
    if (at == found.end()) return;
    rewriter.Replace({&node, 0}, builder.Make(at->second));
    rewriter.Drop(node);
  });
  return true;
}

}  // namespace

bool MatchAttention(Module& module) {
  GraphSet differentiated = GraphsToTransform(module);
  bool changed = false;
  for (const auto& graph : module.graphs()) {
    if (Applies(*graph, "Softmax"))
      changed |= MatchIn(graph.get(), differentiated.contains(graph.get()));
  }
  return changed;
}

}  // namespace ms
