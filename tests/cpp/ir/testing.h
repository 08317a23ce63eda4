// Shared by the tests of the compiler: graphs from text, comparison, a chain of nodes of any
// length.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ir/control.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/all.h"

namespace ms::testing {

inline const bool kOpsAreSet = (SetOpSource(DefineAllOps), true);

inline ::testing::AssertionResult SameGraphs(const Module& got, const Module& expected) {
  std::string difference = Difference(got, expected);
  if (difference.empty()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << difference << "\ngot:\n"
                                       << Print(got) << "expected:\n"
                                       << Print(expected);
}
inline ::testing::AssertionResult SameGraphs(const Module& got, std::string_view expected) {
  return SameGraphs(got, *Parse(expected));
}

// The message of the Error that `f` throws; "" when it throws none.
template <class F>
std::string ErrorOf(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

// main(x) = Neg(Neg(... x)), or a chain of other ops.
inline std::unique_ptr<Module> Chain(int length, const std::vector<std::string>& ops = {"Neg"}) {
  auto module = std::make_unique<Module>();
  Graph* graph = module->NewGraph("main");
  module->set_main(graph);
  Var v{graph->AddParameter(Type(DType::kFloat32, {2}), "x"), 0};
  for (int i = 0; i < length; ++i) {
    const OpDef& op = Ops().Get(ops[static_cast<size_t>(i) % ops.size()]);
    Vars inputs(op.inputs.size(), v);
    v = {graph->AddApply(op, std::move(inputs), nullptr, {v.type()}, 0), 0};
  }
  graph->SetOutputs({v});
  return module;
}

inline size_t NodeCount(const Module& module) {
  size_t count = 0;
  for (const auto& graph : module.graphs()) count += graph->nodes().size();
  return count;
}

}  // namespace ms::testing
