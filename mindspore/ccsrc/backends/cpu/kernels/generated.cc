#include "backends/cpu/kernels/generated.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "backends/cpu/codegen/nest_text.h"
#include "backends/cpu/isa/tables.h"
#include "kernel/range_kernel.h"
#include "loops/tunings.h"

namespace ms::cpu {
namespace {

using loops::MachineCode;

std::atomic<bool> generate_always{false};

LlvmTarget Target() {
  switch (MachineIsa()) {
    case Isa::kAvx512:
      return {64, true};
    case Isa::kAvx2:
      return {32, true};
    default:
#if defined(__aarch64__)
      return {16, true};
#else
      return {16, false};
#endif
  }
}

// Memory of one thread that grows to what its kernels need.
void* ThreadScratch(size_t bytes) {
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  thread_local std::unique_ptr<void, Free> memory;
  thread_local size_t size = 0;
  if (bytes > size) {
    size = (bytes + 4095) / 4096 * 4096;
    memory.reset();
    memory.reset(std::aligned_alloc(64, size));
    if (!memory) size = 0, throw std::bad_alloc();
  }
  return memory.get();
}

// Code of one tuning, and what it is called with.
struct Way : TunedWay {
  Way(NestText text, const Tuning& with) {
    tuning = with;
    parameters = std::move(text.parameters);
    tasks = std::move(text.tasks);
    scratch_bytes = text.scratch_bytes;
    workspace_bytes = text.workspace_bytes;
    for (const LlvmCall& call : text.calls) functions.push_back(call.Find(Vectors()));
  }
  std::vector<int64_t> parameters;
  std::vector<int64_t> tasks;
  std::vector<VectorFn> functions;
  size_t scratch_bytes;
  size_t workspace_bytes;
};

// The way of a tuning; null, and why, where there is none. Its code is only written so far.
std::shared_ptr<Way> MakeWay(const ScheduledNest& nest, const Tuning& tuning,
                             std::string* refusal) {
  NestText text;
  *refusal = WriteNest(Retuned(nest, tuning), Target(), Vectors(), &text);
  if (!refusal->empty()) return nullptr;
  auto code = std::make_shared<MachineCode>(text.text, text.tasks.size());
  auto way = std::make_shared<Way>(std::move(text), tuning);
  way->code = std::move(code);
  return way;
}

// The same for a kernel whose workspace is there already.
std::shared_ptr<Way> Retuned(const ScheduledNest& nest, const Tuning& tuning,
                             size_t most_workspace) {
  std::string refusal;
  std::shared_ptr<Way> way = MakeWay(nest, tuning, &refusal);
  return way && way->workspace_bytes <= most_workspace ? way : nullptr;
}

// Its code is made, or is that of an equal text.
void Submit(Way& way) { way.code = loops::CodeOf(way.code->text(), way.tasks.size()); }

class GeneratedKernel : public Kernel {
 public:
  GeneratedKernel(std::shared_ptr<Way> way, std::shared_ptr<Way> streaming,
                  std::shared_ptr<Tuner> tuner, const ScheduledNest& nest, const Types& outputs,
                  std::shared_ptr<const Kernel> interpreted)
      : way_(std::move(way)),
        streaming_(std::move(streaming)),
        tuner_(std::move(tuner)),
        outputs_(outputs.size()),
        waits_(nest.stages > 0 || GeneratesAlways()),
        interpreted_(std::move(interpreted)) {
    cost_ns_ = CostOf(nest).ns;
    workspace_bytes_ = way_->workspace_bytes;
    if (interpreted_)
      workspace_bytes_ = std::max(workspace_bytes_, interpreted_->workspace_bytes());
  }

  void Run(const KernelArgs& args) const override {
    if (!HasCode()) return interpreted_->Run(args);
    if (tuner_) return RunTuned(args);
    bool streams = streaming_ && streaming_->code->state() == MachineCode::State::kReady;
    RunCode(streams ? *streaming_ : *way_, args);
  }

  // Elements [begin, end) of an aligned body, as those of a smaller one that begins there. `steps`:
  // bytes from one element to the next, of all inputs and then of all outputs.
  void RunSlice(const KernelArgs& args, const std::vector<int64_t>& steps, size_t inputs,
                int64_t begin, int64_t end) const {
    thread_local std::vector<const void*> in;  // kept: a warm step allocates nothing
    thread_local std::vector<void*> out;
    in.clear();
    out.clear();
    for (size_t i = 0; i < steps.size(); ++i) {
      if (i < inputs)
        in.push_back(static_cast<const char*>(args.in[i]) + begin * steps[i]);
      else
        out.push_back(static_cast<char*>(args.out[i - inputs]) + begin * steps[i]);
    }
    int64_t size = end - begin;
    auto run = reinterpret_cast<PhaseFn>(const_cast<void*>(way_->code->phase(0)));
    run(in.data(), out.data(), &size, ThreadScratch(way_->scratch_bytes), nullptr,
        way_->functions.data(), 0, (size + way_->tuning.block - 1) / way_->tuning.block);
  }

  // Whether the code is there; if not, and it is not waited for, there is an interpreted kernel.
  bool HasCode() const {
    const MachineCode& code = *way_->code;
    if (code.state() == MachineCode::State::kPending && (waits_ || !interpreted_))
      loops::AwaitCode(code);
    if (code.state() == MachineCode::State::kReady) return true;
    if (!interpreted_) {
      Throw(ErrorKind::kRuntime, "For 'Fused', the generated code must assemble, but got: {}.",
            code.failure());
    }
    return false;
  }

 private:
  void RunTuned(const KernelArgs& args) const {
    bool measure = false;
    const TunedWay& way = tuner_->Next(&measure);
    if (!measure) return RunCode(static_cast<const Way&>(way), args);
    auto begin = std::chrono::steady_clock::now();
    RunCode(static_cast<const Way&>(way), args);
    std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    tuner_->Took(way, took.count());
  }

  // Stores past the caches need memory that is aligned, which that of other libraries may not be.
  bool Fits(const Way& way, const KernelArgs& args) const {
    bool aligned = true;
    for (size_t o = 0; o < outputs_ && way.tuning.streams; ++o)
      aligned = aligned && reinterpret_cast<uintptr_t>(args.out[o]) % 64 == 0;
    return aligned;
  }

  void RunCode(const Way& chosen, const KernelArgs& args) const {
    const Way& way = Fits(chosen, args) ? chosen : *way_;
    for (size_t p = 0; p < way.tasks.size(); ++p) {
      auto run = reinterpret_cast<PhaseFn>(const_cast<void*>(way.code->phase(p)));
      double ns =
          cost_ns_ / static_cast<double>(way.tasks.size()) / static_cast<double>(way.tasks[p]);
      ParallelFor(way.tasks[p], ns, [&](int64_t begin, int64_t end) {
        run(args.in, args.out, way.parameters.data(), ThreadScratch(way.scratch_bytes),
            args.workspace, way.functions.data(), begin, end);
      });
    }
  }

  std::shared_ptr<const Way> way_;        // by rule, or as an earlier process found it
  std::shared_ptr<const Way> streaming_;  // the same past the caches, where that was found better
  std::shared_ptr<Tuner> tuner_;
  size_t outputs_;
  bool waits_;
  std::shared_ptr<const Kernel> interpreted_;
};

// The same of an aligned body: a range of elements is a smaller body that begins elsewhere.
class GeneratedRange : public RangeKernel {
 public:
  GeneratedRange(std::unique_ptr<const GeneratedKernel> kernel, const KernelRequest& request,
                 std::shared_ptr<const RangeKernel> interpreted)
      : kernel_(std::move(kernel)), interpreted_(std::move(interpreted)) {
    for (const Type& t : request.in)
      steps_.push_back(t.shape().size() == 1 ? 0 : static_cast<int64_t>(ItemSize(t.dtype())));
    inputs_ = steps_.size();
    for (const Type& t : request.out) steps_.push_back(static_cast<int64_t>(ItemSize(t.dtype())));
    auto size = static_cast<double>(interpreted_->size());
    SetWork(interpreted_->size(), kernel_->cost_ns() / size);
  }

  // Code of a flat body knows one number, its size.
  static bool Can(const Way& way) { return way.parameters.size() == 1 && way.tasks.size() == 1; }

  void Run(const KernelArgs& args) const override { kernel_->Run(args); }

  void RunRange(const KernelArgs& args, int64_t begin, int64_t end) const override {
    if (!kernel_->HasCode()) return interpreted_->RunRange(args, begin, end);
    kernel_->RunSlice(args, steps_, inputs_, begin, end);
  }

 private:
  std::unique_ptr<const GeneratedKernel> kernel_;
  std::shared_ptr<const RangeKernel> interpreted_;
  std::vector<int64_t> steps_;  // bytes from one element to the next: of inputs, then outputs
  size_t inputs_;
};

bool DumpsKernels() {
  static const bool on = [] {
    const char* value = std::getenv("MS_DUMP");
    return value && std::strstr(value, "kernels");
  }();
  return on;
}

// The roofline of one core: 15 GB/s of memory or 100 GF/s, whichever takes longer.
void Dump(const KernelRequest& request, const ScheduledNest& nest, const Way& way) {
  double bytes = 0;
  for (const Types* types : {&request.in, &request.out}) {
    for (const Type& t : *types)
      bytes += static_cast<double>(t.shape().size()) * static_cast<double>(ItemSize(t.dtype()));
  }
  NestCost cost = CostOf(nest);
  std::string shown = fmt::format(
      "---- kernel Fused{}\n{}roofline: {:.3g} MB, {:.3g} Mflop; {:.3g} us by memory, {:.3g} us by "
      "arithmetic, {:.3g} us expected on one core\n{}",
      ToString(request.in), Print(nest), bytes / 1e6, cost.flops / 1e6, bytes / 15e3,
      cost.flops / 100e3, std::max(cost.ns / 1e3, bytes / 15e3), way.code->text());
  std::fputs(shown.c_str(), stderr);
}

// What an earlier process found, if it is a tuning that leaves all bits as they are.
Tuning Usable(const loops::TuningResult& known, const ScheduledNest& nest) {
  Tuning tuning;
  bool good = ParseTuning(known.tuning, &tuning) && IsAllowed(tuning, ChangesFor(nest, Target()));
  return good ? tuning : nest.tuning;
}

std::shared_ptr<Tuner> TunerFor(const std::string& key, const ScheduledNest& nest,
                                const std::shared_ptr<Way>& way) {
  return TunerOf(key, [&] {
    size_t workspace = way->workspace_bytes;
    return std::make_shared<Tuner>(
        key, ChangesFor(nest, Target()), way,
        [nest, workspace](const Tuning& t) { return Retuned(nest, t, workspace); });
  });
}

class CpuGenerator : public loops::Generator {
 public:
  std::string_view instruction_set() const override { return IsaName(MachineIsa()); }
  bool is_limited() const override { return MachineIsa() < ProcessorIsa(); }
  void GenerateAlways(bool on) const override { generate_always = on; }
  std::shared_ptr<MachineCode> NextTrial() const override { return NextTuningTrial(); }
};

}  // namespace

bool GeneratesAlways() { return generate_always; }

const loops::Generator& MachineGenerator() {
  static const CpuGenerator generator;
  return generator;
}

KernelChoice MakeGenerated(const KernelRequest& request,
                           std::shared_ptr<const Kernel> interpreted) {
  if (!loops::HasAssembler()) return No("llvmlite is not installed");
  FusedBody body;
  std::string refusal = AnalyzeFused(*request.attr<Graph*>("body"), &body);
  if (!refusal.empty()) return No("{}", refusal);
  ScheduledNest nest;
  refusal = ScheduleNest(body, Target().vector_bytes, &nest);
  if (!refusal.empty()) return No("{}", refusal);
  std::shared_ptr<Way> streaming, way = MakeWay(nest, nest.tuning, &refusal);
  if (!way) return No("{}", refusal);
  loops::TuningResult known;
  std::string key = TuningKey(way->code->text(), way->parameters);
  Tuning tuning = nest.tuning;
  if (loops::FindTuning(key, &known)) tuning = Usable(known, nest);
  if (tuning.streams) streaming = Retuned(nest, tuning, way->workspace_bytes);
  if (streaming) Submit(*streaming);
  tuning.streams = 0;
  if (!(tuning == nest.tuning)) {
    if (std::shared_ptr<Way> tuned = Retuned(nest, tuning, way->workspace_bytes)) way = tuned;
    nest = Retuned(nest, way->tuning);
  }
  if (DumpsKernels()) Dump(request, nest, *way);
  Submit(*way);
  std::shared_ptr<Tuner> tuner;
  if (loops::TuningBudget() > 0 && !known.complete) tuner = TunerFor(key, nest, way);
  auto range = std::dynamic_pointer_cast<const RangeKernel>(interpreted);
  bool sliced = range && IsAligned(body, request.in) && GeneratedRange::Can(*way);
  auto kernel =
      std::make_unique<GeneratedKernel>(std::move(way), std::move(streaming), std::move(tuner),
                                        nest, request.out, std::move(interpreted));
  if (!sliced) return kernel;
  return std::make_unique<GeneratedRange>(std::move(kernel), request, std::move(range));
}

}  // namespace ms::cpu
