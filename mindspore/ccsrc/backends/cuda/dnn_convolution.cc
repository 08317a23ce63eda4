// Convolutions as graphs of cuDNN: the products, and after them the steps over elements.
#include <fmt/ranges.h>

#include <array>

#include "backends/cuda/dnn_graphs.h"

namespace ms::cuda {
namespace {

using Kind = ConvolutionProblem::Kind;
using Place = DnnGraph::Place;

class Convolution {
 public:
  Convolution(const ConvolutionProblem& problem, DnnGraph& graph)
      : p_(problem),
        graph_(graph),
        type_(DnnTypeOf(problem.policy.dtype)),
        compute_(DnnComputeTypeOf(problem.policy.dtype)) {}

  std::vector<DnnDescriptor> Steps() {
    DnnDescriptor x = Tensor('x', p_.x), w = Tensor('w', p_.w);
    int after = p_.bias + p_.addend + p_.relu;
    if (p_.kind == Kind::kInput)
      return {Products(dnn::kBackwardData, dnn::kDataAlpha, {w, x, Tensor('y', p_.y)})};
    if (p_.kind == Kind::kFilter)
      return {Products(dnn::kBackwardFilter, dnn::kFilterAlpha, {w, x, Tensor('y', p_.y)})};
    auto next = [&, number = 0]() mutable {  // what a step writes
      bool last = number == after;
      return Tensor(last ? 'y' : static_cast<char>('1' + number++), p_.y, !last);
    };
    DnnDescriptor y = next();
    std::vector<DnnDescriptor> steps{Products(dnn::kForward, dnn::kForwardAlpha, {w, x, y})};
    auto follow = [&](DnnDescriptor b) {
      DnnDescriptor from = y;
      y = next();
      steps.push_back(graph_.Step(compute_, from, b, y));
    };
    if (p_.bias) follow(Tensor('b', PerChannel()));
    if (p_.addend) follow(Tensor('a', p_.y));
    if (p_.relu) follow(nullptr);
    return steps;
  }

 private:
  DnnDescriptor Tensor(char name, DnnTensor tensor, bool between = false) {
    tensor.type = between ? compute_ : type_;
    tensor.alignment = p_.alignment;
    return graph_.Tensor(name, tensor, between ? Place::kBetween : Place::kMemory);
  }

  DnnDescriptor Windows() {
    DnnFilling made(dnn::kConvolution);
    made.Set(dnn::kConvolutionType, dnn::kDataType, compute_)
        .Set(dnn::kConvolutionMode, dnn::kConvolutionModeType, dnn::kCrossCorrelation)
        .Set(dnn::kConvolutionRank, static_cast<int64_t>(p_.strides.size()))
        .Set(dnn::kConvolutionStrides, p_.strides)
        .Set(dnn::kConvolutionDilations, p_.dilations)
        .Set(dnn::kConvolutionPadsBefore, p_.before)
        .Set(dnn::kConvolutionPadsAfter, p_.after);
    return graph_.Keep(std::move(made), "the windows of a convolution");
  }

  // Its attributes follow each other in one order, from `first` on.
  DnnDescriptor Products(int kind, int first, std::array<DnnDescriptor, 3> tensors) {
    DnnFilling made(kind);
    double one = 1, zero = 0;
    float one32 = 1, zero32 = 0;
    bool wide = compute_ == dnn::kDouble;
    int type = wide ? dnn::kDoubleType : dnn::kFloatType;
    made.Set(first, type, 1, wide ? static_cast<const void*>(&one) : &one32)
        .Set(first + 1, type, 1, wide ? static_cast<const void*>(&zero) : &zero32)
        .Set(first + 2, Windows());
    for (int i = 0; i < 3; ++i) made.Set(first + 3 + i, tensors[static_cast<size_t>(i)]);
    return graph_.Keep(std::move(made), "a convolution");
  }

  DnnTensor PerChannel() const {
    int64_t channels = p_.y.sizes[1];
    DnnTensor bias{Ints(p_.y.sizes.size(), 1), Ints(p_.y.sizes.size(), channels)};
    bias.sizes[1] = channels;
    bias.strides[1] = 1;
    return bias;
  }

  const ConvolutionProblem& p_;
  DnnGraph& graph_;
  const int type_, compute_;
};

std::string KeyOf(const ConvolutionProblem& p) {
  auto text = [](const DnnTensor& t) {
    return fmt::format("[{}]({})", fmt::join(t.sizes, ","), fmt::join(t.strides, ","));
  };
  return fmt::format("convolution {} x{} w{} y{} {};{};{};{} {}{}{} {}", static_cast<int>(p.kind),
                     text(p.x), text(p.w), text(p.y), fmt::join(p.before, ","),
                     fmt::join(p.after, ","), fmt::join(p.strides, ","),
                     fmt::join(p.dilations, ","), p.bias, p.addend, p.relu, p.alignment);
}

}  // namespace

std::shared_ptr<const DnnPlan> PlanOf(const ConvolutionProblem& problem, std::string* why) {
  return DnnPlan::Of(
      KeyOf(problem), problem.policy,
      [&](DnnGraph& graph) { return Convolution(problem, graph).Steps(); }, why);
}

}  // namespace ms::cuda
