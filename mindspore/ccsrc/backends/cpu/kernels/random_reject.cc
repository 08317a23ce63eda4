// Gamma and Poisson distributions: draws that are rejected and repeated. Attempt k at element i
// takes numbers of the stream whose places are functions of k and i, so results do not depend on
// threads.
#include <cmath>

#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/random_stream.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

// The numbers of one element: those of an attempt lie side by side, those of the next one `size`
// elements further on.
class Draws {
 public:
  static constexpr int64_t kEach = 4;
  Draws(Wide& first, Wide& later, int64_t i, int64_t size)
      : first_(first), later_(later), i_(i), size_(size) {}
  double Next() {
    int64_t at = (attempt_ * size_ + i_) * kEach + place_++;
    return attempt_ == 0 ? first_.Uniform(at) : later_.Uniform(at);
  }
  void Again() { ++attempt_, place_ = 0; }
  double Last() { return first_.Uniform(i_ * kEach + kEach - 1); }  // beside all attempts

 private:
  Wide &first_, &later_;  // two, since each keeps the group that it read last
  int64_t i_, size_, attempt_ = 0, place_ = 0;
};

// G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", 2000; for a shape
// below 1, of the next one times a power of a uniform number.
double Gamma(double shape, Draws& draws) {
  if (!(shape > 0) || std::isinf(shape)) return shape >= 0 ? shape : NAN;
  double power = shape < 1 ? std::pow(draws.Last(), 1 / shape) : 1;
  double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;; draws.Again()) {
    double u = draws.Next(), angle = draws.Next() * 2 * M_PI, w = draws.Next();
    double x = std::sqrt(-2 * std::log(u)) * std::cos(angle);
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    if (std::log(w) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v * power;
  }
}

// By the running sum of probabilities where the mean is small; else by W. Hörmann, "The transformed
// rejection method for generating Poisson random variables", 1993.
double Poisson(double mean, Draws& draws) {
  if (!(mean >= 0) || std::isinf(mean)) return mean >= 0 ? mean : NAN;
  if (mean < 10) {
    double u = draws.Next(), p = std::exp(-mean), sum = p;
    int64_t k = 0;
    while (u > sum && k < 1000) sum += p *= mean / static_cast<double>(++k);
    return static_cast<double>(k);
  }
  double b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b;
  double inverse = 1.1239 + 1.1328 / (b - 3.4), limit = 0.9277 - 3.6224 / (b - 2);
  for (;; draws.Again()) {
    double u = draws.Next() - 0.5, v = draws.Next(), us = 0.5 - std::abs(u);
    double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= limit) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    int sign;
    double log = std::log(v) + std::log(inverse) - std::log(a / (us * us) + b);
    if (log <= -mean + k * std::log(mean) - lgamma_r(k + 1, &sign)) return k;
  }
}

template <double (*draw)(double, Draws&)>
KernelChoice MakeRejected(const KernelRequest& r) {
  int64_t size = r.shape(0).size();
  Seeds seeds(r, "seed", "seed2");
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (!IsFloating(kDTypeOf<T>)) {
      return No("needs a float type, got {}", Name(kDTypeOf<T>));
    } else {
      return FunctionKernel(
          [=](const KernelArgs& a) {
            using C = ComputeType<T>;
            RandomKey key = seeds.Next(a.random);
            const T* x = static_cast<const T*>(a.in[0]);
            T* y = static_cast<T*>(a.out[0]);
            ParallelFor(size, 100, [&](int64_t begin, int64_t end) {
              Wide first(key), later(key);
              for (int64_t i = begin; i < end; ++i) {
                Draws draws(first, later, i, size);
                y[i] = T(static_cast<C>(draw(static_cast<C>(x[i]), draws)));
              }
            });
          },
          100.0 * static_cast<double>(size));
    }
  });
}

}  // namespace

void AddRejected(KernelTable& table) {
  table.For("StandardGamma").Try("reference", MakeRejected<Gamma>);
  table.For("StandardPoisson").Try("reference", MakeRejected<Poisson>);
}

}  // namespace ms::cpu
