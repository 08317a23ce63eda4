#include "base/mutex.h"

#include <chrono>
#include <thread>
#include <utility>

namespace ms {

struct AllMutexes {
  std::mutex mutex;  // of the list
  Mutex* first = nullptr;
  Mutex* held_until = nullptr;  // by a fork, from the first one; null: all

  // The first mutex makes it, so that no other handler of forks was set before: this one is the
  // last to run before a fork and the first after it, and the others may use mutexes.
  AllMutexes() { pthread_atfork(&BeforeFork, &AfterFork, &AfterFork); }

  static AllMutexes& Get() {
    static auto* all = new AllMutexes;  // mutexes may outlive static objects
    return *all;
  }

  void Add(Mutex* added) {
    std::lock_guard lock(mutex);
    added->next_ = std::exchange(first, added);
    if (added->next_) added->next_->previous_ = added;
  }

  void Remove(Mutex* removed) {
    std::lock_guard lock(mutex);
    (removed->previous_ ? removed->previous_->next_ : first) = removed->next_;
    if (removed->next_) removed->next_->previous_ = removed->previous_;
  }

  static bool IsMine(const Mutex& m) {
    return pthread_equal(m.owner_.load(std::memory_order_relaxed), pthread_self());
  }

  // The first that another thread holds; those before it are locked then. Null: all are.
  Mutex* TryLock() {
    for (Mutex* m = first; m; m = m->next_) {
      if (!IsMine(*m) && !m->mutex_.try_lock()) return m;
    }
    return nullptr;
  }

  void Unlock(const Mutex* until) {
    for (Mutex* m = first; m != until; m = m->next_) {
      if (!IsMine(*m)) m->mutex_.unlock();
    }
  }

  // Who holds one may wait for another: so none is held while this waits. A holder that never lets
  // go is no reason never to fork.
  static void BeforeFork() {
    constexpr auto kPatience = std::chrono::seconds(20);
    constexpr auto kPause = std::chrono::microseconds(20);
    AllMutexes& all = Get();
    auto end = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
      all.mutex.lock();
      all.held_until = all.TryLock();
      if (!all.held_until || std::chrono::steady_clock::now() > end) return;
      all.Unlock(all.held_until);
      all.mutex.unlock();
      std::this_thread::sleep_for(kPause);
    }
  }

  static void AfterFork() {
    AllMutexes& all = Get();
    all.Unlock(all.held_until);
    all.mutex.unlock();
  }
};

Mutex::Mutex() { AllMutexes::Get().Add(this); }
Mutex::~Mutex() { AllMutexes::Get().Remove(this); }

}  // namespace ms
