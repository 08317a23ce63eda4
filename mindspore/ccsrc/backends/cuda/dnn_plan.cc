#include "backends/cuda/dnn_plan.h"

#include <fmt/ranges.h>

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
constexpr int64_t kMostWorkspace = int64_t{1} << 30;

int TypeOf(DType dtype) {
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

// A descriptor as it is filled. Those that belong to a plan are released to it.
class Descriptor {
 public:
  explicit Descriptor(int kind) {
    CheckDnn(TheDnn().CreateDescriptor(kind, &handle_), "cudnnBackendCreateDescriptor");
  }
  ~Descriptor() {
    if (handle_) TheDnn().DestroyDescriptor(handle_);
  }
  Descriptor(Descriptor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

  DnnDescriptor handle() const { return handle_; }
  DnnDescriptor Release() { return std::exchange(handle_, nullptr); }
  Descriptor& Set(int attribute, int type, int64_t count, const void* values) {
    int result = TheDnn().SetAttribute(handle_, attribute, type, count, values);
    if (result)
      Throw(ErrorKind::kRuntime, "libcudnn refuses attribute {}: {}", attribute, DnnError(result));
    return *this;
  }
  Descriptor& Set(int attribute, int type, int value) { return Set(attribute, type, 1, &value); }
  Descriptor& Set(int attribute, int64_t value) {
    return Set(attribute, dnn::kInt64Type, 1, &value);
  }
  Descriptor& Set(int attribute, const Ints& values) {
    std::vector<int64_t> all(values.begin(), values.end());
    return Set(attribute, dnn::kInt64Type, static_cast<int64_t>(all.size()), all.data());
  }
  Descriptor& Set(int attribute, DnnDescriptor part) {
    return Set(attribute, dnn::kDescriptorType, 1, &part);
  }
  int Finalize() { return TheDnn().Finalize(handle_); }

 private:
  DnnDescriptor handle_ = nullptr;
};

}  // namespace

// Makes one plan.
class DnnPlanner {
 public:
  explicit DnnPlanner(const DnnProblem& problem)
      : p_(problem),
        type_(TypeOf(problem.dtype)),
        compute_(problem.dtype == DType::kFloat64 ? dnn::kDouble : dnn::kFloat),
        plan_(new DnnPlan) {}

  // Null: `why` says what was tried.
  std::shared_ptr<const DnnPlan> Make(std::string* why) {
    DnnDescriptor graph = nullptr;
    try {
      graph = Graph();
    } catch (const Error& error) {
      return *why = error.message(), nullptr;
    }
    for (int mode : {dnn::kModeA, dnn::kModeFallback}) {
      for (Descriptor& config : Ranked(graph, mode)) {
        if (Allows(config) && Take(config)) return std::move(plan_);
      }
    }
    *why = fmt::format("none of its {} engines takes this{}", tried_, reason_);
    return nullptr;
  }

 private:
  // ---- the graph
  DnnDescriptor Keep(Descriptor made, const char* what) {
    CheckDnn(made.Finalize(), what);
    plan_->parts_.push_back(made.handle());
    return made.Release();
  }

  DnnDescriptor Tensor(char name, const DnnTensor& tensor, bool between = false) {
    Descriptor made(dnn::kTensor);
    made.Set(dnn::kTensorType, dnn::kDataType, between ? compute_ : type_)
        .Set(dnn::kTensorSizes, tensor.sizes)
        .Set(dnn::kTensorStrides, tensor.strides)
        .Set(dnn::kTensorName, int64_t{name})
        .Set(dnn::kTensorAlignment, p_.alignment);
    if (between) {
      bool yes = true;
      made.Set(dnn::kTensorVirtual, dnn::kBooleanType, 1, &yes);
    }
    return Keep(std::move(made), "a tensor");
  }

  DnnDescriptor Windows() {
    Descriptor made(dnn::kConvolution);
    made.Set(dnn::kConvolutionType, dnn::kDataType, compute_)
        .Set(dnn::kConvolutionMode, dnn::kConvolutionModeType, dnn::kCrossCorrelation)
        .Set(dnn::kConvolutionRank, static_cast<int64_t>(p_.strides.size()))
        .Set(dnn::kConvolutionStrides, p_.strides)
        .Set(dnn::kConvolutionDilations, p_.dilations)
        .Set(dnn::kConvolutionPadsBefore, p_.before)
        .Set(dnn::kConvolutionPadsAfter, p_.after);
    return Keep(std::move(made), "the windows of a convolution");
  }

  // Its attributes follow each other in one order, from `first` on.
  DnnDescriptor Convolution(int kind, int first, std::array<DnnDescriptor, 3> tensors) {
    Descriptor made(kind);
    double one = 1, zero = 0;
    float one32 = 1, zero32 = 0;
    bool wide = compute_ == dnn::kDouble;
    int type = wide ? dnn::kDoubleType : dnn::kFloatType;
    made.Set(first, type, 1, wide ? static_cast<const void*>(&one) : &one32)
        .Set(first + 1, type, 1, wide ? static_cast<const void*>(&zero) : &zero32)
        .Set(first + 2, Windows());
    for (int i = 0; i < 3; ++i) made.Set(first + 3 + i, tensors[static_cast<size_t>(i)]);
    return Keep(std::move(made), "a convolution");
  }

  // y = x + b, or relu(x) where b is null.
  DnnDescriptor Step(DnnDescriptor x, DnnDescriptor b, DnnDescriptor y) {
    Descriptor function(dnn::kPointwise);
    function.Set(dnn::kPointwiseMode, dnn::kPointwiseModeType, b ? dnn::kAdd : dnn::kRelu)
        .Set(dnn::kPointwisePrecision, dnn::kDataType, compute_);
    if (!b) function.Set(dnn::kPointwiseNan, dnn::kNanType, dnn::kPropagateNan);
    DnnDescriptor kept = Keep(std::move(function), "a function of elements");
    Descriptor made(dnn::kPointwiseStep);
    made.Set(dnn::kStepPointwise, kept).Set(dnn::kStepX, x).Set(dnn::kStepY, y);
    if (b) made.Set(dnn::kStepB, b);
    return Keep(std::move(made), "a step over elements");
  }

  std::vector<DnnDescriptor> Steps() {
    using Kind = DnnProblem::Kind;
    DnnDescriptor x = Tensor('x', p_.x), w = Tensor('w', p_.w);
    int after = p_.bias + p_.addend + p_.relu;
    if (p_.kind == Kind::kInput)
      return {Convolution(dnn::kBackwardData, dnn::kDataAlpha, {w, x, Tensor('y', p_.y)})};
    if (p_.kind == Kind::kFilter)
      return {Convolution(dnn::kBackwardFilter, dnn::kFilterAlpha, {w, x, Tensor('y', p_.y)})};
    auto next = [&, number = 0]() mutable {  // what a step writes
      bool last = number == after;
      return Tensor(last ? 'y' : static_cast<char>('1' + number++), p_.y, !last);
    };
    DnnDescriptor y = next();
    std::vector<DnnDescriptor> steps{Convolution(dnn::kForward, dnn::kForwardAlpha, {w, x, y})};
    auto follow = [&](DnnDescriptor b) {
      DnnDescriptor from = y;
      y = next();
      steps.push_back(Step(from, b, y));
    };
    if (p_.bias) follow(Tensor('b', PerChannel()));
    if (p_.addend) follow(Tensor('a', p_.y));
    if (p_.relu) follow(nullptr);
    return steps;
  }

  DnnTensor PerChannel() const {
    int64_t channels = p_.y.sizes[1];
    DnnTensor bias{Ints(p_.y.sizes.size(), 1), Ints(p_.y.sizes.size(), channels)};
    bias.sizes[1] = channels;
    bias.strides[1] = 1;
    return bias;
  }

  DnnDescriptor Graph() {
    std::vector<DnnDescriptor> steps = Steps();
    Descriptor made(dnn::kOperationGraph);
    DnnHandle handle = TheSession().handle;
    made.Set(dnn::kGraphSteps, dnn::kDescriptorType, static_cast<int64_t>(steps.size()),
             steps.data());
    made.Set(dnn::kGraphHandle, dnn::kHandleType, 1, &handle);
    return Keep(std::move(made), "a graph");
  }

  // ---- the engine
  // The configurations that cuDNN thinks quickest, the best one first.
  std::vector<Descriptor> Ranked(DnnDescriptor graph, int mode) {
    Descriptor heuristics(dnn::kEngineHeuristics);
    heuristics.Set(dnn::kHeuristicsGraph, graph)
        .Set(dnn::kHeuristicsMode, dnn::kHeuristicsModeType, mode);
    std::vector<Descriptor> configs;
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
  bool Allows(const Descriptor& config) {
    ++tried_;
    Descriptor engine(dnn::kEngine);
    DnnDescriptor handle = engine.handle();
    int64_t count = 0;
    std::array<int, dnn::kMostNotes> notes{};
    if (Failed(TheDnn().GetAttribute(config.handle(), dnn::kConfigEngine, dnn::kDescriptorType, 1,
                                     &count, &handle)) ||
        Failed(TheDnn().GetAttribute(handle, dnn::kEngineNotes, dnn::kNoteType, dnn::kMostNotes,
                                     &count, notes.data())))
      return false;
    bool single = p_.dtype == DType::kFloat32;
    for (int64_t i = 0; i < count; ++i) {
      int note = notes[static_cast<size_t>(i)];
      bool forbidden = (p_.deterministic && note == dnn::kNondeterministic) ||
                       (single && note == dnn::kDownConvert) ||
                       (single && !p_.tf32 && note == dnn::kTensorCore);
      if (forbidden) return false;
    }
    return true;
  }

  bool Take(Descriptor& config) {
    Descriptor made(dnn::kExecutionPlan);
    DnnHandle handle = TheSession().handle;
    made.Set(dnn::kPlanHandle, dnn::kHandleType, 1, &handle).Set(dnn::kPlanConfig, config.handle());
    int64_t bytes = 0, count = 0;
    if (Failed(made.Finalize()) ||
        Failed(TheDnn().GetAttribute(made.handle(), dnn::kPlanWorkspace, dnn::kInt64Type, 1, &count,
                                     &bytes)))
      return false;
    if (bytes > kMostWorkspace) return false;
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

  const DnnProblem& p_;
  const int type_, compute_;
  std::shared_ptr<DnnPlan> plan_;
  int tried_ = 0;
  std::string reason_;
};

std::string DnnProblem::Key() const {
  auto text = [](const DnnTensor& t) {
    return fmt::format("[{}]({})", fmt::join(t.sizes, ","), fmt::join(t.strides, ","));
  };
  return fmt::format("{} {} x{} w{} y{} {};{};{};{} {}{}{} {} {}{}", static_cast<int>(kind),
                     Name(dtype), text(x), text(w), text(y), fmt::join(before, ","),
                     fmt::join(after, ","), fmt::join(strides, ","), fmt::join(dilations, ","),
                     bias, addend, relu, alignment, tf32, deterministic);
}

std::shared_ptr<const DnnPlan> DnnPlan::Of(const DnnProblem& problem, std::string* why) {
  static auto* mutex = new Mutex;
  static auto* plans = new std::map<std::string, std::shared_ptr<const DnnPlan>>;
  std::string key = problem.Key();
  {
    std::lock_guard lock(*mutex);
    if (auto it = plans->find(key); it != plans->end()) return it->second;
  }
  Enter();
  std::shared_ptr<const DnnPlan> made = DnnPlanner(problem).Make(why);
  if (!made) return nullptr;
  std::lock_guard lock(*mutex);
  if (plans->size() >= kMostPlans) {  // what is given to the stream may still use them
    TheMemory().stream().WaitForAll();
    plans->clear();
  }
  return plans->emplace(key, std::move(made)).first->second;
}

DnnPlan::~DnnPlan() {
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
  Descriptor pack(dnn::kVariantPack);
  pack.Set(dnn::kPackNames, dnn::kInt64Type, count, names.data())
      .Set(dnn::kPackPointers, dnn::kPointerType, count, addresses.data())
      .Set(dnn::kPackWorkspace, dnn::kPointerType, 1, &workspace);
  CheckDnn(pack.Finalize(), "the addresses of tensors");
  Session& session = TheSession();
  std::lock_guard lock(session.mutex);
  CheckDnn(TheDnn().SetStream(session.handle, stream), "cudnnSetStream");
  CheckDnn(TheDnn().Execute(session.handle, plan_, pack.handle()), "cudnnBackendExecute");
}

std::string DnnRefusal(DType dtype) {
  return IsFloating(dtype) ? "" : fmt::format("needs a floating dtype, got {}", Name(dtype));
}

}  // namespace ms::cuda
