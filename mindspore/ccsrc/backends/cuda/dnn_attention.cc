// Attention as one step of cuDNN, forward or backward. What is done to the scores before the
// softmax is a graph of its own inside that step.
#include <fmt/ranges.h>

#include "backends/cuda/dnn_graphs.h"

namespace ms::cuda {
namespace {

using Place = DnnGraph::Place;

class Attention {
 public:
  Attention(const AttentionProblem& problem, DnnGraph& graph)
      : p_(problem), graph_(graph), type_(DnnTypeOf(problem.policy.dtype)) {}

  std::vector<DnnDescriptor> Steps() { return {p_.backward ? Backward() : Forward()}; }

 private:
  DnnDescriptor Forward() {
    DnnFilling made(dnn::kAttention);
    made.Set(dnn::kAttentionQuery, Rows('q', p_.queries, p_.depth))
        .Set(dnn::kAttentionKey, Rows('k', p_.keys, p_.depth))
        .Set(dnn::kAttentionValue, Rows('v', p_.keys, p_.value_depth))
        .Set(dnn::kAttentionResult, Rows('o', p_.queries, p_.value_depth))
        .Set(dnn::kAttentionSoftmax, Softmax())
        .Set(dnn::kAttentionScale, Number('f'));
    Finish(made, dnn::kAttentionScores);
    return graph_.Keep(std::move(made), "attention");
  }

  DnnDescriptor Softmax() {
    DnnFilling made(dnn::kSoftmax);
    made.Set(dnn::kSoftmaxX, Scores('x'))
        .Set(dnn::kSoftmaxY, Scores('y'))
        .Set(dnn::kSoftmaxLogSum, OfRows('s'))
        .Set(dnn::kSoftmaxSum, OfRows('e'));
    return graph_.Keep(std::move(made), "a softmax");
  }

  DnnDescriptor Backward() {
    DnnFilling made(dnn::kAttentionGrad);
    made.Set(dnn::kAttentionGradQuery, Rows('q', p_.queries, p_.depth))
        .Set(dnn::kAttentionGradKey, Rows('k', p_.keys, p_.depth))
        .Set(dnn::kAttentionGradValue, Rows('v', p_.keys, p_.value_depth))
        .Set(dnn::kAttentionGradResult, Rows('o', p_.queries, p_.value_depth))
        .Set(dnn::kAttentionGradSums, OfRows('s'))
        .Set(dnn::kAttentionGradScale, Number('f'))
        .Set(dnn::kAttentionGradOfQuery, Rows('Q', p_.queries, p_.depth))
        .Set(dnn::kAttentionGradOfKey, Rows('K', p_.keys, p_.depth))
        .Set(dnn::kAttentionGradOfValue, Rows('V', p_.keys, p_.value_depth))
        .Set(dnn::kAttentionGradOfResult, Rows('O', p_.queries, p_.value_depth));
    Finish(made, dnn::kAttentionGradScores);
    return graph_.Keep(std::move(made), "the gradient of attention");
  }

  // The graph of the scores, and its tensors that stand for them at its beginning and its end.
  void Finish(DnnFilling& step, int first) {
    std::vector<DnnDescriptor> steps;
    char name = '1';
    DnnDescriptor scores = Scores(name);
    auto follow = [&](DnnDescriptor added) {  // null: the causal mask
      DnnDescriptor from = std::exchange(scores, Scores(++name));
      steps.push_back(added ? graph_.Step(dnn::kFloat, from, added, scores)
                            : Triangle(from, scores));
    };
    if (!p_.mask.empty()) follow(graph_.Tensor('m', Dense(p_.mask, p_.mask_type)));
    if (p_.causal) follow(nullptr);
    if (p_.backward) follow(OfRows('l'));
    if (steps.empty()) return;
    DnnFilling made(dnn::kOperationGraph);
    made.Set(dnn::kGraphSteps, steps);
    step.Set(first, graph_.Keep(std::move(made), "what is done to scores"))
        .Set(first + 1, int64_t{'1'})
        .Set(first + 2, int64_t{name});
  }

  // Scores where the query's number is at least that of the key.
  DnnDescriptor Triangle(DnnDescriptor x, DnnDescriptor y) {
    DnnFilling made(dnn::kBandMask);
    made.Set(dnn::kBandMaskX, x)
        .Set(dnn::kBandMaskElse, Number('i'))
        .Set(dnn::kBandMaskY, y)
        .Set(dnn::kBandMaskComparison, dnn::kPointwiseModeType, dnn::kGreaterEqual);
    return graph_.Keep(std::move(made), "a causal mask");
  }

  static DnnTensor Dense(const Ints& sizes, int type) {
    return {sizes, Strides(Shape(sizes)), type};
  }
  DnnDescriptor Rows(char name, int64_t rows, int64_t width) {
    return graph_.Tensor(name, Dense({p_.batch, p_.heads, rows, width}, type_));
  }
  DnnDescriptor OfRows(char name) {
    return graph_.Tensor(name, Dense({p_.batch, p_.heads, p_.queries, 1}, dnn::kFloat));
  }
  DnnDescriptor Scores(char name) {
    return graph_.Tensor(name, Dense({p_.batch, p_.heads, p_.queries, p_.keys}, dnn::kFloat),
                         Place::kBetween);
  }
  DnnDescriptor Number(char name) {
    return graph_.Tensor(name, Dense({1, 1, 1, 1}, dnn::kFloat), Place::kHost);
  }

  const AttentionProblem& p_;
  DnnGraph& graph_;
  const int type_;
};

std::string KeyOf(const AttentionProblem& p) {
  return fmt::format("attention {} {} {} {} {} {} {} [{}] {} {}", p.backward, p.batch, p.heads,
                     p.queries, p.keys, p.depth, p.value_depth, fmt::join(p.mask, ","), p.mask_type,
                     p.causal);
}

}  // namespace

std::shared_ptr<const DnnPlan> PlanOf(const AttentionProblem& problem, std::string* why) {
  if (size_t version = TheDnn().GetVersion(); version < kOldestAttention) {
    *why = fmt::format("must be version {} or newer, but {} is {}", DnnVersion(kOldestAttention),
                       TheDnn().path, DnnVersion(version));
    return nullptr;
  }
  return DnnPlan::Of(
      KeyOf(problem), problem.policy,
      [&](DnnGraph& graph) { return Attention(problem, graph).Steps(); }, why);
}

}  // namespace ms::cuda
