// Kernels of Fused nodes as generated machine code.
#pragma once

#include "kernel/kernel.h"
#include "loops/machine_code.h"
#include "ops/fused.h"

namespace ms::cpu {

// Refuses where the body has no loops or nothing can assemble them; of an aligned body, a
// RangeKernel. Until the code is there,
// `interpreted` runs, which gives the same bits where nothing is reduced; a body with reductions,
// whose order of adding differs, waits for its code instead. Should the code fail, `interpreted`
// stays.
KernelChoice MakeGenerated(const KernelRequest& request, std::shared_ptr<const Kernel> interpreted);

// Whether every body has code, however little work it is, and no run goes without.
bool GeneratesAlways();

const loops::Generator& MachineGenerator();

}  // namespace ms::cpu
