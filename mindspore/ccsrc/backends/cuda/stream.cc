#include "backends/cuda/stream.h"

#include <algorithm>
#include <atomic>

#include "backends/cuda/communicator.h"
#include "backends/cuda/device.h"
#include "backends/cuda/forks.h"
#include "backends/cuda/libraries.h"

namespace ms::cuda {
namespace {

// Up to which error of a stream the calling thread has heard: of the one that it waited for last.
struct Heard {
  const CudaStream* stream = nullptr;
  uint64_t errors = 0;
};
thread_local Heard heard;

class CudaEvent : public TimedEvent {
 public:
  // `flags` are kNoTiming where nobody will ask for its time.
  CudaEvent(StreamHandle stream, unsigned flags) {
    Check(TheDriver().EventCreate(&handle_, flags), "cuEventCreate");
    if (int result = TheDriver().EventRecord(handle_, stream); result != kSuccess) {
      TheDriver().EventDestroy(handle_);
      Check(result, "cuEventRecord");
    }
  }
  ~CudaEvent() override {
    if (!IsLost()) TheDriver().EventDestroy(handle_);
  }
  EventHandle handle() const { return handle_; }
  bool Reached() const override {
    Enter();
    int result = TheDriver().EventQuery(handle_);
    if (result != kNotReady) Check(result, "cuEventQuery");
    return result == kSuccess;
  }
  void Synchronize() const override {
    Enter();
    AwaitEvent(handle_);
  }
  uint64_t NanosecondsSince(const TimedEvent& earlier) const override {
    Enter();
    float milliseconds = 0;
    Check(TheDriver().EventElapsedTime(&milliseconds,
                                       static_cast<const CudaEvent&>(earlier).handle_, handle_),
          "cuEventElapsedTime");
    return static_cast<uint64_t>(std::max(0.0, 1e6 * static_cast<double>(milliseconds)));
  }

 private:
  EventHandle handle_ = nullptr;
};

thread_local CudaStream* capturing_here = nullptr;

}  // namespace

void AwaitEvent(EventHandle event) {
  const Driver& driver = TheDriver();
  AwaitWork(
      nullptr, false, [&] { return driver.EventQuery(event); },
      [&] { return driver.EventSynchronize(event); }, "cuEventSynchronize");
}

CudaStream* CapturingHere() { return capturing_here; }
CapturesHere::CapturesHere(CudaStream* stream) { capturing_here = stream; }
CapturesHere::~CapturesHere() { capturing_here = nullptr; }
void RefuseCapture(const char* what) {
  if (capturing_here) Throw(ErrorKind::kInternal, "{} cannot be recorded", what);
}

CudaStream::CudaStream(Memory& memory, Results& results)
    : Stream(memory), results_(results), tickets_(kTickets) {
  Enter();
  const Driver& driver = TheDriver();
  Check(driver.StreamCreate(&handle_, kNonBlocking), "cuStreamCreate");
  Check(driver.MemAllocAsync(&fault_, sizeof(Found), handle_), "cuMemAllocAsync");
  Check(driver.MemsetD8Async(fault_, 0, sizeof(Found), handle_), "cuMemsetD8Async");
  void* seen = nullptr;
  Check(driver.MemHostAlloc(&seen, sizeof(Found), 0), "cuMemHostAlloc");
  seen_ = new (seen) Found;
}

CudaStream::CudaStream(Memory& memory, CudaStream& main)
    : Stream(memory), main_(&main), results_(main.results_), fault_(main.fault_) {
  Enter();
  Check(TheDriver().StreamCreate(&handle_, kNonBlocking), "cuStreamCreate");
}

CudaStream::~CudaStream() {
  if (IsLost()) return;
  if (main_) {
    TheDriver().StreamDestroy(handle_);
    return;
  }
  TheDriver().MemFreeAsync(fault_, handle_);
  TheDriver().StreamSynchronize(handle_);
  TheDriver().MemFreeHost(seen_);
  TheDriver().StreamDestroy(handle_);
}

std::unique_ptr<Event> CudaStream::Record() {
  RefuseCapture("an event");
  Enter();
  return std::make_unique<CudaEvent>(handle_, kNoTiming);
}

std::unique_ptr<TimedEvent> CudaStream::RecordTimed() {
  RefuseCapture("a time");
  Enter();
  return std::make_unique<CudaEvent>(handle_, 0);
}

void CudaStream::Follow(const Event& event) {
  RefuseCapture("another stream");
  Enter();
  auto& other = static_cast<const CudaEvent&>(event);
  Check(TheDriver().StreamWaitEvent(handle_, other.handle(), 0), "cuStreamWaitEvent");
}

void CudaStream::Launch(Function function, const Grid& grid, std::vector<void*> args) {
  Enter();
  args.insert(args.begin(), &fault_);
  Check(TheDriver().LaunchKernel(function, grid.x, grid.y, 1, grid.threads, 1, 1, 0, handle_,
                                 args.data(), nullptr),
        "cuLaunchKernel");
}

unsigned CudaStream::NextTicket(const LaunchPlace* place, ErrorKind kind, std::string what) {
  if (forks_) forks_->MayFind();
  Ticket ticket{place ? *place : LaunchPlace{}, kind, std::move(what), 0, results_.Earliest()};
  return (main_ ? *main_ : *this).TakeTicket(std::move(ticket), main_ != nullptr);
}

// Kernels of a recording report by the same number each time.
unsigned CudaStream::TakeTicket(Ticket ticket, bool kept) {
  std::lock_guard lock(of_tickets_);
  unsigned number = kept ? next_kept_++ : next_ticket_++;
  if (next_ticket_ == kKept) next_ticket_ = 1;
  ticket.number = number;
  (kept ? kept_tickets_[number] : tickets_[number % kTickets]) = std::move(ticket);
  return number;
}

void CudaStream::Replayed(const TicketRange& tickets) {
  if (tickets.begin == tickets.end) return;
  uint64_t run = results_.Earliest();
  std::lock_guard lock(of_tickets_);
  replays_.try_emplace(tickets.begin, ReplayedFirst{tickets.end, run});
}

void CudaStream::GiveBack(const TicketRange& tickets) {
  std::lock_guard lock(of_tickets_);
  if (tickets.begin != tickets.end) given_back_.push_back(tickets);
}

size_t CudaStream::kept_tickets() {
  std::lock_guard lock(of_tickets_);
  return kept_tickets_.size();
}

// Where it is not known since when something may be wrong, that is since the last wait: run 0.
CudaStream::Ticket CudaStream::TicketOf(unsigned number, const Replays& replays) {
  std::lock_guard lock(of_tickets_);
  if (number < kKept) {
    const Ticket& ticket = tickets_[number % kTickets];
    if (ticket.number == number) return ticket;
    return {
        {},
        ErrorKind::kRuntime,
        fmt::format("an index, a label or the like was out of its range, in one of more than {} "
                    "calls since the host waited last: nobody knows which. "
                    "mindspore.runtime.synchronize() now and then lets errors be told sooner",
                    kTickets)};
  }
  Ticket ticket = kept_tickets_.at(number);
  ticket.run = 0;
  for (const Replays* since : {&std::as_const(replays_), &replays}) {
    auto behind = since->upper_bound(number);
    if (behind == since->begin()) continue;
    const ReplayedFirst& first = std::prev(behind)->second;
    if (number < first.end) ticket.run = first.run;
  }
  return ticket;
}

void CudaStream::WaitForAll() {
  Enter();
  const Driver& driver = TheDriver();
  std::shared_ptr<CudaEvent> here;  // other threads may give the stream more meanwhile
  AwaitWork(
      handle_, true,
      [&] {
        if (!here) here = std::make_shared<CudaEvent>(handle_, kNoTiming);
        return driver.EventQuery(here->handle());
      },
      [&] { return driver.StreamSynchronize(handle_); }, "cuStreamSynchronize");
}

// From the device's word to an error of the launch that wrote it; the word is zero again.
void CudaStream::Hear(const Found& found, const Replays& replays) {
  const Ticket ticket = TicketOf(found.ticket, replays);
  std::string what = ticket.what;
  for (long long number : {found.number, found.position}) {
    if (size_t at = what.find("{}"); at != std::string::npos)
      what.replace(at, 2, fmt::format("{}", number));
  }
  Error error(ticket.kind, what);
  if (ticket.place.op) error = error.Of(ticket.place.op->name).WithSpan(ticket.place.span);
  Check(TheDriver().MemsetD8Async(fault_, 0, sizeof(Found), handle_), "cuMemsetD8Async");
  std::string why = error.message();
  if (why.ends_with('.')) why.pop_back();
  if (ticket.place.span) why += " (" + ShortSpan(ticket.place.span) + ")";
  results_.Lose(ticket.run, why);
  error_ = std::make_exception_ptr(std::move(error).Late());
  ++errors_;
}

void CudaStream::SynchronizeNow() {
  RefuseCapture("a wait");
  Enter();
  std::exception_ptr error;
  {
    std::lock_guard lock(mutex_);
    const Results::Moment given = results_.Now();
    std::vector<TicketRange> given_back;  // whose recordings have run once this has waited
    Replays replays;  // some of those of runs under way may be behind this wait: they stay
    {
      std::lock_guard tickets(of_tickets_);
      given_back.swap(given_back_);
      replays = replays_;
      std::erase_if(replays_, [first = given.earliest()](const auto& replay) {
        return replay.second.run < first;
      });
    }
    Check(TheDriver().MemcpyDtoHAsync(seen_, fault_, sizeof(Found), handle_), "cuMemcpyDtoHAsync");
    WaitForAll();
    if (seen_->ticket) Hear(*seen_, replays);
    if (std::exception_ptr loss = LossBeyond(&losses_)) {
      results_.Lose(0, "another process of a group was lost");
      error_ = loss;
      ++errors_;
    }
    results_.Settle(given);
    if (heard.stream != this) heard = {this, heard_by_some_};
    if (heard.errors < errors_) {
      heard.errors = heard_by_some_ = errors_;
      error = error_;
    }
    std::lock_guard tickets(of_tickets_);
    for (const TicketRange& range : given_back) {
      kept_tickets_.erase(kept_tickets_.lower_bound(range.begin),
                          kept_tickets_.lower_bound(range.end));
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace ms::cuda
