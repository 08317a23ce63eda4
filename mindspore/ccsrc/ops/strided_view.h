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
  // As another shape of equally many elements; false, and unchanged, where strides cannot say that.
  bool Reshape(const Shape& shape);
  void Transpose(const Ints& perm);
  void Broadcast(const Shape& shape);
  // A slice with the attributes of StridedSlice.
  bool Slice(const OpDef& op, const Attrs& attrs, const Shape& result);
  // Whether it is the whole array in its order.
  bool IsDense() const;
};

}  // namespace ms
