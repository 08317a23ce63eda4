// A part of DefineScatter that lives in a file of its own.
#pragma once

#include "ir/op.h"

namespace ms {

void DefineSegments(OpRegistry& ops);

}  // namespace ms
