// Sharding rules: what the notation says, what is derived, and that mistakes are refused.
#include "ir/shard_rule.h"

#include "testing.h"

namespace ms {
namespace {

using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;

Types Floats(std::initializer_list<Shape> shapes) {
  Types types;
  for (const Shape& shape : shapes) types.emplace_back(DType::kFloat32, shape);
  return types;
}

ShardRule Read(const std::string& text, const Types& inputs, const Types& outputs) {
  static const OpDef& op = Ops().Get("MatMul");
  return ParseShardRule(op, text, inputs, outputs);
}

// "m:2 k:3sum ..." of the factors.
std::string Factors(const ShardRule& rule) {
  std::string text;
  for (const ShardFactor& f : rule.factors)
    text += fmt::format("{}{}:{}{}{}", text.empty() ? "" : " ", f.name, f.size, Name(f.mark),
                        f.splits() ? "" : "!");
  return text;
}

std::string Dims(const ShardRule& rule, const ShardOperand& operand) {
  std::vector<std::string> words;
  for (const ShardDim& dim : operand) {
    std::vector<std::string> names;
    for (int f : dim) names.push_back(rule.factors[static_cast<size_t>(f)].name);
    words.push_back(names.empty() ? "1" : fmt::format("{}", fmt::join(names, "*")));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

TEST(ShardRule, NamesTheDimensionsOfAProduct) {
  ShardRule rule = Read("m k, k n -> m n; k sum", Floats({{2, 3}, {3, 4}}), Floats({{2, 4}}));
  EXPECT_EQ(Factors(rule), "m:2 k:3sum n:4");
  EXPECT_THAT(rule.operands[1], ElementsAre(ShardDim{1}, ShardDim{2}));
  EXPECT_THAT(rule.results[0], ElementsAre(ShardDim{0}, ShardDim{2}));
}

TEST(ShardRule, AlignsDotsAtTheRightAndLeavesOutWhatIsSpread) {
  ShardRule rule =
      Read("... x, ... x -> ... x; x whole", Floats({{5, 2, 3}, {1, 3}}), Floats({{5, 2, 3}}));
  EXPECT_EQ(Factors(rule), "...0:5 ...1:2 x:3whole!");
  EXPECT_EQ(Dims(rule, rule.operands[0]), "...0 ...1 x");
  EXPECT_EQ(Dims(rule, rule.operands[1]), "1 x");
}

TEST(ShardRule, FindsTheSizesOfProducts) {
  ShardRule rule = Read("b*s d -> b s d", Floats({{6, 4}}), Floats({{2, 3, 4}}));
  EXPECT_EQ(Factors(rule), "b:2 s:3! d:4");  // the inner factor of a product is not cut
}

TEST(ShardRule, ReadsClauses) {
  ShardRule rule = Read("v d, i -> i d, ; v indexed by 1, i d mean by 1, seeded, transpose_a = i _",
                        Floats({{9, 4}, {5}}), Floats({{5, 4}, {}}));
  EXPECT_TRUE(rule.seeded);
  EXPECT_EQ(Factors(rule), "v:9indexed d:4mean i:5mean");
  EXPECT_EQ(rule.factors[0].by, 1);
  EXPECT_EQ(rule.factors[1].by, 1);
  EXPECT_EQ(rule.sizes[0].attr, "transpose_a");
  EXPECT_TRUE(rule.sizes[0].entries[0] && !rule.sizes[0].entries[1]);
}

TEST(ShardRule, WindowsHaveOtherSizesThanWhatTheyLieIn) {
  ShardRule rule = Read("n h -> n h; h halo", Floats({{2, 9}}), Floats({{2, 7}}));
  EXPECT_EQ(Factors(rule), "n:2 h:9halo");
}

TEST(ShardRule, RefusesMistakesInTheNameOfTheOp) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"m k, k n", "must have one '->'"},
      {"m k -> m n", "must have 2 operands, but has 1"},
      {"m k, k n -> m n, m", "must have 1 results, but has 2"},
      {"m k q, k n -> m n", "names 3 dimensions of operand 0, but it has 2"},
      {"... ... m k, k n -> m n", "has '...' twice in operand 0"},
      {"m m, k n -> m n", "has factor 'm' twice in operand 0"},
      {"m k, m n -> m n; k sum", "gives dimension 0 of operand 1 size 2, but it has 3"},
      {"m k, k n -> m n", "must mark factor 'k', which result 0 lacks"},
      {"m k, k n -> m n; k total", "has the unknown mark 'total'"},
      {"m k, k n -> m n; q sum", "marks 'q', which is no factor of it"},
      {"m k, k n -> m n; k sum, k max", "marks 'k' twice"},
      {"m k, k n -> m n; sum", "has the mark 'sum' of no factor"},
      {"m k, k n -> m n; k sum by 0", "has 'by' after 'sum'"},
      {"m k, k n -> m n; k indexed", "must name the operand that 'indexed' goes by"},
      {"m k, k n -> m n; k mean by 7", "must name the result that 'mean' goes by"},
      {"m k, k n -> m n; k sum, shape = m n", "gives sizes to 'shape', which is no attribute"},
      {"m 3, 3 n -> m n", "has '3' where the name of a factor must stand"},
      {"m a*b, a*b n -> m n; a b sum", "does not say how large"},
      {"m k, k n -> m n; k sum, ", "has an empty clause"},
  };
  for (auto [text, says] : mistakes) {
    std::string error = ErrorOf([&] { Read(text, Floats({{2, 3}, {3, 4}}), Floats({{2, 4}})); });
    EXPECT_THAT(error, HasSubstr("For 'MatMul', the sharding rule '")) << text;
    EXPECT_THAT(error, HasSubstr(says)) << text;
  }
}

ShardRule RuleOf(const char* name, const Types& inputs, const Attrs& attrs = {}) {
  return ShardRuleOf(Ops().Get(name), inputs, attrs).value();
}

TEST(ShardRule, ElementwiseRulesAreDerived) {
  ShardRule rule = RuleOf("Add", Floats({{4, 1}, {3}}));
  EXPECT_EQ(Factors(rule), "...0:4 ...1:3");
  EXPECT_EQ(Dims(rule, rule.operands[0]), "...0 1");
  EXPECT_EQ(Dims(rule, rule.operands[1]), "...1");
}

// "dims of the input -> dims of the output | factors" of a reshape.
std::string Reshaped(const Shape& from, const Ints& to) {
  ShardRule rule = RuleOf("Reshape", Floats({from}), {to});
  return fmt::format("{} -> {} | {}", Dims(rule, rule.operands[0]), Dims(rule, rule.results[0]),
                     Factors(rule));
}

TEST(ShardRule, ViewsAreProductsOfCommonFactors) {
  EXPECT_EQ(Reshaped({6, 4}, {2, 3, 4}), "f0*f1 f2 -> f0 f1 f2 | f0:2 f1:3! f2:4");
  EXPECT_EQ(Reshaped({2, 3, 4}, {6, 4}), "f0 f1 f2 -> f0*f1 f2 | f0:2 f1:3! f2:4");
  EXPECT_EQ(Reshaped({5, 1, 3}, {5, 3}), "f0 1 f1 -> f0 f1 | f0:5 f1:3");
  EXPECT_EQ(Reshaped({4, 3}, {-1}), "f0 f1 -> f0*f1 | f0:4 f1:3!");
  // No common factor in front: the group stays whole.
  EXPECT_EQ(Reshaped({2, 3}, {3, 2}),
            "f0 f2 -> f1 f3 | f0:2whole! f1:3whole! f2:3whole! f3:2whole!");
  EXPECT_EQ(Reshaped({0, 3}, {3, 0}),
            "f0 f1 -> f2 f3 | f0:0whole! f1:3whole! f2:3whole! f3:0whole!");
}

TEST(ShardRule, ControlFlowHasNone) { EXPECT_FALSE(Ops().Get("Switch").shard); }

}  // namespace
}  // namespace ms
