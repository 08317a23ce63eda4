// The tuners of a process, and whose turn it is.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <map>

#include "backends/cpu/codegen/tuning.h"
#include "base/mutex.h"

namespace ms::cpu {
namespace {

constexpr double kWorthTuning = 1e5;  // nanoseconds of launches before a tuner gets a turn

struct Process {
  Mutex mutex;
  std::map<std::string, std::shared_ptr<Tuner>> tuners;
};

Process& Shared() {
  static auto* process = new Process;  // outlives the threads of the interpreter
  return *process;
}

uint64_t Fnv(uint64_t hash, const void* data, size_t bytes) {
  const auto* p = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}

}  // namespace

std::string TuningKey(const std::string& text, const std::vector<int64_t>& sizes) {
  auto hash = [&](uint64_t seed) {
    seed = Fnv(seed, text.data(), text.size());
    return Fnv(seed, sizes.data(), sizes.size() * sizeof(int64_t));
  };
  return fmt::format("{:016x}{:016x}x{}", hash(0xcbf29ce484222325u), hash(0x9e3779b97f4a7c15u),
                     omp_get_max_threads());
}

std::shared_ptr<Tuner> TunerOf(const std::string& key,
                               const std::function<std::shared_ptr<Tuner>()>& make) {
  Process& process = Shared();
  std::lock_guard lock(process.mutex);
  auto it = process.tuners.find(key);
  if (it == process.tuners.end()) it = process.tuners.emplace(key, make()).first;
  return it->second;
}

std::shared_ptr<loops::MachineCode> NextTuningTrial() {
  Process& process = Shared();
  std::vector<std::pair<double, std::shared_ptr<Tuner>>> turns;
  {
    std::lock_guard lock(process.mutex);
    for (const auto& [key, tuner] : process.tuners) {
      if (tuner->run_ns() > kWorthTuning) turns.emplace_back(tuner->run_ns(), tuner);
    }
  }
  std::sort(turns.begin(), turns.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [ns, tuner] : turns) {
    if (std::shared_ptr<loops::MachineCode> code = tuner->NextTrial()) return code;
  }
  return nullptr;
}

}  // namespace ms::cpu
