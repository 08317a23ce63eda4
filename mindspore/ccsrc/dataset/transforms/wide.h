// Loops with wider vectors where the processor has them. All give the same bits: what is written by
// hand computes with integers, and the compiler fuses no multiplications with additions. Files with
// floats in functions of MS_PERMUTES are compiled so: see cmake/Libraries.cmake.
#pragma once

// The compiler makes a copy for wider vectors, chosen when the library is loaded.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define MS_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define MS_WIDE
#endif

// MS_FOR(features): a function for one kind of processor, called where the questions below say so.
#if defined(__x86_64__) && defined(__GNUC__)
#pragma GCC diagnostic push
// The compiler's own header leaves on purpose what it says nothing about.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#define MS_X86 1
#define MS_FOR(features) __attribute__((target(features)))
#define MS_VECTORS MS_FOR("avx2")
#define MS_PERMUTES MS_FOR("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vnni")
#else
#define MS_X86 0
#endif

// A loop that becomes part of functions for several kinds of processors.
#define MS_INLINE inline __attribute__((always_inline))

namespace ms::dataset {

// MS_MAX_ISA leaves them out, as it does kernels.
bool HasVectors();
bool HasPermutes();  // of bytes, 64 at once, and sums of products

}  // namespace ms::dataset
