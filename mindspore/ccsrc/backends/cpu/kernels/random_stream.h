// What the kernels of random ops draw from: the key of a run, and its stream of 64-bit numbers.
#pragma once

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/random_words.h"
#include "kernel/kernel.h"

namespace ms::cpu {

void AddRejected(KernelTable& table);

// The op's own seeds choose another stream; zeros leave the global one.
struct Seeds {
  uint64_t first, second;
  Seeds(const KernelRequest& r, const char* a, const char* b)
      : first(static_cast<uint64_t>(r.attr<int64_t>(a))),
        second(static_cast<uint64_t>(r.attr<int64_t>(b))) {}
  RandomKey Next(RandomState* state) const {
    uint64_t seed = state->seed();
    if (first != 0 || second != 0) seed = Mix(Mix(seed ^ first) + second);
    return {seed, state->NextOffset()};
  }
  // The finaliser of SplitMix64.
  static uint64_t Mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
};

// Element i of a stream of 64-bit numbers: words i % 32 and i % 32 + 32 of group i / 32.
class Wide {
 public:
  explicit Wide(const RandomKey& key) : key_(key) {}
  uint64_t At(int64_t i) {
    static const auto fill = MS_PICK_ISA(RandomWords);
    if (i / 32 != group_) fill(key_, group_ = i / 32, words_);
    return static_cast<uint64_t>(words_[i % 32]) << 32 | words_[i % 32 + 32];
  }
  // In [0, n), without the bias of a remainder.
  uint64_t Below(int64_t i, uint64_t n) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(At(i)) * n >> 64);
  }
  double Uniform(int64_t i) {
    return (static_cast<double>(At(i) >> 11) + 0.5) * (1.0 / 9007199254740992.0);
  }

 private:
  RandomKey key_;
  int64_t group_ = -1;
  uint32_t words_[kWordsPerGroup];
};

}  // namespace ms::cpu
