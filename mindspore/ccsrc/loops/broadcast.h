// How the elements of an input are laid along those of a loop: repeated, or read in strides.
#pragma once

#include <array>
#include <cstdint>

#include "base/shape.h"
#include "loops/vector_table.h"

namespace ms::loops {

// Where an input's elements are: the first one, and the distance along each axis of the loop.
struct Access {
  int64_t offset = 0;  // in elements
  Ints strides;        // likewise; 0: repeated
};
// The access of a dense array of shape `from` that broadcasts to `to`.
Access Broadcast(const Shape& from, const Shape& to);
bool IsDense(const Access& access, const Ints& sizes);
bool IsUniform(const Access& access, const Ints& sizes);

// Row-major walk over `to` through the dense elements of `from`, with neighbouring dimensions
// merged.
class BroadcastWalk {
 public:
  // `from` must broadcast to `to`, and `to` must not be empty.
  BroadcastWalk(const Shape& from, const Shape& to)
      : BroadcastWalk(Broadcast(from, to), to.ToInts()) {}
  // Axes of `sizes`, outermost first, none of them empty.
  BroadcastWalk(const Access& access, const Ints& sizes);

  // Copies the elements that stand at [begin, begin + count) of the loop, of `item` bytes each;
  // `fill` repeats one of them.
  void Expand(const void* source, int64_t begin, int64_t count, size_t item, FillFn fill,
              void* out) const;

 private:
  int rank_ = 0;  // innermost dimension first
  int64_t offset_ = 0;
  std::array<int64_t, kMaxRank> sizes_ = {};
  std::array<int64_t, kMaxRank> strides_ = {};
};

}  // namespace ms::loops
