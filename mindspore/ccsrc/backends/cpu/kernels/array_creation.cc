// Constants, ranges and identity matrices.
#include <cmath>

#include "backends/cpu/kernels/array.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

KernelChoice Constant(const KernelRequest& r, double value) {
  Tensor element = Tensor::Full(r.out[0].dtype(), Shape{}, value);
  int64_t count = r.out[0].shape().size();
  return FunctionKernel(
      [element, count](const KernelArgs& a) {
        ParallelFill(a.out[0], element.raw(), count, ItemSize(element.dtype()));
      },
      0.05 * static_cast<double>(r.out[0].bytes()));
}

KernelChoice MakeEye(const KernelRequest& r) {
  const Shape& shape = r.out[0].shape();
  Tensor one = Tensor::Full(r.out[0].dtype(), Shape{}, 1);
  size_t item = ItemSize(one.dtype());
  StridedCopy ones({std::min(shape[0], shape[1])}, {shape[1] + 1}, {0}, item);
  return FunctionKernel(
      [=, count = shape.size()](const KernelArgs& a) {
        const uint64_t zero[2] = {};
        ParallelFill(a.out[0], zero, count, item);
        ones.Run(one.raw(), a.out[0]);
      },
      0.05 * static_cast<double>(r.out[0].bytes()));
}

double NumberAttr(const KernelRequest& r, const char* name) {
  const Attr& value = r.attrs.at(static_cast<size_t>(r.op.AttrIndex(name)));
  if (const auto* i = std::get_if<int64_t>(&value)) return static_cast<double>(*i);
  return std::get<double>(value);
}

template <class T>
T FromDouble(double value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

KernelChoice MakeRange(const KernelRequest& r) {
  double start = NumberAttr(r, "start"), step = NumberAttr(r, "step");
  int64_t count = r.out[0].shape().size();
  return VisitDType(r.out[0].dtype(), [&]<class T>(TypeTag<T>) {
    return FunctionKernel(
        [=](const KernelArgs& a) {
          T* y = static_cast<T*>(a.out[0]);
          for (int64_t i = 0; i < count; ++i)
            y[i] = FromDouble<T>(start + static_cast<double>(i) * step);
        },
        static_cast<double>(count));
  });
}

KernelChoice MakeLinSpace(const KernelRequest& r) {
  int64_t count = r.out[0].shape().size();
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (!IsFloating(kDTypeOf<T>)) {
      return No("needs a float type, got {}", Name(kDTypeOf<T>));
    } else {
      return FunctionKernel(
          [=](const KernelArgs& a) {
            auto start =
                static_cast<double>(static_cast<ComputeType<T>>(*static_cast<const T*>(a.in[0])));
            auto stop =
                static_cast<double>(static_cast<ComputeType<T>>(*static_cast<const T*>(a.in[1])));
            T* y = static_cast<T*>(a.out[0]);
            double step = count > 1 ? (stop - start) / static_cast<double>(count - 1) : 0;
            for (int64_t i = 0; i < count; ++i)
              y[i] = FromDouble<T>(start + static_cast<double>(i) * step);
            if (count > 1) y[count - 1] = *static_cast<const T*>(a.in[1]);
          },
          static_cast<double>(count));
    }
  });
}

}  // namespace

void AddCreation(KernelTable& table) {
  table.For("Fill").Try(
      "reference", [](const KernelRequest& r) { return Constant(r, r.attr<double>("value")); });
  for (const char* name : {"Zeros", "ZerosLike"}) {
    table.For(name).Try("reference", [](const KernelRequest& r) { return Constant(r, 0); });
  }
  for (const char* name : {"Ones", "OnesLike"}) {
    table.For(name).Try("reference", [](const KernelRequest& r) { return Constant(r, 1); });
  }
  table.For("Eye").Try("reference", MakeEye);
  table.For("Range").Try("reference", MakeRange);
  table.For("LinSpace").Try("reference", MakeLinSpace);
}

}  // namespace ms::cpu
