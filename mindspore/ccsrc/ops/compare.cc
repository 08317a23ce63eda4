// Comparison, logic, bits, selection and conversion.
#include <cmath>

#include "ops/all.h"
#include "ops/elementwise.h"
#include "ops/put.h"

namespace ms {
namespace {

void DefineComparison(OpRegistry& ops) {
  auto define = [&](const char* name, const char* doc, DTypeSet types, auto body) -> OpDef& {
    return DefineBinary(ops, name, doc, types, Promotion::kCompare).Scalar(body).Grad(ZeroGrad);
  };
  auto greater = [](Expr x, Expr y) { return x > y; };
  define("Equal", "Whether x equals y; nan equals nothing.", kAny,
         [](Expr x, Expr y) { return x == y; })
      .Python("equal(input, other)", kFunctionAndMethod)
      .Python("eq(input, other)", kFunctionAndMethod);
  define("NotEqual", "Whether x differs from y.", kAny, [](Expr x, Expr y) { return x != y; })
      .Python("not_equal(input, other)", kFunctionAndMethod)
      .Python("ne(input, other)", kFunctionAndMethod);
  define("Greater", "Whether x is greater than y.", kReal | kBoolean, greater)
      .Python("greater(input, other)", kFunctionAndMethod)
      .Python("gt(input, other)", kFunctionAndMethod)
      .Python("tensor_gt(input, other)");
  define("GreaterEqual", "Whether x is greater than or equal to y.", kReal | kBoolean,
         [](Expr x, Expr y) { return x >= y; })
      .Python("greater_equal(input, other)", kFunctionAndMethod)
      .Python("ge(input, other)", kFunctionAndMethod)
      .Python("tensor_ge(input, other)");
  define("Less", "Whether x is less than y.", kReal | kBoolean,
         [](Expr x, Expr y) { return x < y; })
      .Python("less(input, other)", kFunctionAndMethod)
      .Python("lt(input, other)", kFunctionAndMethod)
      .Python("tensor_lt(input, other)");
  define("LessEqual", "Whether x is less than or equal to y.", kReal | kBoolean,
         [](Expr x, Expr y) { return x <= y; })
      .Python("less_equal(input, other)", kFunctionAndMethod)
      .Python("le(input, other)", kFunctionAndMethod)
      .Python("tensor_le(input, other)");
}

// |x - y| in a type that holds it: integers are compared as Float64.
Expr Distance(Expr x, Expr y) {
  DType t = IsFloating(x.dtype()) ? x.dtype() : DType::kFloat64;
  return Abs(Cast(x, t) - Cast(y, t));
}

Expr CloseBody(ScalarTrace& t) {
  Expr x = t.in(0);
  Expr y = t.in(1);
  Expr distance = Distance(x, y);
  Expr size = Abs(Cast(y, distance.dtype()));
  // Infinities are close only to themselves, and a bound of inf is none.
  Expr bounded = distance <= size * t.attr<double>("rtol") + t.attr<double>("atol");
  Expr close = (x == y) | (bounded & (size < HUGE_VAL));
  return t.attr<bool>("equal_nan") ? close | ((x != x) & (y != y)) : close;
}

void DefineCloseness(OpRegistry& ops) {
  DefineBinary(ops, "ApproximateEqual", "Whether |x - y| is less than the tolerance.", kReal)
      .WithAttr("tolerance", 1e-5, "Exclusive bound of the distance.")
      .Scalar(
          [](ScalarTrace& t) { return Distance(t.in(0), t.in(1)) < t.attr<double>("tolerance"); })
      .Grad(ZeroGrad)
      .Python("approximate_equal(x, y, tolerance)", kFunctionAndMethod);
  DefineBinary(ops, "IsClose", "Whether |x - y| <= atol + rtol * |y|.", kReal | kBoolean)
      .WithAttr("rtol", 1e-5, "Relative tolerance.")
      .WithAttr("atol", 1e-8, "Absolute tolerance.")
      .WithAttr("equal_nan", false, "Whether two nan are close.")
      .Scalar(CloseBody)
      .Grad(ZeroGrad)
      .Python("isclose(input, other, rtol, atol, equal_nan)", kFunctionAndMethod);
}

void DefineTests(OpRegistry& ops) {
  auto define = [&](const char* name, const char* doc, ScalarOp op, bool of_exact) -> OpDef& {
    return ops.Op(name)
        .Doc(doc)
        .In("x", kAny, "Any shape.")
        .Scalar([op, of_exact](Expr x) {
          if (IsFloating(x.dtype()) || IsComplex(x.dtype()))
            return x.trace->Add(op, DType::kBool, {x});
          return of_exact ? x == x : x != x;
        })
        .Grad(ZeroGrad);
  };
  define("IsNan", "Whether x, or a part of it, is not a number.", ScalarOp::kIsNan, false)
      .Python("isnan(input)", kFunctionAndMethod);
  define("IsInf", "Whether x, or a part of it, is inf or -inf.", ScalarOp::kIsInf, false)
      .Python("isinf(input)", kFunctionAndMethod);
  define("IsFinite", "Whether x is neither infinite nor nan.", ScalarOp::kIsFinite, true)
      .Python("isfinite(input)", kFunctionAndMethod);
}

Expr Truth(Expr x) { return IsBool(x.dtype()) ? x : x != 0.0; }

void DefineLogic(OpRegistry& ops) {
  auto define = [&](const char* name, const char* doc, auto body) -> OpDef& {
    return ops.Op(name)
        .Doc(doc)
        .In("x", kAny, "Numbers count as whether they differ from 0.")
        .In("y", kAny, "Likewise; broadcasts with x.")
        .Scalar([body](Expr x, Expr y) { return body(Truth(x), Truth(y)); })
        .Grad(ZeroGrad);
  };
  define("LogicalAnd", "Whether both are true.", [](Expr x, Expr y) { return x & y; })
      .Python("logical_and(input, other)", kFunctionAndMethod)
      .Class("LogicalAnd()(x, y)");
  define("LogicalOr", "Whether at least one is true.", [](Expr x, Expr y) { return x | y; })
      .Python("logical_or(input, other)", kFunctionAndMethod)
      .Class("LogicalOr()(x, y)");
  define("LogicalXor", "Whether exactly one is true.", [](Expr x, Expr y) {
    return x ^ y;
  }).Python("logical_xor(input, other)", kFunctionAndMethod);
  ops.Op("LogicalNot")
      .Doc("Whether x is false.")
      .In("x", kAny, "Numbers count as whether they differ from 0.")
      .Scalar([](Expr x) { return !Truth(x); })
      .Grad(ZeroGrad)
      .Python("logical_not(input)", kFunctionAndMethod);
}

void DefineBits(OpRegistry& ops) {
  constexpr DTypeSet kBits = kInteger | kBoolean;
  DefineBinary(ops, "BitwiseAnd", "The bits that x and y share.", kBits)
      .Scalar([](Expr x, Expr y) { return x & y; })
      .Python("bitwise_and(input, other)", kFunctionAndMethod);
  DefineBinary(ops, "BitwiseOr", "The bits of x or y.", kBits)
      .Scalar([](Expr x, Expr y) { return x | y; })
      .Python("bitwise_or(input, other)", kFunctionAndMethod);
  DefineBinary(ops, "BitwiseXor", "The bits of exactly one of x and y.", kBits)
      .Scalar([](Expr x, Expr y) { return x ^ y; })
      .Python("bitwise_xor(input, other)", kFunctionAndMethod);
  ops.Op("Invert")
      .Doc("The bits that x lacks.")
      .In("x", kBits, "Any shape.")
      .Scalar([](Expr x) { return !x; })
      .Python("invert(x)", kFunctionAndMethod);
  DefineBinary(ops, "LeftShift",
               "x times 2 to the power of y, wrapped around; 0 where y is not in [0, bits).",
               kInteger)
      .Scalar([](Expr x, Expr y) { return Binary(ScalarOp::kShiftLeft, x, y); })
      .Python("bitwise_left_shift(input, other)", kFunctionAndMethod)
      .Class("LeftShift()(x1, x2)");
  DefineBinary(
      ops, "RightShift",
      "x over 2 to the power of y, rounded down; only the sign where y is not in [0, bits).",
      kInteger)
      .Scalar([](Expr x, Expr y) { return Binary(ScalarOp::kShiftRight, x, y); })
      .Python("bitwise_right_shift(input, other)", kFunctionAndMethod)
      .Class("RightShift()(input_x, input_y)");
}

Type InferSelect(InferContext& c) {
  Shape shape;
  bool fits = Broadcast(c.shape(1), c.shape(2), &shape);
  fits = fits && Broadcast(c.shape(0), shape, &shape);
  c.Check(fits, "the shapes of its inputs must broadcast, but got {}, {} and {}", c.shape(0),
          c.shape(1), c.shape(2));
  const Type& x = c.in(1);
  const Type& y = c.in(2);
  return Type(Promote(x.dtype(), x.weak(), y.dtype(), y.weak()), shape, x.weak() && y.weak());
}

void DefineSelection(OpRegistry& ops) {
  ops.Op("Select")
      .Doc("x where the condition holds, elsewhere y; all three broadcast.")
      .In("condition", kBoolean)
      .In("x", kAny)
      .In("y", kAny, "Both are converted to their common dtype.")
      .Infer(InferSelect)
      .Scalar([](Expr condition, Expr x, Expr y) {
        DType t = Promote(x.dtype(), y.dtype());
        return Select(condition, Cast(x, t), Cast(y, t));
      })
      .Grad([](GradContext& g) {
        Terms terms(3);
        Term condition = g.in(0);
        Term zero = g.emitter().Scalar(0, g.out_type().dtype());
        auto into = [&](size_t i, const Term& dx) {
          return CastTo(SumTo(dx, g.in_type(i).shape()), g.in_type(i).dtype());
        };
        if (g.needs(1)) terms[1] = into(1, Where(condition, g.dout(), zero));
        if (g.needs(2)) terms[2] = into(2, Where(condition, zero, g.dout()));
        return terms;
      })
      .Class("Select()(condition, input, other)");
  ops.Op("Cast")
      .Doc(
          "x converted to another dtype. To an integer, floats are truncated; nan and what does "
          "not fit give the least "
          "number of the type, in types under 32 bits the low bits of it.")
      .In("x", kAny, "Any shape.")
      .RequiredAttr<DType>("dtype", "The dtype of the result.")
      .Infer([](InferContext& c) { return Type(c.attr<DType>("dtype"), c.shape(0)); })
      .Scalar([](ScalarTrace& t) { return Cast(t.in(0), t.attr<DType>("dtype")); })
      .Grad([](GradContext& g) {
        if (!g.needs(0) || !g.out_type().has_tangent()) return Terms{};
        return Terms{CastTo(g.dout(), g.in_type(0).dtype())};
      })
      .Shows(put::Reshaped)  // where the dtype stays
      .Python("cast(input, dtype)")
      .Class("Cast()(input_x, dtype)");
}

}  // namespace

void DefineCompare(OpRegistry& ops) {
  DefineComparison(ops);
  DefineCloseness(ops);
  DefineTests(ops);
  DefineLogic(ops);
  DefineBits(ops);
  DefineSelection(ops);
}

}  // namespace ms
