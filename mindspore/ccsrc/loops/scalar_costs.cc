#include "loops/scalar_costs.h"

namespace ms::loops {

CostClass CostClassOf(ScalarOp op) {
  switch (op) {
    case ScalarOp::kInput:
    case ScalarOp::kConstant:
      return CostClass::kNothing;
    case ScalarOp::kSign:
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kRint:
    case ScalarOp::kTrunc:
    case ScalarOp::kShiftLeft:
    case ScalarOp::kShiftRight:
    case ScalarOp::kIsNan:
    case ScalarOp::kIsInf:
    case ScalarOp::kIsFinite:
    case ScalarOp::kReal:
    case ScalarOp::kImag:
    case ScalarOp::kConj:
    case ScalarOp::kComplex:
      return CostClass::kShort;
    case ScalarOp::kDiv:
    case ScalarOp::kSqrt:
    case ScalarOp::kRsqrt:
      return CostClass::kSlow;
    case ScalarOp::kSin:
    case ScalarOp::kCos:
      return CostClass::kWaves;
    case ScalarOp::kExp:
    case ScalarOp::kExpm1:
    case ScalarOp::kLog:
    case ScalarOp::kLog1p:
    case ScalarOp::kTanh:
    case ScalarOp::kErf:
    case ScalarOp::kSigmoid:
      return CostClass::kSmooth;
    case ScalarOp::kFloorDiv:
    case ScalarOp::kFloorMod:
    case ScalarOp::kTruncDiv:
    case ScalarOp::kTruncMod:
      return CostClass::kWhole;
    case ScalarOp::kPow:
    case ScalarOp::kAtan2:
      return CostClass::kCalled;
    default:
      return op >= ScalarOp::kTan && op <= ScalarOp::kDigamma ? CostClass::kCalled
                                                              : CostClass::kCheap;
  }
}

double FlopsOf(ScalarOp op, DType operand) {
  if (IsComplex(operand)) return 4;
  switch (CostClassOf(op)) {
    case CostClass::kNothing:
      return 0;
    case CostClass::kCheap:
    case CostClass::kShort:
    case CostClass::kSlow:
      return 1;
    default:
      return 20;
  }
}

}  // namespace ms::loops
