// The graphs of cuDNN that this device has plans of: convolutions and attention.
#pragma once

#include "backends/cuda/dnn_plan.h"

namespace ms::cuda {

// A convolution, a gradient of one, or one with what follows it.
struct ConvolutionProblem {
  enum class Kind : uint8_t { kForward, kInput, kFilter };
  Kind kind = Kind::kForward;
  DnnPolicy policy;
  DnnTensor x, w, y;
  Ints before, after, strides, dilations;  // of windows
  bool bias = false, addend = false, relu = false;
  int64_t alignment = 16;  // of all addresses, in bytes
};
// Its tensors: 'x', 'w', 'y', and 'b' and 'a' where the problem has a bias and an addend.
std::shared_ptr<const DnnPlan> PlanOf(const ConvolutionProblem& problem, std::string* why);

// softmax(scale q k^T + mask) v of halves, or its gradients.
struct AttentionProblem {
  bool backward = false;
  DnnPolicy policy;
  int64_t batch = 1, heads = 1, queries = 1, keys = 1, depth = 1, value_depth = 1;
  Ints mask;  // its sizes, each 1 or that of the scores; none: nothing is added
  int mask_type = dnn::kFloat;
  bool causal = false;
};
// Its tensors: 'q', 'k', 'v', the result 'o' and the mask 'm'; forward, of each row of scores the
// logarithm 's' of the sum of exponentials, and 'e', that sum over the exponential of the largest;
// backward, 'l', which is added to the scores of each row, the logarithm 's' of the sum of these,
// and the gradients 'O' of the result, and 'Q', 'K', 'V'. On the host: the factor 'f' and, where it
// is causal, 'i', minus infinity.
std::shared_ptr<const DnnPlan> PlanOf(const AttentionProblem& problem, std::string* why);

}  // namespace ms::cuda
