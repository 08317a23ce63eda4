// Errors that a device found after the call that they are about, counted where the program hears of
// them. Kernels between the error and that moment were left out, so that what they were to compute
// is undefined: who keeps computed values from one call to the next compares the count of before
// they were computed with the one of now.
#pragma once

#include <cstdint>

namespace ms {

uint64_t LateErrors();
void NoteLateError();

}  // namespace ms
