#include "kernel/notice.h"

namespace ms {
namespace {

void (*zero_divisor)(SpanId) = nullptr;
thread_local int silent = 0;
thread_local std::vector<SpanId>* collected = nullptr;

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
  Tensor host = integers.OnHost();
  return HasZero(host.dtype(), host.raw(), host.size());
}

void NoteZeroDivisor(SpanId span) {
  if (silent) Throw(ErrorKind::kValue, "an integer is divided by zero");
  if (collected) return collected->push_back(span);
  if (zero_divisor) zero_divisor(span);
}

void SetZeroDivisorNotice(void (*notice)(SpanId)) { zero_divisor = notice; }
void CollectNotices(std::vector<SpanId>* zero_divisors) { collected = zero_divisors; }

NoNotices::NoNotices() { ++silent; }
NoNotices::~NoNotices() { --silent; }

}  // namespace ms
