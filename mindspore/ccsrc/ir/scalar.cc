#include "ir/scalar.h"

#include <algorithm>
#include <iterator>

#include "ir/op.h"

namespace ms {

const char* Name(ScalarOp op) {
  static const char* const kNames[] = {
      "input",         "constant",   "cast",        "add",       "sub",        "mul",
      "div",           "floor_div",  "floor_mod",   "trunc_div", "trunc_mod",  "pow",
      "atan2",         "min",        "max",         "neg",       "abs",        "sign",
      "floor",         "ceil",       "rint",        "trunc",     "exp",        "expm1",
      "log",           "log1p",      "sqrt",        "rsqrt",     "sin",        "cos",
      "tan",           "asin",       "acos",        "atan",      "sinh",       "cosh",
      "asinh",         "acosh",      "atanh",       "tanh",      "erf",        "erfc",
      "sigmoid",       "lgamma",     "digamma",     "less",      "less_equal", "greater",
      "greater_equal", "equal",      "not_equal",   "and",       "or",         "xor",
      "not",           "shift_left", "shift_right", "select",    "is_nan",     "is_inf",
      "is_finite",     "real",       "imag",        "conj",      "complex"};
  static_assert(std::size(kNames) == kScalarOpCount);
  return kNames[static_cast<size_t>(op)];
}

DType Expr::dtype() const { return trace->node(node).dtype; }

ScalarTrace::ScalarTrace(const OpDef& op, const std::vector<DType>& inputs, const Attrs* attrs)
    : op_(op), attrs_(attrs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    ScalarNode input{ScalarOp::kInput, inputs[i]};
    input.input = static_cast<int>(i);
    graph_.nodes.push_back(input);
    inputs_.push_back({this, static_cast<int>(i)});
  }
}

namespace {

Expr Intern(std::vector<ScalarNode>& nodes, ScalarTrace* trace, const ScalarNode& node) {
  auto it = std::find(nodes.begin(), nodes.end(), node);
  if (it == nodes.end()) it = nodes.insert(nodes.end(), node);
  return {trace, static_cast<int>(it - nodes.begin())};
}

}  // namespace

Expr ScalarTrace::Constant(double value, DType dtype) {
  ScalarNode node{ScalarOp::kConstant, dtype};
  node.value = value;
  return Intern(graph_.nodes, this, node);
}

Expr ScalarTrace::Add(ScalarOp op, DType dtype, std::initializer_list<Expr> args) {
  ScalarNode node{op, dtype};
  int i = 0;
  for (const Expr& e : args) node.args[i++] = e.node;
  return Intern(graph_.nodes, this, node);
}

// Keeps what the result needs, in order, the result last.
ScalarGraph ScalarTrace::Finish(Expr result) {
  std::vector<bool> used(graph_.nodes.size(), false);
  used[result.node] = true;
  for (int i = result.node; i >= 0; --i) {
    if (!used[i]) continue;
    for (int a : graph_.nodes[i].args) {
      if (a >= 0) used[a] = true;
    }
  }
  ScalarGraph out;
  std::vector<int> position(graph_.nodes.size(), -1);
  for (int i = 0; i <= result.node; ++i) {
    if (!used[i]) continue;
    ScalarNode node = graph_.nodes[i];
    for (int& a : node.args) {
      if (a >= 0) a = position[a];
    }
    position[i] = static_cast<int>(out.nodes.size());
    out.nodes.push_back(node);
  }
  return out;
}

ScalarGraph TraceScalar(const OpDef& op, const std::vector<DType>& inputs, const Attrs& attrs) {
  ScalarTrace trace(op, inputs, &attrs);
  return trace.Finish(op.scalar(trace));
}

Expr Unary(ScalarOp op, Expr x) { return x.trace->Add(op, x.dtype(), {x}); }

Expr Binary(ScalarOp op, Expr x, Expr y) {
  MS_ASSERT(x.dtype() == y.dtype());
  return x.trace->Add(op, x.dtype(), {x, y});
}

namespace {

Expr Compare(ScalarOp op, Expr x, Expr y) {
  MS_ASSERT(x.dtype() == y.dtype());
  return x.trace->Add(op, DType::kBool, {x, y});
}

Expr Like(Expr x, double value) { return x.trace->Constant(value, x.dtype()); }

}  // namespace

Expr operator+(Expr a, Expr b) { return Binary(ScalarOp::kAdd, a, b); }
Expr operator-(Expr a, Expr b) { return Binary(ScalarOp::kSub, a, b); }
Expr operator*(Expr a, Expr b) { return Binary(ScalarOp::kMul, a, b); }
Expr operator/(Expr a, Expr b) { return Binary(ScalarOp::kDiv, a, b); }
Expr operator-(Expr a) { return Unary(ScalarOp::kNeg, a); }
Expr operator+(Expr a, double b) { return a + Like(a, b); }
Expr operator+(double a, Expr b) { return Like(b, a) + b; }
Expr operator-(Expr a, double b) { return a - Like(a, b); }
Expr operator-(double a, Expr b) { return Like(b, a) - b; }
Expr operator*(Expr a, double b) { return a * Like(a, b); }
Expr operator*(double a, Expr b) { return Like(b, a) * b; }
Expr operator/(Expr a, double b) { return a / Like(a, b); }
Expr operator/(double a, Expr b) { return Like(b, a) / b; }
Expr operator<(Expr a, Expr b) { return Compare(ScalarOp::kLess, a, b); }
Expr operator<=(Expr a, Expr b) { return Compare(ScalarOp::kLessEqual, a, b); }
Expr operator>(Expr a, Expr b) { return Compare(ScalarOp::kGreater, a, b); }
Expr operator>=(Expr a, Expr b) { return Compare(ScalarOp::kGreaterEqual, a, b); }
Expr operator==(Expr a, Expr b) { return Compare(ScalarOp::kEqual, a, b); }
Expr operator!=(Expr a, Expr b) { return Compare(ScalarOp::kNotEqual, a, b); }
Expr operator<(Expr a, double b) { return a < Like(a, b); }
Expr operator<=(Expr a, double b) { return a <= Like(a, b); }
Expr operator>(Expr a, double b) { return a > Like(a, b); }
Expr operator>=(Expr a, double b) { return a >= Like(a, b); }
Expr operator==(Expr a, double b) { return a == Like(a, b); }
Expr operator!=(Expr a, double b) { return a != Like(a, b); }
Expr operator&(Expr a, Expr b) { return Binary(ScalarOp::kAnd, a, b); }
Expr operator|(Expr a, Expr b) { return Binary(ScalarOp::kOr, a, b); }
Expr operator^(Expr a, Expr b) { return Binary(ScalarOp::kXor, a, b); }
Expr operator!(Expr a) { return Unary(ScalarOp::kNot, a); }

Expr Select(Expr condition, Expr x, Expr y) {
  MS_ASSERT(x.dtype() == y.dtype());
  return x.trace->Add(ScalarOp::kSelect, x.dtype(), {condition, x, y});
}
Expr Select(Expr condition, Expr x, double y) { return Select(condition, x, Like(x, y)); }
Expr Select(Expr condition, double x, Expr y) { return Select(condition, Like(y, x), y); }
Expr Cast(Expr x, DType dtype) {
  return x.dtype() == dtype ? x : x.trace->Add(ScalarOp::kCast, dtype, {x});
}
Expr Min(Expr a, Expr b) { return Binary(ScalarOp::kMin, a, b); }
Expr Max(Expr a, Expr b) { return Binary(ScalarOp::kMax, a, b); }
Expr Max(Expr a, double b) { return Max(a, Like(a, b)); }
Expr Min(Expr a, double b) { return Min(a, Like(a, b)); }
Expr Exp(Expr x) { return Unary(ScalarOp::kExp, x); }
Expr Log(Expr x) { return Unary(ScalarOp::kLog, x); }
Expr Sqrt(Expr x) { return Unary(ScalarOp::kSqrt, x); }
Expr Tanh(Expr x) { return Unary(ScalarOp::kTanh, x); }
Expr Erf(Expr x) { return Unary(ScalarOp::kErf, x); }
Expr Abs(Expr x) { return Unary(ScalarOp::kAbs, x); }
Expr Sigmoid(Expr x) { return Unary(ScalarOp::kSigmoid, x); }
Expr Log1p(Expr x) { return Unary(ScalarOp::kLog1p, x); }
Expr Floor(Expr x) { return Unary(ScalarOp::kFloor, x); }

}  // namespace ms
