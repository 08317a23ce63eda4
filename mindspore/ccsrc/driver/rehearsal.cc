#include "driver/rehearsal.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <exception>
#include <map>
#include <thread>

#include "base/mutex.h"
#include "driver/thread_group.h"
#include "ir/text.h"
#include "kernel/random.h"
#include "passes/parallel/pieces.h"

namespace ms {
namespace {

bool CanBeRehearsed(const Module& module) {
  static const OpDef& host = Ops().Get("HostCall");
  for (const auto& graph : module.graphs()) {
    for (const Node* node : graph->nodes()) {
      bool apart = node->op && (node->op == &host || node->op->effect == Effect::kComm);
      if (apart) return false;
      for (const Type& type : node->outputs) {
        if (type.is_tensor() && type.shape().symbolic()) return false;
      }
    }
  }
  for (const Type& type : module.main()->OutputTypes()) {
    if (!type.is_tensor()) return false;
  }
  return true;
}

std::shared_ptr<Module> CopyOf(const Module& module) {
  TensorTable large;
  std::string text = Print(module, {.spans = true, .large = &large});
  return Parse(text, &large);
}

parallel::Box BoxIn(const parallel::Lowered& program, const parallel::Layout& layout,
                    const Type& type) {
  return layout.BoxOf(type.shape(), program.mesh, program.rank);
}

}  // namespace

// The groups of all ranks, known by names of their own while the rehearsal lives.
class Rehearsal::Groups {
 public:
  void Add(const parallel::Lowered& program) {
    for (const parallel::ProcessGroup& group : program.groups) {
      auto [it, fresh] = meetings_.try_emplace({group.ranks, group.beside});
      if (fresh) it->second = std::make_shared<Meeting>(static_cast<int>(group.ranks.size()));
      auto me = std::find(group.ranks.begin(), group.ranks.end(), program.rank);
      AddGroup(group.name, std::make_shared<ThreadGroup>(group.name, group.ranks,
                                                         static_cast<int>(me - group.ranks.begin()),
                                                         it->second, group.beside));
      names_.push_back(group.name);
    }
  }
  ~Groups() {
    for (const std::string& name : names_) ForgetGroup(name);
  }
  void Fail() {
    for (auto& [members, meeting] : meetings_) meeting->Fail();
  }
  void Reset() {
    for (auto& [members, meeting] : meetings_) meeting->Reset();
  }
  Mutex mutex;  // one run at a time

 private:
  // By members, and whether it is the group beside another one of theirs.
  std::map<std::pair<std::vector<int>, bool>, std::shared_ptr<Meeting>> meetings_;
  std::vector<std::string> names_;
};

Rehearsal::~Rehearsal() = default;

std::shared_ptr<const Rehearsal> Rehearsal::Make(const Module& module,
                                                 const CompileOptions& options) {
  if (!CanBeRehearsed(module)) return nullptr;
  static std::atomic<int> number{0};
  int mine = number++;
  std::shared_ptr<Rehearsal> made(new Rehearsal);
  made->groups_ = std::make_unique<Groups>();
  made->updates_ = module.main()->updates;
  int64_t devices = options.parallel->plan.mesh.devices();
  std::vector<bool> parameters(module.main()->inputs().size(), false);
  for (uint32_t i : options.parameters) parameters[i] = true;
  for (int64_t rank = 0; rank < devices * options.parallel->pipeline.stages; ++rank) {
    auto parallel = std::make_shared<parallel::ParallelOptions>(*options.parallel);
    parallel->rank = rank % devices;
    parallel->pipeline.stage = rank / devices;
    parallel->plan.parameters = parameters;
    parallel->group_prefix = fmt::format("rehearsal {}, thread {}: ", mine, rank);
    CompileOptions local = options;
    local.parallel = std::move(parallel);
    made->programs_.push_back(Compile(CopyOf(module), local));
    made->groups_->Add(*made->programs_.back()->lowered());
  }
  return made;
}

// One of the programs in a run.
struct Rehearsal::Part {
  std::vector<Tensor> inputs;
  std::vector<RtValue> outputs;
  RandomState random;
  std::exception_ptr error;
};

namespace {

// To the bit, but for the order of sums: threads that are processes share the cores, and so may
// split a sum otherwise.
bool Alike(const Tensor& a, const Tensor& b) {
  if (std::memcmp(a.raw(), b.raw(), a.bytes()) == 0) return true;
  if (!IsFloating(a.dtype())) return false;
  return VisitDType(a.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (IsFloating(kDTypeOf<T>)) {
      double most = sizeof(T) == 2 ? 1e-2 : 1e-5;
      return std::equal(a.data<T>(), a.data<T>() + a.size(), b.data<T>(), [&](T x, T y) {
        auto p = static_cast<double>(x), q = static_cast<double>(y);
        return std::abs(p - q) <= most * std::max(1.0, std::abs(p)) || p == q ||
               (std::isnan(p) && std::isnan(q));
      });
    }
    return false;
  });
}

}  // namespace

std::vector<Rehearsal::Part> Rehearsal::Cut(std::span<const Tensor> inputs,
                                            const RandomState* random) const {
  std::vector<Part> parts(programs_.size());
  for (size_t r = 0; r < parts.size(); ++r) {
    const parallel::Lowered& program = *programs_[r]->lowered();
    for (size_t i = 0; i < inputs.size(); ++i) {
      parallel::Box box = BoxIn(program, program.inputs[i], program.whole_inputs[i]);
      if (!program.Holds(i)) {
        parts[r].inputs.emplace_back(program.whole_inputs[i].dtype(), Shape{int64_t{0}});
        continue;
      }
      parts[r].inputs.push_back(parallel::Cutout(inputs[i], box));
    }
    if (random) parts[r].random.Set(random->seed(), random->offset());
  }
  return parts;
}

// What was not the consequence of another one's error.
std::exception_ptr Rehearsal::FirstError(const std::vector<Part>& parts) {
  std::exception_ptr first;
  for (const Part& part : parts) {
    if (!part.error) continue;
    if (!first) first = part.error;
    try {
      std::rethrow_exception(part.error);
    } catch (const Error& error) {
      if (error.message().find(kAnotherFailed) == std::string::npos) return part.error;
    } catch (...) {
      return part.error;
    }
  }
  return first;
}

void Rehearsal::RunTogether(std::vector<Part>& parts, bool random) const {
  std::vector<std::thread> threads;
  auto run = [this, &parts, random](size_t r) {
    Part& part = parts[r];
    try {
      programs_[r]->Run(part.inputs, &part.outputs, random ? &part.random : nullptr);
    } catch (...) {
      part.error = std::current_exception();
      groups_->Fail();
    }
  };
  threads.reserve(parts.size());
  try {
    while (threads.size() < parts.size()) threads.emplace_back(run, threads.size());
  } catch (const std::exception&) {  // the system's, or of memory
    parts[threads.size()].error = std::make_exception_ptr(
        Error(ErrorKind::kRuntime, fmt::format("the system must give a thread for each of {} "
                                               "devices, but gave {}",
                                               parts.size(), threads.size())));
    groups_->Fail();
  }
  for (std::thread& thread : threads) thread.join();
  if (auto error = FirstError(parts)) std::rethrow_exception(error);
}

Tensor Rehearsal::Join(const std::vector<Part>& parts, size_t output) const {
  const parallel::Lowered& first = *programs_[0]->lowered();
  const parallel::Layout& layout = first.outputs[output];
  const Type& type = first.whole_outputs[output];
  Tensor whole(type.dtype(), type.shape());
  auto box = [&](size_t r) { return BoxIn(*programs_[r]->lowered(), layout, type); };
  // A new value of a Parameter that only some processes have.
  std::map<int, int> input_of(updates_.begin(), updates_.end());
  auto input = input_of.find(static_cast<int>(output));
  auto holds = [&](size_t r) {
    const parallel::Lowered& program = *programs_[r]->lowered();
    return input == input_of.end() || program.Holds(static_cast<size_t>(input->second));
  };
  for (size_t r = 0; r < parts.size(); ++r) {
    if (holds(r)) parallel::Insert(parts[r].outputs[output].tensor(), box(r), &whole);
  }
  for (size_t r = 0; r < parts.size(); ++r) {
    if (holds(r) && !Alike(parallel::Cutout(whole, box(r)), parts[r].outputs[output].tensor())) {
      Throw(ErrorKind::kInternal, "output {} is not the same in all processes: {} {}", output, type,
            layout.ToString(first.mesh));
    }
  }
  return whole;
}

void Rehearsal::Run(std::span<const Tensor> inputs, std::vector<RtValue>* outputs,
                    RandomState* random) const {
  std::lock_guard lock(groups_->mutex);
  groups_->Reset();
  std::vector<Part> parts = Cut(inputs, random);
  RunTogether(parts, random != nullptr);
  if (random) random->Set(random->seed(), parts[0].random.offset());
  outputs->clear();
  for (size_t i = 0; i < programs_[0]->lowered()->outputs.size(); ++i)
    outputs->push_back(Join(parts, i));
}

}  // namespace ms
