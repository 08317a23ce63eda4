// Scaled dot-product attention as one op: softmax(scale q k^T + mask) v for each matrix of the
// leading dimensions, without the matrix of scores as a value. The backward op makes the
// probabilities again from the logarithm of each row's sum. Dropout draws element i of the scores
// as op Dropout would, from a key that is an input, so that both directions see the same choice.
#include <cmath>

#include "ops/all.h"
#include "ops/batch.h"
#include "ops/shard.h"

namespace ms {
namespace {

// Inputs of both ops.
enum : size_t {
  kQuery,
  kKey,
  kValue,
  kMask,
  kRandomKey,
  kLargest,
  kLogSum,
  kDelta,
  kOutGrad,
  kOut
};

// A power of two, which stays itself when it is multiplied by a number and that is taken away
// again.
constexpr double kHidden = -0x1p100;

DType WideOf(DType dtype) { return dtype == DType::kFloat64 ? dtype : DType::kFloat32; }

OpDef& WithAttentionAttrs(OpDef& op) {
  return op.WithAttr("scale", 1.0, "The products are multiplied by it.")
      .WithAttr("causal", false, "Query i sees keys 0 ... i only.")
      .WithAttr("fill", kHidden, "What a boolean mask puts in place of a score.")
      .WithAttr("masked", true, "Whether the mask is to be looked at.")
      .WithAttr("keep_prob", 1.0,
                "Probabilities are dropped with 1 - keep_prob, the others divided "
                "by it.");
}

OpDef& WithAttentionInputs(OpDef& op) {
  return op.In("query", kFloating, "[..., queries, depth].")
      .In("key", kFloating, "[..., keys, depth].")
      .In("value", kFloating, "[..., keys, value depth].")
      .In("mask", kFloating | kBoolean,
          "Broadcasts to [..., queries, keys]: added to the scores, or, where it is boolean and "
          "true, hides them.")
      .In("random_key", One(DType::kInt64), "From DropoutKey; read if keep_prob is below 1.");
}

void CheckAttention(const InferContext& c) {
  for (size_t i : {kQuery, kKey, kValue}) {
    c.Check(c.rank(i) >= 2, "'{}' must have at least 2 dimensions, but got shape {}",
            c.input_name(i), c.shape(i));
    c.CheckSameDType(kQuery, i);
  }
  auto lead = [&](size_t i) { return c.shape(i).Part(0, c.rank(i) - 2); };
  c.Check(SameSizes(lead(kQuery), lead(kKey)) && SameSizes(lead(kQuery), lead(kValue)),
          "the leading dimensions must be equal, but got shapes {}, {} and {}", c.shape(kQuery),
          c.shape(kKey), c.shape(kValue));
  c.Check(c.dim(kQuery, -1) == c.dim(kKey, -1),
          "'query' and 'key' must have the same depth, but got {} and {}", c.dim(kQuery, -1),
          c.dim(kKey, -1));
  c.Check(c.dim(kKey, -2) == c.dim(kValue, -2),
          "there must be as many values as keys, but got {} and {}", c.dim(kValue, -2),
          c.dim(kKey, -2));
  c.CheckType(IsBool(c.dtype(kMask)) || c.dtype(kMask) == c.dtype(kQuery),
              "'mask' must be Bool or have the dtype of 'query', {}, but got {}",
              Name(c.dtype(kQuery)), Name(c.dtype(kMask)));
  Shape scores = Join({lead(kQuery), {c.dim(kQuery, -2), c.dim(kKey, -2)}}), both;
  c.Check(Broadcast(scores, c.shape(kMask), &both) && SameSizes(both, scores),
          "'mask' must broadcast to {}, but got shape {}", scores, c.shape(kMask));
  c.Check(SameSizes(c.shape(kRandomKey), Shape{int64_t{2}}),
          "'random_key' must have shape [2], but got {}", c.shape(kRandomKey));
  double keep = c.attr<double>("keep_prob");
  c.Check(keep > 0 && keep <= 1, "'keep_prob' must be in (0, 1], but got {}", keep);
}

Types InferAttention(InferContext& c) {
  CheckAttention(c);
  Shape rows = c.shape(kQuery).Part(0, c.rank(kQuery) - 1);
  Type of_rows(WideOf(c.dtype(kQuery)), rows);
  return {c.Like(kQuery, Join({rows, {c.dim(kValue, -1)}})), of_rows, of_rows};
}

Types InferAttentionGrad(InferContext& c) {
  CheckAttention(c);
  Shape rows = c.shape(kQuery).Part(0, c.rank(kQuery) - 1);
  for (size_t i : {kLargest, kLogSum, kDelta}) {
    c.Check(SameSizes(c.shape(i), rows), "'{}' must have shape {}, but got {}", c.input_name(i),
            rows, c.shape(i));
    c.CheckType(c.dtype(i) == WideOf(c.dtype(kQuery)), "'{}' must be {}, but got {}",
                c.input_name(i), Name(WideOf(c.dtype(kQuery))), Name(c.dtype(i)));
  }
  Shape out = Join({rows, {c.dim(kValue, -1)}});
  for (size_t i : {kOutGrad, kOut}) {
    c.CheckSameDType(kQuery, i);
    c.Check(SameSizes(c.shape(i), out), "'{}' must have shape {}, but got {}", c.input_name(i), out,
            c.shape(i));
  }
  return {c.in(kQuery), c.in(kKey), c.in(kValue)};
}

// ---- the composition, for what has no kernel ----------------------------------------------------
// What both ops read, of a node or of a call.
struct Operands {
  Emitter& emitter;
  Term query, key, value, mask, random_key;  // the last one where something is dropped
  double scale, fill, keep;
  bool causal, masked;
};

template <class Context>
Operands OperandsOf(Context& c) {
  double keep = c.template attr<double>("keep_prob");
  return {c.emitter(),
          c.in(kQuery),
          c.in(kKey),
          c.in(kValue),
          c.in(kMask),
          keep == 1 ? Term() : c.in(kRandomKey),
          c.template attr<double>("scale"),
          c.template attr<double>("fill"),
          keep,
          c.template attr<bool>("causal"),
          c.template attr<bool>("masked")};
}

// The matrices that both directions are about, as values: P = exp(scores - largest - log_sum),
// W = what dropout multiplies by, T = W (dout v^T).
class Matrices {
 public:
  explicit Matrices(Operands operands)
      : scale(operands.scale),
        operands_(std::move(operands)),
        wide_(WideOf(operands_.query.dtype())) {
    query = Wide(operands_.query);
    key = Wide(operands_.key);
    value = Wide(operands_.value);
    scores = Product(query, key, false, true) * scale;
    if (!operands_.masked) return;
    if (Hides()) {
      scores = Where(operands_.mask, Constant(operands_.fill), scores);
    } else {
      scores = scores + Wide(operands_.mask);
    }
  }
  Matrices(Operands operands, const Term& largest, const Term& log_sum)
      : Matrices(std::move(operands)) {
    probabilities = Visible(Call("Exp", {scores - Column(largest) - Column(log_sum)}), 0);
  }

  Term Call(std::string_view op, const Terms& in, const NamedAttrs& attrs = {}) const {
    return operands_.emitter.Call(op, in, attrs);
  }
  Term Constant(double x) const { return operands_.emitter.Scalar(x, wide_); }
  Term Wide(const Term& x) const { return CastTo(x, wide_); }
  Term Product(const Term& a, const Term& b, bool ta, bool tb) const {
    const char* op = a.shape().rank() == 2 ? "MatMul" : "BatchMatMul";
    return Call(op, {a, b}, {{"transpose_a", ta}, {"transpose_b", tb}});
  }
  Term Where(const Term& condition, const Term& x, const Term& y) const {
    return Call("Select", {condition, x, y});
  }
  // x with zeros where a mask decided the score.
  Term Unhidden(const Term& x) const { return Hides() ? Where(operands_.mask, Constant(0), x) : x; }
  // x with something else where a key is not seen.
  Term Visible(const Term& x, double other) const {
    if (!operands_.causal) return x;
    auto numbers = [&](int axis) {
      return Call("Range", {},
                  {{"start", int64_t{0}},
                   {"end", x.shape().dim(axis).code()},
                   {"step", int64_t{1}},
                   {"maxlen", int64_t{1} << 40}});
    };
    Term rows = Call("ExpandDims", {numbers(-2)}, {{"axis", -1}});
    return Where(Call("Greater", {numbers(-1), rows}), Constant(other), x);
  }
  Term Dropped(const Term& x) const {
    double keep = operands_.keep;
    if (keep == 1) return x;
    return x * Call("DropoutMask", {operands_.random_key},
                    {{"shape", x.shape().ToCodes()}, {"keep_prob", keep}, {"dtype", wide_}});
  }
  Term Reduced(std::string_view op, const Term& x) const {
    return Call(op, {x}, {{"axis", Ints{-1}}, {"keep_dims", false}});
  }
  Term RowSum(const Term& x) const { return Reduced("ReduceSum", x); }
  Term Column(const Term& row) const { return Call("ExpandDims", {row}, {{"axis", -1}}); }

  Term query, key, value, scores, probabilities;
  double scale = 1;

 private:
  bool Hides() const { return operands_.masked && IsBool(operands_.mask.dtype()); }

  Operands operands_;
  DType wide_;
};

// A gradient in the type of input i.
Term Into(GradContext& g, size_t i, const Term& x) {
  return CastTo(SumTo(x, g.in_type(i).shape()), g.in_type(i).dtype());
}

Terms ExpandAttention(ExpandContext& c) {
  Matrices m(OperandsOf(c));
  DType dtype = c.in(kQuery).dtype();
  if (m.key.shape().dim(-2) == 0) {  // sums of nothing
    Term none = m.RowSum(m.scores) + m.Constant(-INFINITY);
    return {CastTo(m.Product(m.scores, m.value, false, false), dtype), none, none};
  }
  Term scores = m.Visible(m.scores, -INFINITY);
  Term largest = m.Reduced("ReduceMax", scores);
  // A row that sees nothing has no largest score to be seen from.
  Term none = m.Call("Equal", {largest, m.Constant(-INFINITY)});
  Term shift = m.Where(none, m.Constant(0), largest);
  Term powers = m.Call("Exp", {scores - m.Column(shift)});
  Term sum = m.RowSum(powers);
  Term out = m.Product(m.Dropped(powers), m.value, false, false) / m.Column(sum);
  return {CastTo(out, dtype), largest, m.Call("Log", {sum})};
}

Terms ExpandAttentionGrad(ExpandContext& c) {
  Matrices m(OperandsOf(c), c.in(kLargest), c.in(kLogSum));
  Term dout = m.Wide(c.in(kOutGrad)), p = m.probabilities;
  Term t = m.Dropped(m.Product(dout, m.value, false, true));
  Term ds = m.Unhidden(p * (t - m.Column(c.in(kDelta)))) * m.scale;
  DType dtype = c.in(kQuery).dtype();
  return {CastTo(m.Product(ds, m.key, false, false), dtype),
          CastTo(m.Product(ds, m.query, true, false), dtype),
          CastTo(m.Product(m.Dropped(p), dout, true, false), dtype)};
}

NamedAttrs AttentionAttrs(const GradContext& g) {
  return {{"scale", g.attr<double>("scale")},
          {"causal", g.attr<bool>("causal")},
          {"fill", g.attr<double>("fill")},
          {"masked", g.attr<bool>("masked")},
          {"keep_prob", g.attr<double>("keep_prob")}};
}

// With delta = sum(out dout) - dlog_sum along each row: dscores = P (T - delta). The sum of outputs
// 1 and 2 is what AttentionGrad reads, so that output 1 may count as a constant, whatever it is.
Terms AttentionGradient(GradContext& g) {
  DType wide = WideOf(g.in_type(kQuery).dtype());
  Term largest = g.out(1), log_sum = g.out(2);
  Term dout = g.dout(0);
  Term delta;
  if (g.has_dout(0)) {
    delta = g.Call("ReduceSum", {CastTo(g.out(0), wide) * CastTo(dout, wide)},
                   {{"axis", Ints{-1}}, {"keep_dims", false}});
  }
  if (g.has_dout(2)) delta = delta ? delta - g.dout(2) : -g.dout(2);
  Terms grads(5);
  if (!delta) return grads;
  if (g.needs(kQuery) || g.needs(kKey) || g.needs(kValue)) {
    NamedAttrs attrs = AttentionAttrs(g);
    attrs.emplace_back("of_out", !g.has_dout(2));
    Terms made = g.CallMany("AttentionGrad",
                            {g.in(kQuery), g.in(kKey), g.in(kValue), g.in(kMask), g.in(kRandomKey),
                             largest, log_sum, delta, dout, g.out(0)},
                            attrs);
    for (size_t i : {kQuery, kKey, kValue}) grads[i] = made[i];
  }
  if (g.needs(kMask) && !IsBool(g.in_type(kMask).dtype())) {
    Matrices m(OperandsOf(g), largest, log_sum);
    Term t = m.Dropped(m.Product(m.Wide(dout), m.value, false, true));
    grads[kMask] = Into(g, kMask, m.probabilities * (t - m.Column(delta)));
  }
  return grads;
}

// AttentionGrad as a function of all its inputs: dq = scale dS k, dk = scale dS^T q,
// dv = (W P)^T dout, where dS = P (T - delta) and T = W (dout v^T).
Terms AttentionGradGradient(GradContext& g) {
  Matrices m(OperandsOf(g), g.in(kLargest), g.in(kLogSum));
  Term dout = m.Wide(g.in(kOutGrad)), delta = m.Column(g.in(kDelta));
  Term p = m.probabilities, t = m.Dropped(m.Product(dout, m.value, false, true));
  Term ds = m.Unhidden(p * (t - delta));
  Terms grads(10);  // none of `out`: what it is read for is in delta
  auto add = [&](size_t i, const Term& x) {
    if (g.needs(i)) grads[i] = grads[i] ? grads[i] + x : x;
  };
  Term to_ds, to_p;  // tangents of dS and of P
  if (g.has_dout(kQuery)) {
    Term u = m.Wide(g.dout(kQuery));
    to_ds = m.Product(u, m.key, false, true) * m.scale;
    add(kKey, m.Product(ds, u, true, false) * m.scale);
  }
  if (g.has_dout(kKey)) {
    Term u = m.Wide(g.dout(kKey));
    Term more = m.Product(m.query, u, false, true) * m.scale;
    to_ds = to_ds ? to_ds + more : more;
    add(kQuery, m.Product(ds, u, false, false) * m.scale);
  }
  if (g.has_dout(kValue)) {
    Term u = m.Wide(g.dout(kValue));
    to_p = m.Dropped(m.Product(dout, u, false, true));
    add(kOutGrad, m.Product(m.Dropped(p), u, false, false));
  }
  if (to_ds) {
    to_ds = m.Unhidden(to_ds);
    Term to_t = to_ds * p, more = to_ds * (t - delta);
    to_p = to_p ? to_p + more : more;
    add(kDelta, -m.RowSum(to_t));
    add(kOutGrad, m.Product(m.Dropped(to_t), m.value, false, false));
    add(kValue, m.Product(m.Dropped(to_t), dout, true, false));
  }
  if (!to_p) return grads;
  Term to_scores = to_p * p;
  for (size_t i : {kLargest, kLogSum}) add(i, -m.RowSum(to_scores));
  to_scores = m.Unhidden(to_scores);
  add(kQuery, m.Product(to_scores, m.key, false, false) * m.scale);
  add(kKey, m.Product(to_scores, m.query, true, false) * m.scale);
  if (!IsBool(g.in_type(kMask).dtype())) add(kMask, to_scores);
  for (size_t i = 0; i < grads.size(); ++i) {
    if (grads[i]) grads[i] = Into(g, i, grads[i]);
  }
  return grads;
}

// All items at once; the masks of items are aligned as broadcasting wants them.
Terms BatchAttention(BatchContext& b) {
  if (b.batched(kRandomKey)) return {};
  Terms inputs;
  for (size_t i = 0; i < b.inputs(); ++i) {
    if (i == kRandomKey) {
      inputs.push_back(b.in(i));
    } else if (i == kMask) {
      inputs.push_back(AlignItems(b.in(i), b.batched(i), b.rank(i), b.rank(kQuery)));
    } else {
      inputs.push_back(b.Spread(i));
    }
  }
  return b.Again(inputs);
}

void DefineDropoutKeys(OpRegistry& ops) {
  ops.Op("DropoutKey")
      .Internal()
      .Doc("The seed and the offset that a Dropout here would draw with; takes the offset.")
      .WithAttr("Seed0", 0, "Picks a stream; 0 is the global one.")
      .WithAttr("Seed1", 0, "Likewise, beside the first.")
      .HasEffect(Effect::kRandom)
      .Shard(shard::Whole)
      .Infer([](InferContext&) { return Type(DType::kInt64, Shape{int64_t{2}}); });
  ops.Op("DropoutMask")
      .Internal()
      .Doc("1 / keep_prob where a Dropout with the key keeps an element, elsewhere 0.")
      .In("random_key", One(DType::kInt64), "From DropoutKey.")
      .RequiredAttr<Ints>("shape", "The sizes.")
      .Sizes("shape")
      .WithAttr("keep_prob", 0.5, "In (0, 1].")
      .WithAttr("dtype", DType::kFloat32, "Float32 or Float64.")
      .Shard("r -> ...; r whole, seeded, shape = ...")
      .Infer([](InferContext& c) {
        c.Check(SameSizes(c.shape(0), Shape{int64_t{2}}),
                "'random_key' must have shape [2], but got {}", c.shape(0));
        double keep = c.attr<double>("keep_prob");
        c.Check(keep > 0 && keep <= 1, "'keep_prob' must be in (0, 1], but got {}", keep);
        DType dtype = c.attr<DType>("dtype");
        c.CheckType(dtype == DType::kFloat32 || dtype == DType::kFloat64,
                    "'dtype' must be Float32 or Float64, but got {}", Name(dtype));
        return Type(dtype, Shape(c.attr<Ints>("shape")));
      });
}

}  // namespace

void DefineAttention(OpRegistry& ops) {
  DefineDropoutKeys(ops);
  WithAttentionAttrs(WithAttentionInputs(ops.Op("Attention").Internal()))
      .Doc(
          "softmax(scale query key^T + mask) value, the largest score of each row, and the "
          "logarithm of the sum of its exponentials over that of the largest. A row all of whose "
          "scores a boolean mask hides weighs its keys alike.")
      .Batch(BatchAttention)
      .Shard(shard::Attention)
      .Infer(InferAttention)
      .Expand(ExpandAttention)
      .Grad(AttentionGradient);
  WithAttentionAttrs(
      WithAttentionInputs(ops.Op("AttentionGrad").Internal())
          .In("largest", One(DType::kFloat32) | One(DType::kFloat64), "Output 1 of Attention.")
          .In("log_sum", One(DType::kFloat32) | One(DType::kFloat64), "Output 2 of Attention.")
          .In("delta", One(DType::kFloat32) | One(DType::kFloat64),
              "sum(out dout) along each row, less the tangent of log_sum.")
          .In("dout", kFloating, "The tangent of the output.")
          .In("out", kFloating, "Output 0 of Attention: read by who makes delta himself."))
      .WithAttr("of_out", false, "Whether delta is sum(out dout) and nothing less.")
      .Doc("Gradients of Attention with respect to query, key and value.")
      .Batch(BatchAttention)
      .Shard(shard::AttentionGrad)
      .Infer(InferAttentionGrad)
      .Expand(ExpandAttentionGrad)
      .Grad(AttentionGradGradient);
}

}  // namespace ms
