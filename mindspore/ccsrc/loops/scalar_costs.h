// What one scalar op costs, as far as that is the same on all devices.
#pragma once

#include "ir/scalar.h"

namespace ms::loops {

enum class CostClass : uint8_t {  // from the cheapest on, about
  kNothing,                       // inputs and constants
  kCheap,                         // one instruction
  kShort,                         // one or a few
  kSlow,                          // one slow instruction
  kWaves,                         // sin, cos
  kSmooth,                        // functions of which Float32 has a polynomial
  kWhole,                         // division with a rounding
  kCalled,                        // all others: a call for each element
};
CostClass CostClassOf(ScalarOp op);

double FlopsOf(ScalarOp op, DType operand);  // functions count as 20

// Whether a result that is needed again is better read back than computed again.
inline bool IsHeavy(ScalarOp op) { return CostClassOf(op) > CostClass::kCheap; }

}  // namespace ms::loops
