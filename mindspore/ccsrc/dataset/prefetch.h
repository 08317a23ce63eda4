// Rows of a cursor, made ready by workers ahead of who takes them, in the cursor's order.
#pragma once

#include <chrono>
#include <memory>

#include "dataset/node.h"

namespace ms::dataset {

struct PrefetchOptions {
  int workers = 1;            // 0: nothing is made ahead
  int64_t items = 16;         // at most so many rows or batches ahead ...
  size_t bytes = 256u << 20;  // ... and about so many bytes
  int grain = 1;              // rows that a worker takes at once
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
  // Waits a moment for workers that are busy, then leaves them to end by themselves. Another thread
  // may do this while one is in Next, which throws then.
  void Stop();

 private:
  struct State;
  void StartWorkers();
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
