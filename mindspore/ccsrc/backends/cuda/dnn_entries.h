// The entry points of cuDNN 9 that this device calls: its backend interface, in which a computation
// is a graph of descriptors, and every fact of a descriptor an attribute. Declared here as driver.h
// does; tests/devices/cudnn_declarations.cc compares them with NVIDIA's header where that is
// installed.
#pragma once

#include <string>

#include "backends/cuda/driver.h"

namespace ms::cuda {

using DnnHandle = Handle*;
using DnnDescriptor = void*;

#define MS_CUDA_DNN_ENTRIES(X)                                                                   \
  X(Create, "cudnnCreate", DnnHandle*)                                                           \
  X(SetStream, "cudnnSetStream", DnnHandle, StreamHandle)                                        \
  X(CreateDescriptor, "cudnnBackendCreateDescriptor", int, DnnDescriptor*)                       \
  X(DestroyDescriptor, "cudnnBackendDestroyDescriptor", DnnDescriptor)                           \
  X(SetAttribute, "cudnnBackendSetAttribute", DnnDescriptor, int, int, int64_t, const void*)     \
  X(GetAttribute, "cudnnBackendGetAttribute", DnnDescriptor, int, int, int64_t, int64_t*, void*) \
  X(Finalize, "cudnnBackendFinalize", DnnDescriptor)                                             \
  X(Execute, "cudnnBackendExecute", DnnHandle, DnnDescriptor, DnnDescriptor)

// Entries that have no status, by the type of what they return.
#define MS_CUDA_DNN_FACTS(X)                           \
  X(GetVersion, "cudnnGetVersion", size_t)             \
  X(GetCudartVersion, "cudnnGetCudartVersion", size_t) \
  X(GetLastErrorString, "cudnnGetLastErrorString", void, char*, size_t)

struct Dnn {
#define MS_CUDA_MEMBER(name, symbol, ...) int (*name)(__VA_ARGS__) = nullptr;
  MS_CUDA_DNN_ENTRIES(MS_CUDA_MEMBER)
#undef MS_CUDA_MEMBER
#define MS_CUDA_MEMBER(name, symbol, type, ...) type (*name)(__VA_ARGS__) = nullptr;
  MS_CUDA_DNN_FACTS(MS_CUDA_MEMBER)
#undef MS_CUDA_MEMBER
  std::string path;  // where it was found
};
inline constexpr size_t kOldestDnn = 90000;        // cudnnGetVersion
inline constexpr size_t kOldestAttention = 92100;  // of attention as one step

// Numbers of cudnn_graph.h, without the prefix CUDNN_.
namespace dnn {

enum Data { kFloat = 0, kDouble = 1, kHalf = 2, kBrain = 9 };  // DATA_*

enum Kind {  // BACKEND_*_DESCRIPTOR
  kPointwise = 0,
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kEngineHeuristics = 4,
  kExecutionPlan = 5,
  kForward = 10,
  kBackwardFilter = 11,
  kBackwardData = 12,
  kPointwiseStep = 13,
  kOperationGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kAttention = 41,      // OPERATION_SDPA_FWD
  kAttentionGrad = 43,  // OPERATION_SDPA_BWD
  kBandMask = 44,       // OPERATION_DIAGONAL_BAND_MASK
  kSoftmax = 45,        // OPERATION_SOFTMAX
};

enum Type {  // TYPE_*
  kHandleType = 0,
  kDataType = 1,
  kBooleanType = 2,
  kInt64Type = 3,
  kFloatType = 4,
  kDoubleType = 5,
  kPointerType = 6,
  kConvolutionModeType = 7,
  kHeuristicsModeType = 8,
  kNanType = 10,
  kNoteType = 11,
  kPointwiseModeType = 14,
  kDescriptorType = 15,
};

enum Attribute {  // ATTR_*
  kPointwiseMode = 0,
  kPointwisePrecision = 1,
  kPointwiseNan = 2,
  kConvolutionType = 100,
  kConvolutionMode = 101,
  kConvolutionDilations = 102,
  kConvolutionStrides = 103,
  kConvolutionPadsAfter = 104,
  kConvolutionPadsBefore = 105,
  kConvolutionRank = 106,
  kHeuristicsMode = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kConfigEngine = 300,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  // Of each convolution: alpha, beta, the convolution, then three tensors.
  kForwardAlpha = 700,  // ..., w, x, y
  kDataAlpha = 706,     // ..., w, dx, dy
  kFilterAlpha = 712,   // ..., dw, x, dy
  kStepPointwise = 750,
  kStepX = 751,
  kStepB = 752,
  kStepY = 753,
  kGraphHandle = 800,
  kGraphSteps = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorSizes = 902,
  kTensorStrides = 903,
  kTensorName = 906,
  kTensorVirtual = 907,
  kTensorByValue = 908,
  kPackNames = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineNotes = 1303,
  kAttentionQuery = 2800,
  kAttentionKey = 2801,
  kAttentionValue = 2802,
  kAttentionResult = 2803,
  kAttentionScale = 2805,
  kAttentionScores = 2811,  // a graph; then the numbers of its first and its last tensor
  kAttentionSoftmax = 2814,
  kAttentionGradQuery = 2851,
  kAttentionGradKey = 2852,
  kAttentionGradValue = 2853,
  kAttentionGradResult = 2854,
  kAttentionGradSums = 2855,
  kAttentionGradScale = 2856,
  kAttentionGradOfQuery = 2859,
  kAttentionGradOfKey = 2860,
  kAttentionGradOfValue = 2861,
  kAttentionGradOfResult = 2862,
  kAttentionGradScores = 2867,  // likewise
  kBandMaskX = 3000,
  kBandMaskElse = 3005,
  kBandMaskY = 3006,
  kBandMaskComparison = 3007,
  kSoftmaxX = 3100,
  kSoftmaxY = 3101,
  kSoftmaxLogSum = 3102,
  kSoftmaxSum = 3104,
};

inline constexpr int kCrossCorrelation = 1;
inline constexpr int kPropagateNan = 1;
// POINTWISE_ADD, _RELU_FWD, _CMP_GE
inline constexpr int kAdd = 0, kRelu = 100, kGreaterEqual = 303;
inline constexpr int kModeA = 3, kModeFallback = 2;  // HEUR_MODE_*
inline constexpr int kTensorCore = 0;                // NUMERICAL_NOTE_*
inline constexpr int kDownConvert = 1, kNondeterministic = 4, kMostNotes = 32;

}  // namespace dnn
}  // namespace ms::cuda
