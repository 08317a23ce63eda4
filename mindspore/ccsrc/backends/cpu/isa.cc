#include "backends/cpu/isa.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace ms::cpu {
namespace {

constexpr Isa kAll[] = {Isa::kBase, Isa::kAvx2, Isa::kAvx512};

// All that x86-64-v3 and v4 may use, for which the copies are compiled (cmake/Isa.cmake).
Isa Detect() {
#ifdef MS_X86_ISA
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
              __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt") &&
              __builtin_cpu_supports("movbe");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl");
  if (avx512) return Isa::kAvx512;
  if (avx2) return Isa::kAvx2;
#endif
  return Isa::kBase;
}

Isa Allowed() {
  const char* text = std::getenv("MS_MAX_ISA");
  if (!text || !*text) return Isa::kAvx512;
  for (Isa isa : kAll) {
    if (std::string_view(text) == IsaName(isa)) return isa;
  }
  Throw(ErrorKind::kValue,
        "For 'MS_MAX_ISA', the variable of the environment must be base, avx2 or avx512, but got "
        "'{}'.",
        text);
}

}  // namespace

const char* IsaName(Isa isa) {
  return isa == Isa::kBase ? "base" : isa == Isa::kAvx2 ? "avx2" : "avx512";
}

Isa ProcessorIsa() {
  static const Isa isa = Detect();
  return isa;
}

Isa MachineIsa() {
  static const Isa isa = std::min(ProcessorIsa(), Allowed());
  return isa;
}

}  // namespace ms::cpu
