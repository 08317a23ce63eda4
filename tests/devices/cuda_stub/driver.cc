// libcuda, as the stub has it.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "stub.h"

namespace stub {

std::recursive_mutex& TheMutex() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

namespace {

struct State {
  bool initialized = false, retained = false;
  std::vector<std::string> faults;
  std::map<const void*, size_t> pinned;
  Handles<Stream> streams;
  Handles<Event> events;
  Handles<std::vector<Emulated*>> modules;
  Handles<Emulated> functions;
  std::map<std::string, int64_t> counts;
};
State& The() {
  static auto* state = new State;
  return *state;
}
thread_local bool entered = false;
int context_mark;  // its address is the context

bool IsPinned(const void* host, size_t bytes) {
  const auto& pinned = The().pinned;
  auto it = pinned.upper_bound(host);
  if (it == pinned.begin()) return false;
  --it;
  return static_cast<const char*>(host) + bytes <= static_cast<const char*>(it->first) + it->second;
}

}  // namespace

Handles<Stream>& Streams() { return The().streams; }

// What each call but the first ones needs.
int Ready(const char* entry) {
  if (!The().initialized)
    return Refuse(kNotInitialized, fmt::format("{} comes before cuInit", entry));
  if (!entered)
    return Refuse(kInvalidContext, fmt::format("{} is called on a thread without context", entry));
  return kSuccess;
}
int Ready(const char* entry, const void* stream) {
  if (int result = Ready(entry)) return result;
  if (The().streams.Has(stream)) return kSuccess;
  return Refuse(kInvalidHandle, fmt::format("{} is given no stream", entry));
}

int Refuse(int result, const std::string& what) {
  Guard guard(TheMutex());
  The().faults.push_back(what);
  std::fprintf(stderr, "CUDA stub: %s\n", what.c_str());
  return result;
}
std::vector<std::string> TakeFaults() {
  Guard guard(TheMutex());
  return std::exchange(The().faults, {});
}

int Said(const char* name, int otherwise) {
  const char* given = std::getenv(fmt::format("MS_CUDA_STUB_{}", name).c_str());
  return given ? std::atoi(given) : otherwise;
}

void Count(const std::string& what) {
  Guard guard(TheMutex());
  ++The().counts[what];
}

void Stream::Launch(Work one) {
  if (!captures) Count("launches");
  Give(std::move(one));
}
void Stream::Give(Work one) {
  if (captures) {
    kept.push_back(std::make_unique<Kept>(Kept{std::move(one), std::move(last), kept.size()}));
    last = {kept.back().get()};
    return;
  }
  constexpr size_t kMostWaiting = 512;
  work.push_back(std::move(one));
  ++given;
  if (work.size() > kMostWaiting) RunTo(given - kMostWaiting / 2);
}
// A process that waits so long for the others hangs.
constexpr int kLongestWait = 120'000;  // ms
void Stream::RunTo(uint64_t count) {
  while (done < count) {
    for (int waited = 0; work.front().ready && !work.front().ready(); ++waited) {
      if (waited == kLongestWait) {
        Refuse(kLaunchFailed, "work waits for another process that does not come");
        std::abort();
      }
      usleep(1000);
    }
    auto one = std::move(work.front());
    work.pop_front();
    ++done;
    one();
  }
}

void Stream::RunReady() {
  while (done < given && (!work.front().ready || work.front().ready())) RunTo(done + 1);
}

}  // namespace stub

using namespace stub;  // NOLINT: this file is about nothing else

namespace {

// The devices, as CUDA_VISIBLE_DEVICES leaves them, up to the first one that is not here: numbers,
// or a slice of one.
const std::vector<std::string>& Shown() {
  static const auto* shown = [] {
    auto* names = new std::vector<std::string>;
    const char* given = std::getenv("CUDA_VISIBLE_DEVICES");
    std::stringstream all(given ? given : "0,1");
    for (std::string name; std::getline(all, name, ',');) {
      bool slice = name.starts_with("MIG-");
      if (!slice && name != "0" && name != "1") break;
      names->push_back(slice ? "Stub 0 MIG 1g" : "Stub " + name);
      if (slice) break;  // a process has one of them
    }
    return names;
  }();
  return *shown;
}

}  // namespace

STUB_ENTRY cuInit(unsigned flags) {
  Guard guard(TheMutex());
  if (Shown().empty()) return 100;
  The().initialized = true;
  return flags ? kInvalidValue : kSuccess;
}
STUB_ENTRY cuDriverGetVersion(int* version) { return *version = Said("DRIVER", 13000), kSuccess; }
STUB_ENTRY cuGetErrorName(int error, const char** text) {
  static const std::map<int, const char*> names{{1, "CUDA_ERROR_INVALID_VALUE"},
                                                {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                {201, "CUDA_ERROR_INVALID_CONTEXT"},
                                                {400, "CUDA_ERROR_INVALID_HANDLE"}};
  auto it = names.find(error);
  *text = it == names.end() ? "CUDA_ERROR_OF_THE_STUB" : it->second;
  return kSuccess;
}
STUB_ENTRY cuGetErrorString(int, const char** text) { return *text = "as the stub says", kSuccess; }
STUB_ENTRY cuDeviceGetCount(int* count) {
  return *count = static_cast<int>(Shown().size()), kSuccess;
}
STUB_ENTRY cuDeviceGet(int* device, int number) {
  if (number < 0 || static_cast<size_t>(number) >= Shown().size()) return Refuse(101, "cuDeviceGet is given no device");
  return *device = number, kSuccess;
}
STUB_ENTRY cuDeviceGetName(char* name, int size, int device) {
  std::snprintf(name, static_cast<size_t>(size), "%s", Shown()[static_cast<size_t>(device)].c_str());
  return kSuccess;
}
STUB_ENTRY cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = MemoryBytes(), kSuccess; }
STUB_ENTRY cuDeviceGetAttribute(int* value, int attribute, int) {
  static const std::map<int, int> values{{16, 4}, {75, Chip() / 10}, {76, Chip() % 10}, {115, 1}};
  auto it = values.find(attribute);
  if (it == values.end()) return Refuse(kInvalidValue, "an attribute that the stub does not know");
  return *value = it->second, kSuccess;
}
STUB_ENTRY cuDevicePrimaryCtxRetain(void** context, int) {
  The().retained = true;
  return *context = &context_mark, kSuccess;
}
STUB_ENTRY cuCtxSetCurrent(void* context) {
  if (!The().retained || context != &context_mark)
    return Refuse(kInvalidContext, "cuCtxSetCurrent is given no context");
  return entered = true, kSuccess;
}

namespace {

// How long waits take, in which other threads may do something: milliseconds.
void Linger() { usleep(static_cast<unsigned>(1000 * Said("LINGER", 0))); }

}  // namespace

STUB_ENTRY cuStreamCreate(void** stream, unsigned) {
  Guard guard(TheMutex());
  if (int result = Ready("cuStreamCreate")) return result;
  return *stream = The().streams.Add(), kSuccess;
}
STUB_ENTRY cuStreamDestroy_v2(void* stream) {
  Guard guard(TheMutex());
  if (int result = Ready("cuStreamDestroy", stream)) return result;
  if (int result = NotCaptured("cuStreamDestroy", stream)) return result;
  Of(stream).RunTo(Of(stream).given);
  The().streams.Remove(stream);
  return kSuccess;
}
STUB_ENTRY cuStreamSynchronize(void* stream) {
  Linger();
  Guard guard(TheMutex());
  if (int result = Ready("cuStreamSynchronize", stream)) return result;
  if (int result = NotStrict("cuStreamSynchronize")) return result;
  if (int result = NotCaptured("cuStreamSynchronize", stream)) return result;
  Of(stream).RunTo(Of(stream).given);
  return kSuccess;
}
STUB_ENTRY cuEventCreate(void** event, unsigned flags) {
  Guard guard(TheMutex());
  if (int result = Ready("cuEventCreate")) return result;
  if (flags & ~2u) return Refuse(kInvalidValue, "cuEventCreate: flags that the stub does not know");
  bool timed = flags == 0;
  The().counts["timed events"] += timed;  // those that are there
  return *event = The().events.Add(Event{timed}), kSuccess;
}
namespace {
double Milliseconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::milli>(Clock::now().time_since_epoch()).count();
}
int ReadyEvent(const char* entry, const void* event) {
  if (int result = Ready(entry)) return result;
  if (The().events.Has(event)) return kSuccess;
  return Refuse(kInvalidHandle, fmt::format("{} is given no event", entry));
}
}  // namespace
STUB_ENTRY cuEventDestroy_v2(void* event) {
  Guard guard(TheMutex());
  if (int result = ReadyEvent("cuEventDestroy", event)) return result;
  The().counts["timed events"] -= static_cast<Event*>(event)->timed;
  The().events.Remove(event);
  return kSuccess;
}
STUB_ENTRY cuEventRecord(void* event, void* stream) {
  Guard guard(TheMutex());
  if (int result = Ready("cuEventRecord", stream)) return result;
  if (int result = NotCaptured("cuEventRecord", stream)) return result;
  if (int result = ReadyEvent("cuEventRecord", event)) return result;
  auto& e = *static_cast<Event*>(event);
  if (e.timed) {
    e.milliseconds = std::make_shared<double>();
    Of(stream).Give([at = e.milliseconds] { *at = Milliseconds(); });
  }
  e.stream = &Of(stream);
  e.count = Of(stream).given;
  return kSuccess;
}
STUB_ENTRY cuEventQuery(void* event) {
  Guard guard(TheMutex());
  if (int result = ReadyEvent("cuEventQuery", event)) return result;
  return static_cast<Event*>(event)->reached() ? kSuccess : kNotReady;
}
STUB_ENTRY cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  Guard guard(TheMutex());
  for (void* event : {from, to}) {
    if (int result = ReadyEvent("cuEventElapsedTime", event)) return result;
    auto& e = *static_cast<Event*>(event);
    if (!e.timed || !e.stream)
      return Refuse(kInvalidHandle, "cuEventElapsedTime is given an event without a time");
    if (!e.reached()) return Refuse(kNotReady, "cuEventElapsedTime is called too early");
  }
  auto at = [](void* event) { return *static_cast<Event*>(event)->milliseconds; };
  return *milliseconds = static_cast<float>(at(to) - at(from)), kSuccess;
}
STUB_ENTRY cuEventSynchronize(void* event) {
  if (cuEventQuery(event) == kNotReady) Linger();
  Guard guard(TheMutex());
  if (int result = ReadyEvent("cuEventSynchronize", event)) return result;
  auto& e = *static_cast<Event*>(event);
  if (e.stream) e.stream->RunTo(e.count);
  return kSuccess;
}
STUB_ENTRY cuStreamWaitEvent(void* stream, void* event, unsigned) {
  Guard guard(TheMutex());
  if (int result = Ready("cuStreamWaitEvent", stream)) return result;
  if (int result = NotCaptured("cuStreamWaitEvent", stream)) return result;
  if (int result = ReadyEvent("cuStreamWaitEvent", event)) return result;
  Event e = *static_cast<Event*>(event);
  if (e.stream) Of(stream).Give([e] { e.stream->RunTo(e.count); });
  return kSuccess;
}

STUB_ENTRY cuDeviceGetDefaultMemPool(void** pool, int) { return *pool = &context_mark, kSuccess; }
STUB_ENTRY cuMemPoolSetAttribute(void* pool, int attribute, void*) {
  if (pool != &context_mark || attribute != 4)
    return Refuse(kInvalidValue, "cuMemPoolSetAttribute is given what the stub does not know");
  return kSuccess;
}
STUB_ENTRY cuMemPoolTrimTo(void* pool, size_t) {
  return pool == &context_mark ? kSuccess : Refuse(kInvalidHandle, "no pool");
}
STUB_ENTRY cuMemAllocAsync(unsigned long long* address, size_t bytes, void* stream) {
  Guard guard(TheMutex());
  if (int result = Ready("cuMemAllocAsync", stream)) return result;
  if (int result = NotCaptured("cuMemAllocAsync", stream)) return result;
  if (bytes == 0) return Refuse(kInvalidValue, "cuMemAllocAsync is asked for no bytes");
  *address = Allocate(bytes);
  return *address ? kSuccess : kOutOfMemory;
}
STUB_ENTRY cuMemFreeAsync(unsigned long long address, void* stream) {
  Guard guard(TheMutex());
  if (int result = Ready("cuMemFreeAsync", stream)) return result;
  if (int result = NotCaptured("cuMemFreeAsync", stream)) return result;
  if (!Holds(address, 1)) return Refuse(kInvalidValue, "cuMemFreeAsync is given no block");
  Of(stream).Give([address] { Free(address); });
  return kSuccess;
}
STUB_ENTRY cuMemGetInfo_v2(size_t* free, size_t* total) {
  *total = MemoryBytes();
  *free = *total - MemoryUsed();
  return kSuccess;
}
STUB_ENTRY cuMemHostAlloc(void** host, size_t bytes, unsigned) {
  Guard guard(TheMutex());
  if (int result = Ready("cuMemHostAlloc")) return result;
  if (int result = NotStrict("cuMemHostAlloc")) return result;
  *host = std::malloc(bytes);
  The().pinned[*host] = bytes;
  return kSuccess;
}
STUB_ENTRY cuMemFreeHost(void* host) {
  Guard guard(TheMutex());
  if (!The().pinned.erase(host)) return Refuse(kInvalidValue, "cuMemFreeHost is given no block");
  std::free(host);
  return kSuccess;
}
STUB_ENTRY cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, size_t bytes,
                                void* stream) {
  Guard guard(TheMutex());
  if (int result = Ready("cuMemcpyHtoDAsync", stream)) return result;
  if (int result = NotCaptured("cuMemcpyHtoDAsync", stream)) return result;
  if (!IsPinned(from, bytes))
    return Refuse(kInvalidValue, "cuMemcpyHtoDAsync reads memory that is not pinned");
  if (!Holds(to, bytes)) return Refuse(kInvalidValue, "cuMemcpyHtoDAsync writes beyond a block");
  Of(stream).Give([=] { std::memcpy(Open(to), from, bytes); });
  return kSuccess;
}
STUB_ENTRY cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, size_t bytes, void* stream) {
  Guard guard(TheMutex());
  if (int result = Ready("cuMemcpyDtoHAsync", stream)) return result;
  if (int result = NotCaptured("cuMemcpyDtoHAsync", stream)) return result;
  if (!IsPinned(to, bytes))
    return Refuse(kInvalidValue, "cuMemcpyDtoHAsync writes memory that is not pinned");
  if (!Holds(from, bytes)) return Refuse(kInvalidValue, "cuMemcpyDtoHAsync reads beyond a block");
  Count("fetches");
  Of(stream).Give([=] { std::memcpy(to, Open(from), bytes); });
  return kSuccess;
}
STUB_ENTRY cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes,
                                void* stream) {
  Guard guard(TheMutex());
  if (int result = Ready("cuMemcpyDtoDAsync", stream)) return result;
  if (!Holds(to, bytes) || !Holds(from, bytes))
    return Refuse(kInvalidValue, "cuMemcpyDtoDAsync goes beyond a block");
  Of(stream).Give([=] { std::memmove(Open(to), Open(from), bytes); });
  return kSuccess;
}
STUB_ENTRY cuMemsetD8Async(unsigned long long to, unsigned char value, size_t bytes, void* stream) {
  Guard guard(TheMutex());
  if (int result = Ready("cuMemsetD8Async", stream)) return result;
  if (!Holds(to, bytes)) return Refuse(kInvalidValue, "cuMemsetD8Async writes beyond a block");
  Of(stream).Give([=] { std::memset(Open(to), value, bytes); });
  return kSuccess;
}

namespace {

// The stub's compiler makes libraries: `MSSTUB`, eight bytes of size, then the library.
void* OpenLibrary(const char* image) {
  if (std::memcmp(image, "MSSTUB\0", 8) != 0) return nullptr;
  uint64_t size = 0;
  std::memcpy(&size, image + 8, sizeof(size));
  char path[] = "/tmp/ms_cuda_stub_XXXXXX";
  int file = mkstemp(path);
  bool whole = file >= 0 && write(file, image + 16, size) == static_cast<ssize_t>(size);
  if (file >= 0) close(file);
  void* library = whole ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(path);
  return library;
}

}  // namespace

STUB_ENTRY cuModuleLoadData(void** module, const void* image) {
  Guard guard(TheMutex());
  if (int result = Ready("cuModuleLoadData")) return result;
  if (int result = NotStrict("cuModuleLoadData")) return result;
  void* library = OpenLibrary(static_cast<const char*>(image));
  if (!library) return kNoBinary;
  Bind(library);
  auto barriers = static_cast<const int*>(dlsym(library, "emulated_barriers"));
  std::vector<Emulated*> kernels;
  for (auto name = static_cast<const char* const*>(dlsym(library, "emulated_names")); *name;
       ++name) {
    Emulated kernel{*name, std::vector<int>(512), nullptr, *barriers != 0};
    auto sizes = reinterpret_cast<int (*)(int*)>(dlsym(library, (kernel.name + "_sizes").c_str()));
    kernel.sizes.resize(static_cast<size_t>(sizes(kernel.sizes.data())));
    kernel.run = reinterpret_cast<void (*)(void**)>(dlsym(library, (kernel.name + "_run").c_str()));
    kernels.push_back(The().functions.Add(std::move(kernel)));
  }
  return *module = The().modules.Add(std::move(kernels)), kSuccess;
}
STUB_ENTRY cuModuleUnload(void*) { return Refuse(kInvalidValue, "modules stay loaded"); }
STUB_ENTRY cuModuleGetFunction(void** function, void* module, const char* name) {
  Guard guard(TheMutex());
  if (!The().modules.Has(module)) return Refuse(kInvalidHandle, "there is no such module");
  for (Emulated* kernel : *static_cast<std::vector<Emulated*>*>(module)) {
    if (kernel->name == name) return *function = kernel, kSuccess;
  }
  return Refuse(kNotFound, fmt::format("the module has no kernel '{}'", name));
}
STUB_ENTRY cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned threads,
                          unsigned threads_y, unsigned threads_z, unsigned shared, void* stream,
                          void** params, void** extra) {
  Guard guard(TheMutex());
  if (int result = Ready("cuLaunchKernel", stream)) return result;
  if (!The().functions.Has(function)) return Refuse(kInvalidHandle, "cuLaunchKernel: no kernel");
  bool fits = x && y && z == 1 && threads && threads <= 1024 && threads_y == 1 && threads_z == 1 &&
              y <= 65535 && x <= 0x7fffffffu && shared <= 48 << 10 && !extra;
  if (!fits)
    return Refuse(kInvalidValue,
                  fmt::format("cuLaunchKernel: {} x {} x {} blocks of {} x {} x {} threads", x, y,
                              z, threads, threads_y, threads_z));
  auto& kernel = *static_cast<Emulated*>(function);
  std::vector<std::vector<char>> values;  // they are copied at the launch
  for (size_t i = 0; i < kernel.sizes.size(); ++i) {
    const char* at = static_cast<const char*>(params[i]);
    values.emplace_back(at, at + kernel.sizes[i]);
  }
  Of(stream).Launch([=, values = std::move(values)]() mutable {
    std::vector<void*> places;
    for (auto& value : values) places.push_back(value.data());
    Count("kernels run");
    RunGrid(kernel, x, y, threads, places.data());
  });
  return kSuccess;
}

// How often things happened, `what: count`, one per line; how many bytes that takes.
extern "C" __attribute__((visibility("default"))) size_t cuda_stub_counts(char* text, size_t size) {
  Guard guard(TheMutex());
  std::string lines;
  for (const auto& [what, count] : The().counts) lines += fmt::format("{}: {}\n", what, count);
  if (size) std::snprintf(text, size, "%s", lines.c_str());
  return lines.size();
}

// What callers did wrong since the last call, one per line; how many bytes that takes.
extern "C" __attribute__((visibility("default"))) size_t cuda_stub_faults(char* text, size_t size) {
  std::string lines;
  for (const std::string& line : TakeFaults()) lines += line + "\n";
  if (size) std::snprintf(text, size, "%s", lines.c_str());
  return lines.size();
}
