// See random.h.
#include "dataset/random.h"

#include <numeric>
#include <utility>

namespace ms::dataset {
namespace {

constexpr int64_t kTableSize = 1 << 16;
constexpr int kRounds = 6;

}  // namespace

Permutation::Permutation(int64_t size, uint64_t key) : size_(size), key_(key) {
  if (size <= kTableSize) {
    table_.resize(static_cast<size_t>(size));
    std::iota(table_.begin(), table_.end(), 0u);
    Random random(key);
    for (int64_t i = size - 1; i > 0; --i) {
      std::swap(table_[static_cast<size_t>(i)], table_[static_cast<size_t>(random.Below(i + 1))]);
    }
    return;
  }
  while ((int64_t{1} << (2 * half_bits_)) < size) ++half_bits_;
}

uint64_t Permutation::Scrambled(uint64_t value) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  uint64_t left = value >> half_bits_, right = value & mask;
  for (int round = 0; round < kRounds; ++round) {
    uint64_t mixed = left ^ (Mix(key_ + static_cast<uint64_t>(round), right) & mask);
    left = right;
    right = mixed;
  }
  return (left << half_bits_) | right;
}

int64_t Permutation::operator[](int64_t position) const {
  if (!table_.empty()) return table_[static_cast<size_t>(position)];
  // Walks along the cycle of the network until it is back inside of [0, n): a permutation again.
  auto value = static_cast<uint64_t>(position);
  do {
    value = Scrambled(value);
  } while (value >= static_cast<uint64_t>(size_));
  return static_cast<int64_t>(value);
}

}  // namespace ms::dataset
