// Messages from one process to another.
#pragma once

#include "ir/op.h"

namespace ms {

// Whether what an op gives depends on what another process differentiates: its gradient is wanted
// there, though it has no input here.
bool DependsOnOthers(const OpDef& op);

}  // namespace ms
