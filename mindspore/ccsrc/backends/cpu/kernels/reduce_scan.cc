// Cumulative sums and products. Sums of half types run in float32, those of float32 in float64.
#include "backends/cpu/kernels/reduce.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

// Integers run in unsigned 64 bits, where overflow wraps to what their own type shows.
template <class T>
struct Running {
  using type = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
};
template <>
struct Running<float> {
  using type = double;
};
template <>
struct Running<Half> {
  using type = double;
};
template <>
struct Running<BFloat16> {
  using type = double;
};

template <class T, class R>
T Narrow(R value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

// Rows run four at a time, since each is a chain of dependent steps.
template <bool kProduct, class T>
void ScanRows(const AxisView& v, bool exclusive, bool reverse, const T* x, T* y) {
  using R = typename Running<T>::type;
  constexpr int64_t kRows = 4;
  int64_t step = reverse ? -1 : 1, start = reverse ? v.size - 1 : 0;
  ParallelFor((v.outer + kRows - 1) / kRows, static_cast<double>(v.size) * 3,
              [&](int64_t begin, int64_t end) {
                for (int64_t o = begin * kRows; o < std::min(end * kRows, v.outer); o += kRows) {
                  R running[kRows];
                  for (R& r : running) r = R(kProduct ? 1 : 0);
                  auto advance = [&](int64_t row, int64_t k) {
                    R before = running[row], element = static_cast<R>(x[(o + row) * v.size + k]);
                    running[row] = static_cast<R>(kProduct ? before * element : before + element);
                    y[(o + row) * v.size + k] = Narrow<T>(exclusive ? before : running[row]);
                  };
                  int64_t rows = std::min(kRows, v.outer - o), k = start;
                  for (int64_t n = 0; n < v.size; ++n, k += step) {
                    if (rows == kRows) {
                      for (int64_t row = 0; row < kRows; ++row) advance(row, k);
                    } else {
                      for (int64_t row = 0; row < rows; ++row) advance(row, k);
                    }
                  }
                }
              });
}

template <bool kProduct, class T>
void Scan(const AxisView& v, bool exclusive, bool reverse, const T* x, T* y) {
  using R = typename Running<T>::type;
  constexpr int64_t kColumns = 64;  // columns that run side by side
  int64_t tiles = (v.inner + kColumns - 1) / kColumns;
  double ns = static_cast<double>(v.size * std::min(v.inner, kColumns)) * 1.2;
  ParallelFor(v.outer * tiles, ns, [&](int64_t begin, int64_t end) {
    R running[kColumns];
    for (int64_t task = begin; task < end; ++task) {
      int64_t first = task % tiles * kColumns, n = std::min(kColumns, v.inner - first);
      int64_t base = task / tiles * v.size * v.inner + first;
      for (int64_t c = 0; c < n; ++c) running[c] = R(kProduct ? 1 : 0);
      for (int64_t k = 0; k < v.size; ++k) {
        int64_t at = base + (reverse ? v.size - 1 - k : k) * v.inner;
        for (int64_t c = 0; c < n; ++c) {
          R before = running[c];
          R element = static_cast<R>(x[at + c]);
          R after = static_cast<R>(kProduct ? before * element : before + element);
          running[c] = after;
          y[at + c] = Narrow<T>(exclusive ? before : after);
        }
      }
    }
  });
}

template <class T>
void Recur(const AxisView& v, bool reverse, bool from_source, const T* a, const T* b, T* y) {
  using R = typename Running<T>::type;
  int64_t step = reverse ? -v.inner : v.inner;
  ParallelFor(v.outer * v.inner, static_cast<double>(v.size) * 2, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      int64_t at = task / v.inner * v.size * v.inner + task % v.inner +
                   (reverse ? (v.size - 1) * v.inner : 0);
      R last(0);
      for (int64_t k = 0; k < v.size; ++k, at += step) {
        R factor = k == 0 ? R(0) : static_cast<R>(b[from_source ? at - step : at]);
        last = k == 0 ? static_cast<R>(a[at]) : static_cast<R>(a[at]) + factor * last;
        y[at] = Narrow<T>(last);
      }
    }
  });
}

KernelChoice MakeLinearScan(const KernelRequest& r) {
  AxisView v = ViewAxis(r.shape(0), r.attr<int64_t>("axis"));
  bool reverse = r.attr<bool>("reverse"), from_source = r.attr<bool>("from_source");
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (std::is_same_v<T, bool>) {
      return No("needs numbers, got Bool");
    } else {
      return FunctionKernel(
          [=](const KernelArgs& a) {
            Recur(v, reverse, from_source, static_cast<const T*>(a.in[0]),
                  static_cast<const T*>(a.in[1]), static_cast<T*>(a.out[0]));
          },
          2.0 * static_cast<double>(r.shape(0).size()));
    }
  });
}

template <bool kProduct>
KernelChoice MakeScan(const KernelRequest& r) {
  AxisView v = ViewAxis(r.shape(0), r.attr<int64_t>("axis"));
  bool exclusive = r.attr<bool>("exclusive"), reverse = r.attr<bool>("reverse");
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (std::is_same_v<T, bool>) {
      return No("needs numbers, got Bool");
    } else {
      return FunctionKernel(
          [=](const KernelArgs& a) {
            auto scan = v.inner == 1 ? ScanRows<kProduct, T> : Scan<kProduct, T>;
            scan(v, exclusive, reverse, static_cast<const T*>(a.in[0]), static_cast<T*>(a.out[0]));
          },
          1.2 * static_cast<double>(r.shape(0).size()));
    }
  });
}

}  // namespace

void AddScan(KernelTable& table) {
  table.For("CumSum").Try("reference", MakeScan<false>);
  table.For("CumProd").Try("reference", MakeScan<true>);
  table.For("LinearScan").Try("reference", MakeLinearScan);
}

}  // namespace ms::cpu
