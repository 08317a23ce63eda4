// The gradient of a filter over images of one channel.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"
#include "kernel/kernel.h"
#include "ops/window.h"

namespace ms::cpu {

inline constexpr int kFewOuts = 4, kFewColumns = 5;  // the most of a task

// What one thread computes of dw [out, 1, row, column].
struct FewTask {
  int64_t out, row, column;
  int outs, columns;
};

MS_DECLARE_ISA(
    // Of images with the channels first.
    void FewFilterGrad(const ConvGeometry& g, const FewTask& task, const float* dy, const float* x,
                       float* dw);
    // How many output channels a task takes with so many columns.
    int FewOuts(int columns);)

KernelChoice FewChannelsFilterGrad(const KernelRequest& request);

}  // namespace ms::cpu
