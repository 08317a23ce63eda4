// loops/math_functions.h on whole registers, for functions whose bounds compilers turn into many
// masks when they make vector code of a loop by themselves. The same bits as vector_math.h gives.
// Only for *_isa.cc files; the names live in their namespace.
#pragma once

#include <cstdint>

#include "backends/cpu/isa/vector_table.h"
#include "backends/cpu/isa/vectors.h"
#include "loops/math_functions.h"

namespace ms::cpu::MS_ISA {

using WordVector = uint32_t __attribute__((vector_size(kVectorFloats * 4)));

struct Reals {
  FloatVector v;
  explicit Reals(FloatVector value) : v(value) {}
  explicit Reals(float value) : v(Spread(value)) {}
};
// Wraps.
struct Words {
  WordVector v;
};

inline Reals operator+(Reals a, Reals b) { return Reals(a.v + b.v); }
inline Reals operator-(Reals a, Reals b) { return Reals(a.v - b.v); }
inline Reals operator*(Reals a, Reals b) { return Reals(a.v * b.v); }
inline Reals operator/(Reals a, Reals b) { return Reals(a.v / b.v); }
inline Reals operator-(Reals a) { return Reals(-a.v); }
inline Reals Fma(Reals a, Reals b, Reals c) {
#if defined(__AVX512F__)
  return Reals(_mm512_fmadd_ps(a.v, b.v, c.v));
#elif defined(__FMA__)
  return Reals(__builtin_ia32_vfmaddps256(a.v, b.v, c.v));
#else
  return Reals(a.v * b.v + c.v);
#endif
}
// The second operand where either is nan, as the processor has it.
inline Reals Smaller(Reals a, Reals b) {
#if defined(__AVX512F__)
  return Reals(_mm512_min_ps(a.v, b.v));
#else
  return Reals(a.v < b.v ? a.v : b.v);
#endif
}
inline Reals Larger(Reals a, Reals b) {
#if defined(__AVX512F__)
  return Reals(_mm512_max_ps(a.v, b.v));
#else
  return Reals(a.v > b.v ? a.v : b.v);
#endif
}

inline WordVector Spread(int32_t x) { return WordVector{} + static_cast<uint32_t>(x); }
inline Words operator+(Words a, int32_t b) { return {a.v + Spread(b)}; }
inline Words operator-(Words a, Words b) { return {a.v - b.v}; }
inline Words operator-(int32_t a, Words b) { return {Spread(a) - b.v}; }
inline Words operator<<(Words a, int n) { return {a.v << n}; }
inline Words Bits(Reals x) { return {__builtin_bit_cast(WordVector, x.v)}; }
inline Reals FromBits(Words i) { return Reals(__builtin_bit_cast(FloatVector, i.v)); }

// The loop of a function of Reals; the rest of a vector is filled up with zeros.
template <class F>
VectorFn UnaryOfVectors(F) {
  return [](void* out, const void* a, const void*, const void*, int64_t n) {
    float* y = static_cast<float*>(out);
    const float* x = static_cast<const float*>(a);
    int64_t i = 0;
    for (; i + kVectorFloats <= n; i += kVectorFloats)
      StoreVector(y + i, F{}(Reals(LoadVector(x + i))).v);
    if (i == n) return;
    auto bytes = static_cast<uint64_t>(n - i) * sizeof(float);
    FloatVector rest = {};
    __builtin_memcpy(&rest, x + i, bytes);
    rest = F{}(Reals(rest)).v;
    __builtin_memcpy(y + i, &rest, bytes);
  };
}

}  // namespace ms::cpu::MS_ISA
