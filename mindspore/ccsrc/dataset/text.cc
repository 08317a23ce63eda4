// See text.h.
#include "dataset/text.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace ms::dataset {
namespace {

constexpr size_t kCodePoint = 4;

// The length of the sequence that starts with this byte, and the bits of it that count; 0: none.
size_t Lead(unsigned char byte, uint32_t* bits) {
  if (byte < 0x80) return *bits = byte, 1;
  if (byte >= 0xC2 && byte < 0xE0) return *bits = byte & 0x1Fu, 2;
  if (byte >= 0xE0 && byte < 0xF0) return *bits = byte & 0x0Fu, 3;
  if (byte >= 0xF0 && byte < 0xF5) return *bits = byte & 0x07u, 4;
  return 0;
}

// How many code points there are, which go to `out` unless it is null; none where it is no UTF-8.
std::optional<size_t> CodePoints(std::string_view bytes, std::byte* out) {
  static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t count = 0;
  for (size_t i = 0; i < bytes.size(); ++count) {
    uint32_t code = 0;
    size_t length = Lead(static_cast<unsigned char>(bytes[i]), &code);
    if (length == 0 || length > bytes.size() - i) return std::nullopt;
    for (size_t k = 1; k < length; ++k) {
      auto next = static_cast<unsigned char>(bytes[i + k]);
      if ((next & 0xC0u) != 0x80u) return std::nullopt;
      code = code << 6 | (next & 0x3Fu);
    }
    bool surrogate = code >= 0xD800 && code < 0xE000;
    if (code < kSmallest[length] || code > 0x10FFFF || surrogate) return std::nullopt;
    if (out != nullptr) std::memcpy(out + count * kCodePoint, &code, kCodePoint);
    i += length;
  }
  return count;
}

// Whether a byte may be the one at `place` behind this first one.
bool Follows(unsigned char lead, size_t place, unsigned char byte) {
  unsigned char least = 0x80, most = 0xBF;
  if (place == 1) {
    if (lead == 0xE0) least = 0xA0;
    if (lead == 0xED) most = 0x9F;  // no surrogates
    if (lead == 0xF0) least = 0x90;
    if (lead == 0xF4) most = 0x8F;
  }
  return byte >= least && byte <= most;
}

}  // namespace

std::string_view WithoutMark(std::string_view bytes) {
  return bytes.starts_with("\xEF\xBB\xBF") ? bytes.substr(3) : bytes;
}

bool IsText(std::string_view bytes) { return CodePoints(bytes, nullptr).has_value(); }

std::string MendedText(std::string_view bytes) {
  if (IsText(bytes)) return std::string(bytes);
  std::string mended;
  for (size_t i = 0; i < bytes.size();) {
    auto lead = static_cast<unsigned char>(bytes[i]);
    uint32_t bits = 0;
    size_t length = std::max<size_t>(Lead(lead, &bits), 1), good = 1;
    for (; good < length && i + good < bytes.size(); ++good) {
      if (!Follows(lead, good, static_cast<unsigned char>(bytes[i + good]))) break;
    }
    bool whole = good == length && (length > 1 || lead < 0x80);
    mended += whole ? bytes.substr(i, length) : std::string_view("\xEF\xBF\xBD");
    i += good;
  }
  return mended;
}

Value TextOf(std::string_view bytes, std::string_view where) {
  if (!IsText(bytes)) {
    Throw(ErrorKind::kValue, "{} must be text in UTF-8, but got bytes that are none.", where);
  }
  return TextsOf(std::span(&bytes, 1), MakeDims({}));
}

Value TextsOf(std::span<const std::string_view> texts, DimsRef dims) {
  size_t width = 1;
  bool text = true;
  for (std::string_view bytes : texts) {
    std::optional<size_t> count = CodePoints(bytes, nullptr);
    text = text && count;
    width = std::max(width, count.value_or(0));
  }
  if (!text) {
    for (std::string_view bytes : texts) width = std::max(width, bytes.size());
  }
  size_t item = text ? width * kCodePoint : width;
  Element element{text ? Kind::kText : Kind::kBytes, DType::kUInt8, static_cast<uint32_t>(item)};
  Value value = Value::Make(element, std::move(dims));
  std::memset(value.memory(), 0, value.bytes());
  for (size_t i = 0; i < texts.size(); ++i) {
    std::byte* out = value.memory() + i * item;
    if (text) {
      CodePoints(texts[i], out);
    } else if (!texts[i].empty()) {
      std::memcpy(out, texts[i].data(), texts[i].size());
    }
  }
  return value;
}

}  // namespace ms::dataset
