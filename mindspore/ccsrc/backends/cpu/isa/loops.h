// The loop around every vector instruction. Only for *_isa.cc files.
#pragma once

#include <cstdint>

#include "backends/cpu/isa/vector_table.h"

namespace ms::cpu::MS_ISA {

// The output may be the same memory as an input, element for element, which ivdep declares
// harmless.
template <class T, class R, class F>
VectorFn Unary(F) {
  return [](void* out, const void* a, const void*, const void*, int64_t n) {
    R* y = static_cast<R*>(out);
    const T* x = static_cast<const T*>(a);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = F{}(x[i]);
  };
}

template <class T, class R, class F>
VectorFn Binary(F) {
  return [](void* out, const void* a, const void* b, const void*, int64_t n) {
    R* z = static_cast<R*>(out);
    const T* x = static_cast<const T*>(a);
    const T* y = static_cast<const T*>(b);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) z[i] = F{}(x[i], y[i]);
  };
}

template <class T>
VectorFn SelectLoop() {
  return [](void* out, const void* c, const void* a, const void* b, int64_t n) {
    T* z = static_cast<T*>(out);
    const uint8_t* condition = static_cast<const uint8_t*>(c);
    const T* x = static_cast<const T*>(a);
    const T* y = static_cast<const T*>(b);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      T yes = x[i];  // both are read, so that no branch is needed
      T no = y[i];
      z[i] = condition[i] ? yes : no;
    }
  };
}

}  // namespace ms::cpu::MS_ISA
