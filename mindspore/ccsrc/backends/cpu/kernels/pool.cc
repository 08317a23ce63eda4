// Pooling kernels: planes are independent, so threads share them out.
#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/in_float32.h"
#include "backends/cpu/kernels/pool_row_loops.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

// Where planes begin: batch and channel strides of one image tensor.
struct Planes {
  int64_t channels, image, channel;
  Planes(int64_t channel_count, int64_t size, bool channels_last)
      : channels(channel_count), image(channel_count * size), channel(channels_last ? 1 : size) {}
  int64_t Offset(int64_t plane) const {
    return plane / channels * image + plane % channels * channel;
  }
};

template <class F>
KernelChoice ForFloats(DType dtype, F make) {
  if (dtype == DType::kFloat32) return make(TypeTag<float>{});
  if (dtype == DType::kFloat64) return make(TypeTag<double>{});
  return No("needs Float32 or Float64, got {}", Name(dtype));
}

// Channels last: calls body(offset in the input, offset in the output, channels) for the pieces of
// all images, in parallel.
template <class F>
void EachChannels(int64_t count, double cost, const Planes& in, const Planes& out, F&& body) {
  int64_t pieces = (in.channels + kPoolChannels - 1) / kPoolChannels;
  int64_t images = count / in.channels;
  double piece_cost = cost * static_cast<double>(std::min(in.channels, kPoolChannels)) / 4;
  ParallelFor(images * pieces, piece_cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t c = i % pieces * kPoolChannels;
      int64_t plane = i / pieces * in.channels + c;
      body(in.Offset(plane), out.Offset(plane), std::min(kPoolChannels, in.channels - c));
    }
  });
}

// ---- maximum
struct MaxPooling {
  PoolPlane plane;
  Planes in, out;
  int64_t count;
  double cost;  // of a plane, in nanoseconds

  MaxPooling(const KernelRequest& r, const Shape& input)
      : MaxPooling(MakePoolGeometry(r.op, r.attrs, input)) {}
  explicit MaxPooling(const PoolGeometry& g)
      : in(g.channels, g.volume(), g.channels_last),
        out(g.channels, g.positions(), g.channels_last),
        count(g.batch * g.channels) {
    int64_t step = g.channels_last ? g.channels : 1;
    int64_t row = g.width.size * step, out_row = g.width.out * step;
    plane = {g.depth, g.height, g.width, g.height.size * row, row, step, g.height.out * out_row,
             out_row, step};
    cost = 0.3 * static_cast<double>(g.positions()) *
           static_cast<double>(g.depth.kernel * g.height.kernel + g.width.kernel);
  }
  double total_cost() const { return cost * static_cast<double>(count); }
  bool pixels() const { return in.channel == 1 && in.channels > 1; }
  ChannelsOfImage Channels(int64_t width) const {
    return {plane.height, plane.width, in.channels, width};
  }
};

KernelChoice MaxPool(const KernelRequest& r) {
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* pool = MS_PICK_ISA(MaxPlane<T>);
    auto* pixels = MS_PICK_ISA(MaxPixels<T>);
    MaxPooling p(r, r.shape(0));
    return FunctionKernel(
        [p, pool, pixels](const KernelArgs& args) {
          auto* x = static_cast<const T*>(args.in[0]);
          auto* y = static_cast<T*>(args.out[0]);
          if (p.pixels()) {
            return EachChannels(p.count, p.cost, p.in, p.out,
                                [&](int64_t from, int64_t to, int64_t width) {
                                  pixels(p.Channels(width), x + from, y + to);
                                });
          }
          ParallelFor(p.count, p.cost, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              pool(p.plane, x + p.in.Offset(i), y + p.out.Offset(i));
            }
          });
        },
        p.total_cost());
  });
}

// Calls visit(plane, output offset, position in the plane) for the first maximum of every window of
// x.
template <class T, class F>
void EachMaximum(const MaxPooling& p, const T* x, F&& visit) {
  auto* find = MS_PICK_ISA(FirstMaxima<T>);
  const Window& w = p.plane.width;
  ParallelFor(p.count, 3 * p.cost, [&](int64_t begin, int64_t end) {
    thread_local std::vector<int32_t> positions;
    positions.resize(static_cast<size_t>(w.out));
    for (int64_t i = begin; i < end; ++i) {
      const T* plane = x + p.in.Offset(i);
      if (!visit.Begin(i, plane)) continue;
      for (int64_t slice = 0; slice < p.plane.depth.out; ++slice) {
        for (int64_t row = 0; row < p.plane.height.out; ++row) {
          find(p.plane, plane, slice, row, positions.data());
          int64_t at = slice * p.plane.out_slice + row * p.plane.out_row;
          visit.Row(i, p.out.Offset(i) + at, positions.data());
        }
      }
    }
  });
}

// The base of what is done with positions; `step` is the distance of columns in both tensors.
struct MaxVisitor {
  const MaxPooling& p;
  bool Begin(int64_t, const void*) const { return true; }
  int64_t step() const { return p.plane.column; }
  int64_t out() const { return p.plane.width.out; }
};

template <class T>
struct WriteMaxima : MaxVisitor {
  const T* values;  // shaped as the input
  T* y;
  int32_t* mask;
  void Row(int64_t i, int64_t at, const int32_t* position) const {
    const T* plane = values + p.in.Offset(i);
    for (int64_t j = 0; j < out(); ++j) {
      int64_t to = at + j * step();
      y[to] = position[j] < 0 ? T{0} : plane[position[j] * step()];
      if (mask) mask[to] = position[j];
    }
  }
};

template <class T>
struct ScatterToMaxima : MaxVisitor {
  const T* dy;
  T* dx;
  bool (*halved)(const PoolPlane&, const T*, const T*, T*) = MS_PICK_ISA(HalvedPlaneGrad<T>);

  // Nothing is left to do for a pooling by twos.
  bool Begin(int64_t i, const T* x) const {
    T* plane = dx + p.in.Offset(i);
    if (halved(p.plane, x, dy + p.out.Offset(i), plane)) return false;
    int64_t size = p.plane.depth.size * p.plane.height.size * p.plane.width.size;
    for (int64_t k = 0; k < size; ++k) plane[k * step()] = 0;
    return true;
  }
  void Row(int64_t i, int64_t at, const int32_t* position) const {
    T* plane = dx + p.in.Offset(i);
    for (int64_t j = 0; j < out(); ++j) {
      if (position[j] >= 0) plane[position[j] * step()] += dy[at + j * step()];
    }
  }
};

KernelChoice MaxPoolWithArgmax(const KernelRequest& r) {
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    MaxPooling p(r, r.shape(0));
    return FunctionKernel(
        [p](const KernelArgs& args) {
          auto* x = static_cast<const T*>(args.in[0]);
          EachMaximum(
              p, x,
              WriteMaxima<T>{
                  {p}, x, static_cast<T*>(args.out[0]), static_cast<int32_t*>(args.out[1])});
        },
        3 * p.total_cost());
  });
}

KernelChoice MaxPoolGrad(const KernelRequest& r) {
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* pixels = MS_PICK_ISA(MaxPixelsGrad<T>);
    MaxPooling p(r, r.shape(0));
    return FunctionKernel(
        [p, pixels](const KernelArgs& args) {
          auto* x = static_cast<const T*>(args.in[0]);
          auto* dy = static_cast<const T*>(args.in[1]);
          auto* dx = static_cast<T*>(args.out[0]);
          if (!p.pixels()) return EachMaximum(p, x, ScatterToMaxima<T>{{p}, dy, dx});
          EachChannels(p.count, 3 * p.cost, p.in, p.out,
                       [&](int64_t at, int64_t out, int64_t width) {
                         pixels(p.Channels(width), x + at, dy + out, dx + at);
                       });
        },
        3 * p.total_cost());
  });
}

KernelChoice MaxPoolGradGrad(const KernelRequest& r) {
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    MaxPooling p(r, r.shape(0));
    return FunctionKernel(
        [p](const KernelArgs& args) {
          EachMaximum(
              p, static_cast<const T*>(args.in[0]),
              WriteMaxima<T>{
                  {p}, static_cast<const T*>(args.in[1]), static_cast<T*>(args.out[0]), nullptr});
        },
        3 * p.total_cost());
  });
}

// ---- ranges of elements
template <class Plane>
struct RangePooling {
  Plane plane;
  Planes in{1, 1, false}, out{1, 1, false};
  int64_t count = 0;
  double cost = 0;

  bool pixels() const { return in.channel == 1 && in.channels > 1; }
  void SetLayout(int64_t batch, int64_t channels, bool channels_last) {
    int64_t step = channels_last ? channels : 1;
    auto slices = static_cast<int64_t>(plane.slices.size());
    auto rows = static_cast<int64_t>(plane.rows.size());
    auto columns = static_cast<int64_t>(plane.columns.size());
    int64_t size = plane.depth * plane.height * plane.width;
    in = Planes(channels, size, channels_last);
    out = Planes(channels, slices * rows * columns, channels_last);
    count = batch * channels;
    plane.column = plane.out_column = step;
    plane.row = plane.width * step;
    plane.slice = plane.height * plane.row;
    plane.out_row = columns * step;
    plane.out_slice = rows * plane.out_row;
    cost = static_cast<double>(size + 4 * slices * rows * columns) * 0.5;
  }
};
using MeanPooling = RangePooling<MeanPlane>;

void AddRanges(const Window& w, bool count_pad, std::vector<RangePlane::Range>* ranges,
               std::vector<double>* divisors) {
  for (int64_t i = 0; i < w.out; ++i) {
    int64_t start = w.Start(i);
    ranges->push_back({start + w.First(i), std::max(start + w.First(i), start + w.Last(i))});
    int64_t inside = std::max<int64_t>(1, ranges->back().last - ranges->back().first);
    int64_t whole = std::min(start + w.kernel, w.size + w.pad_after) - start;
    divisors->push_back(static_cast<double>(count_pad ? whole : inside));
  }
}

MeanPooling FixedMeans(const KernelRequest& r, const Shape& input) {
  PoolGeometry g = MakePoolGeometry(r.op, r.attrs, input);
  bool count_pad = r.attr<bool>("count_include_pad");
  MeanPooling m;
  MeanPlane& p = m.plane;
  p.depth = g.depth.size;
  p.height = g.height.size;
  p.width = g.width.size;
  AddRanges(g.depth, count_pad, &p.slices, &p.slice_divisors);
  AddRanges(g.height, count_pad, &p.rows, &p.row_divisors);
  AddRanges(g.width, count_pad, &p.columns, &p.column_divisors);
  if (int64_t divisor = r.attr<int64_t>("divisor_override"); divisor > 0) {
    std::fill(p.slice_divisors.begin(), p.slice_divisors.end(), divisor);
    std::fill(p.row_divisors.begin(), p.row_divisors.end(), 1);
    std::fill(p.column_divisors.begin(), p.column_divisors.end(), 1);
  }
  m.SetLayout(g.batch, g.channels, g.channels_last);
  return m;
}

// Windows that cover the image, of `rank` dimensions, as evenly as they can.
template <class Plane>
RangePooling<Plane> AdaptiveRanges(int rank, const Shape& input, const Shape& output) {
  RangePooling<Plane> m;
  auto split = [](int64_t size, int64_t windows) {
    std::vector<RangePlane::Range> ranges;
    for (int64_t i = 0; i < windows; ++i) {
      ranges.push_back({i * size / windows, ((i + 1) * size + windows - 1) / windows});
    }
    return ranges;
  };
  m.plane.depth = rank == 3 ? input[-3] : 1;
  m.plane.height = input[-2];
  m.plane.width = input[-1];
  m.plane.slices = split(m.plane.depth, rank == 3 ? output[-3] : 1);
  m.plane.rows = split(m.plane.height, output[-2]);
  m.plane.columns = split(m.plane.width, output[-1]);
  m.SetLayout(input.rank() == rank + 2 ? input[0] : 1, input[-rank - 1], false);
  return m;
}

MeanPooling AdaptiveMeans(int rank, const Shape& input, const Shape& output) {
  auto m = AdaptiveRanges<MeanPlane>(rank, input, output);
  auto lengths = [](const std::vector<RangePlane::Range>& ranges) {
    std::vector<double> result;
    for (const auto& range : ranges)
      result.push_back(static_cast<double>(range.last - range.first));
    return result;
  };
  m.plane.slice_divisors = lengths(m.plane.slices);
  m.plane.row_divisors = lengths(m.plane.rows);
  m.plane.column_divisors = lengths(m.plane.columns);
  return m;
}

KernelMaker AdaptiveMax(int rank) {
  return [rank](const KernelRequest& r) -> KernelChoice {
    return ForFloats(r.dtype(0), [&](auto tag) {
      using T = typename decltype(tag)::type;
      auto* pool = MS_PICK_ISA(MaxOfRanges<T>);
      auto m = AdaptiveRanges<RangePlane>(rank, r.shape(0), r.out[0].shape());
      return FunctionKernel(
          [m, pool](const KernelArgs& args) {
            ParallelFor(m.count, 4 * m.cost, [&](int64_t begin, int64_t end) {
              for (int64_t i = begin; i < end; ++i) {
                pool(m.plane, static_cast<const T*>(args.in[0]) + m.in.Offset(i),
                     static_cast<T*>(args.out[0]) + m.out.Offset(i),
                     static_cast<int32_t*>(args.out[1]) + m.out.Offset(i));
              }
            });
          },
          4 * m.cost * static_cast<double>(m.count));
    });
  };
}

KernelChoice Means(DType dtype, const MeanPooling& m) {
  return ForFloats(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* pool = MS_PICK_ISA(MeanOfPlane<T>);
    auto* pixels = MS_PICK_ISA(MeanPixels<T>);
    return FunctionKernel(
        [m, pool, pixels](const KernelArgs& args) {
          if (m.pixels()) {
            return EachChannels(m.count, m.cost, m.in, m.out,
                                [&](int64_t from, int64_t to, int64_t width) {
                                  pixels(m.plane, width, static_cast<const T*>(args.in[0]) + from,
                                         static_cast<T*>(args.out[0]) + to);
                                });
          }
          ParallelFor(m.count, m.cost, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              pool(m.plane, static_cast<const T*>(args.in[0]) + m.in.Offset(i),
                   static_cast<T*>(args.out[0]) + m.out.Offset(i));
            }
          });
        },
        m.cost * static_cast<double>(m.count));
  });
}

KernelChoice Spread(DType dtype, const MeanPooling& m) {
  return ForFloats(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* spread = MS_PICK_ISA(SpreadPlane<T>);
    auto* pixels = MS_PICK_ISA(SpreadPixels<T>);
    return FunctionKernel(
        [m, spread, pixels](const KernelArgs& args) {
          if (m.pixels()) {
            return EachChannels(m.count, m.cost, m.in, m.out,
                                [&](int64_t to, int64_t from, int64_t width) {
                                  pixels(m.plane, width, static_cast<const T*>(args.in[0]) + from,
                                         static_cast<T*>(args.out[0]) + to);
                                });
          }
          ParallelFor(m.count, m.cost, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              spread(m.plane, static_cast<const T*>(args.in[0]) + m.out.Offset(i),
                     static_cast<T*>(args.out[0]) + m.in.Offset(i));
            }
          });
        },
        m.cost * static_cast<double>(m.count));
  });
}

}  // namespace

void AddPool(KernelTable& table) {
  auto add = [&](const std::string& op, const KernelMaker& maker) {
    table.For(op).Try("planes", maker).Try("planes in float32", InFloat32(maker));
  };
  for (std::string rank : {"", "3D"}) {
    add("MaxPool" + rank, MaxPool);
    add("MaxPool" + rank + "WithArgmax", MaxPoolWithArgmax);
    add("MaxPool" + rank + "Grad", MaxPoolGrad);
    add("MaxPool" + rank + "GradGrad", MaxPoolGradGrad);
    add("AvgPool" + rank,
        [](const KernelRequest& r) { return Means(r.dtype(0), FixedMeans(r, r.shape(0))); });
    add("AvgPool" + rank + "Grad",
        [](const KernelRequest& r) { return Spread(r.dtype(0), FixedMeans(r, r.out[0].shape())); });
  }
  for (int rank : {2, 3}) {
    std::string mean = fmt::format("AdaptiveAvgPool{}D", rank);
    add(mean, [rank](const KernelRequest& r) {
      return Means(r.dtype(0), AdaptiveMeans(rank, r.shape(0), r.out[0].shape()));
    });
    add(mean + "Grad", [rank](const KernelRequest& r) {
      return Spread(r.dtype(0), AdaptiveMeans(rank, r.out[0].shape(), r.shape(0)));
    });
    add(fmt::format("AdaptiveMaxPool{}D", rank), AdaptiveMax(rank));
  }
}

}  // namespace ms::cpu
