// From a trace to a compiled graph.
#include <pybind11/stl.h>

#include "driver/compile.h"
#include "driver/rehearsal.h"
#include "passes/parallel/random_plan.h"
#include "passes/pipeline.h"
#include "python/compiled_graph.h"
#include "python/module.h"
#include "python/slices.h"
#include "python/trace.h"
#include "runtime/machine.h"

namespace ms::python {
namespace py = pybind11;
namespace {

size_t memory_limit = 0;  // 0: none

// How graphs that are compiled from now on are rehearsed; null: they are not.
std::shared_ptr<const parallel::ParallelOptions> rehearsed;
std::map<std::string, int64_t> rehearsed_marks;  // of Parameters, with stages

// Cut at random over a mesh of threads; with `pipeline`, one for each stage.
void SetRehearsal(const std::vector<int64_t>& sizes, uint64_t seed, const py::dict& pipeline) {
  if (sizes.empty()) return void(rehearsed = nullptr);
  auto options = std::make_shared<parallel::ParallelOptions>();
  for (size_t i = 0; i < sizes.size(); ++i)
    options->plan.mesh.axes.push_back({fmt::format("m{}", i), sizes[i]});
  options->plan.mesh.Check();
  rehearsed_marks.clear();
  if (!pipeline.empty()) ReadPipeline(pipeline, options.get(), &rehearsed_marks);
  options->planner = [seed](const Module& module, const parallel::PlanOptions& plan) {
    return parallel::RandomPlan(module, plan, seed);
  };
  rehearsed = std::move(options);
}

// With the marks of the Parameters of a program.
std::shared_ptr<const parallel::ParallelOptions> RehearsalOf(Trace& trace) {
  if (!rehearsed) return nullptr;
  auto options = std::make_shared<parallel::ParallelOptions>(*rehearsed);
  options->pipeline.marks.assign(trace.main()->inputs().size(), parallel::kAllStages);
  for (auto [entry, position] : trace.Positions()) {
    auto marked = rehearsed_marks.find(entry->input.node->name);
    if (marked != rehearsed_marks.end()) options->pipeline.marks[position] = marked->second;
  }
  return options;
}

CompiledGraph CompileTrace(Trace& trace, const std::string& device, bool fast) {
  Graph* main = trace.main();
  std::vector<py::object> parameters(main->inputs().size());
  std::vector<uint32_t> positions;
  for (auto [entry, position] : trace.Positions()) {
    positions.push_back(static_cast<uint32_t>(position));
    parameters[position] = py::reinterpret_borrow<py::object>(entry->parameter);
  }
  auto updates = main->updates;
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<const Rehearsal> rehearsal;
  {
    auto module = trace.module();
    auto cut = ParallelOptionsFor(trace);
    auto rehearse = RehearsalOf(trace);
    py::gil_scoped_release release;
    if (rehearse) {
      module->SweepGraphs();  // what is unfinished goes
      rehearsal = Rehearsal::Make(*module, {device, fast, positions, memory_limit, rehearse});
    }
    executable =
        Compile(module, {device, fast, positions, memory_limit, std::move(cut)}, trace.scope());
  }
  CompiledGraph graph(std::move(executable), std::move(parameters), std::move(updates), trace.kept);
  graph.Rehearse(std::move(rehearsal));
  return graph;
}

}  // namespace

void BindCompile(py::module_& m) {
  // Ctrl-C stops a long run: its machine asks here now and then.
  SetInterruptPoll([] {
    py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  });
  BindCompiledGraph(m);
  m.def("compile", &CompileTrace, py::arg("trace"), py::arg("device"), py::arg("fast") = true);
  m.def(
      "set_memory_limit", [](size_t bytes) { memory_limit = bytes; },
      "What a run of a graph that is compiled from now on may take of its device; 0: all.");
  m.def(
      "set_rehearsal", &SetRehearsal, py::arg("mesh"), py::arg("seed") = 0,
      py::arg("pipeline") = py::dict(),
      "Graphs that are compiled from now on are cut at random over a mesh of these sizes, and run "
      "by as many threads of this process; (): they are not. For tests.");
  m.def("compiled_count", &CompiledCount);
  m.def("pass_runs", &PassRuns, "How often the passes ran since the process began.");
  m.def("clear_compiled", &ClearCompiled);
  m.def("dump_graphs_to", &DumpGraphsTo);
}

}  // namespace ms::python
