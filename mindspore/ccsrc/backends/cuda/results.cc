#include "backends/cuda/results.h"

#include <algorithm>

namespace ms::cuda {
namespace {

const void* EndOf(const void* begin, size_t bytes) {
  return static_cast<const char*>(begin) + std::max<size_t>(bytes, 1);
}

template <class Blocks>
void EraseWithin(Blocks& blocks, const void* begin, size_t bytes) {
  blocks.erase(blocks.lower_bound(begin), blocks.lower_bound(EndOf(begin, bytes)));
}

}  // namespace

// ---- runs

uint64_t Results::Begin() {
  std::lock_guard lock(mutex_);
  under_way_.push_back(next_);
  return next_++;
}

void Results::End(uint64_t run) noexcept {
  std::lock_guard lock(mutex_);
  std::erase(under_way_, run);
  lost_runs_.erase(run);
  CountLost();
}

void Results::CountLost() noexcept { lost_count_ = lost_.size() + lost_runs_.size(); }

uint64_t Results::Moment::earliest() const {
  return under_way.empty() ? next : *std::min_element(under_way.begin(), under_way.end());
}

// ---- blocks

// One that shares bytes with these.
template <class T>
const Results::Block<T>* Results::Find(const Blocks<T>& blocks, const void* begin, size_t bytes) {
  auto behind = blocks.lower_bound(EndOf(begin, bytes));
  if (behind == blocks.begin()) return nullptr;
  const auto& [address, block] = *std::prev(behind);
  return EndOf(address, block.bytes) > begin ? &block : nullptr;
}

void Results::Add(const void* block, size_t bytes, uint64_t run) {
  std::lock_guard lock(mutex_);
  EraseWithin(lost_, block, bytes);  // an old block may get a new value
  auto lost = lost_runs_.find(run);
  if (lost == lost_runs_.end())
    unsure_[block] = {bytes, run};
  else
    lost_[block] = {bytes, lost->second};
  CountLost();
}

void Results::AddCopy(const void* block, const void* of, size_t bytes) {
  std::lock_guard lock(mutex_);
  if (unsure_.contains(block)) return;
  EraseWithin(lost_, block, bytes);
  if (const Block<uint64_t>* made = Find(unsure_, of, bytes)) unsure_[block] = {bytes, made->known};
  if (const Block<Reason>* lost = Find(lost_, of, bytes)) lost_[block] = {bytes, lost->known};
  CountLost();
}

void Results::Remove(const void* block, size_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  EraseWithin(unsure_, block, bytes);
  EraseWithin(lost_, block, bytes);
  CountLost();
}

// ---- waits

Results::Moment Results::Now() const {
  std::lock_guard lock(mutex_);
  return {next_, under_way_};
}

void Results::Settle(const Moment& moment) {
  std::lock_guard lock(mutex_);
  std::erase_if(unsure_, [&](const auto& entry) {
    uint64_t run = entry.second.known;
    return run < moment.next && std::ranges::find(moment.under_way, run) == moment.under_way.end();
  });
}

void Results::Lose(uint64_t first, const std::string& why) {
  std::lock_guard lock(mutex_);
  auto reason = std::make_shared<const std::string>(why);
  std::erase_if(unsure_, [&](const auto& entry) {
    const auto& [address, block] = entry;
    if (block.known < first) return false;
    lost_[address] = {block.bytes, reason};
    return true;
  });
  for (uint64_t run : under_way_) {
    if (run >= first) lost_runs_.try_emplace(run, reason);
  }
  CountLost();
}

std::string Results::WhyLost(const void* begin, size_t bytes) const {
  if (!lacks()) return "";
  std::lock_guard lock(mutex_);
  const Block<Reason>* lost = Find(lost_, begin, bytes);
  return lost ? *lost->known : "";
}

bool Results::IsSure(const void* begin, size_t bytes) const {
  std::lock_guard lock(mutex_);
  return !Find(unsure_, begin, bytes) && !Find(lost_, begin, bytes);
}

}  // namespace ms::cuda
