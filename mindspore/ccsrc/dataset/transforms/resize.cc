// See resize.h. Separable: a pass over rows, a pass over columns. Bytes are in resize_bytes.cc, or
// in resize_pillow.cc where they become what Pillow makes of them; all else is floats without
// rounding between the passes.
#include "dataset/transforms/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "dataset/transforms/pixels.h"
#include "dataset/transforms/resize_bytes.h"
#include "dataset/transforms/taps.h"
#include "dataset/transforms/wide.h"

namespace ms::dataset {
namespace {

bool Fixed(Interpolation interpolation) {
  return interpolation == Interpolation::kLanczos || interpolation >= Interpolation::kPillowCubic;
}

// T is what pixels are, F in what is computed.

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

template <class T, class F>
void Run(const Value& image, Value* result, const Extents& from, int64_t height, int64_t width,
         Interpolation interpolation) {
  ResizeFloat<T, F>(image.as<T>(), reinterpret_cast<T*>(result->memory()), from, height, width,
                    interpolation);
}

void Dispatch(const Value& image, Value* result, const Extents& from, int64_t height, int64_t width,
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
  return ResizePart(image, {0, 0, dims[0], dims[1]}, height, width, interpolation);
}

Value ResizePart(const Value& image, const Window& part, int64_t height, int64_t width,
                 Interpolation interpolation) {
  const Dims& dims = *image.dims;
  int64_t channels = dims.size() == 3 ? dims[2] : 1;
  Extents from{part.height, part.width, channels, dims[1] * channels};
  bool whole = part.height == dims[0] && part.width == dims[1];
  bool same = part.height == height && part.width == width;
  if (whole && same) return image;
  if (image.count() == 0) {
    Throw(ErrorKind::kValue, "For 'Resize', the image must not be empty, but got shape {}.",
          ToString(dims));
  }
  if (image.element == Element::Of(DType::kBool)) {
    // Of 0 and 1, what is nearer.
    Value numbers = image;
    numbers.element = Element::Of(DType::kUInt8);
    numbers = ResizePart(numbers, part, height, width, interpolation);
    numbers.element = image.element;
    return numbers;
  }
  // As in OpenCV, areas are averaged only where neither side grows.
  if (interpolation == Interpolation::kArea && (height > part.height || width > part.width))
    interpolation = Interpolation::kAreaOfTwo;
  bool bytes = image.element == Element::Of(DType::kUInt8);
  bool fixed = bytes && FitsFixed(interpolation, from, height, width);
  // Only those with distances between rows of their own take a part without a copy of it.
  if (!whole && (!fixed || same)) {
    Value cut = CutOut(image, part, {});
    return same ? cut : Resize(cut, height, width, interpolation);
  }
  Dims target{height, width};
  if (dims.size() == 3) target.push_back(channels);
  Value result = Value::Make(image.element, MakeDims(std::move(target)));
  if (fixed) {
    const uint8_t* in = image.as<uint8_t>() + part.top * from.line + part.left * channels;
    ResizeBytes(in, reinterpret_cast<uint8_t*>(result.memory()), from, height, width,
                interpolation);
  } else if (interpolation == Interpolation::kNearest ||
             interpolation == Interpolation::kPillowNearest) {
    CopyNearest(image, result.memory(), from, height, width, interpolation);
  } else if (Fixed(interpolation) && bytes) {
    ResizeAsPillow(image.as<uint8_t>(), reinterpret_cast<uint8_t*>(result.memory()), from, height,
                   width, interpolation);
  } else {
    Dispatch(image, &result, from, height, width, interpolation);
  }
  return result;
}

}  // namespace ms::dataset
