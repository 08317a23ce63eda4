// Colors of images: what maps each value alone is one function of numbers (a table for bytes), what
// looks at other channels is a blend with gray. Bytes of three channels go through the latter by
// planes, in which the compiler finds vectors.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "dataset/transforms/bytes.h"
#include "dataset/transforms/elements.h"
#include "dataset/transforms/pixels.h"
#include "dataset/transforms/wide.h"
#include "dataset/transforms/work.h"

namespace ms::dataset {
namespace {

bool IsBytes(const Value& value) { return value.element == Element::Of(DType::kUInt8); }

// f of each element; integers are rounded and clipped.
template <class F>
Value EachElement(const Value& value, F&& f) {
  Value result = Value::Make(value.element, value.dims);
  int64_t count = value.count();
  if (IsBytes(value)) {
    ByteTable table;
    for (int i = 0; i < 256; ++i) {
      table[static_cast<size_t>(i)] = Rounded<uint8_t>(f(static_cast<float>(i)));
    }
    MapBytes(table, value.as<uint8_t>(), reinterpret_cast<uint8_t*>(result.memory()), count);
    return result;
  }
  WithType(value.element.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    using Wide = std::conditional_t<sizeof(T) == 8 || std::is_integral_v<T>, double, float>;
    auto* out = reinterpret_cast<T*>(result.memory());
    const T* in = value.as<T>();
    for (int64_t i = 0; i < count; ++i) out[i] = Rounded<T>(f(Converted<Wide>(in[i])));
  });
  return result;
}

void NeedColor(const Value& image) {
  CheckImage(image);
  if (image.dims->size() != 3 || (*image.dims)[2] != 3) {
    Throw(ErrorKind::kValue, "the image must be <H, W, 3>, but got shape {}",
          ToString(*image.dims));
  }
}

void NeedBytes(const Value& image) {
  CheckImage(image);
  if (!IsBytes(image)) {
    Throw(ErrorKind::kType, "the image must hold uint8, but got {}", image.element.name());
  }
}

// f(red, green, blue as floats, out): three floats for each pixel.
template <class F>
Value EachPixel(const Value& image, F&& f) {
  NeedColor(image);
  Value result = Value::Make(image.element, image.dims);
  WithType(image.element.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    auto* out = reinterpret_cast<T*>(result.memory());
    const T* in = image.as<T>();
    for (int64_t i = 0, count = image.count(); i < count; i += 3) {
      float now[3];
      f(Converted<float>(in[i]), Converted<float>(in[i + 1]), Converted<float>(in[i + 2]), now);
      for (int64_t c = 0; c < 3; ++c) out[i + c] = Rounded<T>(now[c]);
    }
  });
  return result;
}

// Pixels of bytes, some at a time, by planes: f(planes, how many) may change them.
constexpr int64_t kBlock = 2048;

template <class F>
void EachBlock(const uint8_t* in, uint8_t* out, int64_t pixels, F&& f) {
  alignas(64) uint8_t memory[3][kBlock];
  uint8_t* const planes[3] = {memory[0], memory[1], memory[2]};
  for (int64_t i = 0; i < pixels; i += kBlock) {
    int64_t count = std::min(kBlock, pixels - i);
    SplitPixels(in + 3 * i, count, planes);
    f(planes, count);
    if (out) JoinPixels(planes, count, out + 3 * i);
  }
}

template <class F>
Value EachBlock(const Value& image, F&& f) {
  Value result = Value::Make(image.element, image.dims);
  EachBlock(image.as<uint8_t>(), reinterpret_cast<uint8_t*>(result.memory()), image.count() / 3, f);
  return result;
}

MS_WIDE int64_t Sum(const uint8_t* bytes, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += bytes[i];
  return sum;
}

float Gray(float red, float green, float blue) {
  return 0.299f * red + 0.587f * green + 0.114f * blue;
}

// Each element at `factor` times its distance from the middle.
Value Scaled(const Value& image, float middle, float factor) {
  if (!IsBytes(image)) {
    return EachElement(image, [=](auto x) { return middle + factor * (x - middle); });
  }
  Value result = Value::Make(image.element, image.dims);
  ScaleBytes({middle, factor}, image.as<uint8_t>(), reinterpret_cast<uint8_t*>(result.memory()),
             image.count());
  return result;
}

Value AdjustBrightness(const Value& image, double factor) {
  return Scaled(image, 0, static_cast<float>(factor));
}

Value AdjustContrast(const Value& image, double factor) {
  NeedColor(image);
  if (image.count() == 0) return image;
  bool whole = IsInteger(image.element.dtype);
  double sum = 0;
  if (IsBytes(image)) {
    std::array<uint8_t, kBlock> gray;
    EachBlock(image.as<uint8_t>(), nullptr, image.count() / 3, [&](auto planes, int64_t count) {
      GrayPlane(planes, gray.data(), count);
      sum += static_cast<double>(Sum(gray.data(), static_cast<int>(count)));
    });
  } else {
    Value floats = Cast(image, DType::kFloat32);
    const auto* in = floats.as<float>();
    for (int64_t i = 0, count = floats.count(); i < count; i += 3) {
      float gray = Gray(in[i], in[i + 1], in[i + 2]);
      sum += whole ? Unbroken(gray) : gray;
    }
  }
  double mean = sum / (static_cast<double>(image.count()) / 3);
  // As bytes are, the middle is a whole number.
  auto middle = static_cast<float>(whole ? std::floor(mean + 0.5) : mean);
  return Scaled(image, middle, static_cast<float>(factor));
}

// Distances from gray times the factor, as bytes; beyond those, all is 0 or 255.
Value SaturatedBytes(const Value& image, float factor) {
  const Scaling farther(0, factor);
  std::array<uint8_t, kBlock> gray;
  return EachBlock(image, [&](auto planes, int64_t count) {
    GrayPlane(planes, gray.data(), count);
    for (int c = 0; c < 3; ++c) Spread(farther, gray.data(), planes[c], count);
  });
}

Value AdjustSaturation(const Value& image, double factor) {
  NeedColor(image);
  auto k = static_cast<float>(factor);
  if (IsBytes(image)) return SaturatedBytes(image, k);
  bool whole = IsInteger(image.element.dtype);
  return EachPixel(image, [=](float r, float g, float b, float* out) {
    float gray = Gray(r, g, b);
    if (whole) gray = Unbroken(gray);
    out[0] = gray + k * (r - gray), out[1] = gray + k * (g - gray), out[2] = gray + k * (b - gray);
  });
}

// The whole number nearest to scale / byte (of 0, to the scale): floats are exact enough for that.
inline int Reciprocal(float scale, int byte) {
  return static_cast<int>(Unbroken(scale / static_cast<float>(byte > 1 ? byte : 1)));
}

// Red, green and blue at a place of the color wheel, which is six times `full` around: what each
// lacks of full strength.
template <class T>
MS_INLINE void Wheel(T place, T full, T* missing) {
  T distances[3] = {place - 3 * full, place - 2 * full, place - 4 * full};
  for (int c = 0; c < 3; ++c) {
    T far = distances[c] < 0 ? -distances[c] : distances[c];
    T lack = c == 0 ? 2 * full - far : far - full;
    lack = lack > 0 ? lack : 0;
    missing[c] = lack < full ? lack : full;
  }
}

// A pixel of bytes with its hue turned, in whole steps: 256 to the turn on the way to hue,
// saturation and value, 255 on the way back, as MindSpore counts them.
MS_INLINE void TurnPixel(int* red, int* green, int* blue, int steps) {
  constexpr float kSaturation = 255.0f * 4096, kHue = 256.0f * 4096 / 6;
  int r = *red, g = *green, b = *blue;
  int high = r > g ? r : g, low = r < g ? r : g;
  high = high > b ? high : b, low = low < b ? low : b;
  int span = high - low;
  int saturation = (span * Reciprocal(kSaturation, high) + (1 << 11)) >> 12;
  int hue = high == r ? g - b : high == g ? b - r + 2 * span : r - g + 4 * span;
  hue = (hue * Reciprocal(kHue, span) + (1 << 11)) >> 12;
  int missing[3];
  Wheel(((hue + steps) & 255) * 6, 255, missing);
  auto value = static_cast<float>(high);
  int* const colors[3] = {red, green, blue};
  for (int c = 0; c < 3; ++c) {
    auto lack = static_cast<float>(high * saturation * missing[c]);
    *colors[c] = static_cast<int>(Unbroken(value - lack * (1 / (255.0f * 255.0f))));
  }
}

// Some pixels at a time as numbers of 32 bits: of bytes the compiler would take as many at once as
// fill a register, and have too few registers for what they become.
MS_INLINE void TurnPlanes(uint8_t* const planes[3], int count, int steps) {
  constexpr int kSome = 128;
  int numbers[3][kSome];
  for (int first = 0; first < count; first += kSome) {
    int some = count - first < kSome ? count - first : kSome;
    for (int c = 0; c < 3; ++c) {
      for (int i = 0; i < some; ++i) numbers[c][i] = planes[c][first + i];
    }
    for (int i = 0; i < some; ++i) {
      TurnPixel(&numbers[0][i], &numbers[1][i], &numbers[2][i], steps);
    }
    for (int c = 0; c < 3; ++c) {
      uint8_t* plane = planes[c] + first;
      for (int i = 0; i < some; ++i) plane[i] = static_cast<uint8_t>(numbers[c][i]);
    }
  }
}

MS_WIDE void TurnWide(uint8_t* const planes[3], int count, int steps) {
  TurnPlanes(planes, count, steps);
}

#if MS_X86
MS_PERMUTES void TurnWider(uint8_t* const planes[3], int count, int steps) {
  TurnPlanes(planes, count, steps);
}
#endif

void Turn(uint8_t* const planes[3], int count, int steps) {
#if MS_X86
  if (HasPermutes()) return TurnWider(planes, count, steps);
#endif
  TurnWide(planes, count, steps);
}

// The color wheel turned by `shift` turns.
Value AdjustHue(const Value& image, double shift) {
  NeedColor(image);
  auto by = static_cast<float>(shift);
  if (IsBytes(image)) {
    int steps = static_cast<int>(shift * 255);
    return EachBlock(
        image, [=](auto planes, int64_t count) { Turn(planes, static_cast<int>(count), steps); });
  }
  return EachPixel(image, [=](float r, float g, float b, float* out) {
    float high = std::max({r, g, b}), span = high - std::min({r, g, b});
    float safe = span == 0 ? 1 : span, hue;
    if (high == r) {
      hue = (g - b) / safe;
    } else {
      hue = high == g ? 2 + (b - r) / safe : 4 + (r - g) / safe;
    }
    hue = hue / 6 + by;
    Wheel((hue - std::floor(hue)) * 6, 1.0f, out);
    for (int c = 0; c < 3; ++c) out[c] = high - span * out[c];
  });
}

// numbers: low and high of brightness, contrast, saturation and hue
void RandomColorAdjust(Work* work, const Numbers& n) {
  NeedColor(work->value);
  constexpr std::array kSteps = {AdjustBrightness, AdjustContrast, AdjustSaturation, AdjustHue};
  std::array<size_t, 4> order{0, 1, 2, 3};
  for (size_t i = 3; i > 0; --i) {
    std::swap(order[i],
              order[static_cast<size_t>(work->random.Below(static_cast<int64_t>(i) + 1))]);
  }
  for (size_t step : order) {
    double low = n[2 * step], high = n[2 * step + 1], neutral = step == 3 ? 0 : 1;
    if (low == neutral && high == neutral) continue;
    work->value = kSteps[step](work->value, work->random.Uniform(low, high));
  }
}

Value Invert(const Value& image) {
  if (!IsBytes(image)) return EachElement(image, [](auto x) { return decltype(x)(255) - x; });
  Value result = Value::Make(image.element, image.dims);
  auto* out = reinterpret_cast<uint8_t*>(result.memory());
  const auto* in = image.as<uint8_t>();
  for (int64_t i = 0, count = image.count(); i < count; ++i) out[i] = 255 - in[i];
  return result;
}

Value SolarizedBytes(const Value& image, double low, double high) {
  Value result = Value::Make(image.element, image.dims);
  auto* out = reinterpret_cast<uint8_t*>(result.memory());
  const auto* in = image.as<uint8_t>();
  auto from = static_cast<uint8_t>(low), span = static_cast<uint8_t>(std::max(high - low, 0.0));
  if (high < low) return image;
  for (int64_t i = 0, count = image.count(); i < count; ++i) {
    bool inside = static_cast<uint8_t>(in[i] - from) <= span;
    out[i] = static_cast<uint8_t>(inside ? 255 - in[i] : in[i]);
  }
  return result;
}

// numbers: the values from low to high are inverted; of one that is drawn, all above it
Value Solarize(const Value& image, const Numbers& n) {
  double low = std::min(n[0], n[1]), high = std::max(n[0], n[1]);
  if (low == high) high = 255;
  if (IsBytes(image)) return SolarizedBytes(image, std::ceil(low), std::floor(high));
  return EachElement(image,
                     [=](auto x) { return x >= low && x <= high ? decltype(x)(255) - x : x; });
}

Value Posterize(const Value& image, int bits) {
  CheckImage(image);
  bool bytes = image.element == Element::Of(DType::kInt8) || IsBytes(image);
  if (!bytes) {
    Throw(ErrorKind::kType, "the image must hold uint8 or int8, but got {}", image.element.name());
  }
  auto mask = static_cast<uint8_t>(0xFF00 >> bits);
  Value result = Value::Make(image.element, image.dims);
  auto* out = reinterpret_cast<uint8_t*>(result.memory());
  const auto* in = image.as<uint8_t>();
  for (int64_t i = 0, count = image.count(); i < count; ++i) out[i] = in[i] & mask;
  return result;
}

// Integers by their place in [0, 255], floats in [0, 1].
Value AdjustGamma(const Value& image, double gamma, double gain) {
  if (image.element.kind != Kind::kNumber || image.dims->size() < 2) {
    Throw(ErrorKind::kValue, "the image must be <..., H, W, C> or <H, W>, but got shape {}",
          ToString(*image.dims));
  }
  if (IsInteger(image.element.dtype)) {
    return EachElement(image, [=](double x) {
      return std::clamp(std::floor(255 * gain * std::pow(x / 255, gamma)), 0.0, 255.0);
    });
  }
  Value floats = image.element.dtype == DType::kFloat64 ? Cast(image, DType::kFloat32) : image;
  return EachElement(floats,
                     [=](double x) { return std::clamp(gain * std::pow(x, gamma), 0.0, 1.0); });
}

using Histogram = std::array<int64_t, 256>;

// A table for each channel, made from how often each byte occurs in it.
Value ByHistogram(const Value& image, const std::function<ByteTable(Histogram)>& make) {
  NeedBytes(image);
  int64_t channels = Channels(image), count = image.count();
  if (channels != 1 && channels != 3) {
    Throw(ErrorKind::kValue, "the image must have 1 or 3 channels, but got {}", channels);
  }
  Value result = Value::Make(image.element, image.dims);
  auto* out = reinterpret_cast<uint8_t*>(result.memory());
  const auto* in = image.as<uint8_t>();
  auto each = static_cast<size_t>(channels);
  std::array<Histogram, 3> histograms{};
  std::array<ByteTable, 3> tables;
  for (int64_t i = 0; i < count; i += channels) {
    for (size_t c = 0; c < each; ++c) ++histograms[c][in[i + static_cast<int64_t>(c)]];
  }
  for (size_t c = 0; c < each; ++c) tables[c] = make(histograms[c]);
  if (channels == 1) {
    MapBytes(tables[0], in, out, count);
  } else {
    EachBlock(in, out, count / 3, [&](auto planes, int64_t size) {
      for (size_t c = 0; c < each; ++c) MapBytes(tables[c], planes[c], planes[c], size);
    });
  }
  return result;
}

ByteTable Same() {
  ByteTable table;
  std::iota(table.begin(), table.end(), uint8_t{0});
  return table;
}

ByteTable EqualizeTable(Histogram histogram) {
  int64_t total = std::accumulate(histogram.begin(), histogram.end(), int64_t{0});
  size_t first = 0;
  while (first < 255 && histogram[first] == 0) ++first;
  if (histogram[first] == total) return Same();
  ByteTable table{};
  float scale = 255.0f / static_cast<float>(total - histogram[first]);
  int64_t below = 0;
  for (size_t i = first + 1; i < 256; ++i) {
    below += histogram[i];
    table[i] = Rounded<uint8_t>(static_cast<float>(below) * scale);
  }
  return table;
}

// numbers: percentage cut off at both ends, values that do not count
ByteTable ContrastTable(Histogram histogram, const Numbers& n) {
  for (size_t i = 1; i < n.size(); ++i) histogram[static_cast<size_t>(n[i])] = 0;
  int64_t total = std::accumulate(histogram.begin(), histogram.end(), int64_t{0});
  auto cut = static_cast<int64_t>(static_cast<double>(total) * n[0] / 100);
  size_t low = 0, high = 255;
  for (int64_t rest = cut; low < 255 && histogram[low] <= rest; ++low) rest -= histogram[low];
  for (int64_t rest = cut; high > 0 && histogram[high] <= rest; --high) rest -= histogram[high];
  if (high <= low) return Same();
  ByteTable table;
  float scale = 255.0f / static_cast<float>(high - low);
  float offset = -static_cast<float>(low) * scale;
  for (size_t i = 0; i < 256; ++i) {
    float value = static_cast<float>(i) * scale + offset;
    table[i] = static_cast<uint8_t>(std::clamp(value, 0.0f, 255.0f));
  }
  return table;
}

// Noise along the principal colors of ImageNet.
void RandomLighting(Work* work, const Numbers& n) {
  constexpr double kColors[3][3] = {{55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009},
                                    {55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140},
                                    {55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203}};
  float shift[3] = {0, 0, 0};
  for (int k = 0; k < 3; ++k) {
    // Normal, by Box and Muller.
    double radius = std::sqrt(-2 * std::log(1 - work->random.Uniform()));
    double drawn = n[0] * radius * std::cos(2 * 3.14159265358979323846 * work->random.Uniform());
    for (int c = 0; c < 3; ++c) shift[c] += static_cast<float>(kColors[c][k] * drawn);
  }
  work->value = EachPixel(work->value, [&](float r, float g, float b, float* out) {
    out[0] = r + shift[0], out[1] = g + shift[1], out[2] = b + shift[2];
  });
}

// A function of an image and one number.
template <Value (*kFunction)(const Value&, double)>
void ByFactor(Work* work, const Numbers& n) {
  work->value = kFunction(work->value, n[0]);
}

}  // namespace

void AddColors(FunctionTable* functions) {
  functions->insert({
      {"AdjustBrightness", ByFactor<AdjustBrightness>},
      {"AdjustContrast", ByFactor<AdjustContrast>},
      {"AdjustSaturation", ByFactor<AdjustSaturation>},
      {"AdjustHue", ByFactor<AdjustHue>},
      {"RandomColorAdjust", RandomColorAdjust},
      {"RandomLighting", RandomLighting},
      {"Invert",
       [](Work* w, const Numbers&) {
         CheckImage(w->value);
         w->value = Invert(w->value);
       }},
      {"Solarize",
       [](Work* w, const Numbers& n) {
         CheckImage(w->value);
         w->value = Solarize(w->value, n);
       }},
      {"Posterize",
       [](Work* w, const Numbers& n) { w->value = Posterize(w->value, static_cast<int>(n[0])); }},
      {"AdjustGamma",
       [](Work* w, const Numbers& n) { w->value = AdjustGamma(w->value, n[0], n[1]); }},
      {"Equalize",
       [](Work* w, const Numbers&) { w->value = ByHistogram(w->value, EqualizeTable); }},
      {"AutoContrast",
       [](Work* w, const Numbers& n) {
         w->value = ByHistogram(w->value, [&](Histogram h) { return ContrastTable(h, n); });
       }},
  });
}

}  // namespace ms::dataset
