// Recurrent layers as compositions, one step after the other.
#pragma once

#include "ops/all.h"
#include "ops/recurrent_modes.h"

namespace ms {

// By the name of an attribute that was checked.
RecurrentMode RecurrentModeOf(const std::string& name);

Terms ExpandRecurrence(ExpandContext& c);
Terms ExpandRecurrenceGrad(ExpandContext& c);

}  // namespace ms
