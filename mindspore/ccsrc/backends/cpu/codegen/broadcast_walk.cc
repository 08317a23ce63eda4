#include "backends/cpu/codegen/broadcast_walk.h"

#include <algorithm>
#include <cstring>

#include "base/items.h"

namespace ms::cpu {

BroadcastWalk::BroadcastWalk(const loops::Access& access, const Ints& sizes)
    : offset_(access.offset) {
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
  VisitItem(item, [&](auto tag) { Gather<decltype(tag)>(to, from, stride, n); });
}

// What a loop over runs would spend on each of them counts where they are as short as this.
constexpr int64_t kShortRun = 32;

// A row of `period` bytes again and again, from `phase` on: what is there already is doubled.
void RepeatRow(char* to, const char* row, size_t period, size_t phase, size_t bytes) {
  size_t first = std::min(period - phase, bytes);
  std::memcpy(to, row + phase, first);
  size_t done = std::min(period, bytes);
  std::memcpy(to + first, row, done - first);
  while (done < bytes) {
    size_t n = std::min(done, bytes - done);
    std::memcpy(to + done, to, n);
    done += n;
  }
}

// Each of the neighbours at `from` `times` times, of the first one `left` only.
template <class T>
void RepeatEach(void* out, const void* from, int64_t times, int64_t left, int64_t count) {
  auto* y = static_cast<T*>(out);
  for (const T* x = static_cast<const T*>(from); count > 0; ++x, left = times) {
    T value = *x;
    int64_t n = std::min(left, count);
    for (int64_t i = 0; i < n; ++i) y[i] = value;
    y += n;
    count -= n;
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
  if (rank_ == 2 && sizes_[0] <= kShortRun && strides_[0] == 1 && strides_[1] == 0) {
    return RepeatRow(to, from + offset_ * size, static_cast<size_t>(sizes_[0] * size),
                     static_cast<size_t>(at[0] * size), static_cast<size_t>(count * size));
  }
  if (rank_ == 2 && sizes_[0] <= kShortRun && strides_[0] == 0 && strides_[1] == 1) {
    return VisitItem(item, [&](auto tag) {
      RepeatEach<decltype(tag)>(to, from + offset * size, sizes_[0], sizes_[0] - at[0], count);
    });
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

}  // namespace ms::cpu
