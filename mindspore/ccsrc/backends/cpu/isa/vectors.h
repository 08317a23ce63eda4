// A register of floats as a value, for loops that compilers do not turn into vector code by
// themselves. Only for *_isa.cc files; the names live in their namespace.
#pragma once

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include <cstdint>

namespace ms::cpu::MS_ISA {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif
inline constexpr int kVectorFloats = kVectorBytes / 4;

using FloatVector = float __attribute__((vector_size(kVectorFloats * 4)));
using IntVector = int32_t __attribute__((vector_size(kVectorFloats * 4)));

inline FloatVector LoadVector(const float* p) {
  FloatVector v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
inline void StoreVector(float* p, FloatVector v) { __builtin_memcpy(p, &v, sizeof(v)); }

inline FloatVector Spread(float x) { return FloatVector{} + x; }

inline int64_t WholeVectors(int64_t n) {
  return (n + kVectorFloats - 1) / kVectorFloats * kVectorFloats;
}

// 2^k for k in [-126, 127].
inline FloatVector PowerOfTwo(IntVector k) {
  return __builtin_bit_cast(FloatVector, (k + 127) << 23);
}

// e^x with the polynomial of loops/math_functions.h, for x up to 89.
inline FloatVector ExpVector(FloatVector x) {
  x = x < -104.0f ? Spread(-104.0f) : x;  // nan: x
  FloatVector k = (x * 1.44269504088896341f + 12582912.0f) - 12582912.0f;
  FloatVector r = x - k * 0.693359375f;
  r = r + k * 2.12194440e-4f;
  FloatVector p = r * 0.00138143206f + 0.00836885069f;
  p = p * r + 0.0416684002f;
  p = p * r + 0.166665196f;
  p = p * r + 0.49999994f;
  FloatVector y = 1.0f + (r + r * r * p);
#if defined(__AVX512F__)
  return _mm512_scalef_ps(y, k);
#else
  IntVector whole = __builtin_convertvector(k, IntVector), half = whole >> 1;
  return y * PowerOfTwo(half) * PowerOfTwo(whole - half);
#endif
}

}  // namespace ms::cpu::MS_ISA
