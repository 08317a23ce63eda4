// Rules of arithmetic. The engine adds one condition to each: the type stays the same, so that a
// rule that would lose broadcasting, promotion or a dtype does not apply.
//
// A rule holds for every float or is not here: with minus zero, x + 0, 0 - x and -(x - y) are not
// what they seem.
//
// Fill(value=0) is what gradients write for "no tangent": it is zero times anything, inf and nan
// included. A constant zero of the user is not, unless it is an integer.
#include "passes/simplify/rules.h"

namespace ms {
namespace {

bool IsIntegral(const Match& m) { return !IsContinuous(m.root().outputs[0].dtype()); }

}  // namespace

const RuleTable& AlgebraRules() {
  static const RuleTable rules{
      Rule("Mul{x, 1}").To("x"),
      Rule("Mul{x, -1}").To("Neg(x)"),
      Rule("Mul{x, 0}").When(IsIntegral).To("0"),
      Rule("Add{x, 0}").When(IsIntegral).To("x"),
      Rule("Add{x, Neg(y)}").To("Sub(x, y)"),
      Rule("Sub(x, 0)").To("x"),
      Rule("Sub(0, x)").When(IsIntegral).To("Neg(x)"),
      Rule("Sub(x, Neg(y))").To("Add(x, y)"),
      Rule("RealDiv(x, 1)").To("x"),
      Rule("Div(x, 1)").To("x"),
      Rule("Neg(Neg(x))").To("x"),
      Rule("Neg(Sub(x, y))").When(IsIntegral).To("Sub(y, x)"),
      Rule("LogicalNot(LogicalNot(x))").To("x"),
      Rule("LogicalAnd(x, x)").To("x"),
      Rule("LogicalOr(x, x)").To("x"),
      Rule("Maximum(x, x)").To("x"),
      Rule("Minimum(x, x)").To("x"),
      Rule("Select(c, x, x)").To("x"),
      Rule("Pow(x, 1)").To("x"),
      // Tangents that are zero.
      Rule("Add{x, Fill(value=0)}").To("x"),
      Rule("Sub(Fill(value=0), x)").To("Neg(x)"),
      Rule("Mul{x, Fill(value=0)}").To("0"),
      Rule("RealDiv(Fill(value=0), x)").To("0"),
      Rule("Neg(Fill(value=0))").To("0"),
      Rule("Cast(Fill(value=0))").To("0"),
      Rule("MatMul(x, Fill(value=0))").To("0"),
      Rule("MatMul(Fill(value=0), x)").To("0"),
      Rule("BatchMatMul(x, Fill(value=0))").To("0"),
      Rule("BatchMatMul(Fill(value=0), x)").To("0"),
      Rule("ReduceSum(Fill(value=0))").To("0"),
  };
  return rules;
}

}  // namespace ms
