// The CPU: oneDNN where it is quicker, our own kernels elsewhere and as references.
#pragma once

#include "kernel/kernel.h"

namespace ms::cpu {

std::unique_ptr<Backend> MakeCpuBackend();

// Whether a convolution is quicker on images with the channels last.
bool PrefersChannelsLast(const KernelRequest& convolution);
// Elements of the weight of a Conv2DBias in the layout that oneDNN chooses; 0: it takes no part.
int64_t PackedSize(const KernelRequest& convolution);

// One function per file of kernels.
void AddElementwise(KernelTable& table);
void AddReduce(KernelTable& table);
void AddMatMul(KernelTable& table);
void AddDistance(KernelTable& table);
void AddFactor(KernelTable& table);
void AddConv(KernelTable& table);
void AddConvBias(KernelTable& table);
void AddPool(KernelTable& table);
void AddUnfold(KernelTable& table);
void AddResample(KernelTable& table);
void AddGrid(KernelTable& table);
void AddBoxes(KernelTable& table);
void AddNorm(KernelTable& table);
void AddSoftmax(KernelTable& table);
void AddLoss(KernelTable& table);
void AddArray(KernelTable& table);
void AddIndexing(KernelTable& table);
void AddRandom(KernelTable& table);
void AddOptim(KernelTable& table);
void AddAttention(KernelTable& table);
void AddRecurrent(KernelTable& table);
void AddNumbers(KernelTable& table);
void AddSpecial(KernelTable& table);
void AddSearch(KernelTable& table);
void AddCtc(KernelTable& table);
void AddFft(KernelTable& table);
void AddComm(KernelTable& table);

}  // namespace ms::cpu
