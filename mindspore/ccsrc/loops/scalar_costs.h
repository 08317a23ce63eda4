// What one scalar op costs: schedules, grains and rooflines all ask here.
#pragma once

#include "ir/scalar.h"

namespace ms::loops {

struct ScalarCost {
  double flops = 0;    // functions count as 20
  double code_ns = 0;  // of an element on one core, in generated code: operands are in registers
  double tile_ns = 0;  // and in a tile program: they come from the first-level cache
};

ScalarCost CostOf(ScalarOp op, DType operand);

}  // namespace ms::loops
