// Discrete Fourier transforms along axes: of complex numbers, or between real numbers and the half
// of their spectra that tells the other one.
#include <algorithm>

#include "ops/all.h"
#include "ops/axes.h"
#include "ops/shard.h"

namespace ms {
namespace {

constexpr DTypeSet kTransformed = One(DType::kFloat32) | One(DType::kFloat64) | kComplex;

Ints WrappedAxes(const Ints& axes, int rank) {
  Ints wrapped;
  for (int64_t axis : axes) wrapped.push_back(Wrap(axis, rank));
  return wrapped;
}

Type InferFft(InferContext& c) {
  const auto& axes = c.attr<Ints>("axes");
  const auto& scale = c.attr<std::string>("scale");
  c.Check(!axes.empty(), "'axes' must name at least one axis, but got none");
  c.Check(scale == "none" || scale == "ortho" || scale == "whole",
          "'scale' must be 'none', 'ortho' or 'whole', but got '{}'", scale);
  std::vector<bool> named(static_cast<size_t>(c.rank(0)), false);
  for (int64_t given : axes) {
    auto axis = static_cast<size_t>(c.Axis(given, c.rank(0)));
    c.Check(!named[axis], "'axes' must be distinct, but got axis {} twice", given);
    named[axis] = true;
    c.Check(c.dim(0, static_cast<int>(axis)) > 0,
            "the axes must not be empty, but got shape {} and axis {}", c.shape(0), given);
  }
  Dim size = Dim::FromCode(c.attr<int64_t>("size"));
  int last = c.Axis(axes.back(), c.rank(0));
  bool wide = c.dtype(0) == DType::kFloat64 || c.dtype(0) == DType::kComplex128;
  if (!IsComplex(c.dtype(0))) {
    return Type(wide ? DType::kComplex128 : DType::kComplex64,
                c.shape(0).With(last, c.dim(0, last) / 2 + 1));
  }
  if (size == 0) return c.Like(0, c.shape(0));
  c.Check(size > 0 && c.dim(0, last) == size / 2 + 1,
          "the last of the axes must have {} elements for a result of {}, but got shape {}",
          size / 2 + 1, size, c.shape(0));
  return Type(wide ? DType::kFloat64 : DType::kFloat32, c.shape(0).With(last, size));
}

// The adjoint runs back from a result to an input: with the other sign, from half a spectrum to
// real numbers where the transform went the other way.
Term FftGrad(GradContext& g) {
  const Shape& x = g.in_type(0).shape();
  auto axes = g.attr<Ints>("axes");
  bool from_real = !IsComplex(g.in_type(0).dtype());
  bool one_sided = from_real || !IsComplex(g.out_type().dtype());
  int64_t size = from_real ? x.dim(Wrap(axes.back(), x.rank())).code() : 0;
  return g.Call("FFT", {g.dout()},
                {{"axes", axes},
                 {"inverse", !g.attr<bool>("inverse")},
                 {"scale", g.attr<std::string>("scale")},
                 {"size", size},
                 {"adjoint", one_sided && !g.attr<bool>("adjoint")}});
}

std::string FftShard(const ShardContext& c) {
  int rank = c.rank(0);
  const auto& axes = c.attr<Ints>("axes");
  shard::Names in = shard::Axes(rank), out = in, marked;
  for (int64_t axis : WrappedAxes(axes, rank)) marked.push_back(in[static_cast<size_t>(axis)]);
  auto last = static_cast<size_t>(Wrap(axes.back(), rank));
  if (IsComplex(c.dtype(0)) != IsComplex(c.outputs()[0].dtype())) {
    out[last] = "half";
    marked.push_back("half");
  }
  return shard::Rule().In(in).Out(out).Mark(marked, "whole").Text();
}

}  // namespace

void DefineFft(OpRegistry& ops) {
  ops.Op("FFT")
      .Internal()
      .Doc(
          "The discrete Fourier transform along axes. Of real numbers: half of the spectrum along "
          "the last of these axes.")
      .In("x", kTransformed, "Any shape with elements along the axes.")
      .RequiredAttr<Ints>("axes", "Distinct; the last one is that of half a spectrum.")
      .WithAttr("inverse", false, "The sign of the exponent is plus.")
      .WithAttr("scale", "none", "By what it is divided: 'ortho' the root of the size, 'whole' it.")
      .WithAttr("size", 0, "If not 0: of complex x, real numbers, so many along the last axis.")
      .WithAttr("adjoint", false,
                "The adjoint of the one-sided transform that goes back: elements that stand for "
                "two of a spectrum count twice in a spectrum made, half in one read.")
      .Sizes("size")
      .Batch([](BatchContext& b) {
        Ints axes = WrappedAxes(b.attr<Ints>("axes"), b.rank(0));
        for (int64_t& axis : axes) ++axis;
        return b.Again({b.Spread(0)}, {{"axes", axes}});
      })
      .Shard(FftShard)
      .Infer(InferFft)
      .Grad(FftGrad);
}

}  // namespace ms
