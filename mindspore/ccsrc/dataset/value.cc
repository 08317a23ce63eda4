// See value.h.
#include "dataset/value.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace ms::dataset {

std::string Element::name() const {
  switch (kind) {
    case Kind::kText:
      return fmt::format("<U{}", size / 4);
    case Kind::kBytes:
      return fmt::format("|S{}", size);
    case Kind::kOpaque:
      return "object";
    case Kind::kNumber:
      break;
  }
  std::string text(Name(dtype));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

DimsRef MakeDims(Dims dims) {
  static const DimsRef scalar = std::make_shared<const Dims>();
  return dims.empty() ? scalar : std::make_shared<const Dims>(std::move(dims));
}

std::string ToString(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); }

namespace {

[[noreturn]] void FailSize(const Dims& dims) {
  Throw(ErrorKind::kValue, "an array must fit into memory, but got one of shape {}",
        ToString(dims));
}

}  // namespace

int64_t CountOf(const Dims& dims) {
  int64_t count = 1;
  bool overflow = false;
  for (int64_t dim : dims) {
    if (dim == 0) return 0;
    overflow = __builtin_mul_overflow(count, dim, &count) || overflow;
  }
  if (overflow) FailSize(dims);
  return count;
}

Value Value::Make(Element element, DimsRef dims) {
  size_t bytes;
  if (__builtin_mul_overflow(CountOf(*dims), element.size, &bytes) || bytes > PTRDIFF_MAX) {
    FailSize(*dims);
  }
  Value value;
  value.element = element;
  value.dims = std::move(dims);
  value.buffer = Buffer::Allocate(std::max<size_t>(value.bytes(), 1));
  value.data = value.memory();
  return value;
}

Value Value::Opaque(std::shared_ptr<const void> owner) {
  Value value;
  value.element = {Kind::kOpaque, DType::kUInt8, 0};
  value.dims = MakeDims({});
  value.owner = std::move(owner);
  return value;
}

namespace {

template <class T>
int64_t First(const Value& value) {
  return static_cast<int64_t>(*value.as<T>());
}

}  // namespace

int64_t IntegerOf(const Value& value, const char* what) {
  if (value.element.kind == Kind::kNumber && value.count() == 1) {
    switch (value.element.dtype) {
      case DType::kBool:
      case DType::kUInt8:
        return First<uint8_t>(value);
      case DType::kInt8:
        return First<int8_t>(value);
      case DType::kInt16:
        return First<int16_t>(value);
      case DType::kUInt16:
        return First<uint16_t>(value);
      case DType::kInt32:
        return First<int32_t>(value);
      case DType::kUInt32:
        return First<uint32_t>(value);
      case DType::kInt64:
        return First<int64_t>(value);
      case DType::kUInt64:
        return First<uint64_t>(value);
      default:
        break;
    }
  }
  Throw(ErrorKind::kValue, "{} must be an integer, but got {} of shape {}", what,
        value.element.name(), ToString(*value.dims));
}

}  // namespace ms::dataset
