// Special functions that iterate, computed in double whatever the type is.
#include <cmath>
#include <limits>
#include <numeric>

#include "backends/cpu/cpu.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTiny = 1e-300, kPrecision = 1e-17;
constexpr int kSteps = 100000;

// The logarithm of the gamma function; std::lgamma writes a global.
double LogGamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

// What Stirling's formula leaves out of log(gamma(a)), for a >= 10.
double StirlingRest(double a) {
  double r = 1 / a, s = r * r;
  return r * (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188))));
}

// log(1 + m) - m without cancellation.
double Log1pLess(double m) {
  if (std::abs(m) > 0.1) return std::log1p(m) - m;
  double sum = 0, power = -m;
  for (int k = 2; k < 24; ++k) {
    power *= -m;
    sum -= power / k;
  }
  return sum;
}

// x^a e^-x / gamma(a).
double GammaFactor(double a, double x) {
  if (a < 10) return std::exp(a * std::log(x) - x - LogGamma(a));
  return std::sqrt(a / (2 * M_PI)) * std::exp(a * Log1pLess((x - a) / a) - StirlingRest(a));
}

// P(a, x) by its series.
double GammaSeries(double a, double x) {
  double term = 1 / a, sum = term;
  for (int n = 1; n < kSteps && term > sum * kPrecision; ++n) sum += term *= x / (a + n);
  return sum * GammaFactor(a, x);
}

// 1 - P(a, x) by its continued fraction, evaluated from the front.
double GammaFraction(double a, double x) {
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (int i = 1; i < kSteps; ++i) {
    double an = -i * (i - a);
    b += 2;
    d = an * d + b;
    if (std::abs(d) < kTiny) d = kTiny;
    c = b + an / c;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    h *= d * c;
    if (std::abs(d * c - 1) < 2e-16) break;
  }
  return h * GammaFactor(a, x);
}

// P(a, x), or 1 - P(a, x).
double IncompleteGamma(double a, double x, bool upper) {
  if (!(a >= 0) || !(x >= 0)) return kNan;
  if (a == 0) return x == 0 ? kNan : upper ? 0.0 : 1.0;
  if (x == 0) return upper ? 1.0 : 0.0;
  if (std::isinf(a)) return std::isinf(x) ? kNan : upper ? 1.0 : 0.0;
  if (std::isinf(x)) return upper ? 0.0 : 1.0;
  bool series = x < a + 1 || x < 1;
  double value = series ? GammaSeries(a, x) : GammaFraction(a, x);
  return series == upper ? 1 - value : value;
}
double Igamma(double a, double x) { return IncompleteGamma(a, x, false); }
double Igammac(double a, double x) { return IncompleteGamma(a, x, true); }

// By central differences of eighth order, whose error is a few thousand roundings.
double IgammaGradA(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return kNan;
  if (x == 0 || std::isinf(x)) return 0;
  const double weights[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
  double step = a < 1 ? a / 64 : std::sqrt(a) / 64, sum = 0;
  bool upper = x > a;  // differences of the smaller of the two
  for (int k = 1; k <= 4; ++k) {
    sum += weights[k - 1] *
           (IncompleteGamma(a + k * step, x, upper) - IncompleteGamma(a - k * step, x, upper));
  }
  return (upper ? -sum : sum) / step;
}

// The continued fraction of I_x(a, b), quick for x below its mean.
double BetaFraction(double a, double b, double x) {
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  if (std::abs(d) < kTiny) d = kTiny;
  d = 1 / d;
  double h = d;
  for (int m = 1; m < kSteps; ++m) {
    const double factors[] = {
        m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
        -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
    };
    for (double f : factors) {
      d = 1 + f * d;
      if (std::abs(d) < kTiny) d = kTiny;
      c = 1 + f / c;
      if (std::abs(c) < kTiny) c = kTiny;
      d = 1 / d;
      h *= d * c;
    }
    if (std::abs(d * c - 1) < 2e-16) break;
  }
  return h;
}

double Betainc(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1)) return kNan;
  if (x == 0 || x == 1) return x;
  double factor =
      std::exp(a * std::log(x) + b * std::log1p(-x) + LogGamma(a + b) - LogGamma(a) - LogGamma(b));
  if (x < (a + 1) / (a + b + 2)) return factor * BetaFraction(a, b, x) / a;
  return 1 - factor * BetaFraction(b, a, 1 - x) / b;
}

// The terms up to q + k >= 10, then Euler's and Maclaurin's formula.
double Zeta(double x, double q) {
  if (x == 1) return kInfinity;
  if (!(x > 1)) return kNan;
  if (!(q > 0)) {
    if (q == std::floor(q)) return kInfinity;
    if (x != std::floor(x) || q != q) return kNan;  // powers of negative numbers
    // The magnitudes of the negative numbers among q, q + 1, ... are part of another such sum.
    double least = std::ceil(q) - q;
    double below = Zeta(x, least) - Zeta(x, 1 - q);
    return (std::fmod(x, 2) == 0 ? below : -below) + Zeta(x, 1 - least);
  }
  double sum = 0;
  for (; q < 10; q += 1) sum += std::pow(q, -x);
  double last = std::pow(q, -x);
  if (last == 0) return sum;
  sum += q * last / (x - 1) + last / 2;
  const double bernoulli[] = {1.0 / 12,          -1.0 / 720,
                              1.0 / 30240,       -1.0 / 1209600,
                              1.0 / 47900160,    -691.0 / 1307674368000,
                              1.0 / 74724249600, -3617.0 / 10670622842880000};
  double term = last * x / q;
  for (int j = 0; j < 8; ++j) {  // B_2j / (2j)! x (x + 1) ... (x + 2j - 2) q^(1 - x - 2j)
    sum += bernoulli[j] * term;
    term *= (x + 2 * j + 1) * (x + 2 * j + 2) / (q * q);
  }
  return sum;
}

template <class T>
T NextAfter(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::nextafter(x, y);
  } else {  // half types: the bits of neighbours are neighbours
    float a = static_cast<float>(x), b = static_cast<float>(y);
    if (a != a || b != b) return T(std::numeric_limits<float>::quiet_NaN());
    if (a == b) return y;
    uint16_t bits = a == 0 ? uint16_t{0} : __builtin_bit_cast(uint16_t, x);
    if (a == 0) return __builtin_bit_cast(T, static_cast<uint16_t>(b < 0 ? 0x8001 : 1));
    bool away = (a < b) == (a > 0);
    return __builtin_bit_cast(T, static_cast<uint16_t>(away ? bits + 1 : bits - 1));
  }
}

// The magnitudes are unsigned: that of the lowest integer too.
template <class T>
std::pair<uint64_t, uint64_t> Magnitudes(T x, T y) {
  auto size = [](T v) {
    auto wide = static_cast<uint64_t>(static_cast<int64_t>(v));
    if constexpr (std::is_signed_v<T>) return v < 0 ? 0 - wide : wide;
    return static_cast<uint64_t>(v);
  };
  return {size(x), size(y)};
}
template <class T>
T Divisor(T x, T y) {
  auto [a, b] = Magnitudes(x, y);
  return static_cast<T>(std::gcd(a, b));
}
template <class T>
T Multiple(T x, T y) {
  auto [a, b] = Magnitudes(x, y);
  return a == 0 || b == 0 ? T(0) : static_cast<T>(a / std::gcd(a, b) * b);
}

template <class T, class F>
KernelChoice Each(const KernelRequest& r, double ns, F f) {
  int64_t size = r.shape(0).size();
  return FunctionKernel(
      [=](const KernelArgs& a) {
        T* y = static_cast<T*>(a.out[0]);
        ParallelFor(size, ns, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            y[i] = f([&](int k) { return static_cast<const T*>(a.in[k])[i]; });
        });
      },
      ns * static_cast<double>(size));
}

template <double (*f)(double, double)>
KernelChoice MakePair(const KernelRequest& r) {
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (!IsFloating(kDTypeOf<T>)) {
      return No("needs a float type, got {}", Name(kDTypeOf<T>));
    } else {
      using C = ComputeType<T>;
      return Each<T>(r, 300, [](auto in) {
        return T(static_cast<C>(f(static_cast<C>(in(0)), static_cast<C>(in(1)))));
      });
    }
  });
}

KernelChoice MakeBetainc(const KernelRequest& r) {
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (!IsFloating(kDTypeOf<T>)) {
      return No("needs a float type, got {}", Name(kDTypeOf<T>));
    } else {
      using C = ComputeType<T>;
      return Each<T>(r, 500, [](auto in) {
        return T(static_cast<C>(
            Betainc(static_cast<C>(in(0)), static_cast<C>(in(1)), static_cast<C>(in(2)))));
      });
    }
  });
}

KernelChoice MakeNextAfter(const KernelRequest& r) {
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (!IsFloating(kDTypeOf<T>)) {
      return No("needs a float type, got {}", Name(kDTypeOf<T>));
    } else {
      return Each<T>(r, 5, [](auto in) { return NextAfter<T>(in(0), in(1)); });
    }
  });
}

template <bool kDivisor>
KernelChoice MakeIntegerPair(const KernelRequest& r) {
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (!IsInteger(kDTypeOf<T>)) {
      return No("needs integers, got {}", Name(kDTypeOf<T>));
    } else {
      return Each<T>(r, 100, [](auto in) {
        return kDivisor ? Divisor<T>(in(0), in(1)) : Multiple<T>(in(0), in(1));
      });
    }
  });
}

}  // namespace

void AddSpecial(KernelTable& table) {
  table.For("Igamma").Try("reference", MakePair<Igamma>);
  table.For("Igammac").Try("reference", MakePair<Igammac>);
  table.For("IgammaGradA").Try("reference", MakePair<IgammaGradA>);
  table.For("Zeta").Try("reference", MakePair<Zeta>);
  table.For("Betainc").Try("reference", MakeBetainc);
  table.For("NextAfter").Try("reference", MakeNextAfter);
  table.For("Gcd").Try("reference", MakeIntegerPair<true>);
  table.For("Lcm").Try("reference", MakeIntegerPair<false>);
}

}  // namespace ms::cpu
