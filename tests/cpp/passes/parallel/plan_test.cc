// Plans: the optimum against brute force, known networks without hints, pins, memory, control flow.
#include "passes/parallel/plan.h"

#include <random>

#include "passes/parallel/explain.h"
#include "passes/parallel/networks.h"
#include "passes/parallel/search.h"

namespace ms::parallel {
namespace {

using namespace testing;
using ms::testing::ErrorOf;
using ::testing::Each;
using ::testing::HasSubstr;

// ---- elimination
CostModel RandomModel(std::mt19937& random, TablePool* pool, int variables, int percent) {
  auto cost = [&] { return static_cast<float>(random() % 1000); };
  CostModel model;
  for (int v = 0; v < variables; ++v) {
    std::vector<float> own(1 + random() % 3);
    for (float& c : own) c = cost();
    auto rows = static_cast<int>(own.size());
    model.own.push_back(pool->Add(rows, 1, std::move(own)));
  }
  for (int a = 0; a < variables; ++a) {
    for (int b = 0; b < variables; ++b) {
      if (static_cast<int>(random() % 100) >= percent) continue;
      int rows = (*pool)[model.own[static_cast<size_t>(a)]].rows;
      int columns = (*pool)[model.own[static_cast<size_t>(b)]].rows;
      std::vector<float> values(static_cast<size_t>(rows * columns));
      for (float& c : values) c = cost();
      model.pairs.push_back({a, b, pool->Add(rows, columns, std::move(values))});
    }
  }
  return model;
}

double Least(const CostModel& model, const TablePool& pool) {
  std::vector<int> states(model.own.size(), 0);
  double least = CostOf(model, pool, states);
  for (;;) {
    size_t v = 0;
    while (v < states.size() && ++states[v] == pool[model.own[v]].rows) states[v++] = 0;
    if (v == states.size()) return least;
    least = std::min(least, CostOf(model, pool, states));
  }
}

TEST(Eliminate, FindsTheLeastOfRandomModels) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    TablePool pool;
    CostModel model = RandomModel(random, &pool, 2 + i % 6, 10 + i % 40);
    Solution solution = Minimise(model, &pool);
    ASSERT_EQ(solution.cost, Least(model, pool)) << i;
    ASSERT_EQ(solution.bound, solution.cost) << i;
  }
}

TEST(Eliminate, BoundsWhatItCannotFind) {
  std::mt19937 random(2);
  int exact = 0;
  for (int i = 0; i < 100; ++i) {
    TablePool pool;
    CostModel model = RandomModel(random, &pool, 7, 45);
    Solution solution = Minimise(model, &pool, 1);
    double least = Least(model, pool);
    ASSERT_LE(least, solution.cost);
    ASSERT_LE(solution.bound, least);
    exact += solution.cost == least;
  }
  EXPECT_GE(exact, 50);
}

// ---- the whole planner against brute force
double LeastSeconds(const Problem& problem, const PlanOptions& options) {
  StateTables tables(problem, options.mesh);
  uint32_t axes = (1u << options.mesh.count()) - 1;
  std::vector<const States*> states;
  for (const Variable& v : problem.variables)
    states.push_back(&tables.Of(*v.kind, AllAlike(), axes));
  std::vector<int> at(states.size(), 0);
  double least = kNever;
  for (;;) {
    double cost = 0;
    for (size_t v = 0; v < at.size(); ++v) cost += states[v]->seconds[static_cast<size_t>(at[v])];
    for (const Link& l : problem.links)
      cost +=
          tables.Seconds(l, *states[static_cast<size_t>(l.from)], at[static_cast<size_t>(l.from)],
                         *states[static_cast<size_t>(l.to)], at[static_cast<size_t>(l.to)]);
    least = std::min(least, cost);
    size_t v = 0;
    while (v < at.size() && ++at[v] == states[v]->size()) at[v++] = 0;
    if (v == at.size()) return least;
  }
}

TEST(Plan, IsTheLeastOfAllPlans) {
  std::mt19937 random(3);
  for (int i = 0; i < 12; ++i) {
    Network n;
    auto size = [&] { return int64_t{64} << random() % 4; };
    int64_t rows = size(), k = size();
    std::string x = n.Data("x", fmt::format("Float32[{}, {}]", rows, k));
    std::string w = n.Parameter("w", fmt::format("Float32[{0}, {0}]", k));
    std::string y = n.Op("MatMul({}, {})", x, w);
    if (i % 3 != 0) y = n.Op("Add({}, {})", y, i % 3 == 1 ? x : n.Op("Neg({})", y));
    auto module = n.Step(n.Op("ReduceMean({}, axis=[], keep_dims=false)", y));
    PlanOptions options = OptionsFor(*module, MeshOf({2 + i % 3}, 1e-6, 1e-9));
    options.device.launch = 1e-7;
    Problem problem = MakeProblem(*module, options);
    Plan plan = MakePlan(*module, options);
    double least = LeastSeconds(problem, options);
    EXPECT_NEAR(plan.seconds, least, 1e-5 * least) << i;
    EXPECT_NEAR(plan.bound, least, 1e-5 * least) << i;
  }
}

// ---- known networks, without hints
std::unique_ptr<Module> AlexNet(int64_t batch) {
  Network n;
  std::string x = n.Data("images", fmt::format("Float32[{}, 64, 28, 28]", batch));
  int64_t channels = 64;
  for (int i = 0; i < 3; ++i) {
    std::string w =
        n.Parameter(fmt::format("w_conv{}", i), fmt::format("Float32[256, {}, 3, 3]", channels));
    x = n.Op(
        "Conv2D({}, {}, out_channel=256, kernel_size=[3, 3], pad_mode=\"same\", "
        "pad=[0, 0, 0, 0], stride=[1, 1], dilation=[1, 1])",
        x, w);
    x = n.Op("ReLU({})", x);
    channels = 256;
  }
  x = n.Op("MaxPool({}, kernel_size=[4, 4], strides=[4, 4])", x);
  x = n.Op("Reshape({}, shape=[{}, -1])", x, batch);
  int64_t width = 256 * 7 * 7;
  for (int i = 0; i < 3; ++i) {
    int64_t next = i == 2 ? 1000 : 4096;
    std::string w =
        n.Parameter(fmt::format("w_fc{}", i), fmt::format("Float32[{}, {}]", next, width));
    x = n.Op("MatMul({}, {}, transpose_b=true)", x, w);
    if (i < 2) x = n.Op("ReLU({})", x);
    width = next;
  }
  std::string labels = n.Data("classes", fmt::format("Int32[{}]", batch));
  std::string ones = n.Data("ones", "Float32[1000]");
  return n.Step(n.Op(fmt::format("CrossEntropy({}, {}, {})", x, labels, ones), 2));
}

TEST(Plan, AlexNetCutsImagesOfConvolutionsAndFeaturesOfLayers) {
  auto module = AlexNet(128);
  PlanOptions options = OptionsFor(*module, MeshOf({8}));
  options.device = {1e13, 5e11, 5e-6, 0};
  Plan plan = MakePlan(*module, options);
  for (const std::string& line : Layouts(*module, plan, "f", "Conv2D"))
    EXPECT_THAT(line, HasSubstr("-> [a, -, -, -]"));
  std::vector<std::string> layers = Layouts(*module, plan, "f", "MatMul");
  for (const std::string& line : {layers[0], layers[1]})
    EXPECT_TRUE(line.find(" [a, -] ->") != line.npos || line.find(" [-, a] ->") != line.npos)
        << line;
}

// One host of eight accelerators with a fast fabric, and a layer that is large enough for them.
PlanOptions OneHost(const Module& module) {
  PlanOptions options = OptionsFor(module, MeshOf({8}, 3e-6, 5e-12));
  options.device = FastDevice();
  return options;
}
Sizes LargeLayer(bool head) { return {4, 512, 4096, 16384, 32, 32000, 1, head}; }

TEST(Plan, TransformerIsCutAsMegatronDoes) {
  auto module = Transformer(LargeLayer(false)).Step();
  PlanOptions options = OneHost(*module);
  Plan plan = MakePlan(*module, options);
  // Norms by the sequence, heads and the inner width by device, and the way back is a partial sum.
  EXPECT_THAT(Layouts(*module, plan, "f", "LayerNorm"), Each(HasSubstr("[-, a, -] [-] [-] ->")));
  EXPECT_THAT(Layouts(*module, plan, "f", "Softmax"), Each(HasSubstr("-> [-, a, -, -]")));
  std::vector<std::string> products = Layouts(*module, plan, "f", "MatMul");
  ASSERT_EQ(products.size(), 7u);
  for (int i : {0, 1, 2, 4, 5})
    EXPECT_EQ(products[static_cast<size_t>(i)], "[-, -] [a, -] -> [-, a]") << i;
  for (int i : {3, 6})
    EXPECT_EQ(products[static_cast<size_t>(i)], "[-, a] [-, a] -> [-, -] sum(a)") << i;
}

TEST(Plan, VocabulariesAreCut) {
  auto module = Transformer(LargeLayer(true)).Step();
  PlanOptions options = OneHost(*module);
  Plan plan = MakePlan(*module, options);
  std::string table = Layouts(*module, plan, "f", "Gather")[0];
  EXPECT_TRUE(table.starts_with("[a, -]") || table.starts_with("[-, a]")) << table;
  EXPECT_THAT(Layouts(*module, plan, "f", "MatMul").back(), HasSubstr(" [a, -] -> [-, a]"));
}

TEST(Plan, WideTablesAreCut) {
  Network n;
  std::string ids = n.Data("ids", "Int32[1024, 39]");
  std::string table = n.Parameter("w_table", "Float32[1000000, 64]");
  std::string x = n.Op("Reshape({}, shape=[1024, -1])", n.Op("Gather({}, {}, axis=0)", table, ids));
  std::string w = n.Parameter("w_deep", "Float32[256, 2496]");
  x = n.Op("ReLU({})", n.Op("MatMul({}, {}, transpose_b=true)", x, w));
  auto module = n.Step(n.Op("ReduceMean({}, axis=[], keep_dims=false)", x));
  PlanOptions options = OptionsFor(*module, MeshOf({8}));
  options.device = {1e13, 5e11, 5e-6, 0};
  Plan plan = MakePlan(*module, options);
  for (const Var& v : module->main()->inputs()) {
    if (v.node->name == "w_table" || v.node->name == "m_w_table") {
      EXPECT_EQ(plan.parameters.at(v.node).Pieces(plan.mesh), 8) << v.node->name;
    }
  }
}

TEST(Plan, AMillionClassesAreCut) {
  Network n;
  std::string x = n.Data("x", "Float32[256, 512]");
  std::string w = n.Parameter("w_body", "Float32[512, 512]");
  std::string head = n.Parameter("w_head", "Float32[1000000, 512]");
  x = n.Op("ReLU({})", n.Op("MatMul({}, {}, transpose_b=true)", x, w));
  x = n.Op("MatMul({}, {}, transpose_b=true)", x, head);
  std::string labels = n.Data("classes", "Int32[256]"), ones = n.Data("ones", "Float32[1000000]");
  auto module = n.Step(n.Op(fmt::format("CrossEntropy({}, {}, {})", x, labels, ones), 2));
  PlanOptions options = OptionsFor(*module, MeshOf({8}));
  options.device = {1e13, 5e11, 5e-6, 0};
  Plan plan = MakePlan(*module, options);
  EXPECT_THAT(Layouts(*module, plan, "f", "MatMul").back(), HasSubstr(" [a, -] -> [-, a]"));
}

// ---- ways of searching
TEST(Plan, AxisByAxisIsNearTheLeast) {
  Sizes sizes;
  sizes.batch = 16;
  sizes.layers = 2;
  auto module = Transformer(sizes).Step();
  PlanOptions options = OptionsFor(*module, MeshOf({2, 2, 2}));
  options.device = FastDevice();
  Plan exact = MakePlan(*module, options);
  EXPECT_NEAR(exact.bound, exact.seconds, 1e-5 * exact.seconds);
  options.mode = Mode::kRecursive;
  Plan near = MakePlan(*module, options);
  EXPECT_LE(near.seconds, exact.seconds * 1.01);
  EXPECT_GE(near.seconds, exact.seconds * (1 - 1e-5));
}

TEST(Plan, MemoryHasAPrice) {
  Sizes sizes;
  sizes.batch = 64;
  sizes.length = 128;
  sizes.head = false;
  auto module = Transformer(sizes).Step();
  // Each message is dear, so Parameters lie whole where there is room.
  PlanOptions options = OptionsFor(*module, MeshOf({4}, 1e-2, 1e-12));
  Plan free = MakePlan(*module, options);
  int64_t all = free.memory.parameters + free.memory.activations;
  options.memory_limit = all * 9 / 10;
  Plan tight = MakePlan(*module, options);
  EXPECT_LE(tight.memory.parameters + tight.memory.activations, options.memory_limit);
  EXPECT_GE(tight.seconds, free.seconds * (1 - 1e-5));
  for (Mode mode : {Mode::kSearch, Mode::kRecursive, Mode::kSemiAuto}) {
    options.mode = mode;
    options.memory_limit = 1000;
    std::string error = ErrorOf([&] { MakePlan(*module, options); });
    EXPECT_THAT(error, HasSubstr("the memory limit must be at least "));
    EXPECT_THAT(error, HasSubstr("but got 1000"));
    // With what it says there is a plan.
    options.memory_limit = std::stoll(error.substr(error.find("least ") + 6));
    EXPECT_EQ(ErrorOf([&] { MakePlan(*module, options); }), "");
  }
}

// All equal layers would change at one price; only as many do as must.
TEST(Plan, OfEqualLayersSomeAreCutForMemory) {
  Network n;
  std::string y = n.Data("x", "Float32[64, 1024]");
  for (int i = 0; i < 8; ++i) {
    std::string w = n.Parameter(fmt::format("w{}", i), "Float32[1024, 1024]");
    y = n.Op("Tanh({})", n.Op("MatMul({}, {})", y, w));
  }
  auto module = n.Step(n.Op("ReduceMean({}, axis=[], keep_dims=false)", y));
  // Each message is dear, so Parameters lie whole where there is room.
  PlanOptions options = OptionsFor(*module, MeshOf({4}, 1e-2, 1e-12));
  auto held = [](const Plan& plan) { return plan.memory.parameters + plan.memory.activations; };
  Plan free = MakePlan(*module, options);
  options.memory_limit = held(free) * 3 / 10;
  Plan light = MakePlan(*module, options);
  ASSERT_GT(light.seconds, 1.1 * free.seconds);
  options.memory_limit = (held(free) + held(light)) / 2;
  Plan half = MakePlan(*module, options);
  EXPECT_LE(held(half), options.memory_limit);
  EXPECT_LE(half.seconds - free.seconds, 0.7 * (light.seconds - free.seconds));
}

TEST(Plan, FollowsPins) {
  Network n;
  std::string x = n.Data("x", "Float32[64, 32]");
  std::string w = n.Parameter("w", "Float32[32, 16]");
  auto module = n.Step(n.Op("ReduceMean({}, axis=[], keep_dims=false)",
                            n.Op("ReLU({})", n.Op("MatMul({}, {})", x, w))));
  PlanOptions options = OptionsFor(*module, MeshOf({2, 2}));
  options.mode = Mode::kSemiAuto;
  Plan batch = MakePlan(*module, options);
  EXPECT_EQ(Layouts(*module, batch, "f", "MatMul")[0], "[(a, b), -] [-, -] -> [(a, b), -]");
  options.inputs.resize(2);
  options.inputs[1] = Layout::Parse("[-, b]", 2, options.mesh);
  Plan pinned = MakePlan(*module, options);
  EXPECT_EQ(Layouts(*module, pinned, "f", "MatMul")[0], "[a, -] [-, b] -> [a, b]");
  EXPECT_EQ(Layouts(*module, pinned, "f", "ReLU")[0], "[a, b] -> [a, b]");
  EXPECT_EQ(Layouts(*module, pinned, "main", "ApplyMomentum")[0],
            "[-, b] [-, b] [] [-, b] [] -> [-, b] [-, b]");
  options.inputs[1] = Layout::Replicated(3);
  EXPECT_THAT(ErrorOf([&] { MakePlan(*module, options); }), HasSubstr("must be of 2 dimensions"));
}

TEST(Plan, LoopsKeepTheirLayouts) {
  auto module = Parse(R"(
    graph main(x: Float32[64, 64], w: Float32[64, 64]) -> (Float32[64, 64]) {
      %0 = Constant(Int64[] [0])
      %1 = Partial(w, graph=@loop)
      %2 = Call(%1, %0, x)
      return %2
    }
    graph loop[w: Float32[64, 64]](i: Int64[], x: Float32[64, 64]) -> (Float32[64, 64]) loop(body=@body, done=@done, trip_count=8) {
      %0 = Constant(Int64[] [8])
      %1 = Less(i, %0)
      %2 = Partial(i, x, w, graph=@body)
      %3 = Partial(x, graph=@done)
      %4 = Switch(%1, %2, %3)
      %5 = Call(%4)
      return %5
    }
    graph body[i: Int64[], x: Float32[64, 64], w: Float32[64, 64]]() -> (Float32[64, 64]) {
      %0 = Constant(Int64[] [1])
      %1 = Add(i, %0)
      %2 = MatMul(x, w)
      %3 = Partial(w, graph=@loop)
      %4 = Call(%3, %1, %2)
      return %4
    }
    graph done[x: Float32[64, 64]]() -> (Float32[64, 64]) {
      return x
    })");
  PlanOptions options;
  options.mesh = MeshOf({2}, 1e-9, 1e-12);
  options.device.launch = 0;
  options.inputs = {Layout::Parse("[a, -]", 2, options.mesh)};
  Plan plan = MakePlan(*module, options);
  for (const auto& graph : module->graphs()) {
    for (const Var& v : graph->inputs()) {
      if (v.node->name == "x") {
        EXPECT_EQ(plan.parameters.at(v.node).ToString(plan.mesh), "[a, -]") << graph->name();
      }
    }
    for (const Node* node : graph->nodes()) {
      if (node->kind != NodeKind::kApply) continue;
      EXPECT_EQ(plan.of(node).inputs.size(), node->inputs.size());
      EXPECT_EQ(plan.of(node).outputs.size(), node->outputs.size());
    }
  }
  EXPECT_EQ(Layouts(*module, plan, "body", "MatMul")[0], "[a, -] [-, -] -> [a, -]");
}

TEST(Plan, IsExplained) {
  auto module = Transformer(LargeLayer(false)).Step();
  PlanOptions options = OneHost(*module);
  options.alternatives = true;
  Explanation explained = Explain(*module, MakePlan(*module, options));
  // The search adds up floats.
  EXPECT_NEAR(explained.seconds, explained.compute_seconds + explained.communication_seconds,
              1e-6 * explained.seconds);
  bool scatters = false, rejected = false;
  for (const ExplainedNode& node : explained.nodes) {
    for (const ExplainedMove& move : node.moves) scatters |= move.what == "reduce-scatter";
    for (const ExplainedAlternative& a : node.alternatives) {
      rejected = true;
      EXPECT_GE(a.more_seconds, -1e-8) << node.op << " " << a.cut;
    }
  }
  EXPECT_TRUE(scatters && rejected);
  EXPECT_THAT(ToText(explained), HasSubstr("reduce-scatter along a"));
  EXPECT_THAT(ToJson(explained), HasSubstr("\"what\": \"reduce-scatter\""));
}

}  // namespace
}  // namespace ms::parallel
