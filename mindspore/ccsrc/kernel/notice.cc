#include "kernel/notice.h"

namespace ms {
namespace {

void (*zero_divisor)(SpanId) = nullptr;
thread_local int silent = 0;

}  // namespace

bool HasZero(DType integer, const void* data, int64_t size) {
  return VisitDType(integer, [&]<class T>(TypeTag<T>) {
    bool found = false;
    if constexpr (IsInteger(kDTypeOf<T>)) {
      const T* x = static_cast<const T*>(data);
      for (int64_t i = 0; i < size; ++i) found |= x[i] == 0;
    }
    return found;
  });
}

bool HasZero(const Tensor& integers) {
  return HasZero(integers.dtype(), integers.raw(), integers.size());
}

void NoteZeroDivisor(SpanId span) {
  if (silent) Throw(ErrorKind::kValue, "an integer is divided by zero");
  if (zero_divisor) zero_divisor(span);
}

void SetZeroDivisorNotice(void (*notice)(SpanId)) { zero_divisor = notice; }

NoNotices::NoNotices() { ++silent; }
NoNotices::~NoNotices() { --silent; }

}  // namespace ms
