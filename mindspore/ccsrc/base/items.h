// Elements that are only moved: their size decides, not what they are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ms {

// f(T{}) of an unsigned type of so many bytes, which are 1, 2, 4, 8 or 16; `Wide` stands for 16.
template <class Wide = std::array<uint64_t, 2>, class F>
auto VisitItem(size_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(Wide{});
  }
}

}  // namespace ms
