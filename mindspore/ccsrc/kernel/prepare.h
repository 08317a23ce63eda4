// Prepared kernels shared by the whole process, so that equal launches (of one graph, of several
// graphs, of eager calls) are prepared once. Bounded; the least recently used go first.
#pragma once

#include <memory>

#include "kernel/kernel.h"

namespace ms {

// The kernel for this request on this backend; throws what KernelTable::Find throws. The weak flag
// of types plays no part.
std::shared_ptr<const Kernel> PrepareKernel(const Backend& backend, const KernelRequest& request);

// Kernels held now; and dropping them all (those in use live on).
size_t PreparedKernelCount();
void ClearPreparedKernels();

}  // namespace ms
