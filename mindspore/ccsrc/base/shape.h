// Shape: a small value of at most kMaxRank sizes whose product is known not to overflow.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace ms {

inline constexpr int kMaxRank = 8;
using Ints = std::vector<int64_t>;

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  Shape(const Ints& dims)
      : Shape(std::span<const int64_t>(dims)) {}  // NOLINT: a shape is its sizes
  // Throws ValueError for a negative size, more than kMaxRank dimensions, or 2^47 elements and
  // more.
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  int64_t size() const { return size_; }  // number of elements; 1 for rank 0
  bool empty() const { return size_ == 0; }
  int64_t operator[](int axis) const { return dims_[axis < 0 ? axis + rank_ : axis]; }
  int64_t back() const { return dims_[rank_ - 1]; }
  const int64_t* begin() const { return dims_; }
  const int64_t* end() const { return dims_ + rank_; }
  std::span<const int64_t> dims() const { return {dims_, static_cast<size_t>(rank_)}; }
  Ints ToInts() const { return Ints(begin(), end()); }

  // Product of the sizes in [from, to).
  int64_t Product(int from, int to) const;
  // Copies with one axis changed; axes may be negative and must be in range.
  Shape With(int axis, int64_t size) const;
  Shape Insert(int axis, int64_t size) const;
  Shape Erase(int axis) const;

  bool operator==(const Shape& other) const;
  size_t Hash() const;
  std::string ToString() const;  // "[2, 3]"

 private:
  int64_t dims_[kMaxRank] = {};
  int64_t size_ = 1;
  int rank_ = 0;
};

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
