// Sorting along an axis and the k largest elements. Rows are sorted as pairs (element, position), which makes the sort
// stable; a nan is larger than every number.
#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/reduce.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

template <class C>
struct Item {
  C value;
  int32_t at;
};

template <class C>
bool Less(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) return a < b || (b != b && a == a);
  else return a < b;
}

template <class C>
bool Ascending(const Item<C>& a, const Item<C>& b) {
  return Less(a.value, b.value) || (!Less(b.value, a.value) && a.at < b.at);
}

template <class C>
bool Descending(const Item<C>& a, const Item<C>& b) {
  return Less(b.value, a.value) || (!Less(a.value, b.value) && a.at < b.at);
}

// The first `k` of each sorted row.
template <class T>
void SortRows(const AxisView& v, int64_t k, bool descending, const T* x, T* values, int32_t* where) {
  using C = ComputeType<T>;
  double ns = static_cast<double>(v.size) * 12 + 20;
  ParallelFor(v.outer * v.inner, ns, [&](int64_t begin, int64_t end) {
    std::vector<Item<C>> row(static_cast<size_t>(v.size));
    auto before = descending ? Descending<C> : Ascending<C>;
    for (int64_t task = begin; task < end; ++task) {
      int64_t o = task / v.inner, i = task % v.inner;
      const T* from = x + o * v.size * v.inner + i;
      for (int64_t j = 0; j < v.size; ++j) {
        row[static_cast<size_t>(j)] = {static_cast<C>(from[j * v.inner]), static_cast<int32_t>(j)};
      }
      auto middle = row.begin() + k;
      if (k < v.size) {
        if (k > 0) std::nth_element(row.begin(), middle - 1, row.end(), before);
        std::sort(row.begin(), middle, before);
      } else {
        std::sort(row.begin(), row.end(), before);
      }
      for (int64_t j = 0; j < k; ++j) {
        int64_t to = (o * k + j) * v.inner + i;
        where[to] = row[static_cast<size_t>(j)].at;
        values[to] = from[where[to] * v.inner];
      }
    }
  });
}

KernelChoice MakeSort(const KernelRequest& r, int64_t axis, int64_t k, bool descending) {
  AxisView v = ViewAxis(r.shape(0), axis);
  if (v.size >= INT32_MAX) return No("needs an axis of less than 2^31 elements, got {}", v.size);
  if (k < 0) k = v.size;
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (IsComplex(kDTypeOf<T>)) {
      return No("needs real numbers, got {}", Name(kDTypeOf<T>));
    } else {
      return FunctionKernel([=](const KernelArgs& a) {
        SortRows(v, k, descending, static_cast<const T*>(a.in[0]), static_cast<T*>(a.out[0]), static_cast<int32_t*>(a.out[1]));
      }, 12 * static_cast<double>(r.shape(0).size()));
    }
  });
}

}  // namespace

void AddSort(KernelTable& table) {
  table.For("Sort").Try("reference", [](const KernelRequest& r) {
    return MakeSort(r, r.attr<int64_t>("axis"), -1, r.attr<bool>("descending"));
  });
  table.For("TopK").Try("reference", [](const KernelRequest& r) { return MakeSort(r, -1, r.attr<int64_t>("k"), true); });
}

}  // namespace ms::cpu
