#include "backends/cpu/kernels/generated.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "backends/cpu/isa/tables.h"
#include "kernel/parallel.h"
#include "loops/machine_code.h"
#include "loops/nest_text.h"
#include "ops/fused.h"

namespace ms::cpu {
namespace {

using loops::MachineCode;

std::atomic<bool> generate_always{false};

loops::LlvmTarget Target() {
  loops::LlvmTarget target;
  switch (BestIsa()) {
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

class GeneratedKernel : public Kernel {
 public:
  GeneratedKernel(loops::NestText text, const loops::LoopNest& nest,
                  std::shared_ptr<const Kernel> interpreted)
      : parameters_(std::move(text.parameters)),
        tasks_(std::move(text.tasks)),
        scratch_bytes_(text.scratch_bytes),
        waits_(nest.stages > 0 || GeneratesAlways()),
        interpreted_(std::move(interpreted)) {
    for (const loops::LlvmCall& call : text.calls) functions_.push_back(call.Find(Vectors()));
    code_ = loops::CodeOf(text.text, tasks_.size());
    cost_ns_ = loops::CostOf(nest).ns;
    workspace_bytes_ = text.workspace_bytes;
    if (interpreted_)
      workspace_bytes_ = std::max(workspace_bytes_, interpreted_->workspace_bytes());
  }

  bool has_code() const { return code_ != nullptr; }

  void Run(const KernelArgs& args) const override {
    if (code_->state() == MachineCode::State::kPending && (waits_ || !interpreted_))
      loops::AwaitCode(*code_);
    if (code_->state() == MachineCode::State::kReady) return RunCode(args);
    if (!interpreted_) {
      Throw(ErrorKind::kRuntime, "For 'Fused', the generated code must assemble, but got: {}.",
            code_->failure());
    }
    interpreted_->Run(args);
  }

 private:
  void RunCode(const KernelArgs& args) const {
    for (size_t p = 0; p < tasks_.size(); ++p) {
      auto run = reinterpret_cast<loops::PhaseFn>(const_cast<void*>(code_->phase(p)));
      double ns = cost_ns_ / static_cast<double>(tasks_.size()) / static_cast<double>(tasks_[p]);
      ParallelFor(tasks_[p], ns, [&](int64_t begin, int64_t end) {
        run(args.in, args.out, parameters_.data(), ThreadScratch(scratch_bytes_), args.workspace,
            functions_.data(), begin, end);
      });
    }
  }

  std::vector<int64_t> parameters_;
  std::vector<int64_t> tasks_;
  std::vector<loops::VectorFn> functions_;
  size_t scratch_bytes_;
  bool waits_;
  std::shared_ptr<const Kernel> interpreted_;
  std::shared_ptr<MachineCode> code_;
};

bool DumpsKernels() {
  static const bool on = [] {
    const char* value = std::getenv("MS_DUMP");
    return value && std::strstr(value, "kernels");
  }();
  return on;
}

// The roofline of one core: 15 GB/s of memory or 100 GF/s, whichever takes longer.
void Dump(const KernelRequest& request, const loops::LoopNest& nest, const loops::NestText& text) {
  double bytes = 0;
  for (const Types* types : {&request.in, &request.out}) {
    for (const Type& t : *types)
      bytes += static_cast<double>(t.shape().size()) * static_cast<double>(ItemSize(t.dtype()));
  }
  loops::NestCost cost = loops::CostOf(nest);
  std::string shown = fmt::format(
      "---- kernel Fused{}\n{}roofline: {:.3g} MB, {:.3g} Mflop; {:.3g} us by memory, {:.3g} us by "
      "arithmetic, {:.3g} us expected on one core\n{}",
      ToString(request.in), loops::Print(nest), bytes / 1e6, cost.flops / 1e6, bytes / 15e3,
      cost.flops / 100e3, std::max(cost.ns / 1e3, bytes / 15e3), text.text);
  std::fputs(shown.c_str(), stderr);
}

}  // namespace

void GenerateAlways(bool on) { generate_always = on; }
bool GeneratesAlways() { return generate_always; }

KernelChoice MakeGenerated(const KernelRequest& request,
                           std::shared_ptr<const Kernel> interpreted) {
  if (!loops::HasAssembler()) return No("llvmlite is not installed");
  FusedBody body;
  std::string refusal = AnalyzeFused(*request.attr<Graph*>("body"), &body);
  if (!refusal.empty()) return No("{}", refusal);
  loops::LoopNest nest;
  refusal = loops::MakeNest(body, Target().vector_bytes, &nest);
  if (!refusal.empty()) return No("{}", refusal);
  loops::NestText text;
  refusal = loops::WriteNest(nest, Target(), Vectors(), &text);
  if (!refusal.empty()) return No("{}", refusal);
  if (DumpsKernels()) Dump(request, nest, text);
  auto kernel = std::make_unique<GeneratedKernel>(std::move(text), nest, std::move(interpreted));
  if (!kernel->has_code()) return No("llvmlite is not installed");
  return kernel;
}

}  // namespace ms::cpu
