// One row of GatherD, on vectors that gather where there are such.
#include <cstddef>
#include <cstdint>

namespace ms::cpu::MS_ISA {
namespace {

struct Bytes16 {
  uint64_t a, b;
};

template <class T, class I>
bool Gather(const T* base, const I* at, int64_t n, int64_t size, int64_t along, int64_t step,
            T* to) {
  I low = static_cast<I>(-size), high = static_cast<I>(size - 1);
  if (n > 0 && sizeof(I) == 4 && size > INT32_MAX) low = INT32_MIN, high = INT32_MAX;
  int wrong = 0;
  for (int64_t j = 0; j < n; ++j) wrong |= (at[j] < low) | (at[j] > high);
  if (wrong != 0) return false;
  if (along == 1 && step == 0) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) to[j] = base[at[j] + (at[j] < 0 ? size : 0)];
  } else {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j)
      to[j] = base[(at[j] + (at[j] < 0 ? size : 0)) * along + j * step];
  }
  return true;
}

template <class T>
bool GatherItems(const void* base, const void* at, bool wide, int64_t n, int64_t size,
                 int64_t along, int64_t step, void* to) {
  const T* x = static_cast<const T*>(base);
  T* y = static_cast<T*>(to);
  if (wide) return Gather(x, static_cast<const int64_t*>(at), n, size, along, step, y);
  return Gather(x, static_cast<const int32_t*>(at), n, size, along, step, y);
}

}  // namespace

bool GatherRow(const void* base, const void* at, bool wide, int64_t n, int64_t size, int64_t along,
               int64_t step, void* to, size_t item) {
  switch (item) {
    case 1:
      return GatherItems<uint8_t>(base, at, wide, n, size, along, step, to);
    case 2:
      return GatherItems<uint16_t>(base, at, wide, n, size, along, step, to);
    case 4:
      return GatherItems<uint32_t>(base, at, wide, n, size, along, step, to);
    case 8:
      return GatherItems<uint64_t>(base, at, wide, n, size, along, step, to);
    default:
      return GatherItems<Bytes16>(base, at, wide, n, size, along, step, to);
  }
}

}  // namespace ms::cpu::MS_ISA
