// Reading checkpoints: fields in the order in which every writer puts them, sizes checked before
// memory is taken, contents read straight into the memory of their tensors.
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

class Parser {
 public:
  Parser(const std::string& path, const CheckpointLoadOptions& options) : in_(path, "checkpoint") {
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
    return {std::move(tensors_), native || tail_};
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
      Value();
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
    if (values_ != *head_) in_.Fail("there must be {} entries, but got {}.", *head_, values_);
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

  void Value() {
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
    ++values_;
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

  // Bytes a tensor of this type and shape has; fails for those that no file of this size can hold.
  uint64_t TensorBytes(const std::string& dtype, const std::vector<int64_t>& dims,
                       uint64_t length) {
    if (dtype == kTextType) {
      if (length % 4 != 0)
        in_.Fail("the text '{:.200}' must have a multiple of 4 bytes, but got {}.", name_, length);
      return length;
    }
    DType type;
    if (!DTypeFromName(dtype, &type))
      in_.Fail("'{:.200}' has the unknown type '{}'.", name_, dtype);
    uint64_t bytes = ItemSize(type);
    if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
    for (int64_t dim : dims) {
      if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes) || bytes > in_.size()) {
        in_.Fail("'{:.200}' of type {} and shape [{}] is larger than the file.", name_, dtype,
                 fmt::join(dims, ", "));
      }
    }
    return bytes;
  }

  void Content(std::string dtype, std::vector<int64_t> dims, uint64_t length) {
    bool continues =
        !tensors_.empty() && tensors_.back().name == name_ && filled_ < tensors_.back().bytes;
    if (!continues) {
      FinishTensor();
      Begin(std::move(dtype), std::move(dims), length);
    } else if (tensors_.back().dtype != dtype || tensors_.back().dims != dims) {
      in_.Fail("two slices of '{:.200}' differ in type or shape.", name_);
    }
    CheckpointTensor& tensor = tensors_.back();
    if (length > tensor.bytes - filled_ || (length == 0 && tensor.bytes != 0)) {
      in_.Fail("'{:.200}' of type {} and shape [{}] must have {} bytes, but got {}.", name_,
               tensor.dtype, fmt::join(tensor.dims, ", "), tensor.bytes, filled_ + length);
    }
    part_ = std::span(tensor.content.get() + filled_, length);
    in_.ReadContent(part_);
    auto is_bool = [](std::byte b) { return b <= std::byte{1}; };
    if (tensor.dtype == "Bool" && !std::all_of(part_.begin(), part_.end(), is_bool)) {
      in_.Fail("'{:.200}' of type Bool has an element that is neither 0 nor 1.", name_);
    }
    filled_ += length;
  }

  void Begin(std::string dtype, std::vector<int64_t> dims, uint64_t length) {
    if (!names_.insert(name_).second) in_.Fail("'{:.200}' occurs twice.", name_);
    uint64_t bytes = TensorBytes(dtype, dims, length);
    taken_ += bytes;
    if (taken_ > in_.size())
      in_.Fail("the tensors up to '{:.200}' are larger than the file.", name_);
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, std::max<uint64_t>(bytes, 64)) != 0) {
      Throw(ErrorKind::kMemory, "Cannot take {} bytes for '{}' of the checkpoint.", bytes, name_);
    }
    tensors_.push_back({name_, std::move(dtype), std::move(dims), {}, bytes});
    tensors_.back().content.reset(static_cast<std::byte*>(memory));
    filled_ = 0;
  }

  void ContentSum(uint64_t end) {
    if (in_.offset() == end) {
      if (head_) in_.Fail("the checksum of '{:.200}' is missing.", name_);
      return;
    }
    if (in_.Varint() != kContentCrcKey)
      in_.Fail("the tensor '{:.200}' has an unknown field.", name_);
    uint32_t want = in_.Fixed32();
    uint32_t got = Crc32c(0, part_);
    if (got != want)
      in_.Fail("the checksum of '{:.200}' must be {:08x}, but got {:08x}.", name_, want, got);
  }

  // Slices must have filled the last tensor before another one begins.
  void FinishTensor() {
    if (tensors_.empty() || filled_ == tensors_.back().bytes) return;
    const CheckpointTensor& tensor = tensors_.back();
    in_.Fail("'{:.200}' of type {} and shape [{}] must have {} bytes, but got {}.", tensor.name,
             tensor.dtype, fmt::join(tensor.dims, ", "), tensor.bytes, filled_);
  }

  FileReader in_;
  std::vector<CheckpointTensor> tensors_;
  std::set<std::string> names_;
  std::string name_;  // of the entry being read, for messages
  std::span<std::byte> part_;
  uint64_t filled_ = 0;  // bytes of the last tensor that were read
  uint64_t taken_ = 0;   // bytes of all tensors
  uint32_t values_ = 0;
  std::optional<uint32_t> head_;  // the number of Values it announces
  bool tail_ = false;
  uint64_t native_crc_ = 0;
};

}  // namespace

Checkpoint LoadCheckpoint(const std::string& path, const CheckpointLoadOptions& options) {
  return Parser(path, options).Parse();
}

}  // namespace ms
