// The entry points of NVIDIA's libraries that this device calls, declared here: building needs none
// of theirs. Handles are pointers, enumerations are int, as their binary interfaces have them;
// tests/devices/cuda_declarations.cc compares the driver's with NVIDIA's header where that is
// installed. The tables are filled when the libraries are opened (libraries.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ms::cuda {

using Address = unsigned long long;  // of the device's memory, as the driver has it

struct Handle;  // nobody looks inside
using Context = Handle*;
using StreamHandle = Handle*;
using EventHandle = Handle*;
using Module = Handle*;
using Function = Handle*;
using Pool = Handle*;
using WorkGraph = Handle*;  // what a stream was given while it was captured
using WorkExec = Handle*;   // the same, ready to be launched
using WorkNode = Handle*;   // a launch within it
struct EdgeData;            // how one follows another, where that is unusual

// ---- the driver, libcuda.so.1: each takes and returns what cuda.h says of the name in quotes
#define MS_CUDA_DRIVER_ENTRIES(X)                                                               \
  X(Init, "cuInit", unsigned)                                                                   \
  X(DriverGetVersion, "cuDriverGetVersion", int*)                                               \
  X(GetErrorName, "cuGetErrorName", int, const char**)                                          \
  X(GetErrorString, "cuGetErrorString", int, const char**)                                      \
  X(DeviceGetCount, "cuDeviceGetCount", int*)                                                   \
  X(DeviceGet, "cuDeviceGet", int*, int)                                                        \
  X(DeviceGetName, "cuDeviceGetName", char*, int, int)                                          \
  X(DeviceTotalMem, "cuDeviceTotalMem_v2", size_t*, int)                                        \
  X(DeviceGetAttribute, "cuDeviceGetAttribute", int*, int, int)                                 \
  X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", Context*, int)                          \
  X(CtxSetCurrent, "cuCtxSetCurrent", Context)                                                  \
  X(StreamCreate, "cuStreamCreate", StreamHandle*, unsigned)                                    \
  X(StreamDestroy, "cuStreamDestroy_v2", StreamHandle)                                          \
  X(StreamSynchronize, "cuStreamSynchronize", StreamHandle)                                     \
  X(StreamWaitEvent, "cuStreamWaitEvent", StreamHandle, EventHandle, unsigned)                  \
  X(EventCreate, "cuEventCreate", EventHandle*, unsigned)                                       \
  X(EventDestroy, "cuEventDestroy_v2", EventHandle)                                             \
  X(EventRecord, "cuEventRecord", EventHandle, StreamHandle)                                    \
  X(EventQuery, "cuEventQuery", EventHandle)                                                    \
  X(EventSynchronize, "cuEventSynchronize", EventHandle)                                        \
  X(EventElapsedTime, "cuEventElapsedTime", float*, EventHandle, EventHandle)                   \
  X(DeviceGetDefaultMemPool, "cuDeviceGetDefaultMemPool", Pool*, int)                           \
  X(MemPoolSetAttribute, "cuMemPoolSetAttribute", Pool, int, void*)                             \
  X(MemPoolTrimTo, "cuMemPoolTrimTo", Pool, size_t)                                             \
  X(MemAllocAsync, "cuMemAllocAsync", Address*, size_t, StreamHandle)                           \
  X(MemFreeAsync, "cuMemFreeAsync", Address, StreamHandle)                                      \
  X(MemGetInfo, "cuMemGetInfo_v2", size_t*, size_t*)                                            \
  X(MemHostAlloc, "cuMemHostAlloc", void**, size_t, unsigned)                                   \
  X(MemFreeHost, "cuMemFreeHost", void*)                                                        \
  X(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", Address, const void*, size_t, StreamHandle)        \
  X(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", void*, Address, size_t, StreamHandle)              \
  X(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", Address, Address, size_t, StreamHandle)            \
  X(MemsetD8Async, "cuMemsetD8Async", Address, unsigned char, size_t, StreamHandle)             \
  X(ModuleLoadData, "cuModuleLoadData", Module*, const void*)                                   \
  X(ModuleUnload, "cuModuleUnload", Module)                                                     \
  X(ModuleGetFunction, "cuModuleGetFunction", Function*, Module, const char*)                   \
  X(LaunchKernel, "cuLaunchKernel", Function, unsigned, unsigned, unsigned, unsigned, unsigned, \
    unsigned, unsigned, StreamHandle, void**, void**)                                           \
  X(StreamBeginCapture, "cuStreamBeginCapture_v2", StreamHandle, int)                           \
  X(StreamEndCapture, "cuStreamEndCapture", StreamHandle, WorkGraph*)                           \
  X(GraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", WorkExec*, WorkGraph,             \
    unsigned long long)                                                                         \
  X(GraphLaunch, "cuGraphLaunch", WorkExec, StreamHandle)                                       \
  X(GraphDestroy, "cuGraphDestroy", WorkGraph)                                                  \
  X(GraphExecDestroy, "cuGraphExecDestroy", WorkExec)
// Without these, null where the driver is older than 12.3, what is recorded has no branches.
#define MS_CUDA_BRANCH_ENTRIES(X)                                                                 \
  X(StreamGetCaptureInfo, "cuStreamGetCaptureInfo_v3", StreamHandle, int*, uint64_t*, WorkGraph*, \
    const WorkNode**, const EdgeData**, size_t*)                                                  \
  X(StreamUpdateCaptureDependencies, "cuStreamUpdateCaptureDependencies_v2", StreamHandle,        \
    WorkNode*, const EdgeData*, size_t, unsigned)

// Results, attributes and flags, by the names that cuda.h gives them.
inline constexpr int kSuccess = 0;              // CUDA_SUCCESS
inline constexpr int kOutOfMemory = 2;          // CUDA_ERROR_OUT_OF_MEMORY
inline constexpr int kDeinitialized = 4;        // CUDA_ERROR_DEINITIALIZED
inline constexpr int kNoDevice = 100;           // CUDA_ERROR_NO_DEVICE
inline constexpr int kNotReady = 600;           // CUDA_ERROR_NOT_READY
inline constexpr int kMultiprocessors = 16;     // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
inline constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
inline constexpr int kMemoryPools = 115;        // CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
inline constexpr int kReleaseThreshold = 4;     // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
inline constexpr unsigned kNonBlocking = 1;     // CU_STREAM_NON_BLOCKING
inline constexpr unsigned kNoTiming = 2;        // CU_EVENT_DISABLE_TIMING
inline constexpr int kCaptureRelaxed = 2;       // CU_STREAM_CAPTURE_MODE_RELAXED
inline constexpr unsigned kReplace = 1;         // CU_STREAM_SET_CAPTURE_DEPENDENCIES

// ---- the compiler, libnvrtc
using CompilerProgram = Handle*;
#define MS_CUDA_COMPILER_ENTRIES(X)                                                       \
  X(Version, "nvrtcVersion", int*, int*)                                                  \
  X(CountChips, "nvrtcGetNumSupportedArchs", int*)                                        \
  X(GetChips, "nvrtcGetSupportedArchs", int*)                                             \
  X(CreateProgram, "nvrtcCreateProgram", CompilerProgram*, const char*, const char*, int, \
    const char* const*, const char* const*)                                               \
  X(CompileProgram, "nvrtcCompileProgram", CompilerProgram, int, const char* const*)      \
  X(GetCubinSize, "nvrtcGetCUBINSize", CompilerProgram, size_t*)                          \
  X(GetCubin, "nvrtcGetCUBIN", CompilerProgram, char*)                                    \
  X(GetLogSize, "nvrtcGetProgramLogSize", CompilerProgram, size_t*)                       \
  X(GetLog, "nvrtcGetProgramLog", CompilerProgram, char*)                                 \
  X(DestroyProgram, "nvrtcDestroyProgram", CompilerProgram*)

// ---- products of matrices, libcublasLt
using ProductsHandle = Handle*;
using ProductDesc = Handle*;
using MatrixLayout = Handle*;
using Preference = Handle*;
struct Algorithm {  // cublasLtMatmulAlgo_t
  uint64_t data[8];
};
struct Heuristic {  // cublasLtMatmulHeuristicResult_t
  Algorithm algorithm;
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};
#define MS_CUDA_PRODUCTS_ENTRIES(X)                                                                \
  X(Create, "cublasLtCreate", ProductsHandle*)                                                     \
  X(DescCreate, "cublasLtMatmulDescCreate", ProductDesc*, int, int)                                \
  X(DescDestroy, "cublasLtMatmulDescDestroy", ProductDesc)                                         \
  X(DescSet, "cublasLtMatmulDescSetAttribute", ProductDesc, int, const void*, size_t)              \
  X(LayoutCreate, "cublasLtMatrixLayoutCreate", MatrixLayout*, int, uint64_t, uint64_t, int64_t)   \
  X(LayoutDestroy, "cublasLtMatrixLayoutDestroy", MatrixLayout)                                    \
  X(LayoutSet, "cublasLtMatrixLayoutSetAttribute", MatrixLayout, int, const void*, size_t)         \
  X(PreferenceCreate, "cublasLtMatmulPreferenceCreate", Preference*)                               \
  X(PreferenceDestroy, "cublasLtMatmulPreferenceDestroy", Preference)                              \
  X(PreferenceSet, "cublasLtMatmulPreferenceSetAttribute", Preference, int, const void*, size_t)   \
  X(AlgoGetHeuristic, "cublasLtMatmulAlgoGetHeuristic", ProductsHandle, ProductDesc, MatrixLayout, \
    MatrixLayout, MatrixLayout, MatrixLayout, Preference, int, Heuristic*, int*)                   \
  X(Matmul, "cublasLtMatmul", ProductsHandle, ProductDesc, const void*, const void*, MatrixLayout, \
    const void*, MatrixLayout, const void*, const void*, MatrixLayout, void*, MatrixLayout,        \
    const Algorithm*, void*, size_t, StreamHandle)

inline constexpr int kReal32 = 0, kReal64 = 1, kReal16 = 2, kBrain16 = 14;  // CUDA_R_*, _16BF
inline constexpr int kCompute32 = 68, kCompute64 = 70;                      // CUBLAS_COMPUTE_*F
inline constexpr int kComputeTensor32 = 77;                     // CUBLAS_COMPUTE_32F_FAST_TF32
inline constexpr int kDescTransposeA = 3, kDescTransposeB = 4;  // CUBLASLT_MATMUL_DESC_*
inline constexpr int kDescEpilogue = 7, kDescBias = 8;
inline constexpr int kEpilogueRelu = 2, kEpilogueBias = 4;  // CUBLASLT_EPILOGUE_*: bits
inline constexpr int kLayoutBatch = 5, kLayoutStride = 6;   // CUBLASLT_MATRIX_LAYOUT_*
inline constexpr int kPreferenceWorkspace = 1;  // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
inline constexpr int kArchMismatch = 8, kNotSupported = 15;  // CUBLAS_STATUS_*
inline constexpr int kPreferenceAlignment = 5;  // ..._MIN_ALIGNMENT_A_BYTES, then B, C, D

#define MS_CUDA_MEMBER(name, symbol, ...) int (*name)(__VA_ARGS__) = nullptr;
struct Driver {
  MS_CUDA_DRIVER_ENTRIES(MS_CUDA_MEMBER)
  MS_CUDA_BRANCH_ENTRIES(MS_CUDA_MEMBER)
};
struct Compiler {
  MS_CUDA_COMPILER_ENTRIES(MS_CUDA_MEMBER)
};
struct Products {
  MS_CUDA_PRODUCTS_ENTRIES(MS_CUDA_MEMBER)
};
#undef MS_CUDA_MEMBER

}  // namespace ms::cuda
