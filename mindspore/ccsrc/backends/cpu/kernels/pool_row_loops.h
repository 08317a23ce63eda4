// Pooling of images with the channels last: of one image, and some channels of it, at a time.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/pool_loops.h"

namespace ms::cpu {

inline constexpr int64_t kPoolChannels = 64;  // most channels of one call

// `width` channels of images with `channels` of them.
struct ChannelsOfImage {
  Window rows, columns;
  int64_t channels, width;
};

MS_DECLARE_ISA(
    // Largest element of each window.
    template <class T> void MaxPixels(const ChannelsOfImage& p, const T* x, T* y);
    // dx is overwritten: dy goes to the first maximum of each window.
    template <class T> void MaxPixelsGrad(const ChannelsOfImage& p, const T* x, const T* dy, T* dx);
    // Means as MeanPlane's strides and divisors say, for `width` channels.
    template <class T> void MeanPixels(const MeanPlane& p, int64_t width, const T* x, T* y);
    template <class T> void SpreadPixels(const MeanPlane& p, int64_t width, const T* dy, T* dx);)

}  // namespace ms::cpu
