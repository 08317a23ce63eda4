// Tensor: element type, shape and a dense row-major piece of a Buffer. A value: copies share
// memory, writers call MakeUnique first. It is on the device whose memory that is.
#pragma once

#include <span>
#include <string>

#include "base/dtype.h"
#include "base/shape.h"
#include "tensor/buffer.h"

namespace ms {

class Tensor {
 public:
  Tensor() = default;
  // Uninitialised elements.
  Tensor(DType dtype, const Shape& shape);
  Tensor(DType dtype, const Shape& shape, Memory& memory);
  Tensor(DType dtype, const Shape& shape, BufferRef buffer, size_t offset_bytes = 0);

  template <class T>
  static Tensor Scalar(T value) {
    Tensor t(kDTypeOf<T>, Shape{});
    *t.data<T>() = value;
    return t;
  }
  // A type without elements: what is known of a value before it exists. Not defined().
  static Tensor Typed(DType dtype, const Shape& shape) {
    Tensor t;
    t.dtype_ = dtype;
    t.shape_ = shape;
    return t;
  }
  // `value` converted to `dtype`, in every element.
  static Tensor Full(DType dtype, const Shape& shape, double value);
  template <class T>
  static Tensor FromVector(const std::vector<T>& values, const Shape& shape) {
    Tensor t(kDTypeOf<T>, shape);
    for (size_t i = 0; i < values.size(); ++i) t.data<T>()[i] = values[i];
    return t;
  }

  bool defined() const { return static_cast<bool>(buffer_); }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t size() const { return shape_.size(); }
  size_t bytes() const { return static_cast<size_t>(size()) * ItemSize(dtype_); }
  const BufferRef& buffer() const { return buffer_; }

  // Of a tensor on the host, to be read and written; else for kernels of its device.
  void* raw() const { return data_; }
  template <class T>
  T* data() const {
    return static_cast<T*>(data_);
  }

  Memory& memory() const { return buffer_->memory(); }
  bool on_host() const { return memory().on_host(); }
  // The same value in another memory; itself, where it is there.
  Tensor In(Memory& memory) const;
  Tensor OnHost() const { return on_host() ? *this : In(HostMemory()); }

  // Same elements, other shape of equal size: shares memory.
  Tensor Reshaped(const Shape& shape) const;
  // A dense piece starting at element `first`: shares memory.
  Tensor Piece(int64_t first, const Shape& shape) const;
  Tensor Copy() const;
  // After this no other handle sees writes to this tensor.
  void MakeUnique();
  bool unique() const { return buffer_.unique() && !buffer_->foreign(); }
  // Arrays outside share the memory and may be written to at any time.
  bool exposed() const { return buffer_ && buffer_->exposed(); }

  // The element of a size-1 tensor as a double (complex: real part), wherever it is.
  double Item() const;
  std::string ToString() const;  // "Float32[2, 3]"

 private:
  BufferRef buffer_;
  void* data_ = nullptr;
  Shape shape_;
  DType dtype_ = DType::kFloat32;
};

}  // namespace ms
