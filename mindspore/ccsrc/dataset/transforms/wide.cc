// See wide.h.
#include "dataset/transforms/wide.h"

#include <cstdlib>
#include <string_view>

namespace ms::dataset {
namespace {

// What MS_MAX_ISA allows: 0 for the least, 1 up to 32 bytes at once, 2 for all.
int Allowed() {
  const char* given = std::getenv("MS_MAX_ISA");
  std::string_view most = given ? given : "";
  return most == "base" ? 0 : most == "avx2" ? 1 : 2;
}

}  // namespace

bool HasVectors() {
#if MS_X86
  static const bool has = Allowed() > 0 && __builtin_cpu_supports("avx2");
  return has;
#else
  return false;
#endif
}

bool HasPermutes() {
#if MS_X86
  static const bool has =
      Allowed() > 1 && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
  return has;
#else
  return false;
#endif
}

}  // namespace ms::dataset
