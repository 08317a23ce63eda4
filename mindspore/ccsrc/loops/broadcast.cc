#include "loops/broadcast.h"

#include <algorithm>
#include <cstring>

namespace ms::loops {

BroadcastWalk::BroadcastWalk(const Shape& from, const Shape& to) {
  int64_t dense = 1;
  for (int i = 0; i < to.rank(); ++i) {
    int64_t size = to[to.rank() - 1 - i];
    int64_t own = i < from.rank() ? from[from.rank() - 1 - i] : 1;
    if (size == 1) continue;
    int64_t stride = own == 1 ? 0 : dense;
    dense *= own;
    bool repeats = rank_ > 0 && stride == 0 && strides_[rank_ - 1] == 0;
    bool follows = rank_ > 0 && stride != 0 && stride == strides_[rank_ - 1] * sizes_[rank_ - 1];
    if (repeats || follows) {
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

void BroadcastWalk::Expand(const void* source, int64_t begin, int64_t count, size_t item,
                           FillFn fill, void* out) const {
  const char* from = static_cast<const char*>(source);
  char* to = static_cast<char*>(out);
  const auto size = static_cast<int64_t>(item);
  std::array<int64_t, kMaxRank> at = {};
  int64_t offset = 0;
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
    } else {
      std::memcpy(to, from + offset * size, static_cast<size_t>(run * size));
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
