// Which copy of a kernel in a *_isa.cc file this machine runs: such files are compiled once per
// instruction set, each into the namespace named by MS_ISA (base, avx2, avx512).
#pragma once

#include <cstdint>

namespace ms::cpu {

enum class Isa : uint8_t { kBase, kAvx2, kAvx512 };

// The widest set that the processor has, and that of them which the environment variable MS_MAX_ISA
// (base, avx2, avx512) allows. Our kernels, oneDNN and generated code all keep to it.
Isa ProcessorIsa();
Isa MachineIsa();
const char* IsaName(Isa isa);  // as MS_MAX_ISA spells it

// Declares `declaration` in every namespace that exists for this build, for example
// MS_DECLARE_ISA(void Foo(const float* x, int64_t n);).
#ifdef MS_X86_ISA
#define MS_DECLARE_ISA(...) \
  namespace base {          \
  __VA_ARGS__               \
  }                         \
  namespace avx2 {          \
  __VA_ARGS__               \
  }                         \
  namespace avx512 {        \
  __VA_ARGS__               \
  }
#define MS_PICK_ISA(name)                                             \
  (::ms::cpu::MachineIsa() == ::ms::cpu::Isa::kAvx512 ? &avx512::name \
   : ::ms::cpu::MachineIsa() == ::ms::cpu::Isa::kAvx2 ? &avx2::name   \
                                                      : &base::name)
#else
#define MS_DECLARE_ISA(...) \
  namespace base {          \
  __VA_ARGS__               \
  }
#define MS_PICK_ISA(name) (&base::name)
#endif

}  // namespace ms::cpu
