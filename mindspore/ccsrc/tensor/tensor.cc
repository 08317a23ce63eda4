#include "tensor/tensor.h"

#include <algorithm>

namespace ms {
namespace {

template <class T>
T FromDouble(double v) {
  if constexpr (std::is_same_v<T, bool>)
    return v != 0;
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return T(static_cast<float>(v));
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return T(static_cast<float>(v));
  else
    return static_cast<T>(v);
}

}  // namespace

Tensor::Tensor(DType dtype, const Shape& shape)
    : Tensor(dtype, shape, Buffer::Allocate(static_cast<size_t>(shape.size()) * ItemSize(dtype))) {}

Tensor::Tensor(DType dtype, const Shape& shape, Memory& memory)
    : Tensor(dtype, shape,
             Buffer::Allocate(static_cast<size_t>(shape.size()) * ItemSize(dtype), memory)) {}

Tensor::Tensor(DType dtype, const Shape& shape, BufferRef buffer, size_t offset_bytes)
    : buffer_(std::move(buffer)), shape_(shape), dtype_(dtype) {
  data_ = static_cast<char*>(buffer_->data()) + offset_bytes;
}

Tensor Tensor::Full(DType dtype, const Shape& shape, double value) {
  Tensor t(dtype, shape);
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    std::fill_n(t.data<T>(), t.size(), FromDouble<T>(value));
  });
  return t;
}

Tensor Tensor::Reshaped(const Shape& shape) const {
  MS_ASSERT(shape.size() == size());
  Tensor t = *this;
  t.shape_ = shape;
  return t;
}

Tensor Tensor::Piece(int64_t first, const Shape& shape) const {
  MS_ASSERT(first >= 0 && first + shape.size() <= size());
  Tensor t = *this;
  t.shape_ = shape;
  t.data_ = static_cast<char*>(data_) + static_cast<size_t>(first) * ItemSize(dtype_);
  return t;
}

Tensor Tensor::Copy() const {
  Tensor t(dtype_, shape_, memory());
  memory().Copy(t.raw(), raw(), bytes());
  return t;
}

Tensor Tensor::In(Memory& to) const {
  Memory& from = memory();
  if (&to == &from) return *this;
  Tensor keep = *this;  // others may run meanwhile, and give this one another value
  if (!from.on_host() && !to.on_host()) return In(HostMemory()).In(to);
  if (from.on_host()) return Tensor(dtype_, shape_, Buffer::Filled(keep.raw(), keep.bytes(), to));
  Tensor t(dtype_, shape_, to);
  from.Fetch(t.raw(), keep.raw(), keep.bytes());
  return t;
}

void Tensor::MakeUnique() {
  if (!unique()) *this = Copy();
}

double Tensor::Item() const {
  MS_ASSERT(size() == 1);
  if (!on_host()) return OnHost().Item();
  return VisitDType(dtype_, [&]<class T>(TypeTag<T>) -> double {
    if constexpr (IsComplex(kDTypeOf<T>))
      return static_cast<double>(data<T>()->real());
    else
      return static_cast<double>(*data<T>());
  });
}

std::string Tensor::ToString() const { return fmt::format("{}{}", Name(dtype_), shape_); }

}  // namespace ms
