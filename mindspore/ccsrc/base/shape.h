// Shape: a small value of at most kMaxRank sizes whose product is known not to overflow. A size may
// be symbolic (base/dim.h): who can compute with that reads dim(i); everything that reads integers
// refuses.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/dim.h"
#include "base/error.h"

namespace ms {

inline constexpr int kMaxRank = 8;
using Ints = std::vector<int64_t>;

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  Shape(std::initializer_list<Dim> dims) : Shape(Dims(dims)) {}
  Shape(const Ints& dims)
      : Shape(std::span<const int64_t>(dims)) {}     // NOLINT: a shape is its sizes
  Shape(const Dims& dims) : Shape(CodesOf(dims)) {}  // NOLINT
  // Of sizes or their codes. Throws ValueError for a negative size, more than kMaxRank dimensions,
  // or 2^47 elements and more.
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  bool symbolic() const { return symbolic_; }
  // Sizes that may be symbolic; `axis` may be negative.
  Dim dim(int axis) const { return Dim::FromCode(dims_[axis < 0 ? axis + rank_ : axis]); }
  Dims dims() const { return DimsFromCodes(codes()); }
  Dim elements() const { return Dim::FromCode(size_); }  // 1 for rank 0
  bool empty() const { return symbolic_ ? elements() == 0 : size_ == 0; }
  std::span<const int64_t> codes() const { return {dims_, static_cast<size_t>(rank_)}; }
  Ints ToCodes() const { return Ints(dims_, dims_ + rank_); }  // for attributes that hold sizes

  // Integers; they refuse symbolic sizes.
  int64_t size() const { return elements().value(); }
  int64_t operator[](int axis) const {
    int64_t size = dims_[axis < 0 ? axis + rank_ : axis];
    if (size < 0) Dim::Refuse();
    return size;
  }
  int64_t back() const { return (*this)[rank_ - 1]; }
  const int64_t* begin() const {
    if (symbolic_) Dim::Refuse();
    return dims_;
  }
  const int64_t* end() const { return begin() + rank_; }
  Ints ToInts() const { return Ints(begin(), end()); }
  // Product of the sizes in [from, to).
  int64_t Product(int from, int to) const { return Elements(from, to).value(); }

  Dim Elements(int from, int to) const;
  Shape Part(int from, int to) const;  // the sizes in [from, to)
  // Copies with one axis changed; axes may be negative and must be in range.
  Shape With(int axis, Dim size) const;
  Shape Insert(int axis, Dim size) const;
  Shape Erase(int axis) const;

  bool operator==(const Shape& other) const;  // of symbolic sizes: surely equal
  size_t Hash() const;
  std::string ToString() const;  // "[2, 3]"

 private:
  int64_t dims_[kMaxRank] = {};  // sizes, or codes of symbolic ones, which are negative
  int64_t size_ = 1;             // likewise
  int rank_ = 0;
  bool symbolic_ = false;
};

// As ==, but what only the sizes of a call decide becomes a guard (base/dim.h).
bool SameSizes(const Shape& a, const Shape& b);
// The sizes of all parts in a row.
Shape Join(std::initializer_list<Shape> parts);

// Row-major strides in elements.
Ints Strides(const Shape& shape);

// NumPy broadcasting. False where two sizes differ and neither is 1.
bool Broadcast(const Shape& a, const Shape& b, Shape* out);

inline size_t HashCombine(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2));
}

}  // namespace ms

template <>
struct fmt::formatter<ms::Shape> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const ms::Shape& shape, Context& context) const {
    return fmt::formatter<std::string>::format(shape.ToString(), context);
  }
};
