#include "backends/cpu/cpu.h"

#include "backends/cpu/collectives/mpi_transport.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/fused.h"
#include "backends/cpu/kernels/generated.h"
#include "backends/cpu/kernels/integer.h"
#include "backends/cpu/kernels/matmul_packed.h"
#include "backends/cpu/onednn.h"
#include "kernel/layout.h"
#include "kernel/plugin.h"
#include "kernel/team.h"
#include "kernel/update_group.h"

namespace ms::cpu {
namespace {

class CpuBackend : public Backend {
 public:
  CpuBackend() {
    for (const void* code :
         {reinterpret_cast<void*>(&MachineIsa), reinterpret_cast<void*>(&dnnl_sgemm)})
      team::Serve(code);
    loops::SetGenerator(&MachineGenerator());
    if (MachineIsa() < ProcessorIsa()) {
      dnnl::set_max_cpu_isa(MachineIsa() == Isa::kAvx2 ? dnnl::cpu_isa::avx2
                                                       : dnnl::cpu_isa::sse41);
    }
    for (auto add :
         {AddElementwise, AddReduce,  AddMatMul,    AddConv,      AddConvBias, AddPool,
          AddUnfold,      AddNorm,    AddSoftmax,   AddLoss,      AddArray,    AddIndexing,
          AddRandom,      AddOptim,   AddAttention, AddRecurrent, AddNumbers,  AddInteger,
          AddFused,       AddSpecial, AddSearch,    AddCtc,       AddFactor,   AddResample,
          AddGrid,        AddBoxes,   AddFft,       AddDistance,  AddComm}) {
      add(table_);
    }
    table_.For("UpdateGroup").Try("ranges", [this](const KernelRequest& request) {
      return MakeUpdateGroup(request, *this);
    });
  }
  std::string_view name() const override { return kHostDevice; }
  const KernelTable& kernels() const override { return table_; }
  const Layouts& layouts() const override { return layouts_; }
  std::unique_ptr<Transport> NewTransport(const std::string& library, bool windows) const override {
    return StartMpi(library, windows);
  }

 private:
  KernelTable table_;
  const Layouts layouts_{PrefersChannelsLast, PackedSize, TakesBias, KnowsActivation, PackedMatrix};
};

}  // namespace

std::unique_ptr<Backend> MakeCpuBackend() { return std::make_unique<CpuBackend>(); }

}  // namespace ms::cpu

MS_BACKEND(ms::cpu::CpuBackend)
