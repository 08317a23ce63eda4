// A convolution in oneDNN's terms.
#pragma once

#include "backends/cpu/onednn.h"
#include "ops/window.h"

namespace ms::cpu {

using dnnl::memory;
inline constexpr auto kDirect = dnnl::algorithm::convolution_direct;

enum class Layout { kBlocked, kDense, kChannelsLast };

struct Problem {
  ConvGeometry g;
  memory::data_type type;
  memory::dims x, w, y, strides, dilates, pad_low, pad_high;
  Desc dense_x, dense_w, dense_y;

  Problem(const ConvGeometry& geometry, memory::data_type data_type)
      : g(geometry), type(data_type) {
    const Window& h = g.height;
    const Window& v = g.width;
    int64_t in = g.in_channels / g.groups;
    int64_t out = g.out_channels / g.groups;
    x = {g.batch, g.in_channels, h.size, v.size};
    y = {g.batch, g.out_channels, h.out, v.out};
    strides = {h.stride, v.stride};
    dilates = {h.dilation - 1, v.dilation - 1};
    pad_low = {h.pad_before, v.pad_before};
    pad_high = {h.pad_after, v.pad_after};
    Tag tag = g.channels_last ? Tag::nhwc : Tag::nchw;
    dense_x = Desc(x, type, tag);
    dense_y = Desc(y, type, tag);
    if (g.groups > 1) {
      w = {g.groups, out, in, h.kernel, v.kernel};
      int64_t filter = in * h.kernel * v.kernel;
      dense_w = g.weight_last
                    ? Desc(w, type, memory::dims{out * filter, filter, 1, v.kernel * in, in})
                    : Desc(w, type, Tag::goihw);
    } else {
      w = {out, in, h.kernel, v.kernel};
      dense_w = Desc(w, type, g.weight_last ? Tag::ohwi : Tag::oihw);
    }
  }

  Desc Image(const memory::dims& dims, Layout layout) const {
    Tag tag = layout == Layout::kBlocked ? Tag::any
              : layout == Layout::kDense ? Tag::nchw
                                         : Tag::nhwc;
    return Desc(dims, type, tag);
  }
};

// A rough time.
inline double ConvCost(const ConvGeometry& g) { return g.Work() / 50; }

}  // namespace ms::cpu
