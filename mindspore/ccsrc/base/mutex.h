// The mutex of the core. A fork waits until no other thread holds any of them, and holds them all
// meanwhile: so what they guard is whole in the child, and nobody there waits for a thread that is
// not there.
//
// Who holds one must not wait for the GIL, which the thread that forks may hold.
#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>

namespace ms {

class Mutex {
 public:
  Mutex();
  ~Mutex();
  Mutex(const Mutex&) = delete;

  void lock() {
    mutex_.lock();
    owner_.store(pthread_self(), std::memory_order_relaxed);
  }
  bool try_lock() {
    if (!mutex_.try_lock()) return false;
    owner_.store(pthread_self(), std::memory_order_relaxed);
    return true;
  }
  void unlock() {
    owner_.store(kNobody, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  friend struct AllMutexes;
  static constexpr pthread_t kNobody = 0;

  std::mutex mutex_;
  std::atomic<pthread_t> owner_{kNobody};  // the thread that forks may hold some itself
  Mutex* previous_ = nullptr;
  Mutex* next_ = nullptr;
};

// What is done once, at its first use.
class Once {
 public:
  template <class F>
  void Do(F&& f) {
    if (done_.load(std::memory_order_acquire)) return;
    std::lock_guard lock(mutex_);
    if (done_.load(std::memory_order_relaxed)) return;
    f();
    done_.store(true, std::memory_order_release);
  }

 private:
  Mutex mutex_;
  std::atomic<bool> done_{false};
};

}  // namespace ms
