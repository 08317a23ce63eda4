// See pixels.h.
#include "dataset/transforms/pixels.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "dataset/transforms/bytes.h"
#include "dataset/transforms/elements.h"
#include "dataset/transforms/wide.h"

namespace ms::dataset {
namespace {

const Value AsFloats(const Value& value) {
  return value.element.dtype == DType::kFloat32 && value.element.kind == Kind::kNumber
             ? value
             : Cast(value, DType::kFloat32);
}

// A line of pixels of one color.
std::vector<std::byte> FilledLine(int64_t pixels, const Value& image,
                                  const std::vector<double>& fill) {
  int64_t channels = Channels(image);
  std::vector<std::byte> line(static_cast<size_t>(pixels * channels) * image.element.size);
  if (std::all_of(fill.begin(), fill.end(), [](double number) { return number == 0; })) return line;
  CheckColor("fill_value", fill.size(), channels);
  WithType(image.element.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    auto* target = reinterpret_cast<T*>(line.data());
    for (int64_t i = 0; i < pixels; ++i) {
      for (int64_t c = 0; c < channels; ++c) {
        *target++ = Converted<T>(fill[std::min(static_cast<size_t>(c), fill.size() - 1)]);
      }
    }
  });
  return line;
}

template <size_t kSize>
void Plane(const std::byte* from, std::byte* to, int64_t pixels, size_t step) {
  for (int64_t i = 0; i < pixels; ++i, from += step, to += kSize) std::memcpy(to, from, kSize);
}

// The pixels of three floats, by planes.
MS_WIDE void SplitFloats(const float* in, float* out, int64_t pixels) {
  float *first = out, *second = out + pixels, *third = second + pixels;
  for (int64_t i = 0; i < pixels; ++i) {
    first[i] = in[3 * i];
    second[i] = in[3 * i + 1];
    third[i] = in[3 * i + 2];
  }
}

}  // namespace

void CheckImage(const Value& image) {
  if (image.element.kind != Kind::kNumber) {
    Throw(ErrorKind::kType, "the image must hold numbers, but got {}", image.element.name());
  }
  if (image.dims->size() != 2 && image.dims->size() != 3) {
    Throw(ErrorKind::kValue, "the image must be <H, W> or <H, W, C>, but got shape {}",
          ToString(*image.dims));
  }
}

void CheckColor(const char* name, size_t numbers, int64_t channels) {
  if (numbers != 3 || channels == 1 || channels == 3) return;
  Throw(ErrorKind::kValue, "{} must be one number for an image of {} channels, but got three", name,
        channels);
}

Value ForImages(const Value& value, const std::function<Value(const Value&)>& f) {
  const Dims& dims = *value.dims;
  if (value.element.kind != Kind::kNumber || dims.size() <= 3) {
    CheckImage(value);
    return f(value);
  }
  DimsRef one = MakeDims(Dims(dims.end() - 3, dims.end()));
  Value image = value, result;
  image.dims = one;
  size_t bytes = image.bytes(), count = bytes == 0 ? 0 : value.bytes() / bytes;
  if (count == 0) {
    Throw(ErrorKind::kValue, "the images must have pixels, but got shape {}", ToString(dims));
  }
  for (size_t i = 0; i < count; ++i, image.data += bytes) {
    Value made = f(image);
    if (i == 0) {
      Dims all(dims.begin(), dims.end() - 3);
      all.insert(all.end(), made.dims->begin(), made.dims->end());
      result = Value::Make(made.element, MakeDims(std::move(all)));
    }
    std::memcpy(result.memory() + i * made.bytes(), made.data, made.bytes());
  }
  return result;
}

Value CutOut(const Value& image, const Window& part, const std::vector<double>& fill) {
  Dims dims{part.height, part.width};
  if (image.dims->size() == 3) dims.push_back((*image.dims)[2]);
  Value result = Value::Make(image.element, MakeDims(std::move(dims)));
  int64_t height = (*image.dims)[0], width = (*image.dims)[1];
  size_t pixel = static_cast<size_t>(Channels(image)) * image.element.size;
  int64_t left = std::clamp<int64_t>(part.left, 0, width);
  int64_t right = std::clamp<int64_t>(part.left + part.width, left, width);
  std::vector<std::byte> border;
  bool inside = part.top >= 0 && part.left >= 0 && part.top + part.height <= height &&
                part.left + part.width <= width;
  if (!inside) border = FilledLine(part.width, image, fill);
  size_t line = static_cast<size_t>(part.width) * pixel;
  size_t before = static_cast<size_t>(left - part.left) * pixel;
  size_t seen = static_cast<size_t>(right - left) * pixel;
  // Left and right of it nothing is seen: all is border.
  if (left >= right) before = line, seen = 0;
  std::byte* out = result.memory();
  for (int64_t y = 0; y < part.height; ++y, out += line) {
    int64_t row = part.top + y;
    if (row < 0 || row >= height) {
      CopyRow(border.data(), out, line);
      continue;
    }
    if (!inside) {
      std::memcpy(out, border.data(), before);
      std::memcpy(out + before + seen, border.data() + before + seen, line - before - seen);
    }
    CopyRow(image.data + static_cast<size_t>(row * width + left) * pixel, out + before, seen);
  }
  return result;
}

Value FlipColumns(const Value& image) {
  Value result = Value::Make(image.element, image.dims);
  int64_t height = (*image.dims)[0], width = (*image.dims)[1];
  size_t pixel = static_cast<size_t>(Channels(image)) * image.element.size;
  for (int64_t y = 0; y < height; ++y) {
    const std::byte* from = image.data + static_cast<size_t>((y + 1) * width) * pixel;
    std::byte* to = result.memory() + static_cast<size_t>(y * width) * pixel;
    if (pixel == 3) {
      ReversePixels(reinterpret_cast<const uint8_t*>(from) - 3 * width,
                    reinterpret_cast<uint8_t*>(to), width);
      continue;
    }
    for (int64_t x = 0; x < width; ++x) {
      from -= pixel;
      std::memcpy(to, from, pixel);
      to += pixel;
    }
  }
  return result;
}

Value FlipRows(const Value& image) {
  Value result = Value::Make(image.element, image.dims);
  int64_t height = (*image.dims)[0];
  if (image.bytes() == 0) return result;
  size_t row = image.bytes() / static_cast<size_t>(height);
  for (int64_t y = 0; y < height; ++y) {
    CopyRow(image.data + static_cast<size_t>(height - 1 - y) * row,
            result.memory() + static_cast<size_t>(y) * row, row);
  }
  return result;
}

Value ChannelsFirst(const Value& image) {
  if (image.dims->size() == 2) return image;
  int64_t height = (*image.dims)[0], width = (*image.dims)[1], channels = (*image.dims)[2];
  Value result = Value::Make(image.element, MakeDims({channels, height, width}));
  size_t size = image.element.size, step = static_cast<size_t>(channels) * size;
  int64_t pixels = height * width;
  if (channels == 3 && size == 1) {
    auto* out = reinterpret_cast<uint8_t*>(result.memory());
    uint8_t* const planes[3] = {out, out + pixels, out + 2 * pixels};
    SplitPixels(image.as<uint8_t>(), pixels, planes);
    return result;
  }
  if (channels == 3 && size == sizeof(float)) {
    SplitFloats(image.as<float>(), reinterpret_cast<float*>(result.memory()), pixels);
    return result;
  }
  for (int64_t c = 0; c < channels; ++c) {
    std::byte* to = result.memory() + static_cast<size_t>(c * pixels) * size;
    const std::byte* from = image.data + static_cast<size_t>(c) * size;
    if (size == 1) {
      Plane<1>(from, to, pixels, step);
    } else if (size == 2) {
      Plane<2>(from, to, pixels, step);
    } else if (size == 4) {
      Plane<4>(from, to, pixels, step);
    } else if (size == 8) {
      Plane<8>(from, to, pixels, step);
    } else {
      Plane<16>(from, to, pixels, step);
    }
  }
  return result;
}

Value Cast(const Value& value, DType dtype) {
  if (value.element.kind != Kind::kNumber) {
    Throw(ErrorKind::kType, "the input must hold numbers, but got {}", value.element.name());
  }
  if (value.element.dtype == dtype) return value;
  Value result = Value::Make(Element::Of(dtype), value.dims);
  int64_t count = value.count();
  WithType(value.element.dtype, [&](auto* from) {
    WithType(dtype, [&](auto* to) {
      using From = std::remove_pointer_t<decltype(from)>;
      using To = std::remove_pointer_t<decltype(to)>;
      const From* source = value.as<From>();
      auto* target = reinterpret_cast<To*>(result.memory());
      for (int64_t i = 0; i < count; ++i) target[i] = Converted<To>(source[i]);
    });
  });
  return result;
}

Value Rescale(const Value& value, float scale, float shift) {
  Value floats = AsFloats(value);
  Value result = Value::Make(floats.element, floats.dims);
  auto* out = reinterpret_cast<float*>(result.memory());
  const auto* in = floats.as<float>();
  for (int64_t i = 0, count = floats.count(); i < count; ++i) out[i] = in[i] * scale + shift;
  return result;
}

Value Normalize(const Value& value, const std::vector<float>& mean, const std::vector<float>& std,
                bool channels_last) {
  CheckImage(value);
  Value floats = AsFloats(value);
  const Dims& dims = *value.dims;
  int64_t channels = dims.size() == 2 ? 1 : channels_last ? dims[2] : dims[0];
  auto given = static_cast<int64_t>(mean.size());
  if (given != 1 && given != channels) {
    Throw(ErrorKind::kValue,
          "mean must have one entry for each channel, but got {} for an image of shape {} "
          "(is_hwc={})",
          given, ToString(dims), channels_last ? "True" : "False");
  }
  Value result = Value::Make(floats.element, floats.dims);
  auto* out = reinterpret_cast<float*>(result.memory());
  const auto* in = floats.as<float>();
  int64_t count = floats.count(), pixels = channels == 0 ? 0 : count / channels;
  for (int64_t i = 0; i < count; ++i) {
    int64_t channel = given == 1 ? 0 : channels_last ? i % channels : i / pixels;
    out[i] = (in[i] - mean[static_cast<size_t>(channel)]) / std[static_cast<size_t>(channel)];
  }
  return result;
}

Value OneHot(const Value& value, int64_t classes, double smoothing) {
  if (value.element.kind != Kind::kNumber || !IsInteger(value.element.dtype)) {
    Throw(ErrorKind::kType, "the input must be of an integer type, but got {}",
          value.element.name());
  }
  Value numbers = Cast(value, DType::kInt64);
  const auto* in = numbers.as<int64_t>();
  int64_t count = numbers.count();
  auto [low, high] = std::minmax_element(in, in + count);
  if (count > 0 && (*low < 0 || *high >= classes)) {
    Throw(ErrorKind::kValue, "the input must be in [0, {}), but got values in [{}, {}]", classes,
          *low, *high);
  }
  Dims dims = *value.dims;
  dims.push_back(classes);
  Value hot = Value::Make(Element::Of(DType::kFloat64), MakeDims(std::move(dims)));
  auto* out = reinterpret_cast<double*>(hot.memory());
  double rest = smoothing / static_cast<double>(classes);
  std::fill(out, out + count * classes, rest);
  for (int64_t i = 0; i < count; ++i) out[i * classes + in[i]] = 1.0 - smoothing + rest;
  return smoothing == 0 ? Cast(hot, value.element.dtype) : hot;
}

namespace {

// More than caches hold beside what else goes on.
constexpr size_t kLarge = size_t{1} << 23;

// The same of three channels, some pixels at a time.
void ApplyToColors(const Lookup& lookup, bool flipped, const Value& image, float* out, bool large) {
  int64_t width = (*image.dims)[1], pixels = (*image.dims)[0] * width;
  int64_t block = flipped ? width : 2048;
  auto size = static_cast<size_t>(block);
  std::vector<uint8_t> bytes(6 * size);
  std::vector<float> floats(lookup.channels_first || lookup.tables.size() == 1 ? 0 : 3 * size);
  uint8_t* turned = bytes.data() + 3 * size;
  uint8_t* const planes[3] = {bytes.data(), bytes.data() + size, bytes.data() + 2 * size};
  for (int64_t first = 0; first < pixels; first += block) {
    int64_t count = std::min(block, pixels - first);
    const uint8_t* from = image.as<uint8_t>() + 3 * first;
    if (flipped) {
      ReversePixels(from, turned, count);
      from = turned;
    }
    if (lookup.tables.size() == 1 && !lookup.channels_first) {
      MapFloats(lookup.tables[0], from, out + 3 * first, 3 * count, large);
      continue;
    }
    SplitPixels(from, count, planes);
    const float* mapped[3];
    for (size_t c = 0; c < 3; ++c) {
      auto plane = static_cast<int64_t>(c);
      float* to = lookup.channels_first ? out + plane * pixels + first : &floats[c * size];
      MapFloats(lookup.tables[std::min(c, lookup.tables.size() - 1)], planes[c], to, count,
                large && lookup.channels_first);
      mapped[c] = to;
    }
    if (!lookup.channels_first) JoinFloats(mapped, count, out + 3 * first);
  }
}

}  // namespace

Value Apply(const Lookup& lookup, bool flipped, const Value& image) {
  int64_t height = (*image.dims)[0], width = (*image.dims)[1], channels = Channels(image);
  Dims dims = *image.dims;
  if (lookup.channels_first && dims.size() == 3) dims = {channels, height, width};
  Value result = Value::Make(Element::Of(DType::kFloat32), MakeDims(std::move(dims)));
  auto* out = reinterpret_cast<float*>(result.memory());
  const auto* in = image.as<uint8_t>();
  bool large = result.bytes() >= kLarge;
  bool alike = lookup.tables.size() == 1 && (!lookup.channels_first || channels == 1);
  if (alike && !flipped) {
    MapFloats(lookup.tables[0], in, out, image.count(), large);
    return result;
  }
  if (channels == 3) {
    ApplyToColors(lookup, flipped, image, out, large);
    return result;
  }
  // Of the result: how far it is from one column or channel to the next.
  int64_t column = lookup.channels_first ? 1 : channels;
  int64_t plane = lookup.channels_first ? height * width : 1;
  int64_t row = lookup.channels_first ? width : width * channels;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t c = 0; c < channels; ++c) {
      const float* table =
          lookup.tables[std::min(static_cast<size_t>(c), lookup.tables.size() - 1)].floats.data();
      const uint8_t* from = in + y * width * channels + c;
      float* to = out + y * row + c * plane;
      int64_t step = column;
      if (flipped) {
        to += (width - 1) * column;
        step = -column;
      }
      for (int64_t x = 0; x < width; ++x, from += channels, to += step) *to = table[*from];
    }
  }
  return result;
}

}  // namespace ms::dataset
