// A box that stays is compared with all that follow: a vector of them at a time, corners apart.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "backends/cpu/kernels/boxes.h"

namespace ms::cpu::MS_ISA {

template <class T>
void KeepBoxes(const T* boxes, int64_t n, T threshold, bool* keep) {
  using Flag = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;  // as wide as a number
  std::vector<T> numbers(static_cast<size_t>(5 * n));
  std::vector<Flag> gone(static_cast<size_t>(n), 0);
  T *left = numbers.data(), *top = left + n, *right = top + n, *bottom = right + n;
  T* area = bottom + n;
  Flag* out = gone.data();
  for (int64_t i = 0; i < n; ++i) {
    left[i] = boxes[4 * i];
    top[i] = boxes[4 * i + 1];
    right[i] = boxes[4 * i + 2];
    bottom[i] = boxes[4 * i + 3];
    area[i] = (right[i] - left[i]) * (bottom[i] - top[i]);
  }
  for (int64_t i = 0; i < n; ++i) {
    keep[i] = out[i] == 0;
    if (!keep[i]) continue;
    T x1 = left[i], y1 = top[i], x2 = right[i], y2 = bottom[i], own = area[i];
#pragma GCC ivdep
    for (int64_t j = i + 1; j < n; ++j) {
      T width = std::min(x2, right[j]) - std::max(x1, left[j]);
      T height = std::min(y2, bottom[j]) - std::max(y1, top[j]);
      T common = std::max(width, T{0}) * std::max(height, T{0});
      out[j] |= common / (own + area[j] - common) > threshold ? -1 : 0;
    }
  }
}

template void KeepBoxes<float>(const float*, int64_t, float, bool*);
template void KeepBoxes<double>(const double*, int64_t, double, bool*);

}  // namespace ms::cpu::MS_ISA
