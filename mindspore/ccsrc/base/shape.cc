#include "base/shape.h"

#include <algorithm>

namespace ms {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 47;

}  // namespace

Shape::Shape(std::span<const int64_t> dims) {
  if (dims.size() > static_cast<size_t>(kMaxRank)) {
    Throw(ErrorKind::kValue, "a tensor has at most {} dimensions, but got {}", kMaxRank,
          dims.size());
  }
  bool zero = false;
  for (int64_t d : dims) {
    if (d < 0) Throw(ErrorKind::kValue, "the sizes of a shape must not be negative, but got {}", d);
    zero |= d == 0;
    dims_[rank_++] = d;
  }
  for (int64_t d : dims) {
    // The product of the non-zero sizes is bounded too, so that strides never overflow.
    if (d != 0 && size_ > kMaxElements / d) {
      Throw(ErrorKind::kValue, "a tensor of shape {} has too many elements", ToString());
    }
    size_ *= std::max<int64_t>(d, 1);
  }
  if (zero) size_ = 0;
}

int64_t Shape::Product(int from, int to) const {
  int64_t product = 1;
  for (int i = from; i < to; ++i) product *= dims_[i];
  return product;
}

Shape Shape::With(int axis, int64_t size) const {
  Ints dims = ToInts();
  dims.at(axis < 0 ? axis + rank_ : axis) = size;
  return Shape(dims);
}

Shape Shape::Insert(int axis, int64_t size) const {
  Ints dims = ToInts();
  int at = axis < 0 ? axis + rank_ + 1 : axis;
  MS_ASSERT(at >= 0 && at <= rank_);
  dims.insert(dims.begin() + at, size);
  return Shape(dims);
}

Shape Shape::Erase(int axis) const {
  Ints dims = ToInts();
  int at = axis < 0 ? axis + rank_ : axis;
  MS_ASSERT(at >= 0 && at < rank_);
  dims.erase(dims.begin() + at);
  return Shape(dims);
}

bool Shape::operator==(const Shape& other) const {
  return rank_ == other.rank_ && std::equal(begin(), end(), other.begin());
}

size_t Shape::Hash() const {
  size_t hash = static_cast<size_t>(rank_) + 1;
  for (int64_t d : *this) hash = HashCombine(hash, static_cast<size_t>(d));
  return hash;
}

std::string Shape::ToString() const { return fmt::format("[{}]", fmt::join(begin(), end(), ", ")); }

Ints Strides(const Shape& shape) {
  Ints strides(shape.rank());
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

bool Broadcast(const Shape& a, const Shape& b, Shape* out) {
  int rank = std::max(a.rank(), b.rank());
  Ints dims(rank);
  for (int i = 0; i < rank; ++i) {
    int ia = i - (rank - a.rank());
    int ib = i - (rank - b.rank());
    int64_t da = ia < 0 ? 1 : a[ia];
    int64_t db = ib < 0 ? 1 : b[ib];
    if (da != db && da != 1 && db != 1) return false;
    dims[i] = da == 1 ? db : da;
  }
  *out = Shape(dims);
  return true;
}

}  // namespace ms
