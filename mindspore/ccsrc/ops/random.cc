// Random numbers. Every run of an op takes one offset of the generator, in program order; element i
// of its result is a function of (global seed, the op's own seeds, offset, i) alone. Own seeds of
// zero leave the global stream as it is; others pick another stream under the same global seed, so
// equal seeds in two runs of a program give equal numbers.
#include "ops/all.h"
#include "ops/axes.h"
#include "ops/batch.h"
#include "ops/shard.h"

namespace ms {
namespace {

OpDef& WithSeeds(OpDef& op, const char* first = "seed", const char* second = "seed2") {
  return op.WithAttr(first, 0, "Picks a stream; 0 is the global one.")
      .WithAttr(second, 0, "Likewise, beside the first.")
      .HasEffect(Effect::kRandom);
}

void CheckScalar(const InferContext& c, size_t i) {
  c.Check(c.shape(i).elements() == 1, "'{}' must be a scalar, but got shape {}", c.input_name(i),
          c.shape(i));
}

void DefineFilled(OpRegistry& ops) {
  WithSeeds(ops.Op("StandardNormal").RequiredAttr<Ints>("shape", "The sizes.").Sizes("shape"))
      .Doc("Numbers from the normal distribution of mean 0 and deviation 1.")
      .Batch(batch::Shaped("shape"))
      .Shard(shard::Shaped("shape", ", seeded"))
      .Infer([](InferContext& c) { return Type(DType::kFloat32, CheckedShape(c)); })
      .Class("StandardNormal(seed=0, seed2=0)(shape)");
  WithSeeds(ops.Op("UniformReal").RequiredAttr<Ints>("shape", "The sizes.").Sizes("shape"))
      .Doc("Numbers spread evenly over [0, 1).")
      .Batch(batch::Shaped("shape"))
      .Shard(shard::Shaped("shape", ", seeded"))
      .Infer([](InferContext& c) { return Type(DType::kFloat32, CheckedShape(c)); })
      .Class("UniformReal(seed=0, seed2=0)(shape)");
  WithSeeds(ops.Op("UniformInt")
                .In("minval", kIndex, "A scalar.")
                .In("maxval", kIndex, "A scalar, larger than minval.")
                .RequiredAttr<Ints>("shape", "The sizes.")
                .Sizes("shape"))
      .Doc("Integers spread evenly over [minval, maxval).")
      .Batch(batch::Shaped("shape"))
      .Shard(shard::Shaped("shape", ", seeded"))
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        CheckScalar(c, 0);
        CheckScalar(c, 1);
        return Type(c.dtype(0), CheckedShape(c));
      })
      .Class("UniformInt(seed=0, seed2=0)(shape, minval, maxval)");
  WithSeeds(
      ops.Op("RandomPermutation").Internal().RequiredAttr<int64_t>("n", "How many.").Sizes("n"))
      .OptionalAttr<DType>("dtype", "Int64 where it is None.")
      .Doc("The numbers 0 ... n - 1 in random order.")
      .Shard(shard::Whole)
      .Infer([](InferContext& c) {
        Dim n = c.dim_attr("n");
        c.Check(n >= 0 && (n.symbolic() || n < (int64_t{1} << 31)),
                "'n' must be in [0, 2^31), but got {}", n);
        DType dtype = c.is_none("dtype") ? DType::kInt64 : c.attr<DType>("dtype");
        c.CheckType(Contains(kIndex, dtype), "'dtype' must be Int32 or Int64, but got {}",
                    Name(dtype));
        return Type(dtype, {n});
      });
}

// What a part of a program that is run again draws must be what it drew before.
void DefineOffsets(OpRegistry& ops) {
  ops.Op("RandomOffset")
      .Internal()
      .Doc("The offset that the next random op will take; takes none itself.")
      .HasEffect(Effect::kRandom)
      .Shard(" -> ")
      .Infer([](InferContext&) { return Type(DType::kInt64, Shape{}); });
  ops.Op("SetRandomOffset")
      .Internal()
      .Doc("Makes the next random op take this offset; returns the one it would have taken.")
      .In("offset", One(DType::kInt64), "A scalar.")
      .HasEffect(Effect::kRandom)
      .Shard(" -> ")
      .Infer([](InferContext& c) {
        c.Check(c.rank(0) == 0, "'offset' must be a scalar, but got shape {}", c.shape(0));
        return Type(DType::kInt64, Shape{});
      });
}

void DefineSampling(OpRegistry& ops) {
  WithSeeds(ops.Op("Bernoulli")
                .In("x", kAny, "Gives the shape.")
                .In("p", kFloating, "Probabilities that broadcast to x."))
      .Doc("1 with probability p and 0 otherwise, in the dtype of x.")
      .Batch([](BatchContext& b) -> Terms {
        bool one = b.in_type(1).shape().size() == 1;
        if (one && b.batched(1)) return {};
        return b.Again({b.Spread(0), one ? b.in(1) : b.Spread(1)});
      })
      .Shard("..., ... -> ...; seeded")
      .Infer([](InferContext& c) {
        Shape shape;
        bool fits = Broadcast(c.shape(0), c.shape(1), &shape) && SameSizes(shape, c.shape(0));
        c.Check(fits, "'p' must broadcast to the shape of 'x', {}, but got {}", c.shape(0),
                c.shape(1));
        bool simple = c.shape(1).elements() == 1 || SameSizes(c.shape(1), c.shape(0));
        c.Check(simple, "'p' must be a scalar or have the shape of 'x', {}, but got {}", c.shape(0),
                c.shape(1));
        return c.Like(0, c.shape(0));
      });
  WithSeeds(ops.Op("Multinomial")
                .In("x", kFloating, "[k] or [rows, k]: weights, not negative.")
                .RequiredAttr<int64_t>("num_samples", "Samples for each row."))
      .WithAttr("dtype", DType::kInt32, "Int32 or Int64.")
      .WithAttr("replacement", true, "Whether a position may be drawn twice.")
      .Doc("Positions drawn with probabilities proportional to the weights.")
      .Shard("... x -> ... s; x s whole, seeded")
      .Infer([](InferContext& c) {
        c.Check(c.rank(0) == 1 || c.rank(0) == 2,
                "'x' must have 1 or 2 dimensions, but got shape {}", c.shape(0));
        int64_t count = c.attr<int64_t>("num_samples");
        c.Check(count >= 0, "'num_samples' must not be negative, but got {}", count);
        c.Check(c.dim(0, -1) > 0, "'x' must have at least one weight, but got shape {}",
                c.shape(0));
        c.Check(c.attr<bool>("replacement") || count <= c.shape(0).back(),
                "'num_samples' must be at most the {} weights when drawing without replacement, "
                "but got {}",
                c.shape(0).back(), count);
        DType dtype = c.attr<DType>("dtype");
        c.CheckType(Contains(kIndex, dtype), "'dtype' must be Int32 or Int64, but got {}",
                    Name(dtype));
        return Type(dtype, c.shape(0).With(-1, count));
      })
      .Class("Multinomial(seed=0, seed2=0, dtype=mindspore.int32)(x, num_samples)");
}

// One number for each parameter.
void DefineRejected(OpRegistry& ops) {
  auto define = [&](const char* name, const char* input, const char* doc) {
    WithSeeds(ops.Op(name).Internal().In(input, kFloating, "Any shape."))
        .Doc(doc)
        .Batch(batch::Leading)
        .Shard("... -> ...; seeded")
        .Infer([](InferContext& c) { return c.Like(0, c.shape(0)); });
  };
  define("StandardGamma", "alpha", "Numbers from gamma distributions of scale 1; nan below 0.");
  define("StandardPoisson", "rate", "Numbers from Poisson distributions; nan where no rate is.");
}

}  // namespace

void DefineRandom(OpRegistry& ops) {
  DefineFilled(ops);
  DefineRejected(ops);
  DefineOffsets(ops);
  DefineSampling(ops);
  WithSeeds(
      ops.Op("Dropout").In("x", kFloating, "Any shape.").WithAttr("keep_prob", 0.5, "In (0, 1]."),
      "Seed0", "Seed1")
      .Doc(
          "Sets elements to zero at random and divides the others by keep_prob; the second output "
          "is 1 where an element "
          "was kept.")
      .Batch(batch::Leading)
      .Shard("... -> ..., ...; seeded")
      .Infer([](InferContext& c) {
        double keep = c.attr<double>("keep_prob");
        c.Check(keep > 0 && keep <= 1, "'keep_prob' must be in (0, 1], but got {}", keep);
        return Types{c.Like(0, c.shape(0)), c.Like(0, c.shape(0))};
      })
      .Grad([](GradContext& g) {
        return g.Call("DropoutGrad", {g.dout(0), g.out(1)},
                      {{"keep_prob", g.attr<double>("keep_prob")}});
      })
      .InPlace(0, 0)
      .Class("Dropout(keep_prob=0.5, Seed0=0, Seed1=0)(x)");
  ops.Op("DropoutGrad")
      .Internal()
      .Doc("Its first input times the mask, divided by keep_prob.")
      .In("dy", kFloating, "Any shape.")
      .In("mask", kFloating, "The same shape.")
      .WithAttr("keep_prob", 0.5, "In (0, 1].")
      .Batch(batch::Leading)
      .Shard(ElementwiseShard)
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        c.CheckSameShape(0, 1);
        double keep = c.attr<double>("keep_prob");
        c.Check(keep > 0 && keep <= 1, "'keep_prob' must be in (0, 1], but got {}", keep);
        return c.Like(0, c.shape(0));
      })
      .Grad([](GradContext& g) {
        return Terms{g.Call("DropoutGrad", {g.dout(), g.in(1)},
                            {{"keep_prob", g.attr<double>("keep_prob")}}),
                     Term{}};
      })
      .InPlace(0, 0);
}

}  // namespace ms
