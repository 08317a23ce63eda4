// Recurrent layers over whole sequences. The product of the inputs with their weights lies outside,
// where it is one large matrix product; the op is what one step hands to the next. Its gradient is
// an op as well, whose own gradients come from its composition (ops/recurrent_steps.cc).
#include "ops/recurrent_steps.h"
#include "ops/shard.h"

namespace ms {
namespace {

struct LayerCheck {
  const InferContext& c;
  RecurrentMode mode = RecurrentMode::kLstm;

  explicit LayerCheck(const InferContext& context) : c(context) {
    const auto& name = c.attr<std::string>("mode");
    c.Check(name == "lstm" || name == "gru" || name == "tanh" || name == "relu",
            "'mode' must be 'lstm', 'gru', 'tanh' or 'relu', but got '{}'", name);
    mode = RecurrentModeOf(name);
    c.CheckRank(0, 3);
    c.CheckRank(1, 2);
  }
  Dim batch() const { return c.dim(0, c.attr<bool>("batch_first") ? 0 : 1); }
  Dim hidden() const { return c.dim(1, 1); }
  Shape cells() const { return mode == RecurrentMode::kLstm ? Shape{batch(), hidden()} : Shape{0}; }
  // One row for each step and sequence.
  Shape Rows(int blocks) const { return c.shape(0).With(2, hidden() * blocks); }

  void Expect(size_t i, const Shape& shape) const {
    c.Check(SameSizes(c.shape(i), shape), "'{}' must have shape {}, but got {}", c.input_name(i),
            shape, c.shape(i));
    if (!Contains(kIndex, c.dtype(i))) c.CheckSameDType(0, i);
  }
};

Types InferRecurrence(InferContext& c) {
  LayerCheck layer(c);
  Dim hidden = layer.hidden();
  layer.Expect(0, layer.Rows(RecurrentGates(layer.mode)));
  layer.Expect(1, {layer.batch(), hidden});
  layer.Expect(2, layer.cells());
  layer.Expect(3, {hidden * RecurrentGates(layer.mode), hidden});
  layer.Expect(4, {hidden * RecurrentBiases(layer.mode)});
  layer.Expect(5, {layer.batch()});
  bool keep = c.attr<bool>("keep");
  return {c.Like(0, layer.Rows(1)), c.in(1), c.in(2),
          c.Like(0, keep ? layer.Rows(RecurrentSaved(layer.mode)) : Shape{0}),
          c.Like(0, keep ? layer.Rows(1) : Shape{0})};
}

Types InferRecurrenceGrad(InferContext& c) {
  LayerCheck layer(c);
  Dim hidden = layer.hidden();
  int gates = RecurrentGates(layer.mode);
  layer.Expect(0, layer.Rows(1));
  layer.Expect(1, {layer.batch(), hidden});
  layer.Expect(2, layer.cells());
  layer.Expect(3, {hidden * gates, hidden});
  layer.Expect(4, {layer.batch()});
  layer.Expect(5, layer.Rows(RecurrentSaved(layer.mode)));
  layer.Expect(6, layer.Rows(1));
  Type dx = c.Like(0, layer.Rows(gates));
  return {dx, layer.mode == RecurrentMode::kGru ? dx : c.Like(0, Shape{0}), c.in(1), c.in(2)};
}

NamedAttrs LayerAttrs(const GradContext& g) {
  return {{"mode", g.attr<std::string>("mode")},
          {"reverse", g.attr<bool>("reverse")},
          {"batch_first", g.attr<bool>("batch_first")}};
}

// With d of the blocks of the input and p of those of the product with the state (the same but for
// a GRU): of the weights, the sum over all steps of the outer products of p and the state before.
// Where somebody differentiates what is kept, the rule is that of the composition.
Terms RecurrenceGradRule(GradContext& g) {
  const auto& mode = g.attr<std::string>("mode");
  bool gru = mode == "gru", lstm = mode == "lstm";
  NamedAttrs attrs = LayerAttrs(g);
  Term saved, before;
  if (g.attr<bool>("keep")) {
    saved = g.out(3), before = g.out(4);
  } else {
    attrs.emplace_back("keep", true);
    Terms again =
        g.CallMany("Recurrence", {g.in(0), g.in(1), g.in(2), g.in(3), g.in(4), g.in(5)}, attrs);
    attrs.pop_back();
    saved = again[3], before = again[4];
  }
  Term weight = g.in(3), lengths = g.in(5);
  if (g.attr<bool>("keep") && (g.has_dout(3) || g.has_dout(4))) return {};
  Term dcells = lstm ? g.dout(2) : g.emitter().Full(0, g.in_type(2));
  Terms d = g.CallMany("RecurrenceGrad",
                       {g.dout(0), g.dout(1), dcells, weight, lengths, saved, before}, attrs);
  Term product = gru ? d[1] : d[0];
  Terms grads{d[0], d[2], lstm ? d[3] : Term{}, Term{}, Term{}, Term{}};
  const Shape& shape = product.shape();
  Dim rows = shape.dim(0) * shape.dim(1);
  if (g.needs(3)) {
    grads[3] = g.Call(
        "MatMul",
        {Reshape(product, {rows, shape.dim(2)}), Reshape(before, {rows, before.shape().dim(2)})},
        {{"transpose_a", true}});
  }
  if (g.needs(4)) {
    auto sum = [&](const Term& t) { return g.Call("ReduceSum", {t}, {{"axis", Ints{0, 1}}}); };
    grads[4] = sum(d[0]);
    if (gru) {
      Term last = g.CallMany("Split", {sum(d[1])}, {{"output_num", 3}})[2];
      grads[4] = g.Call("Concat", {grads[4], last});
    }
  }
  return grads;
}

OpDef& LayerSettings(OpDef& op) {
  return op.WithAttr("mode", "lstm", "'lstm', 'gru', 'tanh' or 'relu'.")
      .WithAttr("reverse", false, "Whether the last step comes first.")
      .WithAttr("batch_first", false, "Whether from_x is [batch, steps, ...].");
}

}  // namespace

void DefineRecurrent(OpRegistry& ops) {
  LayerSettings(ops.Op("Recurrence").Internal())
      .Doc(
          "A recurrent layer in one direction: the states of all steps, from the inputs times "
          "their weights.")
      .In("from_x", kFloating,
          "[steps, batch, gates * hidden]: the products of the inputs with their weights.")
      .In("state", kFloating, "[batch, hidden], the first state.")
      .In("cells", kFloating, "Of an LSTM [batch, hidden], the first cells; else [0].")
      .In("weight", kFloating, "[gates * hidden, hidden], for the state.")
      .In("bias", kFloating,
          "[gates * hidden]; of a GRU [4 * hidden], the last part added to the state's product "
          "within the reset gate.")
      .In("lengths", kIndex, "[batch]: a sequence ends before the step of this number.")
      .WithAttr("keep", false, "Whether the gates and states are kept for the gradient.")
      .Shard(shard::Recurrence)
      .Infer(InferRecurrence)
      .Grad(RecurrenceGradRule)
      .Expand(ExpandRecurrence);
  LayerSettings(ops.Op("RecurrenceGrad").Internal())
      .Doc(
          "Gradients of Recurrence with respect to from_x, to the product with the state, of a "
          "GRU only, to the first state and the first cells.")
      .In("dout", kFloating, "Shaped as the output.")
      .In("dstate", kFloating, "Of the last state.")
      .In("dcells", kFloating, "Of the last cells.")
      .In("weight", kFloating, "As in Recurrence.")
      .In("lengths", kIndex, "As in Recurrence.")
      .In("saved", kFloating, "Output 3 of Recurrence.")
      .In("before", kFloating, "Output 4 of Recurrence.")
      .Shard(shard::Recurrence)
      .Infer(InferRecurrenceGrad)
      .Expand(ExpandRecurrenceGrad);
}

}  // namespace ms
