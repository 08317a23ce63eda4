// See example.h.
#include "dataset/example.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "dataset/text.h"
#include "io/crc32c.h"
#include "io/wire.h"

namespace ms::dataset {

uint32_t MaskedSum(std::string_view bytes) {
  uint32_t sum = Crc32c(0, std::as_bytes(std::span(bytes.data(), bytes.size())));
  return ((sum >> 15) | (sum << 17)) + 0xa282ead8u;
}

namespace {

// A record: its size (u64), the checksum of that, its bytes, their checksum.
constexpr uint64_t kHead = 12, kFoot = 4;

template <class T>
T At(const char* bytes) {
  T number;
  std::memcpy(&number, bytes, sizeof(T));
  return number;
}

std::vector<Piece> FindIn(const Pieces& pieces, size_t file) {
  std::vector<Piece> found;
  uint64_t size = pieces.FileSize(file);
  auto fail = [&](const char* what) {
    Throw(ErrorKind::kRuntime, "The TFRecord file '{}' is damaged: record {} {}.",
          pieces.path(file), found.size() + 1, what);
  };
  for (uint64_t place = 0; place < size;) {
    if (size - place < kHead) fail("is cut short");
    char head[kHead];
    pieces.ReadFile(file, place, kHead, head);
    if (MaskedSum({head, 8}) != At<uint32_t>(head + 8)) {
      fail(place == 0 ? "has no length with its checksum, as if it were no TFRecord file"
                      : "has a length that its checksum is not of");
    }
    auto length = At<uint64_t>(head);
    uint64_t left = size - place - kHead;
    if (left < kFoot || length > left - kFoot) fail("is cut short");
    found.push_back({place + kHead, length + kFoot});
    place += kHead + length + kFoot;
  }
  return found;
}

// Reads fields of a message one after the other.
class Message {
 public:
  Message(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  bool More() const { return !bytes_.empty(); }
  void Next() {
    uint64_t key = Varint();
    field = static_cast<uint32_t>(key >> 3);
    wire = static_cast<Wire>(key & 7);
    switch (wire) {
      case Wire::kVarint:
        number = Varint();
        return;
      case Wire::kFixed64:
        content = Take(8);
        return;
      case Wire::kBytes:
        content = Take(Varint());
        return;
      case Wire::kFixed32:
        content = Take(4);
        return;
    }
    Fail();
  }
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (bytes_.empty()) Fail();
      auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7F) << std::min(shift, 63);
      if (byte < 0x80) return value;
    }
    Fail();
  }
  [[noreturn]] void Fail() const {
    Throw(ErrorKind::kRuntime, "{} must be a tf.train.Example, but its bytes are none.", where_);
  }

  uint32_t field = 0;
  Wire wire = Wire::kVarint;
  uint64_t number = 0;
  std::string_view content;

 private:
  std::string_view Take(uint64_t count) {
    if (count > bytes_.size()) Fail();
    std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::string_view bytes_;
  const std::string& where_;
};

struct Feature {
  uint32_t kind = 0;  // 1: bytes, 2: floats, 3: integers; 0: nothing
  std::vector<std::string_view> texts;
  std::vector<float> floats;
  std::vector<int64_t> integers;
  size_t size() const { return texts.size() + floats.size() + integers.size(); }
};

void AddNumbers(Message& list, const std::string& where, Feature* feature) {
  if (feature->kind == 1) {
    if (list.wire != Wire::kBytes) list.Fail();
    feature->texts.push_back(list.content);
  } else if (feature->kind == 2) {
    if (list.wire == Wire::kVarint || list.content.size() % 4 != 0) list.Fail();
    for (size_t i = 0; i < list.content.size(); i += 4) {
      feature->floats.push_back(At<float>(list.content.data() + i));
    }
  } else if (list.wire == Wire::kVarint) {
    feature->integers.push_back(static_cast<int64_t>(list.number));
  } else {
    for (Message packed(list.content, where); packed.More();) {
      feature->integers.push_back(static_cast<int64_t>(packed.Varint()));
    }
  }
}

Feature FeatureOf(std::string_view bytes, const std::string& where) {
  Feature feature;
  for (Message kinds(bytes, where); kinds.More();) {
    kinds.Next();
    if (kinds.field < 1 || kinds.field > 3) continue;
    if (kinds.wire != Wire::kBytes) kinds.Fail();
    feature = {};
    feature.kind = kinds.field;
    for (Message list(kinds.content, where); list.More();) {
      list.Next();
      if (list.field == 1) AddNumbers(list, where, &feature);
    }
  }
  return feature;
}

using Features = std::map<std::string_view, std::string_view>;

Features FeaturesOf(std::string_view bytes, const std::string& where) {
  if (bytes.size() < kFoot || MaskedSum(bytes.substr(0, bytes.size() - kFoot)) !=
                                  At<uint32_t>(bytes.data() + bytes.size() - kFoot)) {
    Throw(ErrorKind::kRuntime, "{} is damaged: its checksum is that of other bytes.", where);
  }
  Features features;
  for (Message example(bytes.substr(0, bytes.size() - kFoot), where); example.More();) {
    example.Next();
    if (example.field != 1) continue;
    if (example.wire != Wire::kBytes) example.Fail();
    for (Message map(example.content, where); map.More();) {
      map.Next();
      if (map.field != 1) continue;
      if (map.wire != Wire::kBytes) map.Fail();
      std::string_view name, content;
      for (Message entry(map.content, where); entry.More();) {
        entry.Next();
        if (entry.wire != Wire::kBytes) continue;
        if (entry.field == 1) name = entry.content;
        if (entry.field == 2) content = entry.content;
      }
      features[name] = content;
    }
  }
  return features;
}

template <class To, class From>
void Cast(const std::vector<From>& from, std::byte* out) {
  auto* numbers = reinterpret_cast<To*>(out);
  for (size_t i = 0; i < from.size(); ++i) numbers[i] = static_cast<To>(from[i]);
}

template <class From>
bool CastAll(DType dtype, const std::vector<From>& from, std::byte* out) {
  switch (dtype) {
    case DType::kBool:
      Cast<bool>(from, out);
      return true;
    case DType::kInt8:
      Cast<int8_t>(from, out);
      return true;
    case DType::kUInt8:
      Cast<uint8_t>(from, out);
      return true;
    case DType::kInt16:
      Cast<int16_t>(from, out);
      return true;
    case DType::kUInt16:
      Cast<uint16_t>(from, out);
      return true;
    case DType::kInt32:
      Cast<int32_t>(from, out);
      return true;
    case DType::kUInt32:
      Cast<uint32_t>(from, out);
      return true;
    case DType::kInt64:
      Cast<int64_t>(from, out);
      return true;
    case DType::kUInt64:
      Cast<uint64_t>(from, out);
      return true;
    case DType::kFloat32:
      Cast<float>(from, out);
      return true;
    case DType::kFloat64:
      Cast<double>(from, out);
      return true;
    default:
      return false;
  }
}

// Several texts are filled up with blanks to one length.
std::string JoinedBytes(const std::vector<std::string_view>& texts) {
  size_t width = 0;
  for (std::string_view text : texts) width = std::max(width, text.size());
  std::string joined;
  for (std::string_view text : texts) {
    joined.append(text);
    joined.append(width - text.size(), ' ');
  }
  return joined;
}

class ExampleForm : public PieceForm {
 public:
  explicit ExampleForm(std::vector<ExampleColumn> columns) : columns_(std::move(columns)) {}
  void Parse(std::string_view bytes, const std::string& where,
             std::vector<Value>* values) const override {
    Features features = FeaturesOf(bytes, where);
    for (const ExampleColumn& column : columns_) {
      auto found = features.find(column.name);
      if (found == features.end()) {
        Throw(ErrorKind::kRuntime, "{} must have the feature '{}', but has none of that name.",
              where, column.name);
      }
      values->push_back(ValueOf(column, FeatureOf(found->second, where), where));
    }
  }

 private:
  static Value ValueOf(const ExampleColumn& column, const Feature& feature,
                       const std::string& where) {
    bool text = column.element && column.element->text();
    if (text || feature.kind == 1 || (feature.kind == 0 && !column.element)) {
      if (feature.kind > 1) FailKind(column, where);
      return TextValue(column, feature, text, where);
    }
    bool floats = feature.kind == 2;
    Element element =
        column.element.value_or(Element::Of(floats ? DType::kFloat32 : DType::kInt64));
    Value value = Value::Make(element, Extents(column, feature.size(), where));
    // Whole numbers would not survive as others, nor fractions as whole ones.
    bool made =
        floats ? IsFloating(element.dtype) && CastAll(element.dtype, feature.floats, value.memory())
               : CastAll(element.dtype, feature.integers, value.memory());
    if (!made) FailKind(column, where);
    return value;
  }

  static Value TextValue(const ExampleColumn& column, const Feature& feature, bool text,
                         const std::string& where) {
    if (text) return TextsOf(feature.texts, Extents(column, feature.size(), where));
    Element element = column.element.value_or(Element::Of(DType::kUInt8));
    if (element.size != 1) FailKind(column, where);
    std::string joined = JoinedBytes(feature.texts);
    Value value = Value::Make(element, Extents(column, joined.size(), where));
    if (!joined.empty()) std::memcpy(value.memory(), joined.data(), joined.size());
    return value;
  }

  [[noreturn]] static void FailKind(const ExampleColumn& column, const std::string& where) {
    Throw(ErrorKind::kRuntime,
          "{} must hold {} in the feature '{}', as the schema says, but has another kind.", where,
          column.element ? column.element->text() ? "string" : column.element->name() : "values",
          column.name);
  }

  static DimsRef Extents(const ExampleColumn& column, size_t given, const std::string& where) {
    auto count = static_cast<int64_t>(given);
    if (!column.dims) return MakeDims({count});
    Dims dims = *column.dims;
    int64_t known = 1;
    auto open = dims.end();
    for (auto dim = dims.begin(); dim != dims.end(); ++dim) {
      if (*dim < 0) {
        open = dim;
      } else {
        known *= *dim;
      }
    }
    if (open != dims.end() && known > 0 && count % known == 0) {
      *open = count / known;
      known = count;
    }
    if (known != count || (open != dims.end() && *open < 0)) {
      Throw(ErrorKind::kRuntime,
            "{} must have values of the shape {} in the feature '{}', as the schema says, but got "
            "{} of them.",
            where, ToString(*column.dims), column.name, count);
    }
    return MakeDims(std::move(dims));
  }

  std::vector<ExampleColumn> columns_;
};

}  // namespace

PiecesRef FindExamples(std::vector<PieceFile> files) {
  auto pieces = std::make_shared<Pieces>(std::move(files));
  for (size_t i = 0; i < pieces->files(); ++i) pieces->Add(FindIn(*pieces, i));
  return pieces;
}

std::vector<std::string> FeatureNames(const Pieces& pieces, size_t piece) {
  std::string bytes = pieces.Bytes(piece), where = pieces.Where(piece);
  std::vector<std::string> names;
  for (const auto& [name, content] : FeaturesOf(bytes, where)) names.emplace_back(name);
  return names;
}

std::shared_ptr<const PieceForm> MakeExampleForm(std::vector<ExampleColumn> columns) {
  return std::make_shared<ExampleForm>(std::move(columns));
}

}  // namespace ms::dataset
