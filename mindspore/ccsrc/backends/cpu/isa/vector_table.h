// The instruction set of tile programs: loops over dense arrays, one per scalar op and element
// type. An empty entry means that there is no such loop.
#pragma once

#include <bit>
#include <cstdint>

#include "base/dtype.h"
#include "ir/scalar.h"

namespace ms::cpu {

// Reads up to three arrays of n elements and writes one, which may be the same memory as any of
// them that has elements of the same size.
using VectorFn = void (*)(void* out, const void* a, const void* b, const void* c, int64_t n);

// Writes one element n times.
using FillFn = void (*)(void* out, const void* value, int64_t n);

struct VectorTable {
  // By op and type of its operands (kSelect: of the two values). Half types compute in float and
  // have no entries but casts.
  VectorFn ops[kScalarOpCount][kDTypeCount] = {};
  VectorFn casts[kDTypeCount][kDTypeCount] = {};  // [from][to]
  VectorFn uniform_pow[kDTypeCount] = {};         // kPow where all elements of b are equal

  FillFn fills[5] = {};  // elements of 1, 2, 4, 8 and 16 bytes

  FillFn Fill(size_t item) const { return fills[std::countr_zero(item)]; }
  void Set(ScalarOp op, DType operand, VectorFn fn) {
    ops[static_cast<int>(op)][static_cast<int>(operand)] = fn;
  }
  VectorFn Get(ScalarOp op, DType operand) const {
    return ops[static_cast<int>(op)][static_cast<int>(operand)];
  }
  void SetCast(DType from, DType to, VectorFn fn) {
    casts[static_cast<int>(from)][static_cast<int>(to)] = fn;
  }
  VectorFn Cast(DType from, DType to) const {
    return casts[static_cast<int>(from)][static_cast<int>(to)];
  }
};

}  // namespace ms::cpu
