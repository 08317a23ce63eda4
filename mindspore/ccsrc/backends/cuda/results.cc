#include "backends/cuda/results.h"

#include <algorithm>

#include "base/error.h"

namespace ms::cuda {

uint64_t Results::Begin() {
  std::lock_guard lock(mutex_);
  under_way_.push_back(next_);
  return next_++;
}

void Results::End(uint64_t run) noexcept {
  std::lock_guard lock(mutex_);
  std::erase(under_way_, run);
}

uint64_t Results::Earliest() const {
  std::lock_guard lock(mutex_);
  return under_way_.empty() ? next_ : *std::min_element(under_way_.begin(), under_way_.end());
}

void Results::Add(const void* block, size_t bytes, uint64_t run) {
  std::lock_guard lock(mutex_);
  results_[block] = {bytes, run};
}

// The result that the address lies in; null: nobody knows one.
const Results::Result* Results::Find(const void* value) const {
  auto it = results_.upper_bound(value);
  if (it == results_.begin()) return nullptr;
  const auto& [begin, result] = *std::prev(it);
  auto offset =
      static_cast<size_t>(static_cast<const char*>(value) - static_cast<const char*>(begin));
  return offset < std::max<size_t>(result.bytes, 1) ? &result : nullptr;
}

void Results::AddCopy(const void* block, const void* of, size_t bytes) {
  std::lock_guard lock(mutex_);
  if (const Result* made = Find(of)) results_.try_emplace(block, Result{bytes, made->run});
}

void Results::Remove(const void* block, size_t bytes) noexcept {
  const void* end = static_cast<const char*>(block) + std::max<size_t>(bytes, 1);
  std::lock_guard lock(mutex_);
  results_.erase(results_.lower_bound(block), results_.lower_bound(end));
}

void Results::LoseSince(uint64_t run, std::string why) {
  std::lock_guard lock(mutex_);
  if (run >= next_) return;
  losses_[next_ - 1] = {run, std::move(why)};
  any_lost_ = true;
}

void Results::RequireNow(const void* value) const {
  std::lock_guard lock(mutex_);
  const Result* result = Find(value);
  if (!result) return;
  for (auto it = losses_.lower_bound(result->run); it != losses_.end(); ++it) {
    if (result->run < it->second.first) continue;
    Throw(ErrorKind::kRuntime,
          "the value was not computed, or may not have been: an error came before it: {}",
          it->second.why);
  }
}

}  // namespace ms::cuda
