// The geometry that convolutions and poolings share: where windows lie along one dimension, and how
// the 1.x attributes (lists of one, two or four numbers, padding modes) say so. Used by
// declarations, which check, and by kernels.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "ir/op.h"

namespace ms {

// Windows along one dimension: position k of window i is element i * stride + k * dilation -
// pad_before.
struct Window {
  int64_t size = 1;  // of the input
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0;
  int64_t pad_after = 0;
  int64_t out = 1;  // number of windows

  int64_t span() const { return (kernel - 1) * dilation + 1; }
  int64_t Start(int64_t i) const { return i * stride - pad_before; }
  // The positions [first, last) of window i that lie inside the input.
  int64_t First(int64_t i) const {
    int64_t start = Start(i);
    return start >= 0 ? 0 : (-start + dilation - 1) / dilation;
  }
  int64_t Last(int64_t i) const {
    int64_t room = size - Start(i);  // elements from the start to the end of the input
    return room <= 0 ? 0 : std::min(kernel, (room + dilation - 1) / dilation);
  }
  bool padded() const { return pad_before > 0 || pad_after > 0; }
  bool operator==(const Window&) const = default;
};

enum class PadMode { kValid, kSame, kExplicit };

// 'valid', 'same' and 'pad' in any case.
PadMode ParsePadMode(const std::string& text);
// Sizes along depth, height and width; in two dimensions the first one is 1, and there is one
// slice.
using Spatial = std::array<int64_t, 3>;
using SpatialPads = std::array<int64_t, 6>;  // before and after along each

// How many spatial dimensions an op has: as its default of 'data_format' says, or else its input.
int SpatialRank(const OpDef& op, const Shape& input);
// Whether the channels come last: 'NHWC'. In three dimensions they never do: 'NCDHW'.
bool ParseChannelsLast(const std::string& text, int rank = 2);
// Of a list of one number, one for each spatial dimension, or one for all in the order of the data
// format. All must be positive.
Spatial ParseSizes(std::string_view name, const Ints& values, int rank, bool channels_last);
// Of a list of one number, or two for each spatial dimension: (top, bottom, left, right).
SpatialPads ParsePads(std::string_view name, const Ints& values, int rank);

// Fills in `out` and, for 'same', the padding; the other fields are given. Throws where no window
// fits.
void PlaceWindows(std::string_view dimension, PadMode mode, bool ceil_mode, Window* window);

// Windows over images of two or three dimensions.
struct ImageWindows {
  int rank = 2;
  Window depth;  // in two dimensions: the only slice
  Window height;
  Window width;
  bool channels_last = false;

  // The windows of all spatial dimensions.
  std::vector<Window> All() const {
    if (rank == 2) return {height, width};
    return {depth, height, width};
  }
  bool unit() const {  // of one element each, one for each element
    auto one = [](const Window& w) { return w.kernel == 1 && w.stride == 1 && !w.padded(); };
    return one(depth) && one(height) && one(width);
  }
  int64_t taps() const { return depth.kernel * height.kernel * width.kernel; }
  int64_t positions() const { return depth.out * height.out * width.out; }
  int64_t volume() const { return depth.size * height.size * width.size; }

 protected:
  Shape Image(int64_t batch, int64_t channels, int64_t Window::* size, bool last) const {
    Ints sizes{batch};
    if (!last) sizes.push_back(channels);
    for (const Window& w : All()) sizes.push_back(w.*size);
    if (last) sizes.push_back(channels);
    return sizes;
  }
};

// A convolution: x [n, c, h, w] * weight [o, c / groups, kh, kw] -> y [n, o, oh, ow], or all
// with channels last; in three dimensions with a depth in front of the height.
struct ConvGeometry : ImageWindows {
  int64_t batch = 0;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int64_t groups = 1;
  bool weight_last = false;  // channels of the weight

  Shape Input() const { return Image(batch, in_channels, &Window::size, channels_last); }
  Shape Output() const { return Image(batch, out_channels, &Window::out, channels_last); }
  Shape Weight() const {
    return Image(out_channels, in_channels / groups, &Window::kernel, weight_last);
  }
  // Multiplications of one pass.
  double Work() const {
    return static_cast<double>(Output().size()) * static_cast<double>(in_channels / groups) *
           static_cast<double>(taps());
  }
};

// Of the attributes that a convolution and its two gradients share; throws what is wrong with them.
ConvGeometry MakeConvGeometry(const OpDef& op, const Attrs& attrs, const Shape& input,
                              const Shape& weight);

// The shape of the convolution's output, also where the batch or spatial sizes are symbolic.
Shape ConvOutput(const OpDef& op, const Attrs& attrs, const Shape& input, const Shape& weight);

// Windows over planes or volumes: x [n, channels, h, w], or [n, h, w, channels] with channels last.
struct PoolGeometry : ImageWindows {
  int64_t batch = 0;
  int64_t channels = 0;

  Shape Output() const { return Image(batch, channels, &Window::out, channels_last); }
};

PoolGeometry MakePoolGeometry(const OpDef& op, const Attrs& attrs, const Shape& input);
// As ConvOutput.
Shape PoolOutput(const OpDef& op, const Attrs& attrs, const Shape& input);
// The same without the limits of a pooling: windows may lie in the padding alone.
PoolGeometry MakeUnfoldGeometry(const OpDef& op, const Attrs& attrs, const Shape& input);
// [n, channels, elements of a window, windows].
Shape UnfoldOutput(const OpDef& op, const Attrs& attrs, const Shape& input);

}  // namespace ms
