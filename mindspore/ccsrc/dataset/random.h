// Draws that depend on a key and a position alone, never on the thread that makes them: so the
// stream of a pipeline is the same for any number of workers.
#pragma once

#include <cstdint>
#include <vector>

namespace ms::dataset {

// One key of two (the finaliser of SplitMix64).
inline uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t z = a + 0x9e3779b97f4a7c15ull * (b + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

class Random {
 public:
  explicit Random(uint64_t key) : state_(key) {}

  uint64_t Next() { return Mix(state_, count_++); }
  // An integer in [0, n), without bias that could be seen.
  int64_t Below(int64_t n) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<int64_t>((static_cast<Wide>(Next()) * static_cast<uint64_t>(n)) >> 64);
  }
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }

 private:
  uint64_t state_;
  uint64_t count_ = 0;
};

// A random order of [0, n). Large ones are a Feistel network over the numbers, so that 10 million
// rows cost as much memory as ten.
class Permutation {
 public:
  Permutation(int64_t size, uint64_t key);
  int64_t operator[](int64_t position) const;
  int64_t size() const { return size_; }

 private:
  uint64_t Scrambled(uint64_t value) const;

  int64_t size_;
  uint64_t key_;
  int half_bits_ = 1;
  std::vector<uint32_t> table_;  // of small ones, for which the network has too few orders
};

}  // namespace ms::dataset
