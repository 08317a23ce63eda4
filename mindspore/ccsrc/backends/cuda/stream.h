// The stream of a GPU, and what kernels on it find wrong. A kernel that does leaves the number of
// its launch in a word of the device's memory; kernels that see it there do nothing, until a wait
// of the host finds it and throws it as an error of that launch.
// What kernels are to do can be recorded, as a graph of the driver: they run with a second stream,
// which only captures, so that what other threads give the first one stays out of it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "backends/cuda/driver.h"
#include "backends/cuda/results.h"
#include "base/mutex.h"
#include "kernel/kernel.h"
#include "kernel/recorder.h"
#include "kernel/timer.h"

namespace ms::cuda {

struct Grid {
  unsigned x = 1, y = 1;
  unsigned threads = 256;  // of a block
};

class Forks;

// Tickets that a recording has.
struct TicketRange {
  unsigned begin = 0, end = 0;
};

class CudaStream : public Stream, public Recorder, public Timer {
 public:
  CudaStream(Memory& memory, Results& results);
  // One that captures what `main` is to do.
  CudaStream(Memory& memory, CudaStream& main);
  ~CudaStream() override;
  StreamHandle handle() const { return handle_; }

  std::unique_ptr<Event> Record() override;
  std::unique_ptr<TimedEvent> RecordTimed() override;
  void Follow(const Event& event) override;

  // `args` points to the arguments behind the first one, which is the address of the word.
  void Launch(Function function, const Grid& grid, std::vector<void*> args);
  // A number by which a kernel says that it found something wrong: the error, of this kind, says
  // `what`, with the number that came, and its position, in the places of {}.
  unsigned NextTicket(const LaunchPlace* place, ErrorKind kind, std::string what);
  // Of a recording that is replayed now.
  void Replayed(const TicketRange& tickets);
  // Of a recording that is not replayed any more: gone after the next wait.
  void GiveBack(const TicketRange& tickets);
  size_t kept_tickets();

  // Waits, and says nothing of what was found wrong.
  void WaitForAll();

  uint64_t generation() const override;
  std::unique_ptr<Recording> Record(
      const RecordedOrder& after,
      const std::function<void(size_t step, Stream&, RandomState&)>& run) override;
  // Whether this one captures.
  bool captures() const { return main_ != nullptr; }
  // Where seed and offset of random numbers will be, which kernels add to their own; null: these
  // are all. device/random.cuh reads them.
  const void* random_words() const { return random_words_; }

 private:
  static constexpr size_t kTickets = 1 << 16;
  static constexpr unsigned kKept = 0x80000000;  // of tickets that recordings have
  struct Ticket {
    LaunchPlace place;
    ErrorKind kind = ErrorKind::kInternal;
    std::string what;
    unsigned number = 0;
    uint64_t run = 0;  // what is found wrong, no earlier one has done
  };
  struct Found {  // as kernels write it; see device/base.cuh
    unsigned ticket = 0, unused = 0;
    long long number = 0, position = 0;
  };

  void SynchronizeNow() override;
  // Recordings that were replayed since the last wait, by their first ticket.
  struct ReplayedFirst {
    unsigned end = 0;  // of its tickets
    uint64_t run = 0;  // as that of a ticket
  };
  using Replays = std::map<unsigned, ReplayedFirst>;
  void Hear(const Found& found, const Replays& replays);
  Ticket TicketOf(unsigned number, const Replays& replays);
  unsigned TakeTicket(Ticket ticket, bool kept);
  // Between the beginning and the end of a capture, here.
  using Steps = std::function<void(CudaStream& side)>;
  bool Capture(const Steps& run, WorkExec* made, std::string* why);

  CudaStream* const main_ = nullptr;
  Results& results_;
  std::unique_ptr<CudaStream> side_;  // that captures
  std::atomic<bool> records_{false};  // some thread does
  Forks* forks_ = nullptr;            // of what this one captures, where it has any
  const void* random_words_ = nullptr;
  StreamHandle handle_ = nullptr;
  Address fault_ = 0;
  Found* seen_ = nullptr;  // pinned
  Mutex of_tickets_;       // apart from the other one, under which a thread waits for the device
  std::vector<Ticket> tickets_;
  std::map<unsigned, Ticket> kept_tickets_;
  std::vector<TicketRange> given_back_;
  Replays replays_;
  unsigned next_ticket_ = 1, next_kept_ = kKept;
  Mutex mutex_;
  // The latest error and its number. Each thread hears of it once.
  std::exception_ptr error_;
  uint64_t errors_ = 0, heard_by_some_ = 0;
  uint64_t losses_ = 0;  // of other ranks, among these errors
};

// The host waits for an event, of whichever stream.
void AwaitEvent(EventHandle event);

// The stream that captures what this thread's kernels do; null: none.
CudaStream* CapturingHere();
class CapturesHere {
 public:
  explicit CapturesHere(CudaStream* stream);
  ~CapturesHere();
  CapturesHere(const CapturesHere&) = delete;
};
// Throws where this thread captures: what waits, or takes memory, cannot be kept.
void RefuseCapture(const char* what);

}  // namespace ms::cuda
