// What one scalar op takes: schedules, grains and rooflines all ask here.
#pragma once

#include "ir/scalar.h"

namespace ms::cpu {

struct ScalarTime {
  double code_ns = 0;  // of an element on one core, in generated code: operands are in registers
  double tile_ns = 0;  // and in a tile program: they come from the first-level cache
};

ScalarTime TimeOf(ScalarOp op, DType operand);

}  // namespace ms::cpu
