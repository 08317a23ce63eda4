#include "dataset/mindrecord/record_column.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "dataset/text.h"

namespace ms {
namespace {

using dataset::Dims;
using dataset::Element;
using dataset::Kind;
using dataset::MakeDims;
using dataset::Value;

DType TypeOf(RecordType type) {
  switch (type) {
    case RecordType::kInt32:
      return DType::kInt32;
    case RecordType::kInt64:
      return DType::kInt64;
    case RecordType::kFloat32:
      return DType::kFloat32;
    default:
      return DType::kFloat64;
  }
}

void PutNumber(RecordType type, const RecordValue& value, std::byte* out) {
  auto put = [out](auto number) { std::memcpy(out, &number, sizeof(number)); };
  switch (type) {
    case RecordType::kInt32:
      return put(static_cast<int32_t>(value.integer));
    case RecordType::kInt64:
      return put(value.integer);
    case RecordType::kFloat32:
      return put(static_cast<float>(value.real));
    default:
      return put(value.real);
  }
}

// The extents of a batch of so many rows, or of a row.
Dims Extents(std::optional<size_t> rows, const std::vector<int64_t>& dims) {
  Dims extents;
  if (rows) extents.push_back(static_cast<int64_t>(*rows));
  extents.insert(extents.end(), dims.begin(), dims.end());
  return extents;
}

Element BytesOfSize(size_t size) {
  return {Kind::kBytes, DType::kUInt8, static_cast<uint32_t>(size)};
}

}  // namespace

RecordColumn::RecordColumn(const RecordField& field, std::optional<size_t> rows)
    : field_(field), rows_(rows) {}

bool RecordColumn::Add(const RecordValue& value) {
  std::string_view content = value.view();
  if (text()) {
    texts_.push_back(dataset::MendedText(content));
    return true;
  }
  // Bytes have one dimension, in which is one of them; empty ones are a zero.
  size_t size = std::max<size_t>(content.size(), bytes() ? 1 : 0);
  if (added_ == 0) MakeRoom(value.dims, size);
  if (field_.shape && value.dims != dims_) return false;
  if (bytes() && size > size_) Widen(size);
  std::byte* out = value_.memory() + added_++ * size_;
  if (!field_.blob()) {
    PutNumber(field_.type, value, out);
    return true;
  }
  if (field_.shape && content.size() != size_) {
    Throw(ErrorKind::kValue, "The field '{}' of a MindRecord file must have {} bytes, but has {}.",
          field_.name, size_, content.size());
  }
  if (!content.empty()) std::memcpy(out, content.data(), content.size());
  std::memset(out + content.size(), 0, size_ - content.size());
  return true;
}

void RecordColumn::MakeRoom(const std::vector<int64_t>& extents, size_t size) {
  static const dataset::DimsRef one = MakeDims({1});
  if (bytes()) {
    value_ = Value::Make(BytesOfSize(size), rows_ ? MakeDims(Extents(rows_, {1})) : one);
    size_ = size;
    return;
  }
  if (field_.shape) dims_ = extents;
  Element element = Element::Of(TypeOf(field_.type));
  size_ = static_cast<size_t>(dataset::CountOf(dims_)) * element.size;
  value_ = Value::Make(element, MakeDims(Extents(rows_, dims_)));
}

void RecordColumn::Widen(size_t size) {
  Value wider = Value::Make(BytesOfSize(size), value_.dims);
  for (size_t row = 0; row < added_; ++row) {
    std::byte* out = wider.memory() + row * size;
    std::memcpy(out, value_.memory() + row * size_, size_);
    std::memset(out + size_, 0, size - size_);
  }
  value_ = std::move(wider);
  size_ = size;
}

Value RecordColumn::Take() && {
  if (!text()) return std::move(value_);
  std::vector<std::string_view> texts(texts_.begin(), texts_.end());
  return dataset::TextsOf(texts, MakeDims(Extents(rows_, {})));
}

}  // namespace ms
