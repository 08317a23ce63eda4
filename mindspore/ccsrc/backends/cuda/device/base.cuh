// What every kernel's text begins with: types, elements of memory, and what was found wrong. It is
// read by NVIDIA's compilers and, in tests, by the host's (tests/devices/cuda_stub/emulator.h).
#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT32_MIN (-2147483647 - 1)
// NVRTC knows none of these.
#define __builtin_huge_val() __builtin_bit_cast(double, 0x7ff0000000000000ull)
#define __builtin_huge_valf() __builtin_bit_cast(float, 0x7f800000)
#define __builtin_nan(text) __builtin_bit_cast(double, 0x7ff8000000000000ull)
#define __builtin_nanf(text) __builtin_bit_cast(float, 0x7fc00000)
#elif !defined(MS_EMULATED)
#include <stdint.h>
#endif

#ifndef MS_EMULATED
#define MS_FUNCTION static __device__ __forceinline__
#define MS_INSIDE __device__ __forceinline__  // of members
MS_FUNCTION float BitsToFloat(int32_t bits) { return __int_as_float(bits); }
MS_FUNCTION int32_t FloatToBits(float x) { return __float_as_int(x); }
MS_FUNCTION float Fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
MS_FUNCTION int LowestBit(unsigned bits) { return __ffs((int)bits) - 1; }
MS_FUNCTION float FromFloat16(uint16_t bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
MS_FUNCTION uint16_t ToFloat16(float x) {
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#endif

// Elements as they lie in memory; those of other types are themselves.
struct Bool {
  uint8_t byte;
};
struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

// What is copied, whatever it means.
struct alignas(16) Unit16 {
  uint64_t at[2];
};

// To what is computed with, and back.
template <class T>
MS_FUNCTION T Load(T x) {
  return x;
}
MS_FUNCTION bool Load(Bool x) { return x.byte != 0; }
MS_FUNCTION float Load(Float16 x) { return FromFloat16(x.bits); }
MS_FUNCTION float Load(BFloat16 x) { return BitsToFloat((int32_t)((uint32_t)x.bits << 16)); }

template <class M>
struct Stored {
  template <class T>
  static MS_INSIDE M Of(T x) {
    return x;
  }
};
template <>
struct Stored<Bool> {
  static MS_INSIDE Bool Of(bool x) { return Bool{(uint8_t)x}; }
};
template <>
struct Stored<Float16> {
  static MS_INSIDE Float16 Of(float x) { return Float16{ToFloat16(x)}; }
};
template <>
struct Stored<BFloat16> {
  static MS_INSIDE BFloat16 Of(float x) {
    uint32_t u = (uint32_t)FloatToBits(x);
    if ((u & 0x7fffffffu) > 0x7f800000u) return BFloat16{(uint16_t)((u >> 16) | 0x40)};
    return BFloat16{(uint16_t)((u + 0x7fffu + ((u >> 16) & 1)) >> 16)};  // to nearest even
  }
};

// body(e) for all elements, by the threads of all blocks in turn.
template <class F>
MS_FUNCTION void ForAll(long long count, F body) {
  const long long step = (long long)gridDim.x * 256;
  for (long long e = (long long)blockIdx.x * 256 + threadIdx.x; e < count; e += step) body(e);
}

// Several neighbours, read or written at once.
template <class M, int N>
struct alignas(sizeof(M) * N) Pack {
  M at[N];
};

// The word in which a kernel says what it found wrong (stream.h). The first one stays.
struct Fault {
  unsigned ticket, unused;
  long long number, position;
};
MS_FUNCTION void Report(Fault* fault, unsigned ticket, long long number, long long position) {
  if (atomicCAS(&fault->ticket, 0u, ticket) != 0u) return;
  fault->number = number;
  fault->position = position;
}
// A position in [low, size), those below zero counted from the end.
MS_FUNCTION long long CheckedPosition(Fault* fault, unsigned ticket, long long position,
                                      long long low, long long size, long long place) {
  if (position < low || position >= size) {
    Report(fault, ticket, position, place);
    return 0;
  }
  return position < 0 ? position + size : position;
}
