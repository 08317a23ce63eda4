#include "backends/cuda/dnn_plan.h"

#include <array>
#include <map>
#include <utility>

#include "backends/cuda/device.h"
#include "backends/cuda/memory.h"
#include "base/error.h"
#include "base/mutex.h"

namespace ms::cuda {
namespace {

constexpr size_t kMostPlans = 1024;

// One for the process, and one call at a time: its stream is a state of it.
struct Session {
  Mutex mutex;
  DnnHandle handle = nullptr;
};
Session& TheSession() {
  static auto* session = [] {
    Enter();
    auto* made = new Session;
    CheckDnn(TheDnn().Create(&made->handle), "cudnnCreate");
    return made;
  }();
  return *session;
}

}  // namespace

int DnnTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return dnn::kHalf;
    case DType::kBFloat16:
      return dnn::kBrain;
    case DType::kFloat64:
      return dnn::kDouble;
    default:
      return dnn::kFloat;
  }
}
int DnnComputeTypeOf(DType dtype) { return dtype == DType::kFloat64 ? dnn::kDouble : dnn::kFloat; }

DnnFilling::DnnFilling(int kind) {
  CheckDnn(TheDnn().CreateDescriptor(kind, &handle_), "cudnnBackendCreateDescriptor");
}
DnnFilling::~DnnFilling() {
  if (handle_) TheDnn().DestroyDescriptor(handle_);
}
DnnFilling::DnnFilling(DnnFilling&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

DnnDescriptor DnnFilling::Release() { return std::exchange(handle_, nullptr); }

DnnFilling& DnnFilling::Set(int attribute, int type, int64_t count, const void* values) {
  int result = TheDnn().SetAttribute(handle_, attribute, type, count, values);
  if (result)
    Throw(ErrorKind::kRuntime, "libcudnn refuses attribute {}: {}", attribute, DnnError(result));
  return *this;
}
DnnFilling& DnnFilling::Set(int attribute, const Ints& values) {
  std::vector<int64_t> all(values.begin(), values.end());
  return Set(attribute, dnn::kInt64Type, static_cast<int64_t>(all.size()), all.data());
}
DnnFilling& DnnFilling::Set(int attribute, const std::vector<DnnDescriptor>& parts) {
  return Set(attribute, dnn::kDescriptorType, static_cast<int64_t>(parts.size()), parts.data());
}
int DnnFilling::Finalize() { return TheDnn().Finalize(handle_); }

DnnDescriptor DnnGraph::Keep(DnnFilling made, const char* what) {
  CheckDnn(made.Finalize(), what);
  plan_.parts_.push_back(made.handle());
  return made.Release();
}

DnnDescriptor DnnGraph::Tensor(char name, const DnnTensor& tensor, Place place) {
  DnnFilling made(dnn::kTensor);
  made.Set(dnn::kTensorType, dnn::kDataType, tensor.type)
      .Set(dnn::kTensorSizes, tensor.sizes)
      .Set(dnn::kTensorStrides, tensor.strides)
      .Set(dnn::kTensorName, int64_t{name})
      .Set(dnn::kTensorAlignment, tensor.alignment);
  bool yes = true;
  if (place == Place::kBetween) made.Set(dnn::kTensorVirtual, dnn::kBooleanType, 1, &yes);
  if (place == Place::kHost) made.Set(dnn::kTensorByValue, dnn::kBooleanType, 1, &yes);
  return Keep(std::move(made), "a tensor");
}

DnnDescriptor DnnGraph::Step(int compute, DnnDescriptor x, DnnDescriptor b, DnnDescriptor y) {
  DnnFilling function(dnn::kPointwise);
  function.Set(dnn::kPointwiseMode, dnn::kPointwiseModeType, b ? dnn::kAdd : dnn::kRelu)
      .Set(dnn::kPointwisePrecision, dnn::kDataType, compute);
  if (!b) function.Set(dnn::kPointwiseNan, dnn::kNanType, dnn::kPropagateNan);
  DnnDescriptor kept = Keep(std::move(function), "a function of elements");
  DnnFilling made(dnn::kPointwiseStep);
  made.Set(dnn::kStepPointwise, kept).Set(dnn::kStepX, x).Set(dnn::kStepY, y);
  if (b) made.Set(dnn::kStepB, b);
  return Keep(std::move(made), "a step over elements");
}

// Makes one plan.
class DnnPlanner {
 public:
  explicit DnnPlanner(const DnnPolicy& policy) : policy_(policy), plan_(new DnnPlan) {}

  // Null: `why` says what was tried.
  std::shared_ptr<const DnnPlan> Make(const DnnPlan::Describe& describe, std::string* why) {
    std::lock_guard lock(TheSession().mutex);  // a library that is missing is no refusal
    DnnDescriptor graph = nullptr;
    try {
      graph = Graph(describe);
    } catch (const Error& error) {
      return *why = error.message(), nullptr;
    }
    for (int mode : {dnn::kModeA, dnn::kModeFallback}) {
      for (DnnFilling& config : Ranked(graph, mode)) {
        if (Allows(config) && Take(config)) return std::move(plan_);
      }
    }
    *why = fmt::format("none of its {} engines takes this{}", tried_, reason_);
    return nullptr;
  }

 private:
  DnnDescriptor Graph(const DnnPlan::Describe& describe) {
    DnnGraph graph(*plan_);
    std::vector<DnnDescriptor> steps = describe(graph);
    DnnFilling made(dnn::kOperationGraph);
    DnnHandle handle = TheSession().handle;
    made.Set(dnn::kGraphSteps, steps).Set(dnn::kGraphHandle, dnn::kHandleType, 1, &handle);
    return graph.Keep(std::move(made), "a graph");
  }

  // ---- the engine
  // The configurations that cuDNN thinks quickest, the best one first.
  std::vector<DnnFilling> Ranked(DnnDescriptor graph, int mode) {
    DnnFilling heuristics(dnn::kEngineHeuristics);
    heuristics.Set(dnn::kHeuristicsGraph, graph)
        .Set(dnn::kHeuristicsMode, dnn::kHeuristicsModeType, mode);
    std::vector<DnnFilling> configs;
    int64_t count = 0;
    if (Failed(heuristics.Finalize()) ||
        Failed(TheDnn().GetAttribute(heuristics.handle(), dnn::kHeuristicsResults,
                                     dnn::kDescriptorType, 0, &count, nullptr)))
      return configs;
    std::vector<DnnDescriptor> handles;
    for (int64_t i = 0; i < count; ++i) {
      configs.emplace_back(dnn::kEngineConfig);
      handles.push_back(configs.back().handle());
    }
    int64_t got = 0;
    if (count && Failed(TheDnn().GetAttribute(heuristics.handle(), dnn::kHeuristicsResults,
                                              dnn::kDescriptorType, count, &got, handles.data())))
      got = 0;
    while (static_cast<int64_t>(configs.size()) > got) configs.pop_back();
    return configs;
  }

  // Whether the policy about numbers lets the engine run.
  bool Allows(const DnnFilling& config) {
    ++tried_;
    DnnFilling engine(dnn::kEngine);
    DnnDescriptor handle = engine.handle();
    int64_t count = 0;
    std::array<int, dnn::kMostNotes> notes{};
    if (Failed(TheDnn().GetAttribute(config.handle(), dnn::kConfigEngine, dnn::kDescriptorType, 1,
                                     &count, &handle)) ||
        Failed(TheDnn().GetAttribute(handle, dnn::kEngineNotes, dnn::kNoteType, dnn::kMostNotes,
                                     &count, notes.data())))
      return false;
    bool single = policy_.dtype == DType::kFloat32;
    for (int64_t i = 0; i < count; ++i) {
      int note = notes[static_cast<size_t>(i)];
      bool forbidden = (policy_.deterministic && note == dnn::kNondeterministic) ||
                       (single && note == dnn::kDownConvert) ||
                       (single && !policy_.tf32 && note == dnn::kTensorCore);
      if (forbidden) return false;
    }
    return true;
  }

  bool Take(DnnFilling& config) {
    DnnFilling made(dnn::kExecutionPlan);
    DnnHandle handle = TheSession().handle;
    made.Set(dnn::kPlanHandle, dnn::kHandleType, 1, &handle).Set(dnn::kPlanConfig, config.handle());
    int64_t bytes = 0, count = 0;
    if (Failed(made.Finalize()) ||
        Failed(TheDnn().GetAttribute(made.handle(), dnn::kPlanWorkspace, dnn::kInt64Type, 1, &count,
                                     &bytes)))
      return false;
    if (bytes > policy_.most_workspace) {
      reason_ = fmt::format("; the last one needs {} bytes of workspace", bytes);
      return false;
    }
    plan_->workspace_bytes_ = static_cast<size_t>(bytes);
    plan_->plan_ = made.handle();
    plan_->parts_.push_back(config.Release());
    plan_->parts_.push_back(made.Release());
    return true;
  }

  bool Failed(int result) {
    if (result) reason_ = fmt::format("; the last one: {}", DnnError(result));
    return result != 0;
  }

  const DnnPolicy& policy_;
  std::shared_ptr<DnnPlan> plan_;
  int tried_ = 0;
  std::string reason_;
};

std::shared_ptr<const DnnPlan> DnnPlan::Of(const std::string& key, const DnnPolicy& policy,
                                           const Describe& describe, std::string* why) {
  static auto* mutex = new Mutex;
  static auto* plans = new std::map<std::string, std::shared_ptr<const DnnPlan>>;
  std::string whole = fmt::format("{} {} {}{} {}", key, Name(policy.dtype), policy.tf32,
                                  policy.deterministic, policy.most_workspace);
  {
    std::lock_guard lock(*mutex);
    if (auto it = plans->find(whole); it != plans->end()) return it->second;
  }
  Enter();
  std::shared_ptr<const DnnPlan> made = DnnPlanner(policy).Make(describe, why);
  if (!made) return nullptr;
  std::lock_guard lock(*mutex);
  if (plans->size() >= kMostPlans) plans->clear();
  return plans->emplace(whole, std::move(made)).first->second;
}

DnnPlan::~DnnPlan() {
  try {
    if (plan_) TheMemory().stream().WaitForAll();  // what is given to the stream may still use it
  } catch (const std::exception&) {  // at the end of the process, when the driver has gone
  }
  for (auto it = parts_.rbegin(); it != parts_.rend(); ++it) TheDnn().DestroyDescriptor(*it);
}

void DnnPlan::Run(const std::vector<DnnAddress>& tensors, void* workspace,
                  StreamHandle stream) const {
  Enter();
  std::vector<int64_t> names;
  std::vector<void*> addresses;
  for (const DnnAddress& tensor : tensors) {
    names.push_back(tensor.name);
    addresses.push_back(const_cast<void*>(tensor.at));
  }
  auto count = static_cast<int64_t>(names.size());
  DnnFilling pack(dnn::kVariantPack);
  pack.Set(dnn::kPackNames, dnn::kInt64Type, count, names.data())
      .Set(dnn::kPackPointers, dnn::kPointerType, count, addresses.data())
      .Set(dnn::kPackWorkspace, dnn::kPointerType, 1, &workspace);
  CheckDnn(pack.Finalize(), "the addresses of tensors");
  Session& session = TheSession();
  std::lock_guard lock(session.mutex);
  CheckDnn(TheDnn().SetStream(session.handle, stream), "cudnnSetStream");
  CheckDnn(TheDnn().Execute(session.handle, plan_, pack.handle()), "cudnnBackendExecute");
}

}  // namespace ms::cuda
