// See vocabulary.h.
#include "dataset/texts/vocabulary.h"

#include <algorithm>

namespace ms::dataset {
namespace {

constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;

uint64_t Hashed(uint64_t hash, std::u32string_view text) {
  for (char32_t c : text) {
    hash = (hash ^ c) * kFactor;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::u32string> words, const std::vector<int64_t>& numbers) {
  size_t size = 16;
  while (size < words.size() * 3) size *= 2;
  slots_.assign(size, -1);
  entries_.reserve(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    longest_ = std::max(longest_, words[i].size());
    size_t slot = Hashed(0, words[i]) & (size - 1);
    while (slots_[slot] >= 0) slot = (slot + 1) & (size - 1);
    slots_[slot] = static_cast<int32_t>(i);
    entries_.push_back({std::move(words[i]), numbers[i]});
  }
}

const Vocabulary::Entry* Vocabulary::FindJoined(std::u32string_view first,
                                                std::u32string_view rest) const {
  size_t mask = slots_.size() - 1;
  for (size_t slot = Hashed(Hashed(0, first), rest) & mask; slots_[slot] >= 0;
       slot = (slot + 1) & mask) {
    const Entry& entry = entries_[static_cast<size_t>(slots_[slot])];
    std::u32string_view word = entry.word;
    if (word.size() == first.size() + rest.size() && word.starts_with(first) &&
        word.ends_with(rest)) {
      return &entry;
    }
  }
  return nullptr;
}

}  // namespace ms::dataset
