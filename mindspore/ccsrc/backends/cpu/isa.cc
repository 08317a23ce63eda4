#include "backends/cpu/isa.h"

#include <cstdlib>
#include <string_view>

namespace ms::cpu {

Isa MachineIsa() {
  static const Isa isa = [] {
    Isa best = Isa::kBase;
#ifdef MS_X86_ISA
    // The flags of x86-64-v3 and v4, as the copies are compiled for.
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2")) {
      best = Isa::kAvx2;
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        best = Isa::kAvx512;
      }
    }
#endif
    const char* limit = std::getenv("MS_MAX_ISA");
    std::string_view text = limit ? limit : "";
    if (text == "base") return Isa::kBase;
    if (text == "avx2" && best == Isa::kAvx512) return Isa::kAvx2;
    return best;
  }();
  return isa;
}

}  // namespace ms::cpu
