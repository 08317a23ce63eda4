// See taps.h.
#include "dataset/transforms/taps.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace ms::dataset {
namespace {

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

// What averages over areas become where a side grows: two pixels, whatever lies between targets.
Taps TwoTaps(int64_t source, int64_t target) {
  Taps taps;
  taps.count = static_cast<int>(std::min<int64_t>(2, source));
  taps.weights.resize(static_cast<size_t>(target) * static_cast<size_t>(taps.count));
  for (int64_t i = 0; i < target; ++i) {
    int64_t low = i * source / target;
    int64_t beyond = (i + 1) * source - (low + 1) * target;  // in parts of `source`
    bool second = beyond > 0 && low < source - 1;
    double share = second ? static_cast<double>(beyond % source) / static_cast<double>(source) : 0;
    int64_t first = std::min(low, source - taps.count);
    double* weights = &taps.weights[static_cast<size_t>(i) * static_cast<size_t>(taps.count)];
    weights[low - first] = 1 - share;
    if (share > 0) weights[low + 1 - first] = share;
    taps.first.push_back(static_cast<int>(first));
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

}  // namespace

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
    case Interpolation::kAreaOfTwo:
      return TwoTaps(source, target);
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

namespace {

int32_t Paired(int16_t low, int16_t high) {
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint16_t>(low)) |
                              static_cast<uint32_t>(static_cast<uint16_t>(high)) << 16);
}

}  // namespace

PairedTaps::PairedTaps(int64_t source, int64_t target, Interpolation interpolation) {
  Taps taps = MakeTaps(source, target, interpolation);
  first.assign(taps.first.begin(), taps.first.end());
  count = (taps.count + 1) / 2;
  weights.resize(static_cast<size_t>(count * target));
  std::vector<int16_t> whole(static_cast<size_t>(count) * 2);
  for (int64_t x = 0; x < target; ++x) {
    int rest = 1 << kBits;
    size_t largest = 0;
    for (size_t k = 0; k < static_cast<size_t>(taps.count); ++k) {
      double weight = taps.weights[static_cast<size_t>(x * taps.count) + k];
      whole[k] = static_cast<int16_t>(std::lrint(weight * (1 << kBits)));
      rest -= whole[k];
      if (whole[k] > whole[largest]) largest = k;
    }
    whole[largest] = static_cast<int16_t>(whole[largest] + rest);
    for (int64_t k = 0; k < count; ++k) {
      auto at = static_cast<size_t>(2 * k);
      weights[static_cast<size_t>(k * target + x)] = Paired(whole[at], whole[at + 1]);
    }
  }
}

}  // namespace ms::dataset
