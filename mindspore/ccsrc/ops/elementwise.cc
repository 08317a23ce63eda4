#include "ops/elementwise.h"

namespace ms {

OpDef& DefineUnary(OpRegistry& ops, const std::string& name, ScalarOp op, const std::string& doc,
                   DTypeSet types) {
  return ops.Op(name)
      .Doc(doc)
      .In("x", types, "Any shape.")
      .Promote(Promotion::kFloating)
      .Scalar([op](Expr x) { return Unary(op, x); });
}

OpDef& DefineBinary(OpRegistry& ops, const std::string& name, const std::string& doc,
                    DTypeSet types, Promotion promotion) {
  return ops.Op(name)
      .Doc(doc)
      .In("x", types, "Any shape that broadcasts with y.")
      .In("y", types, "Any shape that broadcasts with x.")
      .Promote(promotion);
}

Term Conjugate(const Term& x) { return IsComplex(x.dtype()) ? x.emitter->Call("Conj", {x}) : x; }

Term Where(const Term& condition, const Term& x, const Term& y) {
  return x.emitter->Call("Select", {condition, x, y});
}

Term Where(const Term& condition, const Term& x, double y) {
  return Where(condition, x, x.emitter->Scalar(y, x.dtype()));
}

Term Compare(const char* op, const Term& x, double y) {
  return x.emitter->Call(op, {x, x.emitter->Scalar(y, x.dtype())});
}

}  // namespace ms
