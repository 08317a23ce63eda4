#include "backends/cpu/codegen/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "backends/cpu/codegen/llvm_scope.h"
#include "backends/cpu/codegen/nest_schedule.h"

namespace ms::cpu {
namespace {

struct Field {
  const char* name;
  int64_t Tuning::* value;
};
constexpr Field kFields[] = {
    {"block", &Tuning::block},     {"tile", &Tuning::tile},       {"rows", &Tuning::rows},
    {"unroll", &Tuning::unroll},   {"buffers", &Tuning::buffers}, {"narrow", &Tuning::narrow},
    {"streams", &Tuning::streams},
};

constexpr double kBetter = 0.97;            // of the old time: what counts as quicker
constexpr double kHopeless = 2;             // times the old one: no second launch
constexpr int kLaunches = 10;               // of each side
constexpr double kLong = 5e6;               // nanoseconds of a launch of which half as many will do
constexpr int64_t kStreamBytes = 16 << 20;  // of outputs that no cache would keep anyway

// Whether another number of lanes adds the same numbers up in another order.
bool DependsOnLanes(const ScheduledNest& nest) {
  if (nest.schedule != ScheduledNest::Schedule::kRows) return false;
  return std::any_of(nest.values.begin(), nest.values.end(), [](const loops::NestValue& v) {
    bool extreme = v.reduction == loops::Reduction::kMax || v.reduction == loops::Reduction::kMin;
    return v.reduction != loops::Reduction::kNone && !extreme && IsFloating(v.node.dtype);
  });
}

int64_t FullOutputBytes(const ScheduledNest& nest) {
  int64_t bytes = 0;
  for (const loops::NestOutput& o : nest.outputs) {
    DType type = nest.values[static_cast<size_t>(o.value)].node.dtype;
    bytes += o.kept ? 0 : nest.size() * static_cast<int64_t>(ItemSize(type));
  }
  return bytes;
}

}  // namespace

std::string Print(const Tuning& tuning) {
  std::string text;
  for (const Field& f : kFields) {
    if (tuning.*f.value == Tuning{}.*f.value) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", f.name, tuning.*f.value);
  }
  return text;
}

bool ParseTuning(const std::string& text, Tuning* tuning) {
  *tuning = {};
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(' ', at), text.size());
    size_t equals = text.find('=', at);
    if (equals >= end) return false;
    std::string name = text.substr(at, equals - at);
    auto field = std::find_if(std::begin(kFields), std::end(kFields),
                              [&](const Field& f) { return name == f.name; });
    if (field == std::end(kFields)) return false;
    const char* last = text.data() + end;
    auto [stop, error] = std::from_chars(text.data() + equals + 1, last, tuning->*field->value);
    if (error != std::errc() || stop != last) return false;
    at = end + 1;
  }
  return true;
}

std::vector<TuningChange> ChangesFor(const ScheduledNest& nest, const LlvmTarget& target) {
  std::vector<TuningChange> changes;
  auto offer = [&](int64_t Tuning::* field, std::initializer_list<int64_t> values) {
    for (int64_t value : values) changes.push_back({field, value});
  };
  bool columns = nest.schedule == ScheduledNest::Schedule::kColumns;
  if (columns && nest.OuterSize(true) >= 16) offer(&Tuning::rows, {1, 4, 8});
  if (columns && nest.inner() > 256) offer(&Tuning::tile, {256, 512});
  if (columns && nest.inner() > 1024 && nest.chunks == 1) offer(&Tuning::tile, {2048});
  if (!nest.buffered.empty()) offer(&Tuning::buffers, {0});
  if (!columns && nest.inner() >= 2 * target.vector_bytes) offer(&Tuning::unroll, {1, 2, 4});
  if (target.vector_bytes == 64 && !DependsOnLanes(nest)) offer(&Tuning::narrow, {1});
  if (nest.schedule == ScheduledNest::Schedule::kElementwise && nest.inner() > 2048) {
    offer(&Tuning::block, {2048});
    if (nest.inner() > 32768) offer(&Tuning::block, {32768});
  }
  bool whole = nest.inner() % 64 == 0 || nest.OuterSize(false) * nest.OuterSize(true) == 1;
  if (whole && FullOutputBytes(nest) >= kStreamBytes) offer(&Tuning::streams, {1});
  return changes;
}

bool IsAllowed(const Tuning& tuning, const std::vector<TuningChange>& changes) {
  return std::all_of(std::begin(kFields), std::end(kFields), [&](const Field& f) {
    int64_t value = tuning.*f.value;
    return value == Tuning{}.*f.value ||
           std::any_of(changes.begin(), changes.end(), [&](const TuningChange& c) {
             return c.field == f.value && c.value == value;
           });
  });
}

Tuner::Tuner(std::string key, std::vector<TuningChange> changes, std::shared_ptr<TunedWay> first,
             Maker make)
    : key_(std::move(key)),
      changes_(std::move(changes)),
      make_(std::move(make)),
      first_(first.get()),
      best_(first_) {
  ways_.push_back(std::move(first));
}

bool Tuner::TrialReady() const {
  return trial_ && trial_->code->state() == loops::MachineCode::State::kReady;
}

const TunedWay& Tuner::Next(bool* measure) {
  const TunedWay* best = best_.load(std::memory_order_acquire);
  *measure = !settled_.load(std::memory_order_relaxed) && loops::TuningBudget() > 0;
  if (!*measure) return *best;
  std::unique_lock lock(mutex_, std::try_to_lock);
  return lock && TrialReady() && ++turn_ % 2 == 0 ? *trial_ : *best;
}

int Tuner::Enough() const { return old_.best_ns > kLong ? kLaunches / 2 : kLaunches; }

void Tuner::Took(const TunedWay& way, double ns) {
  run_ns_.store(run_ns_.load(std::memory_order_relaxed) + ns, std::memory_order_relaxed);
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !TrialReady()) return;
  bool is_trial = &way == trial_;
  if (!is_trial && &way != best_.load(std::memory_order_relaxed)) return;  // of an earlier trial
  Side& side = is_trial ? fresh_ : old_;
  side.best_ns = std::min(side.best_ns, ns);
  ++side.launches;
  if (is_trial && old_.launches > 0) loops::SpendTuning(std::max(0.0, ns - old_.best_ns) / 1e9);
  bool hopeless = old_.launches > 1 && fresh_.launches > 1 && !last_ &&
                  fresh_.best_ns > kHopeless * old_.best_ns;
  if (hopeless) return EndTrial(false);
  if (std::min(old_.launches, fresh_.launches) < Enough()) return;
  // The last duel is with the first way, which wins unless it is clearly slower.
  EndTrial(last_ ? old_.best_ns > kBetter * fresh_.best_ns
                 : fresh_.best_ns < kBetter * old_.best_ns);
}

void Tuner::EndTrial(bool better) {
  if (better) best_.store(trial_, std::memory_order_release);
  trial_ = nullptr;
  if (last_)
    Report(true);
  else if (better)
    Report(false);
}

void Tuner::Report(bool complete) {
  loops::TuningResult result;
  result.tuning = Print(best_.load(std::memory_order_relaxed)->tuning);
  result.complete = complete;
  result.trials = static_cast<int64_t>(next_);
  bool kept = best_.load(std::memory_order_relaxed) != first_;
  // In the last duel the first way is the trial.
  if (kept) result.best_ns = last_ ? old_.best_ns : fresh_.best_ns;
  if (kept) result.first_ns = last_ ? fresh_.best_ns : old_.best_ns;
  loops::AddTuning(key_, result);
  if (complete) settled_.store(true, std::memory_order_relaxed);
}

std::shared_ptr<loops::MachineCode> Tuner::NextTrial() {
  std::lock_guard lock(mutex_);
  if (settled_.load(std::memory_order_relaxed)) return nullptr;
  if (trial_ && trial_->code->state() == loops::MachineCode::State::kFailed) trial_ = nullptr;
  if (trial_ || first_->code->state() != loops::MachineCode::State::kReady) return nullptr;
  const TunedWay* best = best_.load(std::memory_order_relaxed);
  while (next_ < changes_.size()) {
    const TuningChange& change = changes_[next_++];
    Tuning tuning = best->tuning;
    if (tuning.*change.field == change.value) continue;
    tuning.*change.field = change.value;
    std::shared_ptr<TunedWay> way = make_(tuning);
    if (!way) continue;
    ways_.push_back(way);
    trial_ = way.get();
    old_ = fresh_ = {};
    return way->code;
  }
  old_ = fresh_ = {};
  last_ = true;
  if (best == first_)
    Report(true);
  else
    trial_ = first_;
  return nullptr;
}

}  // namespace ms::cpu
