// Sums over poles, a vector of them at a time: quotients take nearly all of the time.
#include "backends/cpu/kernels/factor_secular.h"

#include "backends/cpu/isa/vectors.h"

namespace ms::cpu::MS_ISA {
namespace {

constexpr int64_t kLanes = kVectorBytes / sizeof(double);
typedef double Doubles __attribute__((vector_size(kVectorBytes)));

Doubles Load(const double* p) {
  Doubles v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
double Total(Doubles v) {
  double total = 0;
  for (int64_t lane = 0; lane < kLanes; ++lane) total += v[lane];
  return total;
}

// From a place to a pole.
template <bool kSquares, class V>
V Difference(V pole, double origin, double t) {
  V plain = (pole - origin) - t;
  return kSquares ? plain * ((pole + origin) + t) : plain;
}

template <bool kSquares>
void Sum(int64_t n, const double* poles, const double* w, double origin, double t, double* sums) {
  Doubles plain = {}, squared = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Doubles inverse = 1.0 / Difference<kSquares>(Load(poles + i), origin, t),
            part = Load(w + i) * inverse;
    plain += part;
    squared += part * inverse;
  }
  sums[0] = Total(plain), sums[1] = Total(squared);
  for (; i < n; ++i) {
    double inverse = 1.0 / Difference<kSquares>(poles[i], origin, t), part = w[i] * inverse;
    sums[0] += part, sums[1] += part * inverse;
  }
}

template <bool kSquares>
void Divide(int64_t n, const double* poles, double origin, double t, double other, double* w) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    w[i] *= Difference<kSquares>(poles[i], origin, t) / Difference<kSquares>(poles[i], other, 0);
  }
}

template <bool kSquares>
double Vector(int64_t n, const double* poles, const double* z, double origin, double t,
              double* to) {
  Doubles squares = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Doubles x = Load(z + i) / Difference<kSquares>(Load(poles + i), origin, t);
    __builtin_memcpy(to + i, &x, sizeof(x));
    squares += x * x;
  }
  double total = Total(squares);
  for (; i < n; ++i) {
    to[i] = z[i] / Difference<kSquares>(poles[i], origin, t);
    total += to[i] * to[i];
  }
  return total;
}

}  // namespace

SecularLoops MakeSecularLoops(bool of_squares) {
  if (of_squares) return {Sum<true>, Divide<true>, Vector<true>};
  return {Sum<false>, Divide<false>, Vector<false>};
}

}  // namespace ms::cpu::MS_ISA
