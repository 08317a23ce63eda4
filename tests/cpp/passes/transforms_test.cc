// Vmap, Jvp and CustomGrad before and after their passes, in the IR's text.
#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::ExpectPass;

// The whole pipeline: transforms expanded, calls inlined.
bool OptimizeAll(Module& module) {
  Optimize(module);
  return true;
}

const std::string kScaled = R"(
  graph f[w: Float32[3]](v: Float32[3]) -> (Float32[3], Float32[]) {
    %0 = Mul(v, w)
    %1 = ReduceSum(%0, axis=[0])
    return %0, %1
  })";

// Twice its argument; its gradient is said to be three times y times the tangent.
const std::string kCustom = R"(
  graph f(x: Float32[2]) -> (Float32[2]) {
    %0 = Add(x, x)
    return %0
  }
  graph back(x: Float32[2], y: Float32[2], d: Float32[2]) -> (Float32[2]) {
    %0 = Constant(Float32[] [3.0])
    %1 = Mul(d, %0)
    %2 = Mul(%1, y)
    return %2
  })";

TEST(VmapPass, ItemsLieAlongAFirstAxis) {
  ExpectPass(OptimizeAll, R"(
  graph main(x: Float32[4, 3], w: Float32[3]) -> (Float32[4, 3], Float32[4]) {
    %0 = Partial(w, graph=@f)
    %1 = Vmap(%0, in_axes=[0], out_axes=[0, 0], size=4)
    %2, %3 = Call(%1, x)
    return %2, %3
  })" + kScaled,
             R"(
  graph main(x: Float32[4, 3], w: Float32[3]) -> (Float32[4, 3], Float32[4]) {
    %0 = Mul(x, w)
    %1 = ReduceSum(%0, axis=[1])
    return %0, %1
  })");
}

TEST(VmapPass, WhatAllItemsShareIsComputedOnce) {
  ExpectPass(OptimizeAll, R"(
  graph main(x: Float32[3], s: Float32[4]) -> (Float32[4, 3]) {
    %0 = Partial(graph=@f)
    %1 = Vmap(%0, in_axes=[-1, 0], out_axes=[0], size=4)
    %2 = Call(%1, x, s)
    return %2
  }
  graph f(x: Float32[3], s: Float32[]) -> (Float32[3]) {
    %0 = Sin(x)
    %1 = Mul(%0, s)
    return %1
  })",
             R"(
  graph main(x: Float32[3], s: Float32[4]) -> (Float32[4, 3]) {
    %0 = Sin(x)
    %1 = Reshape(s, shape=[4, 1])
    %2 = Mul(%0, %1)
    return %2
  })");
}

TEST(VmapPass, ABranchThatItemsDecideIsASelection) {
  ExpectPass(OptimizeAll, R"(
  graph main(x: Float32[4], c: Bool[4]) -> (Float32[4]) {
    %0 = Partial(graph=@f)
    %1 = Vmap(%0, in_axes=[0, 0], out_axes=[0], size=4)
    %2 = Call(%1, x, c)
    return %2
  }
  graph f(x: Float32[], c: Bool[]) -> (Float32[]) {
    %0 = Partial(graph=@then)
    %1 = Partial(graph=@else)
    %2 = Switch(c, %0, %1)
    %3 = Call(%2, x)
    return %3
  }
  graph then(x: Float32[]) -> (Float32[]) {
    %0 = Sin(x)
    return %0
  }
  graph else(x: Float32[]) -> (Float32[]) {
    %0 = Neg(x)
    return %0
  })",
             R"(
  graph main(x: Float32[4], c: Bool[4]) -> (Float32[4]) {
    %0 = LogicalNot(c)
    %1 = Partial(graph=@else)
    %2 = Partial(graph=@then)
    %3 = Partial(graph=@nothing)
    %4 = ReduceAny(c)
    %5 = Switch(%4, %2, %3)
    %6 = ReduceAny(%0)
    %7 = Switch(%6, %1, %3)
    %8 = Call(%5, x)
    %9 = Call(%7, x)
    %10 = Select(c, %8, %9)
    return %10
  }
  graph then(x: Float32[4]) -> (Float32[4]) {
    %0 = Sin(x)
    return %0
  }
  graph else(x: Float32[4]) -> (Float32[4]) {
    %0 = Neg(x)
    return %0
  }
  graph nothing(x: Float32[4]) -> (Float32[4]) {
    %0 = Fill(dtype=Float32, shape=[4], value=0.0)
    return %0
  })");
}

TEST(VmapPass, AnEffectIsOneCallForEachItem) {
  ExpectPass(OptimizeAll, R"(
  graph main(x: Float32[2, 3]) -> (Float32[2, 3]) {
    %0 = Partial(graph=@f)
    %1 = Vmap(%0, in_axes=[0], out_axes=[0], size=2)
    %2 = Call(%1, x)
    return %2
  }
  graph f(x: Float32[3]) -> (Float32[3]) {
    %0 = HostCall(x, function=7, types=[11, 1, 3])
    %1 = Neg(%0)
    return %1
  })",
             R"(
  graph main(x: Float32[2, 3]) -> (Float32[2, 3]) {
    %0, %1 = Unstack(x)
    %2 = HostCall(%0, function=7, types=[11, 1, 3])
    %3 = Neg(%2)
    %4 = HostCall(%1, function=7, types=[11, 1, 3])
    %5 = Neg(%4)
    %6 = Stack(%3, %5)
    return %6
  })");
}

TEST(JvpPass, TangentsRunBesideValues) {
  ExpectPass(OptimizeAll, R"(
  graph main(x: Float32[2], d: Float32[2]) -> (Float32[2], Float32[2]) {
    %0 = Partial(graph=@f)
    %1 = Jvp(%0)
    %2, %3 = Call(%1, x, d)
    return %2, %3
  }
  graph f(x: Float32[2]) -> (Float32[2]) {
    %0 = Sin(x)
    %1 = Mul(%0, x)
    return %1
  })",
             R"(
  graph main(x: Float32[2], d: Float32[2]) -> (Float32[2], Float32[2]) {
    %0 = Sin(x)
    %1 = Cos(x)
    %2 = Mul(d, %1)
    %3 = Mul(%0, x)
    %4 = Mul(d, %0)
    %5 = Mul(%2, x)
    %6 = Add(%4, %5)
    return %3, %6
  })");
}

TEST(JvpPass, ABranchCarriesTangents) {
  ExpectPass([](Module& module) { return ExpandGradients(module); }, R"(
  graph main(x: Float32[2], d: Float32[2], c: Bool[]) -> (Float32[2], Float32[2]) {
    %0 = Partial(graph=@f)
    %1 = Partial(graph=@g)
    %2 = Switch(c, %0, %1)
    %3 = Jvp(%2)
    %4, %5 = Call(%3, x, d)
    return %4, %5
  }
  graph f(x: Float32[2]) -> (Float32[2]) {
    %0 = Neg(x)
    return %0
  }
  graph g(x: Float32[2]) -> (Float32[2]) {
    return x
  })",
             R"(
  graph main(x: Float32[2], d: Float32[2], c: Bool[]) -> (Float32[2], Float32[2]) {
    %0 = Partial(graph=@df)
    %1 = Partial(graph=@f)
    %2 = Partial(graph=@dg)
    %3 = Partial(graph=@g)
    %4 = Switch(c, %0, %2)
    %5 = Switch(c, %1, %3)
    %6, %7 = Call(%4, x, d)
    return %6, %7
  }
  graph f(x: Float32[2]) -> (Float32[2]) {
    %0 = Neg(x)
    return %0
  }
  graph g(x: Float32[2]) -> (Float32[2]) {
    return x
  }
  graph df(x: Float32[2], dx: Float32[2]) -> (Float32[2], Float32[2]) {
    %0 = Neg(x)
    %1 = Fill(dtype=Float32, shape=[2], value=0.0)
    %2 = Neg(%1)
    %3 = Neg(dx)
    return %0, %3
  }
  graph dg(x: Float32[2], dx: Float32[2]) -> (Float32[2], Float32[2]) {
    return x, dx
  })");
}

TEST(CustomGradPass, IsTheFunctionWhereNothingIsDifferentiated) {
  ExpectPass(DropCustomGradients, R"(
  graph main(x: Float32[2]) -> (Float32[2]) {
    %0 = Partial(graph=@f)
    %1 = Partial(graph=@back)
    %2 = CustomGrad(%0, %1)
    %3 = Call(%2, x)
    return %3
  })" + kCustom,
             R"(
  graph main(x: Float32[2]) -> (Float32[2]) {
    %0 = Partial(graph=@f)
    %1 = Partial(graph=@back)
    %2 = Call(%0, x)
    return %2
  })" + kCustom);
}

TEST(CustomGradPass, ReverseModeAsksTheRule) {
  ExpectPass(OptimizeAll, R"(
  graph main(x: Float32[2], d: Float32[2]) -> (Float32[2], Float32[2]) {
    %0 = Partial(graph=@f)
    %1 = Partial(graph=@back)
    %2 = CustomGrad(%0, %1)
    %3 = Vjp(%2)
    %4, %5 = Call(%3, x)
    %6, %7 = Call(%5, d)
    return %4, %7
  })" + kCustom,
             R"(
  graph main(x: Float32[2], d: Float32[2]) -> (Float32[2], Float32[2]) {
    %0 = Add(x, x)
    %1 = Constant(Float32[] [3.0])
    %2 = Mul(d, %1)
    %3 = Mul(%2, %0)
    return %0, %3
  })");
}

TEST(CustomGradPass, ForwardModeTransposesTheRule) {
  ExpectPass(OptimizeAll, R"(
  graph main(x: Float32[2], d: Float32[2]) -> (Float32[2], Float32[2]) {
    %0 = Partial(graph=@f)
    %1 = Partial(graph=@back)
    %2 = CustomGrad(%0, %1)
    %3 = Jvp(%2)
    %4, %5 = Call(%3, x, d)
    return %4, %5
  })" + kCustom,
             R"(
  graph main(x: Float32[2], d: Float32[2]) -> (Float32[2], Float32[2]) {
    %0 = Add(x, x)
    %1 = Constant(Float32[] [3.0])
    %2 = Mul(d, %0)
    %3 = Mul(%2, %1)
    return %0, %3
  })");
}

TEST(CustomGradPass, BatchesItsRuleWithItself) {
  ExpectPass(OptimizeAll, R"(
  graph main(x: Float32[5, 2], d: Float32[5, 2]) -> (Float32[5, 2]) {
    %0 = Partial(graph=@f)
    %1 = Partial(graph=@back)
    %2 = CustomGrad(%0, %1)
    %3 = Vmap(%2, in_axes=[0], out_axes=[0], size=5)
    %4 = Vjp(%3)
    %5, %6 = Call(%4, x)
    %7, %8 = Call(%6, d)
    return %8
  })" + kCustom,
             R"(
  graph main(x: Float32[5, 2], d: Float32[5, 2]) -> (Float32[5, 2]) {
    %0 = Add(x, x)
    %1 = Constant(Float32[] [3.0])
    %2 = Mul(d, %1)
    %3 = Mul(%2, %0)
    return %3
  })");
}

TEST(CustomGradPass, ForwardModeRefusesARuleOfPython) {
  auto module = Parse(R"(
  graph main(x: Float32[2], d: Float32[2]) -> (Float32[2], Float32[2]) {
    %0 = Partial(graph=@f)
    %1 = Partial(graph=@back)
    %2 = CustomGrad(%0, %1)
    %3 = Jvp(%2)
    %4, %5 = Call(%3, x, d)
    return %4, %5
  }
  graph f(x: Float32[2]) -> (Float32[2]) {
    return x
  }
  graph back(x: Float32[2], y: Float32[2], d: Float32[2]) -> (Float32[2]) {
    %0 = HostCall(d, function=7, types=[11, 1, 2])
    return %0
  })");
  EXPECT_EQ(
      testing::ErrorOf([&] { Optimize(*module); }),
      "For 'jvp', a custom gradient must be differentiable in its last argument, the tangent of "
      "the output, but got one that Python computes.");
}

}  // namespace
}  // namespace ms
