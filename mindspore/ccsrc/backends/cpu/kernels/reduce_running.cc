// Running extremes with their positions, and running sums of exponentials in the logarithm.
#include <cmath>
#include <limits>

#include "backends/cpu/kernels/reduce.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

// body(first element, distance between elements) for each row along the axis.
template <class F>
void ForRows(const AxisView& v, double ns, F&& body) {
  ParallelFor(v.outer * v.inner, ns * static_cast<double>(v.size), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      body(row / v.inner * v.size * v.inner + row % v.inner, v.inner);
  });
}

template <bool kLargest, class T>
void RunningExtreme(const AxisView& v, const T* x, T* y, int64_t* at) {
  using C = ComputeType<T>;
  ForRows(v, 2, [&](int64_t first, int64_t step) {
    C best{};
    int64_t place = 0;
    for (int64_t k = 0, i = first; k < v.size; ++k, i += step) {
      C value = static_cast<C>(x[i]);
      bool nan = value != value, held = best != best;
      if (k == 0 || nan || (!held && (kLargest ? value >= best : value <= best)))
        best = value, place = k;
      y[i] = static_cast<T>(best);
      at[i] = place;
    }
  });
}

template <bool kLargest>
KernelChoice MakeRunningExtreme(const KernelRequest& r) {
  AxisView v = ViewAxis(r.shape(0), r.attr<int64_t>("axis"));
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (IsComplex(kDTypeOf<T>)) {
      return No("needs real numbers, got {}", Name(kDTypeOf<T>));
    } else {
      return FunctionKernel(
          [=](const KernelArgs& a) {
            RunningExtreme<kLargest>(v, static_cast<const T*>(a.in[0]), static_cast<T*>(a.out[0]),
                                     static_cast<int64_t*>(a.out[1]));
          },
          2.0 * static_cast<double>(r.shape(0).size()));
    }
  });
}

// The largest exponent so far, and the sum of the exponentials over its own.
struct LogSum {
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  void Add(double x) {
    if (x == top && std::isinf(x)) return;  // their difference is nan
    if (x > top) {
      sum = sum * std::exp(top - x) + 1;
      top = x;
    } else {
      sum += std::exp(x - top);
    }
  }
  double value() const {
    return top == -std::numeric_limits<double>::infinity() && sum == 0 ? top : top + std::log(sum);
  }
};

KernelChoice MakeLogSum(const KernelRequest& r) {
  AxisView v = ViewAxis(r.shape(0), r.attr<int64_t>("axis"));
  bool exclusive = r.attr<bool>("exclusive"), reverse = r.attr<bool>("reverse");
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (!IsFloating(kDTypeOf<T>)) {
      return No("needs a float type, got {}", Name(kDTypeOf<T>));
    } else {
      return FunctionKernel(
          [=](const KernelArgs& a) {
            using C = ComputeType<T>;
            const T* x = static_cast<const T*>(a.in[0]);
            T* y = static_cast<T*>(a.out[0]);
            ForRows(v, 15, [&](int64_t first, int64_t step) {
              LogSum running;
              int64_t i = reverse ? first + (v.size - 1) * step : first;
              for (int64_t k = 0; k < v.size; ++k, i += reverse ? -step : step) {
                double value = static_cast<C>(x[i]);
                if (exclusive) y[i] = T(static_cast<C>(running.value()));
                running.Add(value);
                if (!exclusive) y[i] = T(static_cast<C>(running.value()));
              }
            });
          },
          15.0 * static_cast<double>(r.shape(0).size()));
    }
  });
}

}  // namespace

void AddRunning(KernelTable& table) {
  table.For("CumMax").Try("reference", MakeRunningExtreme<true>);
  table.For("CumMin").Try("reference", MakeRunningExtreme<false>);
  table.For("CumulativeLogsumexp").Try("reference", MakeLogSum);
}

}  // namespace ms::cpu
