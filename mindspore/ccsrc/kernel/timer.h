// Points in the work of a device whose times it notes: what its stream may offer. A profile then
// has the device's own times, and waits for no kernel.
#pragma once

#include <cstdint>
#include <memory>

#include "kernel/stream.h"

namespace ms {

class TimedEvent : public Event {
 public:
  // From `earlier`, which is of the same device. Both must have been reached.
  virtual uint64_t NanosecondsSince(const TimedEvent& earlier) const = 0;
};

// A device's stream may be one as well.
class Timer {
 public:
  virtual ~Timer() = default;
  // After the work given so far.
  virtual std::unique_ptr<TimedEvent> RecordTimed() = 0;
};

}  // namespace ms
