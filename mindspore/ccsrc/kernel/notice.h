// What a kernel tells the user without failing: an integer was divided by zero, which gives 0.
#pragma once

#include <vector>

#include "ir/span.h"
#include "tensor/tensor.h"

namespace ms {

bool HasZero(const Tensor& integers);
bool HasZero(DType integer, const void* data, int64_t size);

// Calls what the program around us has set; the span is 0 where the caller's line is the place.
void NoteZeroDivisor(SpanId span);
void SetZeroDivisorNotice(void (*notice)(SpanId));

// Where notices go that this thread makes from here on, in place of that call; null: nowhere else.
// For threads that work for a device: the host hears of them when it waits.
void CollectNotices(std::vector<SpanId>* zero_divisors);

// While one lives on this thread a notice is an Error: constants are folded whether or not the run
// gets there.
class NoNotices {
 public:
  NoNotices();
  ~NoNotices();
  NoNotices(const NoNotices&) = delete;
};

}  // namespace ms
