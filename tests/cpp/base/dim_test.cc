// Sizes as polynomials: arithmetic is exact, equal expressions are one code, and comparisons are
// answered for all sizes where that can be, else by the sizes of a scope.
#include "base/dim.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "base/shape.h"

namespace ms {
namespace {

const Dim n = Dim::Symbol(0), m = Dim::Symbol(1);

template <class F>
ErrorKind KindOf(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::kInternal;
}

TEST(Dim, EqualExpressionsHaveOneCode) {
  EXPECT_TRUE(((n + 1) * (n - 1)).Same(n * n - 1));
  EXPECT_TRUE((n + m).Same(m + n));
  EXPECT_TRUE((n - n).Is(0));
  EXPECT_TRUE((n * 0 + 7).Is(7));
  EXPECT_FALSE(n.Same(m));
  EXPECT_EQ((n * m * 2 + 1).ToString(), "2*s0*s1 + 1");
  EXPECT_EQ((n - 3).ToString(), "s0 - 3");
  EXPECT_EQ((m * -1).ToString(), "-s1");
}

TEST(Dim, DivisionIsExactWhereItCanBe) {
  EXPECT_TRUE((n * 12 / 4).Same(n * 3));
  EXPECT_TRUE((n * m * 8 / (m * 8)).Same(n));
  EXPECT_TRUE(((n * n + n * 2 + 1) / (n + 1)).Same(n + 1));
  EXPECT_TRUE(((n * 4 + 3) / 2).Same(n * 2 + 1));
  EXPECT_TRUE((n * 6 % 3).Is(0));
  EXPECT_TRUE(((n * 6 + 4) % 3).Is(1));
  EXPECT_EQ(((n + 1) / 2).ToString(), "((s0 + 1) // 2)");
  EXPECT_EQ(((n + 1) % 2).ToString(), "((s0 + 1) % 2)");
}

TEST(Dim, EvaluatesWithPythonsRounding) {
  Ints sizes{7, 3};
  EXPECT_EQ((n * m - 1).Evaluate(sizes), 20);
  EXPECT_EQ(((n - 10) / 2).Evaluate(sizes), -2);
  EXPECT_EQ(((n - 10) % 2).Evaluate(sizes), 1);
  EXPECT_EQ((n / m + n % m).Evaluate(sizes), 3);
  EXPECT_EQ((Dim(-7) / 2).value(), -4);
  EXPECT_EQ((Dim(-7) % 2).value(), 1);
}

// Random expressions mean the same as their evaluation step by step, and stay above their bounds.
TEST(Dim, ExpressionsMeanWhatTheyCompute) {
  std::mt19937 random(1);
  auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  for (int round = 0; round < 2000; ++round) {
    Ints sizes{1 + below(9), 1 + below(9)};
    std::vector<Dim> dims{n, m, 2, 3};
    Ints values{sizes[0], sizes[1], 2, 3};
    for (int step = 0; step < 6; ++step) {
      auto a = static_cast<size_t>(below(static_cast<int>(dims.size())));
      auto b = static_cast<size_t>(below(static_cast<int>(dims.size())));
      int op = below(5);
      if (op >= 3 && (dims[b].Is(0) || values[b] == 0)) continue;
      auto floor = [](int64_t x, int64_t y) {
        return static_cast<int64_t>(std::floor(static_cast<double>(x) / static_cast<double>(y)));
      };
      int64_t x = values[a], y = values[b];
      int64_t result[] = {x + y, x - y, x * y, op < 3 ? 0 : floor(x, y),
                          op < 3 ? 0 : x - floor(x, y) * y};
      if (std::abs(result[op]) > 100000) continue;
      DimScope scope;  // division asks whether the divisor is zero
      scope.hints = sizes;
      DimScope::Use use(&scope);
      Dim made[] = {dims[a] + dims[b], dims[a] - dims[b], dims[a] * dims[b],
                    op < 3 ? Dim(0) : dims[a] / dims[b], op < 3 ? Dim(0) : dims[a] % dims[b]};
      EXPECT_EQ(made[op].Evaluate(sizes), result[op]) << made[op].ToString();
      EXPECT_LE(made[op].LowerBound().value_or(result[op]), result[op]);
      dims.push_back(made[op]);
      values.push_back(result[op]);
    }
  }
}

TEST(Dim, DecidesWhatHoldsForAllSizes) {
  EXPECT_TRUE(n >= 1);
  EXPECT_TRUE(n > 0);
  EXPECT_FALSE(n == 0);
  EXPECT_TRUE(n + m > 1);
  EXPECT_TRUE(n * 2 - 1 > 0);
  EXPECT_FALSE(n + 1 == n);
  EXPECT_FALSE(n * 2 == m * 2 + 1);  // even is not odd
  EXPECT_TRUE((n + 1) / 2 >= 0);
  EXPECT_TRUE(std::max(n, Dim(1)).Same(n));
}

TEST(Dim, RefusesWhereNobodyKnows) {
  EXPECT_EQ(KindOf([] { return n == 3; }), ErrorKind::kSymbolic);
  EXPECT_EQ(KindOf([] { return n < m; }), ErrorKind::kSymbolic);
  EXPECT_EQ(KindOf([] { return n.value(); }), ErrorKind::kSymbolic);
  EXPECT_EQ(KindOf([] { return n / 0; }), ErrorKind::kZeroDivision);
  EXPECT_EQ(KindOf([] { return n * (int64_t{1} << 62) * 4; }), ErrorKind::kValue);
}

TEST(Dim, AScopeAnswersAndRemembers) {
  DimScope scope;
  scope.hints = {4, 4};
  {
    DimScope::Use use(&scope);
    EXPECT_TRUE(n == m);
    EXPECT_TRUE(n < 10);
    EXPECT_TRUE(n < 10);
    EXPECT_FALSE(n == 1);
  }
  EXPECT_EQ(scope.guards.size(), 3u);
  EXPECT_TRUE(scope.Holds(Ints{9, 9}));
  EXPECT_FALSE(scope.Holds(Ints{9, 8}));
  EXPECT_FALSE(scope.Holds(Ints{10, 10}));
  EXPECT_FALSE(scope.Holds(Ints{1, 1}));
  EXPECT_EQ(DimScope::Current(), nullptr);
}

TEST(Shape, KeepsSymbolicSizesApartFromNumbers) {
  Shape shape{n, Dim(3)};
  EXPECT_TRUE(shape.symbolic());
  EXPECT_TRUE(shape.elements().Same(n * 3));
  EXPECT_FALSE(shape.empty());
  EXPECT_EQ(shape[1], 3);
  EXPECT_EQ(shape.ToString(), "[s0, 3]");
  EXPECT_EQ(KindOf([&] { return shape[0]; }), ErrorKind::kSymbolic);
  EXPECT_EQ(KindOf([&] { return shape.size(); }), ErrorKind::kSymbolic);
  EXPECT_EQ(KindOf([&] { return shape.ToInts(); }), ErrorKind::kSymbolic);
  EXPECT_EQ(KindOf([&] { return *shape.begin(); }), ErrorKind::kSymbolic);
  EXPECT_TRUE(shape.With(0, 2) == (Shape{2, 3}));
  EXPECT_TRUE(Shape(shape.ToCodes()) == shape);
  EXPECT_TRUE((Shape{n, Dim(0)}).empty());
  EXPECT_TRUE(Join({shape.Part(1, 2), shape.Part(0, 1)}) == (Shape{Dim(3), n}));
}

TEST(Shape, BroadcastsSymbolsAgainstOneWithoutAsking) {
  Shape out;
  EXPECT_TRUE(Broadcast({n, Dim(3)}, Shape{3}, &out));
  EXPECT_TRUE(out == (Shape{n, Dim(3)}));
  EXPECT_TRUE(Broadcast({n, Dim(1)}, Shape{1, 5}, &out));
  EXPECT_TRUE(out == (Shape{n, Dim(5)}));
  EXPECT_EQ(KindOf([&] { return Broadcast(Shape{n}, Shape{m}, &out); }), ErrorKind::kSymbolic);
  DimScope scope;
  scope.hints = {6, 6};
  DimScope::Use use(&scope);
  EXPECT_TRUE(Broadcast(Shape{n}, Shape{6}, &out));
  EXPECT_TRUE(out == Shape{6});
  EXPECT_FALSE(Broadcast(Shape{n}, Shape{7}, &out));
}

}  // namespace
}  // namespace ms
