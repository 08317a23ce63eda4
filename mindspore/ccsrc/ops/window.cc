#include "ops/window.h"

#include <array>

namespace ms {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;  // keeps products of two attributes inside 64 bits

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}

template <class... Args>
void Check(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) Throw(ErrorKind::kValue, format, std::forward<Args>(args)...);
}

}  // namespace

PadMode ParsePadMode(const std::string& text) {
  std::string mode = Lower(text);
  if (mode == "valid") return PadMode::kValid;
  if (mode == "same") return PadMode::kSame;
  Check(mode == "pad", "'pad_mode' must be one of ['valid', 'same', 'pad'], but got '{}'", text);
  return PadMode::kExplicit;
}

bool ParseChannelsLast(const std::string& text) {
  Check(text == "NCHW" || text == "NHWC", "'data_format' must be 'NCHW' or 'NHWC', but got '{}'",
        text);
  return text == "NHWC";
}

std::pair<int64_t, int64_t> ParsePair(std::string_view name, const Ints& values,
                                      bool channels_last) {
  Check(values.size() == 1 || values.size() == 2 || values.size() == 4,
        "'{}' must be an int or a tuple of 2 or 4 ints, but got ({})", name,
        fmt::join(values, ", "));
  size_t at = values.size() == 4 ? (channels_last ? 1 : 2) : 0;
  std::pair<int64_t, int64_t> pair{values[at], values.size() == 1 ? values[0] : values[at + 1]};
  if (values.size() == 4) {
    Check(values[0] == 1 && values[channels_last ? 3 : 1] == 1,
          "'{}' must be 1 for the batch and the channels, but got ({})", name,
          fmt::join(values, ", "));
  }
  for (int64_t v : {pair.first, pair.second}) {
    Check(v >= 1 && v < kLargest, "'{}' must be positive and less than 2^31, but got {}", name, v);
  }
  return pair;
}

std::array<int64_t, 4> ParsePads(std::string_view name, const Ints& values) {
  Check(values.size() == 1 || values.size() == 4,
        "'{}' must be an int or a tuple of 4 ints (top, bottom, left, right), but got ({})", name,
        fmt::join(values, ", "));
  std::array<int64_t, 4> pads;
  for (size_t i = 0; i < 4; ++i) {
    pads[i] = values[values.size() == 1 ? 0 : i];
    Check(pads[i] >= 0 && pads[i] < kLargest,
          "'{}' must not be negative and less than 2^31, but got {}", name, pads[i]);
  }
  return pads;
}

void PlaceWindows(std::string_view dimension, PadMode mode, bool ceil_mode, Window* w) {
  if (mode == PadMode::kSame) {
    w->out = (w->size + w->stride - 1) / w->stride;
    int64_t pad = std::max<int64_t>(0, (w->out - 1) * w->stride + w->span() - w->size);
    w->pad_before = pad / 2;
    w->pad_after = pad - w->pad_before;
    return;
  }
  int64_t padded = w->size + w->pad_before + w->pad_after;
  Check(padded >= w->span(),
        "the {} of the input after padding must be at least that of the kernel, but got {} and {}",
        dimension, padded, w->span());
  int64_t steps = padded - w->span();
  w->out = steps / w->stride + 1;
  // A window that would start in the padding behind the input is dropped.
  if (ceil_mode && steps % w->stride != 0 && w->out * w->stride < w->size + w->pad_before) ++w->out;
}

ConvGeometry MakeConvGeometry(const OpDef& op, const Attrs& attrs, const Shape& input,
                              const Shape& weight) {
  auto ints = [&](std::string_view name) -> const Ints& { return AttrOf<Ints>(op, attrs, name); };
  ConvGeometry g;
  g.channels_last = ParseChannelsLast(AttrOf<std::string>(op, attrs, "data_format"));
  g.weight_last = g.channels_last && AttrOf<std::string>(op, attrs, "weight_format").empty();
  PadMode mode = ParsePadMode(AttrOf<std::string>(op, attrs, "pad_mode"));
  auto kernel = ParsePair("kernel_size", ints("kernel_size"), g.channels_last);
  auto stride = ParsePair("stride", ints("stride"), g.channels_last);
  auto dilation = ParsePair("dilation", ints("dilation"), g.channels_last);
  auto pads = ParsePads("pad", ints("pad"));
  bool any_pad = pads != std::array<int64_t, 4>{};
  Check(mode == PadMode::kExplicit || !any_pad,
        "'pad' must be 0 unless 'pad_mode' is 'pad', but got ({})", fmt::join(pads, ", "));
  int64_t conv_mode = AttrOf<int64_t>(op, attrs, "mode");
  Check(conv_mode == 1, "'mode' must be 1 (cross-correlation), but got {}", conv_mode);

  Check(input.rank() == 4, "the input must have 4 dimensions, but got shape {}", input);
  Check(weight.rank() == 4, "the weight must have 4 dimensions, but got shape {}", weight);
  int channel_axis = g.channels_last ? 3 : 1;
  int image_axis = g.channels_last ? 1 : 2;
  g.batch = input[0];
  g.in_channels = input[channel_axis];
  g.out_channels = AttrOf<int64_t>(op, attrs, "out_channel");
  g.groups = AttrOf<int64_t>(op, attrs, "group");
  Check(g.groups >= 1 && g.groups < kLargest, "'group' must be positive, but got {}", g.groups);
  Check(g.out_channels >= 1, "'out_channel' must be positive, but got {}", g.out_channels);
  Check(g.in_channels >= 1, "the input must have at least one channel, but got shape {}", input);
  Check(g.in_channels % g.groups == 0 && g.out_channels % g.groups == 0,
        "the channels must be divisible by 'group' {}, but got {} in and {} out", g.groups,
        g.in_channels, g.out_channels);
  g.height = {input[image_axis], kernel.first, stride.first, dilation.first, pads[0], pads[1], 0};
  g.width = {
      input[image_axis + 1], kernel.second, stride.second, dilation.second, pads[2], pads[3], 0};
  Check(weight == g.Weight(),
        "the weight must have shape {} (out channels, in channels / group, "
        "kernel; as the attributes say), but got {}",
        g.Weight(), weight);
  PlaceWindows("height", mode, false, &g.height);
  PlaceWindows("width", mode, false, &g.width);
  return g;
}

PoolGeometry MakePoolGeometry(const OpDef& op, const Attrs& attrs, const Shape& input) {
  auto ints = [&](std::string_view name) -> const Ints& { return AttrOf<Ints>(op, attrs, name); };
  PoolGeometry g;
  g.channels_last = ParseChannelsLast(AttrOf<std::string>(op, attrs, "data_format"));
  PadMode mode = ParsePadMode(AttrOf<std::string>(op, attrs, "pad_mode"));
  auto kernel = ParsePair("kernel_size", ints("kernel_size"), g.channels_last);
  auto stride = ParsePair("strides", ints("strides"), g.channels_last);
  std::pair<int64_t, int64_t> dilation{1, 1};
  if (op.AttrIndex("dilation") >= 0) {
    dilation = ParsePair("dilation", ints("dilation"), g.channels_last);
  }
  auto pads = ParsePads("pad", ints("pad"));
  Check(mode == PadMode::kExplicit || pads == std::array<int64_t, 4>{},
        "'pad' must be 0 unless 'pad_mode' is 'pad', but got ({})", fmt::join(pads, ", "));
  Check(input.rank() == 4, "the input must have 4 dimensions, but got shape {}", input);
  int image_axis = g.channels_last ? 1 : 2;
  g.batch = input[0];
  g.channels = input[g.channels_last ? 3 : 1];
  g.height = {input[image_axis], kernel.first, stride.first, dilation.first, pads[0], pads[1], 0};
  g.width = {
      input[image_axis + 1], kernel.second, stride.second, dilation.second, pads[2], pads[3], 0};
  Check(input[image_axis] > 0 && input[image_axis + 1] > 0,
        "the height and width of the input must be positive, but got shape {}", input);
  Check(input[image_axis] * input[image_axis + 1] < kLargest,
        "the image must have less than 2^31 elements, but got shape {}", input);
  for (const Window* w : {&g.height, &g.width}) {
    // Then every window holds an element of the input.
    Check(2 * std::max(w->pad_before, w->pad_after) <= w->span(),
          "'pad' must be at most half of the kernel, but got pads ({}) and a kernel of {}",
          fmt::join(pads, ", "), w->span());
  }
  bool ceil_mode = AttrOf<bool>(op, attrs, "ceil_mode");
  PlaceWindows("height", mode, ceil_mode, &g.height);
  PlaceWindows("width", mode, ceil_mode, &g.width);
  return g;
}

// ---- symbolic sizes -----------------------------------------------------------------------------
namespace {

// The shape for which a program is compiled, where it has symbolic sizes: a geometry made of it is
// right in all that does not depend on these. Not for the channels.
Shape StandIn(const Shape& shape, int channel_axis) {
  if (!shape.symbolic()) return shape;
  DimScope* scope = DimScope::Current();
  if (!scope || shape.rank() != 4 || shape.dim(channel_axis).symbolic()) Dim::Refuse();
  Dims dims = shape.dims();
  for (Dim& d : dims) d = d.Evaluate(scope->hints);
  return dims;
}

// PlaceWindows for a symbolic size; its other numbers are those of `w`.
Dim CountWindows(Dim size, PadMode mode, bool ceil_mode, const Window& w) {
  if (!size.symbolic()) return w.out;
  if (ceil_mode) Dim::Refuse();
  if (mode == PadMode::kSame) return (size + w.stride - 1) / w.stride;
  Dim padded = size + w.pad_before + w.pad_after;
  if (padded < w.span()) Dim::Refuse();
  return (padded - w.span()) / w.stride + 1;
}

template <class Geometry>
Shape OutputOf(const OpDef& op, const Attrs& attrs, const Shape& input, const Geometry& g) {
  Shape output = g.Output();
  if (!input.symbolic()) return output;
  PadMode mode = ParsePadMode(AttrOf<std::string>(op, attrs, "pad_mode"));
  bool ceil_mode = op.AttrIndex("ceil_mode") >= 0 && AttrOf<bool>(op, attrs, "ceil_mode");
  int image_axis = g.channels_last ? 1 : 2;
  return output.With(0, input.dim(0))
      .With(image_axis, CountWindows(input.dim(image_axis), mode, ceil_mode, g.height))
      .With(image_axis + 1, CountWindows(input.dim(image_axis + 1), mode, ceil_mode, g.width));
}

int ChannelAxis(const OpDef& op, const Attrs& attrs) {
  return ParseChannelsLast(AttrOf<std::string>(op, attrs, "data_format")) ? 3 : 1;
}

}  // namespace

Shape ConvOutput(const OpDef& op, const Attrs& attrs, const Shape& input, const Shape& weight) {
  Shape known = StandIn(input, ChannelAxis(op, attrs));
  return OutputOf(op, attrs, input, MakeConvGeometry(op, attrs, known, weight));
}

Shape PoolOutput(const OpDef& op, const Attrs& attrs, const Shape& input) {
  Shape known = StandIn(input, ChannelAxis(op, attrs));
  return OutputOf(op, attrs, input, MakePoolGeometry(op, attrs, known));
}

}  // namespace ms
