// Positions of extremes along an axis.
#include "backends/cpu/kernels/reduce_arg.h"
#include "backends/cpu/kernels/reduce.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

template <bool kLargest, class T, class I>
void Find(const AxisView& v, const T* x, I* index, T* value) {
  double ns = static_cast<double>(v.size) * 0.6;
  if (v.inner == 1) {
    auto* find = MS_PICK_ISA(FindInRows<T>);
    ParallelFor(v.outer, ns, [&](int64_t begin, int64_t end) {
      constexpr int64_t kRows = 256;
      int64_t where[kRows];
      for (int64_t first = begin; first < end; first += kRows) {
        int64_t rows = std::min(kRows, end - first);
        const T* from = x + first * v.size;
        find(kLargest, from, rows, v.size, where);
        for (int64_t r = 0; r < rows; ++r) {
          index[first + r] = static_cast<I>(where[r]);
          if (value) value[first + r] = from[r * v.size + where[r]];
        }
      }
    });
    return;
  }
  auto* find = MS_PICK_ISA(FindInColumns<T>);
  int64_t tiles = (v.inner + kFindColumns - 1) / kFindColumns;
  ParallelFor(v.outer * tiles, ns * static_cast<double>(std::min(v.inner, kFindColumns)),
              [&](int64_t begin, int64_t end) {
                int32_t where[kFindColumns];
                for (int64_t task = begin; task < end; ++task) {
                  int64_t o = task / tiles, first = task % tiles * kFindColumns,
                          n = std::min(kFindColumns, v.inner - first);
                  const T* from = x + o * v.size * v.inner + first;
                  find(kLargest, from, v.size, v.inner, n, where);
                  for (int64_t c = 0; c < n; ++c) {
                    index[o * v.inner + first + c] = static_cast<I>(where[c]);
                    if (value) value[o * v.inner + first + c] = from[where[c] * v.inner + c];
                  }
                }
              });
}

template <bool kLargest>
KernelChoice MakeFind(const KernelRequest& r) {
  AxisView v = ViewAxis(r.shape(0), r.attr<int64_t>("axis"));
  if (v.size >= INT32_MAX && v.inner > 1)
    return No("needs an axis of less than 2^31 elements, got {}", v.size);
  bool with_value = r.out.size() == 2;
  bool wide = r.out[0].dtype() == DType::kInt64;
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (IsComplex(kDTypeOf<T>)) {
      return No("needs real numbers, got {}", Name(kDTypeOf<T>));
    } else {
      return FunctionKernel(
          [=](const KernelArgs& a) {
            const T* x = static_cast<const T*>(a.in[0]);
            T* value = with_value ? static_cast<T*>(a.out[1]) : nullptr;
            if (wide)
              Find<kLargest>(v, x, static_cast<int64_t*>(a.out[0]), value);
            else
              Find<kLargest>(v, x, static_cast<int32_t*>(a.out[0]), value);
          },
          0.6 * static_cast<double>(r.shape(0).size()));
    }
  });
}

}  // namespace

void AddArgReduce(KernelTable& table) {
  table.For("Argmax").Try("reference", MakeFind<true>);
  table.For("Argmin").Try("reference", MakeFind<false>);
  table.For("ArgMaxWithValue").Try("reference", MakeFind<true>);
  table.For("ArgMinWithValue").Try("reference", MakeFind<false>);
}

}  // namespace ms::cpu
