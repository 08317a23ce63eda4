// The memory of a device. What the host holds of it are addresses that it does not follow: it
// writes, copies and reads through this class. All but Allocate and Fetch happen in the order of
// the work that the device was given, and need not have happened on return. Fetch is the only way
// to a value, and the only place where the host waits for a device.
// What a kernel found wrong lets kernels after it be left out, until the host has heard of it; but
// what this class does is done in any case, so that no value of the user's is lost.
#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>

namespace ms {

// Bytes handed out and not yet given back, and their maximum since the last reset.
struct MemoryStats {
  size_t live = 0;
  size_t peak = 0;
};

// While one lives the host waits for a device, which may need what this thread holds: the program
// around us lets go of it.
class HostWait {
 public:
  explicit HostWait(bool waits);
  ~HostWait();
  HostWait(const HostWait&) = delete;

  // `release` gives what `regain` takes; set once, before use.
  static void SetHooks(void* (*release)(), void (*regain)(void*));

 private:
  void* released_ = nullptr;
};

class Memory {
 public:
  virtual ~Memory() = default;
  // The device's name, as `device_target` has it.
  virtual std::string_view device() const = 0;

  // Uninitialised, 64-byte aligned, not null even for no bytes. Throws MemoryError.
  virtual void* Allocate(size_t bytes) = 0;
  // The same with the host's bytes in it, which may change as soon as this returns. No work knows
  // the block yet, so that they may come while work that was given before is done.
  virtual void* AllocateFilled(const void* host, size_t bytes);
  // Work that was given before may still use it.
  virtual void Free(void* data, size_t bytes) noexcept = 0;

  // From the host, which may change its bytes as soon as this returns.
  virtual void Store(void* to, const void* host, size_t bytes) = 0;
  // To the host, once all work that was given before is done. Throws what that work found wrong.
  void Fetch(void* host, const void* from, size_t bytes) {
    HostWait wait(!on_host_);
    FetchNow(host, from, bytes);
  }
  virtual void Copy(void* to, const void* from, size_t bytes) = 0;
  virtual void Zero(void* to, size_t bytes) = 0;

  // The memory that takes what does not fit into this one. One of both is the host's.
  virtual Memory& spill();

  // Whether the host may follow its addresses.
  bool on_host() const { return on_host_; }

  template <class T>
  T Read(const void* from) {
    if (on_host_) return *static_cast<const T*>(from);
    T value;
    Fetch(&value, from, sizeof(T));
    return value;
  }

  MemoryStats stats() const {
    return {live_.load(std::memory_order_relaxed), peak_.load(std::memory_order_relaxed)};
  }
  // Makes a peak at least `live`, whoever else does so meanwhile.
  static void Raise(std::atomic<size_t>& to, size_t live) {
    size_t peak = to.load(std::memory_order_relaxed);
    while (live > peak && !to.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
    }
  }
  void ResetPeak() { peak_.store(live_.load(std::memory_order_relaxed)); }

 protected:
  explicit constexpr Memory(bool on_host = false) : on_host_(on_host) {}

 private:
  friend class Buffer;
  void Count(size_t bytes) {
    Raise(peak_, live_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  }
  void Discount(size_t bytes) { live_.fetch_sub(bytes, std::memory_order_relaxed); }

  virtual void FetchNow(void* host, const void* from, size_t bytes) = 0;

  const bool on_host_;
  std::atomic<size_t> live_{0};
  std::atomic<size_t> peak_{0};
};

// The host's device: the default, and the one that constants are folded on.
inline constexpr std::string_view kHostDevice = "CPU";

Memory& HostMemory();
// A file in the folder that MS_SPILL_PATH or TMPDIR names.
Memory& SpillFile();

// Between two memories of which one is the host's.
void CopyAcross(Memory& to_memory, void* to, Memory& from_memory, const void* from, size_t bytes);

}  // namespace ms
