// Where sums of gradients begin in programs that are cut, and that all processes agree upon it.
#include "passes/parallel/begin_sums.h"

#include "passes/parallel/networks.h"
#include "passes/pipeline.h"

namespace ms::parallel {
namespace {

using namespace testing;

struct Cut {
  std::unique_ptr<Module> module;
  std::shared_ptr<const Lowered> lowered;

  std::vector<const Node*> nodes() const {
    std::vector<const Node*> applied;
    for (const Node* node : module->main()->nodes()) {
      if (node->kind == NodeKind::kApply) applied.push_back(node);
    }
    return applied;
  }
  // What processes do together, in order, without the names of groups.
  std::vector<std::string> Together() const {
    std::vector<std::string> found;
    for (const Node* node : nodes()) {
      if (node->op->effect != Effect::kComm) continue;
      bool starts = node->op->name == "StartSum";
      found.push_back(starts ? fmt::format("StartSum {} of {}", node->attr<int64_t>("index"),
                                           node->attr<Ints>("counts").size())
                             : node->op->name);
    }
    return found;
  }
};

Cut CutOver(std::unique_ptr<Module> module, const Mesh& mesh, Mode mode, int64_t rank = 0,
            bool fast = true, const std::vector<std::string>& pins = {}) {
  Cut cut{std::move(module), nullptr};
  auto parallel = std::make_shared<ParallelOptions>();
  parallel->plan = OptionsFor(*cut.module, mesh);
  parallel->plan.mode = mode;
  Vars inputs = cut.module->main()->inputs();
  for (size_t i = 0, pin = 0; i < inputs.size() && pin < pins.size(); ++i) {
    std::optional<Layout> layout;  // of data and weights, which come before moments and the rate
    if (inputs[i].node->name[0] != 'm' && inputs[i].node->name[0] != 'l')
      layout = Layout::Parse(pins[pin++], inputs[i].type().shape().rank(), mesh);
    parallel->plan.inputs.push_back(layout);
  }
  parallel->rank = rank;
  PassOptions options;
  options.fast = fast;
  options.parallel = parallel;
  options.lowered = [&](auto lowered) { cut.lowered = std::move(lowered); };
  Optimize(*cut.module, options);
  return cut;
}

std::unique_ptr<Module> Perceptron(int64_t batch, int layers = 3) {
  Network n;
  std::string x = n.Data("x", fmt::format("Float32[{}, 6]", batch));
  for (int i = 0; i < layers; ++i)
    x = n.Op("Tanh({})",
             n.Op("MatMul({}, {})", x, n.Parameter(fmt::format("w{}", i), "Float32[6, 6]")));
  return n.Step(n.Op("ReduceMean({}, axis=[], keep_dims=false)", x));
}

size_t Count(const std::vector<std::string>& all, std::string_view what) {
  return static_cast<size_t>(std::count_if(
      all.begin(), all.end(), [&](const std::string& s) { return s.starts_with(what); }));
}

TEST(BeginSums, GradientsAreSummedWhileTheBackwardPassRuns) {
  Cut cut = CutOver(Perceptron(8), MeshOf({2}), Mode::kDataParallel);
  std::vector<const Node*> nodes = cut.nodes();
  size_t first = nodes.size(), last_product = 0, await = 0, update = nodes.size();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string& op = nodes[i]->op->name;
    if (op == "StartSum") first = std::min(first, i);
    if (op == "MatMul") last_product = i;
    if (op == "AwaitSums") await = i;
    if (op == "ApplyMomentum") update = std::min(update, i);
  }
  std::vector<std::string> together = cut.Together();
  EXPECT_GE(Count(together, "StartSum"), 3u) << fmt::format("{}", fmt::join(together, ", "));
  EXPECT_EQ(Count(together, "AwaitSums"), 1u);
  EXPECT_LT(first, last_product);
  EXPECT_GT(await, last_product);
  EXPECT_GT(update, await);
  ASSERT_EQ(cut.lowered->groups.size(), 2u);
  EXPECT_TRUE(cut.lowered->groups[1].beside);
  EXPECT_EQ(cut.lowered->groups[0].ranks, cut.lowered->groups[1].ranks);
}

TEST(BeginSums, AllProcessesAgreeThoughTheirPiecesDiffer) {
  for (Mode mode : {Mode::kDataParallel, Mode::kSearch, Mode::kRecursive}) {
    for (int64_t batch : {5, 7}) {
      Mesh mesh = MeshOf({2, 2});
      std::vector<std::string> wanted = CutOver(Perceptron(batch), mesh, mode).Together();
      for (int64_t rank = 1; rank < 4; ++rank)
        EXPECT_EQ(CutOver(Perceptron(batch), mesh, mode, rank).Together(), wanted);
    }
  }
}

TEST(BeginSums, ActivationsAreSummedInBetween) {
  // Products cut along their inner dimension need their sums at once, those of gradients do not.
  Cut cut = CutOver(Perceptron(8, 4), MeshOf({2, 2}), Mode::kSemiAuto, 0, true,
                    {"[a, -]", "[-, b]", "[b, -]", "[-, b]", "[b, -]"});
  std::vector<std::string> together = cut.Together();
  size_t under_way = 0, between = 0, most = 0;
  for (const std::string& op : together) {
    if (op.starts_with("StartSum")) most = std::max(most, ++under_way);
    if (op == "AwaitSums") under_way = 0;
    between += under_way > 0 && op == "AllReduce";
  }
  std::string all = fmt::format("{}", fmt::join(together, ", "));
  EXPECT_EQ(under_way, 0u) << all;
  EXPECT_GE(most, 3u) << all;
  EXPECT_GE(between, 1u) << all;
}

TEST(BeginSums, OnlyInTheFastStage) {
  Cut cut = CutOver(Perceptron(8), MeshOf({2}), Mode::kDataParallel, 0, false);
  EXPECT_EQ(Count(cut.Together(), "StartSum"), 0u);
  EXPECT_GE(Count(cut.Together(), "AllReduce"), 3u);
  EXPECT_EQ(cut.lowered->groups.size(), 1u);
}

}  // namespace
}  // namespace ms::parallel
