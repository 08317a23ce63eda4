// Batch and layer normalisation. The gradients treat the saved statistics as inputs of their own,
// so that each op is differentiable by itself, whatever it is used for.
#include "ops/norm.h"
#include "ops/all.h"
#include "ops/batch.h"
#include "ops/shard.h"

namespace ms {
namespace {

// Statistics of half types are kept in float32.
DType StatisticsType(DType x) { return x == DType::kFloat64 ? x : DType::kFloat32; }

Term Sum(const Term& x, const Ints& axes) {
  if (axes.empty()) return x;
  return x.emitter->Call("ReduceSum", {x}, {{"axis", axes}, {"keep_dims", true}});
}

// ---- batch normalisation ------------------------------------------------------------------------
// The channels of x and
// the axes over which they are averaged.
struct Channels {
  int axis = 1;
  Ints others;
  Shape broadcast;  // per-channel values against x
  Dim count = 1;    // elements per channel

  Channels(const Shape& x, const std::string& format) {
    axis = x.rank() == 4 && format == "NHWC" ? 3 : 1;
    Dims dims(static_cast<size_t>(x.rank()), 1);
    dims[static_cast<size_t>(axis)] = x.dim(axis);
    broadcast = dims;
    for (int i = 0; i < x.rank(); ++i) {
      if (i == axis) continue;
      others.push_back(i);
      count *= x.dim(i);
    }
  }
};

}  // namespace

Type CheckBatchNorm(const InferContext& c, size_t x, size_t first, size_t last) {
  const auto& format = c.attr<std::string>("data_format");
  c.Check(format == "NCHW" || format == "NHWC",
          "'data_format' must be 'NCHW' or 'NHWC', but got '{}'", format);
  c.Check(c.rank(x) >= 2 && c.rank(x) <= 5, "'{}' must have 2 to 5 dimensions, but got shape {}",
          c.input_name(x), c.shape(x));
  double epsilon = c.attr<double>("epsilon");
  c.Check(epsilon > 0 && epsilon <= 1, "'epsilon' must be in (0, 1], but got {}", epsilon);
  Channels channels(c.shape(x), format);
  Shape expected{c.dim(x, channels.axis)};
  for (size_t i = first; i < last; ++i) {
    c.Check(SameSizes(c.shape(i), expected),
            "'{}' must have shape {}, one element per channel, but got {}", c.input_name(i),
            expected, c.shape(i));
    c.CheckType(c.dtype(i) == c.dtype(first),
                "'{}' and '{}' must have the same dtype, but got {} and {}", c.input_name(first),
                c.input_name(i), Name(c.dtype(first)), Name(c.dtype(i)));
  }
  bool fits = c.dtype(first) == c.dtype(x) || c.dtype(first) == StatisticsType(c.dtype(x));
  c.CheckType(fits, "'{}' must have the dtype of '{}' or Float32, but got {} and {}",
              c.input_name(first), c.input_name(x), Name(c.dtype(first)), Name(c.dtype(x)));
  return Type(c.dtype(first), expected);
}

Types InferBatchNorm(InferContext& c) {
  Type parameter = CheckBatchNorm(c, 0, 1, 5);
  double momentum = c.attr<double>("momentum");
  c.Check(momentum >= 0 && momentum <= 1, "'momentum' must be in [0, 1], but got {}", momentum);
  Channels channels(c.shape(0), c.attr<std::string>("data_format"));
  c.Check(channels.count > 0, "'input_x' must have elements in each channel, but got shape {}",
          c.shape(0));
  Type saved(StatisticsType(c.dtype(0)), parameter.shape());
  return {c.Like(0, c.shape(0)), parameter, parameter, saved, saved};
}

namespace {

// Gradients through y alone: of x, scale and bias.
Terms OwnGrads(GradContext& g, bool training, const Term& mean, const Term& inverse) {
  return g.CallMany("BatchNormGrad", {g.dout(0), g.in(0), g.in(1), mean, inverse},
                    {{"is_training", training},
                     {"epsilon", g.attr<double>("epsilon")},
                     {"data_format", g.attr<std::string>("data_format")}});
}

// What reaches x through the statistics, outputs 1 to 4; empty where nothing does.
Term StatisticsGrad(GradContext& g, const Channels& ch, double momentum) {
  const Shape& shape = g.in_type(0).shape();
  Term dx;
  auto add = [&](const Term& t) { dx = dx ? dx + t : t; };
  auto per_channel = [&](const Term& t) { return Reshape(t, ch.broadcast); };
  if (g.has_dout(1))
    add(BroadcastTo(per_channel(g.dout(1)) *
                        g.emitter().SizeScalar(ch.count, g.dout(1).dtype(), momentum, true),
                    shape));
  if (g.has_dout(3)) add(BroadcastTo(per_channel(g.dout(3)) / ch.count, shape));
  if (g.has_dout(2) || g.has_dout(4)) {
    Term centred = g.in(0) - per_channel(g.out(3));
    Dim spread = ch.count > 1 ? ch.count - 1 : Dim(1);
    Term share = g.emitter().SizeScalar(spread, centred.dtype(), 2 * momentum, true);
    if (g.has_dout(2)) add(centred * per_channel(g.dout(2)) * share);
    if (g.has_dout(4)) {
      Term r = g.out(4);
      add(-(centred * per_channel(g.dout(4) * r * r * r)) / ch.count);
    }
  }
  return dx;
}

Terms BatchNormGradRule(GradContext& g) {
  Channels ch(g.in_type(0).shape(), g.attr<std::string>("data_format"));
  Terms grads(5);
  if (g.has_dout(0)) {
    Terms own = OwnGrads(g, true, g.out(3), g.out(4));
    std::copy(own.begin(), own.end(), grads.begin());
  }
  double momentum = g.attr<double>("momentum");
  if (Term dx = StatisticsGrad(g, ch, momentum)) {
    dx = CastTo(dx, g.in_type(0).dtype());
    grads[0] = grads[0] ? grads[0] + dx : dx;
  }
  for (size_t i : {1, 2}) {
    if (g.needs(i + 2) && g.has_dout(i)) grads[i + 2] = g.dout(i) * (1 - momentum);
  }
  return grads;
}

// y = (x - mean) inverse scale + bias with inverse = 1 / sqrt(variance + epsilon).
Terms InferenceGradRule(GradContext& g) {
  DType type = StatisticsType(g.in_type(0).dtype());
  Term mean = CastTo(g.in(3), type);
  Term inverse = g.Call("Rsqrt", {CastTo(g.in(4), type) + g.attr<double>("epsilon")});
  Terms grads = OwnGrads(g, false, mean, inverse);
  grads.resize(5);
  if (g.needs(3)) grads[3] = CastTo(-(g.in(1) * inverse * grads[2]), g.in_type(3).dtype());
  if (g.needs(4)) {
    Term dvariance = inverse * inverse * g.in(1) * grads[1] * -0.5;
    grads[4] = CastTo(dvariance, g.in_type(4).dtype());
  }
  return grads;
}

// With h = (x - m) r: dbias = sum dy, dscale = sum dy h, and dx = s r dy, in training minus
// s r (dbias + h dscale) / count. u, v, w are the tangents of dx, dscale, dbias.
Terms BatchNormGradGrad(GradContext& g) {
  bool training = g.attr<bool>("is_training");
  Channels ch(g.in_type(1).shape(), g.attr<std::string>("data_format"));
  DType type = g.in_type(3).dtype();
  auto wide = [&](const Term& t) { return CastTo(t, type); };
  auto channel = [&](const Term& t) { return Reshape(wide(t), ch.broadcast); };
  Term dy = wide(g.in(0));
  Term s = channel(g.in(2));
  Term r = channel(g.in(4));
  Term centred = wide(g.in(1)) - channel(g.in(3));
  Term h = centred * r;
  Term u = wide(g.dout(0));
  Term v = channel(g.dout(1));
  Term w = channel(g.dout(2));
  Term inner = Sum(u * dy, ch.others);  // of u with dx / (s r)
  Term to_dy = s * r * u;
  Term to_h = v * dy;
  if (training) {
    Term sum_u = Sum(u, ch.others);
    Term sum_uh = Sum(u * h, ch.others);
    Term dbias = channel(g.out(2));
    Term dscale = channel(g.out(1));
    to_dy = s * r * (u - (sum_u + h * sum_uh) / ch.count);
    to_h = to_h - s * r * (u * dscale + dy * sum_uh) / ch.count;
    inner = inner - (sum_u * dbias + sum_uh * dscale) / ch.count;
  }
  Terms results{to_dy + v * h + w, to_h * r, r * inner, -(Sum(to_h, ch.others) * r),
                s * inner + Sum(to_h * centred, ch.others)};
  for (size_t i = 0; i < results.size(); ++i) {
    results[i] = CastTo(Reshape(results[i], g.in_type(i).shape()), g.in_type(i).dtype());
  }
  return results;
}

OpDef& BatchNormInputs(OpDef& op) {
  return op.In("input_x", kFloating, "[N, C], [N, C, ...], or [N, H, W, C] with 'NHWC'.")
      .In("scale", kFloating, "[C], of the dtype of input_x or Float32.")
      .In("bias", kFloating, "[C].")
      .In("mean", kFloating, "[C], the stored mean.")
      .In("variance", kFloating, "[C], the stored variance.");
}

void DefineBatchNorm(OpRegistry& ops) {
  BatchNormInputs(ops.Op("BatchNorm"))
      .Doc(
          "Normalises each channel by the mean and variance of the batch, which also move the "
          "stored ones.")
      .WithAttr("epsilon", 1e-5, "Added to the variance.")
      .WithAttr("momentum", 0.1, "The share of the batch in the stored statistics.")
      .WithAttr("data_format", "NCHW", "'NCHW' or 'NHWC'.")
      .Format("data_format")
      .Batch(batch::ChannelNorm)
      .Shard(shard::Channels("whole"))
      .Infer(InferBatchNorm)
      .Grad(BatchNormGradRule)
      .Updates(1, 3)
      .Updates(2, 4)
      .Class(
          "BatchNorm(is_training=False, epsilon=1e-5, momentum=0.1, data_format='NCHW')(input_x, "
          "scale, bias, mean, variance)");
  BatchNormInputs(ops.Op("BatchNormInference").Internal())
      .Doc("Normalises each channel by the stored mean and variance.")
      .WithAttr("epsilon", 1e-5, "Added to the variance.")
      .WithAttr("data_format", "NCHW", "'NCHW' or 'NHWC'.")
      .Format("data_format")
      .Batch(batch::ChannelNorm)
      .Shard(shard::Channels(""))
      .Infer([](InferContext& c) {
        CheckBatchNorm(c, 0, 1, 5);
        return c.Like(0, c.shape(0));
      })
      .Grad(InferenceGradRule);
  ops.Op("BatchNormGrad")
      .Internal()
      .Doc("Gradients of BatchNorm with respect to its input, scale and bias.")
      .In("dy", kFloating, "Shaped as x.")
      .In("x", kFloating, "Input of BatchNorm.")
      .In("scale", kFloating, "[C].")
      .In("saved_mean", kFloating, "[C], output 3 of BatchNorm.")
      .In("saved_inverse", kFloating, "[C], output 4 of BatchNorm: 1 / sqrt(variance + epsilon).")
      .WithAttr("is_training", true, "Whether the statistics are those of x; else constants.")
      .WithAttr("epsilon", 1e-5, "As in BatchNorm.")
      .WithAttr("data_format", "NCHW", "'NCHW' or 'NHWC'.")
      .Format("data_format")
      .Batch(batch::ChannelNorm)
      .Shard(shard::Channels("sum"))
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        c.CheckSameShape(0, 1);
        Type scale = CheckBatchNorm(c, 1, 2, 3);
        CheckBatchNorm(c, 1, 3, 5);
        return Types{c.Like(0, c.shape(0)), scale, scale};
      })
      .Grad(BatchNormGradGrad);
}

// ---- layer normalisation ------------------------------------------------------------------------
// Rows are what
// begin_norm_axis and the axes behind it span; parameters span those from begin_params_axis.
struct Rows {
  Ints axes;
  Shape statistics;
  Dim count = 1;

  Rows(const Shape& x, int begin) : statistics(x) {
    for (int i = begin; i < x.rank(); ++i) {
      axes.push_back(i);
      count *= x.dim(i);
      statistics = statistics.With(i, 1);
    }
  }
};

int BeginAxis(int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }

// Checks x and parameters [first, last).
Rows CheckLayerNorm(const InferContext& c, size_t x, size_t first, size_t last) {
  c.Check(c.rank(x) >= 1, "'{}' must have at least one dimension, but got shape {}",
          c.input_name(x), c.shape(x));
  int norm = c.Axis(c.attr<int64_t>("begin_norm_axis"), c.rank(x));
  int params = c.Axis(c.attr<int64_t>("begin_params_axis"), c.rank(x));
  double epsilon = c.attr<double>("epsilon");
  c.Check(epsilon >= 0 && epsilon < 1, "'epsilon' must be in [0, 1), but got {}", epsilon);
  Shape expected = c.shape(x).Part(params, c.rank(x));
  for (size_t i = first; i < last; ++i) {
    c.Check(SameSizes(c.shape(i), expected),
            "'{}' must have the shape {} of the input from 'begin_params_axis', but got {}",
            c.input_name(i), expected, c.shape(i));
    bool fits = c.dtype(i) == c.dtype(x) || c.dtype(i) == StatisticsType(c.dtype(x));
    c.CheckType(fits && c.dtype(i) == c.dtype(first),
                "'{}' must have the dtype of '{}' or Float32, but got {} and {}", c.input_name(i),
                c.input_name(x), Name(c.dtype(i)), Name(c.dtype(x)));
  }
  Rows rows(c.shape(x), norm);
  c.Check(rows.count > 0 || c.shape(x).empty(),
          "the normalised dimensions must not be empty, but got shape {}", c.shape(x));
  return rows;
}

NamedAttrs LayerNormAttrs(GradContext& g) {
  return {{"begin_norm_axis", g.attr<int64_t>("begin_norm_axis")},
          {"begin_params_axis", g.attr<int64_t>("begin_params_axis")},
          {"epsilon", g.attr<double>("epsilon")}};
}

Terms LayerNormGradRule(GradContext& g) {
  const Type& x = g.in_type(0);
  Rows rows(x.shape(), BeginAxis(g.attr<int64_t>("begin_norm_axis"), x.shape().rank()));
  Terms grads(3);
  if (g.has_dout(0)) {
    grads = g.CallMany("LayerNormGrad", {g.dout(0), g.in(0), g.out(2), g.out(1), g.in(1)},
                       LayerNormAttrs(g));
  }
  Term more;
  if (g.has_dout(1)) more = BroadcastTo(g.dout(1) / rows.count, x.shape());
  if (g.has_dout(2)) {
    Term t = (g.in(0) - g.out(1)) *
             (g.dout(2) * g.emitter().SizeScalar(rows.count, g.dout(2).dtype(), 2, true));
    more = more ? more + t : t;
  }
  if (more) {
    more = CastTo(more, x.dtype());
    grads[0] = grads[0] ? grads[0] + more : more;
  }
  return grads;
}

// With r = 1 / sqrt(v + epsilon), h = (x - m) r, a = dy gamma and means over rows:
// dx = r (a - mean(a) - h mean(a h)), dgamma = sum dy h, dbeta = sum dy. u, p, q are their
// tangents.
Terms LayerNormGradGrad(GradContext& g) {
  const Shape& shape = g.in_type(1).shape();
  Rows rows(shape, BeginAxis(g.attr<int64_t>("begin_norm_axis"), shape.rank()));
  DType type = g.in_type(2).dtype();
  auto wide = [&](const Term& t) { return CastTo(t, type); };
  Term dy = wide(g.in(0));
  Term gamma = wide(g.in(4));
  Term r = g.Call("Rsqrt", {wide(g.in(2)) + g.attr<double>("epsilon")});
  Term centred = wide(g.in(1)) - wide(g.in(3));
  Term h = centred * r;
  Term a = dy * gamma;
  Term u = wide(g.dout(0));
  Term p = wide(g.dout(1));
  Term q = wide(g.dout(2));
  auto mean = [&](const Term& t) { return Sum(t, rows.axes) / rows.count; };
  Term mean_ah = mean(a * h);
  Term mean_uh = mean(u * h);
  Term mean_u = mean(u);
  Term to_a = r * (u - mean_u - h * mean_uh);
  Term to_h = p * dy - r * (u * mean_ah + a * mean_uh);
  Term to_r = Sum(a * (u - mean_u - h * mean_uh), rows.axes) + Sum(to_h * centred, rows.axes);
  Terms results{to_a * gamma + p * h + q, to_h * r, to_r * r * r * r * -0.5,
                -(Sum(to_h, rows.axes) * r), SumTo(to_a * dy, g.in_type(4).shape())};
  for (size_t i = 0; i < results.size(); ++i) {
    results[i] = CastTo(Reshape(results[i], g.in_type(i).shape()), g.in_type(i).dtype());
  }
  return results;
}

OpDef& WithLayerAttrs(OpDef& op) {
  return op.WithAttr("begin_norm_axis", 1, "The first axis that is averaged over.")
      .WithAttr("begin_params_axis", 1, "The first axis that gamma and beta have.")
      .WithAttr("epsilon", 1e-7, "Added to the variance.");
}

void DefineLayerNorm(OpRegistry& ops) {
  WithLayerAttrs(ops.Op("LayerNorm"))
      .Doc("Normalises every row to mean 0 and variance 1, then scales by gamma and adds beta.")
      .In("input_x", kFloating, "At least rank 1.")
      .In("gamma", kFloating, "The shape of input_x from begin_params_axis; its dtype or Float32.")
      .In("beta", kFloating, "Like gamma.")
      .Batch(batch::LayerNorm)
      .Shard(shard::LayerNorm)
      .Infer([](InferContext& c) {
        Rows rows = CheckLayerNorm(c, 0, 1, 3);
        Type statistics(StatisticsType(c.dtype(0)), rows.statistics);
        return Types{c.Like(0, c.shape(0)), statistics, statistics};
      })
      .Grad(LayerNormGradRule);
  WithLayerAttrs(ops.Op("LayerNormGrad").Internal())
      .Doc("Gradients of LayerNorm with respect to its three inputs.")
      .In("dy", kFloating, "Shaped as x.")
      .In("x", kFloating, "Input of LayerNorm.")
      .In("variance", kFloating, "Output 2 of LayerNorm.")
      .In("mean", kFloating, "Output 1 of LayerNorm.")
      .In("gamma", kFloating, "Input of LayerNorm.")
      .Batch(batch::LayerNormGrad)
      .Shard(shard::LayerNormGrad)
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        c.CheckSameShape(0, 1);
        Rows rows = CheckLayerNorm(c, 1, 4, 5);
        for (size_t i : {2, 3}) {
          c.Check(SameSizes(c.shape(i), rows.statistics),
                  "'{}' must have shape {}, one element per row, but got {}", c.input_name(i),
                  rows.statistics, c.shape(i));
          bool fits = c.dtype(i) == c.dtype(1) || c.dtype(i) == StatisticsType(c.dtype(1));
          c.CheckType(fits, "'{}' must have the dtype of 'x' or Float32, but got {} and {}",
                      c.input_name(i), Name(c.dtype(i)), Name(c.dtype(1)));
        }
        return Types{c.Like(0, c.shape(0)), c.in(4), c.in(4)};
      })
      .Grad(LayerNormGradGrad);
}

// x / sqrt(max(sum of squares, epsilon)), of basic ops: differentiable as they are. Halves are wide
// here, since their squares have no room in themselves.
Terms L2NormalizeParts(const Term& x, int axis, double epsilon) {
  Term square = Sum(x * x, {axis});
  Term norm2 = x.emitter->Call("Maximum", {square, x.emitter->Scalar(epsilon, x.dtype())});
  return {x.emitter->Call("Rsqrt", {norm2}), square};
}

int L2Axis(const OpDef& op, const Attrs& attrs, int rank) {
  return BeginAxis(AttrOf<Ints>(op, attrs, "axis")[0], rank);
}

void DefineL2Normalize(OpRegistry& ops) {
  ops.Op("L2Normalize")
      .Doc("Divides by the Euclidean norm along an axis, which counts as at least sqrt(epsilon).")
      .In("x", kFloating, "At least rank 1.")
      .WithAttr("axis", Ints{0}, "The axis of the vectors.")
      .WithAttr("epsilon", 1e-4, "Lower limit of the squared norm.")
      .Axes("axis")
      .Shard(shard::Along)
      .Infer([](InferContext& c) {
        const Ints& axis = c.attr<Ints>("axis");
        c.Check(axis.size() == 1, "'axis' must be one integer, but got ({})",
                fmt::join(axis, ", "));
        c.Axis(axis[0], c.rank(0));
        return c.Like(0, c.shape(0));
      })
      .Grad([](GradContext& g) {
        DType wide = StatisticsType(g.in(0).dtype());
        Term x = CastTo(g.in(0), wide), dout = CastTo(g.dout(), wide);
        const OpDef& op = *g.node().op;
        int axis = L2Axis(op, *g.node().attrs, x.shape().rank());
        double epsilon = g.attr<double>("epsilon");
        Terms parts = L2NormalizeParts(x, axis, epsilon);
        Term r = parts[0];
        Term above = CastTo(g.Call("Greater", {parts[1], g.emitter().Scalar(epsilon, x.dtype())}),
                            x.dtype());
        Term along = Sum(dout * x, {axis}) * above;
        return CastTo((dout - x * (along * r * r)) * r, g.in(0).dtype());
      })
      .Expand([](ExpandContext& c) {
        int axis = BeginAxis(c.attr<Ints>("axis")[0], c.in(0).shape().rank());
        Term x = CastTo(c.in(0), StatisticsType(c.in(0).dtype()));
        return CastTo(x * L2NormalizeParts(x, axis, c.attr<double>("epsilon"))[0], c.in(0).dtype());
      });
}

}  // namespace

void DefineNorm(OpRegistry& ops) {
  DefineBatchNorm(ops);
  DefineLayerNorm(ops);
  DefineL2Normalize(ops);
}

}  // namespace ms
