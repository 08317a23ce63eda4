// The stream that one run of a random op draws from.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace ms::cpu {

struct RandomKey {
  uint64_t seed, offset;
};

inline constexpr int kWordsPerGroup = 64;

// Words below this are kept where elements are kept with this probability.
uint64_t DropoutThreshold(double keep_prob);

MS_DECLARE_ISA(void RandomWords(const RandomKey& key, int64_t group, uint32_t* words);)

}  // namespace ms::cpu
