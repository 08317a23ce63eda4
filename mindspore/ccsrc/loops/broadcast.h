// How the elements of an input are laid along those of a loop: repeated, or read in strides.
#pragma once

#include <cstdint>

#include "base/shape.h"

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

}  // namespace ms::loops
