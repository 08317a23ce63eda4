#include "driver/compile.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <future>
#include <list>
#include <unordered_map>

#include "base/mutex.h"
#include "driver/evaluate.h"
#include "driver/fingerprint.h"
#include "driver/lower.h"
#include "kernel/collectives.h"
#include "kernel/launch.h"
#include "passes/pipeline.h"
#include "runtime/machine.h"

namespace ms {
namespace {

constexpr size_t kCapacity = 256;

using Result = std::shared_ptr<const Executable>;

struct Key {
  Fingerprint module;
  CompileOptions options;
  DimScope scope;
  uint64_t choices = GetBackend(options.device).choices();
  bool operator==(const Key& other) const {
    return module == other.module && options == other.options && scope.hints == other.scope.hints &&
           scope.guards == other.scope.guards && choices == other.choices;
  }
};
struct KeyHash {
  size_t operator()(const Key* key) const {
    return HashCombine(key->module.hash, std::hash<std::string>()(key->options.device));
  }
};
struct KeyEqual {
  bool operator()(const Key* a, const Key* b) const { return *a == *b; }
};

class Cache {
 public:
  // The future of the executable; `mine` tells the caller to make it and to fill `promise`.
  std::shared_future<Result> Find(const std::shared_ptr<const Key>& key,
                                  std::promise<Result>& promise, bool* mine) {
    std::list<Entry> dropped;  // without the lock: what goes may need the GIL
    std::lock_guard lock(mutex_);
    if (auto it = index_.find(key.get()); it != index_.end()) {
      entries_.splice(entries_.begin(), entries_, it->second);
      *mine = false;
      return it->second->result;
    }
    *mine = true;
    entries_.push_front({key, promise.get_future().share()});
    index_.emplace(key.get(), entries_.begin());
    if (entries_.size() > kCapacity) {
      index_.erase(entries_.back().key.get());
      dropped.splice(dropped.end(), entries_, std::prev(entries_.end()));
    }
    return entries_.front().result;
  }

  // A failure is not kept: the next call tries again.
  void Forget(const Key& key) {
    std::lock_guard lock(mutex_);
    if (auto it = index_.find(&key); it != index_.end()) {
      auto entry = it->second;
      index_.erase(it);
      entries_.erase(entry);
    }
  }

  size_t size() {
    std::lock_guard lock(mutex_);
    return entries_.size();
  }

  void Clear() {
    std::list<Entry> dropped;
    std::lock_guard lock(mutex_);
    index_.clear();
    dropped.swap(entries_);
  }

  // In the child of a fork nobody makes what other threads were making.
  void ForgetUnfinished() {
    std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) {
      bool finished = entry.result.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
      if (!finished) index_.erase(entry.key.get());
      return !finished;
    });
  }

 private:
  struct Entry {
    std::shared_ptr<const Key> key;
    std::shared_future<Result> result;
  };
  Mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<const Key*, std::list<Entry>::iterator, KeyHash, KeyEqual> index_;
};

Cache& Compiled() {
  static auto* cache = [] {
    auto* made = new Cache;  // never destroyed: kernels may need other static objects
    pthread_atfork(nullptr, nullptr, [] { Compiled().ForgetUnfinished(); });
    return made;
  }();
  return *cache;
}

// Constants are folded on the host, whatever the device.
const Backend* HostBackend() {
  for (const std::string& name : BackendNames()) {
    if (name == kHostDevice) return &GetBackend(name);
  }
  return nullptr;
}

std::atomic<size_t> pass_runs{0};

Result Make(const std::shared_ptr<Module>& shared, const CompileOptions& options, DimScope scope) {
  Module& module = *shared;
  const Backend& backend = GetBackend(options.device);
  bool dynamic = HasSymbols(module);
  DimScope::Use use(&scope);
  ++pass_runs;
  PassOptions passes;
  passes.fast = options.fast;
  passes.has_kernel = [&backend](std::string_view op) {
    return backend.kernels().Has(Ops().Get(op));
  };
  passes.layouts = backend.layouts();
  if (!dynamic) passes.steady_inputs = options.parameters;
  if (const Backend* host = HostBackend()) passes.evaluate = EvaluateOn(*host);
  std::shared_ptr<const parallel::Lowered> lowered;
  if (options.parallel) {
    if (dynamic) {
      Throw(ErrorKind::kValue,
            "sizes must be fixed in a program that is cut over processes, but some are dynamic");
    }
    passes.parallel = options.parallel;
    passes.lowered = [&lowered, outline = OutlineOf(module)](auto made) {
      made->outline = outline;
      lowered = std::move(made);
    };
  }
  Optimize(module, passes);
  if (dynamic) {
    return std::make_shared<const Executable>(std::make_shared<const DynamicProgram>(
        shared, std::move(scope), backend, passes, options.memory_limit));
  }
  std::shared_ptr<const SteadyValues> values;
  if (auto part = LowerAndAccelerate(module, backend, passes)) {
    values = std::make_shared<const SteadyValues>(BuildProgram(*part, backend), part->main());
  }
  auto program = BuildProgram(module, backend, options.memory_limit);
  DumpPlan(*program);
  return std::make_shared<const Executable>(std::move(program), std::move(values),
                                            std::move(lowered));
}

void CheckInputs(const Plan& plan, std::span<const Tensor> inputs) {
  const Types& types = plan.input_types;
  if (inputs.size() != types.size()) {
    Throw(ErrorKind::kInternal, "For '{}', the number of inputs must be {}, but got {}.", plan.name,
          types.size(), inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool fits = inputs[i].defined() && inputs[i].dtype() == types[i].dtype() &&
                inputs[i].shape() == types[i].shape();
    if (!fits) {
      Throw(ErrorKind::kInternal, "For '{}', input {} must be {}, but got {}.", plan.name, i,
            types[i], inputs[i].defined() ? inputs[i].ToString() : "nothing");
    }
  }
}

// The inputs where a device can use them: what is on the host comes along; from another device
// nothing does. Null: they are there.
std::unique_ptr<std::vector<Tensor>> Brought(std::span<const Tensor> inputs, Memory& memory,
                                             const std::string& name) {
  auto away = [&](const Tensor& t) { return t.defined() && &t.memory() != &memory; };
  if (std::none_of(inputs.begin(), inputs.end(), away)) return nullptr;
  auto brought = std::make_unique<std::vector<Tensor>>(inputs.begin(), inputs.end());
  for (Tensor& t : *brought) {
    if (away(t)) t = BringTo(memory, t, name);
  }
  return brought;
}

void CheckRandom(const Program& program, const RandomState* random) {
  if (program.random() && !random) {
    Throw(ErrorKind::kInternal, "For '{}', a random state must be given, but got none.",
          program.main().name);
  }
}

}  // namespace

bool CompileOptions::operator==(const CompileOptions& other) const {
  bool cut_alike = parallel && other.parallel ? parallel->Key() == other.parallel->Key()
                                              : parallel == other.parallel;
  return cut_alike && device == other.device && fast == other.fast &&
         parameters == other.parameters && memory_limit == other.memory_limit;
}

void EnsureGroup(const parallel::ProcessGroup& group, const parallel::Mesh& mesh) {
  if (HasGroup(group.name) || mesh.devices() == 1) return;
  auto transport = CurrentTransport();
  int processes = transport ? transport->size() : 1;
  if (processes != mesh.devices()) {
    Throw(ErrorKind::kRuntime,
          "a program that is cut over {} processes must run in as many after init(), but there {} "
          "{}",
          mesh.devices(), processes == 1 ? "is" : "are", processes);
  }
  MakeGroup(group.name, group.ranks);
}

void Executable::Run(std::span<const Tensor> inputs, std::vector<RtValue>* outputs,
                     RandomState* random) const {
  try {
    RunUnnamed(inputs, outputs, random);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kMemory && error.kind() != ErrorKind::kOs) throw;
    throw error.Of(program_ ? program_->main().name : "jit");
  }
}

void Executable::RunUnnamed(std::span<const Tensor> inputs, std::vector<RtValue>* outputs,
                            RandomState* random) const {
  std::shared_ptr<const Program> planned;
  if (dynamic_)
    planned = dynamic_->ProgramFor(dynamic_->Bind(inputs));
  else if (!steady_)
    CheckInputs(program_->main(), inputs);
  const Program& program = dynamic_ ? *planned : *program_;
  CheckRandom(program, random);
  // Before anything waits for others: the groups in which it does, in the order of all processes.
  if (lowered_) {
    for (const parallel::ProcessGroup& group : lowered_->groups) EnsureGroup(group, lowered_->mesh);
  }
  auto brought = Brought(inputs, program.backend().memory(), program.main().name);
  if (brought) inputs = *brought;
  if (steady_) {
    std::vector<Tensor> all(inputs.begin(), inputs.end());
    steady_->Append(&all);
    CheckInputs(program.main(), all);
    return MachineLease(program)->RunMain(all, outputs, random);
  }
  MachineLease(program)->RunMain(inputs, outputs, random);
}

void Executable::RunClosure(const RtValue& value, std::span<const RtValue> arguments,
                            std::vector<RtValue>* outputs, RandomState* random) {
  const Closure* closure = value.closure();
  if (!closure)
    Throw(ErrorKind::kInternal, "a function value must be given, but got another value");
  const Types& types = closure->plan().input_types;
  size_t captures = closure->captures().size();
  if (captures + arguments.size() != types.size()) {
    Throw(ErrorKind::kInternal, "For '{}', the number of arguments must be {}, but got {}.",
          closure->plan().name, types.size() - captures, arguments.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type& type = types[captures + i];
    const RtValue& a = arguments[i];
    bool fits = type.is_tensor() ? a.is_tensor() && a.tensor().dtype() == type.dtype() &&
                                       a.tensor().shape() == type.shape()
                                 : type.is_function() == a.is_closure() && !a.is_tensor();
    if (!fits)
      Throw(ErrorKind::kInternal, "For '{}', argument {} must be {}.", closure->plan().name, i,
            type);
  }
  CheckRandom(*closure->program(), random);
  std::shared_ptr<const Program> program =
      closure->program();  // `outputs` may hold the closure's last reference
  std::vector<RtValue> brought(arguments.begin(), arguments.end());
  for (RtValue& value : brought) {
    if (value.is_tensor())
      value = BringTo(program->backend().memory(), value.tensor(), closure->plan().name);
  }
  MachineLease(*program)->RunClosure(*closure, brought, outputs, random);
}

std::shared_ptr<const Executable> Compile(std::shared_ptr<Module> module,
                                          const CompileOptions& options, DimScope scope) {
  auto key = std::make_shared<const Key>(Key{FingerprintOf(*module), options, scope});
  std::promise<Result> promise;
  bool mine = false;
  std::shared_future<Result> result = Compiled().Find(key, promise, &mine);
  if (mine) {
    try {
      promise.set_value(Make(module, options, std::move(scope)));
    } catch (...) {
      Compiled().Forget(*key);
      promise.set_exception(std::current_exception());
    }
  }
  return result.get();
}

size_t PassRuns() { return pass_runs; }
size_t CompiledCount() { return Compiled().size(); }
void ClearCompiled() { Compiled().Clear(); }

}  // namespace ms
