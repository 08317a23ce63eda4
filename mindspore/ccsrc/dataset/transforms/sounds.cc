// Effects on sound whose samples depend on those before: filters, phasers, flangers. The last axis
// of an array is time; every row before it is a sound of its own.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "dataset/transforms/elements.h"
#include "dataset/transforms/pixels.h"
#include "dataset/transforms/work.h"

namespace ms::dataset {
namespace {

void CheckSound(const Value& sound) {
  if (sound.element.kind != Kind::kNumber) {
    Throw(ErrorKind::kType, "the input must hold numbers, but got {}", sound.element.name());
  }
  if (sound.dims->empty()) {
    Throw(ErrorKind::kValue, "the input must be <..., time>, but got rank 0");
  }
}

// f(samples, their copy to write, how many, number of the row), in float64 if the sound is, else in
// float32; the result is of the sound's type if it is a floating one.
template <class F>
Value EachRow(const Value& sound, F&& f) {
  bool wide = sound.element.dtype == DType::kFloat64;
  Value given = Cast(sound, wide ? DType::kFloat64 : DType::kFloat32);
  Value result = Value::Make(given.element, given.dims);
  int64_t length = given.dims->back(), rows = length == 0 ? 0 : given.count() / length;
  auto run = [&]<class T>(T* out) {
    const T* in = given.as<T>();
    for (int64_t row = 0; row < rows; ++row) f(in + row * length, out + row * length, length, row);
  };
  wide ? run(reinterpret_cast<double*>(result.memory()))
       : run(reinterpret_cast<float*>(result.memory()));
  return result;
}

double Clipped(double sample) { return std::clamp(sample, -1.0, 1.0); }

// Where the result is clipped, a filter that is not stable must not run into infinities, whose
// differences are no numbers: its memory shrinks as a whole, still far above all sounds.
constexpr double kLarge = 1e200, kShrink = 1e-100;

template <class T>
T Finite(double sample) {
  constexpr double kMost = std::numeric_limits<T>::max();
  return static_cast<T>(std::clamp(sample, -kMost, kMost));
}

// The difference equation of two coefficients each, or three, as most have.
template <class T>
void FilterTwoPole(const T* in, T* out, int64_t length, const Numbers& a, const Numbers& b,
                   bool clip) {
  double first = 0, second = 0, a1 = a[1], a2 = a[2], b0 = b[0], b1 = b[1], b2 = b[2];
  for (int64_t i = 0; i < length; ++i) {
    double x = in[i], y = b0 * x + first;
    first = b1 * x + second - a1 * y;
    second = b2 * x - a2 * y;
    if (clip && std::abs(first) + std::abs(second) > kLarge) first *= kShrink, second *= kShrink;
    out[i] = clip ? Finite<T>(y) : static_cast<T>(y);
  }
}

template <class T>
void FilterRow(const T* in, T* out, int64_t length, const Numbers& a, const Numbers& b, bool clip) {
  if (a.size() == 3) return FilterTwoPole(in, out, length, a, b, clip);
  size_t order = a.size() - 1;
  Numbers kept(order + 1);  // what earlier samples add to later ones
  for (int64_t i = 0; i < length; ++i) {
    double x = in[i], y = b[0] * x + kept[0];
    for (size_t k = 0; k < order; ++k) kept[k] = b[k + 1] * x + kept[k + 1] - a[k + 1] * y;
    bool large = false;
    for (double part : kept) large |= std::abs(part) > kLarge;
    for (double& part : kept) part *= clip && large ? kShrink : 1;
    out[i] = clip ? Finite<T>(y) : static_cast<T>(y);
  }
}

// numbers: clip the result, then backwards too, a0, a1, ..., b0, b1, ...: as many
void Filter(Work* work, const Numbers& n) {
  CheckSound(work->value);
  DType dtype = work->value.element.dtype;
  if (dtype != DType::kFloat16 && dtype != DType::kFloat32 && dtype != DType::kFloat64) {
    Throw(ErrorKind::kType, "the input must hold float16, float32 or float64, but got {}",
          work->value.element.name());
  }
  size_t count = (n.size() - 2) / 2;
  Numbers a(n.begin() + 2, n.begin() + 2 + static_cast<std::ptrdiff_t>(count)),
      b = From(n, 2 + count);
  double scale = a[0];
  for (size_t k = 0; k < count; ++k) a[k] /= scale, b[k] /= scale;
  bool clip = n[0] != 0, back = n[1] != 0;
  Value result = EachRow(work->value, [&]<class T>(const T* in, T* out, int64_t length, int64_t) {
    FilterRow(in, out, length, a, b, clip);
    if (back) {
      std::reverse(out, out + length);
      FilterRow(out, out, length, a, b, clip);
      std::reverse(out, out + length);
    }
    if (!clip) return;
    for (int64_t i = 0; i < length; ++i) out[i] = std::clamp(out[i], T(-1), T(1));
  });
  work->value = Cast(result, dtype);
}

// numbers: gain as a factor, color as what is added
void Overdrive(Work* work, const Numbers& n) {
  CheckSound(work->value);
  double gain = n[0], color = n[1];
  work->value = EachRow(work->value, [=]<class T>(const T* in, T* out, int64_t length, int64_t) {
    double before = 0, kept = 0;
    for (int64_t i = 0; i < length; ++i) {
      double driven = std::clamp(in[i] * gain + color, -1.0, 1.0);
      driven -= driven * driven * driven / 3;
      kept = driven - before + 0.995 * kept;
      before = driven;
      out[i] = static_cast<T>(Clipped(in[i] * 0.5 + kept * 0.75));
    }
  });
}

// One turn of a modulation from low to high in `size` steps, `phase` turns on. Turns that take more
// memory than sounds are not kept, but computed step by step.
class Wave {
 public:
  Wave(bool sine, int64_t size, double low, double high, double phase)
      : sine_(sine),
        size_(size),
        ahead_(static_cast<int64_t>(phase * static_cast<double>(size) + 0.5)),
        low_(low),
        high_(high) {
    if (size > kMostKept) return;
    for (int64_t i = 0; i < size; ++i) kept_.push_back(Level(i));
  }

  double At(int64_t step) const {
    step %= size_;
    return kept_.empty() ? Level(step) : kept_[static_cast<size_t>(step)];
  }

 private:
  static constexpr int64_t kMostKept = 1 << 20;

  double Level(int64_t step) const {
    double place = static_cast<double>((step + ahead_) % size_) / static_cast<double>(size_);
    double level = (std::sin(2 * std::numbers::pi * place) + 1) / 2;
    if (!sine_)
      level = place < 0.25 ? 2 * place + 0.5 : place < 0.75 ? 1.5 - 2 * place : 2 * place - 1.5;
    return level * (high_ - low_) + low_;
  }

  bool sine_;
  int64_t size_, ahead_;
  double low_, high_;
  Numbers kept_;
};

// numbers: rate, gain in, gain out, delay in seconds, decay, turns in a second, sinusoidal
void Phaser(Work* work, const Numbers& n) {
  CheckSound(work->value);
  auto delay = static_cast<int64_t>(n[3] * n[0] + 0.5),
       turn = static_cast<int64_t>(n[0] / n[5] + 0.5);
  if (delay < 1 || turn < 1) {
    Throw(ErrorKind::kValue, "delay_ms and 1 / mod_speed must be a sample at least");
  }
  Wave wave(n[6] != 0, turn, 1, static_cast<double>(delay), 0.25);
  work->value = EachRow(work->value, [&]<class T>(const T* in, T* out, int64_t length, int64_t) {
    Numbers kept(static_cast<size_t>(delay));
    for (int64_t i = 0; i < length; ++i) {
      auto ahead = static_cast<int64_t>(wave.At(i) + 0.5);
      double sum = in[i] * n[1] + kept[static_cast<size_t>((i % delay + ahead) % delay)];
      kept[static_cast<size_t>((i + 1) % delay)] = sum * n[4];
      out[i] = static_cast<T>(Clipped(sum * n[2]));
    }
  });
}

// Between three samples at distances 0, 1 and 2; of lines, the last does not count.
double Between(bool quadratic, double first, double second, double third, double part) {
  second -= first, third -= first;
  if (!quadratic) return first + second * part;
  return first + ((third * 0.5 - second) * part + second * 2 - third * 0.5) * part;
}

// numbers: rate, delay and depth in seconds, feedback, width, turns in a second, phase between
// channels, sinusoidal, quadratic
void Flanger(Work* work, const Numbers& n) {
  CheckSound(work->value);
  const Dims& dims = *work->value.dims;
  if (dims.size() < 2) {
    Throw(ErrorKind::kValue, "the input must be <..., channel, time>, but got rank 1");
  }
  double rate = n[0], feedback = n[3], clean = 1 / (1 + n[4]);
  double share = n[4] * clean * (1 - std::abs(feedback));
  auto size = static_cast<int64_t>((n[1] + n[2]) * rate + 0.5) + 2;
  auto turn = std::max<int64_t>(static_cast<int64_t>(rate / n[5]), 1);
  int64_t channels = dims[dims.size() - 2];
  Wave wave(n[7] != 0, turn, std::floor(n[1] * rate + 0.5), static_cast<double>(size) - 2, 0.75);
  DType dtype = work->value.element.dtype;
  Value result =
      EachRow(work->value, [&]<class T>(const T* in, T* out, int64_t length, int64_t row) {
        Numbers kept(static_cast<size_t>(size));
        auto channel = static_cast<double>(row % channels);
        auto phase = static_cast<int64_t>(channel * static_cast<double>(turn) * n[6] + 0.5);
        double last = 0;
        int64_t at = 0;
        for (int64_t i = 0; i < length; ++i) {
          at = (at + size - 1) % size;
          kept[static_cast<size_t>(at)] = in[i] + last * feedback;
          double distance = wave.At(i + phase), steps = std::floor(distance);
          int64_t from = at + static_cast<int64_t>(steps);
          auto tap = [&](int64_t k) { return kept[static_cast<size_t>((from + k) % size)]; };
          last = Between(n[8] != 0, tap(0), tap(1), tap(2), distance - steps);
          out[i] = static_cast<T>(Clipped(in[i] * clean + last * share));
        }
      });
  // As filters do, it keeps float16; integers cannot hold what lies between -1 and 1.
  work->value = dtype == DType::kFloat16 ? Cast(result, dtype) : std::move(result);
}

}  // namespace

void AddSounds(FunctionTable* functions) {
  // All are difference equations, of which the languages above know the coefficients.
  for (const char* name :
       {"LFilter", "Filtfilt", "Biquad", "AllpassBiquad", "BandBiquad", "BandpassBiquad",
        "BandrejectBiquad", "BassBiquad", "DeemphBiquad", "EqualizerBiquad", "HighpassBiquad",
        "LowpassBiquad", "RiaaBiquad", "TrebleBiquad"}) {
    functions->insert({name, Filter});
  }
  functions->insert({{"Overdrive", Overdrive}, {"Phaser", Phaser}, {"Flanger", Flanger}});
}

}  // namespace ms::dataset
