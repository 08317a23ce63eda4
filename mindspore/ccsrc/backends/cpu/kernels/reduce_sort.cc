// Sorting along an axis and the k largest elements. Rows become rows of keys: unsigned numbers in
// the order of the elements (a nan above all, zeros equal), with the position below, which makes
// the sort stable. Long rows are sorted by the bytes of their keys.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "backends/cpu/kernels/reduce.h"
#include "backends/cpu/kernels/reduce_arg.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

// The order of `value` as an unsigned number of 32 bits, or of 64 where the type is wide.
template <class T>
auto OrderOf(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return OrderOf(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr U kSign = U{1} << (8 * sizeof(T) - 1);
    if (value != value) return static_cast<U>(~U{0});
    T plain = value + T(0);  // -0 becomes 0
    U bits;
    std::memcpy(&bits, &plain, sizeof(T));
    return static_cast<U>((bits & kSign) != 0 ? ~bits : bits | kSign);
  } else if constexpr (sizeof(T) == 8) {
    return std::is_signed_v<T> ? static_cast<uint64_t>(value) ^ (uint64_t{1} << 63)
                               : static_cast<uint64_t>(value);
  } else {
    return static_cast<uint32_t>(static_cast<int64_t>(value) +
                                 (std::is_signed_v<T> ? int64_t{1} << 31 : 0));
  }
}

struct WideKey {
  uint64_t order;
  uint32_t at;
  bool operator<(const WideKey& other) const {
    return order != other.order ? order < other.order : at < other.at;
  }
};
inline uint32_t Position(const WideKey& key) { return key.at; }
inline uint32_t Position(uint64_t key) { return static_cast<uint32_t>(key); }

inline uint64_t MakeKey(uint32_t order, uint32_t at) {
  return static_cast<uint64_t>(order) << 32 | at;
}
inline WideKey MakeKey(uint64_t order, uint32_t at) { return {order, at}; }

// Byte `pass` of the order in a key, from below.
inline size_t Digit(const WideKey& key, size_t pass) { return key.order >> (8 * pass) & 255; }
inline size_t Digit(uint64_t key, size_t pass) { return key >> (32 + 8 * pass) & 255; }

// Sorts keys whose positions ascend, byte by byte from the lowest; a byte that all keys share costs
// nothing but its count. `spare` is as long as `keys`.
template <class Key>
void SortByBytes(std::vector<Key>& keys, std::vector<Key>& spare) {
  constexpr size_t kPasses = sizeof(Key) == sizeof(uint64_t) ? 4 : 8;
  std::array<std::array<uint32_t, 256>, kPasses> counts{};
  for (const Key& key : keys) {
    for (size_t pass = 0; pass < kPasses; ++pass) ++counts[pass][Digit(key, pass)];
  }
  for (size_t pass = 0; pass < kPasses; ++pass) {
    auto& places = counts[pass];
    if (places[Digit(keys[0], pass)] == keys.size()) continue;
    uint32_t next = 0;
    for (uint32_t& place : places) {
      uint32_t count = place;
      place = next;
      next += count;
    }
    for (const Key& key : keys) spare[places[Digit(key, pass)]++] = key;
    keys.swap(spare);
  }
}

// The k smallest keys of a row in order, for small k: most keys are refused by one comparison with
// the worst so far.
template <class Key>
void PickSmallest(const Key* keys, int64_t n, int64_t k, Key* best) {
  std::copy(keys, keys + k, best);
  std::sort(best, best + k);
  Key worst = best[k - 1];
  for (int64_t i = k; i < n; ++i) {
    if (!(keys[i] < worst)) continue;
    int64_t at = k - 1;
    for (; at > 0 && keys[i] < best[at - 1]; --at) best[at] = best[at - 1];
    best[at] = keys[i];
    worst = best[k - 1];
  }
}

constexpr int64_t kFew = 64;  // elements that are picked one by one

bool IsFew(int64_t k, int64_t size) { return k > 0 && k <= kFew && k * 4 < size; }

// The positions of the k greatest elements of a row in order, for small k. Most of the row is
// refused by comparisons of vectors with the least so far, and needs no keys.
template <class T>
void PickGreatest(const T* x, int64_t n, int64_t k, int32_t* where) {
  using Order = decltype(OrderOf(T{}));
  using Key = decltype(MakeKey(Order{}, 0u));
  constexpr auto kFlip = static_cast<Order>(~Order{0});
  auto key = [&](int64_t i) {
    return MakeKey(static_cast<Order>(OrderOf(x[i]) ^ kFlip), static_cast<uint32_t>(i));
  };
  auto* find_above = MS_PICK_ISA(FindAbove<T>);
  Key best[kFew];
  for (int64_t i = 0; i < k; ++i) best[i] = key(i);
  std::sort(best, best + k);
  for (int64_t i = k; i < n; ++i) {
    T least = x[Position(best[k - 1])];
    if (least != least) break;  // nothing is above a nan
    i += find_above(x + i, n - i, least);
    if (i == n) break;
    Key taken = key(i);
    int64_t at = k - 1;
    for (; at > 0 && taken < best[at - 1]; --at) best[at] = best[at - 1];
    best[at] = taken;
  }
  for (int64_t i = 0; i < k; ++i) where[i] = static_cast<int32_t>(Position(best[i]));
}

// The keys of one row, and room to sort them.
template <class Key>
class KeyRow {
 public:
  explicit KeyRow(int64_t size) : keys_(static_cast<size_t>(size)) {}
  std::vector<Key>& keys() { return keys_; }

  // The k smallest in order.
  const Key* Smallest(int64_t k) {
    constexpr int64_t kByBytes = 256;  // from here on that is faster than comparing
    auto size = static_cast<int64_t>(keys_.size());
    if (IsFew(k, size)) {
      best_.resize(kFew);
      PickSmallest(keys_.data(), size, k, best_.data());
      return best_.data();
    }
    if (k == size && k >= kByBytes) {
      spare_.resize(keys_.size());
      SortByBytes(keys_, spare_);
      return keys_.data();
    }
    if (k > 0 && k < size) std::nth_element(keys_.begin(), keys_.begin() + (k - 1), keys_.end());
    std::sort(keys_.begin(), keys_.begin() + k);
    return keys_.data();
  }

 private:
  std::vector<Key> keys_, best_, spare_;
};

// The first `k` of each sorted row. Rows of a wide type whose elements lie close together have
// short keys, too.
template <class T>
void SortRows(const AxisView& v, int64_t k, bool descending, const T* x, T* values,
              int32_t* where) {
  using Order = decltype(OrderOf(T{}));
  using Key = decltype(MakeKey(Order{}, 0u));
  Order flip = descending ? static_cast<Order>(~Order{0}) : Order{0};
  auto sort = [&](int64_t begin, int64_t end) {
    KeyRow<Key> row(v.size);
    KeyRow<uint64_t> short_row(sizeof(Order) == 8 ? v.size : 0);
    for (int64_t task = begin; task < end; ++task) {
      int64_t o = task / v.inner, i = task % v.inner;
      const T* from = x + o * v.size * v.inner + i;
      if (descending && v.inner == 1 && IsFew(k, v.size)) {
        PickGreatest(from, v.size, k, where + o * k);
        for (int64_t j = 0; j < k; ++j) values[o * k + j] = from[where[o * k + j]];
        continue;
      }
      auto order = [&](int64_t j) { return static_cast<Order>(OrderOf(from[j * v.inner]) ^ flip); };
      auto sort_row = [&]<class O>(auto& keys, Order lowest, O) {
        for (int64_t j = 0; j < v.size; ++j) {
          keys.keys()[static_cast<size_t>(j)] =
              MakeKey(static_cast<O>(order(j) - lowest), static_cast<uint32_t>(j));
        }
        const auto* sorted = keys.Smallest(k);
        for (int64_t j = 0; j < k; ++j) {
          int64_t to = (o * k + j) * v.inner + i;
          where[to] = static_cast<int32_t>(Position(sorted[j]));
          values[to] = from[where[to] * v.inner];
        }
      };
      if constexpr (sizeof(Order) == 8) {
        Order lowest = ~Order{0}, highest = 0;
        for (int64_t j = 0; j < v.size; ++j) {
          lowest = std::min(lowest, order(j));
          highest = std::max(highest, order(j));
        }
        if (highest - lowest <= UINT32_MAX) {
          sort_row(short_row, lowest, uint32_t{});
          continue;
        }
      }
      sort_row(row, Order{0}, Order{});
    }
  };
  ParallelFor(v.outer * v.inner, static_cast<double>(v.size) * 12 + 20, sort);
}

KernelChoice MakeSort(const KernelRequest& r, int64_t axis, int64_t k, bool descending) {
  AxisView v = ViewAxis(r.shape(0), axis);
  if (v.size >= INT32_MAX) return No("needs an axis of less than 2^31 elements, got {}", v.size);
  if (k < 0) k = v.size;
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (IsComplex(kDTypeOf<T>)) {
      return No("needs real numbers, got {}", Name(kDTypeOf<T>));
    } else {
      return FunctionKernel(
          [=](const KernelArgs& a) {
            SortRows(v, k, descending, static_cast<const T*>(a.in[0]), static_cast<T*>(a.out[0]),
                     static_cast<int32_t*>(a.out[1]));
          },
          12 * static_cast<double>(r.shape(0).size()));
    }
  });
}

}  // namespace

void AddSort(KernelTable& table) {
  table.For("Sort").Try("reference", [](const KernelRequest& r) {
    return MakeSort(r, r.attr<int64_t>("axis"), -1, r.attr<bool>("descending"));
  });
  table.For("TopK").Try("reference", [](const KernelRequest& r) {
    return MakeSort(r, -1, r.attr<int64_t>("k"), true);
  });
}

}  // namespace ms::cpu
