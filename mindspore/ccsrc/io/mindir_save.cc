// Writing MindIR files: sizes first, then the bytes. Contents of tensors go to the file from where
// they lie; the rest of a graph is small and is collected.
#include <bit>
#include <unordered_map>

#include "base/error.h"
#include "io/atomic_file.h"
#include "io/mindir_format.h"

namespace ms {
namespace {

class Writer {
 public:
  Writer(const std::string& path, const std::function<void()>& poll) : file_(path) {
    file_.set_poll(poll);
  }

  void Write(const ProtoMessage& model) {
    uint64_t body = SizeOf(model);
    auto framed = [](uint64_t key, uint64_t bytes) {
      return VarintSize(key) + VarintSize(bytes) + bytes;
    };
    std::string head(kMindIrMagic);
    PutFixed<uint64_t>(head, framed(kMindIrHeadKey, kMindIrHeadBytes) + body +
                                 framed(kMindIrTailKey, kMindIrTailBytes));
    PutBytes(text_, kMindIrHeadField, head);
    Put(model);
    PutVarint(text_, kMindIrTailKey);
    PutVarint(text_, kMindIrTailBytes);
    Flush();
    PutFixed(text_, text_sum_);
    PutFixed(text_, content_sum_);
    Flush();
    file_.Commit();
  }

 private:
  // Of the message without its own frame; kept for Put.
  uint64_t SizeOf(const ProtoMessage& message) {
    uint64_t size = 0;
    for (const auto& [field, value] : message.values)
      size += VarintSize(Key(field->number, WireOf(field->kind))) + SizeOf(*field, value);
    return sizes_[&message] = size;
  }

  uint64_t SizeOf(const FieldDef& field, const ProtoValue& value) {
    switch (field.kind) {
      case FieldKind::kInteger:
        return VarintSize(static_cast<uint64_t>(std::get<int64_t>(value)));
      case FieldKind::kFloat:
        return 4;
      case FieldKind::kDouble:
        return 8;
      default:
        break;
    }
    uint64_t bytes = 0;
    if (auto* text = std::get_if<std::string>(&value))
      bytes = text->size();
    else if (auto* tensor = std::get_if<std::unique_ptr<Tensor>>(&value))
      bytes = (*tensor)->bytes();
    else
      bytes = SizeOf(*std::get<std::unique_ptr<ProtoMessage>>(value));
    return VarintSize(bytes) + bytes;
  }

  void Put(const ProtoMessage& message) {
    for (const auto& [field, value] : message.values) {
      PutVarint(text_, Key(field->number, WireOf(field->kind)));
      Put(*field, value);
    }
  }

  void Put(const FieldDef& field, const ProtoValue& value) {
    switch (field.kind) {
      case FieldKind::kInteger:
        return PutVarint(text_, static_cast<uint64_t>(std::get<int64_t>(value)));
      case FieldKind::kFloat:
        return PutFixed(text_, static_cast<float>(std::get<double>(value)));
      case FieldKind::kDouble:
        return PutFixed(text_, std::get<double>(value));
      case FieldKind::kContent:
        return PutContent(*std::get<std::unique_ptr<Tensor>>(value));
      case FieldKind::kMessage: {
        const ProtoMessage& inner = *std::get<std::unique_ptr<ProtoMessage>>(value);
        PutVarint(text_, sizes_.at(&inner));
        return Put(inner);
      }
      default: {
        const auto& text = std::get<std::string>(value);
        PutVarint(text_, text.size());
        text_.append(text);
      }
    }
  }

  void PutContent(const Tensor& tensor) {
    PutVarint(text_, tensor.bytes());
    Flush();
    auto bytes = std::span(static_cast<const std::byte*>(tensor.raw()), tensor.bytes());
    content_sum_ = file_.WriteSummed(bytes, content_sum_);
  }

  void Flush() {
    text_sum_ = file_.WriteSummed(std::as_bytes(std::span(text_)), text_sum_);
    text_.clear();
  }

  AtomicFile file_;
  std::string text_;
  std::unordered_map<const ProtoMessage*, uint64_t> sizes_;
  uint32_t text_sum_ = 0, content_sum_ = 0;
};

}  // namespace

void WriteMindIr(const std::string& path, const ProtoMessage& model,
                 const std::function<void()>& poll) {
  Writer(path, poll).Write(model);
}

}  // namespace ms
