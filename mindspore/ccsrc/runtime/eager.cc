#include "runtime/eager.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "grad/rule.h"
#include "kernel/launch.h"
#include "kernel/threads.h"
#include "runtime/profile.h"
#include "tensor/exposure.h"

namespace ms {

namespace {

EagerRunner& RunnerOf(const Backend& backend) {
  thread_local std::unordered_map<const Backend*, EagerRunner> runners;
  return runners.try_emplace(&backend, backend).first->second;
}

EagerRunner::Hooks hooks;
std::atomic<bool> blocking{false};

constexpr double kLongKernelNs = 20000;

// How many of its first inputs are only written.
size_t Unread(const OpDef& op) {
  static const OpDef& assign = Ops().Get("Assign");
  return &op == &assign ? 1 : 0;
}

// Addresses to pass to a kernel: few lie on the stack.
template <class T>
class Pointers {
 public:
  explicit Pointers(size_t count) {
    if (count > kInline) heap_.resize(count);
    at_ = count > kInline ? heap_.data() : inline_.data();
  }
  T& operator[](size_t i) { return at_[i]; }
  T* data() { return at_; }

 private:
  static constexpr size_t kInline = 16;
  std::array<T, kInline> inline_;
  std::vector<T> heap_;
  T* at_;
};

}  // namespace

EagerRunner& CurrentRunner() {
  thread_local const Backend* device = nullptr;
  thread_local EagerRunner* runner = nullptr;
  const Backend& current = CurrentBackend();
  if (device != &current) {
    runner = &RunnerOf(current);
    device = &current;
  }
  return *runner;
}

EagerRunner& RunnerFor(const Memory& memory) {
  EagerRunner& current = CurrentRunner();
  if (memory.on_host() || &memory == &current.memory()) return current;
  return RunnerOf(GetBackend(memory.device()));
}

namespace {

struct ProcessRandom {
  Mutex mutex;
  std::shared_ptr<RandomState> state = NewRandom(0, 0);

  static ProcessRandom& Get() {
    static auto* random = new ProcessRandom;  // threads may still draw when static objects are gone
    return *random;
  }
};

thread_local std::shared_ptr<RandomState> own_random;

}  // namespace

std::shared_ptr<RandomState> NewRandom(uint64_t seed, uint64_t offset) {
  auto state = std::make_shared<RandomState>(seed);
  state->Set(seed, offset);
  return state;
}

std::shared_ptr<RandomState> DefaultRandom() {
  if (own_random) return own_random;
  std::lock_guard lock(ProcessRandom::Get().mutex);
  return ProcessRandom::Get().state;
}

void SetDefaultRandom(std::shared_ptr<RandomState> state) {
  if (own_random) return own_random.swap(state);
  std::lock_guard lock(ProcessRandom::Get().mutex);
  ProcessRandom::Get().state.swap(state);
}

std::shared_ptr<RandomState> DrawFrom(std::shared_ptr<RandomState> own) {
  return std::exchange(own_random, std::move(own));
}

EagerRunner::EagerRunner(const Backend& backend)
    : memory_(backend.memory()),
      ledger_(dynamic_cast<Ledger*>(&memory_)),
      stream_(backend.stream()),
      cache_(backend) {}

void EagerRunner::SetBlocking(bool value) { blocking = value; }

void EagerRunner::SetHooks(const Hooks& given) { hooks = given; }

void* EagerRunner::Workspace(size_t bytes) {
  if (bytes == 0) return nullptr;
  if (!workspace_ || workspace_->bytes() < bytes) {
    workspace_ = BufferRef();
    workspace_ = Buffer::Allocate(bytes, memory_);
  }
  return workspace_->data();
}

Prepared& EagerRunner::Run(const OpDef& op, std::span<const Tensor* const> inputs,
                           const AttrsRef& attrs, EagerOutputs& outputs, const InPlace* in_place,
                           bool take) {
  try {
    return RunUnnamed(op, inputs, attrs, outputs, in_place, take);
  } catch (const Error& error) {
    throw error.Of(op.name);
  } catch (const std::bad_alloc&) {
    Throw(ErrorKind::kMemory, "For '{}', the memory is not enough.", op.name);
  }
}

Prepared& EagerRunner::RunUnnamed(const OpDef& op, std::span<const Tensor* const> inputs,
                                  const AttrsRef& attrs, EagerOutputs& outputs,
                                  const InPlace* in_place, bool take) {
  Prepared& prepared = cache_.Find(op, inputs, attrs);
  outputs.Resize(prepared.outputs.size());
  if (op.view) {
    // What shares memory with arrays outside does so as a view of its base, or not at all.
    bool apart = !op.put && inputs[0]->exposed();
    outputs[0] = (apart ? inputs[0]->Copy() : *inputs[0]).Reshaped(prepared.outputs[0].shape());
    return prepared;
  }
  if (!prepared.kernel) {
    RunExpanded(op, inputs, attrs, outputs);
    return cache_.Find(op, inputs, attrs);  // anew: the ops inside may have made it start afresh
  }
  LedgerRun run(ledger_);
  const bool lacks = ledger_ && ledger_->lacks();
  if (lacks) RequireInputs(op, inputs);
  Pointers<const void*> in(inputs.size());
  std::vector<Tensor> brought;
  for (size_t i = inputs.size(); i-- > 0;) {
    const Tensor& input = *inputs[i];
    if (&input.memory() == &memory_) [[likely]]
      in[i] = input.raw();
    else if (i < Unread(op))
      in[i] = in[i + 1];  // any address will do
    else
      in[i] = brought.emplace_back(BringTo(memory_, input, op.name)).raw();
  }
  if (in_place) {
    for (auto [output, input] : *in_place) {
      const Tensor& old = *inputs[input];
      if (lacks && !ledger_->WhyLost(old.raw(), old.bytes()).empty()) continue;
      // `x[::-1] = x` reads what it writes.
      bool once = std::ranges::count(inputs, &old) == 1;
      if (take && once && old.unique() && &old.memory() == &memory_)
        outputs[output] = old;
      else if (!memory_.on_host())  // the old value is there should the kernel be left out
        outputs[output] = &old.memory() == &memory_ ? old.Copy() : old.In(memory_);
    }
  }
  const Kernel& kernel = *prepared.kernel;
  bool profiled = ProfileOn();
  bool runs_long = kernel.cost_ns() > kLongKernelNs && hooks.run_long && memory_.on_host();
  // Of what goes wrong later, or between processes, the line is not on the stack of who tells it.
  bool placed = profiled || !memory_.on_host() || op.effect == Effect::kComm;
  std::shared_ptr<const Kernel> alive;
  if (runs_long || placed) {
    // Other code may run from here on, and give the tensors other values.
    alive = prepared.kernel;
    for (const Tensor* input : inputs) outputs.inputs.push_back(*input);
  }
  LaunchPlace place{&op, placed && hooks.place ? hooks.place() : 0};
  Pointers<void*> out(outputs.size());
  Tensor* results = outputs.data();
  for (size_t i = 0; i < outputs.size(); ++i) {
    bool fresh = !results[i].defined();
    if (fresh)
      results[i] = Tensor(prepared.outputs[i].dtype(), prepared.outputs[i].shape(), memory_);
    out[i] = results[i].raw();
    if (fresh) run.Makes(out[i], results[i].bytes());
    run.Takes(out[i], results[i].bytes(), place.span);
  }
  std::shared_ptr<RandomState> random;
  if (op.effect == Effect::kRandom) [[unlikely]]
    random = DefaultRandom();
  KernelArgs args{in.data(),    out.data(), Workspace(kernel.workspace_bytes()),
                  random.get(), &stream_,   &place};
  AdoptThreads();
  if (profiled) [[unlikely]] {
    RunRecorded(place, stream_, memory_, [&] { Launch(kernel, args); });
  } else if (runs_long) {
    BeingWritten written(true);
    if (in_place) {
      for (auto [output, input] : *in_place) {
        if (results[output].raw() == in[input]) written.Add(results[output]);
      }
    }
    hooks.run_long(kernel, args);
  } else {
    Launch(kernel, args);
    if (placed && blocking) stream_.Synchronize();
  }
  return prepared;
}

// Of those that are there already. What is written anew may be missing.
void EagerRunner::RequireInputs(const OpDef& op, std::span<const Tensor* const> inputs) const {
  for (size_t i = Unread(op); i < inputs.size(); ++i) {
    if (&inputs[i]->memory() == &memory_) ledger_->Require(inputs[i]->raw(), inputs[i]->bytes());
  }
}

void EagerRunner::RunExpanded(const OpDef& op, std::span<const Tensor* const> inputs,
                              const AttrsRef& attrs, EagerOutputs& outputs) {
  static const Attrs kNone;
  Tape scratch;
  Terms terms;
  for (const Tensor* t : inputs) terms.push_back(scratch.Wrap(scratch.Leaf(*t)));
  ExpandContext context(scratch, terms, op, attrs ? *attrs : kNone);
  Terms results = op.expand(context);
  MS_ASSERT(results.size() == outputs.size());
  for (size_t i = 0; i < results.size(); ++i)  // which may be an input as it is
    outputs[i] = Snapshot(BringTo(memory_, scratch.Value(results[i].var), op.name));
}

// ---- which values a gradient reads
namespace {

void AskRule(Prepared& prepared) {
  Module module;
  Graph* graph = module.NewGraph("probe");
  Vars inputs;
  for (const Type& t : prepared.inputs) inputs.push_back({graph->AddParameter(t, "x"), 0});
  auto attrs = prepared.attrs.empty() ? nullptr : std::make_shared<const Attrs>(prepared.attrs);
  Node* node = graph->AddApply(*prepared.op, inputs, attrs, prepared.outputs, 0);
  Vars tangents;
  for (const Type& t : prepared.outputs) {
    tangents.push_back(t.has_tangent() ? Var{graph->AddParameter(t.Tangent(), "d"), 0} : Var{});
  }
  GraphEmitter emitter(graph);
  auto use = [&](const Var& v) {
    if (v.node == node) prepared.saved_outputs[v.index] = true;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (v == inputs[i]) prepared.saved_inputs[i] = true;
    }
    return v;
  };
  std::vector<bool> needed;
  for (const Type& t : prepared.inputs) needed.push_back(t.has_tangent());
  GradContext context(emitter, *node, tangents, use, needed);
  ApplyGradientRule(*prepared.op, context);
}

}  // namespace

void FindSaved(Prepared& prepared) {
  if (prepared.gradient_known) return;
  prepared.saved_inputs.assign(prepared.inputs.size(), false);
  prepared.saved_outputs.assign(prepared.outputs.size(), false);
  bool differentiable = false;
  for (const Type& t : prepared.outputs) differentiable |= t.has_tangent();
  if (IsDifferentiable(*prepared.op) && differentiable) AskRule(prepared);
  prepared.gradient_known = true;  // not where the rule refuses: it does so again
}

}  // namespace ms
