// Arithmetic of two and three operands. Functions of one operand are in math_functions.cc.
#include "ops/all.h"
#include "ops/batch.h"
#include "ops/elementwise.h"
#include "ops/shard.h"

namespace ms {
namespace {

Expr TruncatedQuotient(Expr x, Expr y) { return Binary(ScalarOp::kTruncDiv, x, y); }

void DefineSums(OpRegistry& ops) {
  DefineBinary(ops, "Add", "x + y; booleans add to their logical or.", kAny)
      .Scalar([](Expr x, Expr y) { return x + y; })
      .Grad([](GradContext& g) {
        auto d = [&] { return g.dout(); };
        return BinaryGrad(g, d, d);
      })
      .Python("add(input, other)", kFunctionAndMethod)
      .Python("tensor_add(input, other)")
      .Class("TensorAdd");
  DefineBinary(ops, "Sub", "x - y; of booleans, whether they differ.", kAny)
      .Scalar([](Expr x, Expr y) { return x - y; })
      .Grad([](GradContext& g) {
        return BinaryGrad(g, [&] { return g.dout(); }, [&] { return -g.dout(); });
      })
      .Python("sub(input, other)", kFunctionAndMethod)
      .Python("tensor_sub(input, other)");
  DefineBinary(ops, "Mul", "x * y; booleans multiply to their logical and.", kAny)
      .Scalar([](Expr x, Expr y) { return x * y; })
      .Grad([](GradContext& g) {
        return BinaryGrad(
            g, [&] { return g.dout() * Conjugate(g.in(1)); },
            [&] { return g.dout() * Conjugate(g.in(0)); });
      })
      .Python("mul(input, other)", kFunctionAndMethod)
      .Python("multiply(input, other)", kFunctionAndMethod)
      .Python("tensor_mul(input, other)");
  DefineBinary(ops, "SquaredDifference", "The square of x - y.", kNumber)
      .Scalar([](Expr x, Expr y) { return (x - y) * (x - y); })
      .Grad([](GradContext& g) {
        auto d = [&] { return g.dout() * Conjugate(g.in(0) - g.in(1)) * 2.0; };
        return BinaryGrad(g, d, [&] { return -d(); });
      });
}

Terms QuotientGrad(GradContext& g) {
  auto dx = [&] { return g.dout() / Conjugate(g.in(1)); };
  return BinaryGrad(g, dx, [&] { return -(dx() * Conjugate(g.out())); });
}

void DefineTrueDivision(OpRegistry& ops) {
  DefineBinary(ops, "Div", "True division: integers and booleans give Float32.", kContinuous,
               Promotion::kFloating)
      .Scalar([](Expr x, Expr y) { return x / y; })
      .Grad(QuotientGrad)
      .Python("true_divide(dividend, divisor)", kFunctionAndMethod)
      .Python("tensor_div(x, y)")
      .Class("Div()(input, other)");
  DefineBinary(ops, "RealDiv",
               "x / y. Integers stay integers: their quotient is truncated, and 0 where y is 0.",
               kNumber)
      .Scalar([](Expr x, Expr y) { return IsInteger(x.dtype()) ? TruncatedQuotient(x, y) : x / y; })
      .Grad(QuotientGrad);
  DefineBinary(ops, "DivNoNan", "x / y, and 0 where y is 0.", kContinuous, Promotion::kFloating)
      .Scalar([](Expr x, Expr y) {
        Expr zero = y == 0.0;
        return Select(zero, 0.0, x / Select(zero, 1.0, y));
      })
      .Grad([](GradContext& g) {
        auto dx = [&] { return g.Call("DivNoNan", {g.dout(), Conjugate(g.in(1))}); };
        return BinaryGrad(g, dx, [&] { return -(dx() * Conjugate(g.out())); });
      });
}

// The remainder x - q y moves by -q with y, where the quotient q is constant.
template <class F>
Terms RemainderGrad(GradContext& g, F quotient) {
  return BinaryGrad(g, [&] { return g.dout(); }, [&] { return -(g.dout() * quotient()); });
}

void DefineIntegerDivision(OpRegistry& ops) {
  const std::string zero =
      " Of integers, 0 where y is 0; the least number divided by -1 is itself.";
  DefineBinary(ops, "FloorDiv", "The quotient x / y rounded down." + zero, kReal | kBoolean)
      .Divides()
      .Scalar([](Expr x, Expr y) {
        if (IsBool(x.dtype())) return x & y;
        return Binary(ScalarOp::kFloorDiv, x, y);
      })
      .Grad(ZeroGrad)
      .Python("floor_divide(input, other)", kFunctionAndMethod)
      .Python("floor_div(x, y)")
      .Python("tensor_floordiv(input, other)");
  DefineBinary(ops, "TruncateDiv", "The quotient x / y rounded towards zero." + zero, kReal)
      .Divides()
      .Scalar(TruncatedQuotient)
      .Grad(ZeroGrad)
      .Python("truncate_div(x, y)");
  auto truncated = [](GradContext& g) {
    return RemainderGrad(g, [&] { return g.Call("TruncateDiv", {g.in(0), g.in(1)}); });
  };
  auto remainder = [](Expr x, Expr y) { return Binary(ScalarOp::kTruncMod, x, y); };
  DefineBinary(ops, "Mod",
               "The remainder of x / y, with the sign of x. Of integers, 0 where y is 0.", kReal)
      .Divides()
      .Scalar(remainder)
      .Grad(truncated)
      .Python("fmod(input, other)", kFunctionAndMethod);
  DefineBinary(ops, "TruncateMod",
               "The remainder of x / y, with the sign of x. Of integers, 0 where y is 0.", kReal)
      .Divides()
      .Scalar(remainder)
      .Grad(truncated)
      .Python("truncate_mod(x, y)");
  DefineBinary(ops, "FloorMod",
               "The remainder of x / y, with the sign of y. Of integers, 0 where y is 0.", kReal)
      .Divides()
      .Scalar([](Expr x, Expr y) { return Binary(ScalarOp::kFloorMod, x, y); })
      .Grad([](GradContext& g) {
        return RemainderGrad(g, [&] { return g.Call("FloorDiv", {g.in(0), g.in(1)}); });
      })
      .Python("floor_mod(x, y)")
      .Python("remainder(input, other)", kFunctionAndMethod)
      .Python("tensor_mod(x, y)");
}

// Both are written so that their own gradients stay finite at x = 0.
Terms PowGrad(GradContext& g) {
  auto dx = [&] {
    Term y = g.in(1);
    Term exponent = Where(Compare("Equal", y, 0), g.emitter().Scalar(1, y.dtype()), y) - 1.0;
    return g.dout() * Conjugate(y * g.Call("Pow", {g.in(0), exponent}));
  };
  auto dy = [&] {
    Term x = g.in(0);
    Term base = Where(Compare("Equal", x, 0), g.emitter().Scalar(1, x.dtype()), x);
    return g.dout() * Conjugate(g.out() * g.Call("Log", {base}));
  };
  return BinaryGrad(g, dx, dy);
}

// What the front end puts between a number, or a divisor, and the op that takes it.
void DefineChecks(OpRegistry& ops) {
  ops.Op("FitNumber")
      .Doc("A number as an integer of another type, which must hold it.")
      .In("x", kIndex, "Any shape.")
      .RequiredAttr<DType>("dtype", "The dtype of the result.")
      .RequiredAttr<std::string>("of", "The op that takes the number, for the message.")
      .Internal()
      .Batch(batch::Leading)
      .Shard(ElementwiseShard)
      .Infer([](InferContext& c) { return Type(c.attr<DType>("dtype"), c.shape(0)); })
      .Grad([](GradContext& g) { return CastTo(g.dout(), g.in_type(0).dtype()); });
  ops.Op("CheckDivisor")
      .Doc("A divisor, which is not changed; a zero in it is told to the user.")
      .In("y", kInteger, "Any shape.")
      .RequiredAttr<int64_t>("span", "Where the division stands.")
      .Internal()
      .Batch(batch::Leading)
      .InPlace(0, 0)
      .Shard(ElementwiseShard)
      .Infer([](InferContext& c) { return c.in(0); })
      .Grad([](GradContext& g) { return g.dout(); });
}

void DefinePowers(OpRegistry& ops) {
  DefineBinary(
      ops, "Pow",
      "x to the power of y. Integers wrap around; a negative exponent truncates the true value.",
      kNumber)
      .Scalar([](Expr x, Expr y) { return Binary(ScalarOp::kPow, x, y); })
      .Grad(PowGrad)
      .Python("pow(input, exponent)", kFunctionAndMethod)
      .Python("tensor_pow(input, exponent)");
  DefineBinary(ops, "Hypot", "The square root of x * x + y * y, without overflow on the way.",
               kFloating, Promotion::kFloating)
      .Scalar([](Expr x, Expr y) {
        Expr large = Max(Abs(x), Abs(y));
        Expr small = Min(Abs(x), Abs(y));
        Expr ratio = small / Select(large == 0.0, 1.0, large);
        auto infinite = [](Expr v) { return v.trace->Add(ScalarOp::kIsInf, DType::kBool, {v}); };
        // An infinity wins over a nan.
        Expr root = Select(infinite(y), Abs(y), large * Sqrt(ratio * ratio + 1.0));
        return Select(infinite(x), Abs(x), root);
      })
      .Grad([](GradContext& g) {
        return BinaryGrad(
            g, [&] { return g.dout() * (g.in(0) / g.out()); },
            [&] { return g.dout() * (g.in(1) / g.out()); });
      })
      .Python("hypot(input, other)", kFunctionAndMethod);
  DefineBinary(ops, "Atan2", "The angle of the point (y, x): arctan(x / y) in the right quadrant.",
               kFloating, Promotion::kFloating)
      .Scalar([](Expr x, Expr y) { return Binary(ScalarOp::kAtan2, x, y); })
      .Grad([](GradContext& g) {
        auto scale = [&] { return g.dout() / (g.in(0) * g.in(0) + g.in(1) * g.in(1)); };
        return BinaryGrad(
            g, [&] { return scale() * g.in(1); }, [&] { return -(scale() * g.in(0)); });
      })
      .Python("atan2(input, other)", kFunctionAndMethod)
      .Python("arctan2(input, other)", kFunctionAndMethod);
  DefineBinary(ops, "Xlogy", "x * log(y), and 0 where x is 0 unless y is nan.", kContinuous,
               Promotion::kFloating)
      .Scalar([](Expr x, Expr y) {
        Expr skip = (x == 0.0) & (y == y);
        return Select(skip, 0.0, x * Log(y));
      })
      .Grad([](GradContext& g) {
        auto dx = [&] {
          Term used = CastTo(Compare("NotEqual", g.in(0), 0), g.dout().dtype());
          return g.dout() * Conjugate(g.Call("Xlogy", {used, g.in(1)}));
        };
        return BinaryGrad(g, dx, [&] { return g.dout() * Conjugate(g.in(0) / g.in(1)); });
      })
      .Python("xlogy(input, other)", kFunctionAndMethod);
}

void DefineExtremes(OpRegistry& ops) {
  DefineBinary(ops, "GreaterShare",
               "1 where x > y, one half (of integers 0) where they are equal, else 0: the slope of "
               "max in x.",
               kReal)
      .Internal()
      .Scalar([](Expr x, Expr y) {
        Expr half = x.trace->Constant(0.5, x.dtype());
        return Select(x > y, 1.0, Select(x == y, half, 0.0));
      })
      .Grad(ZeroGrad);
  auto share = [](GradContext& g, int i, int j) {
    return g.dout() * g.Call("GreaterShare", {g.in(i), g.in(j)});
  };
  DefineBinary(ops, "Maximum",
               "The larger of x and y; nan where either is. Equal operands share the gradient.",
               kReal | kBoolean)
      .Scalar([](Expr x, Expr y) { return Max(x, y); })
      .Grad([share](GradContext& g) {
        return BinaryGrad(g, [&] { return share(g, 0, 1); }, [&] { return share(g, 1, 0); });
      })
      .Python("maximum(input, other)", kFunctionAndMethod);
  DefineBinary(ops, "Minimum",
               "The smaller of x and y; nan where either is. Equal operands share the gradient.",
               kReal | kBoolean)
      .Scalar([](Expr x, Expr y) { return Min(x, y); })
      .Grad([share](GradContext& g) {
        return BinaryGrad(g, [&] { return share(g, 1, 0); }, [&] { return share(g, 0, 1); });
      })
      .Python("minimum(input, other)", kFunctionAndMethod);
}

void DefineLerp(OpRegistry& ops) {
  ops.Op("Lerp")
      .Doc("start + weight * (end - start).")
      .In("start", kFloating)
      .In("end", kFloating)
      .In("weight", kFloating, "0 gives start, 1 gives end.")
      .Promote(Promotion::kFloating)
      .Scalar([](Expr start, Expr end, Expr weight) { return start + weight * (end - start); })
      .Grad([](GradContext& g) {
        Terms terms{g.dout() * (1.0 - g.in(2)), g.dout() * g.in(2), g.dout() * (g.in(1) - g.in(0))};
        for (size_t i = 0; i < 3; ++i) terms[i] = SumTo(terms[i], g.in_type(i).shape());
        return terms;
      })
      .Python("lerp(input, end, weight)", kFunctionAndMethod);
}

void DefineReplacements(OpRegistry& ops) {
  ops.Op("Heaviside")
      .Doc("0 below 0, 1 above it, and the given value at 0.")
      .In("x", kReal)
      .In("values", kReal, "Broadcasts with x.")
      .Promote()
      .Scalar([](Expr x, Expr values) {
        Expr zero = x.trace->Constant(0, x.dtype());
        return Select(x == 0.0, values, Select(x > 0.0, 1.0, Select(x != x, x, zero)));
      })
      .Python("heaviside(input, values)", kFunctionAndMethod);
}

}  // namespace

void DefineMath(OpRegistry& ops) {
  DefineSums(ops);
  DefineTrueDivision(ops);
  DefineIntegerDivision(ops);
  DefineChecks(ops);
  DefinePowers(ops);
  DefineExtremes(ops);
  DefineLerp(ops);
  DefineReplacements(ops);
  DefineFunctions(ops);
  DefineJoined(ops);
}

}  // namespace ms
