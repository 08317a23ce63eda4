#include "loops/scalar_costs.h"

namespace ms::loops {
namespace {

enum class Class : uint8_t {
  kNothing,  // inputs and constants
  kCheap,    // one instruction
  kSlow,     // one slow instruction
  kWaves,    // sin, cos
  kSmooth,   // functions of which Float32 has a polynomial
  kWhole,    // division with a rounding
  kCalled,   // all others: a call for each element
};

Class ClassOf(ScalarOp op) {
  switch (op) {
    case ScalarOp::kInput:
    case ScalarOp::kConstant:
      return Class::kNothing;
    case ScalarOp::kDiv:
    case ScalarOp::kSqrt:
    case ScalarOp::kRsqrt:
      return Class::kSlow;
    case ScalarOp::kSin:
    case ScalarOp::kCos:
      return Class::kWaves;
    case ScalarOp::kExp:
    case ScalarOp::kExpm1:
    case ScalarOp::kLog:
    case ScalarOp::kLog1p:
    case ScalarOp::kTanh:
    case ScalarOp::kErf:
    case ScalarOp::kSigmoid:
      return Class::kSmooth;
    case ScalarOp::kFloorDiv:
    case ScalarOp::kFloorMod:
    case ScalarOp::kTruncDiv:
    case ScalarOp::kTruncMod:
      return Class::kWhole;
    case ScalarOp::kPow:
    case ScalarOp::kAtan2:
      return Class::kCalled;
    default:
      return op >= ScalarOp::kTan && op <= ScalarOp::kDigamma ? Class::kCalled : Class::kCheap;
  }
}

}  // namespace

// The figures were measured on a core with vectors of 64 bytes.
ScalarCost CostOf(ScalarOp op, DType operand) {
  double width = static_cast<double>(ItemSize(operand)) / 4;
  if (IsComplex(operand)) return {4, 5 * width, 5 * width};
  bool fast = operand == DType::kFloat32;
  switch (ClassOf(op)) {
    case Class::kNothing:
      return {};
    case Class::kCheap:
      return {1, 0.015 * width, 0.1 * width};
    case Class::kSlow:
      return {1, 0.1 * width, 0.2 * width};
    case Class::kWaves:
      return {20, fast ? 0.6 : 8, fast ? 0.7 : 8};
    case Class::kSmooth:
      return {20, fast ? 0.3 : 8, fast ? 0.7 : 8};
    case Class::kWhole:
      return {20, 5, 3};
    case Class::kCalled:
      return {20, 5, 10};
  }
  return {};
}

}  // namespace ms::loops
