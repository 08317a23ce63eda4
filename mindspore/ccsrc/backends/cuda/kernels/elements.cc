// Elements that depend on where they are: padded, repeated and reversed tensors, triangles, one-hot
// vectors, ranges.
#include <ms_cuda_texts.h>  // made when this is built

#include <bit>
#include <cstring>

#include "backends/cuda/codegen/scalar_text.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"
#include "ops/axes.h"
#include "tensor/buffer.h"

namespace ms::cuda {
namespace {

constexpr size_t kMostAxes = 8;  // of struct Numbers in device/elements.cuh

struct Elements {
  struct Axis {
    long long size, inside = 0, before = 0, stride = 0;
  };
  long long around[2] = {};
  long long first = 0;
  std::vector<Axis> axes;  // the innermost one first

  void SetAround(double value, DType dtype) {
    Tensor element = Tensor::Full(dtype, Shape{}, value);
    std::memcpy(around, element.raw(), ItemSize(dtype));
  }
  std::vector<long long> Numbers(int64_t count) const {
    std::vector<long long> numbers{count, around[0], around[1], first,
                                   static_cast<long long>(axes.size())};
    for (const Axis& a : axes)
      numbers.insert(numbers.end(), {a.size, a.inside, a.before, a.stride});
    numbers.resize(5 + 4 * kMostAxes);
    return numbers;
  }
};

// `arguments` are the inputs, and the output behind them.
KernelChoice Make(const KernelRequest& r, const Elements& elements, const std::string& arguments,
                  const std::string& body) {
  if (elements.axes.size() > kMostAxes) return No("needs at most {} axes", kMostAxes);
  int64_t count = r.out[0].shape().size();
  if (count == 0) return NothingToDo();
  return FunctionKernel(
      [numbers = elements.Numbers(count), count, inputs = r.in.size(),
       program =
           Program::Of(kElementsText + EntryText(0, arguments, body), 1)](const KernelArgs& args) {
        std::vector<const void*> addresses(args.in, args.in + inputs);
        addresses.push_back(args.out[0]);
        LaunchText(StreamOf(args), *program, 0, BlocksFor(count), addresses, numbers);
      },
      2000);
}

std::string UnitOf(const KernelRequest& r) { return UnitType(ItemSize(r.out[0].dtype())); }

KernelChoice Map(const KernelRequest& r, const Elements& elements, const char* outside) {
  if (r.shape(0).size() == 0 && outside != std::string_view("Constant"))
    return No("needs elements, got none");
  return Make(r, elements, fmt::format("const {0}* x, {0}* out", UnitOf(r)),
              fmt::format("MapAxes<{}>(x, out, n);", outside));
}

// The axes of a result, and of an input that has as many or fewer.
Elements AxesOf(const KernelRequest& r) {
  Elements elements;
  const Shape &x = r.shape(0), &out = r.out[0].shape();
  for (int i = 1; i <= out.rank(); ++i) {
    bool is_there = i <= x.rank();
    elements.axes.push_back(
        {out[-i], is_there ? x[-i] : 1, 0, is_there ? x.Product(x.rank() - i + 1, x.rank()) : 0});
  }
  return elements;
}

Elements Padded(const KernelRequest& r) {
  Elements elements = AxesOf(r);
  const Ints& paddings = r.attr<Ints>("paddings");
  for (size_t k = 0; k < elements.axes.size(); ++k)
    elements.axes[k].before = paddings[paddings.size() - 2 * k - 2];
  return elements;
}

KernelChoice MakePad(const KernelRequest& r) {
  Elements elements = Padded(r);
  elements.SetAround(r.attr<double>("value"), r.dtype(0));
  return Map(r, elements, "Constant");
}

KernelChoice MakeMirrorPad(const KernelRequest& r) {
  const auto& mode = r.attr<std::string>("mode");
  return Map(r, Padded(r),
             mode == "EDGE"        ? "Edge"
             : mode == "CIRCULAR"  ? "Circular"
             : mode == "SYMMETRIC" ? "Symmetric"
                                   : "Reflect");
}

// The places that come from an element i of an axis of `size`, for all i: where they begin, and
// then they themselves, which are of an axis with `all` elements.
void PutPlaces(const std::string& mode, int64_t size, int64_t before, int64_t all,
               std::vector<long long>* words, Elements::Axis* axis) {
  auto origin = [&](int64_t place) {
    int64_t i = place - before;
    if (i >= 0 && i < size) return i;
    if (mode == "EDGE") return i < 0 ? 0 : size - 1;
    if (mode == "CIRCULAR") return (i % size + size) % size;
    int64_t border = mode == "SYMMETRIC" ? 1 : 0;
    return i < 0 ? -i - border : 2 * (size - 1) - i + border;
  };
  std::vector<std::vector<long long>> places(static_cast<size_t>(size));
  for (int64_t place = 0; place < all; ++place)
    places[static_cast<size_t>(origin(place))].push_back(place);
  axis->inside = static_cast<long long>(words->size());
  long long begin = 0;
  for (const auto& some : places) {
    words->push_back(begin);
    begin += static_cast<long long>(some.size());
  }
  words->push_back(begin);
  axis->before = static_cast<long long>(words->size());
  for (const auto& some : places) words->insert(words->end(), some.begin(), some.end());
}

KernelChoice MakeMirrorPadGrad(const KernelRequest& r) {
  const Shape &dy = r.shape(0), &dx = r.out[0].shape();
  if (static_cast<size_t>(dx.rank()) > kMostAxes) return No("needs at most {} axes", kMostAxes);
  if (dx.size() == 0) return NothingToDo();
  const Ints& paddings = r.attr<Ints>("paddings");
  Elements elements;
  std::vector<long long> words;
  for (int k = dx.rank() - 1; k >= 0; --k) {
    auto& axis = elements.axes.emplace_back(Elements::Axis{dx[k]});
    axis.stride = dy.Product(k + 1, dy.rank());
    PutPlaces(r.attr<std::string>("mode"), dx[k], paddings[2 * static_cast<size_t>(k)], dy[k],
              &words, &axis);
  }
  if (words.empty()) return No("needs an axis");
  size_t bytes = words.size() * sizeof(long long);
  BufferRef table = Buffer::Allocate(bytes, TheMemory());
  TheMemory().Store(table->data(), words.data(), bytes);
  std::string text =
      TextOf(r.dtype(0)) + kElementsText +
      EntryText(
          0, fmt::format("const {0}* dy, const long long* table, {0}* dx", MemoryType(r.dtype(0))),
          "AddPlaces(dy, table, dx, n);");
  return FunctionKernel(
      [table, count = dx.size(), numbers = elements.Numbers(dx.size()),
       program = Program::Of(text, 1)](const KernelArgs& args) {
        LaunchText(StreamOf(args), *program, 0, BlocksFor(count),
                   {args.in[0], table->data(), args.out[0]}, numbers);
      },
      2000);
}

KernelChoice MakeTile(const KernelRequest& r) { return Map(r, AxesOf(r), "Circular"); }

KernelChoice MakeReverse(const KernelRequest& r) {
  Elements elements = AxesOf(r);
  int rank = r.shape(0).rank();
  std::vector<bool> turned(static_cast<size_t>(rank), false);
  for (int64_t axis : r.attr<Ints>("axis")) turned[static_cast<size_t>(Wrap(axis, rank))] = true;
  for (size_t k = 0; k < turned.size(); ++k) {
    if (!turned[turned.size() - 1 - k]) continue;
    Elements::Axis& axis = elements.axes[k];
    elements.first += (axis.size - 1) * axis.stride;
    axis.stride = -axis.stride;
  }
  return Map(r, elements, "Constant");
}

// A vector lies n + 1 apart in a matrix of n columns.
KernelChoice MakeDiagonalPart(const KernelRequest& r) {
  Elements elements;
  int64_t n = r.out[0].shape()[0];
  elements.axes.push_back({n, n, 0, n + 1});
  return Map(r, elements, "Constant");
}

KernelMaker Triangle(bool lower) {
  return [lower](const KernelRequest& r) {
    return Make(r, AxesOf(r), fmt::format("const {0}* x, {0}* out", UnitOf(r)),
                fmt::format("Triangle(x, out, {}, {}ll, n);", lower, r.attr<int64_t>("diagonal")));
  };
}

KernelChoice MakeDiagonal(const KernelRequest& r) {
  bool constant = r.in.empty();
  std::string unit = UnitOf(r);
  Elements elements;
  elements.SetAround(1, r.out[0].dtype());
  elements.axes.push_back({r.out[0].shape()[1]});
  return Make(
      r, elements,
      fmt::format("{}{}* out", constant ? "" : fmt::format("const {}* x, ", unit), unit),
      fmt::format("Diagonal({}, out, n);", constant ? fmt::format("(const {}*)0", unit) : "x"));
}

KernelChoice MakeOneHot(const KernelRequest& r) {
  const Shape& out = r.out[0].shape();
  int axis = Wrap(r.attr<int64_t>("axis"), out.rank());
  Elements elements;
  elements.axes = {{out.Product(axis + 1, out.rank())}, {out[axis]}};
  return Make(r, elements,
              fmt::format("const {0}* at, const {1}* on, const {1}* off, {1}* out",
                          MemoryType(r.dtype(0)), UnitOf(r)),
              "OneHot(at, on, off, out, n);");
}

double NumberAttr(const KernelRequest& r, const char* name) {
  const Attr& value = r.attrs.at(static_cast<size_t>(r.op.AttrIndex(name)));
  if (const auto* i = std::get_if<int64_t>(&value)) return static_cast<double>(*i);
  return std::get<double>(value);
}

KernelChoice MakeRange(const KernelRequest& r) {
  DType dtype = r.out[0].dtype();
  if (IsComplex(dtype)) return No("needs real numbers, got {}", Name(dtype));
  Elements elements;
  elements.around[0] = std::bit_cast<long long>(NumberAttr(r, "start"));
  elements.around[1] = std::bit_cast<long long>(NumberAttr(r, "step"));
  return Make(r, elements, MemoryType(dtype) + "* out",
              "Progress(out, __builtin_bit_cast(double, n.around[0]), "
              "__builtin_bit_cast(double, n.around[1]), n);");
}

KernelChoice MakeLinSpace(const KernelRequest& r) {
  return Make(r, {},
              fmt::format("const {0}* start, const {0}* stop, {0}* out", MemoryType(r.dtype(0))),
              "Between(start, stop, out, n);");
}

}  // namespace

void AddElements(KernelTable& table) {
  table.For("Pad").Try("text", MakePad);
  table.For("MirrorPad").Try("text", MakeMirrorPad);
  table.For("MirrorPadGrad").Try("text", MakeMirrorPadGrad);
  table.For("Tile").Try("text", MakeTile);
  table.For("ReverseV2").Try("text", MakeReverse);
  table.For("DiagPart").Try("text", MakeDiagonalPart);
  for (const char* op : {"Diag", "Eye"}) table.For(op).Try("text", MakeDiagonal);
  table.For("Tril").Try("text", Triangle(true));
  table.For("Triu").Try("text", Triangle(false));
  table.For("OneHot").Try("text", MakeOneHot);
  table.For("Range").Try("text", MakeRange);
  table.For("LinSpace").Try("text", MakeLinSpace);
}

}  // namespace ms::cuda
