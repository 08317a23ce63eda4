// Products, softmax and products in a row become Attention: [drop](softmax(scale q k^T + mask)) v
// as users write it, before gradients are made of it, so that Attention's own gradient is used. The
// matrices in between must have no other reader. It makes no difference where a scale lies (on the
// product, before or behind the mask, or as a division), which operand the mask is, how a
// transposed operand is written, whether heads and batch are one axis or two, which of the operands
// heads share, whether the softmax is an op or written out, and whether it works in Float32 between
// products of a half type.
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/rewrite.h"
#include "ops/elementwise.h"
#include "passes/applies.h"
#include "passes/passes.h"

namespace ms {
namespace {

struct Names {
  const OpDef* matmul = Ops().Find("MatMul");
  const OpDef* batch_matmul = Ops().Find("BatchMatMul");
  const OpDef* softmax = Ops().Find("Softmax");
  const OpDef* log_softmax = Ops().Find("LogSoftmax");
  const OpDef* exp = Ops().Find("Exp");
  const OpDef* sum = Ops().Find("ReduceSum");
  const OpDef* max = Ops().Find("ReduceMax");
  const OpDef* cast = Ops().Find("Cast");
  const OpDef* reshape = Ops().Find("Reshape");
  const OpDef* dropout = Ops().Find("Dropout");
  const OpDef* transpose = Ops().Find("Transpose");
  const OpDef* add = Ops().Find("Add");
  const OpDef* sub = Ops().Find("Sub");
  const OpDef* mul = Ops().Find("Mul");
  const OpDef* div = Ops().Find("Div");
  const OpDef* real_div = Ops().Find("RealDiv");
  const OpDef* select = Ops().Find("Select");
  const OpDef* fill = Ops().Find("Fill");
  const OpDef* ones_like = Ops().Find("OnesLike");
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
    double factor;
  };
  std::vector<Added> added;
  struct Hidden {
    Var mask;  // boolean
    bool where_false;
  };
  std::vector<Hidden> hidden;
  double scale = 1, fill = 0;
  const Node* dropout = nullptr;
  Shape lead;  // what comes before rows and columns where masks apply
  DType dtype = DType::kFloat32;
  Type result;

  bool masked() const { return !added.empty() || !hidden.empty(); }
  // Masks of both kinds are one sum where what is hidden can never come back.
  bool Representable() const {
    return hidden.empty() || added.empty() || fill == -std::numeric_limits<double>::infinity();
  }
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
  if (node.op && node.op == Known().ones_like) return 1;
  if (node.op && node.op == Known().mul) {
    std::optional<double> x = Number(node.inputs[0]);
    std::optional<double> y = x ? Number(node.inputs[1]) : std::nullopt;
    return y ? std::optional(*x * *y) : std::nullopt;
  }
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
      if (node->op && node->op == Known().ones_like) continue;  // reads no values
      for (const Var& v : node->inputs) ++uses_[v];
    }
    for (const Var& v : graph.outputs()) ++uses_[v];
    for (const Node* node : graph.parameters()) active_[node] = IsContinuous(DTypeOf(node));
  }

  std::optional<Attention> At(const Node& root) {
    if (!IsProduct(root) || root.attr<bool>("transpose_a")) return std::nullopt;
    Attention found;
    found.result = root.outputs[0];
    Shape lead = Lead({const_cast<Node*>(&root), 0});
    if (!(Lead(root.inputs[0]) == lead)) return std::nullopt;
    Var p = Probabilities(root.inputs[0], &found);
    Var scores = p ? Logits(p) : Var{};
    if (!scores) return std::nullopt;
    found.value = Seen(root.inputs[1], root.attr<bool>("transpose_b"));
    found.lead = lead;
    found.dtype = p.type().dtype() == found.result.dtype() ? p.type().dtype() : DType::kFloat32;
    if (!Scores(scores, &found) || !found.Representable()) return std::nullopt;
    return found;
  }

 private:
  static DType DTypeOf(const Node* node) {
    return node->outputs[0].is_tensor() ? node->outputs[0].dtype() : DType::kBool;
  }
  bool Once(const Var& v) { return uses_[v] == 1; }

  // Whether the op reads or reduces the last axis alone.
  static bool AlongRows(const Node& node) {
    const Attr& axis = (*node.attrs)[static_cast<size_t>(node.op->AttrIndex("axis"))];
    const Ints* list = std::get_if<Ints>(&axis);
    if (list && list->size() != 1) return false;
    int64_t at = list ? (*list)[0] : std::get<int64_t>(axis);
    return at == -1 || at == node.inputs[0].type().shape().rank() - 1;
  }

  // Casts between half types and Float32, and reshapes that keep the matrices.
  static bool Passes(const Node& node) {
    const Type& from = node.inputs.empty() ? node.outputs[0] : node.inputs[0].type();
    if (node.op == Known().cast) {
      DType a = from.dtype(), b = node.outputs[0].dtype();
      return IsFloating(a) && IsFloating(b) && a != DType::kFloat64 && b != DType::kFloat64;
    }
    if (node.op != Known().reshape) return false;
    const Shape& to = node.outputs[0].shape();
    return from.shape().rank() >= 2 && to.rank() >= 2 && from.shape().dim(-1) == to.dim(-1) &&
           from.shape().dim(-2) == to.dim(-2);
  }

  // From the left operand of the last product to what makes it.
  Var Probabilities(Var p, Attention* found) {
    for (;; p = p.node->inputs[0]) {
      if (!Once(p) || !p.node->op) return {};
      if (p.node->op == Known().dropout && p.index == 0 && !found->dropout) {
        if (uses_[{p.node, 1}] != 0) return {};
        found->dropout = p.node;
      } else if (!Passes(*p.node)) {
        return p;
      }
    }
  }

  // What the value is the softmax of, along rows; null if it is none.
  Var Logits(const Var& p) {
    const Node& node = *p.node;
    const Names& ops = Known();
    if (node.op == ops.softmax) return AlongRows(node) ? node.inputs[0] : Var{};
    if (node.op == ops.exp) {
      const Var& v = node.inputs[0];
      bool log = v.node->op && v.node->op == ops.log_softmax && Once(v) && AlongRows(*v.node);
      return log ? v.node->inputs[0] : Var{};
    }
    return node.op == ops.div || node.op == ops.real_div ? WrittenOut(node) : Var{};
  }

  // exp(x) / sum(exp(x)), or of x less its largest element.
  Var WrittenOut(const Node& node) {
    const Names& ops = Known();
    const Var& powers = node.inputs[0];
    auto of_rows = [&](const Var& given, const OpDef* op, const Var& of) {
      Var v = Narrow(given);
      if (v.node->op && v.node->op == ops.stop_gradient) v = Narrow(v.node->inputs[0]);
      return v.node->op && v.node->op == op && v.node->inputs[0] == of && AlongRows(*v.node) &&
             v.node->attr<bool>("keep_dims");
    };
    bool fits = powers.node->op && powers.node->op == ops.exp && uses_[powers] == 2 &&
                of_rows(node.inputs[1], ops.sum, powers);
    if (!fits) return {};
    const Var& x = powers.node->inputs[0];
    if (!x.node->op || x.node->op != ops.sub) return x;
    const Var& logits = x.node->inputs[0];
    if (!of_rows(x.node->inputs[1], ops.max, logits)) return x;
    if (!Once(x) || uses_[logits] != 2) return {};
    uses_[logits] = 1;  // both uses become one
    return logits;
  }

  // From the softmax down to the product of queries and keys.
  bool Scores(const Var& v, Attention* found) {
    const Node& node = *v.node;
    if (!node.op || !Once(v)) return false;
    const Names& ops = Known();
    if (v.type().dtype() != found->dtype) {
      if (v.type().dtype() == DType::kFloat64 || found->dtype == DType::kFloat64) return false;
      found->dtype = DType::kFloat32;
    }
    if (node.op == ops.broadcast) {  // to the shape it has
      return node.inputs[0].type() == v.type() && Scores(node.inputs[0], found);
    }
    if (Passes(node)) return Scores(node.inputs[0], found);
    if (IsProduct(node)) {
      if (node.attr<bool>("transpose_a")) return false;
      found->query = {node.inputs[0], false};
      found->key = Seen(node.inputs[1], !node.attr<bool>("transpose_b"));
      return true;
    }
    if (node.op == ops.mul || node.op == ops.div || node.op == ops.real_div)
      return Scaled(node, found);
    if (node.op == ops.add || node.op == ops.sub) {
      if (Masked(node, 0, found)) return true;
      return node.op == ops.add && Masked(node, 1, found);
    }
    return node.op == ops.select && Hidden(node, found);
  }

  // All masks must apply to scores of one shape.
  static bool AppliesAt(const Var& scores, Attention* found) {
    if (found->masked() && !(found->lead == Lead(scores))) return false;
    found->lead = Lead(scores);
    return true;
  }

  bool Scaled(const Node& node, Attention* found) {
    for (size_t i : {size_t{0}, size_t{1}}) {
      if (i == 1 && node.op != Known().mul) return false;
      std::optional<double> factor = Number(node.inputs[1 - i]);
      if (!factor || (node.op != Known().mul && *factor == 0)) continue;
      if (!(node.inputs[i].type() == node.outputs[0])) return false;
      found->scale = node.op == Known().mul ? found->scale * *factor : found->scale / *factor;
      return Scores(node.inputs[i], found);
    }
    return false;
  }

  // What was met so far lies behind the mask: the scale scales it too.
  bool Masked(const Node& node, size_t i, Attention* found) {
    Var mask = Narrow(node.inputs[1 - i]);
    const Var& scores = node.inputs[i];
    if (!(scores.type() == node.outputs[0]) || !Worth(mask, scores)) return false;
    Attention tried = *found;
    if (!AppliesAt(scores, &tried)) return false;
    tried.added.push_back({mask, node.op == Known().sub ? -tried.scale : tried.scale});
    if (!Scores(scores, &tried)) return false;
    *found = std::move(tried);
    return true;
  }

  bool Hidden(const Node& node, Attention* found) {
    for (size_t i : {size_t{1}, size_t{2}}) {
      std::optional<double> fill = Number(node.inputs[i]);
      const Var& scores = node.inputs[3 - i];
      if (!fill || !(scores.type() == node.outputs[0])) continue;
      double scaled = *fill * found->scale;
      if (!found->hidden.empty() && found->fill != scaled) return false;
      if (!AppliesAt(scores, found)) return false;
      found->hidden.push_back({Narrow(node.inputs[0]), i == 2});
      found->fill = scaled;
      return Scores(scores, found);
    }
    return false;
  }

  // A mask as large as all scores that is computed, or one that learns, is better off as it is: its
  // gradient needs the scores. What is the same for all queries, or another for each item of a
  // batch, comes from data: nobody will ask for its gradient.
  bool Worth(const Var& mask, const Var& scores) {
    bool computed = mask.node->kind == NodeKind::kApply;
    const Shape& shape = scores.type().shape();
    if (computed && mask.type().shape() == shape && shape.rank() > 2) return false;
    const Shape& own = mask.type().shape();
    bool of_keys = own.rank() < 2 || own.dim(-2) == 1;
    bool of_items = own.rank() == shape.rank() && own.rank() > 2 && own.dim(0) == shape.dim(0) &&
                    !(own.dim(0) == 1);
    return !differentiated_ || of_keys || of_items || !Active(*mask.node);
  }

  // Whether a parameter of the graph, of which a gradient may be asked, is in the value.
  bool Active(const Node& node) {
    auto [it, fresh] = active_.emplace(&node, false);
    if (!fresh) return it->second;
    bool any = false;
    if (node.op != Known().stop_gradient) {
      for (const Var& v : node.inputs) {
        if (!v.type().is_tensor() || IsContinuous(v.type().dtype())) any |= Active(*v.node);
      }
    }
    return active_[&node] = any;
  }

  bool differentiated_;
  std::unordered_map<Var, int, VarHash> uses_;
  std::unordered_map<const Node*, bool> active_;
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
    Term q = Straight(a.query), k = Straight(a.key), v = Straight(a.value);
    Shape scores;
    MS_ASSERT(Broadcast(Lead(q.var), Lead(k.var), &scores));
    Shape result = a.result.shape().Part(0, a.result.shape().rank() - 2);
    Terms in{Ready(q, scores, a), Ready(k, scores, a), Ready(v, result, a), Mask(a), key};
    Term made = emit_.CallMany(
        "Attention", in,
        {{"scale", a.scale}, {"fill", a.fill}, {"masked", a.masked()}, {"keep_prob", keep}})[0];
    if (!(made.shape() == a.result.shape())) made = Reshape(made, a.result.shape());
    return CastTo(made, a.result.dtype()).var;
  }

 private:
  Term Now(const Var& v) { return emit_.Wrap(rewriter_.Current(v)); }

  // With the leading dimensions that the product broadcasts it to, as masks see them.
  Term Ready(Term x, const Shape& lead, const Attention& a) {
    Shape matrix = x.shape().Part(x.shape().rank() - 2, x.shape().rank());
    if (!(Lead(x.var) == lead)) x = BroadcastTo(x, Join({lead, matrix}));
    if (!(lead == a.lead)) x = Reshape(x, Join({a.lead, matrix}));
    return CastTo(x, a.dtype);
  }

  Term Straight(const Operand& operand) {
    Term x = Now(operand.value);
    if (!operand.across) return x;
    Ints perm;
    for (int i = 0; i < x.shape().rank(); ++i) perm.push_back(i);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return emit_.Call("Transpose", {x}, {{"perm", perm}});
  }

  Term Hidden(const Attention& a) {
    Term all;
    for (const Attention::Hidden& h : a.hidden) {
      Term hidden = Now(h.mask);
      if (h.where_false) hidden = emit_.Call("LogicalNot", {hidden});
      all = all ? emit_.Call("LogicalOr", {hidden, all}) : hidden;
    }
    return all;
  }

  Term Mask(const Attention& a) {
    if (a.added.empty()) {
      return a.hidden.empty() ? emit_.Full(0, Type(DType::kBool, Shape{})) : Hidden(a);
    }
    Term sum;
    for (size_t i = a.added.size(); i-- > 0;) {
      Term mask = CastTo(Now(a.added[i].mask), a.dtype);
      double factor = a.added[i].factor;
      if (factor != 1) mask = factor == -1 ? -mask : mask * factor;
      sum = sum ? sum + mask : mask;
    }
    if (a.hidden.empty()) return sum;
    return Where(Hidden(a), emit_.Scalar(a.fill, a.dtype), sum);
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
    if (Applies(*graph, "Softmax") || Applies(*graph, "Exp"))  // also written out
      changed |= MatchIn(graph.get(), differentiated.contains(graph.get()));
  }
  return changed;
}

}  // namespace ms
