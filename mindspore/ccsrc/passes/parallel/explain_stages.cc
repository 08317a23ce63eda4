// The stages of a pipeline in words: what each one holds and takes, the schedules there are, and
// the tasks that the time of a step is made of.
#include <algorithm>

#include "passes/parallel/explain.h"
#include "passes/parallel/explain_text.h"

namespace ms::parallel {
namespace {

constexpr size_t kShown = 24;  // tasks of the critical path

// "F0@1": part 0 forward in stage 1.
std::string TaskText(const StageTask& task) {
  return fmt::format("{}{}@{}", task.backward ? 'B' : 'F', task.part, task.stage);
}

std::string TaskJson(const StageTask& task) {
  return fmt::format(R"([{}, {}, "{}"])", task.stage, task.part,
                     task.backward ? "backward" : "forward");
}

std::string StageJson(const StageReport& s) {
  return fmt::format(
      R"({{"forward_seconds": {}, "backward_seconds": {}, "parameter_bytes": {}, "kept_bytes": {}, )"
      R"("most_kept_bytes": {}, "parameters": {}}})",
      s.forward, s.backward, s.parameters, s.kept, s.most_kept, JsonList(s.holds, Quoted));
}

std::string ScheduleJson(const ChosenSchedule& c) {
  return fmt::format(R"({{"name": "{}", "seconds": {}, "bubble": {}, "most_kept_bytes": {}}})",
                     Name(c.scheduler), c.simulation.seconds, c.simulation.bubble,
                     JsonList(c.most_kept, [](int64_t n) { return std::to_string(n); }));
}

}  // namespace

void AddPipeline(const PipelineReport& report, Explanation* e) {
  e->pipeline = report;
  e->warnings.insert(e->warnings.end(), report.warnings.begin(), report.warnings.end());
  e->devices *= static_cast<int64_t>(report.stages.size());
  e->memory.parameters = e->memory.activations = 0;
  e->compute_seconds = 0;
  for (const StageReport& stage : report.stages) {
    double seconds = (stage.forward + stage.backward) * static_cast<double>(report.parts);
    e->compute_seconds = std::max(e->compute_seconds, seconds);
    if (stage.parameters + stage.most_kept >= e->memory.parameters + e->memory.activations) {
      e->memory.parameters = stage.parameters;
      e->memory.activations = stage.most_kept;
    }
  }
  e->seconds = report.seconds();
  e->communication_seconds = std::max(0.0, e->seconds - e->compute_seconds);  // and waiting
  e->bound = e->compute_seconds;
}

std::string ToText(const PipelineReport& r) {
  const ChosenSchedule& used = r.schedules[0];
  std::string text = fmt::format(
      "{} stages, {} parts of the batch, schedule {}: {}, of which devices wait {:.1f} %\n",
      r.stages.size(), r.parts, Name(used.scheduler), Time(r.seconds()),
      100 * used.simulation.bubble);
  for (size_t s = 0; s < r.stages.size(); ++s) {
    const StageReport& stage = r.stages[s];
    text += fmt::format(
        "  stage {}: a part takes {} forward and {} backward; a device holds {} of Parameters and "
        "keeps at most {}\n",
        s, Time(stage.forward), Time(stage.backward), Size(stage.parameters),
        Size(stage.most_kept));
  }
  for (size_t i = 1; i < r.schedules.size(); ++i) {
    const ChosenSchedule& other = r.schedules[i];
    text += fmt::format("  rejected: {}, {}, waiting {:.1f} %\n", Name(other.scheduler),
                        Time(other.simulation.seconds), 100 * other.simulation.bubble);
  }
  if (!r.note.empty()) text += fmt::format("  {}\n", r.note);
  text += "  critical path:";
  const auto& path = used.simulation.critical;
  for (size_t i = 0; i < path.size() && i < kShown; ++i) text += " " + TaskText(path[i]);
  return text + (path.size() > kShown ? " ...\n" : "\n");
}

std::string ToJson(const PipelineReport& r) {
  const ChosenSchedule& used = r.schedules[0];
  return fmt::format(
      R"({{"schedule": "{}", "parts": {}, "seconds": {}, "bubble": {}, "transfer_seconds": {}, )"
      R"("stages": {}, "schedules": {}, "note": {}, "critical_path": {}}})",
      Name(used.scheduler), r.parts, r.seconds(), used.simulation.bubble, r.transfer,
      JsonList(r.stages, StageJson), JsonList(r.schedules, ScheduleJson), Quoted(r.note),
      JsonList(used.simulation.critical, TaskJson));
}

}  // namespace ms::parallel
