// NVIDIA's driver, compiler and libraries, as far as the device GPU calls them, on
// the host: for tests. What is given to a stream runs when somebody waits for it, as late as it
// may; addresses of the device's memory are such that the host cannot follow them; and whatever a
// caller does that the real ones forbid is refused and noted: wrong order, wrong handle, wrong
// size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace stub {

enum Result {  // of cuda.h
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoBinary = 209,
  kInvalidContext = 201,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kLaunchFailed = 719,
  kIllegalState = 401,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureWrongThread = 908,
};

// One lock for all of it: no test measures it.
std::recursive_mutex& TheMutex();

// Notes what a caller did wrong, and returns `result`.
int Refuse(int result, const std::string& what);
std::vector<std::string> TakeFaults();

// For tests: how often something happened.
void Count(const std::string& what);

// One that waits for other processes says whether it may run.
struct Work {
  std::function<void()> run;
  std::function<bool()> ready;
  template <class F>
  Work(F f) : run(std::move(f)) {}  // NOLINT: most of it is a function
  Work(std::function<void()> f, std::function<bool()> g)
      : run(std::move(f)), ready(std::move(g)) {}
  void operator()() const { run(); }
};
// Work that is kept, and what it follows.
struct Kept {
  Work work;
  std::vector<Kept*> after;
  size_t place = 0;  // among all of its capture
};
using Graph = std::vector<std::unique_ptr<Kept>>;
struct Stream {
  std::deque<Work> work;
  uint64_t given = 0, done = 0;
  // While it is captured, what it is given is kept and not done.
  bool captures = false, broken = false;
  std::thread::id thread;  // that began to capture
  Graph kept;
  std::vector<Kept*> last;  // what the next work follows
  void Give(Work one);
  // A launch of a kernel, or of a library's: counted, unless it is captured.
  void Launch(Work one);
  void RunTo(uint64_t count);
  // As much as needs no waiting.
  void RunReady();
};
struct Event {
  bool timed = true;
  Stream* stream = nullptr;  // null: never recorded
  uint64_t count = 0;
  std::shared_ptr<double> milliseconds = nullptr;  // when it was reached, of a timed one
  bool reached() const { return !stream || stream->done >= count; }
};

// What a variable MS_CUDA_STUB_<name> says: of DRIVER, NVRTC, CUDNN and CUDNN_CUDA their versions, of
// CHIP its number, as NVIDIA's libraries have them; LINGER: milliseconds that each wait takes.
int Said(const char* name, int otherwise);
inline int Chip() { return Said("CHIP", 90); }

// ---- memory
uint64_t Allocate(size_t bytes);  // 0: there is no room
void Free(uint64_t address);
bool Holds(uint64_t address, size_t bytes);  // all of it lies in one living block
void* Open(uint64_t address);                // where its bytes are
size_t MemoryBytes();
size_t MemoryUsed();

// ---- kernels
struct Emulated {
  std::string name;
  std::vector<int> sizes;  // of the parameters
  void (*run)(void** params) = nullptr;
  bool barriers = false;
};
// Runs all blocks; what goes wrong is noted.
void RunGrid(const Emulated& kernel, unsigned x, unsigned y, unsigned threads, void** params);
void Bind(void* library);  // gives a library of kernels what it needs

// ---- handles
template <class T>
class Handles {
 public:
  T* Add(T value = {}) {
    T* made = new T(std::move(value));
    known_.insert(made);
    return made;
  }
  const std::set<const T*>& all() const { return known_; }
  bool Has(const void* handle) const { return known_.contains(static_cast<const T*>(handle)); }
  void Remove(void* handle) {
    known_.erase(static_cast<T*>(handle));
    delete static_cast<T*>(handle);
  }

 private:
  std::set<const T*> known_;
};
Handles<Stream>& Streams();
inline Stream& Of(void* stream) { return *static_cast<Stream*>(stream); }

// ---- what entries ask first
using Guard = std::lock_guard<std::recursive_mutex>;
int Ready(const char* entry);
int Ready(const char* entry, const void* stream);
// What may not be asked of a stream that is captured: the capture is of no use afterwards.
int NotCaptured(const char* entry, void* stream);
// What may not be called meanwhile, unless the capture is relaxed.
int NotStrict(const char* entry);

}  // namespace stub

#define STUB_ENTRY extern "C" __attribute__((visibility("default"))) int
