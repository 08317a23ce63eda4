// Rows of a cursor, made ready by workers ahead of who takes them, in the cursor's order.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "base/mutex.h"
#include "dataset/node.h"
#include "tensor/memory_limit.h"

namespace ms::dataset {

// What the rows of one queue may take, in bytes: a part of the memory of the machine, or of the
// control group where that has less.
size_t QueueBytes(size_t memory = MemoryLimit());

struct PrefetchOptions {
  int workers = 1;              // 0: nothing is made ahead
  int64_t items = 16;           // at most so many rows or batches ahead ...
  size_t bytes = QueueBytes();  // ... and about so many bytes
  int grain = 1;                // rows that a worker takes at once; cheap ones may become more
  // The rows of a grain are made together, and where that fails once more, up to the one that does.
  bool together = false;
  // Only one thread at a time can make rows, and the one that takes them may be it: it makes them
  // while that takes little and it comes back at once, as handing them over would cost more.
  bool shared = false;
};

// How the rows of a prefetcher came so far.
struct PrefetchFacts {
  int64_t given = 0;  // rows that were taken
  int64_t depth = 0;  // for each of them, rows that were ready when it was taken
  double waited = 0;  // seconds, by who takes rows
  double worked = 0;  // seconds, by all workers
  int workers = 0;    // there are now
  int64_t items = 0;  // may be ahead
};

// Used by one thread at a time, but for Stop.
class Prefetcher {
 public:
  Prefetcher(CursorRef cursor, PrefetchOptions options);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;

  enum class Got { kRow, kEnd, kNothingYet };
  // Rethrows what failed, at its place in the order; after that, and after the end, nothing comes.
  Got Next(Row* row, std::chrono::milliseconds patience);
  // The same, however long it takes.
  bool Next(Row* row);
  // Whether Next gives a row at once; for who calls it.
  bool AtHand() const;
  // Waits a moment for workers that are busy, then leaves them to end by themselves. Another thread
  // may do this while one is in Next, which throws then.
  void Stop();
  PrefetchFacts Facts() const;
  // Other numbers of workers, where there are any, and of rows ahead; from the next piece on.
  void Tune(int workers, int64_t items);

 private:
  struct State;
  void StartWorkers();
  void AddWorkers();
  static void MakePiece(State& state, std::unique_lock<Mutex>& lock);
  static void Work(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

// Workers for what hangs under an operator that must see its rows, such as a filter. None where
// they could only wait for each other.
PrefetchOptions InnerOptions(const Node& node);
// How many threads a pipeline may have; set from the configuration of the language above.
void SetWorkerLimit(int workers);
int WorkerLimit();

// The rows of a node, done.
CursorRef OpenReady(const Node& node, const RunRef& run, int64_t epoch);

}  // namespace ms::dataset
