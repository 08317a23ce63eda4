// Shared by the tests of passes: a pass turns the text `before` into the text `after`.
#pragma once

#include "ir/testing.h"
#include "passes/pipeline.h"

namespace ms::testing {

template <class Pass>
void ExpectPass(Pass pass, std::string_view before, std::string_view after) {
  auto module = Parse(before);
  Verify(*module);
  bool changed = pass(*module);
  Verify(*module);
  EXPECT_TRUE(SameGraphs(*module, after));
  EXPECT_EQ(changed, !StructurallyEqual(*Parse(before), *Parse(after))) << "what the pass returned";
}

// A graph main with two vectors and two scalars as inputs.
inline std::string Main(const std::string& body, const std::string& results = "Float32[2]") {
  return "graph main(x: Float32[2], y: Float32[2], a: Float32[], c: Bool[]) -> (" + results +
         ") {\n" + body + "\n}\n";
}

}  // namespace ms::testing
