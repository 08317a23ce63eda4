// Binary search of values in sorted rows.
#include <algorithm>
#include <bit>

#include "backends/cpu/cpu.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

// Values whose reads, each of which waits for the one before, overlap.
constexpr int64_t kTogether = 16;

// The places of up to kTogether values in a row, without branches that depend on them.
template <bool kRight, class T, class I>
void Places(const T* row, int64_t size, const T* values, int64_t count, I* out) {
  using C = ComputeType<T>;
  int64_t at[kTogether] = {};
  // Written so that a nan passes everything.
  auto before = [&](int64_t i, int64_t place) {
    C e = static_cast<C>(row[place]), value = static_cast<C>(values[i]);
    return kRight ? !(e > value) : !(e >= value);
  };
  int64_t left = size;
  for (; left > 1; left -= left / 2) {
    int64_t half = left / 2;
    for (int64_t i = 0; i < count; ++i) at[i] += half & -int64_t{before(i, at[i] + half - 1)};
  }
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<I>(at[i] + (left == 1 && before(i, at[i])));
}

template <class T, class I>
void Search(const T* rows, const T* values, I* out, int64_t row_size, int64_t per_row,
            int64_t count, bool one_row, bool right) {
  double ns = 5.0 * static_cast<double>(std::bit_width(static_cast<uint64_t>(row_size)) + 1);
  ParallelFor(count, ns, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      int64_t row = one_row ? 0 : begin / per_row, last = one_row ? end : (row + 1) * per_row;
      int64_t n = std::min({last, end, begin + kTogether}) - begin;
      if (right)
        Places<true>(rows + row * row_size, row_size, values + begin, n, out + begin);
      else
        Places<false>(rows + row * row_size, row_size, values + begin, n, out + begin);
      begin += n;
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
