// Reading MindIR files: every size is checked against the bytes that are left of the message around
// it before memory is taken, contents are read straight into the memory of their tensors.
#include <fmt/ranges.h>

#include <bit>

#include "io/file_reader.h"
#include "io/mindir_format.h"

namespace ms {
namespace {

constexpr int kMaxDepth = 64;  // of messages in each other
// Fields that a file may have: each becomes a value in memory, larger than its two bytes on the
// wire.
constexpr uint64_t kMaxFields = 1 << 16;
constexpr uint64_t kBytesPerField = 6;

class Parser {
 public:
  Parser(const std::string& path, const std::function<void()>& poll) : in_(path, "MINDIR file") {
    in_.set_poll(poll);
  }

  MindIrFile Parse() {
    if (in_.size() == 0) in_.Fail("it is empty.");
    MindIrFile file{{&MindIrModel(), {}}, false};
    Fields(file.model, in_.size(), 0);
    if (headed_ && !tailed_) in_.Fail("the end mark is missing; the file may be cut short.");
    file.checked = tailed_;
    return file;
  }

 private:
  void Fields(ProtoMessage& message, uint64_t end, int depth) {
    if (depth > kMaxDepth) in_.Fail("messages are in each other {} deep.", depth);
    while (in_.offset() < end) {
      uint64_t start = in_.offset();
      uint64_t key = in_.Varint();
      if (tailed_) in_.Fail("bytes follow the end mark.");
      if (depth == 0 && key == kMindIrHeadKey && start == 0) {
        Head();
      } else if (depth == 0 && key == kMindIrTailKey && headed_) {
        Tail();
      } else {
        Field(message, FieldOf(*message.kind, key), static_cast<Wire>(key & 7), end, depth);
      }
    }
    if (in_.offset() != end) in_.Fail("the fields of a {} pass its end.", message.kind->name);
  }

  const FieldDef& FieldOf(const MessageKind& kind, uint64_t key) {
    for (const FieldDef& field : kind.fields) {
      if (field.number != key >> 3) continue;
      bool packed = field.repeated && static_cast<Wire>(key & 7) == Wire::kBytes;
      if (packed || static_cast<Wire>(key & 7) == WireOf(field.kind)) return field;
    }
    in_.Fail("a {} has no field {} of wire type {}, as far as this version knows.", kind.name,
             key >> 3, key & 7);
  }

  void Field(ProtoMessage& message, const FieldDef& field, Wire wire, uint64_t end, int depth) {
    if (wire == Wire::kBytes && WireOf(field.kind) != Wire::kBytes) {
      uint64_t stop = Length(end);
      stop += in_.offset();
      while (in_.offset() < stop) Add(message, field, Number(field, stop));
      return;
    }
    if (wire != Wire::kBytes) return Add(message, field, Number(field, end));
    uint64_t length = Length(end);
    switch (field.kind) {
      case FieldKind::kText:
        return Add(message, field, in_.String(length, length));
      case FieldKind::kContent:
        return Add(message, field, Content(message, length));
      case FieldKind::kMessage: {
        auto inner = std::make_unique<ProtoMessage>(ProtoMessage{field.message, {}});
        Fields(*inner, in_.offset() + length, depth + 1);
        return Add(message, field, std::move(inner));
      }
      default:
        return Add(message, field, in_.Bytes(length));
    }
  }

  void Add(ProtoMessage& message, const FieldDef& field, ProtoValue value) {
    if (++count_ > kMaxFields + in_.size() / kBytesPerField)
      in_.Fail("it has more fields than a graph of its size.");
    if (!field.repeated) {
      uint64_t bit = uint64_t{1} << (&field - message.kind->fields.data());
      if (message.seen & bit) in_.Fail("a {} has '{}' twice.", message.kind->name, field.name);
      message.seen |= bit;
    }
    message.values.emplace_back(&field, std::move(value));
  }

  ProtoValue Number(const FieldDef& field, uint64_t end) {
    ProtoValue value = int64_t{0};
    if (field.kind == FieldKind::kInteger)
      value = static_cast<int64_t>(in_.Varint());
    else if (field.kind == FieldKind::kFloat)
      value = static_cast<double>(std::bit_cast<float>(in_.Fixed32()));
    else
      value = std::bit_cast<double>(in_.Fixed64());
    if (in_.offset() > end) in_.Fail("'{}' passes the end of its message.", field.name);
    return value;
  }

  // The length of a field, at most what is left of the message around it.
  uint64_t Length(uint64_t end) {
    uint64_t length = in_.Varint();
    uint64_t left = end - std::min(end, in_.offset());
    if (in_.offset() > end || length > left)
      in_.Fail("a field is {} bytes long, but {} are left; the file may be cut short.", length,
               left);
    return length;
  }

  // Of a TensorProto whose type and sizes have been read, as every writer puts them before.
  std::unique_ptr<Tensor> Content(const ProtoMessage& message, uint64_t length) {
    Ints dims;
    std::optional<DType> dtype;
    std::string name;
    int64_t number = 0;
    for (const auto& [field, value] : message.values) {
      if (field->name == "dims") dims.push_back(std::get<int64_t>(value));
      if (field->name == "data_type") dtype = DTypeOfMindIr(number = std::get<int64_t>(value));
      if (field->name == "name") name = std::get<std::string>(value);
    }
    if (!dtype) in_.Fail("the tensor '{:.200}' has the unknown type {}.", name, number);
    Shape shape = ShapeOf(dims, name);
    uint64_t bytes = static_cast<uint64_t>(shape.size()) * ItemSize(*dtype);
    if (bytes != length) {
      in_.Fail("the tensor '{:.200}' of type {} and shape [{}] must have {} bytes, but got {}.",
               name, Name(*dtype), fmt::join(dims, ", "), bytes, length);
    }
    auto tensor = std::make_unique<Tensor>(*dtype, shape);
    content_sum_ = in_.ReadElements(*dtype, tensor->data<std::byte>(), bytes, content_sum_, name);
    return tensor;
  }

  // Fails for what no file of this size can hold.
  Shape ShapeOf(const Ints& dims, const std::string& name) {
    bool valid = dims.size() <= kMaxRank;
    for (int64_t d : dims) valid &= d >= 0;
    if (!valid) in_.Fail("the shape of the tensor '{:.200}' is not valid.", name);
    try {
      Shape shape(dims);
      if (static_cast<uint64_t>(shape.size()) <= in_.size()) return shape;
    } catch (const Error& error) {
      in_.Fail("the shape of the tensor '{:.200}' is not valid: {}.", name, error.message());
    }
    in_.Fail("the tensor '{:.200}' of shape [{}] is larger than the file.", name,
             fmt::join(dims, ", "));
  }

  void Head() {
    if (Length(in_.size()) != kMindIrHeadBytes || in_.Bytes(kMindIrMagic.size()) != kMindIrMagic) {
      in_.Fail("the head is of another version, or not of a MINDIR file.");
    }
    uint64_t total = in_.Fixed64();
    if (total != in_.size())
      in_.Fail("the file must have {} bytes, but has {}.", total, in_.size());
    headed_ = true;
  }

  void Tail() {
    if (Length(in_.size()) != kMindIrTailBytes)
      in_.Fail("the end mark must have {} bytes.", kMindIrTailBytes);
    Compare(in_.crc());
    Compare(content_sum_);
    tailed_ = true;
  }

  void Compare(uint32_t got) {
    uint32_t want = in_.Fixed32();
    if (got != want) in_.Fail("the checksum must be {:08x}, but got {:08x}.", want, got);
  }

  FileReader in_;
  uint64_t count_ = 0;
  uint32_t content_sum_ = 0;
  bool headed_ = false, tailed_ = false;
};

}  // namespace

MindIrFile ReadMindIr(const std::string& path, const std::function<void()>& poll) {
  return Parser(path, poll).Parse();
}

}  // namespace ms
