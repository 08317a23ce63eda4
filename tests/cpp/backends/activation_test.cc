// Activations that are declared to join a product or a convolution, and what oneDNN makes of them.
#include "backends/cpu/onednn.h"

#include <gtest/gtest.h>

#include "ops/all.h"
#include "ops/joined_activation.h"

namespace ms::testing {
namespace {

TEST(JoinedActivation, OneDnnKnowsAllThatAreDeclared) {
  SetOpSource(DefineAllOps);
  EXPECT_GE(JoinedActivations().size(), 8u);
  for (const std::string& name : JoinedActivations())
    EXPECT_TRUE(cpu::KnowsActivation(name)) << name;
}

// No such op passes inference: the kernel is asked by what has been declared and forgotten here.
TEST(JoinedActivation, WhatIsNotKnownIsRefused) {
  EXPECT_FALSE(cpu::KnowsActivation("softplus"));
  dnnl::post_ops steps;
  EXPECT_THROW(cpu::AppendActivation(steps, "softplus"), dnnl::error);
  cpu::AppendActivation(steps, "");
  EXPECT_EQ(steps.len(), 0);
}

}  // namespace
}  // namespace ms::testing
