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

int SpatialRank(const OpDef& op, const Shape& input) {
  int format = op.AttrIndex("data_format");
  if (format < 0) return input.rank() - 2;
  const Attr& fallback = op.attributes[static_cast<size_t>(format)].fallback;
  return static_cast<int>(std::get<std::string>(fallback).size()) - 2;
}

bool ParseChannelsLast(const std::string& text, int rank) {
  if (rank == 3) {
    Check(text == "NCDHW", "'data_format' must be 'NCDHW', but got '{}'", text);
    return false;
  }
  Check(text == "NCHW" || text == "NHWC", "'data_format' must be 'NCHW' or 'NHWC', but got '{}'",
        text);
  return text == "NHWC";
}

Spatial ParseSizes(std::string_view name, const Ints& values, int rank, bool channels_last) {
  auto count = static_cast<int>(values.size());
  Check(count == 1 || count == rank || count == rank + 2,
        "'{}' must be an int or a tuple of {} or {} ints, but got ({})", name, rank, rank + 2,
        fmt::join(values, ", "));
  Spatial sizes{1, 1, 1};
  bool all = count == rank + 2;
  for (int i = 0; i < rank; ++i) {
    int at = count == 1 ? 0 : i + (all ? (channels_last ? 1 : 2) : 0);
    sizes[static_cast<size_t>(3 - rank + i)] = values[static_cast<size_t>(at)];
  }
  if (all) {
    Check(values[0] == 1 && values[channels_last ? static_cast<size_t>(count - 1) : 1] == 1,
          "'{}' must be 1 for the batch and the channels, but got ({})", name,
          fmt::join(values, ", "));
  }
  for (int64_t v : sizes) {
    Check(v >= 1 && v < kLargest, "'{}' must be positive and less than 2^31, but got {}", name, v);
  }
  return sizes;
}

SpatialPads ParsePads(std::string_view name, const Ints& values, int rank) {
  auto count = static_cast<int>(values.size());
  Check(count == 1 || count == 2 * rank,
        "'{}' must be an int or a tuple of {} ints ({}top, bottom, left, right), but got ({})",
        name, 2 * rank, rank == 3 ? "front, back, " : "", fmt::join(values, ", "));
  SpatialPads pads{};
  for (int i = 0; i < 2 * rank; ++i) {
    int64_t pad = values[count == 1 ? 0 : static_cast<size_t>(i)];
    Check(pad >= 0 && pad < kLargest, "'{}' must not be negative and less than 2^31, but got {}",
          name, pad);
    pads[static_cast<size_t>(6 - 2 * rank + i)] = pad;
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

namespace {

constexpr const char* kDimensions[] = {"depth", "height", "width"};

int ChannelAxis(const ImageWindows& g) { return g.channels_last ? g.rank + 1 : 1; }
int ImageAxis(const ImageWindows& g) { return g.channels_last ? 1 : 2; }

// Calls f(window, number of the dimension, axis of the image).
template <class Windows, class F>
void EachWindow(Windows& g, F&& f) {
  Window ImageWindows::* all[] = {&ImageWindows::depth, &ImageWindows::height,
                                  &ImageWindows::width};
  for (int i = 0; i < g.rank; ++i) {
    int dimension = 3 - g.rank + i;
    f(g.*all[dimension], dimension, ImageAxis(g) + i);
  }
}

// The windows that the attributes say, before PlaceWindows.
PadMode ReadWindows(const OpDef& op, const Attrs& attrs, const Shape& input,
                    const char* stride_name, ImageWindows* g) {
  auto ints = [&](std::string_view name) -> const Ints& { return AttrOf<Ints>(op, attrs, name); };
  g->rank = SpatialRank(op, input);
  if (op.AttrIndex("data_format") >= 0) {
    g->channels_last = ParseChannelsLast(AttrOf<std::string>(op, attrs, "data_format"), g->rank);
  }
  PadMode mode = ParsePadMode(AttrOf<std::string>(op, attrs, "pad_mode"));
  auto sizes = [&](const char* name) {
    return ParseSizes(name, ints(name), g->rank, g->channels_last);
  };
  Spatial kernel = sizes("kernel_size"), stride = sizes(stride_name), dilation{1, 1, 1};
  if (op.AttrIndex("dilation") >= 0) dilation = sizes("dilation");
  SpatialPads pads = ParsePads("pad", ints("pad"), g->rank);
  Check(mode == PadMode::kExplicit || pads == SpatialPads{},
        "'pad' must be 0 unless 'pad_mode' is 'pad', but got ({})", fmt::join(ints("pad"), ", "));
  Check(input.rank() == g->rank + 2, "the input must have {} dimensions, but got shape {}",
        g->rank + 2, input);
  EachWindow(*g, [&](Window& w, int dimension, int axis) {
    auto i = static_cast<size_t>(dimension);
    w = {input[axis], kernel[i], stride[i], dilation[i], pads[2 * i], pads[2 * i + 1], 0};
  });
  return mode;
}

void Place(PadMode mode, bool ceil_mode, ImageWindows* g) {
  EachWindow(*g, [&](Window& w, int dimension, int) {
    PlaceWindows(kDimensions[dimension], mode, ceil_mode, &w);
  });
}

}  // namespace

ConvGeometry MakeConvGeometry(const OpDef& op, const Attrs& attrs, const Shape& input,
                              const Shape& weight) {
  ConvGeometry g;
  PadMode mode = ReadWindows(op, attrs, input, "stride", &g);
  g.weight_last = g.channels_last && AttrOf<std::string>(op, attrs, "weight_format").empty();
  int64_t conv_mode = AttrOf<int64_t>(op, attrs, "mode");
  Check(conv_mode == 1, "'mode' must be 1 (cross-correlation), but got {}", conv_mode);
  Check(weight.rank() == g.rank + 2, "the weight must have {} dimensions, but got shape {}",
        g.rank + 2, weight);
  g.batch = input[0];
  g.in_channels = input[ChannelAxis(g)];
  g.out_channels = AttrOf<int64_t>(op, attrs, "out_channel");
  g.groups = AttrOf<int64_t>(op, attrs, "group");
  Check(g.groups >= 1 && g.groups < kLargest, "'group' must be positive, but got {}", g.groups);
  Check(g.out_channels >= 1, "'out_channel' must be positive, but got {}", g.out_channels);
  Check(g.in_channels >= 1, "the input must have at least one channel, but got shape {}", input);
  Check(g.in_channels % g.groups == 0 && g.out_channels % g.groups == 0,
        "the channels must be divisible by 'group' {}, but got {} in and {} out", g.groups,
        g.in_channels, g.out_channels);
  Check(weight == g.Weight(),
        "the weight must have shape {} (out channels, in channels / group, "
        "kernel; as the attributes say), but got {}",
        g.Weight(), weight);
  Place(mode, false, &g);
  return g;
}

PoolGeometry MakePoolGeometry(const OpDef& op, const Attrs& attrs, const Shape& input) {
  PoolGeometry g;
  PadMode mode = ReadWindows(op, attrs, input, "strides", &g);
  g.batch = input[0];
  g.channels = input[ChannelAxis(g)];
  int64_t volume = 1;  // at most kLargest
  EachWindow(g, [&](const Window& w, int, int) {
    Check(w.size > 0, "the {}height and width of the input must be positive, but got shape {}",
          g.rank == 3 ? "depth, " : "", input);
    volume = std::min(volume * std::min(w.size, kLargest), kLargest);
  });
  Check(volume < kLargest, "the image must have less than 2^31 elements, but got shape {}", input);
  EachWindow(g, [&](const Window& w, int, int) {
    // Then every window holds an element of the input.
    Check(2 * std::max(w.pad_before, w.pad_after) <= w.span(),
          "'pad' must be at most half of the kernel, but got pads ({}) and a kernel of {}",
          fmt::join(AttrOf<Ints>(op, attrs, "pad"), ", "), w.span());
  });
  Place(mode, AttrOf<bool>(op, attrs, "ceil_mode"), &g);
  return g;
}

PoolGeometry MakeUnfoldGeometry(const OpDef& op, const Attrs& attrs, const Shape& input) {
  PoolGeometry g;
  Check(input.rank() == 4 || input.rank() == 5,
        "the input must have 4 or 5 dimensions, but got shape {}", input);
  PadMode mode = ReadWindows(op, attrs, input, "strides", &g);
  g.batch = input[0];
  g.channels = input[1];
  Place(mode, false, &g);
  return g;
}

// ---- symbolic sizes -----------------------------------------------------------------------------
namespace {

// The shape for which a program is compiled, where it has symbolic sizes: a geometry made of it is
// right in all that does not depend on these. Not for the channels.
Shape StandIn(const Shape& shape, int channel_axis) {
  if (!shape.symbolic()) return shape;
  DimScope* scope = DimScope::Current();
  if (!scope || shape.rank() <= channel_axis || shape.dim(channel_axis).symbolic()) Dim::Refuse();
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

// g.Output() with the symbolic sizes of the input.
template <class Geometry>
Shape OutputOf(const OpDef& op, const Attrs& attrs, const Shape& input, const Geometry& g) {
  Shape output = g.Output();
  if (!input.symbolic()) return output;
  PadMode mode = ParsePadMode(AttrOf<std::string>(op, attrs, "pad_mode"));
  bool ceil_mode = op.AttrIndex("ceil_mode") >= 0 && AttrOf<bool>(op, attrs, "ceil_mode");
  output = output.With(0, input.dim(0));
  EachWindow(g, [&](const Window& w, int, int axis) {
    output = output.With(axis, CountWindows(input.dim(axis), mode, ceil_mode, w));
  });
  return output;
}

int ChannelAxis(const OpDef& op, const Attrs& attrs, const Shape& input) {
  ImageWindows g;
  g.rank = SpatialRank(op, input);
  g.channels_last = ParseChannelsLast(AttrOf<std::string>(op, attrs, "data_format"), g.rank);
  return ChannelAxis(g);
}

}  // namespace

Shape ConvOutput(const OpDef& op, const Attrs& attrs, const Shape& input, const Shape& weight) {
  Shape known = StandIn(input, ChannelAxis(op, attrs, input));
  return OutputOf(op, attrs, input, MakeConvGeometry(op, attrs, known, weight));
}

Shape PoolOutput(const OpDef& op, const Attrs& attrs, const Shape& input) {
  Shape known = StandIn(input, ChannelAxis(op, attrs, input));
  return OutputOf(op, attrs, input, MakePoolGeometry(op, attrs, known));
}

Shape UnfoldOutput(const OpDef& op, const Attrs& attrs, const Shape& input) {
  PoolGeometry g = MakeUnfoldGeometry(op, attrs, StandIn(input, 1));
  Shape images = OutputOf(op, attrs, input, g);
  Dim windows = 1;
  for (int axis = 2; axis < images.rank(); ++axis) windows = windows * images.dim(axis);
  return Dims{images.dim(0), images.dim(1), g.taps(), windows};
}

}  // namespace ms
