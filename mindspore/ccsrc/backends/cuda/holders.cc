#include "backends/cuda/holders.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "ir/users_span.h"
#include "tensor/memory_limit.h"

namespace ms::cuda {

void Holders::Add(const void* block, size_t bytes, Origin origin) {
  if (bytes < kLeast) return;
  std::lock_guard lock(mutex_);
  blocks_[block] = {bytes, origin, 0};
}

void Holders::Remove(const void* block, size_t bytes) noexcept {
  if (bytes < kLeast) return;
  std::lock_guard lock(mutex_);
  blocks_.erase(block);
}

void Holders::Label(const void* block, size_t bytes, SpanId line) {
  if (line == 0 || bytes < kLeast) return;
  std::lock_guard lock(mutex_);
  auto it = blocks_.find(block);
  if (it == blocks_.end() || it->second.origin != Origin::kOther) return;
  it->second.origin = Origin::kLine;
  it->second.line = UsersSpan(line);
}

void Holders::LabelCopy(const void* block, const void* of, size_t bytes) {
  if (bytes < kLeast) return;
  std::lock_guard lock(mutex_);
  auto copy = blocks_.find(block), original = blocks_.find(of);
  if (copy == blocks_.end() || original == blocks_.end()) return;
  if (copy->second.origin != Origin::kOther) return;
  copy->second.origin = original->second.origin;
  copy->second.line = original->second.line;
}

std::string Holders::Largest() const {
  constexpr size_t kMost = 5;
  std::map<std::string, size_t> sums;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [address, block] : blocks_) {
      sums[block.origin == Origin::kLine   ? "at " + ShortSpan(block.line)
           : block.origin == Origin::kHost ? "that came from the host"
                                           : "for compiled functions, and beside ops"] +=
          block.bytes;
    }
  }
  std::vector<std::pair<size_t, std::string>> largest;
  for (const auto& [what, bytes] : sums) largest.emplace_back(bytes, what);
  std::sort(largest.rbegin(), largest.rend());
  if (largest.size() > kMost) largest.resize(kMost);
  std::vector<std::string> texts;
  for (const auto& [bytes, what] : largest) texts.push_back(Megabytes(bytes) + " " + what);
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace ms::cuda
