// Binary search of values in sorted rows.
#include <algorithm>
#include <bit>

#include "backends/cpu/cpu.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

template <class T, class I>
void Search(const T* rows, const T* values, I* out, int64_t row_size, int64_t per_row,
            int64_t count, bool one_row, bool right) {
  using C = ComputeType<T>;
  double ns = 5.0 * static_cast<double>(std::bit_width(static_cast<uint64_t>(row_size)) + 1);
  ParallelFor(count, ns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* row = one_row ? rows : rows + i / per_row * row_size;
      C value = static_cast<C>(values[i]);
      // Written so that a nan passes everything.
      auto before = [=](T element) {
        C e = static_cast<C>(element);
        return right ? !(e > value) : !(e >= value);
      };
      out[i] = static_cast<I>(std::partition_point(row, row + row_size, before) - row);
    }
  });
}

KernelChoice MakeSearch(const KernelRequest& r) {
  bool one_row = r.shape(0).rank() == 1, right = r.attr<bool>("right");
  int64_t row_size = r.shape(0).back(), count = r.shape(1).size();
  int64_t per_row = r.shape(1).rank() == 0 ? 1 : std::max<int64_t>(r.shape(1).back(), 1);
  bool narrow = r.out[0].dtype() == DType::kInt32;
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (IsComplex(kDTypeOf<T>) || std::is_same_v<T, bool>) {
      return No("needs real numbers, got {}", Name(kDTypeOf<T>));
    } else {
      return FunctionKernel(
          [=](const KernelArgs& a) {
            auto *rows = static_cast<const T*>(a.in[0]), *values = static_cast<const T*>(a.in[1]);
            if (narrow)
              Search(rows, values, static_cast<int32_t*>(a.out[0]), row_size, per_row, count,
                     one_row, right);
            else
              Search(rows, values, static_cast<int64_t*>(a.out[0]), row_size, per_row, count,
                     one_row, right);
          },
          40.0 * static_cast<double>(count));
    }
  });
}

}  // namespace

void AddSearch(KernelTable& table) { table.For("SearchRows").Try("reference", MakeSearch); }

}  // namespace ms::cpu
