// Vector loops between element types, half types to and from float included.
#ifdef __F16C__
#include <immintrin.h>
#endif

#include "backends/cpu/isa/loops.h"
#include "backends/cpu/isa/tables.h"

namespace ms::cpu::MS_ISA {
namespace {

template <class T>
constexpr bool kIsFloat = static_cast<T>(0.5) != static_cast<T>(0);
template <>
constexpr bool kIsFloat<bool> = false;

// Float to integer is defined for every value: truncation towards zero; nan and what does not fit
// give the least number of the 32- or 64-bit type, and narrower types keep the low bits of the
// 32-bit result (as on x86).
template <class F>
int32_t ToInt32(F x) {
  bool fits = x > F{-2147483904.0} && x < F{2147483648.0};
  return static_cast<int32_t>(fits ? x : F{-2147483648.0});
}
template <>
inline int32_t ToInt32(double x) {
  bool fits = x > -2147483649.0 && x < 2147483648.0;
  return static_cast<int32_t>(fits ? x : -2147483648.0);
}
template <class F>
int64_t ToInt64(F x) {
  bool fits = x >= F{-9223372036854775808.0} && x < F{9223372036854775808.0};
  return static_cast<int64_t>(fits ? x : F{-9223372036854775808.0});
}
template <class F>
uint64_t ToUInt64(F x) {
  constexpr F kHalf = F{9223372036854775808.0};
  bool upper = x >= kHalf;
  uint64_t bits = static_cast<uint64_t>(ToInt64(upper ? x - kHalf : x));
  return upper ? bits ^ 0x8000000000000000u : bits;
}

template <class To, class From>
To Convert(From x) {
  if constexpr (kDTypeOf<To> == DType::kBool) {
    return x != From{0};
  } else if constexpr (kIsFloat<From> && !kIsFloat<To>) {
    if constexpr (kDTypeOf<To> == DType::kUInt64)
      return ToUInt64(x);
    else if constexpr (sizeof(To) == 8 || kDTypeOf<To> == DType::kUInt32)
      return static_cast<To>(ToInt64(x));
    else
      return static_cast<To>(ToInt32(x));
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void FillOne(VectorTable& t) {
  if constexpr (kDTypeOf<From> != kDTypeOf<To>) {
    // A bool is read as the byte it is.
    t.SetCast(kDTypeOf<From>, kDTypeOf<To>, Unary<From, To>([](From x) { return Convert<To>(x); }));
  }
}

template <class From>
void FillFrom(VectorTable& t) {
  FillOne<From, bool>(t);
  FillOne<From, int8_t>(t);
  FillOne<From, int16_t>(t);
  FillOne<From, int32_t>(t);
  FillOne<From, int64_t>(t);
  FillOne<From, uint8_t>(t);
  FillOne<From, uint16_t>(t);
  FillOne<From, uint32_t>(t);
  FillOne<From, uint64_t>(t);
  FillOne<From, float>(t);
  FillOne<From, double>(t);
}

// ---- half types
void HalfToFloat(void* out, const void* a, const void*, const void*, int64_t n) {
  float* y = static_cast<float*>(out);
  const uint16_t* x = static_cast<const uint16_t*>(a);
  int64_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8) {
    __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
    _mm256_storeu_ps(y + i, _mm256_cvtph_ps(half));
  }
#endif
  for (; i < n; ++i) y[i] = HalfBitsToFloat(x[i]);
}

void FloatToHalf(void* out, const void* a, const void*, const void*, int64_t n) {
  uint16_t* y = static_cast<uint16_t*>(out);
  const float* x = static_cast<const float*>(a);
  int64_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8) {
    __m128i half =
        _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), half);
  }
#endif
  for (; i < n; ++i) y[i] = FloatToHalfBits(x[i]);
}

uint16_t BFloatBits(float v) {
  uint32_t u = __builtin_bit_cast(uint32_t, v);
  uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1)) >> 16;
  uint32_t quiet = (u >> 16) | 0x40;
  return static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

// Double to half through a float rounded to odd: so that rounding twice equals rounding once.
float RoundToOdd(double x) {
  float f = static_cast<float>(x);
  uint32_t bits = __builtin_bit_cast(uint32_t, f);
  double back = f;
  bool exact = back == x || x != x;
  // Truncate, then set the last bit.
  bool away = __builtin_fabs(back) > __builtin_fabs(x);
  uint32_t odd = (bits - (away ? 1u : 0u)) | 1u;
  return exact ? f : __builtin_bit_cast(float, odd);
}

void DoubleToHalf(void* out, const void* a, const void*, const void*, int64_t n) {
  uint16_t* y = static_cast<uint16_t*>(out);
  const double* x = static_cast<const double*>(a);
  for (int64_t i = 0; i < n; ++i) y[i] = FloatToHalfBits(RoundToOdd(x[i]));
}

}  // namespace

void FillCasts(VectorTable& t) {
  FillFrom<bool>(t);
  FillFrom<int8_t>(t);
  FillFrom<int16_t>(t);
  FillFrom<int32_t>(t);
  FillFrom<int64_t>(t);
  FillFrom<uint8_t>(t);
  FillFrom<uint16_t>(t);
  FillFrom<uint32_t>(t);
  FillFrom<uint64_t>(t);
  FillFrom<float>(t);
  FillFrom<double>(t);
  auto copy = Unary<uint16_t, uint16_t>([](uint16_t x) { return x; });
  for (DType half : {DType::kFloat16, DType::kBFloat16}) t.SetCast(half, half, copy);
  t.SetCast(DType::kFloat16, DType::kFloat32, HalfToFloat);
  t.SetCast(DType::kFloat32, DType::kFloat16, FloatToHalf);
  t.SetCast(DType::kFloat64, DType::kFloat16, DoubleToHalf);
  t.SetCast(DType::kBFloat16, DType::kFloat32, Unary<uint16_t, float>([](uint16_t x) {
              return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
            }));
  t.SetCast(DType::kFloat32, DType::kBFloat16,
            Unary<float, uint16_t>([](float x) { return BFloatBits(x); }));
  t.SetCast(DType::kFloat64, DType::kBFloat16,
            Unary<double, uint16_t>([](double x) { return BFloatBits(RoundToOdd(x)); }));
}

}  // namespace ms::cpu::MS_ISA
