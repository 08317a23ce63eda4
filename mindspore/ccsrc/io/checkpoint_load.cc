// Reading checkpoints: fields in the order in which every writer puts them, sizes checked before
// memory is taken, contents read straight into the memory of their tensors, or past them where
// nobody wants them.
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/dtype.h"
#include "io/checkpoint.h"
#include "io/checkpoint_format.h"
#include "io/crc32c.h"
#include "io/file_reader.h"

namespace ms {
namespace {

// The tensor or text whose slices are being read.
struct Begun {
  std::string name;
  std::string type;
  std::vector<int64_t> dims;
  DType dtype = DType::kInt32;  // a text is its characters
  uint64_t bytes = 0;
  uint64_t filled = 0;
  std::byte* memory = nullptr;  // null: nobody wants it
};

class Parser {
 public:
  Parser(const std::string& path, const CheckpointLoadOptions& options)
      : in_(path, "checkpoint"), options_(options) {
    in_.set_poll(options.poll);
  }

  Checkpoint Parse() {
    if (in_.size() == 0) in_.Fail("it is empty.");
    bool native = FindNativeTrailer();
    while (in_.remaining() > 0 && !tail_) Field();
    FinishTensor();
    if (head_ && !tail_) in_.Fail("the end mark is missing; the file may be cut short.");
    if (in_.remaining() > 0) in_.Fail("{} bytes follow the end mark.", in_.remaining());
    if (native && in_.zlib_crc() != native_crc_) {
      in_.Fail("the checksum of the file must be {:08x}, but got {:08x}.", native_crc_,
               in_.zlib_crc());
    }
    return {std::move(found_), native || tail_};
  }

 private:
  bool FindNativeTrailer() {
    std::string tail = in_.Tail(kNativeBytes);
    if (tail.size() != kNativeBytes || !tail.starts_with(kNativeMark)) return false;
    for (char c : tail.substr(kNativeMark.size())) {
      if (native_crc_ >> 32 != 0) in_.Fail("the checksum at its end has more than 32 bits.");
      native_crc_ = (native_crc_ << 8) | static_cast<uint8_t>(c);
    }
    in_.HideTail(kNativeBytes);
    in_.SumZlib();
    return true;
  }

  void Field() {
    uint64_t start = in_.offset();
    uint64_t key = in_.Varint();
    if (key == kValueKey) {
      Entry();
    } else if (key == kHeadKey && start == 0) {
      Head();
    } else if (key == kTailKey && head_) {
      Tail();
    } else {
      in_.Fail("a checkpoint has no field {} of wire type {}.", key >> 3, key & 7);
    }
  }

  void Head() {
    if (Length() != kHeadBytes || in_.String(kHeadMagic.size(), kHeadBytes) != kHeadMagic) {
      in_.Fail("the head is of another version, or not of a checkpoint.");
    }
    uint64_t total = in_.Fixed64();
    if (total != in_.size())
      in_.Fail("the file must have {} bytes, but has {}.", total, in_.size());
    head_ = in_.Fixed32();
  }

  void Tail() {
    if (Length() != kTailBytes) in_.Fail("the end mark must have {} bytes.", kTailBytes);
    uint32_t got = in_.crc();
    uint32_t want = in_.Fixed32();
    if (got != want) in_.Fail("the checksum must be {:08x}, but got {:08x}.", want, got);
    if (entries_ != *head_) in_.Fail("there must be {} entries, but got {}.", *head_, entries_);
    tail_ = true;
  }

  // The length of a field, at most what is left of the enclosing one (by default the file).
  uint64_t Length(std::optional<uint64_t> end = {}) {
    uint64_t length = in_.Varint();
    uint64_t offset = in_.offset();
    uint64_t limit = end.value_or(in_.size());
    if (offset > limit || length > limit - offset) {
      in_.Fail("a field{} is {} bytes long, but {} are left; the file may be cut short.", Of(),
               length, limit - std::min(offset, limit));
    }
    return length;
  }

  std::string Of() const { return name_.empty() ? "" : fmt::format(" of '{:.200}'", name_); }

  void Entry() {
    name_.clear();
    uint64_t size = Length();
    uint64_t end = in_.offset() + size;
    if (in_.Varint() != kTagKey) in_.Fail("an entry must begin with its name.");
    name_ = in_.String(Length(end), kMaxNameBytes);
    if (in_.Varint() != kTensorKey) in_.Fail("the entry '{:.200}' must hold a tensor.", name_);
    uint64_t tensor_size = Length(end);
    if (in_.offset() + tensor_size != end)
      in_.Fail("the entry '{:.200}' has more than a tensor.", name_);
    TensorFields(end);
    if (in_.offset() != end) in_.Fail("the fields of '{:.200}' pass its end.", name_);
    ++entries_;
    name_.clear();
  }

  void TensorFields(uint64_t end) {
    std::vector<int64_t> dims;
    uint64_t key = in_.Varint();
    for (; key == kDimKey || key == kPackedDimsKey; key = in_.Varint()) {
      uint64_t stop = key == kDimKey ? in_.offset() + 1 : Length(end) + in_.offset();
      while (in_.offset() < stop) {
        dims.push_back(static_cast<int64_t>(in_.Varint()));
        if (dims.back() < 0 || dims.size() > kMaxRank)
          in_.Fail("the shape of '{:.200}' is not valid.", name_);
      }
    }
    if (key != kTypeKey) in_.Fail("the tensor '{:.200}' must have a type.", name_);
    std::string dtype = in_.String(Length(end), kMaxTypeBytes);
    if (in_.Varint() != kContentKey) in_.Fail("the tensor '{:.200}' must have a content.", name_);
    Content(std::move(dtype), std::move(dims), Length(end));
    ContentSum(end);
  }

  // Fails for what no file of this size can hold.
  Shape ShapeOf(const Begun& tensor) {
    try {
      Shape shape(tensor.dims);
      if (static_cast<uint64_t>(shape.size()) <= in_.size() / ItemSize(tensor.dtype)) return shape;
    } catch (const Error& error) {
      in_.Fail("the shape of '{:.200}' is not valid: {}.", name_, error.message());
    }
    in_.Fail("'{:.200}' of type {} and shape [{}] is larger than the file.", name_, tensor.type,
             fmt::join(tensor.dims, ", "));
  }

  void Content(std::string type, std::vector<int64_t> dims, uint64_t length) {
    if (tensor_.filled == tensor_.bytes || tensor_.name != name_) {
      FinishTensor();
      Begin(std::move(type), std::move(dims), length);
    } else if (tensor_.type != type || tensor_.dims != dims) {
      in_.Fail("two slices of '{:.200}' differ in type or shape.", name_);
    }
    if (length > tensor_.bytes - tensor_.filled || (length == 0 && tensor_.bytes != 0)) {
      in_.Fail("'{:.200}' of type {} and shape [{}] must have {} bytes, but got {}.", name_,
               tensor_.type, fmt::join(tensor_.dims, ", "), tensor_.bytes, tensor_.filled + length);
    }
    std::byte* part = tensor_.memory == nullptr ? nullptr : tensor_.memory + tensor_.filled;
    part_sum_ = in_.ReadElements(tensor_.dtype, part, length, 0, name_);
    tensor_.filled += length;
  }

  void Begin(std::string type, std::vector<int64_t> dims, uint64_t length) {
    if (!names_.insert(name_).second) in_.Fail("'{:.200}' occurs twice.", name_);
    tensor_ = {name_, std::move(type), std::move(dims)};
    bool is_text = tensor_.type == kTextType;
    if (is_text && length % 4 != 0)
      in_.Fail("the text '{:.200}' must have a multiple of 4 bytes, but got {}.", name_, length);
    if (!is_text && !DTypeFromName(tensor_.type, &tensor_.dtype))
      in_.Fail("'{:.200}' has the unknown type '{}'.", name_, tensor_.type);
    Shape shape = is_text ? Shape{} : ShapeOf(tensor_);
    tensor_.bytes =
        is_text ? length : static_cast<uint64_t>(shape.size()) * ItemSize(tensor_.dtype);
    taken_ += tensor_.bytes;
    if (taken_ > in_.size())
      in_.Fail("the tensors up to '{:.200}' are larger than the file.", name_);
    if (options_.choose && !options_.choose(name_)) return;
    CheckpointValue& value = found_.emplace_back(CheckpointValue{name_, {}, {}});
    if (is_text) {
      value.text.emplace(length, '\0');
      tensor_.memory = reinterpret_cast<std::byte*>(value.text->data());
    } else {
      value.tensor = Tensor(tensor_.dtype, shape);
      tensor_.memory = value.tensor.data<std::byte>();
    }
  }

  void ContentSum(uint64_t end) {
    if (in_.offset() == end) {
      if (head_) in_.Fail("the checksum of '{:.200}' is missing.", name_);
      return;
    }
    if (in_.Varint() != kContentCrcKey)
      in_.Fail("the tensor '{:.200}' has an unknown field.", name_);
    uint32_t want = in_.Fixed32();
    if (part_sum_ != want) {
      in_.Fail("the checksum of '{:.200}' must be {:08x}, but got {:08x}.", name_, want, part_sum_);
    }
  }

  // Slices must have filled the last tensor before another one begins.
  void FinishTensor() {
    if (tensor_.filled == tensor_.bytes) return;
    in_.Fail("'{:.200}' of type {} and shape [{}] must have {} bytes, but got {}.", tensor_.name,
             tensor_.type, fmt::join(tensor_.dims, ", "), tensor_.bytes, tensor_.filled);
  }

  FileReader in_;
  const CheckpointLoadOptions& options_;
  std::vector<CheckpointValue> found_;
  std::set<std::string> names_;
  std::string name_;  // of the entry being read, for messages
  Begun tensor_;
  uint32_t part_sum_ = 0;  // of the content being read
  uint64_t taken_ = 0;     // bytes of all tensors
  uint32_t entries_ = 0;
  std::optional<uint32_t> head_;  // the number of Values it announces
  bool tail_ = false;
  uint64_t native_crc_ = 0;
};

}  // namespace

Checkpoint LoadCheckpoint(const std::string& path, const CheckpointLoadOptions& options) {
  return Parser(path, options).Parse();
}

}  // namespace ms
