#include "loops/broadcast.h"

namespace ms::loops {

Access Broadcast(const Shape& from, const Shape& to) {
  Access access;
  access.strides.resize(static_cast<size_t>(to.rank()));
  int64_t dense = 1;
  for (int i = 1; i <= from.rank(); ++i) {
    if (from[-i] != 1) access.strides[static_cast<size_t>(to.rank() - i)] = dense;
    dense *= from[-i];
  }
  return access;
}

bool IsDense(const Access& access, const Ints& sizes) {
  int64_t dense = 1;
  for (size_t i = sizes.size(); i-- > 0; dense *= sizes[i]) {
    if (sizes[i] != 1 && access.strides[i] != dense) return false;
  }
  return access.offset == 0;
}

bool IsUniform(const Access& access, const Ints& sizes) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1 && access.strides[i] != 0) return false;
  }
  return true;
}

}  // namespace ms::loops
