// Planning ends after so much work: equal parts of a batch are planned as one, many neighbours and
// many axes are searched as far as that goes, and the plan says so.
#include <random>
#include <set>

#include "passes/parallel/explain.h"
#include "passes/parallel/networks.h"
#include "passes/parallel/search.h"

namespace ms::parallel {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

// Dense layers that take a batch in parts; the loss is the sum of those of the parts.
std::unique_ptr<Module> Parts(int layers, int parts, bool alike = true) {
  Network n;
  std::string x = n.Data("x", fmt::format("Float32[{}, 1024]", 512 * parts));
  std::vector<std::string> weights;
  for (int i = 0; i < layers; ++i)
    weights.push_back(n.Parameter(fmt::format("w{}", i), "Float32[1024, 1024]"));
  std::string total;
  for (int part = 0; part < parts; ++part) {
    std::string y = n.Op("StridedSlice({}, begin=[{}, 0], end=[{}, 1024], strides=[1, 1])", x,
                         512 * part, 512 * (part + 1));
    for (int i = 0; !alike && i < part; ++i) y = n.Op("Tanh({})", y);
    for (const std::string& w : weights) y = n.Op("MatMul({}, {})", y, w);
    std::string loss = n.Op("ReduceMean({}, axis=[], keep_dims=false)", y);
    total = total.empty() ? loss : n.Op("Add({}, {})", total, loss);
  }
  return n.Step(total);
}

// The plan, and the work that its searches did.
Plan Planned(const Module& module, const std::vector<int64_t>& axes, size_t* work) {
  PlanOptions options = OptionsFor(module, MeshOf(axes));
  options.device = FastDevice();
  std::unordered_map<const TablePool*, size_t> works;
  options.shown = [&](const CostModel&, const TablePool& pool, double) {
    works[&pool] = pool.work();
  };
  Plan plan = MakePlan(module, options);
  *work = 0;
  for (const auto& [pool, done] : works) *work += done;
  return plan;
}

// By Parameter: how the products with it are cut.
std::map<std::string, std::set<std::vector<int>>> CutsOfProducts(const Module& module,
                                                                 const Plan& plan) {
  std::map<std::string, std::set<std::vector<int>>> cuts;
  for (const auto& graph : module.graphs()) {
    for (const Node* node : graph->nodes()) {
      if (node->kind == NodeKind::kApply && node->op->name == "MatMul")
        cuts[node->inputs[1].node->name].insert(plan.of(node).factor_of_axis);
    }
  }
  return cuts;
}

TEST(Limits, EqualPartsArePlannedAsOne) {
  auto module = Parts(8, 8);
  size_t one = 0, all = 0;
  Planned(*Parts(8, 1), {2, 2, 2, 2}, &one);
  Plan plan = Planned(*module, {2, 2, 2, 2}, &all);
  EXPECT_LE(all, 10 * one);
  for (const auto& [weight, cuts] : CutsOfProducts(*module, plan))
    EXPECT_EQ(cuts.size(), 1) << weight;
  EXPECT_TRUE(plan.limited);
  EXPECT_LT(plan.bound, plan.seconds);
  EXPECT_THAT(ToText(Explain(*module, plan)), HasSubstr("left plans unseen"));
}

TEST(Limits, FewPartsAreStillExact) {
  auto module = Parts(4, 2);
  size_t work = 0;
  Plan plan = Planned(*module, {2, 2}, &work);
  EXPECT_NEAR(plan.bound, plan.seconds, 1e-5 * plan.seconds);
  EXPECT_THAT(ToText(Explain(*module, plan)), Not(HasSubstr("unseen")));
}

TEST(Limits, PartsThatDifferEndInTime) {
  auto module = Parts(8, 8, false);
  size_t work = 0;
  Plan plan = Planned(*module, {2, 2, 2, 2}, &work);
  EXPECT_LE(work, size_t{1} << 32);
  EXPECT_GT(plan.seconds, 0);
  size_t again = 0;
  EXPECT_EQ(Planned(*module, {2, 2, 2, 2}, &again).seconds, plan.seconds);  // not by the clock
  EXPECT_EQ(again, work);
}

TEST(Limits, ManyNeighboursAreHeld) {
  TablePool pool;
  CostModel model;
  constexpr int kVariables = 12, kStates = 4;
  std::mt19937 random(3);
  auto costs = [&](size_t count) {
    std::vector<float> values(count);
    for (float& c : values) c = static_cast<float>(random() % 1000);
    return values;
  };
  for (int v = 0; v < kVariables; ++v) model.own.push_back(pool.Add(kStates, 1, costs(kStates)));
  for (int a = 0; a < kVariables; ++a) {
    for (int b = 0; b < a; ++b)
      model.pairs.push_back({a, b, pool.Add(kStates, kStates, costs(kStates * kStates))});
  }
  size_t before = pool.work(), limit = size_t{1} << 20, allowed = size_t{1} << 12;
  Solution near = Minimise(model, &pool, limit, allowed);
  EXPECT_LE(pool.work() - before, 20 * allowed);
  EXPECT_LE(near.bound, near.cost);
  Solution exact = Minimise(model, &pool, size_t{1} << 26, size_t{1} << 40);
  EXPECT_EQ(exact.bound, exact.cost);
  EXPECT_LE(near.bound, exact.cost);
  EXPECT_LE(exact.cost, near.cost);
}

// Six axes go so many different ways that only some are looked for.
TEST(Limits, ABlockOnSixAxesIsPlanned) {
  Sizes sizes;
  sizes.batch = 64;
  sizes.layers = 4;
  auto module = Transformer(sizes).Step();
  size_t work = 0, coarse = 0;
  Plan plan = Planned(*module, {2, 2, 2, 2, 2, 2}, &work);
  EXPECT_LE(work, size_t{1} << 32);
  EXPECT_LE(plan.seconds, 1.01 * Planned(*module, {4, 4, 4}, &coarse).seconds);
}

}  // namespace
}  // namespace ms::parallel
