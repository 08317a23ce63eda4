// Connectionist temporal classification: the likelihood of label sequences under all alignments to
// a longer sequence of classes, by the forward recursion over the labels with blanks between them.
#include "ops/all.h"
#include "ops/shard.h"

namespace ms {
namespace {

constexpr DTypeSet kWide = One(DType::kFloat32) | One(DType::kFloat64);

OpDef& WithProblem(OpDef& op) {
  return op.In("log_probs", kWide, "[T, N, C]: logarithms of probabilities.")
      .In("targets", kIndex, "[N, S]: labels.")
      .In("input_lengths", kIndex, "[N]: how many of the T steps count.")
      .In("target_lengths", kIndex, "[N]: how many of the S labels count.")
      .WithAttr("blank", 0, "The class that stands for no label.")
      .WithAttr("merge_repeated", true, "Whether a label may last for several steps.")
      .WithAttr("zero_infinity", false,
                "Losses that are infinite become 0, as do their gradients.");
}

void CheckProblem(InferContext& c, size_t first) {
  c.CheckRank(first, 3);
  c.CheckRank(first + 1, 2);
  Dim batch = c.dim(first, 1);
  for (size_t i : {first + 2, first + 3}) {
    c.CheckRank(i, 1);
    c.Check(c.dim(i, 0) == batch, "'{}' must have {} elements, but got shape {}", c.input_name(i),
            batch, c.shape(i));
  }
  c.Check(c.dim(first + 1, 0) == batch, "'targets' must have {} rows, but got shape {}", batch,
          c.shape(first + 1));
  int64_t blank = c.attr<int64_t>("blank");
  c.Check(blank >= 0 && c.dim(first, 2) > blank, "'blank' must be in [0, {}), but got {}",
          c.dim(first, 2), blank);
}

}  // namespace

void DefineCtc(OpRegistry& ops) {
  WithProblem(ops.Op("CTCForward").Internal())
      .Doc(
          "Negative logarithms of the likelihoods, [N], and those of all prefixes, [N, T, 2S + 1].")
      .Shard("t n c, n s, n, n -> n, n t d; t c s d whole")
      .Infer([](InferContext& c) {
        CheckProblem(c, 0);
        return Types{c.Like(0, {c.dim(0, 1)}),
                     c.Like(0, {c.dim(0, 1), c.dim(0, 0), c.dim(1, 1) * 2 + 1})};
      })
      .Grad([](GradContext& g) {
        Term dx = g.Call("CTCBackward",
                         {g.dout(0), g.in(0), g.in(1), g.in(2), g.in(3), g.out(0), g.out(1)},
                         {{"blank", g.attr<int64_t>("blank")},
                          {"merge_repeated", g.attr<bool>("merge_repeated")},
                          {"zero_infinity", g.attr<bool>("zero_infinity")}});
        return Terms{dx};
      });
  WithProblem(ops.Op("CTCBackward").Internal().In("dy", kWide, "[N]: tangents of the losses."))
      .In("loss", kWide, "[N]")
      .In("log_alpha", kWide, "[N, T, 2S + 1]")
      .Doc(
          "The gradient of CTCForward with respect to logits of which log_probs is the LogSoftmax. "
          "It has none itself.")
      .Shard("n, t n c, n s, n, n, n, n t d -> t n c; t c s d whole")
      .Infer([](InferContext& c) {
        CheckProblem(c, 1);
        for (size_t i : {0, 5, 6}) c.CheckSameDType(1, i);
        c.CheckSameShape(0, 5);
        c.Check(c.rank(0) == 1 && c.dim(0, 0) == c.dim(1, 1),
                "'dy' must have {} elements, but got shape {}", c.dim(1, 1), c.shape(0));
        Shape alpha{c.dim(1, 1), c.dim(1, 0), c.dim(2, 1) * 2 + 1};
        c.Check(SameSizes(c.shape(6), alpha), "'log_alpha' must have shape {}, but got {}", alpha,
                c.shape(6));
        return c.Like(1, c.shape(1));
      });
}

}  // namespace ms
