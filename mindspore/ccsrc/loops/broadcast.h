// How an input of a smaller shape is repeated along the elements of a larger one.
#pragma once

#include <array>
#include <cstdint>

#include "base/shape.h"
#include "loops/vector_table.h"

namespace ms::loops {

// Row-major walk over `to` through the dense elements of `from`, with neighbouring dimensions
// merged.
class BroadcastWalk {
 public:
  // `from` must broadcast to `to`, and `to` must not be empty.
  BroadcastWalk(const Shape& from, const Shape& to);

  // Copies the elements that stand at [begin, begin + count) of `to`, of `item` bytes each; `fill`
  // repeats one of them.
  void Expand(const void* source, int64_t begin, int64_t count, size_t item, FillFn fill,
              void* out) const;

 private:
  int rank_ = 0;  // innermost dimension first; its stride is 0 or 1
  std::array<int64_t, kMaxRank> sizes_ = {};
  std::array<int64_t, kMaxRank> strides_ = {};
};

}  // namespace ms::loops
