// Ops that have no kernel on the GPU: the host's runs between copies there and back. Programs stay
// right, and slow at such a line; MS_LOG=dispatch names it, and docs/gpu.md has the list. Where an
// op is declared as a composition of others, that is taken instead.
#include <algorithm>
#include <array>

#include "backends/cuda/kernels.h"
#include "backends/cuda/memory.h"
#include "kernel/refusal.h"

namespace ms::cuda {
namespace {

class HostKernel : public Kernel {
 public:
  HostKernel(const KernelRequest& request, std::shared_ptr<const Kernel> inner)
      : inner_(std::move(inner)) {
    for (const Type& type : request.in) in_.push_back(type.bytes());
    for (const Type& type : request.out) out_.push_back(type.bytes());
    cost_ns_ = inner_->cost_ns() + 30000;
  }
  std::string Contents() const override { return "on the host"; }

  void Run(const KernelArgs& args) const override {
    RefuseCapture("what runs on the host");
    CudaMemory& memory = TheMemory();
    std::vector<BufferRef> buffers;
    std::vector<const void*> in;
    std::vector<void*> out;
    for (size_t i = 0; i < in_.size(); ++i) {
      buffers.push_back(Buffer::Allocate(in_[i]));
      memory.Fetch(buffers.back()->data(), args.in[i], in_[i]);
      in.push_back(buffers.back()->data());
    }
    for (size_t bytes : out_) {
      buffers.push_back(Buffer::Allocate(bytes));
      out.push_back(buffers.back()->data());
    }
    BufferRef workspace = Buffer::Allocate(inner_->workspace_bytes());
    {
      HostWait wait(true);  // it may wait for what another thread is to send
      inner_->Run({in.data(), out.data(), workspace->data(), args.random, nullptr, args.place});
    }
    for (size_t o = 0; o < out_.size(); ++o) memory.Store(args.out[o], out[o], out_[o]);
  }

 private:
  std::shared_ptr<const Kernel> inner_;
  std::vector<size_t> in_, out_;
};

// What passes make only where a device has a kernel for it, as it is no gain otherwise.
constexpr std::array kGains{"SGDRows", "StartSum", "UpdateGroup", "MatMulPacked", "PackMatrix"};

KernelChoice MakeHost(const KernelRequest& request) {
  try {
    auto inner = GetBackend(kHostDevice).kernels().Find(request, kHostDevice);
    return std::make_unique<HostKernel>(request, std::move(inner));
  } catch (const Refusal& error) {
    return No("{}", error.message());
  }
}

}  // namespace

void AddHostKernels(KernelTable& table) {
  const KernelTable& host = GetBackend(kHostDevice).kernels();
  for (const OpDef* op : Ops().All()) {
    bool gain = std::find(kGains.begin(), kGains.end(), op->name) != kGains.end();
    if (host.Has(*op) && !op->expand && !gain && op->name != "HostCall")
      table.For(op->name).Try("on the host, between copies", MakeHost);
  }
}

}  // namespace ms::cuda
