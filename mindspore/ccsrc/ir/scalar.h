// Scalar bodies: an elementwise op is declared as a function on Expr; running it once per dtype
// records a small typed DAG. Whatever runs it is made from that record.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/dtype.h"
#include "ir/attr.h"

namespace ms {

struct OpDef;

enum class ScalarOp : uint8_t {
  kInput,     // index in `input`
  kConstant,  // `value`, rounded to dtype
  kCast,
  kAdd,
  kSub,
  kMul,
  kDiv,  // Div: true division of floats
  kFloorDiv,
  kFloorMod,
  kTruncDiv,
  kTruncMod,
  kPow,
  kAtan2,
  kMin,
  kMax,  // Min, Max: a nan wins
  kNeg,
  kAbs,
  kSign,
  kFloor,
  kCeil,
  kRint,
  kTrunc,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kSqrt,
  kRsqrt,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kTanh,
  kErf,
  kErfc,
  kSigmoid,
  kLgamma,
  kDigamma,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,  // -> Bool
  kAnd,
  kOr,
  kXor,
  kNot,  // bitwise on integers, logical on Bool
  kShiftLeft,
  kShiftRight,
  kSelect,  // (Bool, x, y)
  kIsNan,
  kIsInf,
  kIsFinite,  // -> Bool
  kReal,
  kImag,
  kConj,
  kComplex,  // (real, imaginary)
};
inline constexpr int kScalarOpCount = static_cast<int>(ScalarOp::kComplex) + 1;
const char* Name(ScalarOp op);  // "floor_div"

struct ScalarNode {
  ScalarOp op;
  DType dtype;
  int input = -1;
  double value = 0;
  int args[3] = {-1, -1, -1};  // earlier nodes
  bool operator==(const ScalarNode&) const = default;
};

struct ScalarGraph {
  std::vector<ScalarNode> nodes;  // in order of evaluation, each used; the last one is the result
  DType dtype() const { return nodes.back().dtype; }
};

class ScalarTrace;

// A value inside a scalar body. No conversion to bool, so that `?:` does not compile: use Select.
struct Expr {
  ScalarTrace* trace = nullptr;
  int node = -1;
  DType dtype() const;
};

class ScalarTrace {
 public:
  ScalarTrace(const OpDef& op, const std::vector<DType>& inputs, const Attrs* attrs);
  Expr in(int i) const { return inputs_[i]; }
  Expr Constant(double value, DType dtype);
  Expr Add(ScalarOp op, DType dtype, std::initializer_list<Expr> args);  // with CSE
  template <class T>
  const T& attr(std::string_view name) const;  // defined in ir/op.h
  ScalarGraph Finish(Expr result);
  const ScalarNode& node(int i) const { return graph_.nodes[i]; }

 private:
  const OpDef& op_;
  const Attrs* attrs_;
  std::vector<Expr> inputs_;
  ScalarGraph graph_;
};

using ScalarBody = std::function<Expr(ScalarTrace&)>;

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator+(Expr a, double b);
Expr operator+(double a, Expr b);
Expr operator-(Expr a, double b);
Expr operator-(double a, Expr b);
Expr operator*(Expr a, double b);
Expr operator*(double a, Expr b);
Expr operator/(Expr a, double b);
Expr operator/(double a, Expr b);
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr operator==(Expr a, Expr b);
Expr operator!=(Expr a, Expr b);
Expr operator<(Expr a, double b);
Expr operator<=(Expr a, double b);
Expr operator>(Expr a, double b);
Expr operator>=(Expr a, double b);
Expr operator==(Expr a, double b);
Expr operator!=(Expr a, double b);
Expr operator&(Expr a, Expr b);
Expr operator|(Expr a, Expr b);
Expr operator^(Expr a, Expr b);
Expr operator!(Expr a);

Expr Select(Expr condition, Expr x, Expr y);
Expr Select(Expr condition, Expr x, double y);
Expr Select(Expr condition, double x, Expr y);
Expr Cast(Expr x, DType dtype);
Expr Unary(ScalarOp op, Expr x);           // result has the type of x
Expr Binary(ScalarOp op, Expr x, Expr y);  // likewise
Expr Min(Expr a, Expr b);
Expr Max(Expr a, Expr b);
Expr Max(Expr a, double b);
Expr Min(Expr a, double b);
Expr Exp(Expr x);
Expr Log(Expr x);
Expr Sqrt(Expr x);
Expr Tanh(Expr x);
Expr Erf(Expr x);
Expr Abs(Expr x);
Expr Sigmoid(Expr x);
Expr Log1p(Expr x);
Expr Floor(Expr x);

}  // namespace ms
