#include "backends/cpu/isa/tables.h"

#include <cstdlib>
#include <cstring>

namespace ms::cpu {
namespace {

Isa DetectIsa() {
#ifdef MS_X86_ISA
  const char* limit = std::getenv("MS_ISA_LIMIT");
  auto limited = [&](const char* name) { return limit && std::strcmp(limit, name) == 0; };
  if (limited("base")) return Isa::kBase;
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") &&
              __builtin_cpu_supports("lzcnt");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512cd");
  if (avx512 && !limited("avx2")) return Isa::kAvx512;
  if (avx2) return Isa::kAvx2;
#endif
  return Isa::kBase;
}

}  // namespace

Isa BestIsa() {
  static const Isa isa = DetectIsa();
  return isa;
}

loops::VectorTable MakeVectors(Isa isa) {
  loops::VectorTable table;
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

const loops::VectorTable& Vectors() {
  static const loops::VectorTable table = MakeVectors(BestIsa());
  return table;
}

}  // namespace ms::cpu
