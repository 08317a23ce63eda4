// Compiled by test_cuda.py where NVIDIA's header is installed: our declarations of the driver's
// entry points, and the numbers beside them, are those of cuda.h.
#include <cuda.h>

#include "backends/cuda/driver.h"
#include "declared.h"

namespace {

using namespace ms::cuda;  // NOLINT: this file is about nothing else

// Theirs has names for what ours calls by its version.
#define CHECK(name, symbol, ...) DECLARED_ALIKE(Driver, name, cu##name, symbol);
MS_CUDA_DRIVER_ENTRIES(CHECK)
MS_CUDA_BRANCH_ENTRIES(CHECK)

static_assert(kSuccess == CUDA_SUCCESS && kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(kDeinitialized == CUDA_ERROR_DEINITIALIZED && kNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(kNotReady == CUDA_ERROR_NOT_READY);
static_assert(kMultiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(kMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(kMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(kMemoryPools == CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
static_assert(kReleaseThreshold == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
static_assert(kCaptureRelaxed == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(kReplace == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
static_assert(kNonBlocking == CU_STREAM_NON_BLOCKING && kNoTiming == CU_EVENT_DISABLE_TIMING);

}  // namespace
