// What each copy of the *_isa.cc files provides, and the choice between the copies.
#pragma once

#include "loops/vector_table.h"

#define MS_DECLARE_ISA(isa)                       \
  namespace ms::cpu::isa {                        \
  void FillArithmetic(loops::VectorTable& table); \
  void FillMath(loops::VectorTable& table);       \
  void FillCasts(loops::VectorTable& table);      \
  }

MS_DECLARE_ISA(base)
#ifdef MS_X86_ISA
MS_DECLARE_ISA(avx2)
MS_DECLARE_ISA(avx512)
#endif
#undef MS_DECLARE_ISA

namespace ms::cpu {

enum class Isa : uint8_t { kBase, kAvx2, kAvx512 };

// The widest instruction set of this processor; MS_ISA_LIMIT=base|avx2 lowers it, for tests.
Isa BestIsa();

// Loops for BestIsa(), complex types included.
const loops::VectorTable& Vectors();
// Loops of one instruction set, which this processor must have.
loops::VectorTable MakeVectors(Isa isa);

void FillComplex(loops::VectorTable& table);

}  // namespace ms::cpu
