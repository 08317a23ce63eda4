// Replaces ops that the device has no kernel for by their expansion into smaller ops.
#pragma once

#include "kernel/kernel.h"

namespace ms {

// Leaves an op that has neither kernel nor expansion: planning reports it.
void LowerForDevice(Module& module, const Backend& backend);

}  // namespace ms
