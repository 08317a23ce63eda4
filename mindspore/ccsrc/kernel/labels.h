// Whom the blocks of a memory are for: what a device's memory may keep, for the error that there is
// too little of it.
#pragma once

#include "ir/span.h"

namespace ms {

class Labels {
 public:
  virtual ~Labels() = default;
  // The block is for this line of the program.
  virtual void Label(const void* block, SpanId line) = 0;
};

}  // namespace ms
