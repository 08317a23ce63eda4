// See words.h.
#include "dataset/texts/words.h"

#include <algorithm>
#include <cstring>

#include "dataset/text.h"

namespace ms::dataset {
namespace {

constexpr size_t kWidth = sizeof(char32_t);

Value Places(std::span<const Word> words, size_t Word::* place) {
  Value value =
      Value::Make(Element::Of(DType::kUInt32), MakeDims({static_cast<int64_t>(words.size())}));
  auto* out = reinterpret_cast<uint32_t*>(value.memory());
  for (const Word& word : words) *out++ = static_cast<uint32_t>(word.*place);
  return value;
}

}  // namespace

Value AsText(const Value& value) {
  if (value.element.kind == Kind::kText) return value;
  if (value.element.kind != Kind::kBytes) {
    Throw(ErrorKind::kType, "the input must be text, but got {}", value.element.name());
  }
  std::vector<std::string_view> texts;
  for (int64_t i = 0, count = value.count(); i < count; ++i) {
    const char* bytes = value.as<char>() + i * value.element.size;
    size_t size = value.element.size;
    while (size > 0 && bytes[size - 1] == 0) --size;
    texts.emplace_back(bytes, size);
    if (!IsText(texts.back())) {
      Throw(ErrorKind::kValue, "the input must be UTF-8, but got bytes that are none");
    }
  }
  return TextsOf(texts, value.dims);
}

std::u32string_view TextAt(const Value& texts, int64_t i) {
  size_t size = texts.element.size / kWidth;
  const char32_t* text = texts.as<char32_t>() + static_cast<size_t>(i) * size;
  while (size > 0 && text[size - 1] == 0) --size;
  return {text, size};
}

bool IsAscii(std::u32string_view text) {
  char32_t all = 0;
  for (char32_t c : text) all |= c;
  return all < 0x80;
}

std::string Utf8(std::u32string_view text) {
  std::string bytes;
  for (char32_t c : text) {
    auto put = [&](uint32_t lead, int shift) {
      bytes.push_back(static_cast<char>(lead | (static_cast<uint32_t>(c) >> shift & 0x3F)));
    };
    if (c < 0x80) {
      bytes.push_back(static_cast<char>(c));
      continue;
    }
    if (c >= 0x10000) put(0xF0, 18), put(0x80, 12);
    if (c >= 0x800 && c < 0x10000) bytes.push_back(static_cast<char>(0xE0 | c >> 12));
    if (c >= 0x800) put(0x80, 6);
    if (c < 0x800) bytes.push_back(static_cast<char>(0xC0 | c >> 6));
    put(0x80, 0);
  }
  return bytes;
}

Value ValueOf(std::span<const Word> words, DimsRef dims) {
  size_t width = 1;
  for (const Word& word : words) width = std::max(width, word.word.size());
  if (width > UINT32_MAX / kWidth) {
    Throw(ErrorKind::kValue, "words must have less than 2^30 characters, but got {}", width);
  }
  Element element{Kind::kText, DType::kUInt8, static_cast<uint32_t>(width * kWidth)};
  Value value = Value::Make(element, std::move(dims));
  auto* out = reinterpret_cast<char32_t*>(value.memory());
  for (const Word& word : words) {
    out = std::copy(word.word.begin(), word.word.end(), out);
    out = std::fill_n(out, width - word.word.size(), U'\0');
  }
  return value;
}

std::vector<Value> Given(std::vector<Word> words, bool with_offsets) {
  if (words.empty()) words.emplace_back();
  std::vector<Value> values;
  values.push_back(ValueOf(words, MakeDims({static_cast<int64_t>(words.size())})));
  if (!with_offsets) return values;
  values.push_back(Places(words, &Word::start));
  values.push_back(Places(words, &Word::end));
  return values;
}

}  // namespace ms::dataset
