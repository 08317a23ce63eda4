// What each copy of the *_isa.cc files provides, and the choice between the copies.
#pragma once

#include "backends/cpu/isa.h"
#include "loops/vector_table.h"

namespace ms::cpu {

MS_DECLARE_ISA(void FillArithmetic(loops::VectorTable& table);
               void FillMath(loops::VectorTable& table); void FillCasts(loops::VectorTable& table);)

// Loops for MachineIsa(), complex types included.
const loops::VectorTable& Vectors();
// Loops of one instruction set, which this processor must have.
loops::VectorTable MakeVectors(Isa isa);

void FillComplex(loops::VectorTable& table);

}  // namespace ms::cpu
