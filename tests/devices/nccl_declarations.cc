// Compiled by test_cuda_ranks.py where NVIDIA's header is installed: our declarations of NCCL, and the
// numbers beside them, are those of nccl.h.
#include <nccl.h>

#include "backends/cuda/comm_entries.h"
#include "declared.h"

namespace {

using namespace ms::cuda;  // NOLINT: this file is about nothing else

#define ALIKE(name, theirs) DECLARED_ALIKE(Comm, name, theirs, #theirs)
ALIKE(GetVersion, ncclGetVersion);
ALIKE(CommAbort, ncclCommAbort);
ALIKE(CommGetAsyncError, ncclCommGetAsyncError);
ALIKE(GroupStart, ncclGroupStart);
ALIKE(GroupEnd, ncclGroupEnd);
ALIKE(AllReduce, ncclAllReduce);
ALIKE(ReduceScatter, ncclReduceScatter);
ALIKE(AllGather, ncclAllGather);
ALIKE(Broadcast, ncclBroadcast);
ALIKE(Reduce, ncclReduce);
ALIKE(Send, ncclSend);
ALIKE(Recv, ncclRecv);
ALIKE(GetErrorString, ncclGetErrorString);
ALIKE(GetLastError, ncclGetLastError);
// CommId is theirs by another name, which is given by value; CommConfig is what theirs begins with.
static_assert(sizeof(CommId) == sizeof(ncclUniqueId) && alignof(CommId) == alignof(ncclUniqueId));
static_assert(std::is_invocable_r_v<ncclResult_t, decltype(&ncclGetUniqueId), ncclUniqueId*>);
static_assert(std::is_invocable_r_v<ncclResult_t, decltype(&ncclCommInitRankConfig), ncclComm_t*,
                                    int, ncclUniqueId, int, ncclConfig_t*>);
static_assert(offsetof(CommConfig, size) == offsetof(ncclConfig_t, size));
static_assert(offsetof(CommConfig, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(CommConfig, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(CommConfig, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(CommConfig().magic == NCCL_API_MAGIC);
static_assert(CommConfig().version == NCCL_VERSION(2, 14, 0));

#define SAME(ours, theirs) \
  static_assert(static_cast<int>(comm::ours) == static_cast<int>(theirs), #theirs)
SAME(kDone, ncclSuccess);
SAME(kInProgress, ncclInProgress);
SAME(kInt8, ncclInt8);
SAME(kUint8, ncclUint8);
SAME(kInt32, ncclInt32);
SAME(kUint32, ncclUint32);
SAME(kInt64, ncclInt64);
SAME(kUint64, ncclUint64);
SAME(kFloat16, ncclFloat16);
SAME(kFloat32, ncclFloat32);
SAME(kFloat64, ncclFloat64);
SAME(kBrain16, ncclBfloat16);
SAME(kSum, ncclSum);
SAME(kProd, ncclProd);
SAME(kMax, ncclMax);
SAME(kMin, ncclMin);

}  // namespace
