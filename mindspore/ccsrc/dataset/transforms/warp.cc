// Images turned, sheared and seen from elsewhere. A pixel of the result looks where it comes from,
// to a 32nd of a pixel, as MindSpore 2.10 does it: so the bytes are those, within 1.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "dataset/transforms/elements.h"
#include "dataset/transforms/pixels.h"
#include "dataset/transforms/resize.h"
#include "dataset/transforms/warp_bytes.h"
#include "dataset/transforms/work.h"

namespace ms::dataset {
namespace {

using Matrix = std::array<double, 9>;  // of homogeneous coordinates (x, y, 1), row by row

constexpr int kParts = 32;           // of a pixel
constexpr double kFar = 1073741824;  // beyond every image

// Throws for a matrix that folds the plane: nobody could say where its pixels come from.
Matrix Inverse(const Matrix& m) {
  Matrix inverse{m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                 m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                 m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
  double determinant = m[0] * inverse[0] + m[1] * inverse[3] + m[2] * inverse[6];
  if (!(std::abs(determinant) > 1e-12)) {
    Throw(ErrorKind::kValue, "the image must keep an area, but it is folded to a line");
  }
  for (double& entry : inverse) entry /= determinant;
  return inverse;
}

// A place in the source: a pixel, and how many parts of one beyond it.
struct Place {
  int64_t x, y;
  int right, down;
};

int64_t Whole(double number) {
  return std::llrint(std::isnan(number) ? -kFar : std::clamp(number, -kFar, kFar));
}

// Finds places in the source; `fine`: in parts of pixels.
class Finder {
 public:
  Finder(const Matrix& inverse, bool fine, int64_t width) : m_(inverse), fine_(fine) {
    affine_ = m_[6] == 0 && m_[7] == 0 && m_[8] == 1;
    if (!affine_) return;
    across_.reserve(static_cast<size_t>(width));
    down_.reserve(static_cast<size_t>(width));
    for (int64_t x = 0; x < width; ++x) {
      across_.push_back(static_cast<int32_t>(Whole(m_[0] * static_cast<double>(x) * kScale)));
      down_.push_back(static_cast<int32_t>(Whole(m_[3] * static_cast<double>(x) * kScale)));
    }
  }

  // Of an affine map, whose places in a row are a line: the columns from first to last whose pixels
  // lie in an image of that size. Else none.
  std::pair<int64_t, int64_t> Inside(int64_t height, int64_t width) const {
    if (!affine_) return {0, 0};
    auto x = Between(across_, x0_, width), y = Between(down_, y0_, height);
    int64_t first = std::max(x.first, y.first);
    return {first, std::max(first, std::min(x.second, y.second))};
  }

  Line line() const { return {x0_, y0_, across_.data(), down_.data()}; }

  // f(column, number of its pixel) for columns that are Inside, of whole pixels.
  template <class F>
  void Offsets(int64_t first, int64_t last, int64_t width, F&& f) const {
    const int32_t *across = across_.data(), *down = down_.data();
    int64_t x0 = x0_, y0 = y0_;  // of this row, which f does not change
    for (int64_t i = first; i < last; ++i) {
      f(i, ((y0 + down[i]) >> 10) * width + ((x0 + across[i]) >> 10));
    }
  }

  // Before the places of a row are asked for.
  void Begin(int64_t row) {
    y_ = static_cast<double>(row);
    int64_t half = fine_ ? 16 : 512;
    x0_ = Whole((m_[1] * y_ + m_[2]) * kScale) + half;
    y0_ = Whole((m_[4] * y_ + m_[5]) * kScale) + half;
  }

  Place operator()(int64_t column) const {
    if (!affine_) return Projective(static_cast<double>(column));
    int64_t px = x0_ + across_[static_cast<size_t>(column)];
    int64_t py = y0_ + down_[static_cast<size_t>(column)];
    return fine_ ? Split(px >> 5, py >> 5) : Place{px >> 10, py >> 10, 0, 0};
  }

 private:
  static constexpr double kScale = 1024;  // steps in which an affine map counts

  // Where start + steps, which rise or fall, are in [0, extent) pixels.
  static std::pair<int64_t, int64_t> Between(const std::vector<int32_t>& steps, int64_t start,
                                             int64_t extent) {
    if (steps.empty()) return {0, 0};
    bool rises = steps.back() >= steps.front();
    auto columns = static_cast<int64_t>(steps.size());
    int64_t all = int64_t{steps.back()} - steps.front();  // from the first column to the last
    auto below = [&](int64_t limit) {  // how many columns come before the limit is passed
      auto before = [&](int32_t step) { return (((start + step) >> 10) < limit) == rises; };
      if (std::abs(all) < 16 * columns) {
        return std::partition_point(steps.begin(), steps.end(), before) - steps.begin();
      }
      // The steps are a line but for their rounding: it is not far from where that passes.
      int64_t column = (limit * 1024 - start) * (columns - 1) / all;
      column = std::clamp<int64_t>(column, 0, columns);
      while (column > 0 && !before(steps[static_cast<size_t>(column - 1)])) --column;
      while (column < columns && before(steps[static_cast<size_t>(column)])) ++column;
      return column;
    };
    return rises ? std::pair{below(0), below(extent)} : std::pair{below(extent), below(0)};
  }

  Place Projective(double x) const {
    double w = m_[6] * x + m_[7] * y_ + m_[8];
    double scale = w == 0 ? 0 : (fine_ ? kParts : 1) / w;
    int64_t px = Whole((m_[0] * x + m_[1] * y_ + m_[2]) * scale);
    int64_t py = Whole((m_[3] * x + m_[4] * y_ + m_[5]) * scale);
    return fine_ ? Split(px, py) : Place{px, py, 0, 0};
  }

  static Place Split(int64_t px, int64_t py) {
    return {px >> 5, py >> 5, static_cast<int>(px & 31), static_cast<int>(py & 31)};
  }

  Matrix m_;
  bool fine_, affine_;
  double y_ = 0;
  int64_t x0_ = 0, y0_ = 0;
  std::vector<int32_t> across_, down_;  // within kFar
};

// Weights of the neighbours for each part of a pixel: two of lines, four of cubics.
struct Weights {
  int count, before;
  std::array<std::array<float, 4>, kParts> of;

  explicit Weights(bool cubic) : count(cubic ? 4 : 2), before(cubic ? 1 : 0), of() {
    for (int i = 0; i < kParts; ++i) {
      double x = static_cast<double>(i) / kParts, a = -0.75;
      std::array<double, 4> w{1 - x, x, 0, 0};
      if (cubic) {
        w[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
        w[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
        w[2] = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1;
        w[3] = 1 - w[0] - w[1] - w[2];
      }
      for (size_t k = 0; k < 4; ++k) of[static_cast<size_t>(i)][k] = static_cast<float>(w[k]);
    }
  }
};

template <class T>
struct Source {
  const T* pixels;
  int64_t height, width, channels;
  const T* fill;  // of each channel, for a whole row

  const T* At(int64_t y, int64_t x) const {
    bool inside = static_cast<uint64_t>(y) < static_cast<uint64_t>(height) &&
                  static_cast<uint64_t>(x) < static_cast<uint64_t>(width);
    return inside ? pixels + (y * width + x) * channels : fill;
  }
};

// Lines between bytes in whole numbers: the weights have ten bits.
void BlendBytes(const Source<uint8_t>& source, const Place& place, uint8_t* out) {
  const uint8_t *a, *b, *c, *d;
  int64_t x = place.x, y = place.y, channels = source.channels;
  if (x >= 0 && y >= 0 && x + 1 < source.width && y + 1 < source.height) {
    a = source.pixels + (y * source.width + x) * channels;
    b = a + channels, c = a + source.width * channels, d = c + channels;
  } else {
    a = source.At(y, x), b = source.At(y, x + 1);
    c = source.At(y + 1, x), d = source.At(y + 1, x + 1);
  }
  int right = place.right, down = place.down, left = kParts - right, up = kParts - down;
  int wa = up * left, wb = up * right, wc = down * left, wd = down * right;
  for (int64_t i = 0; i < channels; ++i) {
    out[i] = static_cast<uint8_t>((a[i] * wa + b[i] * wb + c[i] * wc + d[i] * wd + 512) >> 10);
  }
}

template <class T>
void Blend(const Source<T>& source, const Place& place, const Weights& weights, T* out) {
  const auto& across = weights.of[static_cast<size_t>(place.right)];
  const auto& down = weights.of[static_cast<size_t>(place.down)];
  std::array<const T*, 16> taps;
  std::array<float, 16> shares;
  size_t count = 0;
  for (int j = 0; j < weights.count; ++j) {
    for (int i = 0; i < weights.count; ++i, ++count) {
      taps[count] = source.At(place.y + j - weights.before, place.x + i - weights.before);
      shares[count] = down[static_cast<size_t>(j)] * across[static_cast<size_t>(i)];
    }
  }
  using Sum =
      std::conditional_t<std::is_same_v<T, uint8_t> || std::is_same_v<T, float>, float, double>;
  for (int64_t c = 0; c < source.channels; ++c) {
    Sum sum = 0;
    for (size_t k = 0; k < count; ++k) sum += shares[k] * Converted<Sum>(taps[k][c]);
    out[c] = Rounded<T>(sum);
  }
}

// The cubic through bytes of three channels, all of whose sixteen neighbours are in the image:
// first down the twelve columns of bytes, which are a vector, then across.
void BlendColors(const Source<uint8_t>& source, const Place& place, const Weights& weights,
                 uint8_t* out) {
  const auto& across = weights.of[static_cast<size_t>(place.right)];
  const auto& down = weights.of[static_cast<size_t>(place.down)];
  const uint8_t* row = source.pixels + ((place.y - 1) * source.width + place.x - 1) * 3;
  float sums[12] = {};
  for (size_t j = 0; j < 4; ++j, row += source.width * 3) {
    for (int i = 0; i < 12; ++i) sums[i] += down[j] * static_cast<float>(row[i]);
  }
  for (int c = 0; c < 3; ++c) {
    out[c] = RoundedByte(across[0] * sums[c] + across[1] * sums[3 + c] + across[2] * sums[6 + c] +
                         across[3] * sums[9 + c]);
  }
}

template <class T>
void CopyPixel(const T* from, int64_t channels, T* out) {
  if (channels == 3) {
    std::memcpy(out, from, 3 * sizeof(T));
  } else {
    std::copy(from, from + channels, out);
  }
}

// The nearest pixels of a row of `width`.
template <class T>
void NearestRow(const Source<T>& source, const Finder& find, int64_t width, T* out) {
  auto [first, last] = find.Inside(source.height, source.width);
  int64_t channels = source.channels;
  auto some = [&](int64_t from, int64_t to) {
    // Beyond what is inside of an affine map, all is border.
    if (first != last) std::copy_n(source.fill, (to - from) * channels, out + from * channels);
    for (int64_t x = from; first == last && x < to; ++x) {
      Place place = find(x);
      CopyPixel(source.At(place.y, place.x), channels, out + x * channels);
    }
  };
  some(0, first);
  bool bytes = std::is_same_v<T, uint8_t> && source.height * source.width < INT32_MAX / 4;
  if (channels == 3 && bytes) {
    NearestColorBytes(reinterpret_cast<const uint8_t*>(source.pixels), source.width, source.height,
                      find.line(), first, last, reinterpret_cast<uint8_t*>(out));
  } else if (channels == 3) {
    find.Offsets(first, last, source.width, [&](int64_t x, int64_t offset) {
      std::memcpy(out + x * 3, source.pixels + offset * 3, 3 * sizeof(T));
    });
  } else {
    find.Offsets(first, last, source.width, [&](int64_t x, int64_t offset) {
      std::copy_n(source.pixels + offset * channels, channels, out + x * channels);
    });
  }
  some(last, width);
}

template <class T>
void BlendRow(const Source<T>& source, const Finder& find, const Weights& weights, int64_t width,
              T* out) {
  int64_t fast = 0, done = 0;  // columns from fast to done are done at once
  if constexpr (std::is_same_v<T, uint8_t>) {
    if (weights.count == 2 && source.channels == 3) {
      auto [first, last] = find.Inside(source.height - 1, source.width - 2);
      done = BlendColorBytes(source.pixels, source.width, find.line(), first, last, width, out);
      fast = first;
    }
  }
  for (int64_t x = 0; x < width; ++x, out += source.channels) {
    if (x == fast && done > fast) {
      out += (done - fast) * source.channels;
      x = done;
    }
    Place place = find(x);
    if constexpr (std::is_same_v<T, uint8_t>) {
      bool within =
          place.x >= 1 && place.y >= 1 && place.x + 2 < source.width && place.y + 2 < source.height;
      if (weights.count == 2) {
        BlendBytes(source, place, out);
        continue;
      }
      if (within && source.channels == 3) {
        BlendColors(source, place, weights, out);
        continue;
      }
    }
    Blend(source, place, weights, out);
  }
}

// Of one number or three, what a channel has beyond the image: every fourth one has nothing there,
// as in OpenCV, whose colors have four numbers.
double FillOf(const Numbers& fill, int64_t channel) {
  auto c = static_cast<size_t>(channel % 4);
  return c == 3 ? 0 : fill[std::min(c, fill.size() - 1)];
}

Value Warp(const Value& image, const Matrix& forward, int64_t height, int64_t width,
           Interpolation interpolation, const Numbers& fill) {
  CheckImage(image);
  if (image.count() == 0) {
    Throw(ErrorKind::kValue, "the image must have pixels, but got shape {}", ToString(*image.dims));
  }
  Dims dims = *image.dims;
  dims[0] = height, dims[1] = width;
  Value result = Value::Make(image.element, MakeDims(std::move(dims)));
  bool nearest = interpolation == Interpolation::kNearest;
  Finder find(Inverse(forward), !nearest, width);
  static const Weights lines(false), cubics(true);
  const Weights& weights = interpolation == Interpolation::kCubic ? cubics : lines;
  WithType(image.element.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    int64_t channels = Channels(image);
    auto border = std::make_unique<T[]>(static_cast<size_t>(channels * width));
    for (int64_t i = 0; i < channels * width; ++i) {
      border[static_cast<size_t>(i)] = Rounded<T>(FillOf(fill, i % channels));
    }
    Source<T> source{image.as<T>(), (*image.dims)[0], (*image.dims)[1], channels, border.get()};
    T* out = reinterpret_cast<T*>(result.memory());
    for (int64_t y = 0; y < height; ++y, out += width * channels) {
      find.Begin(y);
      if (nearest) {
        NearestRow(source, find, width, out);
      } else {
        BlendRow(source, find, weights, width, out);
      }
    }
  });
  return result;
}

double Radians(double degrees) { return degrees * std::numbers::pi / 180; }

// numbers: degrees, interpolation, expand, has a centre, its x and y, fill...
Value Rotate(const Value& image, const Numbers& n) {
  CheckImage(image);
  auto height = static_cast<double>((*image.dims)[0]);
  auto width = static_cast<double>((*image.dims)[1]);
  double x = n[3] != 0 ? n[4] : (width - 1) / 2, y = n[3] != 0 ? n[5] : (height - 1) / 2;
  double c = std::cos(Radians(n[0])), s = std::sin(Radians(n[0]));
  Matrix m{c, s, (1 - c) * x - s * y, -s, c, s * x + (1 - c) * y, 0, 0, 1};
  double rows = height, columns = width;
  if (n[2] != 0) {
    columns = std::abs(width * c) + std::abs(height * s);
    rows = std::abs(width * s) + std::abs(height * c);
    m[2] += (columns - width) / 2;
    m[5] += (rows - height) / 2;
  }
  Numbers fill = From(n, 6);
  std::reverse(fill.begin(), fill.end());  // MindSpore takes three from blue to red
  return Warp(image, m, std::max<int64_t>(std::llround(rows), 1),
              std::max<int64_t>(std::llround(columns), 1),
              static_cast<Interpolation>(static_cast<int>(n[1])), fill);
}

// numbers: degrees, shares of width and height to move by, scale, shears in degrees along x and y,
// interpolation, whole pixels only, fill...
Value Affine(const Value& image, const Numbers& n) {
  CheckImage(image);
  auto height = static_cast<double>((*image.dims)[0]);
  auto width = static_cast<double>((*image.dims)[1]);
  double turn = Radians(n[0]), shear_x = Radians(n[4]), shear_y = Radians(n[5]), scale = n[3];
  double c = std::cos(turn - shear_y) / std::cos(shear_y);
  double s = std::sin(turn - shear_y) / std::cos(shear_y);
  Matrix m{scale * c,
           scale * (-c * std::tan(shear_x) - std::sin(turn)),
           0,
           scale * s,
           scale * (-s * std::tan(shear_x) + std::cos(turn)),
           0,
           0,
           0,
           1};
  double x = (width - 1) / 2, y = (height - 1) / 2;
  double right = n[1] * width, down = n[2] * height;
  if (n[7] != 0) right = std::nearbyint(right), down = std::nearbyint(down);
  m[2] = x + right - m[0] * x - m[1] * y;
  m[5] = y + down - m[3] * x - m[4] * y;
  return Warp(image, m, (*image.dims)[0], (*image.dims)[1],
              static_cast<Interpolation>(static_cast<int>(n[6])), From(n, 8));
}

// The map of four points to four others; throws where there is none.
Matrix Projection(const std::array<double, 8>& from, const std::array<double, 8>& to) {
  std::array<std::array<double, 9>, 8> rows{};
  for (size_t i = 0; i < 4; ++i) {
    double x = from[2 * i], y = from[2 * i + 1], u = to[2 * i], v = to[2 * i + 1];
    rows[2 * i] = {x, y, 1, 0, 0, 0, -x * u, -y * u, u};
    rows[2 * i + 1] = {0, 0, 0, x, y, 1, -x * v, -y * v, v};
  }
  for (size_t k = 0; k < 8; ++k) {
    size_t best = k;
    for (size_t i = k + 1; i < 8; ++i) {
      if (std::abs(rows[i][k]) > std::abs(rows[best][k])) best = i;
    }
    std::swap(rows[k], rows[best]);
    if (std::abs(rows[k][k]) < 1e-12) {
      Throw(ErrorKind::kValue, "no three of the points may lie on a line");
    }
    for (size_t i = 0; i < 8; ++i) {
      double share = i == k ? 0 : rows[i][k] / rows[k][k];
      for (size_t j = k; j < 9; ++j) rows[i][j] -= share * rows[k][j];
    }
  }
  Matrix m;
  for (size_t k = 0; k < 8; ++k) m[k] = rows[k][8] / rows[k][k];
  m[8] = 1;
  return m;
}

// numbers: interpolation, four points (x, y), the four they go to
Value Perspective(const Value& image, const Numbers& n) {
  CheckImage(image);
  std::array<double, 8> from, to;
  std::copy(n.begin() + 1, n.begin() + 9, from.begin());
  std::copy(n.begin() + 9, n.begin() + 17, to.begin());
  return Warp(image, Projection(from, to), (*image.dims)[0], (*image.dims)[1],
              static_cast<Interpolation>(static_cast<int>(n[0])), {0});
}

// numbers: distortion, interpolation
void RandomPerspective(Work* work, const Numbers& n) {
  CheckImage(work->value);
  int64_t height = (*work->value.dims)[0], width = (*work->value.dims)[1];
  auto right = static_cast<double>(width - 1), bottom = static_cast<double>(height - 1);
  auto across = static_cast<int64_t>(n[0] * static_cast<double>(width / 2));
  auto down = static_cast<int64_t>(n[0] * static_cast<double>(height / 2));
  Numbers points{n[1], 0, 0, right, 0, right, bottom, 0, bottom};
  for (int corner = 0; corner < 4; ++corner) {
    auto x = static_cast<double>(work->random.Below(across + 1));
    auto y = static_cast<double>(work->random.Below(down + 1));
    points.push_back(corner == 1 || corner == 2 ? right - x : x);
    points.push_back(corner >= 2 ? bottom - y : y);
  }
  work->value = Perspective(work->value, points);
}

}  // namespace

void AddWarps(FunctionTable* functions) {
  functions->insert({
      {"Rotate",
       [](Work* w, const Numbers& n) {
         w->value = ForImages(w->value, [&](const Value& image) { return Rotate(image, n); });
       }},
      {"Affine", [](Work* w, const Numbers& n) { w->value = Affine(w->value, n); }},
      {"Perspective", [](Work* w, const Numbers& n) { w->value = Perspective(w->value, n); }},
      {"RandomPerspective", RandomPerspective},
  });
}

}  // namespace ms::dataset
