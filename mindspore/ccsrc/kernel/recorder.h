// Work of a device that is kept, to be given to it again by one launch: what its stream may offer.
// Addresses are those that kernels were given when it was recorded.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kernel/random.h"
#include "kernel/stream.h"

namespace ms {

class Recording {
 public:
  virtual ~Recording() = default;
  // Gives the device the work, in the order of its stream. Random numbers are as if the kernels
  // had been run now: their offsets are drawn from `random`, which may be null where none is drawn.
  virtual void Replay(RandomState* random) = 0;
};

// By step, the steps before it that it follows: it may run beside all others but those that they
// follow.
using RecordedOrder = std::vector<std::vector<uint32_t>>;

// A device's stream may be one as well.
class Recorder {
 public:
  virtual ~Recorder() = default;
  // 0: nothing is to be recorded. Another number than before: recordings made so far are stale.
  virtual uint64_t generation() const = 0;
  // Calls `run` for each step in turn, which runs kernels with the stream and the random numbers
  // that it is given: nothing of it is done. It may begin anew. Null where something cannot be
  // kept, such as a wait of the host, where `run` threw, or where the time is not right, and `run`
  // was not called; it may then run as usual.
  virtual std::unique_ptr<Recording> Record(
      const RecordedOrder& after,
      const std::function<void(size_t step, Stream&, RandomState&)>& run) = 0;
};

}  // namespace ms
