// Whether processes that run one divided program were given what they are to have in common: of an
// argument that each is given whole, or a piece that several have, the values must be alike.
// Nobody would see it otherwise: each computes with its own, and all results are nonsense. So it is
// with other programs that happen to talk alike.
#pragma once

#include <span>

#include "passes/parallel/lower.h"

namespace ms::python {

// An argument of the program, as this process was given it.
struct GivenInput {
  size_t input;   // of main
  size_t number;  // among the arguments
  Tensor value;   // on the host
};

// Looks at the first run of a program, then at the 2nd, 4th, 8th and so on: a checksum of each
// argument, and one small collective.
class SameInputs {
 public:
  // Of the run that begins: whether to look.
  bool Next() {
    ++runs_;
    return (runs_ & (runs_ - 1)) == 0;
  }
  // All processes call it together. ValueError, in all of them, names the argument and the ranks.
  void Check(const parallel::Lowered& program, std::span<const GivenInput> given) const;

 private:
  uint64_t runs_ = 0;
};

}  // namespace ms::python
