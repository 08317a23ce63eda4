// Tensors made from attributes: constants, ranges and identity matrices.
#include <cmath>

#include "ops/all.h"
#include "ops/axes.h"
#include "ops/batch.h"
#include "ops/shard.h"

namespace ms {
namespace {

DType DTypeOr(const InferContext& c, DType fallback) {
  return c.is_none("dtype") ? fallback : c.attr<DType>("dtype");
}

double Number(const InferContext& c, std::string_view name, bool* integer) {
  const Attr& value = c.attrs().at(static_cast<size_t>(c.op().AttrIndex(name)));
  if (const auto* i = std::get_if<int64_t>(&value)) return static_cast<double>(*i);
  const auto* d = std::get_if<double>(&value);
  c.CheckType(d != nullptr, "'{}' must be an int or a float, but got {}", name, ToString(value));
  *integer = false;
  c.Check(std::isfinite(*d), "'{}' must be finite, but got {}", name, *d);
  return *d;
}

// A range of integers, whose ends and length may be symbolic.
Type InferSizeRange(InferContext& c) {
  Dim start = c.dim_attr("start"), end = c.dim_attr("end"), step = c.dim_attr("step");
  c.Check(step != 0, "the step must not be zero, but got {}", step);
  bool up = step > 0;
  c.Check(up ? start <= end : end <= start, "the step must lead from {} towards {}, but got {}",
          start, end, step);
  Dim count = up ? (end - start + step - 1) / step : (start - end - step - 1) / (step * -1);
  return Type(DTypeOr(c, DType::kInt64), {count});
}

Type InferRange(InferContext& c) {
  if (HasSymbols(c.attrs())) return InferSizeRange(c);
  bool integer = true;
  double start = Number(c, "start", &integer), end = Number(c, "end", &integer),
         step = Number(c, "step", &integer);
  c.Check(step != 0, "the step must not be zero, but got {}", step);
  double span = (end - start) / step;
  c.Check(span >= 0, "the step must lead from {} towards {}, but got {}", start, end, step);
  double count = std::ceil(span);
  int64_t limit = c.attr<int64_t>("maxlen");
  c.Check(count <= static_cast<double>(limit),
          "the range must have at most {} elements, but got {}", limit, count);
  DType dtype = DTypeOr(c, integer ? DType::kInt64 : DType::kFloat32);
  if (count > 0) {
    CheckFits(c, start, dtype);
    CheckFits(c, start + (count - 1) * step, dtype);
  }
  return Type(dtype, {static_cast<int64_t>(count)});
}

OpDef& DefineConstant(OpRegistry& ops, const char* name, const char* doc) {
  return ops.Op(name)
      .Doc(doc)
      .RequiredAttr<Ints>("shape", "The sizes.")
      .Sizes("shape")
      .OptionalAttr<DType>("dtype", "Float32 where it is None.")
      .Shard(shard::Shaped("shape"))
      .Infer([](InferContext& c) { return Type(DTypeOr(c, DType::kFloat32), CheckedShape(c)); });
}

OpDef& DefineLike(OpRegistry& ops, const char* name, const char* doc) {
  return ops.Op(name)
      .Doc(doc)
      .In("input", kAny, "Any shape.")
      .OptionalAttr<DType>("dtype", "That of the input where it is None.")
      .Batch(batch::Leading)
      .Shard(ElementwiseShard)
      .Infer([](InferContext& c) { return Type(DTypeOr(c, c.dtype(0)), c.shape(0)); })
      .Grad([](GradContext&) { return Terms{}; });
}

// dy summed with the weights that the borders had: 1 - t for the start, t for the stop.
Terms LinSpaceGrad(GradContext& g) {
  Term dy = g.dout();
  Term zero = g.emitter().Scalar(0, dy.dtype());
  Term one = g.emitter().Scalar(1, dy.dtype());
  Term t = g.Call("LinSpace", {zero, one}, {{"num", g.attr<int64_t>("num")}});
  Term stop = g.Call("ReduceSum", {dy * t});
  Term start = g.Call("ReduceSum", {dy * (1 - t)});
  return {Reshape(start, g.in_type(0).shape()), Reshape(stop, g.in_type(1).shape())};
}

}  // namespace

Shape CheckedShape(const InferContext& c) {
  Dims sizes = c.dims_attr("shape");
  for (Dim d : sizes) {
    c.Check(d >= 0, "the sizes of the shape must not be negative, but got ({})",
            fmt::join(sizes, ", "));
  }
  return Shape(c.attr<Ints>("shape"));
}

void CheckFits(const InferContext& c, double value, DType dtype) {
  if (!IsInteger(dtype)) return;
  IntegerRange range = RangeOf(dtype);
  // The least power of two that is too large is exact; the largest integer may not be.
  bool fits =
      value >= static_cast<double>(range.low) && value < static_cast<double>(range.high + 1);
  if (!fits) c.Fail(ErrorKind::kValue, UnfitText(dtype, fmt::format("{}", value)));
}

void DefineCreation(OpRegistry& ops) {
  // Where the size is known, its users get a constant instead.
  ops.Op("SizeScalar")
      .Internal()
      .Doc("A number made of a dynamic size: size / divisor, or divisor / size.")
      .RequiredAttr<int64_t>("size", "The size.")
      .Sizes("size")
      .RequiredAttr<DType>("dtype", "The element type.")
      .WithAttr("divisor", 1.0, "What the size is divided by, or what is divided by it.")
      .WithAttr("inverse", false, "Divide by the size.")
      .WithAttr("weak", false, "The dtype yields to that of other operands.")
      .Shard(" -> ")
      .Infer([](InferContext& c) {
        Dim size = c.dim_attr("size");
        c.Check(size.symbolic() || size >= 0, "'size' must not be negative, but got {}", size);
        return Type(c.attr<DType>("dtype"), Shape{}, c.attr<bool>("weak"));
      })
      .Expand([](ExpandContext& c) {
        return c.emitter().SizeScalar(c.attr<int64_t>("size"), c.attr<DType>("dtype"),
                                      c.attr<double>("divisor"), c.attr<bool>("inverse"));
      });
  ops.Op("Fill")
      .Doc("A tensor of one repeated value.")
      .RequiredAttr<DType>("dtype", "The element type.")
      .RequiredAttr<Ints>("shape", "The sizes.")
      .Sizes("shape")
      .RequiredAttr<double>("value", "The value, converted to the dtype.")
      .PerAxis("shape", {-1})
      .Shard(shard::Shaped("shape"))
      .Infer([](InferContext& c) {
        CheckFits(c, c.attr<double>("value"), c.attr<DType>("dtype"));
        return Type(c.attr<DType>("dtype"), CheckedShape(c));
      })
      .Python("fill(type, shape, value)")
      .Class("Fill()(dtype, dims, x)");
  DefineConstant(ops, "Zeros", "A tensor of zeros.")
      .Python("zeros(size, dtype=None)")
      .Class("Zeros()(size, dtype=None)");
  DefineConstant(ops, "Ones", "A tensor of ones.")
      .Python("ones(shape, dtype=None)")
      .Class("Ones()(shape, dtype=None)");
  DefineLike(ops, "ZerosLike", "Zeros in the shape of the input.")
      .Python("zeros_like(input, dtype=None)")
      .Class("ZerosLike()(x)");
  DefineLike(ops, "OnesLike", "Ones in the shape of the input.")
      .Python("ones_like(input, dtype=None)")
      .Class("OnesLike()(x)");
  ops.Op("Eye")
      .Doc("A matrix with ones on its main diagonal and zeros elsewhere.")
      .RequiredAttr<int64_t>("n", "Rows.")
      .OptionalAttr<int64_t>("m", "Columns; as many as rows where it is None.")
      .Sizes("n")
      .Sizes("m")
      .OptionalAttr<DType>("dtype", "Float32 where it is None.")
      .Shard(shard::Whole)
      .Infer([](InferContext& c) {
        Dim n = c.dim_attr("n");
        Dim m = c.is_none("m") ? n : c.dim_attr("m");
        c.Check(n >= 0 && m >= 0, "the sizes must not be negative, but got {} and {}", n, m);
        return Type(DTypeOr(c, DType::kFloat32), {n, m});
      })
      .Python("eye(n, m=None, dtype=None)")
      .Class("Eye()(n, m=None, dtype=None)");
  OpDef& range = ops.Op("Range");
  for (const char* name : {"start", "end", "step"}) {
    range.AddAttr({name, {}, true, 0, false, "An int or a float."}).Sizes(name);
  }
  range.Doc("Numbers from `start` up to, but without, `end`.")
      .WithAttr("maxlen", 1000000, "More elements than this are refused.")
      .OptionalAttr<DType>("dtype", "Where it is None: Int64 from ints, else Float32.")
      .Shard(shard::Whole)
      .Infer(InferRange)
      .Python("range(start, end, step, maxlen=1000000)")
      .Class("Range(maxlen=1000000)(start, end, step)");
  ops.Op("LinSpace")
      .Doc("Numbers at equal distances from `start` to `stop`, both included.")
      .In("start", kFloating, "A scalar.")
      .In("stop", kFloating, "A scalar.")
      .RequiredAttr<int64_t>("num", "How many.")
      .Sizes("num")
      .Promote(Promotion::kFloating)
      .Shard(shard::Whole)
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        for (size_t i : {0, 1}) {
          c.Check(c.shape(i).elements() == 1, "'{}' must be a scalar, but got shape {}",
                  c.input_name(i), c.shape(i));
        }
        Dim num = c.dim_attr("num");
        c.Check(num > 0, "'num' must be positive, but got {}", num);
        return Type(c.dtype(0), {num});
      })
      .Grad(LinSpaceGrad)
      .Python("linspace(start, end, steps)")
      .Class("LinSpace()(start, stop, num)");
}

}  // namespace ms
