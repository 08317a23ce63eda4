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
  void Synchronize() override;

  bool Reached(uint64_t count);
  void WaitFor(uint64_t count);
  // Around the end of the process: all is done, and what is given from here on runs at once.
  void Stop();
  // In the child of a fork there is no thread.
  void Lose() { lost_ = true; }

 private:
  struct Work {
    std::function<void()> run;
    bool cannot_fail;
  };
  void Loop();
  void Do(Work& work);
  void CheckUsable() const;

  std::mutex mutex_;
  std::condition_variable given_more_, done_more_;
  std::deque<Work> queue_;
  uint64_t given_ = 0, allowed_ = 0, done_ = 0;
  std::mt19937_64 chance_;
  std::exception_ptr error_;
  std::vector<SpanId> zero_divisors_;  // of the thread until it has done its work
  bool stop_ = false, stopped_ = false, lost_ = false;
  std::thread thread_;
};

}  // namespace ms::fenced
