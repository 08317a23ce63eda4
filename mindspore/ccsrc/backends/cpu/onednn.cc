#include "backends/cpu/onednn.h"

#include <atomic>
#include <limits>
#include <map>
#include <string>

#include "backends/cpu/signal_stack.h"
#include "kernel/parallel.h"
#include "kernel/team.h"
#include "kernel/threads.h"

namespace ms::cpu {
namespace {

constexpr size_t kAlignment = 64;

size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Memory objects carry the pointers of one call, so concurrent calls need sets of their own. A
// kernel keeps one set for the next call: taking and returning it are single atomic exchanges.
struct Frame {
  std::vector<dnnl::memory> given;
  std::vector<dnnl::memory> wanted;  // the same object as in `given` where no reorder is needed
  dnnl::memory scratchpad;
  std::vector<dnnl_exec_arg_t> arguments;
};

class OnePrimitive : public Kernel {
 public:
  OnePrimitive(const dnnl::primitive& primitive, const Desc& scratchpad,
               std::vector<Operand> operands, double cost_ns)
      : primitive_(primitive), scratchpad_(scratchpad), operands_(std::move(operands)) {
    cost_ns_ = cost_ns;
    size_t offset = Aligned(scratchpad.get_size());
    for (const Operand& operand : operands_) {
      offsets_.push_back(offset);
      dnnl::reorder reorder;
      if (operand.wanted != operand.given) {
        offset += Aligned(operand.wanted.get_size());
        const dnnl::engine& engine = OneDnnEngine();
        const Desc& from = operand.output ? operand.wanted : operand.given;
        const Desc& to = operand.output ? operand.given : operand.wanted;
        reorder = dnnl::reorder(dnnl::reorder::primitive_desc(engine, from, engine, to));
      }
      reorders_.push_back(reorder);
    }
    workspace_bytes_ = offset;
  }
  ~OnePrimitive() override { delete spare_.load(); }

  void Run(const KernelArgs& args) const override {
    std::unique_ptr<Frame> frame(spare_.exchange(nullptr, std::memory_order_acquire));
    try {
      if (!frame) frame = NewFrame();
      Execute(args, *frame);
    } catch (const dnnl::error& error) {
      Throw(ErrorKind::kRuntime, "oneDNN failed: {}", error.what());
    }
    delete spare_.exchange(frame.release(), std::memory_order_acq_rel);
  }

 private:
  std::unique_ptr<Frame> NewFrame() const {
    auto frame = std::make_unique<Frame>();
    const dnnl::engine& engine = OneDnnEngine();
    auto make = [&](const Desc& desc) { return dnnl::memory(desc, engine, DNNL_MEMORY_NONE); };
    for (size_t i = 0; i < operands_.size(); ++i) {
      frame->given.push_back(make(operands_[i].given));
      frame->wanted.push_back(reorders_[i] ? make(operands_[i].wanted) : frame->given.back());
      frame->arguments.push_back({operands_[i].role, frame->wanted.back().get()});
    }
    if (scratchpad_.get_size() > 0) {
      frame->scratchpad = make(scratchpad_);
      frame->arguments.push_back({DNNL_ARG_SCRATCHPAD, frame->scratchpad.get()});
    }
    return frame;
  }

  static void SetPointer(const dnnl::memory& memory, void* pointer) {
    dnnl::error::wrap_c_api(dnnl_memory_set_data_handle(memory.get(), pointer), "set_data_handle");
  }

  static void Reorder(const dnnl::primitive& reorder, const dnnl::memory& from,
                      const dnnl::memory& to) {
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}};
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(reorder.get(), OneDnnStream().get(), 2, arguments), "reorder");
  }

  void Execute(const KernelArgs& args, Frame& frame) const {
    auto* workspace = static_cast<std::byte*>(args.workspace);
    if (frame.scratchpad) SetPointer(frame.scratchpad, workspace);
    for (size_t i = 0; i < operands_.size(); ++i) {
      const Operand& operand = operands_[i];
      void* pointer =
          operand.output ? args.out[operand.index] : const_cast<void*>(args.in[operand.index]);
      SetPointer(frame.given[i], pointer);
      if (!reorders_[i]) continue;
      SetPointer(frame.wanted[i], workspace + offsets_[i]);
      if (!operand.output) Reorder(reorders_[i], frame.given[i], frame.wanted[i]);
    }
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(primitive_.get(), OneDnnStream().get(),
                               static_cast<int>(frame.arguments.size()), frame.arguments.data()),
        "execute");
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (reorders_[i] && operands_[i].output) {
        Reorder(reorders_[i], frame.wanted[i], frame.given[i]);
      }
    }
  }

  dnnl::primitive primitive_;
  Desc scratchpad_;
  std::vector<Operand> operands_;
  std::vector<dnnl::primitive> reorders_;  // null where the layouts agree
  std::vector<size_t> offsets_;            // into the workspace
  mutable std::atomic<Frame*> spare_{nullptr};
};

}  // namespace

const dnnl::engine& OneDnnEngine() {
  static const auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl::stream& OneDnnStream() {
  WatchProcessors();
  team::Reserve();
  ShelterSignals();
  thread_local dnnl::stream stream(OneDnnEngine());
  return stream;
}

namespace {

void CallSgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, float alpha,
               const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
               int64_t ldc) {
  WatchProcessors();
  team::Reserve();
  ShelterSignals();
  dnnl_status_t status = dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k,
                                    alpha, a, lda, b, ldb, beta, c, ldc);
  if (status != dnnl_success) Throw(ErrorKind::kRuntime, "oneDNN failed: sgemm");
}

}  // namespace

void Sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a,
           int64_t lda, const float* b, int64_t ldb, float* c) {
  CallSgemm(transpose_a, transpose_b, m, n, k, 1, a, lda, b, ldb, 0, c, n);
}

void AddSgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, float alpha,
              const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc) {
  CallSgemm(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, 1, c, ldc);
}

dnnl::primitive_attr UserScratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

namespace {

// Without an algorithm: what lies between alpha and beta, and NaN, stays as it is.
struct ActivationStep {
  dnnl::algorithm algorithm;
  float alpha, beta;
};

// Null where oneDNN has no such step.
const ActivationStep* FindActivation(const std::string& name) {
  using Algorithm = dnnl::algorithm;
  static const std::map<std::string, ActivationStep> steps{
      {"relu", {Algorithm::undef, 0, std::numeric_limits<float>::infinity()}},
      {"relu6", {Algorithm::undef, 0, 6}},
      {"sigmoid", {Algorithm::eltwise_logistic, 0, 0}},
      {"tanh", {Algorithm::eltwise_tanh, 0, 0}},
      {"gelu", {Algorithm::eltwise_gelu_erf, 0, 0}},
      {"gelu_tanh", {Algorithm::eltwise_gelu_tanh, 0, 0}},
      {"silu", {Algorithm::eltwise_swish, 1, 0}},
      {"hswish", {Algorithm::eltwise_hardswish, 1.0f / 6, 0.5f}},
  };
  auto found = steps.find(name);
  return found == steps.end() ? nullptr : &found->second;
}

}  // namespace

bool KnowsActivation(const std::string& name) { return FindActivation(name); }

void AppendActivation(dnnl::post_ops& after, const std::string& name) {
  if (name.empty()) return;
  const ActivationStep* step = FindActivation(name);
  if (!step) throw dnnl::error(dnnl_unimplemented, "no such activation");
  if (step->algorithm != dnnl::algorithm::undef)
    after.append_eltwise(step->algorithm, step->alpha, step->beta);
}

namespace {

// A kernel, and a clip of its output that keeps NaN.
class ClippedKernel : public Kernel {
 public:
  ClippedKernel(std::unique_ptr<Kernel> kernel, const Type& out, float low, float high)
      : kernel_(std::move(kernel)), dtype_(out.dtype()), low_(low), high_(high) {
    size_ = out.shape().size();
    workspace_bytes_ = kernel_->workspace_bytes();
    cost_ns_ = kernel_->cost_ns() + kNsPerElement * static_cast<double>(size_);
  }

  void Run(const KernelArgs& args) const override {
    kernel_->Run(args);
    ParallelFor(size_, kNsPerElement, [&](int64_t begin, int64_t end) {
      if (dtype_ == DType::kFloat32)
        Clip(static_cast<float*>(args.out[0]), begin, end);
      else
        Clip(static_cast<BFloat16*>(args.out[0]), begin, end);
    });
  }

 private:
  static constexpr double kNsPerElement = 0.1;

  template <class T>
  void Clip(T* y, int64_t begin, int64_t end) const {
    for (int64_t i = begin; i < end; ++i) {
      auto x = static_cast<float>(y[i]);
      x = x < low_ ? low_ : x;  // false for NaN
      y[i] = static_cast<T>(x > high_ ? high_ : x);
    }
  }

  std::unique_ptr<Kernel> kernel_;
  DType dtype_;
  float low_, high_;
  int64_t size_;
};

}  // namespace

std::unique_ptr<Kernel> Activated(std::unique_ptr<Kernel> kernel, const std::string& activation,
                                  const Type& out) {
  const ActivationStep* step = activation.empty() ? nullptr : FindActivation(activation);
  if (!step || step->algorithm != dnnl::algorithm::undef) return kernel;
  return std::make_unique<ClippedKernel>(std::move(kernel), out, step->alpha, step->beta);
}

bool OneDnnType(DType dtype, dnnl::memory::data_type* type) {
  static const bool bfloat16 = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core_bf16 &&
                               dnnl::get_effective_cpu_isa() != dnnl::cpu_isa::avx2_vnni;
  if (dtype == DType::kFloat32) {
    *type = dnnl::memory::data_type::f32;
    return true;
  }
  if (dtype == DType::kBFloat16 && bfloat16) {
    *type = dnnl::memory::data_type::bf16;
    return true;
  }
  return false;
}

std::unique_ptr<Kernel> PrimitiveKernel(const dnnl::primitive& primitive, const Desc& scratchpad,
                                        std::vector<Operand> operands, double cost_ns) {
  return std::make_unique<OnePrimitive>(primitive, scratchpad, std::move(operands), cost_ns);
}

int64_t Elements(const Desc& desc, DType dtype) {
  return static_cast<int64_t>((desc.get_size() + ItemSize(dtype) - 1) / ItemSize(dtype));
}

KernelChoice PackKernel(const KernelRequest& r, const Desc& given, const Desc& wanted) {
  int64_t size = Elements(wanted, r.out[0].dtype());
  if (size != r.attr<int64_t>("size")) {
    return No("needs a 'size' of {}, got {}", size, r.attr<int64_t>("size"));
  }
  dnnl::reorder::primitive_desc pd(OneDnnEngine(), given, OneDnnEngine(), wanted, UserScratchpad());
  return PrimitiveKernel(
      dnnl::reorder(pd), pd.scratchpad_desc(),
      {InputOperand(DNNL_ARG_FROM, 0, given, given), OutputOperand(DNNL_ARG_TO, 0, wanted, wanted)},
      2 * static_cast<double>(r.shape(0).size()));
}

}  // namespace ms::cpu
