// What stands for a GPU where the text of a kernel is compiled by the host's compiler: one thread
// of the host runs the threads of a block in turn, each on a stack of its own, from one barrier to
// the next (fibers.cc). Kernels' pointers are the device's addresses; what they read is found
// behind them (memory.cc).
#pragma once
#define MS_EMULATED
#include <math.h>
#include <stdint.h>
#include <string.h>

struct Dim3 {
  unsigned x, y, z;
};
// Shared with the stub; see stub.h.
struct Machine {
  Dim3 thread, block, block_size, grid_size;
  char exchange[1024][8];   // what the threads of a warp give to each other
  void (*wait)(int whole);  // for the threads of the warp, or of the whole block
  void* (*open)(const void* address);
};
static Machine* machine;
#define threadIdx (machine->thread)
#define blockIdx (machine->block)
#define blockDim (machine->block_size)
#define gridDim (machine->grid_size)

#define MS_FUNCTION static inline
#define MS_INSIDE inline
#define __global__
#define __launch_bounds__(n)
#define __shared__ static

static inline void __syncthreads() { machine->wait(1); }
template <class T>
static inline T __shfl_xor_sync(unsigned, T value, int mask) {
  static_assert(sizeof(T) <= 8, "");
  const unsigned t = threadIdx.x;
  memcpy(machine->exchange[t], &value, sizeof(T));
  machine->wait(0);
  memcpy(&value, machine->exchange[t ^ (unsigned)mask], sizeof(T));
  machine->wait(0);
  return value;
}
static inline unsigned __ballot_sync(unsigned, bool mine) {
  const unsigned t = threadIdx.x;
  machine->exchange[t][0] = mine;
  machine->wait(0);
  unsigned all = 0;
  for (unsigned i = 0; i < 32; ++i) all |= (unsigned)machine->exchange[t / 32 * 32 + i][0] << i;
  machine->wait(0);
  return all;
}
static inline unsigned atomicCAS(unsigned* at, unsigned expected, unsigned value) {
  unsigned old = *at;
  if (old == expected) *at = value;
  return old;
}
static inline unsigned atomicExch(unsigned* at, unsigned value) {
  unsigned old = *at;
  *at = value;
  return old;
}
static inline float atomicAdd(float* at, float value) {
  float old = *at;
  *at = old + value;
  return old;
}

static inline float BitsToFloat(int32_t bits) { return __builtin_bit_cast(float, bits); }
static inline int32_t FloatToBits(float x) { return __builtin_bit_cast(int32_t, x); }
static inline float Fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline int LowestBit(unsigned bits) { return __builtin_ctz(bits); }
static inline float FromFloat16(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = (h >> 10) & 31, f = h & 1023;
  if (e == 31) return BitsToFloat((int32_t)(sign | 0x7f800000u | f << 13));
  if (e) return BitsToFloat((int32_t)(sign | (e + 112) << 23 | f << 13));
  float small = (float)f * 5.9604644775390625e-8f;  // f * 2^-24
  return sign ? -small : small;
}
static inline uint16_t ToFloat16(float x) {
  uint32_t u = (uint32_t)FloatToBits(x), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
  if (a > 0x7f800000u) return (uint16_t)(sign | 0x7e00 | (a >> 13 & 0x3ff));
  if (a >= 0x477ff000u) return (uint16_t)(sign | 0x7c00);  // 65520 and above
  if (a < 0x38800000u) {                                   // subnormal: a multiple of 2^-24
    float units = BitsToFloat((int32_t)a) * 16777216.0f;
    return (uint16_t)(sign | (uint32_t)__builtin_rintf(units));
  }
  uint32_t rounded = a + 0xfff + (a >> 13 & 1);
  return (uint16_t)(sign | (rounded - 0x38000000u) >> 13);
}

// ---- how the stub calls a kernel
template <class T>
struct Argument {
  static T Get(void* at) {
    T value;
    memcpy(&value, at, sizeof(T));
    return value;
  }
};
template <class T>
struct Argument<T*> {
  static T* Get(void* at) {
    T* address;
    memcpy(&address, at, sizeof(address));
    return address ? (T*)machine->open(address) : address;
  }
};
template <class F>
struct Kernel;
template <class... A>
struct Kernel<void(A...)> {
  static constexpr int kCount = sizeof...(A);
  static void Sizes(int* sizes) {
    int all[] = {(int)sizeof(A)...};
    memcpy(sizes, all, sizeof(all));
  }
  template <int... i>
  struct Places {};
  template <int n, int... i>
  struct Count : Count<n - 1, n - 1, i...> {};
  template <int... i>
  struct Count<0, i...> {
    typedef Places<i...> type;
  };
  template <int... i>
  static void Call(void (*kernel)(A...), void** params, Places<i...>) {
    kernel(Argument<A>::Get(params[i])...);
  }
};
#define MS_EMULATED_KERNEL(name)                                 \
  extern "C" int name##_sizes(int* sizes) {                      \
    Kernel<decltype(name)>::Sizes(sizes);                        \
    return Kernel<decltype(name)>::kCount;                       \
  }                                                              \
  extern "C" void name##_run(void** params) {                    \
    typedef Kernel<decltype(name)> K;                            \
    K::Call(name, params, typename K::Count<K::kCount>::type()); \
  }
