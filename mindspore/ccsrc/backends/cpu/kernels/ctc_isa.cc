// Loops of the CTC recursion, compiled once per instruction set.
#include "backends/cpu/isa/double_math.h"
#include "backends/cpu/isa/vector_math.h"
#include "backends/cpu/kernels/ctc_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

inline float Exponential(float x) { return Exp(x); }
inline double Exponential(double x) { return ExpDouble(x); }
inline float Logarithm(float x) { return Log(x); }
inline double Logarithm(double x) { return LogDouble(x); }

}  // namespace

template <class T>
void CtcStep(const T* before, const T* stay, const T* skip, const T* p, int64_t n, T* after) {
  constexpr T kLowest = -__builtin_inff();
#pragma GCC ivdep
  for (int64_t s = 0; s < n; ++s) {
    T a = before[s] + stay[s], b = before[s - 1], c = before[s - 2] + skip[s];
    T top = a > b ? a : b;
    top = top > c ? top : c;
    T level = top == kLowest ? T(0) : top;  // all three are -inf: so is the sum
    T sum = Exponential(a - level) + Exponential(b - level) + Exponential(c - level);
    T value = level + Logarithm(sum == 0 ? T(1) : sum) + p[s];
    after[s] = sum == 0 ? kLowest : value;
  }
}

template <class T>
void CtcShares(const T* alpha, const T* beta, const T* p, T loss, int64_t n, T* share) {
  constexpr T kLowest = -__builtin_inff();
#pragma GCC ivdep
  for (int64_t s = 0; s < n; ++s) {
    T log = alpha[s] + beta[s] - p[s] + loss;
    share[s] = alpha[s] == kLowest || beta[s] == kLowest ? T(0) : Exponential(log);
  }
}

template <class T>
void CtcExponentials(const T* x, T factor, int64_t n, T* y) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = Exponential(x[i]) * factor;
}

template void CtcExponentials(const float*, float, int64_t, float*);
template void CtcExponentials(const double*, double, int64_t, double*);
template void CtcStep(const float*, const float*, const float*, const float*, int64_t, float*);
template void CtcStep(const double*, const double*, const double*, const double*, int64_t, double*);
template void CtcShares(const float*, const float*, const float*, float, int64_t, float*);
template void CtcShares(const double*, const double*, const double*, double, int64_t, double*);

}  // namespace ms::cpu::MS_ISA
