// NCCL, as far as what processes do together calls it: entries and the numbers beside them,
// compared with NVIDIA's nccl.h by tests/devices/nccl_declarations.cc where that is installed. As
// in driver.h.
#pragma once

#include "backends/cuda/driver.h"

namespace ms::cuda {

using CommHandle = Handle*;
struct CommId {  // ncclUniqueId
  char bytes[128];
};
// What ncclConfig_t began with in NCCL 2.14; newer ones take it for what it says it is.
struct CommConfig {
  size_t size = sizeof(CommConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
};

#define MS_CUDA_COMM_ENTRIES(X)                                                                 \
  X(GetVersion, "ncclGetVersion", int*)                                                         \
  X(GetUniqueId, "ncclGetUniqueId", CommId*)                                                    \
  X(CommInit, "ncclCommInitRankConfig", CommHandle*, int, CommId, int, CommConfig*)             \
  X(CommAbort, "ncclCommAbort", CommHandle)                                                     \
  X(CommGetAsyncError, "ncclCommGetAsyncError", CommHandle, int*)                               \
  X(GroupStart, "ncclGroupStart")                                                               \
  X(GroupEnd, "ncclGroupEnd")                                                                   \
  X(AllReduce, "ncclAllReduce", const void*, void*, size_t, int, int, CommHandle, StreamHandle) \
  X(ReduceScatter, "ncclReduceScatter", const void*, void*, size_t, int, int, CommHandle,       \
    StreamHandle)                                                                               \
  X(AllGather, "ncclAllGather", const void*, void*, size_t, int, CommHandle, StreamHandle)      \
  X(Broadcast, "ncclBroadcast", const void*, void*, size_t, int, int, CommHandle, StreamHandle) \
  X(Reduce, "ncclReduce", const void*, void*, size_t, int, int, int, CommHandle, StreamHandle)  \
  X(Send, "ncclSend", const void*, size_t, int, int, CommHandle, StreamHandle)                  \
  X(Recv, "ncclRecv", void*, size_t, int, int, CommHandle, StreamHandle)

// Entries that return texts.
#define MS_CUDA_COMM_FACTS(X)                  \
  X(GetErrorString, "ncclGetErrorString", int) \
  X(GetLastError, "ncclGetLastError", CommHandle)

struct Comm {
#define MS_CUDA_MEMBER(name, symbol, ...) int (*name)(__VA_ARGS__) = nullptr;
  MS_CUDA_COMM_ENTRIES(MS_CUDA_MEMBER)
#undef MS_CUDA_MEMBER
#define MS_CUDA_MEMBER(name, symbol, ...) const char* (*name)(__VA_ARGS__) = nullptr;
  MS_CUDA_COMM_FACTS(MS_CUDA_MEMBER)
#undef MS_CUDA_MEMBER
};

// Numbers of nccl.h, without the prefix nccl.
namespace comm {

enum Result { kDone = 0, kInProgress = 7 };
enum Data {
  kInt8 = 0,
  kUint8 = 1,
  kInt32 = 2,
  kUint32 = 3,
  kInt64 = 4,
  kUint64 = 5,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBrain16 = 9,
};
enum Reduce { kSum = 0, kProd = 1, kMax = 2, kMin = 3 };  // *RedOp_t

}  // namespace comm
}  // namespace ms::cuda
