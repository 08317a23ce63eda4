// A device's work: what is given to one stream is done in that order, perhaps long after it was
// given. Between streams, events make an order.
#pragma once

#include <memory>

#include "tensor/memory.h"

namespace ms {

// A point in the work of a stream.
class Event {
 public:
  virtual ~Event() = default;
  virtual bool Reached() const = 0;
  virtual void Synchronize() const = 0;  // the host waits for it
};

class Stream {
 public:
  explicit Stream(Memory& memory) : memory_(memory) {}
  virtual ~Stream() = default;
  Memory& memory() const { return memory_; }

  // After the work given so far.
  virtual std::unique_ptr<Event> Record() = 0;
  // What is given to this stream from here on begins after the event, which is of the same device.
  virtual void Follow(const Event& event) = 0;
  // The host waits for the work given so far. Throws what was found wrong in it: an Error that
  // names the op and its line, and is late(). Each thread that waits hears of it once.
  void Synchronize() {
    HostWait wait(!memory_.on_host());
    SynchronizeNow();
  }

 private:
  virtual void SynchronizeNow() = 0;

  Memory& memory_;
};

// The host has done its work when it is asked: all launches run at once.
std::unique_ptr<Stream> NewHostStream();

}  // namespace ms
