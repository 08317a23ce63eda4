#include "base/late_errors.h"

#include <atomic>

namespace ms {
namespace {

std::atomic<uint64_t> heard{0};

}  // namespace

uint64_t LateErrors() { return heard.load(std::memory_order_relaxed); }
void NoteLateError() { heard.fetch_add(1, std::memory_order_relaxed); }

}  // namespace ms
