// Programs with control flow that the tests of gradients and of passes share.
#pragma once

namespace ms::testing {

// x ** n by recursion.
inline constexpr char kPower[] = R"(
  graph main(x: Float64[], n: Float64[]) -> (Float64[]) {
    %0 = Partial(graph=@power)
    %1 = Call(%0, x, n)
    return %1
  }
  graph power(x: Float64[], n: Float64[]) -> (Float64[]) {
    %0 = Constant(Float64[] [1.0])
    %1 = Less(n, %0)
    %2 = Partial(graph=@base)
    %3 = Partial(graph=@step)
    %4 = Switch(%1, %2, %3)
    %5 = Call(%4, x, n)
    return %5
  }
  graph base(x: Float64[], n: Float64[]) -> (Float64[]) {
    %0 = Constant(Float64[] [1.0])
    return %0
  }
  graph step(x: Float64[], n: Float64[]) -> (Float64[]) {
    %0 = Constant(Float64[] [1.0])
    %1 = Sub(n, %0)
    %2 = Partial(graph=@power)
    %3 = Call(%2, x, %1)
    %4 = Mul(x, %3)
    return %4
  })";

// A closure over x * x, chosen by a value and called twice: boxes add.
inline constexpr char kChoose[] = R"(
  graph main(x: Float64[]) -> (Float64[]) {
    %a = Mul(x, x)
    %0 = Constant(Float64[] [1.0])
    %1 = Less(x, %0)
    %2 = Partial(%a, graph=@wave)
    %3 = Partial(%a, graph=@scale)
    %f = Switch(%1, %2, %3)
    %y = Call(%f, x)
    %z = Call(%f, %y)
    return %z
  }
  graph scale[a: Float64[]](y: Float64[]) -> (Float64[]) {
    %0 = Mul(a, a)
    %1 = Mul(%0, y)
    return %1
  }
  graph wave[a: Float64[]](y: Float64[]) -> (Float64[]) {
    %0 = Sin(a)
    %1 = Mul(%0, y)
    return %1
  })";

// while i > 0.5: s = sin(s) * x; i = i - 1
inline constexpr char kLoop[] = R"(
  graph main(x: Float64[]) -> (Float64[]) {
    %n = Constant(Float64[] [4.0])
    %0 = Partial(x, graph=@loop)
    %1 = Call(%0, x, %n)
    return %1
  }
  graph loop[x: Float64[]](s: Float64[], i: Float64[]) -> (Float64[]) loop(body=@body, done=@done, trip_count=4) {
    %0 = Constant(Float64[] [0.5])
    %1 = Less(%0, i)
    %2 = Partial(x, graph=@body)
    %3 = Partial(x, graph=@done)
    %4 = Switch(%1, %2, %3)
    %5 = Call(%4, s, i)
    return %5
  }
  graph body[x: Float64[]](s: Float64[], i: Float64[]) -> (Float64[]) {
    %0 = Sin(s)
    %1 = Mul(%0, x)
    %2 = Constant(Float64[] [1.0])
    %3 = Sub(i, %2)
    %4 = Partial(x, graph=@loop)
    %5 = Call(%4, %1, %3)
    return %5
  }
  graph done[x: Float64[]](s: Float64[], i: Float64[]) -> (Float64[]) {
    return s
  })";

// A branch whose arms share their captures, an integer beside, one arm of which has no gradient at
// all.
inline constexpr char kBranch[] = R"(
  graph main(x: Float64[], k: Int64[]) -> (Float64[]) {
    %0 = Constant(Float64[] [1.0])
    %1 = Less(x, %0)
    %2 = Partial(x, k, graph=@then)
    %3 = Partial(x, k, graph=@else)
    %4 = Switch(%1, %2, %3)
    %5, %6 = Call(%4)
    %7 = Mul(%5, x)
    return %7
  }
  graph then[x: Float64[], k: Int64[]]() -> (Float64[], Int64[]) {
    %0 = Cast(k, dtype=Float64)
    %1 = Sin(x)
    %2 = Mul(%0, %1)
    return %2, k
  }
  graph else[x: Float64[], k: Int64[]]() -> (Float64[], Int64[]) {
    %0 = Constant(Float64[] [3.0])
    %1 = Add(k, k)
    return %0, %1
  })";

}  // namespace ms::testing
