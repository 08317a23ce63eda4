// An array seen through index maps: the place of an element is offset + sum(stride * index).
#pragma once

#include "ir/graph.h"

namespace ms {

struct StridedView {
  Ints sizes;
  Ints strides;  // in elements
  int64_t offset = 0;

  static StridedView Dense(const Shape& shape);
  // The view through one more node that only moves elements: Reshape and its kin, Transpose,
  // BroadcastTo, Slice, StridedSlice. False, and unchanged, where there is no such view.
  bool Apply(const Node& node);
  // As another shape of equally many elements; false where strides cannot say that.
  bool Reshape(const Shape& shape);
  // Whether it is the whole array in its order.
  bool IsDense() const;
};

}  // namespace ms
