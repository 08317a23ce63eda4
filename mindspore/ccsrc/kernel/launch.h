// The one way to run a kernel: of eager code, plans, profiles, sums of tangents, folding.
#pragma once

#include <exception>

#include "kernel/kernel.h"

namespace ms {

// Rethrows what a kernel threw as an Error that names the op and its line, as far as they are
// known. What a function of the program around us threw stays as it is. By pointer: libraries may
// have a run-time library of C++ each, and `throw;` knows only what its own has caught.
[[noreturn]] void RethrowOf(const std::exception_ptr& thrown, const LaunchPlace* place);

// A value where a device can use it: itself, or a copy of what is on the host. What is on another
// device is an error in the name of `user`.
Tensor BringTo(Memory& memory, const Tensor& value, std::string_view user);

inline void Launch(const Kernel& kernel, const KernelArgs& args) {
  try {
    kernel.Run(args);
  } catch (...) {
    RethrowOf(std::current_exception(), args.place);
  }
}

}  // namespace ms
