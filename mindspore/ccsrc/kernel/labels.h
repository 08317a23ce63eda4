// Whom the blocks of a memory are for: what a device's memory may keep, for the error that there is
// too little of it.
#pragma once

#include "ir/span.h"

namespace ms {

class Labels {
 public:
  virtual ~Labels() = default;
  // A block of so many bytes is for this line of the program, if nobody said so of another one.
  virtual void Label(const void* block, size_t bytes, SpanId line) = 0;
};

}  // namespace ms
