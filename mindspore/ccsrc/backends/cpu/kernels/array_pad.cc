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

// For every position along a padded axis, the position that it is a copy of.
Ints Origins(int64_t size, int64_t before, int64_t after, const std::string& mode) {
  Ints origins;
  for (int64_t i = -before; i < size + after; ++i) {
    int64_t at = i;
    if (mode == "EDGE") {
      at = std::clamp<int64_t>(i, 0, size - 1);
    } else if (mode == "CIRCULAR") {
      at = i < 0 ? i + size : i >= size ? i - size : i;
    } else {
      int64_t border = mode == "SYMMETRIC" ? 1 : 0;
      if (i < 0)
        at = -i - border;
      else if (i >= size)
        at = 2 * (size - 1) - i + border;
    }
    origins.push_back(at);
  }
  return origins;
}

struct MirrorPlan {
  std::vector<Ints> origins;  // one list for each axis, in elements of the small tensor
  int64_t rows = 1, cols = 1, big_size = 1, small_size = 1;
};

MirrorPlan PlanMirror(const KernelRequest& r, const Shape& small, const Shape& big) {
  MirrorPlan plan;
  const Ints& paddings = r.attr<Ints>("paddings");
  Ints strides = Strides(small);
  for (int i = 0; i < small.rank(); ++i) {
    auto k = static_cast<size_t>(i);
    plan.origins.push_back(
        Origins(small[i], paddings[2 * k], paddings[2 * k + 1], r.attr<std::string>("mode")));
    for (int64_t& at : plan.origins.back()) at *= strides[k];
  }
  if (plan.origins.empty()) plan.origins.push_back({0});
  plan.cols = static_cast<int64_t>(plan.origins.back().size());
  plan.big_size = big.size();
  plan.small_size = small.size();
  plan.rows = plan.cols == 0 ? 0 : plan.big_size / plan.cols;
  return plan;
}

int64_t RowOrigin(const MirrorPlan& plan, int64_t row) {
  int64_t origin = 0;
  for (size_t i = plan.origins.size() - 1; i-- > 0;) {
    auto size = static_cast<int64_t>(plan.origins[i].size());
    origin += plan.origins[i][static_cast<size_t>(row % size)];
    row /= size;
  }
  return origin;
}

KernelChoice MakeMirrorPad(const KernelRequest& r) {
  MirrorPlan plan = PlanMirror(r, r.shape(0), r.out[0].shape());
  size_t item = ItemSize(r.out[0].dtype());
  double ns = static_cast<double>(plan.cols) * 1.5;
  return FunctionKernel(
      [=](const KernelArgs& a) {
        ParallelFor(plan.rows, ns, [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            const char* from = Byte(a.in[0], RowOrigin(plan, row), item);
            char* to = Byte(a.out[0], row * plan.cols, item);
            const Ints& columns = plan.origins.back();
            for (int64_t c = 0; c < plan.cols; ++c) {
              std::memcpy(Byte(to, c, item), Byte(from, columns[static_cast<size_t>(c)], item),
                          item);
            }
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
              C& sum = sums[origin + plan.origins.back()[static_cast<size_t>(c)]];
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
