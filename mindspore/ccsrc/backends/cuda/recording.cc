#include "backends/cuda/recording.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "backends/cuda/device.h"
#include "backends/cuda/forks.h"
#include "backends/cuda/libraries.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/policy.h"
#include "tensor/buffer.h"

namespace ms::cuda {
namespace {

constexpr int kMost = 512;  // recordings of the process
std::atomic<int> recordings{0}, made{0}, refused{0}, replayed{0};

// MS_LOG=recording: what is recorded, and why something is not.
void Log(const std::string& text) {
  static const bool on = [] {
    const char* value = std::getenv("MS_LOG");
    return value && std::string_view(value).find("recording") != std::string_view::npos;
  }();
  if (on) std::fprintf(stderr, "[recording] %s\n", text.c_str());
}

// So many offsets that follow each other, of which it returns the first: other threads may draw.
uint64_t Reserve(RandomState& random, uint64_t count) {
  for (;;) {
    uint64_t first = random.NextOffset(), next = first + 1;
    while (next - first < count && random.NextOffset() == next) ++next;
    if (next - first == count) return first;
  }
}

class CudaRecording : public Recording {
 public:
  CudaRecording(CudaStream& stream, WorkExec work, uint64_t draws, BufferRef words,
                TicketRange tickets)
      : stream_(stream), work_(work), draws_(draws), words_(std::move(words)), tickets_(tickets) {
    ++recordings;
  }
  ~CudaRecording() override {
    --recordings;
    if (!IsLost()) TheDriver().GraphExecDestroy(work_);  // later, if it is running
    stream_.GiveBack(tickets_);
  }

  void Replay(RandomState* random) override {
    Enter();
    if (draws_) {
      uint64_t words[] = {random->seed(), Reserve(*random, draws_)};
      stream_.memory().Store(words_->data(), words, sizeof(words));
    }
    stream_.Replayed(tickets_);
    Check(TheDriver().GraphLaunch(work_, stream_.handle()), "cuGraphLaunch");
    ++replayed;
  }

 private:
  CudaStream& stream_;
  WorkExec work_;
  const uint64_t draws_;  // of random numbers
  BufferRef words_;       // seed, and the first of their offsets
  const TicketRange tickets_;
};

}  // namespace

uint64_t CudaStream::generation() const {
  return ThePolicy().records ? 1 + ThePolicy().changes : 0;
}

// Whether all of it was kept; if not, why.
bool CudaStream::Capture(const Steps& run, WorkExec* work, std::string* why) {
  const Driver& driver = TheDriver();
  // Relaxed: kernels that are seen for the first time may be loaded. What else is forbidden, the
  // memory refuses (RefuseCapture).
  Check(driver.StreamBeginCapture(side_->handle_, kCaptureRelaxed), "cuStreamBeginCapture");
  {
    CapturesHere scope(side_.get());
    try {
      run(*side_);
    } catch (const std::exception& error) {
      *why = error.what();  // the host runs it, or it is wrong, which is seen when it runs as usual
    }
  }
  WorkGraph graph = nullptr;
  int result = driver.StreamEndCapture(side_->handle_, &graph);
  if (result == kSuccess && why->empty()) result = driver.GraphInstantiateWithFlags(work, graph, 0);
  if (result != kSuccess && why->empty()) {
    const char* name = nullptr;
    driver.GetErrorName(result, &name);
    *why = fmt::format("the driver says {}", name ? name : "nothing");
  }
  if (graph) driver.GraphDestroy(graph);
  return why->empty();
}

std::unique_ptr<Recording> CudaStream::Record(
    const RecordedOrder& after,
    const std::function<void(size_t step, Stream&, RandomState&)>& run) {
  Enter();
  if (recordings >= kMost) return nullptr;
  // Nobody waits here, as he might hold what the other thread needs.
  if (records_.exchange(true)) return nullptr;
  struct Done {
    CudaStream& stream;
    ~Done() {
      if (stream.side_) stream.side_->forks_ = nullptr;
      stream.records_ = false;
    }
  } done{*this};
  if (!side_) side_ = std::make_unique<CudaStream>(memory(), *this);
  BufferRef words = Buffer::Allocate(2 * sizeof(uint64_t), memory());
  side_->random_words_ = words->data();
  static std::atomic<bool> takes_branches{TheDriver().StreamGetCaptureInfo &&
                                          TheDriver().StreamUpdateCaptureDependencies};
  std::string why;
  for (bool branches : {true, false}) {
    if (branches && !(ThePolicy().branches && takes_branches)) continue;
    WorkExec work = nullptr;
    RandomState random(0);
    Forks forks(after, side_->handle_);
    side_->forks_ = branches ? &forks : nullptr;
    TicketRange tickets{next_kept_, next_kept_};  // no other thread takes any of these now
    bool within = false;                          // a step, which is to blame where it throws
    auto all = [&](CudaStream& side) {
      for (size_t step = 0; step < after.size(); ++step) {
        if (branches) forks.Begin(step);
        within = true;
        run(step, side, random);
        within = false;
        if (branches) forks.End();
      }
    };
    why.clear();
    bool kept = Capture(all, &work, &why);
    tickets.end = next_kept_;
    if (kept) {
      ++made;
      Log(fmt::format("kept, with {} draws of random numbers, {} forks", random.offset(),
                      branches ? forks.count() : 0));
      return std::make_unique<CudaRecording>(*this, work, random.offset(), std::move(words),
                                             tickets);
    }
    GiveBack(tickets);
    if (within) break;
    takes_branches = false;  // it may still keep a row of steps
  }
  ++refused;
  Log(fmt::format("not kept: {}", why));
  return nullptr;
}

RecordingCounts CountRecordings() { return {made, refused, replayed}; }

}  // namespace ms::cuda
