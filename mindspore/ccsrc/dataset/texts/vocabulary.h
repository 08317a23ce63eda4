// Words and their numbers, found by views of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ms::dataset {

class Vocabulary {
 public:
  Vocabulary(std::vector<std::u32string> words, const std::vector<int64_t>& numbers);

  // The word as it is kept here, with its number; null where there is none.
  struct Entry {
    std::u32string word;
    int64_t number;
  };
  const Entry* Find(std::u32string_view word) const { return FindJoined(word, {}); }
  // Of two parts, one behind the other.
  const Entry* FindJoined(std::u32string_view first, std::u32string_view rest) const;
  size_t longest() const { return longest_; }

 private:
  std::vector<Entry> entries_;
  // By hashes, open: places of entries, -1 where there is none; a power of two of them.
  std::vector<int32_t> slots_;
  size_t longest_ = 0;
};

}  // namespace ms::dataset
