// What the files of elementwise declarations share.
#pragma once

#include <string>

#include "ir/op.h"

namespace ms {

inline constexpr uint32_t kFunctionAndMethod = kFunction | kMethod;
inline constexpr DTypeSet kContinuous = kFloating | kComplex;

// An op of one floating input that is one scalar op; integers and booleans are promoted.
OpDef& DefineUnary(OpRegistry& ops, const std::string& name, ScalarOp op, const std::string& doc,
                   DTypeSet types = kFloating);
// An op of two inputs, x and y, that broadcast and are promoted to a common type first.
OpDef& DefineBinary(OpRegistry& ops, const std::string& name, const std::string& doc,
                    DTypeSet types, Promotion promotion = Promotion::kCommon);

// Gradients of the two inputs of a broadcasting op, computed only where needed: each f is called
// without arguments and gives the gradient before the sum over repeated elements.
template <class F0, class F1>
Terms BinaryGrad(GradContext& g, F0 f0, F1 f1) {
  Terms terms(2);
  if (g.needs(0)) terms[0] = SumTo(f0(), g.in_type(0).shape());
  if (g.needs(1)) terms[1] = SumTo(f1(), g.in_type(1).shape());
  return terms;
}

// For ops that are constant nearly everywhere: rounding, comparison.
inline Terms ZeroGrad(GradContext&) { return {}; }

// Unchanged where the type is real.
Term Conjugate(const Term& x);

Term Where(const Term& condition, const Term& x, const Term& y);
Term Where(const Term& condition, const Term& x, double y);
Term Compare(const char* op, const Term& x, double y);

void DefineArithmetic(OpRegistry& ops);
void DefineFunctions(OpRegistry& ops);
void DefineJoined(OpRegistry& ops);
void DefineActivationGrads(OpRegistry& ops);

}  // namespace ms
