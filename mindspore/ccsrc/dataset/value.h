// What a row of the pipeline is made of: numbers of any dtype, text, and objects that only the
// language above knows. A value never changes once it is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "tensor/buffer.h"

namespace ms::dataset {

// Text is fixed-width as in NumPy: UCS-4 code points or bytes, filled up with zeros.
enum class Kind : uint8_t { kNumber, kText, kBytes, kOpaque };

struct Element {
  Kind kind = Kind::kNumber;
  DType dtype = DType::kFloat32;  // of numbers
  uint32_t size = 4;              // bytes of one

  static Element Of(DType dtype) {
    return {Kind::kNumber, dtype, static_cast<uint32_t>(ItemSize(dtype))};
  }
  bool text() const { return kind == Kind::kText || kind == Kind::kBytes; }
  bool operator==(const Element&) const = default;
  std::string name() const;  // as NumPy spells it
};

using Dims = std::vector<int64_t>;
using DimsRef = std::shared_ptr<const Dims>;
DimsRef MakeDims(Dims dims);
std::string ToString(const Dims& dims);  // "[2, 3]"
// The elements of an array; throws ValueError where no memory could hold them.
int64_t CountOf(const Dims& dims);

struct Value {
  Element element;
  DimsRef dims;
  BufferRef buffer;                   // where it is memory of ours
  std::shared_ptr<const void> owner;  // else who keeps it alive
  const std::byte* data = nullptr;
  bool borrowed = false;  // part of a source that must not be written to: given out as a copy

  // Uninitialised memory of its own; throws ValueError where there cannot be so much.
  static Value Make(Element element, DimsRef dims);
  static Value Opaque(std::shared_ptr<const void> owner);
  template <class T>
  static Value Scalar(T number) {
    Value value = Make(Element::Of(kDTypeOf<T>), MakeDims({}));
    *reinterpret_cast<T*>(value.memory()) = number;
    return value;
  }

  bool opaque() const { return element.kind == Kind::kOpaque; }
  int64_t count() const { return CountOf(*dims); }
  size_t bytes() const { return static_cast<size_t>(count()) * element.size; }
  // Only for who made it, before anybody else has it.
  std::byte* memory() const { return static_cast<std::byte*>(buffer->data()); }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data);
  }
};

// An integer or a truth value as a number; throws ValueError for anything else.
int64_t IntegerOf(const Value& value, const char* what);

}  // namespace ms::dataset
