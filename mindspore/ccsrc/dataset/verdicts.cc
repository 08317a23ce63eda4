// See verdicts.h.
#include "dataset/verdicts.h"

#include <set>

#include "base/error.h"

namespace ms::dataset {

void Verdicts::Pass::Add(bool kept) {
  std::lock_guard lock(mutex_);
  if (lost_ || room_->fetch_sub(1, std::memory_order_relaxed) <= 0) {
    lost_ = true;
    return;
  }
  if (count_ % 8 == 0) bits_.push_back('\0');
  if (kept) bits_.back() = static_cast<char>(bits_.back() | 1 << (count_ % 8));
  ++count_;
}

std::shared_ptr<Verdicts::Pass> Verdicts::Begin(int node, int64_t epoch) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<Pass>& pass = passes_[{node, epoch}];
  if (!pass) pass = std::make_shared<Pass>(room_);
  if (pass->taken_) return std::make_shared<Pass>(room_);
  pass->taken_ = true;
  return pass;
}

std::vector<Verdicts::Judged> Verdicts::All() const {
  std::lock_guard lock(mutex_);
  std::vector<Judged> all;
  for (const auto& [key, pass] : passes_) {
    std::lock_guard inner(pass->mutex_);
    if (pass->lost_) return {};
    all.push_back({key.first, key.second, pass->count_, pass->bits_});
  }
  return all;
}

void Verdicts::Clear() {
  passes_.clear();
  room_ = std::make_shared<std::atomic<int64_t>>(kMost);
}

void Verdicts::Renew() {
  std::lock_guard lock(mutex_);
  if (!std::exchange(set_, false)) Clear();
}

namespace {

// A bit for each row, and none behind them: Add sets bits, but clears none.
bool Whole(const Verdicts::Judged& one) {
  if (one.count < 0 || one.count > Verdicts::kMost) return false;
  if (one.bits.size() != (static_cast<size_t>(one.count) + 7) / 8) return false;
  const int used = static_cast<int>(one.count % 8);
  return used == 0 || static_cast<unsigned char>(one.bits.back()) >> used == 0;
}

}  // namespace

void Verdicts::Set(std::vector<Judged> judged) {
  std::set<std::pair<int, int64_t>> passes;
  for (const Judged& one : judged) {
    if (!passes.emplace(one.node, one.epoch).second) {
      Throw(ErrorKind::kValue,
            "For 'restore', the state must tell of each pass of a filter once, but tells twice of "
            "epoch {} of node {}.",
            one.epoch, one.node);
    }
    if (!Whole(one)) {
      Throw(ErrorKind::kValue,
            "For 'restore', what the state tells of the filter of node {} must be a bit for each "
            "of {} rows, but got {} bytes.",
            one.node, one.count, one.bits.size());
    }
  }
  std::lock_guard lock(mutex_);
  Clear();
  set_ = true;
  for (Judged& one : judged) {
    auto pass = std::make_shared<Pass>(room_);
    pass->known_ = pass->count_ = one.count;
    pass->bits_ = std::move(one.bits);
    room_->fetch_sub(one.count, std::memory_order_relaxed);
    passes_[{one.node, one.epoch}] = std::move(pass);
  }
}

}  // namespace ms::dataset
