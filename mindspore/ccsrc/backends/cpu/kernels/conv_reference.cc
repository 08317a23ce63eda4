#include "backends/cpu/kernels/conv_reference.h"

#include "kernel/parallel.h"
#include "ops/window.h"

namespace ms::cpu {
namespace {

// Distances in elements between neighbours, in either data format.
struct ImageStrides {
  int64_t batch, channel, slice, row, column;
  ImageStrides(const ConvGeometry& g, int64_t channels, int64_t Window::* size,
               bool channels_last) {
    int64_t plane = g.height.*size * (g.width.*size), volume = g.depth.*size * plane;
    column = channels_last ? channels : 1;
    row = g.width.*size * column;
    slice = plane * column;
    batch = channels * volume;
    channel = channels_last ? 1 : volume;
  }
};

struct Conv {
  ConvGeometry g;
  ImageStrides x, y, w;  // w: out channel, in channel, kernel slice, row, column
  int64_t in_group, out_group;

  explicit Conv(const ConvGeometry& geometry)
      : g(geometry),
        x(g, g.in_channels, &Window::size, g.channels_last),
        y(g, g.out_channels, &Window::out, g.channels_last),
        w(g, g.in_channels / g.groups, &Window::kernel, g.weight_last),
        in_group(g.in_channels / g.groups),
        out_group(g.out_channels / g.groups) {}

  // Calls tap(offset in the filter, each), and that each(row) for the pieces of rows in which the
  // tap meets the image: row(y offset, x offset, count). The offsets are within one channel of one
  // image, steps are y.column and x.column * stride.
  template <class F>
  void EachTap(F&& tap) const {
    for (int64_t kd = 0; kd < g.depth.kernel; ++kd) {
      for (int64_t kh = 0; kh < g.height.kernel; ++kh) {
        for (int64_t kw = 0; kw < g.width.kernel; ++kw) {
          tap(kd * w.slice + kh * w.row + kw * w.column,
              [&](auto&& row) { EachRow(kd, kh, kw, row); });
        }
      }
    }
  }

 private:
  template <class F>
  void EachRow(int64_t kd, int64_t kh, int64_t kw, F&& row) const {
    Range slices = Inside(g.depth, kd), rows = Inside(g.height, kh), columns = Inside(g.width, kw);
    if (columns.from >= columns.to) return;
    int64_t iw = g.width.Start(columns.from) + kw * g.width.dilation;
    for (int64_t k = slices.from; k < slices.to; ++k) {
      int64_t id = g.depth.Start(k) + kd * g.depth.dilation;
      for (int64_t i = rows.from; i < rows.to; ++i) {
        int64_t ih = g.height.Start(i) + kh * g.height.dilation;
        row(k * y.slice + i * y.row + columns.from * y.column,
            id * x.slice + ih * x.row + iw * x.column, columns.to - columns.from);
      }
    }
  }

  // The windows [from, to) whose tap k lies inside.
  struct Range {
    int64_t from, to;
  };
  static Range Inside(const Window& w, int64_t k) {
    int64_t start = k * w.dilation - w.pad_before;  // of window 0
    int64_t room = w.size - start;
    return {start >= 0 ? 0 : (-start + w.stride - 1) / w.stride,
            room <= 0 ? 0 : std::min(w.out, (room + w.stride - 1) / w.stride)};
  }
};

// What one task costs, for the choice of threads.
double TaskCost(const Conv& c, int64_t tasks) {
  return c.g.Work() / static_cast<double>(std::max<int64_t>(tasks, 1));
}

template <class T>
void Forward(const Conv& c, const T* x, const T* w, T* y) {
  int64_t tasks = c.g.batch * c.g.out_channels;
  ParallelFor(tasks, TaskCost(c, tasks), [&](int64_t begin, int64_t end) {
    std::vector<double> plane(static_cast<size_t>(c.g.positions()));
    for (int64_t task = begin; task < end; ++task) {
      int64_t n = task / c.g.out_channels;
      int64_t o = task % c.g.out_channels;
      std::fill(plane.begin(), plane.end(), 0.0);
      for (int64_t i = 0; i < c.in_group; ++i) {
        const T* image = x + n * c.x.batch + (o / c.out_group * c.in_group + i) * c.x.channel;
        const T* filter = w + o * c.w.batch + i * c.w.channel;
        int64_t step = c.x.column * c.g.width.stride;
        c.EachTap([&](int64_t tap, auto each_row) {
          double weight = filter[tap];
          each_row([&](int64_t to, int64_t from, int64_t count) {
            double* sums = plane.data() + to / c.y.column;
            for (int64_t j = 0; j < count; ++j) sums[j] += weight * image[from + j * step];
          });
        });
      }
      T* out = y + n * c.y.batch + o * c.y.channel;
      for (size_t j = 0; j < plane.size(); ++j) {
        out[static_cast<int64_t>(j) * c.y.column] = static_cast<T>(plane[j]);
      }
    }
  });
}

template <class T>
void InputGrad(const Conv& c, const T* dy, const T* w, T* dx) {
  int64_t tasks = c.g.batch * c.g.in_channels;
  ParallelFor(tasks, TaskCost(c, tasks), [&](int64_t begin, int64_t end) {
    std::vector<double> plane(static_cast<size_t>(c.g.volume()));
    for (int64_t task = begin; task < end; ++task) {
      int64_t n = task / c.g.in_channels;
      int64_t i = task % c.g.in_channels;
      std::fill(plane.begin(), plane.end(), 0.0);
      for (int64_t k = 0; k < c.out_group; ++k) {
        int64_t o = i / c.in_group * c.out_group + k;
        const T* image = dy + n * c.y.batch + o * c.y.channel;
        const T* filter = w + o * c.w.batch + i % c.in_group * c.w.channel;
        c.EachTap([&](int64_t tap, auto each_row) {
          double weight = filter[tap];
          each_row([&](int64_t from, int64_t to, int64_t count) {
            double* sums = plane.data() + to / c.x.column;
            for (int64_t j = 0; j < count; ++j) {
              sums[j * c.g.width.stride] += weight * image[from + j * c.y.column];
            }
          });
        });
      }
      T* out = dx + n * c.x.batch + i * c.x.channel;
      for (size_t j = 0; j < plane.size(); ++j) {
        out[static_cast<int64_t>(j) * c.x.column] = static_cast<T>(plane[j]);
      }
    }
  });
}

template <class T>
void FilterGrad(const Conv& c, const T* dy, const T* x, T* dw) {
  int64_t tasks = c.g.out_channels * c.in_group;
  ParallelFor(tasks, TaskCost(c, tasks), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      int64_t o = task / c.in_group;
      int64_t i = task % c.in_group;
      int64_t channel = o / c.out_group * c.in_group + i;
      int64_t step = c.x.column * c.g.width.stride;
      c.EachTap([&](int64_t tap, auto each_row) {
        double sum = 0;
        for (int64_t n = 0; n < c.g.batch; ++n) {
          const T* image = x + n * c.x.batch + channel * c.x.channel;
          const T* tangent = dy + n * c.y.batch + o * c.y.channel;
          each_row([&](int64_t at_y, int64_t at_x, int64_t count) {
            for (int64_t j = 0; j < count; ++j) {
              double product = tangent[at_y + j * c.y.column];
              sum += product * image[at_x + j * step];
            }
          });
        }
        dw[o * c.w.batch + i * c.w.channel + tap] = static_cast<T>(sum);
      });
    }
  });
}

template <class F>
KernelChoice ForFloats(const KernelRequest& r, const Shape& x, const Shape& w, F run) {
  DType dtype = r.dtype(0);
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64) {
    return No("needs Float32 or Float64, got {}", Name(dtype));
  }
  Conv conv(MakeConvGeometry(r.op, r.attrs, x, w));
  double cost = conv.g.Work();
  if (dtype == DType::kFloat32) {
    return FunctionKernel([conv, run](const KernelArgs& a) { run(conv, a, TypeTag<float>{}); },
                          cost);
  }
  return FunctionKernel([conv, run](const KernelArgs& a) { run(conv, a, TypeTag<double>{}); },
                        cost);
}

template <class T>
const T* In(const KernelArgs& args, int i) {
  return static_cast<const T*>(args.in[i]);
}

}  // namespace

KernelChoice ReferenceConv(const KernelRequest& r) {
  return ForFloats(r, r.shape(0), r.shape(1), [](const Conv& c, const KernelArgs& a, auto tag) {
    using T = typename decltype(tag)::type;
    Forward(c, In<T>(a, 0), In<T>(a, 1), static_cast<T*>(a.out[0]));
  });
}

KernelChoice ReferenceConvInputGrad(const KernelRequest& r) {
  return ForFloats(r, r.out[0].shape(), r.shape(1),
                   [](const Conv& c, const KernelArgs& a, auto tag) {
                     using T = typename decltype(tag)::type;
                     InputGrad(c, In<T>(a, 0), In<T>(a, 1), static_cast<T*>(a.out[0]));
                   });
}

KernelChoice ReferenceConvFilterGrad(const KernelRequest& r) {
  return ForFloats(r, r.shape(1), r.out[0].shape(),
                   [](const Conv& c, const KernelArgs& a, auto tag) {
                     using T = typename decltype(tag)::type;
                     FilterGrad(c, In<T>(a, 0), In<T>(a, 1), static_cast<T*>(a.out[0]));
                   });
}

}  // namespace ms::cpu
