#include "backends/cpu/cpu.h"

namespace ms::cpu {
namespace {

class CpuBackend : public Backend {
 public:
  CpuBackend() {
    for (auto add : {AddElementwise, AddReduce, AddMatMul, AddConv, AddPool, AddNorm, AddSoftmax,
                     AddLoss, AddArray, AddIndexing, AddRandom, AddOptim}) {
      add(table_);
    }
  }
  std::string_view name() const override { return "CPU"; }
  const KernelTable& kernels() const override { return table_; }

 private:
  KernelTable table_;
};

}  // namespace

std::unique_ptr<Backend> MakeCpuBackend() { return std::make_unique<CpuBackend>(); }

}  // namespace ms::cpu
