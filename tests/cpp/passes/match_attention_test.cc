// MatchAttention: what becomes Attention, and what must not.
#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::ExpectPass;

bool Match(Module& module) {
  bool changed = MatchAttention(module);
  RemoveDeadCode(module);
  return changed;
}

// q, k [2, 3, 5, 4], k as the product wants it [2, 3, 4, 6], v [2, 3, 6, 7] and masks.
std::string Net(const std::string& body, const std::string& results = "Float32[2, 3, 5, 7]") {
  return "graph main(q: Float32[2, 3, 5, 4], k: Float32[2, 3, 6, 4], t: Float32[2, 3, 4, 6], "
         "v: Float32[2, 3, 6, 7], m: Float32[2, 1, 1, 6], b: Bool[5, 6]) -> (" +
         results + ") {\n" + body + "\n}\n";
}

const char kKey[] = "%k = Fill(dtype=Int64, shape=[2], value=0.0)\n";
const char kNoMask[] = "%m = Fill(dtype=Bool, shape=[], value=0.0)\n";

void Becomes(const std::string& before, const std::string& after) {
  ExpectPass(Match, Net(before), Net(after));
}
void Stays(const std::string& text, const std::string& results = "Float32[2, 3, 5, 7]") {
  ExpectPass(Match, Net(text, results), Net(text, results));
}

TEST(MatchAttention, ScaleByDivision) {
  Becomes(
      "%0 = BatchMatMul(q, k, transpose_b=true)\n%1 = Constant(Float32[] [2.0])\n"
      "%2 = Div(%0, %1)\n%3 = Softmax(%2)\n%4 = BatchMatMul(%3, v)\nreturn %4",
      std::string(kKey) + kNoMask +
          "%0, %1, %2 = Attention(q, k, v, %m, %k, scale=0.5, fill=0.0, masked=false)\nreturn %0");
}

TEST(MatchAttention, AddedMaskAndTransposedKey) {
  Becomes(
      "%t = Transpose(k, perm=[0, 1, 3, 2])\n%0 = BatchMatMul(q, %t)\n"
      "%1 = Constant(Float32[] [0.5])\n%2 = Mul(%1, %0)\n%3 = Add(m, %2)\n"
      "%4 = Softmax(%3, axis=[3])\n%5 = BatchMatMul(%4, v)\nreturn %5",
      std::string(kKey) + "%0, %1, %2 = Attention(q, k, v, m, %k, scale=0.5, fill=0.0)\nreturn %0");
}

TEST(MatchAttention, KeysThatLieAcross) {
  Becomes("%0 = BatchMatMul(q, t)\n%3 = Softmax(%0)\n%4 = BatchMatMul(%3, v)\nreturn %4",
          std::string(kKey) + "%t = Transpose(t, perm=[0, 1, 3, 2])\n" + kNoMask +
              "%0, %1, %2 = Attention(q, %t, v, %m, %k, fill=0.0, masked=false)\nreturn %0");
}

TEST(MatchAttention, SeveralMasks) {
  Becomes(
      "%0 = BatchMatMul(q, k, transpose_b=true)\n%1 = Sub(%0, m)\n%2 = Add(%1, m)\n"
      "%3 = Softmax(%2)\n%4 = BatchMatMul(%3, v)\nreturn %4",
      std::string(kKey) +
          "%n = Neg(m)\n%a = Add(%n, m)\n"
          "%0, %1, %2 = Attention(q, k, v, %a, %k, fill=0.0)\nreturn %0");
}

TEST(MatchAttention, BooleanMask) {
  std::string product = "%0 = BatchMatMul(q, k, transpose_b=true)\n";
  std::string rest = "%3 = Softmax(%2)\n%4 = BatchMatMul(%3, v)\nreturn %4";
  Becomes(product + "%1 = Constant(Float32[] [-1000.0])\n%2 = Select(b, %1, %0)\n" + rest,
          std::string(kKey) + "%0, %1, %2 = Attention(q, k, v, b, %k, fill=-1000.0)\nreturn %0");
  Becomes(product +
              "%1 = Fill(dtype=Float32, shape=[2, 3, 5, 6], value=-7.0)\n"
              "%2 = Select(b, %0, %1)\n" +
              rest,
          std::string(kKey) +
              "%n = LogicalNot(b)\n%0, %1, %2 = Attention(q, k, v, %n, %k, fill=-7.0)\nreturn %0");
}

TEST(MatchAttention, BroadcastingThatChangesNothing) {
  Becomes(
      "%0 = BatchMatMul(q, k, transpose_b=true)\n%1 = BroadcastTo(%0, shape=[2, 3, 5, 6])\n"
      "%2 = Fill(dtype=Float32, shape=[], value=-5.0)\n"
      "%3 = BroadcastTo(%2, shape=[2, 3, 5, 6])\n%4 = BroadcastTo(b, shape=[2, 3, 5, 6])\n"
      "%5 = Select(%4, %3, %1)\n%6 = Softmax(%5)\n%7 = BatchMatMul(%6, v)\nreturn %7",
      std::string(kKey) + "%0, %1, %2 = Attention(q, k, v, b, %k, fill=-5.0)\nreturn %0");
}

TEST(MatchAttention, DropoutKeepsItsPlaceAmongRandomOps) {
  Becomes(
      "%0 = BatchMatMul(q, k, transpose_b=true)\n%1 = Softmax(%0)\n"
      "%2, %3 = Dropout(%1, keep_prob=0.75, Seed1=3)\n%v, %w = Dropout(v)\n"
      "%4 = BatchMatMul(%2, %v)\nreturn %4",
      std::string("%k = DropoutKey(Seed1=3)\n%v, %w = Dropout(v)\n") + kNoMask +
          "%0, %1, %2 = Attention(q, k, %v, %m, %k, fill=0.0, masked=false, "
          "keep_prob=0.75)\nreturn %0");
}

TEST(MatchAttention, LeavesWhatIsReadElsewhere) {
  std::string before = "%0 = BatchMatMul(q, k, transpose_b=true)\n%1 = Softmax(%0)\n";
  Stays(before + "%2 = BatchMatMul(%1, v)\nreturn %2, %1",
        "Float32[2, 3, 5, 7], Float32[2, 3, 5, 6]");
  Stays(before + "%2 = BatchMatMul(%1, v)\nreturn %2, %0",
        "Float32[2, 3, 5, 7], Float32[2, 3, 5, 6]");
  Stays(before + "%2, %3 = Dropout(%1)\n%4 = BatchMatMul(%2, v)\nreturn %4, %3",
        "Float32[2, 3, 5, 7], Float32[2, 3, 5, 6]");
}

TEST(MatchAttention, LeavesOtherShapesOfComputation) {
  std::string product = "%0 = BatchMatMul(q, k, transpose_b=true)\n";
  std::string end = "%8 = BatchMatMul(%7, v)\nreturn %8";
  Stays(product + "%7 = Softmax(%0, axis=[2])\n" + end);      // along queries
  Stays(product + "%1 = Exp(%0)\n%7 = Softmax(%1)\n" + end);  // not a scale
  Stays(product + "%1 = Constant(Float32[6] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])\n%2 = Mul(%0, %1)\n" +
        "%7 = Softmax(%2)\n" + end);  // factors that differ
  Stays(product + "%1 = Fill(dtype=Float32, shape=[], value=-9.0)\n%2 = Select(b, %1, %0)\n" +
        "%3 = Add(%2, m)\n%7 = Softmax(%3)\n" + end);  // -9 and a mask: hidden may come back
  Stays(product + "%1 = Constant(Float32[] [2.0])\n%2 = Div(%1, %0)\n%7 = Softmax(%2)\n" + end);
  Stays(product + "%2 = Select(b, %0, %0)\n%7 = Softmax(%2)\n" + end);
  Stays(
      "%0 = BatchMatMul(q, k, transpose_b=true)\n%1 = Sigmoid(%0)\n%2 = Add(%1, %0)\n"
      "%7 = Softmax(%2)\n" +
      end);
}

TEST(MatchAttention, MasksBeforeTheScale) {
  std::string product =
      "%0 = BatchMatMul(q, k, transpose_b=true)\n%1 = Constant(Float32[] [4.0])\n";
  std::string rest = "%4 = Softmax(%3)\n%5 = BatchMatMul(%4, v)\nreturn %5";
  Becomes(product + "%2 = Add(%0, m)\n%3 = Div(%2, %1)\n" + rest,
          std::string(kKey) +
              "%c = Constant(Float32[] [0.25])\n%m = Mul(m, %c)\n"
              "%0, %1, %2 = Attention(q, k, v, %m, %k, scale=0.25, fill=0.0)\nreturn %0");
  Becomes(product + "%8 = Fill(dtype=Float32, shape=[], value=-8.0)\n%2 = Select(b, %8, %0)\n" +
              "%3 = Div(%2, %1)\n" + rest,
          std::string(kKey) +
              "%0, %1, %2 = Attention(q, k, v, b, %k, scale=0.25, fill=-2.0)\nreturn %0");
}

TEST(MatchAttention, SeveralBooleanMasks) {
  std::string product = "%0 = BatchMatMul(q, k, transpose_b=true)\n";
  std::string rest = "%6 = Softmax(%5)\n%7 = BatchMatMul(%6, v)\nreturn %7";
  Becomes(product + "%1 = Fill(dtype=Float32, shape=[], value=-9.0)\n%2 = Select(b, %1, %0)\n" +
              "%5 = Select(b, %2, %1)\n" + rest,
          std::string(kKey) +
              "%n = LogicalNot(b)\n%o = LogicalOr(b, %n)\n"
              "%0, %1, %2 = Attention(q, k, v, %o, %k, fill=-9.0)\nreturn %0");
  Becomes(product + "%1 = Fill(dtype=Float32, shape=[], value=-inf)\n%2 = Select(b, %1, %0)\n" +
              "%5 = Add(%2, m)\n" + rest,
          std::string(kKey) +
              "%c = Constant(Float32[] [-inf])\n%s = Select(b, %c, m)\n"
              "%0, %1, %2 = Attention(q, k, v, %s, %k, fill=-inf)\nreturn %0");
}

TEST(MatchAttention, ReshapedScores) {
  auto net = [](const std::string& body) {
    return "graph main(q: Float32[6, 5, 4], k: Float32[6, 6, 4], v: Float32[6, 6, 7], "
           "m: Float32[2, 1, 1, 6]) -> (Float32[6, 5, 7]) {\n" +
           body + "\n}\n";
  };
  ExpectPass(Match,
             net("%0 = BatchMatMul(q, k, transpose_b=true)\n"
                 "%1 = Reshape(%0, shape=[2, 3, 5, 6])\n%2 = Add(%1, m)\n%3 = Softmax(%2)\n"
                 "%4 = Reshape(%3, shape=[6, 5, 6])\n%5 = BatchMatMul(%4, v)\nreturn %5"),
             net("%0 = Reshape(q, shape=[2, 3, 5, 4])\n%1 = Reshape(k, shape=[2, 3, 6, 4])\n"
                 "%2 = Reshape(v, shape=[2, 3, 6, 7])\n" +
                 std::string(kKey) +
                 "%5, %6, %7 = Attention(%0, %1, %2, m, %k, fill=0.0)\n"
                 "%8 = Reshape(%5, shape=[6, 5, 7])\nreturn %8"));
}

TEST(MatchAttention, HeadsThatShareKeys) {
  std::string text =
      "graph main(q: Float32[2, 3, 5, 4], k: Float32[2, 1, 6, 4]) -> (Float32[2, 3, 5, 4]) {\n";
  ExpectPass(
      Match,
      text +
          "%0 = BatchMatMul(q, k, transpose_b=true)\n%1 = Softmax(%0)\n"
          "%2 = BatchMatMul(%1, k)\nreturn %2\n}\n",
      text + "%a = BroadcastTo(k, shape=[2, 3, 6, 4])\n" +
          "%b = BroadcastTo(k, shape=[2, 3, 6, 4])\n" + kKey + kNoMask +
          "%0, %1, %2 = Attention(q, %a, %b, %m, %k, fill=0.0, masked=false)\nreturn %0\n}\n");
}

TEST(MatchAttention, SoftmaxInFloat32) {
  std::string text =
      "graph main(q: Float16[5, 4], k: Float16[6, 4], m: Float32[6]) -> (Float16[5, 4]) {\n";
  ExpectPass(Match,
             text +
                 "%0 = MatMul(q, k, transpose_b=true)\n%1 = Cast(%0, dtype=Float32)\n"
                 "%2 = Add(%1, m)\n%3 = Softmax(%2)\n%4 = Cast(%3, dtype=Float16)\n"
                 "%5 = MatMul(%4, k)\nreturn %5\n}\n",
             text +
                 "%0 = Cast(q, dtype=Float32)\n%1 = Cast(k, dtype=Float32)\n"
                 "%2 = Cast(k, dtype=Float32)\n" +
                 kKey +
                 "%5, %6, %7 = Attention(%0, %1, %2, m, %k, fill=0.0)\n"
                 "%8 = Cast(%5, dtype=Float16)\nreturn %8\n}\n");
}

TEST(MatchAttention, SoftmaxWrittenOut) {
  std::string product = "%0 = BatchMatMul(q, k, transpose_b=true)\n";
  std::string after = std::string(kKey) + kNoMask +
                      "%0, %1, %2 = Attention(q, k, v, %m, %k, fill=0.0, masked=false)\nreturn %0";
  Becomes(product +
              "%1 = ReduceMax(%0, axis=[-1], keep_dims=true)\n%2 = Sub(%0, %1)\n%3 = Exp(%2)\n"
              "%4 = ReduceSum(%3, axis=[3], keep_dims=true)\n%5 = Div(%3, %4)\n"
              "%6 = BatchMatMul(%5, v)\nreturn %6",
          after);
  Becomes(product + "%1 = LogSoftmax(%0)\n%2 = Exp(%1)\n%3 = BatchMatMul(%2, v)\nreturn %3", after);
  Stays(product +
        "%3 = Exp(%0)\n%4 = ReduceSum(%3, axis=[2], keep_dims=true)\n%5 = Div(%3, %4)\n"
        "%6 = BatchMatMul(%5, v)\nreturn %6");
}

TEST(MatchAttention, LeavesMasksThatLearn) {
  std::string text =
      "graph main(q: Float32[2, 5, 4], w: Float32[5, 5], o: Float32[2, 5, 4]) -> (Float32[2, 5, "
      "4]) {\n%0 = Partial(q, graph=@f)\n%1 = Vjp(%0)\n%2, %3 = Call(%1, w)\n%4, %5 = Call(%3, "
      "o)\nreturn %2\n}\n"
      "graph f[q: Float32[2, 5, 4]](w: Float32[5, 5]) -> (Float32[2, 5, 4]) {\n"
      "%0 = BatchMatMul(q, q, transpose_b=true)\n%1 = Add(%0, w)\n%2 = Softmax(%1)\n"
      "%3 = BatchMatMul(%2, q)\nreturn %3\n}\n";
  auto module = Parse(text);
  EXPECT_FALSE(MatchAttention(*module));
}

TEST(MatchAttention, PaddingOfDifferentiatedGraphs) {
  std::string text =
      "graph main(q: Float32[2, 5, 4], w: Float32[2, 1, 5], o: Float32[2, 5, 4]) -> (Float32[2, 5, "
      "4]) {\n%0 = Partial(q, graph=@f)\n%1 = Vjp(%0)\n%2, %3 = Call(%1, w)\n%4, %5 = Call(%3, "
      "o)\nreturn %2\n}\n"
      "graph f[q: Float32[2, 5, 4]](w: Float32[2, 1, 5]) -> (Float32[2, 5, 4]) {\n"
      "%0 = BatchMatMul(q, q, transpose_b=true)\n%1 = Add(%0, w)\n%2 = Softmax(%1)\n"
      "%3 = BatchMatMul(%2, q)\nreturn %3\n}\n";
  auto module = Parse(text);
  EXPECT_TRUE(MatchAttention(*module));
}

}  // namespace
}  // namespace ms
