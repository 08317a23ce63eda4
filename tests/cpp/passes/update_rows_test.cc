// Updates of tables by the gradients of gathered rows.
#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::ExpectPass;

std::string Step(const std::string& body, int table = 100) {
  return fmt::format(
      "graph main(t: Float32[{0}, 4], dy: Float32[3, 4], i: Int32[3], lr: Float32[], m: Float32[], "
      "a: Float32[{0}, 4], s: Float32[{0}, 4]) -> (Float32[{0}, 4], Float32[{0}, 4], Float32[{0}, "
      "4]) updates(0=0, 1=5, 2=6) {{\n{1}\n}}\n",
      table, body);
}

TEST(UpdateRows, TakesTheGradientsOfRows) {
  ExpectPass(UpdateRows,
             Step("%0 = GatherGrad(dy, i, axis=0, shape=[100, 4])\n"
                  "%1, %2, %3 = SGD(t, %0, lr, a, m, s, dampening=0.5)\nreturn %1, %2, %3"),
             Step("%0 = GatherGrad(dy, i, axis=0, shape=[100, 4])\n"
                  "%1, %2, %3 = SGDRows(t, dy, lr, a, m, s, i, dampening=0.5)\nreturn %1, %2, %3"));
}

TEST(UpdateRows, LeavesWhatTouchesAllRows) {
  std::string decays = Step(
      "%0 = GatherGrad(dy, i, axis=0, shape=[100, 4])\n"
      "%1, %2, %3 = SGD(t, %0, lr, a, m, s, weight_decay=0.1)\nreturn %1, %2, %3");
  ExpectPass(UpdateRows, decays, decays);
}

TEST(UpdateRows, LeavesGradientsThatOthersRead) {
  std::string read = Step(
      "%0 = GatherGrad(dy, i, axis=0, shape=[100, 4])\n"
      "%1, %2, %3 = SGD(t, %0, lr, a, m, s)\nreturn %1, %0, %3");
  ExpectPass(UpdateRows, read, read);
}

TEST(UpdateRows, LeavesSmallTablesAndOtherAxes) {
  std::string small = Step(
      "%0 = GatherGrad(dy, i, axis=0, shape=[8, 4])\n"
      "%1, %2, %3 = SGD(t, %0, lr, a, m, s)\nreturn %1, %2, %3",
      8);
  ExpectPass(UpdateRows, small, small);
}

}  // namespace
}  // namespace ms
