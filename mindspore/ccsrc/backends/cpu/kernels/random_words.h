// The stream that one run of a random op draws from.
#pragma once

#include <cstdint>

namespace ms::cpu {

struct RandomKey {
  uint64_t seed, offset;
};

inline constexpr int kWordsPerGroup = 64;

}  // namespace ms::cpu
