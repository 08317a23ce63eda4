// Recurrent layers as compositions, one step after the other.
#pragma once

#include "ops/all.h"

namespace ms {

Terms ExpandRecurrence(ExpandContext& c);
Terms ExpandRecurrenceGrad(ExpandContext& c);

}  // namespace ms
