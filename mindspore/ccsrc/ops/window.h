// The geometry that convolutions and poolings share: where windows lie along one dimension, and how
// the 1.x attributes (lists of one, two or four numbers, padding modes) say so. Used by
// declarations, which check, and by kernels.
#pragma once

#include <array>
#include <string_view>

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
// Whether the channels come last: 'NHWC' or 'NCHW'.
bool ParseChannelsLast(const std::string& text);
// (height, width) of a list of one number, two, or four in the order of the data format. All must
// be positive.
std::pair<int64_t, int64_t> ParsePair(std::string_view name, const Ints& values,
                                      bool channels_last);
// (top, bottom, left, right) of a list of one number or four.
std::array<int64_t, 4> ParsePads(std::string_view name, const Ints& values);

// Fills in `out` and, for 'same', the padding; the other fields are given. Throws where no window
// fits.
void PlaceWindows(std::string_view dimension, PadMode mode, bool ceil_mode, Window* window);

// A 2-D convolution: x [n, c, h, w] * weight [o, c / groups, kh, kw] -> y [n, o, oh, ow], or all
// with channels last.
struct ConvGeometry {
  int64_t batch = 0;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int64_t groups = 1;
  Window height;
  Window width;
  bool channels_last = false;
  bool weight_last = false;  // the same for the weight

  Shape Input() const { return Image(in_channels, height.size, width.size); }
  Shape Output() const { return Image(out_channels, height.out, width.out); }
  Shape Weight() const {
    int64_t c = in_channels / groups;
    return weight_last ? Shape{out_channels, height.kernel, width.kernel, c}
                       : Shape{out_channels, c, height.kernel, width.kernel};
  }
  // Multiplications of one pass.
  double Work() const {
    return static_cast<double>(Output().size()) * static_cast<double>(in_channels / groups) *
           static_cast<double>(height.kernel * width.kernel);
  }

 private:
  Shape Image(int64_t channels, int64_t h, int64_t w) const {
    return channels_last ? Shape{batch, h, w, channels} : Shape{batch, channels, h, w};
  }
};

// Of the attributes that Conv2D and its two gradients share; throws what is wrong with them.
ConvGeometry MakeConvGeometry(const OpDef& op, const Attrs& attrs, const Shape& input,
                              const Shape& weight);

// The shape of the convolution's output, also where the batch, height or width is symbolic.
Shape ConvOutput(const OpDef& op, const Attrs& attrs, const Shape& input, const Shape& weight);

// A 2-D pooling over planes: x [planes, h, w], or [n, h, w, channels] with channels last.
struct PoolGeometry {
  int64_t batch = 0;
  int64_t channels = 0;
  Window height;
  Window width;
  bool channels_last = false;

  Shape Output() const {
    return channels_last ? Shape{batch, height.out, width.out, channels}
                         : Shape{batch, channels, height.out, width.out};
  }
};

PoolGeometry MakePoolGeometry(const OpDef& op, const Attrs& attrs, const Shape& input);
// As ConvOutput.
Shape PoolOutput(const OpDef& op, const Attrs& attrs, const Shape& input);

}  // namespace ms
