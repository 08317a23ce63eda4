// The ops of programs that are cut over processes.
#pragma once

#include "ir/op.h"

namespace ms {

void DefineSharded(OpRegistry& ops);

}  // namespace ms
