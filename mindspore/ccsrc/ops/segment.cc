// Slices of the first axes joined by segments: their sums, extremes and products.
#include "ops/segment.h"
#include "ops/all.h"
#include "ops/batch.h"
#include "ops/elementwise.h"
#include "ops/shard.h"

namespace ms {
namespace {

Type InferSegments(InferContext& c) {
  Dim n = c.dim_attr("num_segments");
  c.Check(n > 0, "'num_segments' must be positive, but got {}", n);
  bool fits = c.rank(1) > 0 && c.rank(1) <= c.rank(0);
  for (int i = 0; fits && i < c.rank(1); ++i) fits = c.dim(0, i) == c.dim(1, i);
  c.Check(fits, "the shape of 'segment_ids' must start that of 'input_x', but got {} and {}",
          c.shape(1), c.shape(0));
  return c.Like(0, Join({{n}, c.shape(0).Part(c.rank(1), c.rank(0))}));
}

// For each slice of the input, that of its segment; zeros where it has none.
Term OfSegment(GradContext& g, const Term& segments) {
  Term ids = g.in(1);
  Term zero = g.emitter().Scalar(0, ids.dtype());
  Term rows = g.Call("Gather", {segments, g.Call("Maximum", {ids, zero})}, {{"axis", int64_t{0}}});
  Term counted = CastTo(g.Call("GreaterEqual", {ids, zero}), rows.dtype());
  Dims dims = ids.shape().dims();
  dims.resize(static_cast<size_t>(rows.shape().rank()), 1);
  return rows * Reshape(counted, dims);
}

Term Segments(GradContext& g, const char* op, const Term& x) {
  return g.Call(op, {x, g.in(1)}, {{"num_segments", g.attr<int64_t>("num_segments")}});
}

Terms SumGrad(GradContext& g) { return {OfSegment(g, g.dout()), Term{}}; }

// The tangent is shared evenly by the slices that attain the extreme.
Terms ExtremeGrad(GradContext& g) {
  Term hit = CastTo(g.Call("Equal", {g.in(0), OfSegment(g, g.out())}), g.dout().dtype());
  Term count = g.Call(
      "Maximum", {Segments(g, "UnsortedSegmentSum", hit), g.emitter().Scalar(1, g.dout().dtype())});
  return {hit * OfSegment(g, g.dout() / count), Term{}};
}

// The product of the others, of which at most one zero may be left out.
Terms ProductGrad(GradContext& g) {
  Term x = g.in(0);
  Term zero = Compare("Equal", x, 0);
  Term safe = Where(zero, x + 1.0, x);
  Term zeros = OfSegment(g, Segments(g, "UnsortedSegmentSum", CastTo(zero, x.dtype())));
  Term rest = OfSegment(g, Segments(g, "UnsortedSegmentProd", safe)) / safe;
  Term others = zeros - CastTo(zero, x.dtype());
  Term kept = Where(Compare("Equal", others, 0), rest, ZerosLike(x));
  return {kept * OfSegment(g, g.dout()), Term{}};
}

}  // namespace

void DefineSegments(OpRegistry& ops) {
  struct Form {
    const char* name;
    const char* what;
    const char* empty;
    const char* mark;  // of parts that are joined
    GradFn grad;
    const char* face;
  };
  const Form forms[] = {
      {"UnsortedSegmentSum", "Sums", "0", "sum", SumGrad,
       "unsorted_segment_sum(input_x, segment_ids, num_segments)"},
      {"UnsortedSegmentMax", "Largest elements", "the lowest number", "max", ExtremeGrad,
       "unsorted_segment_max(x, segment_ids, num_segments)"},
      {"UnsortedSegmentMin", "Smallest elements", "the largest number", "min", ExtremeGrad,
       "unsorted_segment_min(x, segment_ids, num_segments)"},
      {"UnsortedSegmentProd", "Products", "1", "whole", ProductGrad,
       "unsorted_segment_prod(x, segment_ids, num_segments)"},
  };
  for (const Form& form : forms) {
    bool sum = form.name == std::string_view("UnsortedSegmentSum");
    ops.Op(form.name)
        .Doc(fmt::format("{} of the slices of x that share a segment, {} where there are none. "
                         "Negative segments are left out.",
                         form.what, form.empty))
        .In(sum ? "input_x" : "x", sum ? kNumber : kReal, "At least one dimension.")
        .In("segment_ids", kIndex, "The leading sizes of x.")
        .RequiredAttr<int64_t>("num_segments", "How many segments there are.")
        .Sizes("num_segments")
        .Batch(batch::SegmentSum)
        .Shard(shard::Segments(form.mark))
        .Infer(InferSegments)
        .Grad(form.grad)
        .Python(form.face)
        .Class(
            fmt::format("{}()({}, segment_ids, num_segments)", form.name, sum ? "input_x" : "x"));
  }
}

}  // namespace ms
