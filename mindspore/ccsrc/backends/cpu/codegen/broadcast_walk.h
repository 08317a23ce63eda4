// Elements of an input that is repeated or read in strides, brought into the order of a loop.
#pragma once

#include <array>
#include <cstdint>

#include "backends/cpu/isa/vector_table.h"
#include "loops/broadcast.h"

namespace ms::cpu {

// Row-major walk over `to` through the dense elements of `from`, with neighbouring dimensions
// merged.
class BroadcastWalk {
 public:
  // `from` must broadcast to `to`, and `to` must not be empty.
  BroadcastWalk(const Shape& from, const Shape& to)
      : BroadcastWalk(loops::Broadcast(from, to), to.ToInts()) {}
  // Axes of `sizes`, outermost first, none of them empty.
  BroadcastWalk(const loops::Access& access, const Ints& sizes);

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

}  // namespace ms::cpu
