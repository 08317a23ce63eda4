#include "backends/cpu/codegen/scalar_times.h"

#include "loops/scalar_costs.h"

namespace ms::cpu {

using loops::CostClass;

// The figures were measured on a core with vectors of 64 bytes.
ScalarTime TimeOf(ScalarOp op, DType operand) {
  double width = static_cast<double>(ItemSize(operand)) / 4;
  if (IsComplex(operand)) return {5 * width, 5 * width};
  bool fast = operand == DType::kFloat32;
  switch (loops::CostClassOf(op)) {
    case CostClass::kNothing:
      return {};
    case CostClass::kCheap:
    case CostClass::kShort:
      return {0.015 * width, 0.1 * width};
    case CostClass::kSlow:
      return {0.1 * width, 0.2 * width};
    case CostClass::kWaves:
      return {fast ? 0.6 : 8, fast ? 0.7 : 8};
    case CostClass::kSmooth:
      return {fast ? 0.3 : 8, fast ? 0.7 : 8};
    case CostClass::kWhole:
      return {5, 3};
    case CostClass::kCalled:
      return {5, 10};
  }
  return {};
}

}  // namespace ms::cpu
