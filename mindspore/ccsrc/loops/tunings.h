// What measurements of this process and of earlier ones have found about generated kernels, and the
// time that more of them may take. A device measures; what it chooses among is its own affair.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ms::loops {

// What was found for one kernel; `complete` unless the budget ended before all changes were tried.
struct TuningResult {
  std::string tuning;
  double first_ns = 0, best_ns = 0;
  int64_t trials = 0;
  bool complete = false;
};

// Results of earlier processes on this machine, by the kernel's key.
void LoadTunings(std::vector<std::pair<std::string, TuningResult>> known);
bool FindTuning(const std::string& key, TuningResult* result);
void AddTuning(const std::string& key, const TuningResult& result);
// What was found since the last call.
std::vector<std::pair<std::string, TuningResult>> TakeTunings();

// Tuning goes on until this much time has been spent on it: in making code, and in launches beyond
// what the best way so far takes. 0: none.
void SetTuningBudget(double seconds);
double TuningBudget();  // what is left
void SpendTuning(double seconds);

}  // namespace ms::loops
