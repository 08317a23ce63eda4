// What a machine has recorded of its program: ranges of launches that the device replays as one. A
// range runs as usual first; then it is recorded, for the addresses that it was given. Those of
// Parameters and of other values that lie where they lay are part of the recording; what comes
// elsewhere each time is copied to a fixed place before, or from it afterwards. Launches that
// cannot be recorded, such as what runs on the host, stand alone between ranges.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "kernel/recorder.h"
#include "runtime/frame.h"

namespace ms {

class Recordings {
 public:
  // Null where the device records nothing.
  static std::unique_ptr<Recordings> For(const Backend& backend);

  // Runs the launches of a kRun instruction whose allocations are made; `*at` says which one is
  // running. The plan must live as long as this.
  void Run(const Frame& frame, const Instruction& code, RandomState* random, uint32_t* at);

 private:
  // A value of a frame that launches of a range read or write.
  struct Value {
    uint32_t cell;
    uint32_t place;  // one of those that show it
    size_t bytes;
    bool read = false;           // by the range, before it is written
    bool written = false;        // by the range
    bool pinned = false;         // updated in place, as a Parameter is: never copied
    bool moves = false;          // it comes at other addresses: copied
    const void* last = nullptr;  // where it lay
  };
  // A recording, for values at these addresses; null ones have a buffer in their place.
  struct Made {
    std::unique_ptr<Recording> recording;
    uint64_t generation = 0;
    const char* arena = nullptr;
    std::vector<const void*> addresses;
    std::vector<BufferRef> buffers;
  };
  struct Part {
    Range launches;
    bool alone = false;  // runs as usual
    int runs = 0;
    int attempts = 0;         // to record it
    uint64_t generation = 0;  // when it ran as usual
    std::vector<Value> values;
    std::vector<Made> made;  // the latest last
  };
  using Parts = std::vector<Part>;

  Recordings(Recorder& recorder, Memory& memory, Stream& stream)
      : recorder_(recorder), memory_(memory), stream_(stream) {}
  Parts& PartsOf(const Plan& plan, const Instruction& code);
  Part MakePart(const Plan& plan, const Instruction& code, Range launches) const;
  void RunAsUsual(const Frame& frame, Range launches, RandomState* random, uint32_t* at) const;
  // Whether the part ran, as a recording.
  bool Replay(const Frame& frame, Part& part, RandomState* random);
  static bool Fits(const Made& made, const Frame& frame, const Part& part, uint64_t generation);
  static RecordedOrder OrderOf(const Frame& frame, Range launches, void* const* pointers);
  // Empty, or the launch that cannot be recorded.
  std::vector<uint32_t> Record(const Frame& frame, Part& part);
  void Look(const Frame& frame, Part& part) const;
  void Split(const Plan& plan, const Instruction& code, Parts& parts, size_t i, uint32_t launch);

  Recorder& recorder_;
  Memory& memory_;
  Stream& stream_;
  std::unordered_map<const Instruction*, Parts> parts_;
};

}  // namespace ms
