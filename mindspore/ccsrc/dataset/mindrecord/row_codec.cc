#include "dataset/mindrecord/row_codec.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "dataset/mindrecord/zstd.h"
#include "io/wire.h"

namespace ms {
namespace {

// ---- big-endian numbers, as MessagePack and the blobs have them
template <class T>
void PutBig(std::string& out, T value) {
  for (int shift = 8 * (sizeof(T) - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(static_cast<uint64_t>(value) >> shift));
}

// Bytes that are taken from the front. A take that is too long sets `short` and gives zeros.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  bool cut() const { return cut_; }
  size_t left() const { return bytes_.size(); }
  std::string_view Take(uint64_t length) {
    if (length > bytes_.size()) {
      cut_ = true;
      bytes_ = {};
      return {};
    }
    std::string_view taken = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return taken;
  }
  uint8_t Byte() {
    std::string_view taken = Take(1);
    return taken.empty() ? 0 : static_cast<uint8_t>(taken[0]);
  }
  template <class T>
  T Big() {
    uint64_t value = 0;
    for (char byte : Take(sizeof(T))) value = value << 8 | static_cast<uint8_t>(byte);
    return static_cast<T>(value);
  }

 private:
  std::string_view bytes_;
  bool cut_ = false;
};

// ---- MessagePack
void PutInteger(std::string& out, int64_t value) {
  if (value >= 0) {
    auto number = static_cast<uint64_t>(value);
    if (number < 0x80) {
      out.push_back(static_cast<char>(number));
    } else if (number <= UINT8_MAX) {
      out.push_back('\xCC');
      PutBig(out, static_cast<uint8_t>(number));
    } else if (number <= UINT16_MAX) {
      out.push_back('\xCD');
      PutBig(out, static_cast<uint16_t>(number));
    } else if (number <= UINT32_MAX) {
      out.push_back('\xCE');
      PutBig(out, static_cast<uint32_t>(number));
    } else {
      out.push_back('\xCF');
      PutBig(out, number);
    }
  } else if (value >= -32) {
    out.push_back(static_cast<char>(value));
  } else if (value >= INT8_MIN) {
    out.push_back('\xD0');
    PutBig(out, static_cast<uint8_t>(value));
  } else if (value >= INT16_MIN) {
    out.push_back('\xD1');
    PutBig(out, static_cast<uint16_t>(value));
  } else if (value >= INT32_MIN) {
    out.push_back('\xD2');
    PutBig(out, static_cast<uint32_t>(value));
  } else {
    out.push_back('\xD3');
    PutBig(out, static_cast<uint64_t>(value));
  }
}

// In four bytes where that loses nothing.
void PutReal(std::string& out, double value) {
  if (std::abs(value) <= std::numeric_limits<float>::max() &&
      static_cast<double>(static_cast<float>(value)) == value) {
    out.push_back('\xCA');
    PutBig(out, std::bit_cast<uint32_t>(static_cast<float>(value)));
  } else {
    out.push_back('\xCB');
    PutBig(out, std::bit_cast<uint64_t>(value));
  }
}

void PutText(std::string& out, std::string_view text) {
  if (text.size() < 32) {
    out.push_back(static_cast<char>(0xA0 | text.size()));
  } else if (text.size() <= UINT8_MAX) {
    out.push_back('\xD9');
    PutBig(out, static_cast<uint8_t>(text.size()));
  } else if (text.size() <= UINT16_MAX) {
    out.push_back('\xDA');
    PutBig(out, static_cast<uint16_t>(text.size()));
  } else {
    out.push_back('\xDB');
    PutBig(out, static_cast<uint32_t>(text.size()));
  }
  out.append(text);
}

bool TakeText(Cursor& in, std::string_view& text) {
  uint8_t tag = in.Byte();
  uint64_t length = 0;
  if (tag >= 0xA0 && tag <= 0xBF)
    length = tag & 0x1F;
  else if (tag == 0xD9)
    length = in.Big<uint8_t>();
  else if (tag == 0xDA)
    length = in.Big<uint16_t>();
  else if (tag == 0xDB)
    length = in.Big<uint32_t>();
  else
    return false;
  text = in.Take(length);
  return !in.cut();
}

struct Number {
  bool real = false;
  int64_t integer = 0;
  double value = 0;
};

bool TakeNumber(Cursor& in, Number& number) {
  uint8_t tag = in.Byte();
  if (tag < 0x80 || tag >= 0xE0) {
    number.integer = static_cast<int8_t>(tag);
  } else if (tag == 0xCA) {
    number = {true, 0, std::bit_cast<float>(in.Big<uint32_t>())};
  } else if (tag == 0xCB) {
    number = {true, 0, std::bit_cast<double>(in.Big<uint64_t>())};
  } else if (tag == 0xCC) {
    number.integer = in.Big<uint8_t>();
  } else if (tag == 0xCD) {
    number.integer = in.Big<uint16_t>();
  } else if (tag == 0xCE) {
    number.integer = in.Big<uint32_t>();
  } else if (tag == 0xCF) {
    auto value = in.Big<uint64_t>();
    if (value > INT64_MAX) return false;
    number.integer = static_cast<int64_t>(value);
  } else if (tag == 0xD0) {
    number.integer = in.Big<int8_t>();
  } else if (tag == 0xD1) {
    number.integer = in.Big<int16_t>();
  } else if (tag == 0xD2) {
    number.integer = in.Big<int32_t>();
  } else if (tag == 0xD3) {
    number.integer = in.Big<int64_t>();
  } else {
    return false;
  }
  return !in.cut();
}

// A value of the raw half, into `value` unless that is null.
std::string TakeRaw(Cursor& in, const RecordField& field, RecordValue* value) {
  auto wrong = [&field] {
    return fmt::format("its field '{}' is no {}", field.name, field.Describe());
  };
  if (field.type == RecordType::kString) {
    std::string_view text;
    if (!TakeText(in, text)) return wrong();
    if (value != nullptr) value->content = text;
    return {};
  }
  Number number;
  if (!TakeNumber(in, number)) return wrong();
  if (field.integer()) {
    if (number.real || (field.type == RecordType::kInt32 &&
                        number.integer != static_cast<int32_t>(number.integer)))
      return wrong();
  }
  if (value != nullptr) {
    value->integer = number.integer;
    value->real = number.real ? number.value : static_cast<double>(number.integer);
  }
  return {};
}

// ---- packed integers: their number, a byte with the widths of each four, then the values in 1, 2,
// 4 or 8 bytes, little-endian
int WidthCode(int64_t value) {
  if (value == static_cast<int8_t>(value)) return 0;
  if (value == static_cast<int16_t>(value)) return 1;
  return value == static_cast<int32_t>(value) ? 2 : 3;
}

constexpr size_t CodeBytes(size_t count) { return (count + 3) / 4; }
constexpr int CodeShift(size_t i) { return 6 - 2 * static_cast<int>(i % 4); }

template <class T>
void Pack(std::string_view bytes, std::string& out) {
  size_t count = bytes.size() / sizeof(T);
  PutBig(out, static_cast<uint32_t>(count));
  size_t codes = out.size();
  out.append(CodeBytes(count), '\0');
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    int code = WidthCode(value);
    out[codes + i / 4] = static_cast<char>(out[codes + i / 4] | code << CodeShift(i));
    out.append(reinterpret_cast<const char*>(&value), size_t{1} << code);
  }
}

template <class T>
std::string Unpack(Cursor in, std::string& out) {
  uint64_t count = in.Big<uint32_t>();
  // Each value takes a byte at least, so no count asks for more memory than eight times the file's.
  if (in.cut() || count > in.left()) return "has more integers than bytes";
  out.resize(count * sizeof(T));
  std::string_view codes = in.Take(CodeBytes(count));
  for (size_t i = 0; i < count && !in.cut(); ++i) {
    int code = codes[i / 4] >> CodeShift(i) & 3;
    size_t width = size_t{1} << code;
    if (width > sizeof(T)) return "has an integer that is too wide";
    std::string_view taken = in.Take(width);
    uint64_t value = 0;
    std::memcpy(&value, taken.data(), taken.size());
    int unused = 64 - static_cast<int>(8 * width);
    auto typed = static_cast<T>(static_cast<int64_t>(value << unused) >> unused);
    std::memcpy(out.data() + i * sizeof(T), &typed, sizeof(T));
  }
  if (in.cut()) return "ends in the middle of an integer";
  return in.left() == 0 ? "" : "has bytes after its last integer";
}

void PutContent(const RecordField& field, const RecordValue& value, std::string& out) {
  if (field.type == RecordType::kInt32)
    Pack<int32_t>(value.bytes, out);
  else if (field.type == RecordType::kInt64)
    Pack<int64_t>(value.bytes, out);
  else
    out.append(value.bytes);
}

std::string TakeContent(const RecordField& field, std::string_view content, RecordValue& value) {
  std::string wrong;
  if (field.type == RecordType::kInt32)
    wrong = Unpack<int32_t>(Cursor(content), value.bytes);
  else if (field.type == RecordType::kInt64)
    wrong = Unpack<int64_t>(Cursor(content), value.bytes);
  if (!wrong.empty()) return fmt::format("its field '{}' {}", field.name, wrong);
  value.content = field.integer() ? std::string_view() : content;
  if (field.type == RecordType::kBytes) return {};
  size_t item = RecordItemSize(field.type);
  size_t size = value.view().size();
  if (size % item != 0 || !FitShape(field, static_cast<int64_t>(size / item), value.dims)) {
    return fmt::format("its field '{}' has {} bytes, which {} cannot have", field.name, size,
                       field.Describe());
  }
  return {};
}

void SetSize(std::string& out, size_t start) {
  uint64_t size = out.size() - start - kRowSizeBytes;
  std::memcpy(out.data() + start, &size, sizeof(size));
}

// The content behind the size of a half of a row.
bool Content(std::string_view bytes, std::string_view& content) {
  uint64_t size;
  if (bytes.size() < kRowSizeBytes) return false;
  std::memcpy(&size, bytes.data(), sizeof(size));
  content = bytes.substr(kRowSizeBytes);
  return size == content.size();
}

constexpr char kWrongSize[] = "its size is not that which the index has";
constexpr size_t kNoBlob = 4;  // a row without a blob field has this many zeros for one
constexpr std::string_view kNoRaw("\x81\xA2id\0", 5);  // and one without others {"id": 0}

}  // namespace

void EncodeRaw(const RecordSchema& schema, const RecordRow& row, std::string& out) {
  size_t start = out.size();
  out.append(kRowSizeBytes, '\0');
  size_t count = schema.fields.size() - schema.blob_count();
  if (count == 0) {
    out.append(kNoRaw);
  } else if (count < 16) {
    out.push_back(static_cast<char>(0x80 | count));
  } else {
    out.push_back('\xDE');
    PutBig(out, static_cast<uint16_t>(count));
  }
  for (size_t i = 0; i < row.size(); ++i) {
    const RecordField& field = schema.fields[i];
    if (field.blob()) continue;
    PutText(out, field.name);
    if (field.type == RecordType::kString)
      PutText(out, row[i].bytes);
    else if (field.integer())
      PutInteger(out, row[i].integer);
    else
      PutReal(out, row[i].real);
  }
  SetSize(out, start);
}

int64_t EncodeBlob(const RecordSchema& schema, const RecordRow& row, std::string& out) {
  size_t start = out.size();
  size_t count = schema.blob_count();
  int64_t saved = 0;
  out.append(kRowSizeBytes, '\0');
  if (count == 0) out.append(kNoBlob, '\0');
  for (size_t i = 0; i < row.size(); ++i) {
    const RecordField& field = schema.fields[i];
    if (!field.blob()) continue;
    size_t size_at = out.size();
    if (count > 1) out.append(sizeof(uint64_t), '\0');
    size_t content_at = out.size();
    PutContent(field, row[i], out);
    saved +=
        static_cast<int64_t>(row[i].bytes.size()) - static_cast<int64_t>(out.size() - content_at);
    if (count == 1) continue;
    std::string size;
    PutBig(size, uint64_t{out.size() - content_at});
    out.replace(size_at, size.size(), size);
  }
  SetSize(out, start);
  return saved;
}

std::string PackBlob(std::string_view half) {
  std::string packed(kRowSizeBytes, '\0');
  packed += Zstd::Get().Pack(half.substr(kRowSizeBytes));
  SetSize(packed, 0);
  return packed;
}

std::string UnpackBlob(std::string_view half, uint64_t most) {
  std::string_view frame;
  std::string unpacked(kRowSizeBytes, '\0');
  if (!Content(half, frame) || !Zstd::Get().Unpack(frame, most, &unpacked)) return "";
  SetSize(unpacked, 0);
  return unpacked;
}

uint64_t LargestSize(const RecordSchema& schema, const RecordRow& row) {
  constexpr uint64_t kMostBeside = 32;  // sizes, tags, counts and plain numbers, of a field or row
  uint64_t size = kMostBeside;
  for (size_t i = 0; i < row.size(); ++i) {
    uint64_t bytes = row[i].bytes.size();
    // Packed integers have a byte more for each four.
    size += schema.fields[i].name.size() + bytes + bytes / 8 + kMostBeside;
  }
  return size;
}

std::string DecodeRaw(const RecordSchema& schema, std::string_view bytes,
                      const std::vector<bool>& wanted, RecordRow& row) {
  std::string_view content;
  if (!Content(bytes, content)) return kWrongSize;
  Cursor in(content);
  uint8_t tag = in.Byte();
  size_t count = tag == 0xDE ? in.Big<uint16_t>() : tag & 0x0F;
  if (tag != 0xDE && (tag & 0xF0) != 0x80) return "it is no map";
  if (count != schema.fields.size() - schema.blob_count())
    return "it has not the fields of the schema";
  size_t next = 0;  // names come in their order, here as in the schema
  for (size_t i = 0; i < count; ++i, ++next) {
    std::string_view name;
    if (!TakeText(in, name)) return "the name of a field is missing";
    while (next < schema.fields.size() && schema.fields[next].blob()) ++next;
    if (next == schema.fields.size() || schema.fields[next].name != name)
      return fmt::format("its field {} is not the one of the schema", i);
    std::string wrong = TakeRaw(in, schema.fields[next], wanted[next] ? &row[next] : nullptr);
    if (!wrong.empty()) return wrong;
  }
  return in.cut() || in.left() > 0 ? "it has another length than its fields" : "";
}

std::string DecodeBlob(const RecordSchema& schema, std::string_view bytes,
                       const std::vector<bool>& wanted, RecordRow& row) {
  std::string_view content;
  if (!Content(bytes, content)) return kWrongSize;
  size_t count = schema.blob_count();
  if (count == 0) return content == std::string_view("\0\0\0\0", kNoBlob) ? "" : "it has a blob";
  Cursor in(content);
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    const RecordField& field = schema.fields[i];
    if (!field.blob()) continue;
    uint64_t size = count == 1 ? in.left() : in.Big<uint64_t>();
    std::string_view piece = in.Take(size);
    if (in.cut()) return fmt::format("its field '{}' is longer than the row", field.name);
    if (!wanted[i]) continue;
    std::string wrong = TakeContent(field, piece, row[i]);
    if (!wrong.empty()) return wrong;
  }
  return in.left() == 0 ? "" : "it has another length than its fields";
}

bool FitShape(const RecordField& field, int64_t count, std::vector<int64_t>& dims) {
  dims = *field.shape;
  int64_t known = 1;
  int64_t* unknown = nullptr;
  for (int64_t& dim : dims) {
    if (dim == -1) {
      unknown = &dim;
      continue;
    }
    if (known > INT64_MAX / dim) return false;
    known *= dim;
  }
  if (unknown == nullptr) return known == count;
  *unknown = count / known;
  return count % known == 0;
}

}  // namespace ms
