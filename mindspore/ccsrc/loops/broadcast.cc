#include "loops/broadcast.h"

#include <algorithm>
#include <cstring>

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

BroadcastWalk::BroadcastWalk(const Access& access, const Ints& sizes) : offset_(access.offset) {
  for (size_t i = sizes.size(); i-- > 0;) {
    int64_t size = sizes[i], stride = access.strides[i];
    if (size == 1) continue;
    bool follows = rank_ > 0 && stride == strides_[rank_ - 1] * sizes_[rank_ - 1];
    if (follows) {
      sizes_[rank_ - 1] *= size;
    } else {
      sizes_[rank_] = size;
      strides_[rank_++] = stride;
    }
  }
  if (rank_ == 0) {
    sizes_[0] = 1;
    rank_ = 1;
  }
}

namespace {

template <class T>
void Gather(void* to, const void* from, int64_t stride, int64_t n) {
  auto* y = static_cast<T*>(to);
  const auto* x = static_cast<const T*>(from);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i * stride];
}

void GatherItems(void* to, const void* from, int64_t stride, int64_t n, size_t item) {
  switch (item) {
    case 1:
      return Gather<uint8_t>(to, from, stride, n);
    case 2:
      return Gather<uint16_t>(to, from, stride, n);
    case 4:
      return Gather<uint32_t>(to, from, stride, n);
    case 8:
      return Gather<uint64_t>(to, from, stride, n);
    default:
      return Gather<std::array<uint64_t, 2>>(to, from, stride, n);
  }
}

}  // namespace

void BroadcastWalk::Expand(const void* source, int64_t begin, int64_t count, size_t item,
                           FillFn fill, void* out) const {
  const char* from = static_cast<const char*>(source);
  char* to = static_cast<char*>(out);
  const auto size = static_cast<int64_t>(item);
  std::array<int64_t, kMaxRank> at = {};
  int64_t offset = offset_;
  int64_t rest = begin;
  for (int d = 0; d < rank_; ++d) {
    at[d] = rest % sizes_[d];
    rest /= sizes_[d];
    offset += at[d] * strides_[d];
  }
  while (count > 0) {
    int64_t run = std::min(sizes_[0] - at[0], count);
    if (strides_[0] == 0) {
      fill(to, from + offset * size, run);
    } else if (strides_[0] == 1) {
      std::memcpy(to, from + offset * size, static_cast<size_t>(run * size));
    } else {
      GatherItems(to, from + offset * size, strides_[0], run, item);
    }
    to += run * size;
    count -= run;
    offset -= at[0] * strides_[0];
    at[0] = 0;
    for (int d = 1; d < rank_; ++d) {
      offset += strides_[d];
      if (++at[d] < sizes_[d]) break;
      offset -= sizes_[d] * strides_[d];
      at[d] = 0;
    }
  }
}

}  // namespace ms::loops
