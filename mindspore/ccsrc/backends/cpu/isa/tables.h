// What each copy of the *_isa.cc files provides, and the choice between the copies.
#pragma once

#include "backends/cpu/isa.h"
#include "backends/cpu/isa/vector_table.h"

namespace ms::cpu {

MS_DECLARE_ISA(void FillArithmetic(VectorTable& table); void FillMath(VectorTable& table);
               void FillCasts(VectorTable& table);)

// Loops for MachineIsa(), complex types included.
const VectorTable& Vectors();
// Loops of one instruction set, which this processor must have.
VectorTable MakeVectors(Isa isa);

void FillComplex(VectorTable& table);

}  // namespace ms::cpu
