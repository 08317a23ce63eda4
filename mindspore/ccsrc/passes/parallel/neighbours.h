// Choices that are a few steps from one: what a search looks at where all choices are too many.
#pragma once

#include "passes/parallel/strategy.h"

namespace ms::parallel {

// The choice, those that differ in one axis and, with `pairs`, in two axes that went the same way
// and still do, or have taken each other's place. `axes`: those that may differ.
std::vector<Choice> Neighbours(const Kind& kind, const Choice& choice, const std::vector<int>& axes,
                               bool pairs);

}  // namespace ms::parallel
