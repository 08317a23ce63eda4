// The elements of windows side by side, and their sum back into the image.
#include <algorithm>

#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/in_float32.h"
#include "kernel/parallel.h"
#include "ops/window.h"

namespace ms::cpu {
namespace {

// Calls piece(offset in the columns, offset in the image, count) for the windows of one row that
// have element `tap` inside; the others lie in the padding. Offsets are within one channel.
template <class F>
void EachPiece(const PoolGeometry& g, int64_t kd, int64_t kh, int64_t kw, F&& piece) {
  const Window& w = g.width;
  int64_t tap = (kd * g.height.kernel + kh) * w.kernel + kw;
  auto inside = [&](int64_t j) {  // the element of window j
    int64_t at = w.Start(j) + kw * w.dilation;
    return at >= 0 && at < w.size;
  };
  int64_t from = 0, to = w.out;
  while (from < to && !inside(from)) ++from;
  while (from < to && !inside(to - 1)) --to;
  for (int64_t k = 0; k < g.depth.out; ++k) {
    int64_t slice = g.depth.Start(k) + kd * g.depth.dilation;
    for (int64_t i = 0; i < g.height.out; ++i) {
      int64_t row = g.height.Start(i) + kh * g.height.dilation;
      bool any = from < to && slice >= 0 && slice < g.depth.size && row >= 0 && row < g.height.size;
      int64_t columns = ((tap * g.depth.out + k) * g.height.out + i) * w.out;
      int64_t image = (slice * g.height.size + row) * w.size + kw * w.dilation - w.pad_before;
      piece(columns, image, any ? from : 0, any ? to : 0);
    }
  }
}

template <class F>
void EachTap(const PoolGeometry& g, F&& tap) {
  for (int64_t kd = 0; kd < g.depth.kernel; ++kd) {
    for (int64_t kh = 0; kh < g.height.kernel; ++kh) {
      for (int64_t kw = 0; kw < g.width.kernel; ++kw) tap(kd, kh, kw);
    }
  }
}

// Calls channel(offset in the columns, offset in the image) for all channels, in parallel.
template <class F>
void EachChannel(const PoolGeometry& g, double cost, F&& channel) {
  int64_t columns = g.taps() * g.positions(), image = g.volume();
  ParallelFor(g.batch * g.channels, cost, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) channel(c * columns, c * image);
  });
}

KernelChoice Unfold(const KernelRequest& r) {
  PoolGeometry g = MakeUnfoldGeometry(r.op, r.attrs, r.shape(0));
  double cost = 0.5 * static_cast<double>(g.taps() * g.positions());
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    return FunctionKernel(
        [=](const KernelArgs& args) {
          EachChannel(g, cost, [&](int64_t to, int64_t from) {
            T* y = static_cast<T*>(args.out[0]) + to;
            const T* x = static_cast<const T*>(args.in[0]) + from;
            int64_t out = g.width.out, stride = g.width.stride;
            EachTap(g, [&](int64_t kd, int64_t kh, int64_t kw) {
              EachPiece(g, kd, kh, kw, [&](int64_t at, int64_t image, int64_t first, int64_t last) {
                T* row = y + at;
                std::fill(row, row + first, T{});
                if (stride == 1) {
                  if (first < last) std::copy(x + image + first, x + image + last, row + first);
                } else {
                  for (int64_t j = first; j < last; ++j) row[j] = x[image + j * stride];
                }
                std::fill(row + last, row + out, T{});
              });
            });
          });
        },
        cost * static_cast<double>(g.batch * g.channels));
  });
}

KernelChoice Fold(const KernelRequest& r) {
  if (r.dtype(0) == DType::kFloat16 || r.dtype(0) == DType::kBFloat16) {
    return No("needs a type that is added as it is, got {}", Name(r.dtype(0)));
  }
  PoolGeometry g = MakeUnfoldGeometry(r.op, r.attrs, r.out[0].shape());
  double cost = 0.5 * static_cast<double>(g.taps() * g.positions() + g.volume());
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    return FunctionKernel(
        [=](const KernelArgs& args) {
          EachChannel(g, cost, [&](int64_t from, int64_t to) {
            const T* columns = static_cast<const T*>(args.in[0]) + from;
            T* x = static_cast<T*>(args.out[0]) + to;
            int64_t stride = g.width.stride;
            std::fill(x, x + g.volume(), T{});
            EachTap(g, [&](int64_t kd, int64_t kh, int64_t kw) {
              EachPiece(g, kd, kh, kw, [&](int64_t at, int64_t image, int64_t first, int64_t last) {
                const T* row = columns + at;
                for (int64_t j = first; j < last; ++j) {
                  T& sum = x[image + j * stride];
                  sum = static_cast<T>(sum + row[j]);
                }
              });
            });
          });
        },
        cost * static_cast<double>(g.batch * g.channels));
  });
}

}  // namespace

void AddUnfold(KernelTable& table) {
  table.For("Unfold").Try("rows", Unfold);
  table.For("Fold").Try("rows", Fold).Try("rows in float32", InFloat32(Fold));
}

}  // namespace ms::cpu
