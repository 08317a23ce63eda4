// Padding with a constant, and with elements of the tensor itself together with its gradient.
#include <cstring>

#include "backends/cpu/kernels/array.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

KernelChoice MakePad(const KernelRequest& r) {
  const Shape &in = r.shape(0), &out = r.out[0].shape();
  size_t item = ItemSize(r.out[0].dtype());
  Ints strides = Strides(out);
  int64_t first = 0;
  for (size_t i = 0; i < strides.size(); ++i) first += r.attr<Ints>("paddings")[2 * i] * strides[i];
  StridedCopy copy(in.ToInts(), strides, Strides(in), item);
  Tensor value = Tensor::Full(r.out[0].dtype(), Shape{}, r.attr<double>("value"));
  bool padded = in != out;
  double cost = copy.cost_ns() + 0.1 * static_cast<double>(r.out[0].bytes());
  return FunctionKernel(
      [=, count = out.size()](const KernelArgs& a) {
        if (padded) ParallelFill(a.out[0], value.raw(), count, item);
        copy.Run(a.in[0], Byte(a.out[0], first, item));
      },
      cost);
}

// An axis that is padded with elements of its own.
struct MirrorAxis {
  int64_t size, before, after, stride;  // stride: of the small tensor
  enum Mode : uint8_t { kReflect, kSymmetric, kEdge, kCircular } mode;

  int64_t all() const { return before + size + after; }

  // Where the element at a position of the padded axis comes from, in elements of the small tensor.
  int64_t Origin(int64_t position) const {
    int64_t i = position - before;
    if (i >= 0 && i < size) return i * stride;
    switch (mode) {
      case kEdge:
        return (i < 0 ? 0 : size - 1) * stride;
      case kCircular:
        return (i < 0 ? i + size : i - size) * stride;
      default:
        int64_t border = mode == kSymmetric ? 1 : 0;
        return (i < 0 ? -i - border : 2 * (size - 1) - i + border) * stride;
    }
  }
};

struct MirrorPlan {
  std::vector<MirrorAxis> axes;
  int64_t rows = 1, cols = 1, big_size = 1, small_size = 1;
};

// Nothing here is as long as an axis: paddings may be enormous, and the tensor that would show it
// is not yet there.
MirrorPlan PlanMirror(const KernelRequest& r, const Shape& small, const Shape& big) {
  MirrorPlan plan;
  const Ints& paddings = r.attr<Ints>("paddings");
  const std::string& name = r.attr<std::string>("mode");
  auto mode = name == "EDGE"        ? MirrorAxis::kEdge
              : name == "CIRCULAR"  ? MirrorAxis::kCircular
              : name == "SYMMETRIC" ? MirrorAxis::kSymmetric
                                    : MirrorAxis::kReflect;
  Ints strides = Strides(small);
  for (int i = 0; i < small.rank(); ++i) {
    auto k = static_cast<size_t>(i);
    plan.axes.push_back({small[i], paddings[2 * k], paddings[2 * k + 1], strides[k], mode});
  }
  if (plan.axes.empty()) plan.axes.push_back({1, 0, 0, 1, mode});
  plan.cols = plan.axes.back().all();
  plan.big_size = big.size();
  plan.small_size = small.size();
  plan.rows = plan.cols == 0 ? 0 : plan.big_size / plan.cols;
  return plan;
}

int64_t RowOrigin(const MirrorPlan& plan, int64_t row) {
  int64_t origin = 0;
  for (size_t i = plan.axes.size() - 1; i-- > 0;) {
    origin += plan.axes[i].Origin(row % plan.axes[i].all());
    row /= plan.axes[i].all();
  }
  return origin;
}

KernelChoice MakeMirrorPad(const KernelRequest& r) {
  MirrorPlan plan = PlanMirror(r, r.shape(0), r.out[0].shape());
  size_t item = ItemSize(r.out[0].dtype());
  double ns = static_cast<double>(plan.cols) * 0.5 + 20;
  return FunctionKernel(
      [=](const KernelArgs& a) {
        const MirrorAxis& last = plan.axes.back();
        ParallelFor(plan.rows, ns, [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            const char* from = Byte(a.in[0], RowOrigin(plan, row), item);
            char* to = Byte(a.out[0], row * plan.cols, item);
            auto copy = [&](int64_t c) {
              std::memcpy(Byte(to, c, item), Byte(from, last.Origin(c), item), item);
            };
            for (int64_t c = 0; c < last.before; ++c) copy(c);
            std::memcpy(Byte(to, last.before, item), from, static_cast<size_t>(last.size) * item);
            for (int64_t c = last.before + last.size; c < plan.cols; ++c) copy(c);
          }
        });
      },
      ns * static_cast<double>(plan.rows));
}

// One thread: rows of the big tensor share rows of the small one.
KernelChoice MakeMirrorPadGrad(const KernelRequest& r) {
  MirrorPlan plan = PlanMirror(r, r.out[0].shape(), r.shape(0));
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    using C = ComputeType<T>;
    return FunctionKernel(
        [=](const KernelArgs& a) {
          const T* dy = static_cast<const T*>(a.in[0]);
          T* dx = static_cast<T*>(a.out[0]);
          C* sums = static_cast<C*>(a.workspace);
          std::fill(sums, sums + plan.small_size, C(0));
          for (int64_t row = 0; row < plan.rows; ++row) {
            int64_t origin = RowOrigin(plan, row);
            for (int64_t c = 0; c < plan.cols; ++c) {
              C& sum = sums[origin + plan.axes.back().Origin(c)];
              sum = static_cast<C>(sum + static_cast<C>(dy[row * plan.cols + c]));
            }
          }
          for (int64_t i = 0; i < plan.small_size; ++i) dx[i] = static_cast<T>(sums[i]);
        },
        2.0 * static_cast<double>(plan.big_size), static_cast<size_t>(plan.small_size) * sizeof(C));
  });
}

}  // namespace

void AddPadding(KernelTable& table) {
  table.For("Pad").Try("reference", MakePad);
  table.For("MirrorPad").Try("reference", MakeMirrorPad);
  table.For("MirrorPadGrad").Try("reference", MakeMirrorPadGrad);
}

}  // namespace ms::cpu
