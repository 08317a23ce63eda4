// See resize.h. Separable: a pass over rows, a pass over columns. Images of bytes have two ways:
// Pillow's, in fixed point with bytes between the passes, bit for bit; and floats without rounding
// between them.
#include "dataset/transforms/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "dataset/transforms/pixels.h"

// The compiler makes a copy for wider vectors, chosen when the library is loaded. None fuses
// multiplications with additions: all give the same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define MS_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define MS_WIDE
#endif

namespace ms::dataset {
namespace {

constexpr int kBits = 32 - 8 - 2;  // of Pillow's weights: sums of bytes stay within 32

// Which source pixels make a target pixel, and how much of each.
struct Taps {
  int count = 0;                // the same for all, the last ones with weight 0
  std::vector<int> first;       // of each target
  std::vector<double> weights;  // [target, count]
};

double Triangle(double x) { return std::max(1.0 - std::abs(x), 0.0); }

double Cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

double Sinc(double x) {
  return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

double Lanczos(double x) { return std::abs(x) < 3 ? Sinc(x) * Sinc(x / 3) : 0; }

double Box(double x) { return x > -0.5 && x <= 0.5 ? 1 : 0; }

// A kernel of Pillow's: as wide as the target pixel when shrinking, cut off at the border.
Taps WideTaps(int64_t source, int64_t target, double reach, double (*kernel)(double)) {
  double scale = static_cast<double>(source) / static_cast<double>(target);
  double spread = std::max(scale, 1.0);
  double radius = reach * spread;
  Taps taps;
  taps.count = static_cast<int>(std::ceil(radius)) * 2 + 1;
  taps.weights.resize(static_cast<size_t>(target) * static_cast<size_t>(taps.count));
  for (int64_t i = 0; i < target; ++i) {
    double centre = (static_cast<double>(i) + 0.5) * scale;
    int low = std::max(static_cast<int>(centre - radius + 0.5), 0);
    int high = std::min(static_cast<int>(centre + radius + 0.5), static_cast<int>(source));
    double* weights = &taps.weights[static_cast<size_t>(i) * static_cast<size_t>(taps.count)];
    double sum = 0;
    for (int x = low; x < high; ++x) {
      weights[x - low] = kernel((x - centre + 0.5) / spread);
      sum += weights[x - low];
    }
    for (int x = low; x < high && sum != 0; ++x) weights[x - low] /= sum;
    taps.first.push_back(low);
  }
  return taps;
}

// A kernel of fixed width, whose pixels beyond the border are those at it.
Taps NarrowTaps(int64_t source, int64_t target, int reach,
                const std::function<double(double)>& kernel) {
  double scale = static_cast<double>(source) / static_cast<double>(target);
  auto last = static_cast<int>(source - 1);
  Taps taps;
  taps.count = std::min(2 * reach, last + 1);
  taps.weights.resize(static_cast<size_t>(target) * static_cast<size_t>(taps.count));
  for (int64_t i = 0; i < target; ++i) {
    double centre = (static_cast<double>(i) + 0.5) * scale - 0.5;
    int low = static_cast<int>(std::floor(centre)) - reach + 1;
    int first = std::clamp(low, 0, last + 1 - taps.count);
    double* weights = &taps.weights[static_cast<size_t>(i) * static_cast<size_t>(taps.count)];
    for (int x = low; x < low + 2 * reach; ++x) {
      weights[std::clamp(x, first, first + taps.count - 1) - first] += kernel(x - centre);
    }
    taps.first.push_back(first);
  }
  return taps;
}

// Averages over the area that each target pixel covers.
Taps AreaTaps(int64_t source, int64_t target) {
  double scale = static_cast<double>(source) / static_cast<double>(target);
  Taps taps;
  taps.count = static_cast<int>(std::min<int64_t>(static_cast<int64_t>(scale) + 2, source));
  taps.weights.resize(static_cast<size_t>(target) * static_cast<size_t>(taps.count));
  for (int64_t i = 0; i < target; ++i) {
    double low = static_cast<double>(i) * scale, high = static_cast<double>(i + 1) * scale;
    int first = std::min(static_cast<int>(low), static_cast<int>(source) - taps.count);
    double* weights = &taps.weights[static_cast<size_t>(i) * static_cast<size_t>(taps.count)];
    for (int x = 0; x < taps.count; ++x) {
      weights[x] =
          std::max(std::min(high, first + x + 1.0) - std::max(low, first + x + 0.0), 0.0) / scale;
    }
    taps.first.push_back(first);
  }
  return taps;
}

Taps NearestTaps(int64_t source, int64_t target, bool centres) {
  Taps taps;
  taps.count = 1;
  taps.weights.assign(static_cast<size_t>(target), 1.0);
  double scale = static_cast<double>(source) / static_cast<double>(target);
  double centre = scale * 0.5;  // added up as Pillow does, whose rounding decides ties
  for (int64_t i = 0; i < target; ++i, centre += scale) {
    int64_t x = centres ? static_cast<int64_t>(centre) : i * source / target;
    taps.first.push_back(static_cast<int>(std::min(x, source - 1)));
  }
  return taps;
}

Taps MakeTaps(int64_t source, int64_t target, Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::kNearest:
      return NearestTaps(source, target, false);
    case Interpolation::kPillowNearest:
      return NearestTaps(source, target, true);
    case Interpolation::kLinear:
      return NarrowTaps(source, target, 1, Triangle);
    case Interpolation::kCubic:
      return NarrowTaps(source, target, 2, [](double x) { return Cubic(x, -0.75); });
    case Interpolation::kArea:
      return AreaTaps(source, target);
    case Interpolation::kLanczos:
      return WideTaps(source, target, 3, Lanczos);
    case Interpolation::kPillowCubic:
      return WideTaps(source, target, 2, [](double x) { return Cubic(x, -0.5); });
    case Interpolation::kPillowLinear:
      return WideTaps(source, target, 1, Triangle);
    case Interpolation::kPillowBox:
      return WideTaps(source, target, 0.5, Box);
  }
  Throw(ErrorKind::kValue, "For 'Resize', the interpolation is not known.");
}

bool Fixed(Interpolation interpolation) {
  return interpolation == Interpolation::kLanczos || interpolation >= Interpolation::kPillowCubic;
}

struct Extents {
  int64_t height, width, channels;
};

// ---- Pillow's fixed point

std::vector<int32_t> Rounded(const Taps& taps) {
  std::vector<int32_t> weights(taps.weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    double scaled = taps.weights[i] * (1 << kBits);
    weights[i] = static_cast<int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
  }
  return weights;
}

uint8_t Clipped(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kBits, 0, 255)); }

MS_WIDE void ColumnsFixed(const uint8_t* in, uint8_t* out, const Extents& from, int64_t width,
                          const int* first, const int32_t* weights, int count) {
  for (int64_t y = 0; y < from.height; ++y) {
    const uint8_t* row = in + y * from.width * from.channels;
    for (int64_t x = 0; x < width; ++x) {
      const uint8_t* pixel = row + first[x] * from.channels;
      int most = static_cast<int>(std::min<int64_t>(count, from.width - first[x]));
      for (int64_t c = 0; c < from.channels; ++c) {
        int32_t sum = 1 << (kBits - 1);
        for (int k = 0; k < most; ++k) {
          sum += pixel[k * from.channels + c] * weights[x * count + k];
        }
        *out++ = Clipped(sum);
      }
    }
  }
}

MS_WIDE void RowFixed(const uint8_t* in, uint8_t* out, int32_t* sums, int64_t size,
                      const int32_t* weights, int count) {
  for (int64_t i = 0; i < size; ++i) sums[i] = 1 << (kBits - 1);
  for (int k = 0; k < count; ++k) {
    const uint8_t* row = in + k * size;
    int32_t weight = weights[k];
    for (int64_t i = 0; i < size; ++i) sums[i] += row[i] * weight;
  }
  for (int64_t i = 0; i < size; ++i) {
    int32_t value = sums[i] >> kBits;
    out[i] = static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
  }
}

void ResizeFixed(const uint8_t* in, uint8_t* out, Extents from, int64_t height, int64_t width,
                 Interpolation interpolation) {
  std::vector<uint8_t> between;
  if (width != from.width) {
    Taps taps = MakeTaps(from.width, width, interpolation);
    between.resize(static_cast<size_t>(from.height * width * from.channels));
    ColumnsFixed(in, between.data(), from, width, taps.first.data(), Rounded(taps).data(),
                 taps.count);
    in = between.data();
  }
  int64_t size = width * from.channels;
  if (height == from.height) {
    std::memcpy(out, in, static_cast<size_t>(height * size));
    return;
  }
  Taps taps = MakeTaps(from.height, height, interpolation);
  std::vector<int32_t> weights = Rounded(taps), sums(static_cast<size_t>(size));
  for (int64_t y = 0; y < height; ++y) {
    int first = taps.first[static_cast<size_t>(y)];
    int most = static_cast<int>(std::min<int64_t>(taps.count, from.height - first));
    RowFixed(in + first * size, out + y * size, sums.data(), size,
             &weights[static_cast<size_t>(y * taps.count)], most);
  }
}

// ---- floats: T is what pixels are, F in what is computed

template <class T, class F>
inline T Stored(F value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    constexpr auto low = static_cast<F>(std::numeric_limits<T>::min());
    constexpr auto high = static_cast<F>(std::numeric_limits<T>::max());
    if (value >= high) return std::numeric_limits<T>::max();
    // One instruction, which nearbyint is not on every machine.
    return value <= low ? std::numeric_limits<T>::min() : static_cast<T>(std::lrint(value));
  }
}

MS_WIDE void AddBytes(float* sums, const uint8_t* row, float weight, int64_t size) {
  for (int64_t i = 0; i < size; ++i) sums[i] += weight * static_cast<float>(row[i]);
}

template <class T, class F>
void AddRow(F* sums, const T* row, F weight, int64_t size) {
  if constexpr (std::is_same_v<T, uint8_t> && std::is_same_v<F, float>) {
    AddBytes(sums, row, weight, size);
  } else {
    for (int64_t i = 0; i < size; ++i) sums[i] += weight * static_cast<F>(row[i]);
  }
}

// The part of a row that its targets need is in `sums`, from the source pixel `start` on.
template <class T, class F, int kChannels>
void ColumnsFloat(const F* sums, T* out, int64_t width, int64_t channels, const int* first,
                  const F* weights, int count) {
  const int64_t step = kChannels > 0 ? kChannels : channels;
  for (int64_t x = 0; x < width; ++x) {
    const F* pixel = sums + first[x] * step;
    for (int64_t c = 0; c < step; ++c) {
      F sum = 0;
      for (int k = 0; k < count; ++k) sum += pixel[k * step + c] * weights[x * count + k];
      *out++ = Stored<T>(sum);
    }
  }
}

template <class T, class F>
void ResizeFloat(const T* in, T* out, Extents from, int64_t height, int64_t width,
                 Interpolation interpolation) {
  Taps rows = MakeTaps(from.height, height, interpolation);
  Taps columns = MakeTaps(from.width, width, interpolation);
  std::vector<F> weights(columns.weights.begin(), columns.weights.end());
  int64_t size = from.width * from.channels;
  // Wide taps at the right border may reach beyond it, with weight 0.
  std::vector<F> sums(static_cast<size_t>(size + columns.count * from.channels));
  auto finish = from.channels == 3   ? ColumnsFloat<T, F, 3>
                : from.channels == 1 ? ColumnsFloat<T, F, 1>
                                     : ColumnsFloat<T, F, 0>;
  for (int64_t y = 0; y < height; ++y) {
    std::fill(sums.begin(), sums.begin() + size, F(0));
    int64_t first = rows.first[static_cast<size_t>(y)];
    for (int k = 0; k < rows.count; ++k) {
      auto weight = static_cast<F>(rows.weights[static_cast<size_t>(y * rows.count + k)]);
      if (weight != 0) AddRow(sums.data(), in + (first + k) * size, weight, size);
    }
    finish(sums.data(), out + y * width * from.channels, width, from.channels, columns.first.data(),
           weights.data(), columns.count);
  }
}

// Nearest pixels are copied, whatever they are.
void CopyNearest(const Value& image, std::byte* out, Extents from, int64_t height, int64_t width,
                 Interpolation interpolation) {
  Taps rows = MakeTaps(from.height, height, interpolation);
  Taps columns = MakeTaps(from.width, width, interpolation);
  size_t pixel = static_cast<size_t>(from.channels) * image.element.size;
  for (int row : rows.first) {
    const std::byte* line = image.data + static_cast<size_t>(row * from.width) * pixel;
    for (int column : columns.first) {
      std::memcpy(out, line + static_cast<size_t>(column) * pixel, pixel);
      out += pixel;
    }
  }
}

template <class T, class F>
void Run(const Value& image, Value* result, Extents from, int64_t height, int64_t width,
         Interpolation interpolation) {
  ResizeFloat<T, F>(image.as<T>(), reinterpret_cast<T*>(result->memory()), from, height, width,
                    interpolation);
}

void Dispatch(const Value& image, Value* result, Extents from, int64_t height, int64_t width,
              Interpolation interpolation) {
  switch (image.element.dtype) {
    case DType::kUInt8:
      return Run<uint8_t, float>(image, result, from, height, width, interpolation);
    case DType::kInt8:
      return Run<int8_t, float>(image, result, from, height, width, interpolation);
    case DType::kUInt16:
      return Run<uint16_t, float>(image, result, from, height, width, interpolation);
    case DType::kInt16:
      return Run<int16_t, float>(image, result, from, height, width, interpolation);
    case DType::kInt32:
      return Run<int32_t, double>(image, result, from, height, width, interpolation);
    case DType::kUInt32:
      return Run<uint32_t, double>(image, result, from, height, width, interpolation);
    case DType::kInt64:
      return Run<int64_t, double>(image, result, from, height, width, interpolation);
    case DType::kFloat32:
      return Run<float, float>(image, result, from, height, width, interpolation);
    case DType::kFloat64:
      return Run<double, double>(image, result, from, height, width, interpolation);
    default: {
      // Half floats and the like: as floats.
      Value floats = Cast(image, DType::kFloat32);
      floats = Resize(floats, height, width, interpolation);
      *result = Cast(floats, image.element.dtype);
    }
  }
}

}  // namespace

Value Resize(const Value& image, int64_t height, int64_t width, Interpolation interpolation) {
  const Dims& dims = *image.dims;
  Extents from{dims[0], dims[1], dims.size() == 3 ? dims[2] : 1};
  if (from.height == height && from.width == width) return image;
  if (image.count() == 0) {
    Throw(ErrorKind::kValue, "For 'Resize', the image must not be empty, but got shape {}.",
          ToString(dims));
  }
  Dims target{height, width};
  if (dims.size() == 3) target.push_back(from.channels);
  Value result = Value::Make(image.element, MakeDims(std::move(target)));
  if (interpolation == Interpolation::kNearest || interpolation == Interpolation::kPillowNearest) {
    CopyNearest(image, result.memory(), from, height, width, interpolation);
  } else if (Fixed(interpolation) && image.element.dtype == DType::kUInt8) {
    ResizeFixed(image.as<uint8_t>(), reinterpret_cast<uint8_t*>(result.memory()), from, height,
                width, interpolation);
  } else {
    Dispatch(image, &result, from, height, width, interpolation);
  }
  return result;
}

}  // namespace ms::dataset
