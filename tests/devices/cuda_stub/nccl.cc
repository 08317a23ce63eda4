// The entries of NCCL. MS_NCCL_STUB=refuse has ncclAllReduce fail, =break says so of a communicator
// later, =same has all ranks on one GPU.
#include "nccl.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

using namespace stub;  // NOLINT: this file is about nothing else

namespace {

enum { kDone = 0, kInternal = 3, kInvalid = 4, kUsage = 5, kRemote = 6, kInProgress = 7 };

struct Id {
  char bytes[128];
};
struct Config {
  size_t size;
  unsigned magic, version;
  int blocking;
};
using Shared = std::shared_ptr<CommState>;
Handles<Shared>& Comms() {
  static auto* all = new Handles<Shared>;
  return *all;
}
CommState& CommOf(void* comm) { return **static_cast<Shared*>(comm); }

bool Wants(const char* what) {
  const char* wanted = std::getenv("MS_NCCL_STUB");
  return wanted && std::string(wanted) == what;
}

// What stands between ncclGroupStart and ncclGroupEnd on this thread.
struct Unit {
  void* comm;
  void* stream;
  std::vector<Given> calls;
};
thread_local int depth = 0;
thread_local std::vector<Unit> open_units;

void Give(const Unit& unit) {
  Count("calls of NCCL");
  static_cast<Stream*>(unit.stream)->Launch(Exchange(*static_cast<Shared*>(unit.comm), unit.calls));
}

int Check(const char* entry, void* comm, void* stream, const Given& given, bool reads, bool writes,
          uint64_t parts_in, uint64_t parts_out) {
  if (!Comms().Has(comm)) return Refuse(kInvalid, fmt::format("{} is given no communicator", entry));
  CommState& state = CommOf(comm);
  if (!state.joined || state.aborted)
    return Refuse(kUsage, fmt::format("{}: the communicator is not ready", entry));
  if (!Streams().Has(stream)) return Refuse(kInvalid, fmt::format("{} is given no stream", entry));
  if (given.type < 0 || given.type > 9 || given.reduction < 0 || given.reduction > 3)
    return Refuse(kInvalid, fmt::format("{}: an unknown type or reduction", entry));
  if (given.other < 0 || given.other >= state.size)
    return Refuse(kInvalid, fmt::format("{}: there is no rank {}", entry, given.other));
  if ((reads && !Holds(given.in, parts_in * given.bytes())) ||
      (writes && !Holds(given.out, parts_out * given.bytes())))
    return Refuse(kInvalid, fmt::format("{} goes beyond a block", entry));
  return kDone;
}

int Take(void* comm, void* stream, const Given& given) {
  if (depth == 0) {
    Give({comm, stream, {given}});
    return kDone;
  }
  for (Unit& unit : open_units) {
    if (unit.comm != comm) continue;
    if (unit.stream != stream) return Refuse(kUsage, "a group of calls is given two streams");
    unit.calls.push_back(given);
    return kDone;
  }
  open_units.push_back({comm, stream, {given}});
  return kDone;
}

uint64_t Number(const void* address) { return reinterpret_cast<uint64_t>(address); }

}  // namespace

namespace stub {

// As late as it may, which is when others may be waiting.
void StartProgress() {
  static bool started = false;
  if (std::exchange(started, true)) return;
  std::thread([] {
    for (;;) {
      usleep(2000);
      Guard guard(TheMutex());
      for (const Stream* stream : Streams().all()) const_cast<Stream*>(stream)->RunReady();
    }
  }).detach();
}

}  // namespace stub

STUB_ENTRY ncclGetVersion(int* version) { return *version = 22803, kDone; }
extern "C" __attribute__((visibility("default"))) const char* ncclGetErrorString(int result) {
  return result == kInternal ? "internal error" : result == kRemote ? "remote error" : "invalid";
}
extern "C" __attribute__((visibility("default"))) const char* ncclGetLastError(void*) {
  return "as the stub says";
}
STUB_ENTRY ncclGetUniqueId(Id* id) {
  std::random_device random;
  const char* given = std::getenv("MS_NCCL_STUB_FOLDER");
  std::string folder = fmt::format("{}/ms_nccl_stub_{:08x}{:08x}", given ? given : "/dev/shm", random(), random());
  if (mkdir(folder.c_str(), 0700)) return kInternal;
  std::memset(id, 0, sizeof(*id));
  folder.copy(id->bytes, sizeof(id->bytes) - 1);
  return kDone;
}
STUB_ENTRY ncclCommInitRankConfig(void** comm, int size, Id id, int rank, Config* config) {
  Guard guard(TheMutex());
  bool known = config->size == sizeof(Config) && config->magic == 0xcafebeef &&
               config->version == 21400 && config->blocking == 0;
  if (!known) return Refuse(kInvalid, "ncclCommInitRankConfig: an unknown configuration");
  if (rank < 0 || rank >= size) return Refuse(kInvalid, "ncclCommInitRankConfig: no such rank");
  if (!Exists(id.bytes)) return Refuse(kInvalid, "ncclCommInitRankConfig: an unknown id");
  if (Wants("same")) return kUsage;
  auto state = std::make_shared<CommState>();
  state->folder = id.bytes;
  state->rank = rank;
  state->size = size;
  WriteFile(fmt::format("{}/joined.{}", state->folder, rank), "");
  *comm = Comms().Add(state);
  StartProgress();
  return kInProgress;
}
STUB_ENTRY ncclCommGetAsyncError(void* comm, int* error) {
  Guard guard(TheMutex());
  if (!Comms().Has(comm)) return Refuse(kInvalid, "ncclCommGetAsyncError is given no communicator");
  CommState& state = CommOf(comm);
  if (!state.joined) {
    state.joined = true;
    for (int rank = 0; rank < state.size; ++rank)
      state.joined &= Exists(fmt::format("{}/joined.{}", state.folder, rank));
  }
  if (Wants("break") && state.units > 0) state.error = kRemote;
  return *error = state.joined ? state.error : static_cast<int>(kInProgress), kDone;
}
namespace {
void Leave(void* comm) {
  CommState& state = CommOf(comm);
  WriteFile(fmt::format("{}/left.{}", state.folder, state.rank), "");
  bool all = true;
  for (int rank = 0; rank < state.size; ++rank)
    all &= Exists(fmt::format("{}/left.{}", state.folder, rank));
  std::error_code ignored;
  if (all) std::filesystem::remove_all(state.folder, ignored);
  Comms().Remove(comm);
}
}  // namespace
STUB_ENTRY ncclCommAbort(void* comm) {
  Guard guard(TheMutex());
  if (!Comms().Has(comm)) return Refuse(kInvalid, "ncclCommAbort is given no communicator");
  CommOf(comm).aborted = true;
  return Leave(comm), kDone;
}

STUB_ENTRY ncclGroupStart() { return ++depth, kDone; }
STUB_ENTRY ncclGroupEnd() {
  Guard guard(TheMutex());
  if (depth == 0) return Refuse(kUsage, "ncclGroupEnd comes before ncclGroupStart");
  if (--depth) return kDone;
  for (const Unit& unit : std::exchange(open_units, {})) Give(unit);
  return kDone;
}

STUB_ENTRY ncclAllReduce(const void* in, void* out, size_t count, int type, int reduction,
                         void* comm, void* stream) {
  Guard guard(TheMutex());
  if (Wants("refuse")) return kInternal;
  Given given{Call::kAllReduce, Number(in), Number(out), count, type, reduction, 0};
  if (int result = Check("ncclAllReduce", comm, stream, given, true, true, 1, 1)) return result;
  return Take(comm, stream, given);
}
STUB_ENTRY ncclReduceScatter(const void* in, void* out, size_t count, int type, int reduction,
                             void* comm, void* stream) {
  Guard guard(TheMutex());
  Given given{Call::kReduceScatter, Number(in), Number(out), count, type, reduction, 0};
  uint64_t size = Comms().Has(comm) ? CommOf(comm).size : 1;
  if (int result = Check("ncclReduceScatter", comm, stream, given, true, true, size, 1))
    return result;
  return Take(comm, stream, given);
}
STUB_ENTRY ncclAllGather(const void* in, void* out, size_t count, int type, void* comm,
                         void* stream) {
  Guard guard(TheMutex());
  Given given{Call::kAllGather, Number(in), Number(out), count, type, 0, 0};
  uint64_t size = Comms().Has(comm) ? CommOf(comm).size : 1;
  if (int result = Check("ncclAllGather", comm, stream, given, true, true, 1, size)) return result;
  return Take(comm, stream, given);
}
STUB_ENTRY ncclBroadcast(const void* in, void* out, size_t count, int type, int root, void* comm,
                         void* stream) {
  Guard guard(TheMutex());
  Given given{Call::kBroadcast, Number(in), Number(out), count, type, 0, root};
  bool reads = Comms().Has(comm) && CommOf(comm).rank == root;
  if (int result = Check("ncclBroadcast", comm, stream, given, reads, true, 1, 1)) return result;
  return Take(comm, stream, given);
}
STUB_ENTRY ncclReduce(const void* in, void* out, size_t count, int type, int reduction, int root,
                      void* comm, void* stream) {
  Guard guard(TheMutex());
  Given given{Call::kReduce, Number(in), Number(out), count, type, reduction, root};
  bool writes = Comms().Has(comm) && CommOf(comm).rank == root;
  if (int result = Check("ncclReduce", comm, stream, given, true, writes, 1, 1)) return result;
  return Take(comm, stream, given);
}
STUB_ENTRY ncclSend(const void* in, size_t count, int type, int other, void* comm, void* stream) {
  Guard guard(TheMutex());
  Given given{Call::kSend, Number(in), 0, count, type, 0, other};
  if (int result = Check("ncclSend", comm, stream, given, true, false, 1, 1)) return result;
  return Take(comm, stream, given);
}
STUB_ENTRY ncclRecv(void* out, size_t count, int type, int other, void* comm, void* stream) {
  Guard guard(TheMutex());
  Given given{Call::kRecv, 0, Number(out), count, type, 0, other};
  if (int result = Check("ncclRecv", comm, stream, given, false, true, 1, 1)) return result;
  return Take(comm, stream, given);
}
