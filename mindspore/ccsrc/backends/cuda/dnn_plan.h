// What cuDNN computes: a graph of steps that somebody describes, and the engine that runs it, which
// is the one that cuDNN's heuristics put first of those that the policy about numbers allows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/libraries.h"
#include "base/dtype.h"
#include "base/shape.h"

namespace ms::cuda {

struct DnnTensor {
  Ints sizes, strides;  // batch and channels, or heads, first, however they lie
  int type = 0;         // DATA_*
  int64_t alignment = 16;
};

// Tensors have letters and digits as names.
struct DnnAddress {
  char name;
  const void* at;  // on the host, of a number that is handed over by its value
};

// Which engines may run.
struct DnnPolicy {
  DType dtype = DType::kFloat32;  // of what is multiplied
  bool tf32 = false, deterministic = false;
  int64_t most_workspace = int64_t{1} << 30;  // bytes
};

inline bool IsHalf(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }
int DnnTypeOf(DType dtype);
// What sums are made in.
int DnnComputeTypeOf(DType dtype);

class DnnPlan;

// A descriptor as it is filled.
class DnnFilling {
 public:
  explicit DnnFilling(int kind);
  ~DnnFilling();
  DnnFilling(DnnFilling&& other) noexcept;

  DnnDescriptor handle() const { return handle_; }
  DnnDescriptor Release();
  DnnFilling& Set(int attribute, int type, int64_t count, const void* values);
  DnnFilling& Set(int attribute, int type, int value) { return Set(attribute, type, 1, &value); }
  DnnFilling& Set(int attribute, int64_t value) {
    return Set(attribute, dnn::kInt64Type, 1, &value);
  }
  DnnFilling& Set(int attribute, const Ints& values);
  DnnFilling& Set(int attribute, DnnDescriptor part) {
    return Set(attribute, dnn::kDescriptorType, 1, &part);
  }
  DnnFilling& Set(int attribute, const std::vector<DnnDescriptor>& parts);
  int Finalize();

 private:
  DnnDescriptor handle_ = nullptr;
};

// The graph of a plan, as it is made.
class DnnGraph {
 public:
  explicit DnnGraph(DnnPlan& plan) : plan_(plan) {}

  // What a name stands for: an address, nothing outside the graph, a number on the host.
  enum class Place : uint8_t { kMemory, kBetween, kHost };
  DnnDescriptor Tensor(char name, const DnnTensor& tensor, Place place = Place::kMemory);
  // y = x + b, or relu(x) where b is null.
  DnnDescriptor Step(int compute, DnnDescriptor x, DnnDescriptor b, DnnDescriptor y);
  DnnDescriptor Keep(DnnFilling made, const char* what);

 private:
  DnnPlan& plan_;
};

class DnnPlan {
 public:
  using Describe = std::function<std::vector<DnnDescriptor>(DnnGraph& graph)>;  // its steps
  // Plans of equal keys are one. Null where no engine of cuDNN takes it: `why` says what was tried.
  static std::shared_ptr<const DnnPlan> Of(const std::string& key, const DnnPolicy& policy,
                                           const Describe& describe, std::string* why);
  ~DnnPlan();
  DnnPlan(const DnnPlan&) = delete;

  size_t workspace_bytes() const { return workspace_bytes_; }
  void Run(const std::vector<DnnAddress>& tensors, void* workspace, StreamHandle stream) const;

 private:
  friend class DnnGraph;
  friend class DnnPlanner;
  DnnPlan() = default;

  std::vector<DnnDescriptor> parts_;  // what the plan is made of, in the order of its making
  DnnDescriptor plan_ = nullptr;
  size_t workspace_bytes_ = 0;
};

}  // namespace ms::cuda
