// See prefetch.h. One worker at a time pulls a piece of the order from the cursor, and makes it
// ready while others pull: so the order is that of one thread, whatever the number of workers.
// Nobody holds the lock while user code runs.
#include "dataset/prefetch.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace ms::dataset {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

// How long a close waits for what users' functions do: Ctrl-C is to end a program within a second.
constexpr auto kFarewell = std::chrono::milliseconds(700);
// Where rows are made by who takes them, in seconds: what making a piece may take, how soon the
// next must be asked for, and when that is over again.
constexpr double kBrief = 2e-3, kSoon = 1e-4, kLate = 4e-4;
constexpr double kLongest = 1e-3;  // pause that counts: a single long one means nothing
constexpr int kPiecesSeen = 4;
// Handing a piece over may take 0.1 ms of both threads, where the system lets one of them sleep. So
// pieces of cheap rows grow while they are asked for as fast as they come, up to so many times, to
// what takes so long.
constexpr int kMostGrowth = 16;
constexpr double kWorthwhile = 5e-4;
std::atomic<int> worker_limit{2};

// Rows in order, and what failed after them. Those behind many bytes are made when they are taken.
struct Piece {
  std::vector<Row> rows;
  size_t given = 0;  // of the rows
  std::exception_ptr failure;
  bool last = false;
  size_t bytes = 0;
};

Piece Pull(Cursor& cursor, int grain) {
  Piece piece;
  try {
    for (int i = 0; i < grain; ++i) {
      Row row;
      if (!cursor.Next(&row)) {
        piece.last = true;
        break;
      }
      piece.rows.push_back(std::move(row));
    }
  } catch (...) {
    piece.failure = std::current_exception();
    piece.last = true;
  }
  return piece;
}

// Where that fails, the piece ends before the row.
void Make(Piece* piece, size_t row) {
  try {
    Resolve(piece->rows[row]);
  } catch (...) {
    piece->failure = std::current_exception();
    piece->last = true;
    piece->rows.resize(row);
  }
}

// Says how many rows were made until they took more than `most` bytes.
size_t MakeReady(Piece* piece, bool together, size_t most) {
  if (together) {
    std::vector<Row> rows = piece->rows;
    try {
      Resolve(piece->rows);
    } catch (...) {
      piece->rows = std::move(rows);
    }
  }
  size_t made = 0;
  for (; made < piece->rows.size() && piece->bytes <= most; ++made) {
    Make(piece, made);
    if (made < piece->rows.size()) piece->bytes += piece->rows[made].bytes();
  }
  for (size_t i = made; i < piece->rows.size(); ++i) piece->bytes += piece->rows[i].bytes();
  return std::min(made, piece->rows.size());
}

}  // namespace

size_t QueueBytes(size_t memory) {
  // A pipeline may have several queues, and the training needs memory, too.
  constexpr size_t kPart = 32, kLeast = 4u << 20, kMost = 1u << 30;
  return std::clamp(memory / kPart, kLeast, kMost);
}

struct Prefetcher::State {
  CursorRef cursor;
  PrefetchOptions options;

  Mutex mutex;  // of all below
  std::condition_variable_any for_workers, for_taker, for_farewell;
  bool pulling = false, ended = false;
  std::map<int64_t, Piece> pieces;
  int64_t pulled = 0, taken = 0;
  size_t waiting_bytes = 0, seen_bytes = 0;
  int64_t waiting_rows = 0;
  int64_t seen_pieces = 0;
  int running = 0;
  bool stopped = false;
  bool started = false;
  PrefetchFacts facts;

  Piece current;  // of the taker
  bool Has() const { return current.given < current.rows.size(); }
  bool AtHand() const { return Has() && current.rows[current.given].pending.empty(); }
  int grain = 1;  // rows of the next piece
  // Whether the taker makes rows itself, and by what that is decided.
  bool here = false;
  bool asking = false;  // of the taker
  Clock::time_point took;
  double usual_pause = 0, usual_work = 0;  // seconds from piece to piece, and for making one
  int pieces_seen = 0;

  // When the taker asks for a piece.
  void NotePause() {
    bool matters = options.shared || options.grain > 1;
    if (!matters || std::exchange(asking, true)) return;
    std::lock_guard lock(mutex);
    if (pieces_seen++ == 0) return;
    usual_pause = Usual(usual_pause, std::min(SecondsSince(took), kLongest));
    bool may =
        options.shared && options.workers == 1 && usual_work < kBrief && pieces_seen > kPiecesSeen;
    bool was_here = std::exchange(here, may && usual_pause < (here ? kLate : kSoon));
    if (was_here && !here) for_workers.notify_one();
  }
  void NoteTaken() {
    asking = false;
    took = Clock::now();
  }
  void NoteWork(double seconds) {
    facts.worked += seconds;
    usual_work = Usual(usual_work, seconds);
    if (options.shared || !ByMany()) return;
    double longer = std::max(usual_work, usual_pause);
    if (longer > 1.5 * kWorthwhile && grain > options.grain)
      grain = std::max(grain / 2, options.grain);
    if (longer < 0.5 * kWorthwhile) grain = std::min(grain * 2, options.grain * kMostGrowth);
  }
  // Of a piece.
  size_t MostBytes() const { return options.bytes / static_cast<size_t>(options.workers + 1); }
  static double Usual(double before, double now) { return 0.75 * before + 0.25 * now; }
  bool TooMany() const { return running > std::max(options.workers, 1); }
  // Pieces have several rows, and at least one of them may be ahead.
  bool ByMany() const { return options.grain > 1 && options.items >= options.grain; }
  int64_t PiecesAhead() const {
    int64_t pieces = (std::max<int64_t>(options.items, options.workers) + grain - 1) / grain;
    // Where all that may be ahead were one piece, whoever makes it and whoever takes it would wait
    // for each other in turns: there is one for each of them.
    return ByMany() ? std::max<int64_t>(pieces, options.workers + 1) : pieces;
  }
  bool MayPull() const {
    if (pulling) return false;
    int64_t ahead = pulled - taken;
    if (ahead == 0) return true;
    if (ahead >= PiecesAhead()) return false;
    // What is being made counts as much as what was made, on average.
    size_t usual = seen_pieces == 0 ? 0 : seen_bytes / static_cast<size_t>(seen_pieces);
    auto being_made = static_cast<size_t>(ahead) - pieces.size();
    return waiting_bytes + (being_made + 1) * usual <= options.bytes;
  }
};

Prefetcher::Prefetcher(CursorRef cursor, PrefetchOptions options)
    : state_(std::make_shared<State>()) {
  state_->cursor = std::move(cursor);
  state_->options = options;
  state_->grain = options.grain;
}

// A worker that said farewell still holds the state for a moment: what rows were made of goes here,
// so that it is gone for who drops us.
Prefetcher::~Prefetcher() {
  Stop();
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  if (state.running > 0) return;  // the last of them takes it along
  CursorRef cursor = std::move(state.cursor);
  auto pieces = std::move(state.pieces);
  Piece current = std::move(state.current);
  lock.unlock();
}

void Prefetcher::Stop() {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  if (std::exchange(state.stopped, true)) return;
  state.for_workers.notify_all();
  state.for_taker.notify_all();
  state.for_farewell.wait_for(lock, kFarewell, [&] { return state.running == 0; });
}

// A piece, by whoever calls, who has the lock.
void Prefetcher::MakePiece(State& state, std::unique_lock<Mutex>& lock) {
  auto began = Clock::now();
  state.pulling = true;
  int grain = state.grain;
  size_t most = state.MostBytes();
  lock.unlock();
  Piece piece = Pull(*state.cursor, grain);
  lock.lock();
  int64_t number = state.pulled++;
  state.ended = piece.last;
  state.pulling = false;
  if (!state.here || state.ended) state.for_workers.notify_all();
  lock.unlock();
  size_t made = MakeReady(&piece, state.options.together, most);
  lock.lock();
  state.NoteWork(SecondsSince(began));
  if (made < piece.rows.size()) {
    state.grain = static_cast<int>(std::max<size_t>(made, 1));
  } else if (state.grain < state.options.grain) {
    state.grain = std::min(2 * state.grain, state.options.grain);
  }
  state.waiting_bytes += piece.bytes;
  state.waiting_rows += static_cast<int64_t>(piece.rows.size());
  state.seen_bytes += piece.bytes;
  ++state.seen_pieces;
  state.pieces.emplace(number, std::move(piece));
}

void Prefetcher::Work(const std::shared_ptr<State>& shared) {
  State& state = *shared;
  std::unique_lock lock(state.mutex);
  while (true) {
    state.for_workers.wait(lock, [&] {
      return state.stopped || state.ended || state.TooMany() || (state.MayPull() && !state.here);
    });
    if (state.stopped || state.ended || state.TooMany()) break;
    MakePiece(state, lock);
    state.for_taker.notify_one();
  }
  if (--state.running == 0) state.for_farewell.notify_all();
}

void Prefetcher::StartWorkers() {
  std::lock_guard lock(state_->mutex);
  AddWorkers();
  state_->started = true;
}

// As many as the system lets us have; where it has none, whoever takes rows makes them. With the
// lock.
void Prefetcher::AddWorkers() {
  State& state = *state_;
  while (state.running < state.options.workers) {
    try {
      std::thread([shared = state_] { Work(shared); }).detach();
    } catch (const std::system_error&) {
      if (state.running == 0) state.options.workers = 0;
      break;
    }
    ++state.running;
  }
}

PrefetchFacts Prefetcher::Facts() const {
  std::lock_guard lock(state_->mutex);
  PrefetchFacts facts = state_->facts;
  facts.workers = state_->options.workers;
  facts.items = state_->options.items;
  return facts;
}

void Prefetcher::Tune(int workers, int64_t items) {
  State& state = *state_;
  std::lock_guard lock(state.mutex);
  state.options.items = std::max<int64_t>(items, 1);
  if (state.options.workers > 0) state.options.workers = std::max(workers, 1);
  if (state.started && !state.stopped && !state.ended) AddWorkers();
  state.for_workers.notify_all();
}

Prefetcher::Got Prefetcher::Next(Row* row, std::chrono::milliseconds patience) {
  State& state = *state_;
  if (!state.started) StartWorkers();
  if (!state.Has()) state.NotePause();
  while (!state.AtHand()) {
    if (state.Has()) {
      Make(&state.current, state.current.given);
      continue;
    }
    if (state.current.failure) {
      std::rethrow_exception(std::exchange(state.current.failure, nullptr));
    }
    if (state.current.last) return Got::kEnd;
    if (state.options.workers == 0) {
      bool together = state.options.together;
      state.current = Pull(*state.cursor, together ? state.options.grain : 1);
      MakeReady(&state.current, together, state.options.bytes);
      continue;
    }
    std::unique_lock lock(state.mutex);
    auto next = [&] { return state.pieces.begin(); };
    auto there = [&] { return !state.pieces.empty() && next()->first == state.taken; };
    auto over = [&] { return state.stopped || there(); };
    auto began = Clock::now();
    bool made = state.here && !state.pulling && state.pulled == state.taken && !state.stopped;
    if (made) MakePiece(state, lock);
    bool come = state.for_taker.wait_for(lock, patience, over);
    state.facts.waited += SecondsSince(began);
    if (!come) return Got::kNothingYet;
    if (state.stopped) {
      Throw(ErrorKind::kRuntime,
            "For 'Iterator', the iterator was stopped and cannot be used again.");
    }
    state.current = std::move(next()->second);
    auto rows = static_cast<int64_t>(state.current.rows.size());
    state.facts.given += rows;
    state.facts.depth += rows * (state.waiting_rows - (made ? rows : 0));
    state.pieces.erase(next());
    ++state.taken;
    state.waiting_bytes -= state.current.bytes;
    state.waiting_rows -= rows;
    state.NoteTaken();
    if (!state.here) state.for_workers.notify_one();
  }
  *row = std::move(state.current.rows[state.current.given++]);
  return Got::kRow;
}

bool Prefetcher::AtHand() const { return state_->AtHand(); }

bool Prefetcher::Next(Row* row) {
  while (true) {
    Got got = Next(row, std::chrono::hours(1));
    if (got != Got::kNothingYet) return got == Got::kRow;
  }
}

void SetWorkerLimit(int workers) { worker_limit = workers; }
int WorkerLimit() { return worker_limit; }

PrefetchOptions InnerOptions(const Node& node) {
  PrefetchOptions options;
  options.workers = node.Parallel() ? WorkerLimit() : 0;
  options.items = 64;
  options.grain = node.Coarse() ? 1 : 8;
  return options;
}

namespace {

class ReadyCursor : public Cursor {
 public:
  ReadyCursor(CursorRef cursor, PrefetchOptions options) : rows_(std::move(cursor), options) {}
  bool Next(Row* row) override { return rows_.Next(row); }

 private:
  Prefetcher rows_;
};

}  // namespace

CursorRef OpenReady(const Node& node, const RunRef& run, int64_t epoch) {
  return std::make_unique<ReadyCursor>(node.Open(run, epoch), InnerOptions(node));
}

}  // namespace ms::dataset
