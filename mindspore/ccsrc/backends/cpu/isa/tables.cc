#include "backends/cpu/isa/tables.h"

namespace ms::cpu {

VectorTable MakeVectors(Isa isa) {
  VectorTable table;
  FillComplex(table);
  switch (isa) {
#ifdef MS_X86_ISA
    case Isa::kAvx512:
      avx512::FillArithmetic(table);
      avx512::FillMath(table);
      avx512::FillCasts(table);
      return table;
    case Isa::kAvx2:
      avx2::FillArithmetic(table);
      avx2::FillMath(table);
      avx2::FillCasts(table);
      return table;
#endif
    default:
      base::FillArithmetic(table);
      base::FillMath(table);
      base::FillCasts(table);
      return table;
  }
}

const VectorTable& Vectors() {
  static const VectorTable table = MakeVectors(MachineIsa());
  return table;
}

}  // namespace ms::cpu
