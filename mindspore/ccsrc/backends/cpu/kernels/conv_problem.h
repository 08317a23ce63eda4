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
    int64_t in = g.in_channels / g.groups;
    int64_t out = g.out_channels / g.groups;
    x = {g.batch, g.in_channels};
    y = {g.batch, g.out_channels};
    w = {out, in};
    if (g.groups > 1) w.insert(w.begin(), g.groups);
    for (const Window& window : g.All()) {
      x.push_back(window.size);
      y.push_back(window.out);
      w.push_back(window.kernel);
      strides.push_back(window.stride);
      dilates.push_back(window.dilation - 1);
      pad_low.push_back(window.pad_before);
      pad_high.push_back(window.pad_after);
    }
    dense_x = Desc(x, type, Dense(g.channels_last));
    dense_y = Desc(y, type, Dense(g.channels_last));
    dense_w = Desc(w, type, FilterStrides());
  }

  Desc Image(const memory::dims& dims, Layout layout) const {
    if (layout == Layout::kBlocked) return Desc(dims, type, Tag::any);
    return Desc(dims, type, Dense(layout == Layout::kChannelsLast));
  }

 private:
  Tag Dense(bool channels_last) const {
    if (g.rank == 3) return channels_last ? Tag::ndhwc : Tag::ncdhw;
    return channels_last ? Tag::nhwc : Tag::nchw;
  }

  memory::dims FilterStrides() const {
    int64_t in = g.in_channels / g.groups;
    int64_t step = g.weight_last ? in : 1;
    memory::dims result;
    std::vector<Window> windows = g.All();
    for (auto window = windows.rbegin(); window != windows.rend(); ++window) {
      result.insert(result.begin(), step);
      step *= window->kernel;
    }
    int64_t filter = in * g.taps();
    memory::dims channels{filter, g.weight_last ? 1 : g.taps()};
    if (g.groups > 1) channels.insert(channels.begin(), g.out_channels / g.groups * filter);
    result.insert(result.begin(), channels.begin(), channels.end());
    return result;
  }
};

// A rough time.
inline double ConvCost(const ConvGeometry& g) { return g.Work() / 50; }

}  // namespace ms::cpu
