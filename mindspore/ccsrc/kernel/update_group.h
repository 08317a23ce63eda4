// The kernel of UpdateGroup (ops/update_group.h) for backends on the host: any backend whose
// kernels of what updates are made of are RangeKernels.
#pragma once

#include "kernel/kernel.h"

namespace ms {

KernelChoice MakeUpdateGroup(const KernelRequest& request, const Backend& backend);

}  // namespace ms
