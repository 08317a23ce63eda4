// Branches around updates become choices between values; other branches stay.
#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::ExpectPass;
using testing::Main;

bool SelectAndSweep(Module& module) {
  bool changed = SelectUpdates(module);
  return RemoveDeadCode(module) || changed;
}

std::string Program(const std::string& body) {
  const std::string results = "Float32[2], Float32[2]";
  const std::string inputs = "(p: Float32[2], g: Float32[2])";
  return Main(
             "%0 = Partial(graph=@taken)\n%1 = Partial(graph=@left)\n%2 = Switch(c, %0, %1)\n"
             "%3, %4 = Call(%2, x, y)\nreturn %3, %4",
             results) +
         "graph taken" + inputs + " -> (" + results + ") {\n" + body + "\nreturn %1, g\n}\n" +
         "graph left" + inputs + " -> (" + results + ") {\nreturn p, g\n}\n";
}

TEST(SelectUpdates, ABranchAroundAnUpdate) {
  ExpectPass(SelectAndSweep, Program("%0 = Mul(g, g)\n%1 = AssignSub(p, %0)"),
             Main("%0 = Mul(y, y)\n%1 = AssignSub(x, %0)\n%2 = Select(c, %1, x)\nreturn %2, y",
                  "Float32[2], Float32[2]"));
}

TEST(SelectUpdates, OtherBranchesStay) {
  std::string no_update = Program("%0 = Mul(g, g)\n%1 = Exp(%0)");
  ExpectPass(SelectUpdates, no_update, no_update);
  std::string reduces =
      Program("%0 = ReduceSum(g, axis=[], keep_dims=false)\n%1 = AssignSub(p, g)");
  ExpectPass(SelectUpdates, reduces, reduces);
}

TEST(SelectUpdates, ManyElementsAreNotComputedInVain) {
  std::string large = Program("%0 = Mul(g, g)\n%1 = AssignSub(p, %0)");
  for (size_t at = 0; (at = large.find("[2]", at)) != std::string::npos;)
    large.replace(at, 3, "[300, 300]");
  ExpectPass(SelectUpdates, large, large);
}

}  // namespace
}  // namespace ms
