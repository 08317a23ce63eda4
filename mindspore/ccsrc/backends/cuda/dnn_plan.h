// A convolution, a gradient of one, or one with what follows it, as cuDNN computes it: the engine
// that its heuristics put first, of those that the policy about numbers allows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/libraries.h"
#include "base/dtype.h"
#include "base/shape.h"

namespace ms::cuda {

struct DnnTensor {
  Ints sizes, strides;  // batch and channels first, however they lie
};

struct DnnProblem {
  enum class Kind : uint8_t { kForward, kInput, kFilter };
  Kind kind = Kind::kForward;
  DType dtype = DType::kFloat32;
  DnnTensor x, w, y;
  Ints before, after, strides, dilations;  // of windows
  bool bias = false, addend = false, relu = false;
  // What decides which engine may run.
  int64_t alignment = 16;  // of all addresses, in bytes
  bool tf32 = false, deterministic = false;

  std::string Key() const;
};

// Of tensors, by their letter.
struct DnnAddress {
  char name;
  const void* at;
};

class DnnPlan {
 public:
  // Plans of equal problems are one. Null where no engine of cuDNN takes it: `why` says what was
  // tried.
  static std::shared_ptr<const DnnPlan> Of(const DnnProblem& problem, std::string* why);
  ~DnnPlan();
  DnnPlan(const DnnPlan&) = delete;

  size_t workspace_bytes() const { return workspace_bytes_; }
  // The tensors: 'x', 'w', 'y', and 'b' and 'a' where the problem has a bias and an addend.
  void Run(const std::vector<DnnAddress>& tensors, void* workspace, StreamHandle stream) const;

 private:
  friend class DnnPlanner;
  DnnPlan() = default;

  std::vector<DnnDescriptor> parts_;  // what the plan is made of, in the order of its making
  DnnDescriptor plan_ = nullptr;
  size_t workspace_bytes_ = 0;
};

// Why cuDNN does not compute with the dtype; empty if it does.
std::string DnnRefusal(DType dtype);

}  // namespace ms::cuda
