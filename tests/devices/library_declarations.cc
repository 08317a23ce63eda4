// Compiled by test_cuda.py where NVIDIA's headers are installed: our declarations of NVRTC and
// cuBLASLt, and the numbers beside them, are those of nvrtc.h and cublasLt.h.
#include <cublasLt.h>
#include <nvrtc.h>

#include "backends/cuda/driver.h"
#include "declared.h"

namespace {

using namespace ms::cuda;  // NOLINT: this file is about nothing else

#define COMPILER(name, theirs) DECLARED_ALIKE(Compiler, name, theirs, #theirs)
COMPILER(Version, nvrtcVersion);
COMPILER(CountChips, nvrtcGetNumSupportedArchs);
COMPILER(GetChips, nvrtcGetSupportedArchs);
COMPILER(CreateProgram, nvrtcCreateProgram);
COMPILER(CompileProgram, nvrtcCompileProgram);
COMPILER(GetCubinSize, nvrtcGetCUBINSize);
COMPILER(GetCubin, nvrtcGetCUBIN);
COMPILER(GetLogSize, nvrtcGetProgramLogSize);
COMPILER(GetLog, nvrtcGetProgramLog);
COMPILER(DestroyProgram, nvrtcDestroyProgram);

#define PRODUCTS(name, theirs) DECLARED_ALIKE(Products, name, theirs, #theirs)
PRODUCTS(Create, cublasLtCreate);
PRODUCTS(DescCreate, cublasLtMatmulDescCreate);
PRODUCTS(DescDestroy, cublasLtMatmulDescDestroy);
PRODUCTS(DescSet, cublasLtMatmulDescSetAttribute);
PRODUCTS(LayoutCreate, cublasLtMatrixLayoutCreate);
PRODUCTS(LayoutDestroy, cublasLtMatrixLayoutDestroy);
PRODUCTS(LayoutSet, cublasLtMatrixLayoutSetAttribute);
PRODUCTS(PreferenceCreate, cublasLtMatmulPreferenceCreate);
PRODUCTS(PreferenceDestroy, cublasLtMatmulPreferenceDestroy);
PRODUCTS(PreferenceSet, cublasLtMatmulPreferenceSetAttribute);
// Algorithm and Heuristic have the layout of theirs, which have the same fields.
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(Heuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(Heuristic, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(Heuristic, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(
    std::is_invocable_v<decltype(&cublasLtMatmulAlgoGetHeuristic), cublasLtHandle_t,
                        cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                        cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t,
                        int, cublasLtMatmulHeuristicResult_t*, int*>);
static_assert(std::is_invocable_v<decltype(&cublasLtMatmul), cublasLtHandle_t, cublasLtMatmulDesc_t,
                                  const void*, const void*, cublasLtMatrixLayout_t, const void*,
                                  cublasLtMatrixLayout_t, const void*, const void*,
                                  cublasLtMatrixLayout_t, void*, cublasLtMatrixLayout_t,
                                  const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t>);

#define SAME(ours, theirs) \
  static_assert(static_cast<int>(ours) == static_cast<int>(theirs), #theirs)
SAME(kArchMismatch, CUBLAS_STATUS_ARCH_MISMATCH);
SAME(kNotSupported, CUBLAS_STATUS_NOT_SUPPORTED);
SAME(kReal32, CUDA_R_32F);
SAME(kReal64, CUDA_R_64F);
SAME(kReal16, CUDA_R_16F);
SAME(kBrain16, CUDA_R_16BF);
SAME(kCompute32, CUBLAS_COMPUTE_32F);
SAME(kCompute64, CUBLAS_COMPUTE_64F);
SAME(kComputeTensor32, CUBLAS_COMPUTE_32F_FAST_TF32);
SAME(kDescTransposeA, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(kDescTransposeB, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(kDescEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
SAME(kDescBias, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
SAME(kEpilogueRelu, CUBLASLT_EPILOGUE_RELU);
SAME(kEpilogueBias, CUBLASLT_EPILOGUE_BIAS);
SAME(kEpilogueRelu | kEpilogueBias, CUBLASLT_EPILOGUE_RELU_BIAS);
SAME(kLayoutBatch, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
SAME(kLayoutStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
SAME(kPreferenceWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(kPreferenceAlignment, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SAME(kPreferenceAlignment + 3, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);

}  // namespace
