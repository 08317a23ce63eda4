#include "ops/resample.h"

#include <array>
#include <cmath>

namespace ms {
namespace {

constexpr std::array kModes{"nearest", "linear", "cubic", "keys", "mean", "area"};
constexpr std::array kCoordinates{"half_pixel", "half_pixel_or_first", "align_corners",
                                  "asymmetric"};

template <class E, size_t N>
E Parse(const std::array<const char*, N>& names, const OpDef& op, const Attrs& attrs,
        std::string_view attr) {
  const auto& given = AttrOf<std::string>(op, attrs, attr);
  auto found = std::find(names.begin(), names.end(), given);
  if (found == names.end()) {
    Throw(ErrorKind::kValue, "For '{}', '{}' must be one of {}, but got '{}'.", op.name, attr,
          fmt::join(names, ", "), given);
  }
  return static_cast<E>(found - names.begin());
}

struct SampleWindow {
  int64_t first;
  std::vector<double> weights;
};

// One axis that is sampled.
struct Axis {
  Sampling sampling;
  int64_t in, out;
  double step;  // elements of the input per element of the result

  int64_t Inside(int64_t i) const { return std::clamp<int64_t>(i, 0, in - 1); }

  double Place(int64_t i) const {
    auto at = static_cast<double>(i);
    switch (sampling.coordinates) {
      case SampleCoordinates::kHalfPixelOrFirst:
        if (out == 1) return 0;
        [[fallthrough]];
      case SampleCoordinates::kHalfPixel:
        return (at + 0.5) * step - 0.5;
      case SampleCoordinates::kAlignCorners:
      case SampleCoordinates::kAsymmetric:
        return at * step;
    }
    return 0;
  }

  // In single precision, whose rounding decides at borders: as all others do.
  SampleWindow Nearest(int64_t i) const {
    auto at = static_cast<float>(i), by = static_cast<float>(step);
    float place;
    if (sampling.coordinates == SampleCoordinates::kAlignCorners) {
      place = std::floor(at * by + 0.5f);
    } else if (sampling.coordinates != SampleCoordinates::kAsymmetric) {
      place = std::floor((at + 0.5f) * by);
    } else {
      place = std::floor(at * by);
    }
    return {Inside(static_cast<int64_t>(place)), {1.0}};
  }

  SampleWindow Linear(int64_t i) const {
    double place = std::max(Place(i), 0.0);
    auto first = static_cast<int64_t>(place);
    if (first >= in - 1) return {in - 1, {1.0}};
    double share = place - static_cast<double>(first);
    return {first, {1 - share, share}};
  }

  SampleWindow Cubic(int64_t i) const {
    double place = Place(i), whole = std::floor(place), t = place - whole;
    bool keys = sampling.mode == SampleMode::kKeys;
    double a = keys ? -0.5 : -0.75;
    auto near = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    auto far = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    const double weights[] = {far(t + 1), near(t), near(1 - t), far(2 - t)};
    int64_t at = static_cast<int64_t>(whole) - 1;
    SampleWindow window{Inside(at), {}};
    window.weights.resize(static_cast<size_t>(Inside(at + 3) - window.first + 1));
    double sum = 0;
    for (int64_t k = 0; k < 4; ++k) {
      if (keys && at + k != Inside(at + k)) continue;
      window.weights[static_cast<size_t>(Inside(at + k) - window.first)] += weights[k];
      sum += weights[k];
    }
    for (double& w : window.weights) w /= keys ? sum : 1;
    return window;
  }

  SampleWindow Mean(int64_t i) const {
    int64_t first = i * in / out, last = ((i + 1) * in + out - 1) / out;
    auto count = static_cast<size_t>(last - first);
    return {first, std::vector<double>(count, 1.0 / static_cast<double>(count))};
  }

  SampleWindow Area(int64_t i) const {
    double begin = static_cast<double>(i) * step, end = begin + step;
    int64_t first = Inside(static_cast<int64_t>(std::floor(begin)));
    auto last = static_cast<int64_t>(std::ceil(end));
    SampleWindow window{first, {}};
    window.weights.resize(static_cast<size_t>(Inside(last - 1) - first + 1));
    for (auto k = static_cast<int64_t>(std::floor(begin)); k < last; ++k) {
      auto left = static_cast<double>(k);
      double common = std::min(left + 1, end) - std::max(left, begin);
      window.weights[static_cast<size_t>(Inside(k) - first)] += common / step;
    }
    return window;
  }

  // Elements of an axis that keeps its size stay, whatever the scale, if at most two are weighed.
  SampleWindow operator()(int64_t i) const {
    if (in == out && sampling.mode <= SampleMode::kLinear) return {i, {1.0}};
    switch (sampling.mode) {
      case SampleMode::kNearest:
        return Nearest(i);
      case SampleMode::kLinear:
        return Linear(i);
      case SampleMode::kCubic:
      case SampleMode::kKeys:
        return Cubic(i);
      case SampleMode::kMean:
        return Mean(i);
      case SampleMode::kArea:
        return Area(i);
    }
    return {0, {}};
  }
};

double StepOf(const Sampling& sampling, int64_t in, int64_t out, double scale) {
  if (sampling.coordinates == SampleCoordinates::kAlignCorners && out > 1) {
    return static_cast<double>(in - 1) / static_cast<double>(out - 1);
  }
  return scale > 0 ? 1 / scale : static_cast<double>(in) / static_cast<double>(out);
}

}  // namespace

Sampling ParseSampling(const OpDef& op, const Attrs& attrs) {
  return {Parse<SampleMode>(kModes, op, attrs, "mode"),
          Parse<SampleCoordinates>(kCoordinates, op, attrs, "coordinates")};
}

SampleTable MakeSampleTable(const Sampling& sampling, int64_t in, int64_t out, double scale) {
  Axis axis{sampling, in, out, StepOf(sampling, in, out, scale)};
  SampleTable table;
  table.in = in;
  for (int64_t i = 0; i < out; ++i) {
    SampleWindow window = axis(i);
    table.first.push_back(window.first);
    table.weights.insert(table.weights.end(), window.weights.begin(), window.weights.end());
    table.begin.push_back(static_cast<int64_t>(table.weights.size()));
  }
  return table;
}

SampleTable Transposed(const SampleTable& table) {
  auto in = static_cast<size_t>(table.in), out = table.first.size();
  SampleTable result;
  result.in = table.out();
  result.first.assign(in, 0);
  std::vector<int64_t> last(in, 0);  // behind the last result of each; 0: there is none
  auto each = [&](auto visit) {
    for (size_t i = 0; i < out; ++i) {
      for (int64_t k = table.begin[i]; k < table.begin[i + 1]; ++k) {
        visit(static_cast<int64_t>(i), static_cast<size_t>(table.first[i] + k - table.begin[i]),
              table.weights[static_cast<size_t>(k)]);
      }
    }
  };
  each([&](int64_t i, size_t j, double) {
    if (last[j] == 0) result.first[j] = i;
    last[j] = i + 1;
  });
  for (size_t j = 0; j < in; ++j) {
    int64_t count = last[j] == 0 ? 0 : last[j] - result.first[j];
    result.begin.push_back(result.begin.back() + count);
  }
  result.weights.assign(static_cast<size_t>(result.begin.back()), 0.0);
  each([&](int64_t i, size_t j, double w) {
    result.weights[static_cast<size_t>(result.begin[j] + i - result.first[j])] += w;
  });
  return result;
}

}  // namespace ms
