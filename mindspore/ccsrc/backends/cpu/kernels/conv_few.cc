#include "backends/cpu/kernels/conv_few.h"

#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/conv_problem.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

std::vector<FewTask> Tasks(const ConvGeometry& g) {
  std::vector<FewTask> tasks;
  int64_t chunks = (g.width.kernel + kFewColumns - 1) / kFewColumns;
  for (int64_t row = 0; row < g.height.kernel; ++row) {
    for (int64_t i = 0; i < chunks; ++i) {
      int64_t column = g.width.kernel * i / chunks;
      auto columns = static_cast<int>(g.width.kernel * (i + 1) / chunks - column);
      int most = MS_PICK_ISA(FewOuts)(columns);
      for (int64_t out = 0; out < g.out_channels; out += most) {
        int outs = static_cast<int>(std::min<int64_t>(most, g.out_channels - out));
        tasks.push_back({out, row, column, outs, columns});
      }
    }
  }
  return tasks;
}

}  // namespace

// With one channel oneDNN makes less than a tenth of what the processor can do, where that has no
// AVX-512: for LeNet's first filter 0.64 ms on a core, which takes 0.14 this way (0.1 with
// AVX-512).
KernelChoice FewChannelsFilterGrad(const KernelRequest& r) {
  if (r.dtype(0) != DType::kFloat32) return No("needs Float32, got {}", Name(r.dtype(0)));
  ConvGeometry g = MakeConvGeometry(r.op, r.attrs, r.shape(1), r.out[0].shape());
  if (MachineIsa() == Isa::kAvx512) return No("needs a processor without AVX-512");
  if (g.in_channels != 1 || g.groups != 1) return No("needs one channel in one group");
  if (g.channels_last) return No("needs the channels first");
  if (r.shape(0).empty() || r.shape(1).empty()) return No("needs elements, got none");
  std::vector<FewTask> tasks = Tasks(g);
  double cost = ConvCost(g) / static_cast<double>(tasks.size());
  return FunctionKernel(
      [g, tasks = std::move(tasks), cost](const KernelArgs& args) {
        auto* run = MS_PICK_ISA(FewFilterGrad);
        ParallelFor(static_cast<int64_t>(tasks.size()), cost, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            run(g, tasks[static_cast<size_t>(i)], static_cast<const float*>(args.in[0]),
                static_cast<const float*>(args.in[1]), static_cast<float*>(args.out[0]));
          }
        });
      },
      ConvCost(g));
}

}  // namespace ms::cpu
