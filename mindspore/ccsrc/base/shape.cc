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
    bool symbolic = Dim::IsSymbolicCode(d);
    if (d < 0 && !symbolic)
      Throw(ErrorKind::kValue, "the sizes of a shape must not be negative, but got {}", d);
    zero |= d == 0;
    symbolic_ |= symbolic;
    dims_[rank_++] = d;
  }
  Dim symbols = 1;
  for (int64_t d : dims) {
    if (d < 0) {
      symbols *= Dim::FromCode(d);
      continue;
    }
    // The product of the non-zero sizes is bounded too, so that strides never overflow.
    if (d != 0 && size_ > kMaxElements / d) {
      Throw(ErrorKind::kValue, "a tensor of shape {} has too many elements", ToString());
    }
    size_ *= std::max<int64_t>(d, 1);
  }
  if (zero)
    size_ = 0;
  else if (symbolic_)
    size_ = (symbols * size_).code();
}

Dim Shape::Elements(int from, int to) const {
  Dim product = 1;
  for (int i = from; i < to; ++i) product *= dim(i);
  return product;
}

Shape Shape::Part(int from, int to) const {
  return Shape(codes().subspan(static_cast<size_t>(from), static_cast<size_t>(to - from)));
}

Shape Shape::With(int axis, Dim size) const {
  Ints codes = ToCodes();
  codes.at(static_cast<size_t>(axis < 0 ? axis + rank_ : axis)) = size.code();
  return Shape(codes);
}

Shape Shape::Insert(int axis, Dim size) const {
  Ints codes = ToCodes();
  int at = axis < 0 ? axis + rank_ + 1 : axis;
  MS_ASSERT(at >= 0 && at <= rank_);
  codes.insert(codes.begin() + at, size.code());
  return Shape(codes);
}

Shape Shape::Erase(int axis) const {
  Ints codes = ToCodes();
  int at = axis < 0 ? axis + rank_ : axis;
  MS_ASSERT(at >= 0 && at < rank_);
  codes.erase(codes.begin() + at);
  return Shape(codes);
}

bool Shape::operator==(const Shape& other) const {
  return rank_ == other.rank_ && std::equal(dims_, dims_ + rank_, other.dims_);
}

size_t Shape::Hash() const {
  size_t hash = static_cast<size_t>(rank_) + 1;
  for (int64_t d : codes()) hash = HashCombine(hash, static_cast<size_t>(d));
  return hash;
}

std::string Shape::ToString() const {
  if (symbolic_) return fmt::format("[{}]", fmt::join(dims(), ", "));
  return fmt::format("[{}]", fmt::join(codes(), ", "));
}

bool SameSizes(const Shape& a, const Shape& b) {
  if (a == b) return true;
  if (a.rank() != b.rank() || !(a.symbolic() || b.symbolic())) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (!(a.dim(i) == b.dim(i))) return false;
  }
  return true;
}

Shape Join(std::initializer_list<Shape> parts) {
  Ints codes;
  for (const Shape& part : parts) {
    codes.insert(codes.end(), part.codes().begin(), part.codes().end());
  }
  return Shape(codes);
}

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
  if (a == b) {
    *out = a;
    return true;
  }
  int rank = std::max(a.rank(), b.rank());
  Dims dims(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    int ia = i - (rank - a.rank());
    int ib = i - (rank - b.rank());
    Dim da = ia < 0 ? Dim(1) : a.dim(ia);
    Dim db = ib < 0 ? Dim(1) : b.dim(ib);
    Dim& result = dims[static_cast<size_t>(i)];
    if (da.Is(1) || db.Is(1))
      result = da.Is(1) ? db : da;
    else if (da == db)
      result = da.symbolic() ? db : da;  // a number says more than a symbol
    else if (da == 1 || db == 1)
      result = da == 1 ? db : da;
    else
      return false;
  }
  *out = Shape(dims);
  return true;
}

}  // namespace ms
