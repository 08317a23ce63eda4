#include "loops/tunings.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"

namespace ms::loops {
namespace {

struct Known {
  std::atomic<double> budget{0};

  Mutex mutex;  // of what follows
  std::unordered_map<std::string, TuningResult> results;
  std::vector<std::pair<std::string, TuningResult>> fresh;
};

Known& Shared() {
  static auto* known = new Known;  // outlives the threads of the interpreter
  return *known;
}

}  // namespace

void LoadTunings(std::vector<std::pair<std::string, TuningResult>> known) {
  Known& shared = Shared();
  std::lock_guard lock(shared.mutex);
  for (auto& [key, result] : known) shared.results.insert_or_assign(key, std::move(result));
}

bool FindTuning(const std::string& key, TuningResult* result) {
  Known& shared = Shared();
  std::lock_guard lock(shared.mutex);
  auto it = shared.results.find(key);
  if (it != shared.results.end()) *result = it->second;
  return it != shared.results.end();
}

void AddTuning(const std::string& key, const TuningResult& result) {
  Known& shared = Shared();
  std::lock_guard lock(shared.mutex);
  shared.results.insert_or_assign(key, result);
  shared.fresh.emplace_back(key, result);
}

std::vector<std::pair<std::string, TuningResult>> TakeTunings() {
  Known& shared = Shared();
  std::lock_guard lock(shared.mutex);
  return std::exchange(shared.fresh, {});
}

void SetTuningBudget(double seconds) { Shared().budget = seconds; }
double TuningBudget() { return Shared().budget.load(std::memory_order_relaxed); }

void SpendTuning(double seconds) {
  std::atomic<double>& budget = Shared().budget;
  double left = budget.load();
  while (!budget.compare_exchange_weak(left, std::max(0.0, left - seconds))) {
  }
}

}  // namespace ms::loops
