// The texts of values, and words on their way into values.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/value.h"

namespace ms::dataset {

// A word, which lies in a text that outlives this, and where it is in the text's UTF-8 bytes.
struct Word {
  std::u32string_view word;
  size_t start = 0, end = 0;
};

// Code points; bytes are UTF-8. Throws TypeError for what is no text.
Value AsText(const Value& value);
// The i-th text of an array of code points.
std::u32string_view TextAt(const Value& texts, int64_t i);
bool IsAscii(std::u32string_view text);
std::string Utf8(std::u32string_view text);

// Counts the bytes that characters of a text take in UTF-8, for places that do not go back.
class ByteCounter {
 public:
  explicit ByteCounter(std::u32string_view text) : text_(text) {}
  size_t At(size_t place) {
    for (; at_ < place; ++at_) {
      char32_t c = text_[at_];
      bytes_ += 1 + (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);
    }
    return bytes_;
  }

 private:
  std::u32string_view text_;
  size_t at_ = 0, bytes_ = 0;
};

// An array of texts of one width.
Value ValueOf(std::span<const Word> words, DimsRef dims);
// The words as an array, with offsets also their starts and ends; no word is one empty text.
std::vector<Value> Given(std::vector<Word> words, bool with_offsets);

}  // namespace ms::dataset
