// The kernels of the GPU, by topic: each adds entries to the table.
#pragma once

#include "kernel/kernel.h"

namespace ms::cuda {

// Loop nests: everything elementwise, reductions, views that are copied, fused bodies, and ops that
// are compositions of these (nests.cc, compositions.cc).
void AddNests(KernelTable& table);
void AddCompositions(KernelTable& table);
void AddUpdates(KernelTable& table);
// A kernel of a straight graph whose parameters are the request's inputs.
KernelChoice NestOf(const Graph& body, const KernelRequest& request);

void AddProducts(KernelTable& table);      // of matrices, by cuBLASLt
void AddConvolutions(KernelTable& table);  // by cuDNN
void AddAttention(KernelTable& table);     // of halves, by cuDNN
void AddPooling(KernelTable& table);
void AddRecurrent(KernelTable& table);
void AddNorms(KernelTable& table);     // over batches: two nests each
void AddIndexed(KernelTable& table);   // what is read at positions that are numbers of a tensor
void AddPlaces(KernelTable& table);    // what is written there, and read at coordinates
void AddOrder(KernelTable& table);     // along an axis: sorted rows, extremes
void AddScans(KernelTable& table);     // along an axis: what runs on from element to element
void AddElements(KernelTable& table);  // that depend on where they are
void AddSlices(KernelTable& table);    // that are put into a tensor
void AddJoins(KernelTable& table);     // along an axis, and cuts
void AddResample(KernelTable& table);  // images of another size
void AddGrid(KernelTable& table);      // images at positions
void AddBoxes(KernelTable& table);     // of images
void AddCtc(KernelTable& table);       // losses of sequences of labels
void AddPairs(KernelTable& table);     // of rows and columns: sums over them
void AddRandom(KernelTable& table);
void AddComm(KernelTable& table);  // with other processes, by NCCL
// What passes ask.
const Layouts& TheLayouts();
bool ConvolutionWantsChannelsLast(const KernelRequest& convolution);
int64_t PackedWeightSize(const KernelRequest& convolution);

// What is left: the host's kernel, between copies. Says in MS_LOG=dispatch that it is so.
void AddHostKernels(KernelTable& table);

}  // namespace ms::cuda
