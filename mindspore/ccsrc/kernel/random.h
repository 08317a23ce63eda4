// Random numbers as a function of (seed, offset of the op in program order, element index): Philox
// 4x32-10. The same in both modes and at any thread count.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace ms {

// The state of a generator: each random op takes one offset, in program order.
class RandomState {
 public:
  explicit RandomState(uint64_t seed = 0) : seed_(seed) {}
  uint64_t seed() const { return seed_; }
  uint64_t NextOffset() { return offset_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t offset() const { return offset_.load(std::memory_order_relaxed); }
  void Set(uint64_t seed, uint64_t offset) {
    seed_ = seed;
    offset_.store(offset, std::memory_order_relaxed);
  }

 private:
  uint64_t seed_;
  std::atomic<uint64_t> offset_{0};
};

// Four 32-bit words for counter block `index` of the stream (seed, offset).
inline std::array<uint32_t, 4> Philox(uint64_t seed, uint64_t offset, uint64_t index) {
  uint32_t c0 = static_cast<uint32_t>(index), c1 = static_cast<uint32_t>(index >> 32);
  uint32_t c2 = static_cast<uint32_t>(offset), c3 = static_cast<uint32_t>(offset >> 32);
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t{0xD2511F53u} * c0;
    uint64_t p1 = uint64_t{0xCD9E8D57u} * c2;
    uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    uint32_t n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(p1);
    c3 = static_cast<uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {c0, c1, c2, c3};
}

// Uniform in [0, 1) with 24 bits; in (0, 1) with 53.
inline float UniformFloat(uint32_t word) {
  return static_cast<float>(word >> 8) * (1.0f / 16777216.0f);
}
inline double UniformDouble(uint32_t high, uint32_t low) {
  uint64_t bits = ((static_cast<uint64_t>(high) << 32) | low) >> 11;
  return (static_cast<double>(bits) + 0.5) * (1.0 / 9007199254740992.0);
}

}  // namespace ms
