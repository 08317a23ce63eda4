// What the printer and the parser of the IR's text must agree on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/dtype.h"

namespace ms::text {

// Tensors of at most this many elements are printed element by element.
inline constexpr int64_t kInlineElements = 16;

// Bytes above 0x7f belong to names: ▶f is one.
constexpr bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c) || c == '.'; }
bool IsName(std::string_view text);

std::string Quote(std::string_view text);
std::string NameOrQuoted(std::string_view text);

std::string ToBase64(std::string_view bytes);
bool FromBase64(std::string_view text, std::string* bytes);

}  // namespace ms::text
