// A stream that runs late, on a thread of its own: work waits until somebody waits for it, or now
// and then, by chance, until it was given. The seed is MS_FENCED_SEED, or is printed.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <random>
#include <thread>
#include <unordered_map>

#include "kernel/kernel.h"

namespace ms::fenced {

class LateStream : public Stream {
 public:
  LateStream(Memory& memory, uint64_t seed);
  ~LateStream() override;

  // Work that cannot fail runs even after an error; else what follows one is left out until the
  // host has heard of it.
  void Give(std::function<void()> work, bool cannot_fail = false);

  std::unique_ptr<Event> Record() override;
  void Follow(const Event& event) override;

  bool Reached(uint64_t count);
  void WaitFor(uint64_t count);
  void WaitForAll();  // that was given by now
  // Around the end of the process: all is done, and what is given from here on runs at once.
  void Stop();
  // In the child of a fork there is no thread.
  void Lose() { lost_ = true; }
  void CheckUsable() const;

 private:
  struct Work {
    std::function<void()> run;
    bool cannot_fail;
  };
  void SynchronizeNow() override;
  void Loop();
  void Do(Work& work);
  std::exception_ptr Unheard();  // by this thread

  std::mutex mutex_;
  std::condition_variable given_more_, done_more_;
  std::deque<Work> queue_;
  uint64_t given_ = 0, allowed_ = 0, done_ = 0;
  std::mt19937_64 chance_;
  // The latest error and its number. Kernels are left out until some thread has heard of it; each
  // thread hears of it once.
  std::exception_ptr error_;
  uint64_t errors_ = 0, heard_by_some_ = 0;
  std::unordered_map<uint64_t, uint64_t> heard_;  // by the number of the thread
  std::vector<SpanId> zero_divisors_;             // nobody was told of
  bool stop_ = false, stopped_ = false, lost_ = false;
  std::thread thread_;
};

}  // namespace ms::fenced
