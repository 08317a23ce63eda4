// loops/math_functions.h on values of LLVM text.
#include "backends/cpu/codegen/llvm_scope.h"
#include "loops/math_functions.h"

namespace ms::cpu {
namespace {

struct Ints {
  LlvmScope* scope;
  std::string name;
  int lanes;
};
struct Masks {
  LlvmScope* scope;
  std::string name;
  int lanes;
};
// A float value or, without a scope, a number whose lanes are those of the other operand.
struct Floats {
  LlvmScope* scope = nullptr;
  std::string name;
  int lanes = 0;
  float number = 0;
  explicit Floats(float value) : number(value) {}
  Floats(LlvmScope* s, std::string n, int l) : scope(s), name(std::move(n)), lanes(l) {}
  std::string Text(int width) const {
    return scope ? name : LlvmConstant(static_cast<double>(number), DType::kFloat32, width);
  }
};

std::string FloatType(int lanes) { return LlvmType(DType::kFloat32, lanes); }
std::string IntType(int lanes) { return LlvmType(DType::kInt32, lanes); }

const Floats& Of(const Floats& a, const Floats& b) { return a.scope ? a : b; }

Floats Two(const char* op, const Floats& a, const Floats& b) {
  const Floats& like = Of(a, b);
  int n = like.lanes;
  return {like.scope,
          like.scope->Let(fmt::format("{} {} {}, {}", op, FloatType(n), a.Text(n), b.Text(n))), n};
}
Masks Compare(const char* how, const Floats& a, const Floats& b) {
  const Floats& like = Of(a, b);
  int n = like.lanes;
  return {
      like.scope,
      like.scope->Let(fmt::format("fcmp {} {} {}, {}", how, FloatType(n), a.Text(n), b.Text(n))),
      n};
}
Floats operator+(const Floats& a, const Floats& b) { return Two("fadd", a, b); }
Floats operator-(const Floats& a, const Floats& b) { return Two("fsub", a, b); }
Floats operator*(const Floats& a, const Floats& b) { return Two("fmul", a, b); }
Floats operator/(const Floats& a, const Floats& b) { return Two("fdiv", a, b); }
Floats operator-(const Floats& a) {
  return {a.scope, a.scope->Let(fmt::format("fneg {} {}", FloatType(a.lanes), a.name)), a.lanes};
}
Masks operator<(const Floats& a, const Floats& b) { return Compare("olt", a, b); }
Masks operator>(const Floats& a, const Floats& b) { return Compare("ogt", a, b); }
Masks operator>=(const Floats& a, const Floats& b) { return Compare("oge", a, b); }
Masks operator==(const Floats& a, const Floats& b) { return Compare("oeq", a, b); }

Floats Select(const Masks& m, const Floats& a, const Floats& b) {
  int n = m.lanes;
  std::string type = FloatType(n);
  return {m.scope,
          m.scope->Let(fmt::format("select {} {}, {} {}, {} {}", LlvmType(DType::kBool, n), m.name,
                                   type, a.Text(n), type, b.Text(n))),
          n};
}

Floats Fma(const Floats& a, const Floats& b, const Floats& c) {
  const Floats& like = Of(Of(a, b), c);
  if (!like.scope->module.target.fma) return a * b + c;
  int n = like.lanes;
  std::string t = FloatType(n);
  std::string name = n == 1 ? "llvm.fma.f32" : fmt::format("llvm.fma.v{}f32", n);
  name = like.scope->module.Intrinsic(name, t, fmt::format("{}, {}, {}", t, t, t));
  return {like.scope,
          like.scope->Let(fmt::format("call {} {}({} {}, {} {}, {} {})", t, name, t, a.Text(n), t,
                                      b.Text(n), t, c.Text(n))),
          n};
}

Ints Two(const char* op, const Ints& a, const std::string& b) {
  return {a.scope, a.scope->Let(fmt::format("{} {} {}, {}", op, IntType(a.lanes), a.name, b)),
          a.lanes};
}
Ints Two(const char* op, const Ints& a, int32_t b) {
  return Two(op, a, LlvmConstant(b, DType::kInt32, a.lanes));
}
Ints operator+(const Ints& a, int32_t b) { return Two("add", a, b); }
Ints operator-(const Ints& a, int32_t b) { return Two("sub", a, b); }
Ints operator-(int32_t a, const Ints& b) {
  std::string number = LlvmConstant(a, DType::kInt32, b.lanes);
  return {b.scope, b.scope->Let(fmt::format("sub {} {}, {}", IntType(b.lanes), number, b.name)),
          b.lanes};
}
Ints operator-(const Ints& a, const Ints& b) { return Two("sub", a, b.name); }
Ints operator<<(const Ints& a, int b) { return Two("shl", a, b); }
Ints operator>>(const Ints& a, int b) { return Two("ashr", a, b); }
Ints operator&(const Ints& a, int32_t b) { return Two("and", a, b); }
Ints operator|(const Ints& a, const Ints& b) { return Two("or", a, b.name); }

std::string Convert(const char* how, LlvmScope* scope, const std::string& from,
                    const std::string& name, const std::string& to) {
  return scope->Let(fmt::format("{} {} {} to {}", how, from, name, to));
}
Ints Bits(const Floats& x) {
  return {x.scope, Convert("bitcast", x.scope, FloatType(x.lanes), x.name, IntType(x.lanes)),
          x.lanes};
}
Floats FromBits(const Ints& i) {
  return {i.scope, Convert("bitcast", i.scope, IntType(i.lanes), i.name, FloatType(i.lanes)),
          i.lanes};
}
Floats ToFloat(const Ints& i) {
  return {i.scope, Convert("sitofp", i.scope, IntType(i.lanes), i.name, FloatType(i.lanes)),
          i.lanes};
}

}  // namespace

bool WriteFunction(LlvmScope& scope, ScalarOp op, const LlvmValue& value, LlvmValue* result) {
  auto give = [&](const Floats& y) {
    *result = {y.name, DType::kFloat32, y.lanes};
    return true;
  };
  Floats x(&scope, value.name, value.lanes);
  switch (op) {
    case ScalarOp::kExp:
      return give(loops::math::Exp(x));
    case ScalarOp::kExpm1:
      return give(loops::math::Expm1(x));
    case ScalarOp::kLog:
      return give(loops::math::Log(x));
    case ScalarOp::kLog1p:
      return give(loops::math::Log1p(x));
    case ScalarOp::kTanh:
      return give(loops::math::Tanh(x));
    case ScalarOp::kSigmoid:
      return give(loops::math::Sigmoid(x));
    case ScalarOp::kErf:
      return give(loops::math::Erf(x));
    default:
      return false;
  }
}

}  // namespace ms::cpu
