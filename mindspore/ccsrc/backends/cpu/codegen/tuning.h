// What may be chosen about the loops of a nest without changing a bit of its results, and how
// choices are found: by timing them in turn on launches that programs make anyway.
//
// A tuner belongs to one text and its sizes. It changes one thing at a time, lets launches take the
// best way so far and the changed one alternately, and keeps the change where it is quicker.
// Background threads make the code of changes; a launch never waits for it, and does no more work
// than without a tuner. A change that turns out slow is dropped after two launches.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "loops/machine_code.h"
#include "loops/tunings.h"

namespace ms::cpu {

struct LlvmTarget;
struct ScheduledNest;

struct Tuning {
  int64_t block = 8192;  // elementwise: elements of a task
  int64_t tile = 1024;   // columns: of a task
  int64_t rows = 1;      // columns: rows added up before totals go back to memory
  int64_t unroll = 1;    // vectors of one iteration
  int64_t buffers = 1;   // rows: costly values are read back, not computed again
  int64_t narrow = 0;    // vectors of half the width
  int64_t streams = 0;   // outputs go past the caches
  bool operator==(const Tuning&) const = default;
};

// "tile=256 rows=4": what differs from the default.
std::string Print(const Tuning& tuning);
// False for text that is no tuning.
bool ParseTuning(const std::string& text, Tuning* tuning);

// One thing that may be tried for the nest. Empty where nothing may.
struct TuningChange {
  int64_t Tuning::* field;
  int64_t value;
};
std::vector<TuningChange> ChangesFor(const ScheduledNest& nest, const LlvmTarget& target);
// Whether a tuning consists of such changes.
bool IsAllowed(const Tuning& tuning, const std::vector<TuningChange>& changes);

// A way to run a body; the kernel says what its code needs.
struct TunedWay {
  virtual ~TunedWay() = default;
  Tuning tuning;
  std::shared_ptr<loops::MachineCode> code;
};

class Tuner {
 public:
  // Makes the way of a tuning; null where there is none.
  using Maker = std::function<std::shared_ptr<TunedWay>(const Tuning&)>;

  Tuner(std::string key, std::vector<TuningChange> changes, std::shared_ptr<TunedWay> first,
        Maker make);

  // The way of the next launch. `measure`: Took is to be told what it took.
  const TunedWay& Next(bool* measure);
  void Took(const TunedWay& way, double ns);

  // By the thread that makes code: the code of the next change, null where there is none now.
  std::shared_ptr<loops::MachineCode> NextTrial();
  double run_ns() const { return run_ns_.load(std::memory_order_relaxed); }  // of all launches

 private:
  struct Side {
    double best_ns = 1e300;
    int launches = 0;
  };
  bool TrialReady() const;
  int Enough() const;  // launches of each side
  void EndTrial(bool better);
  void Report(bool complete);

  const std::string key_;
  const std::vector<TuningChange> changes_;
  const Maker make_;
  const TunedWay* const first_;
  std::atomic<const TunedWay*> best_;
  std::atomic<bool> settled_{false};
  std::atomic<double> run_ns_{0};

  Mutex mutex_;                                  // of what follows; launches only try it
  std::vector<std::shared_ptr<TunedWay>> ways_;  // kept: some launch may still run one
  const TunedWay* trial_ = nullptr;
  bool last_ = false;  // the trial is the first way again, to confirm what was found
  Side old_, fresh_;   // launches of the best way and of the trial, while they take turns
  size_t next_ = 0;
  unsigned turn_ = 0;
};

// ---- of the process

// Names a text with its sizes on some number of threads.
std::string TuningKey(const std::string& text, const std::vector<int64_t>& sizes);
// The tuner of a key, made by `make` when there is none.
std::shared_ptr<Tuner> TunerOf(const std::string& key,
                               const std::function<std::shared_ptr<Tuner>()>& make);
// Code to be made for the tuner that has seen most time; null where nothing is to be tried now.
std::shared_ptr<loops::MachineCode> NextTuningTrial();

}  // namespace ms::cpu
