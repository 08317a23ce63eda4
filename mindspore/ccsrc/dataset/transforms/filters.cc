// What looks at the neighbours of a pixel: blur and sharpness; and what blots out a part.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "dataset/transforms/elements.h"
#include "dataset/transforms/pixels.h"
#include "dataset/transforms/work.h"

namespace ms::dataset {
namespace {

Value Restored(const std::vector<float>& numbers, const Value& like) {
  Value result = Value::Make(like.element, like.dims);
  WithType(like.element.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    auto* out = reinterpret_cast<T*>(result.memory());
    for (size_t i = 0; i < numbers.size(); ++i) out[i] = Rounded<T>(numbers[i]);
  });
  return result;
}

// The image blended with, or pushed away from, its smooth version; the border has none.
Value AdjustSharpness(const Value& image, double factor) {
  CheckImage(image);
  Value floats = Cast(image, DType::kFloat32);
  const auto* in = floats.as<float>();
  int64_t height = (*image.dims)[0], width = (*image.dims)[1], channels = Channels(image);
  int64_t line = width * channels;
  bool whole = IsInteger(image.element.dtype);
  auto k = static_cast<float>(factor);
  std::vector<float> out(in, in + floats.count());
  for (int64_t y = 1; y + 1 < height; ++y) {
    for (int64_t i = channels; i < line - channels; ++i) {
      const float* at = in + y * line + i;
      float sum = 4 * at[0];
      for (const float* row : {at - line, at, at + line}) {
        sum += row[-channels] + row[0] + row[channels];
      }
      float smooth = sum / 13;
      if (whole) smooth = Unbroken(smooth);
      out[static_cast<size_t>(y * line + i)] = smooth + k * (at[0] - smooth);
    }
  }
  return Restored(out, image);
}

std::vector<float> Gaussian(int64_t size, double sigma) {
  if (!(sigma > 0)) sigma = static_cast<double>(size) * 0.15 + 0.35;
  std::vector<float> weights(static_cast<size_t>(size));
  double sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t i = 0; i < size; ++i) {
      double x = static_cast<double>(i) - static_cast<double>(size - 1) / 2;
      double weight = std::exp(-x * x / (2 * sigma * sigma));
      if (pass == 0) sum += weight;
      weights[static_cast<size_t>(i)] = static_cast<float>(weight / sum);
    }
  }
  return weights;
}

// A place mirrored into [0, extent), the border pixel itself once.
int64_t Mirrored(int64_t place, int64_t extent) {
  if (extent == 1) return 0;
  int64_t period = 2 * (extent - 1);
  place = ((place % period) + period) % period;
  return place < extent ? place : period - place;
}

// A pass along columns: blocks of `extent` places, `step` floats apart.
void PassDown(const std::vector<float>& in, std::vector<float>* out, int64_t extent, int64_t step,
              const std::vector<float>& weights) {
  auto reach = static_cast<int64_t>(weights.size() / 2);
  auto block = extent * step, total = static_cast<int64_t>(in.size());
  for (int64_t first = 0; first < total; first += block) {
    for (int64_t place = 0; place < extent; ++place) {
      float* to = out->data() + first + place * step;
      std::fill(to, to + step, 0.0f);
      for (size_t k = 0; k < weights.size(); ++k) {
        int64_t source = Mirrored(place + static_cast<int64_t>(k) - reach, extent);
        const float* from = in.data() + first + source * step;
        for (int64_t i = 0; i < step; ++i) to[i] += weights[k] * from[i];
      }
    }
  }
}

// The same along rows of pixels of few channels: each row with its mirrored ends, so that the inner
// loop is long.
void PassAcross(const std::vector<float>& in, std::vector<float>* out, int64_t width,
                int64_t channels, const std::vector<float>& weights) {
  auto reach = static_cast<int64_t>(weights.size() / 2);
  int64_t line = width * channels, total = static_cast<int64_t>(in.size());
  std::vector<float> row(static_cast<size_t>((width + 2 * reach) * channels));
  for (int64_t first = 0; first < total; first += line) {
    const float* from = in.data() + first;
    float* to = out->data() + first;
    std::copy(from, from + line, row.begin() + reach * channels);
    for (int64_t x = 0; x < reach; ++x) {
      const float* left = from + Mirrored(x - reach, width) * channels;
      const float* right = from + Mirrored(width + x, width) * channels;
      std::copy(left, left + channels, row.begin() + x * channels);
      std::copy(right, right + channels, row.begin() + (reach + width + x) * channels);
    }
    std::fill(to, to + line, 0.0f);
    for (size_t k = 0; k < weights.size(); ++k) {
      const float* source = row.data() + static_cast<int64_t>(k) * channels;
      for (int64_t i = 0; i < line; ++i) to[i] += weights[k] * source[i];
    }
  }
}

// numbers: width and height of the kernel, deviations along x and y (0: by the size)
Value GaussianBlur(const Value& image, const Numbers& n) {
  CheckImage(image);
  if (image.count() == 0) return image;
  Value floats = Cast(image, DType::kFloat32);
  std::vector<float> now(floats.as<float>(), floats.as<float>() + floats.count());
  std::vector<float> next(now.size());
  int64_t height = (*image.dims)[0], width = (*image.dims)[1], channels = Channels(image);
  PassAcross(now, &next, width, channels, Gaussian(static_cast<int64_t>(n[0]), n[2]));
  PassDown(next, &now, height, width * channels, Gaussian(static_cast<int64_t>(n[1]), n[3]));
  return Restored(now, image);
}

// numbers: top, left, height, width, value...
Value Erase(const Value& image, const Numbers& n) {
  CheckImage(image);
  int64_t height = (*image.dims)[0], width = (*image.dims)[1];
  auto top = static_cast<int64_t>(n[0]), left = static_cast<int64_t>(n[1]);
  auto rows = static_cast<int64_t>(n[2]), columns = static_cast<int64_t>(n[3]);
  if (rows > height || columns > width) {
    Throw(ErrorKind::kValue, "the part must be no larger than the image of {}×{}, but got {}×{}",
          height, width, rows, columns);
  }
  CheckColor("value", n.size() - 4, Channels(image));
  int64_t bottom = std::min(top + rows, height), right = std::min(left + columns, width);
  Value result = Value::Make(image.element, image.dims);
  std::memcpy(result.memory(), image.data, image.bytes());
  WithType(image.element.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    int64_t channels = Channels(image);
    for (int64_t y = top; y < bottom; ++y) {
      for (int64_t i = left * channels; i < right * channels; ++i) {
        size_t which = std::min(4 + static_cast<size_t>(i % channels), n.size() - 1);
        reinterpret_cast<T*>(result.memory())[y * width * channels + i] = Rounded<T>(n[which]);
      }
    }
  });
  return result;
}

}  // namespace

void AddFilters(FunctionTable* functions) {
  functions->insert({
      {"AdjustSharpness",
       [](Work* w, const Numbers& n) { w->value = AdjustSharpness(w->value, n[0]); }},
      {"GaussianBlur", [](Work* w, const Numbers& n) { w->value = GaussianBlur(w->value, n); }},
      {"Erase", [](Work* w, const Numbers& n) { w->value = Erase(w->value, n); }},
  });
}

}  // namespace ms::dataset
