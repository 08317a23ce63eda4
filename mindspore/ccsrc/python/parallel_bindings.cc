// Programs that are cut over processes: what the next compilations are told, and how pieces of
// tensors are made and joined.
#include <pybind11/stl.h>

#include "ir/users_span.h"
#include "passes/parallel/eliminate.h"
#include "passes/parallel/explain.h"
#include "passes/parallel/pieces.h"
#include "passes/pipeline.h"
#include "python/convert.h"
#include "python/module.h"
#include "python/slices.h"
#include "python/trace.h"
#include "python/views.h"

namespace ms::python {
namespace py = pybind11;
namespace {

using Texts = std::map<std::string, std::string>;
using Pins = std::map<size_t, std::string>;

// What set_parallel was told.
struct Settings {
  parallel::ParallelOptions options;
  Pins inputs, outputs;
  Texts parameters;
  std::map<std::string, int64_t> stages;  // marks of Parameters
  std::string Key() const {
    std::string key = options.Key();
    for (const auto& [i, text] : inputs) key += fmt::format("; in {} {}", i, text);
    for (const auto& [i, text] : outputs) key += fmt::format("; out {} {}", i, text);
    for (const auto& [name, text] : parameters) key += fmt::format("; {} {}", name, text);
    for (const auto& [name, stage] : stages) key += fmt::format("; {} in {}", name, stage);
    return key;
  }
};
// Of this thread: what others compile meanwhile is not cut.
thread_local std::unique_ptr<const Settings> settings;

parallel::Mesh MeshFrom(const py::sequence& given) {
  parallel::Mesh mesh;
  for (py::handle item : given) {
    auto axis = item.cast<py::tuple>();
    if (axis.size() != 2 && axis.size() != 4) {
      Throw(ErrorKind::kValue,
            "For 'mesh', an axis must be (name, size) or (name, size, alpha, beta), but got {} "
            "items.",
            axis.size());
    }
    parallel::MeshAxis made{axis[0].cast<std::string>(), axis[1].cast<int64_t>()};
    if (axis.size() == 4) {
      made.alpha = axis[2].cast<double>();
      made.beta = axis[3].cast<double>();
    }
    mesh.axes.push_back(std::move(made));
  }
  mesh.Check();
  return mesh;
}

void CheckRank(const parallel::Mesh& mesh, int64_t rank) {
  if (rank >= 0 && rank < mesh.devices()) return;
  Throw(ErrorKind::kValue, "For 'global_rank', the rank must be in [0, {}), but got {}.",
        mesh.devices(), rank);
}

parallel::Mode ModeFrom(const std::string& name) {
  if (name == "auto") return parallel::Mode::kSearch;
  if (name == "semi_auto") return parallel::Mode::kSemiAuto;
  if (name == "recursive") return parallel::Mode::kRecursive;
  if (name == "propagation") return parallel::Mode::kPropagation;
  if (name == "data") return parallel::Mode::kDataParallel;
  Throw(ErrorKind::kValue,
        "For 'mode', the value must be 'auto', 'semi_auto', 'recursive', 'propagation' or 'data', "
        "but got '{}'.",
        name);
}

parallel::Scheduler SchedulerFrom(const std::string& name) {
  if (name.empty()) return parallel::Scheduler::kBest;
  if (name == "gpipe") return parallel::Scheduler::kGpipe;
  if (name == "1f1b") return parallel::Scheduler::k1F1B;
  Throw(ErrorKind::kValue,
        "For 'pipeline_scheduler', the schedule must be 'gpipe', '1f1b' or '', but got '{}'.",
        name);
}

void SetParallel(const py::object& mesh, int64_t rank, const std::string& mode, Pins inputs,
                 Texts parameters, Pins outputs, int64_t memory_limit, const py::dict& device,
                 const py::dict& pipeline, bool lightest) {
  if (mesh.is_none()) return void(settings = nullptr);
  auto made = std::make_unique<Settings>();
  parallel::PlanOptions& plan = made->options.plan;
  plan.mesh = MeshFrom(mesh.cast<py::sequence>());
  CheckRank(plan.mesh, rank);
  made->options.rank = rank;
  plan.mode = ModeFrom(mode);
  plan.memory_limit = memory_limit;
  plan.lightest = lightest;
  for (auto [name, value] : device) {
    auto key = name.cast<std::string>();
    if (key == "flops") {
      plan.device.flops = value.cast<double>();
    } else if (key == "bytes") {
      plan.device.bytes = value.cast<double>();
    } else if (key == "launch") {
      plan.device.launch = value.cast<double>();
    } else if (key == "memory") {
      plan.device.memory = value.cast<int64_t>();
    } else {
      Throw(ErrorKind::kValue,
            "For 'device', the keys must be 'flops', 'bytes', 'launch' and 'memory', but got '{}'.",
            key);
    }
  }
  made->inputs = std::move(inputs);
  made->parameters = std::move(parameters);
  made->outputs = std::move(outputs);
  if (!pipeline.empty()) ReadPipeline(pipeline, &made->options, &made->stages);
  settings = std::move(made);
}

py::object DescribedSlice(py::handle parameter) {
  const Slice* slice = IsTensor(parameter.ptr()) ? SliceOf(AsTensor(parameter.ptr())) : nullptr;
  if (!slice) return py::none();
  py::dict result;
  py::list mesh, box;
  for (const parallel::MeshAxis& axis : slice->mesh.axes)
    mesh.append(py::make_tuple(axis.name, axis.size));
  for (const parallel::Extent& extent : slice->box())
    box.append(py::make_tuple(extent.offset, extent.size));
  result["layout"] = slice->layout.ToString(slice->mesh);
  result["mesh"] = py::tuple(mesh);
  result["rank"] = slice->rank;
  result["stage"] = slice->stage;
  result["held"] = slice->Holds(slice->rank);
  result["local_shape"] = py::tuple(py::cast(slice->piece.shape().ToInts()));
  result["box"] = py::tuple(box);
  return result;
}

Slice& NeededSlice(py::handle parameter) {
  Slice* slice = IsTensor(parameter.ptr()) ? SliceOf(AsTensor(parameter.ptr())) : nullptr;
  if (!slice) Throw(ErrorKind::kValue, "the Parameter must lie in slices, but it is whole");
  return *slice;
}

py::object Wrapped(Tensor value) {
  return py::reinterpret_steal<py::object>(NewTensor(std::move(value)));
}

void SetLocalValue(py::handle parameter, py::handle piece) {
  Slice& slice = NeededSlice(parameter);
  Tensor value = HostValueOf(piece.ptr(), "set_local_value");
  if (value.dtype() != slice.whole.dtype() || value.shape() != slice.piece.shape()) {
    Throw(ErrorKind::kValue, "the piece must be {}, but got {}", slice.piece.ToString(),
          value.ToString());
  }
  slice.piece = value.Copy();
}

void Unslice(py::handle parameter) {
  Tensor whole = GatherSlice(NeededSlice(parameter));
  ForgetSlice(AsTensor(parameter.ptr()));
  Overwrite(AsTensor(parameter.ptr()), std::move(whole), {}, 0);
}

parallel::Box BoxFrom(const std::string& layout, const Ints& shape, const parallel::Mesh& mesh,
                      int64_t rank) {
  CheckRank(mesh, rank);
  parallel::Layout parsed = parallel::Layout::Parse(layout, static_cast<int>(shape.size()), mesh);
  return parsed.BoxOf(Shape(shape), mesh, rank);
}

py::tuple LayoutBox(const std::string& layout, const Ints& shape, const py::sequence& mesh,
                    int64_t rank) {
  py::list box;
  for (const parallel::Extent& extent : BoxFrom(layout, shape, MeshFrom(mesh), rank))
    box.append(py::make_tuple(extent.offset, extent.size));
  return py::tuple(box);
}

py::object SliceOfTensor(py::handle tensor, const std::string& layout, const py::sequence& mesh,
                         int64_t rank) {
  Tensor value = HostValueOf(tensor.ptr(), "slice_tensor");
  return Wrapped(
      parallel::Cutout(value, BoxFrom(layout, value.shape().ToInts(), MeshFrom(mesh), rank)));
}

void SliceParameter(py::handle parameter, const std::string& layout, const py::sequence& mesh,
                    int64_t rank) {
  if (!IsParameter(parameter.ptr()))
    Throw(ErrorKind::kType, "a Parameter must be given, but got {}", TypeName(parameter.ptr()));
  TensorObject* tensor = AsTensor(parameter.ptr());
  Refresh(tensor);
  parallel::Mesh made = MeshFrom(mesh);
  CheckRank(made, rank);
  SliceTensor(tensor, made, parallel::Layout::Parse(layout, tensor->shape().rank(), made), rank);
}

py::object GatherTensor(py::handle piece, const Ints& shape, const std::string& layout,
                        const py::sequence& mesh, int64_t rank) {
  Tensor value = HostValueOf(piece.ptr(), "gather_tensor");
  Slice slice{value, Type(value.dtype(), Shape(shape)), MeshFrom(mesh), {}, rank};
  CheckRank(slice.mesh, rank);
  slice.layout = parallel::Layout::Parse(layout, static_cast<int>(shape.size()), slice.mesh);
  Shape wanted = slice.layout.Local(slice.whole.shape(), slice.mesh, rank);
  if (!(value.shape() == wanted))
    Throw(ErrorKind::kValue, "the piece of rank {} must have shape {}, but got {}", rank, wanted,
          value.shape());
  return Wrapped(GatherSlice(slice));
}

}  // namespace

void ReadPipeline(const py::dict& given, parallel::ParallelOptions* options,
                  std::map<std::string, int64_t>* marks) {
  parallel::PipelineOptions& pipeline = options->pipeline;
  pipeline.stages = given["stages"].cast<int64_t>();
  pipeline.stage = given["stage"].cast<int64_t>();
  *marks = given["marks"].cast<std::map<std::string, int64_t>>();
  pipeline.scheduler = SchedulerFrom(given["schedule"].cast<std::string>());
  if (given.contains("link"))
    std::tie(pipeline.alpha, pipeline.beta) = given["link"].cast<std::pair<double, double>>();
  if (pipeline.stages < 1 || pipeline.stages > parallel::kMostStages) {
    Throw(ErrorKind::kValue, "For 'pipeline_stages', the value must be in [1, {}], but got {}.",
          parallel::kMostStages, pipeline.stages);
  }
  options->AllDevices().Check();
}

std::shared_ptr<const parallel::ParallelOptions> ParallelOptionsFor(Trace& trace) {
  if (!settings) return nullptr;
  auto options = std::make_shared<parallel::ParallelOptions>(settings->options);
  parallel::PlanOptions& plan = options->plan;
  const Graph& main = *trace.main();
  Types inputs = main.InputTypes();
  auto pin = [&](const std::string& text, const Type& type) {
    return parallel::Layout::Parse(text, type.shape().rank(), plan.mesh);
  };
  plan.inputs.resize(inputs.size());
  plan.parameters.resize(inputs.size(), false);
  options->pipeline.marks.assign(inputs.size(), parallel::kAllStages);
  parallel::Mesh all = options->AllDevices();
  for (auto [entry, position] : trace.Positions()) {
    plan.parameters[position] = true;
    const Node& node = *entry->input.node;
    auto pinned = settings->parameters.find(node.name);
    if (pinned != settings->parameters.end())
      plan.inputs[position] = pin(pinned->second, inputs[position]);
    auto marked = settings->stages.find(node.name);
    if (marked != settings->stages.end()) options->pipeline.marks[position] = marked->second;
    const Slice* slice = SliceOf(AsTensor(entry->parameter));
    if (!slice) continue;
    if (!SameAxes(slice->mesh, all) || slice->rank != options->RankOfAll()) {
      Throw(ErrorKind::kValue,
            "For 'parallel_mode', the Parameter '{}' must lie on the mesh of the program, but it "
            "lies "
            "in slices on another one.",
            node.name);
    }
    plan.inputs[position] = pin(slice->layout.ToString(all), inputs[position]);
    if (slice->stage >= 0) options->pipeline.marks[position] = slice->stage;
  }
  size_t argument = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (plan.parameters[i]) continue;
    auto pinned = settings->inputs.find(argument++);
    if (pinned != settings->inputs.end()) plan.inputs[i] = pin(pinned->second, inputs[i]);
  }
  // What goes back to Python is whole.
  Types outputs = main.OutputTypes();
  plan.outputs.resize(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto pinned = settings->outputs.find(i);
    if (!outputs[i].is_tensor()) continue;
    plan.outputs[i] = pinned == settings->outputs.end()
                          ? parallel::Layout::Replicated(outputs[i].shape().rank())
                          : pin(pinned->second, outputs[i]);
  }
  for (auto [output, input] : main.updates) plan.outputs[static_cast<size_t>(output)].reset();
  return options;
}

namespace {

struct Planned {};  // leaves the passes when the plan is made

// What the search minimised last, as lists: of each variable a vector, and (from, to, table) of
// pairs.
struct ShownModel {
  std::vector<std::vector<float>> own;
  std::vector<std::tuple<int, int, int>> pairs;
  std::map<int, std::tuple<int, int, std::vector<float>>> tables;  // rows, columns, values
  double cost = 0;

  void Keep(const parallel::CostModel& model, const parallel::TablePool& pool, double found) {
    *this = {};
    cost = found;
    for (int vector : model.own) own.push_back(pool[vector].values);
    for (const parallel::Weighted& w : model.pairs) {
      pairs.emplace_back(w.from, w.to, w.table);
      const auto& table = pool[w.table];
      tables.try_emplace(w.table, table.rows, table.columns, table.values);
    }
  }
};

// The plan of what was traced, in words. Nothing is compiled; the trace cannot be used afterwards.
py::dict PlanTrace(Trace& trace, bool model) {
  auto told = ParallelOptionsFor(trace);
  if (!told) Throw(ErrorKind::kRuntime, "set_parallel must have been told a mesh, but was not");
  auto options = std::make_shared<parallel::ParallelOptions>(*told);
  options->plan.alternatives = !options->plan.lightest;
  parallel::Explanation made;
  ShownModel shown;
  if (model) {
    options->plan.shown = [&](const auto&... all) { shown.Keep(all...); };
  }
  options->planner = [&](const Module& module,
                         const parallel::PlanOptions& plan) -> parallel::Plan {
    parallel::Plan planned = parallel::MakePlan(module, plan);
    if (!plan.lightest) made = parallel::Explain(module, planned);
    if (options->pipeline.stages == 1) throw Planned();
    return planned;
  };
  options->reported = [&](const parallel::PipelineReport& report) {
    if (!options->plan.lightest) parallel::AddPipeline(report, &made);
    throw Planned();
  };
  PassOptions passes;
  passes.parallel = options;
  auto module = trace.module();
  auto scope = trace.scope();
  try {
    py::gil_scoped_release release;
    DimScope::Use use(&scope);
    Optimize(*module, passes);
  } catch (const Planned&) {
  }
  py::dict result;
  if (options->plan.lightest) return result;
  result["text"] = parallel::ToText(made);
  result["json"] = parallel::ToJson(made);
  if (model) {
    result["model"] = py::make_tuple(shown.own, shown.pairs, shown.tables);
    result["cost"] = shown.cost;
  }
  return result;
}

// A schedule by name, and what becomes of it.
py::dict Scheduled(const std::string& name, int stages, int parts,
                   const std::vector<double>& forward, const std::vector<double>& backward,
                   double transfer) {
  auto one = static_cast<size_t>(stages);
  if (stages < 1 || parts < 1 || forward.size() != one || backward.size() != one) {
    Throw(ErrorKind::kValue,
          "a schedule must have at least 1 stage and 1 part, and costs of each stage, but got {} "
          "and {}",
          stages, parts);
  }
  parallel::Schedule schedule = parallel::Make(SchedulerFrom(name), stages, parts);
  parallel::Simulation run = parallel::Simulate(schedule, {forward, backward, transfer});
  auto tasks = [](const std::vector<parallel::StageTask>& list) {
    py::list made;
    for (const parallel::StageTask& t : list)
      made.append(py::make_tuple(t.stage, t.part, t.backward));
    return made;
  };
  py::list lists;
  for (const auto& list : schedule) lists.append(tasks(list));
  py::dict result;
  result["tasks"] = lists;
  result["order"] = tasks(run.order);
  result["begin"] = run.begin;
  result["critical"] = tasks(run.critical);
  result["seconds"] = run.seconds;
  result["bubble"] = run.bubble;
  result["most_parts"] = parallel::MostParts(schedule);
  return result;
}

}  // namespace

void BindParallel(py::module_& m) {
  m.def("set_parallel", &SetParallel, py::arg("mesh"), py::arg("rank") = 0,
        py::arg("mode") = "auto", py::arg("inputs") = Pins(), py::arg("parameters") = Texts(),
        py::arg("outputs") = Pins(), py::arg("memory_limit") = 0, py::arg("device") = py::dict(),
        py::arg("pipeline") = py::dict(), py::arg("lightest") = false,
        "Graphs that this thread compiles from now on are cut over a mesh of processes, of which "
        "this one is `rank`; mesh=None: they are not.");
  m.def(
      "parallel_key", [] { return settings ? settings->Key() : std::string(); },
      "What set_parallel was told, as a text; '' for nothing.");
  m.attr("MOST_AXES") = parallel::kMaxAxes;
  m.def("plan", &PlanTrace, py::arg("trace"), py::arg("model") = false,
        "How a traced program is cut over the mesh of set_parallel, as 'text' and 'json'; with "
        "'model' also what was minimised, for tests.");
  m.def("set_own_files", &SetOwnFiles, py::arg("prefix"),
        "Files whose path begins so are the package's: plans name lines of others.");
  m.def(
      "pipeline_schedule", &Scheduled, py::arg("name"), py::arg("stages"), py::arg("parts"),
      py::arg("forward"), py::arg("backward"), py::arg("transfer"),
      "The tasks (stage, part, whether backward) of each stage of a pipeline, in order, and their "
      "simulation.");
  m.def("slice_layout", &DescribedSlice, "How a Parameter lies in slices, or None.");
  m.def(
      "gather_parameter", [](py::handle p) { return Wrapped(GatherSlice(NeededSlice(p))); },
      "The whole value of a Parameter that lies in slices: all processes call it together.");
  m.def(
      "local_value", [](py::handle p) { return Wrapped(NeededSlice(p).piece.Copy()); },
      "This process's piece of a Parameter that lies in slices.");
  m.def("set_local_value", &SetLocalValue);
  m.def("unslice", &Unslice, "Gathers a Parameter that lies in slices; all call it together.");
  m.def("slice_parameter", &SliceParameter, py::arg("parameter"), py::arg("layout"),
        py::arg("mesh"), py::arg("rank"), "Keeps the piece of one process of a Parameter.");
  m.def("layout_box", &LayoutBox, py::arg("layout"), py::arg("shape"), py::arg("mesh"),
        py::arg("rank"), "Offset and size of each dimension of a process's piece.");
  m.def("slice_tensor", &SliceOfTensor, py::arg("tensor"), py::arg("layout"), py::arg("mesh"),
        py::arg("rank"), "A process's piece of a tensor.");
  m.def("gather_tensor", &GatherTensor, py::arg("piece"), py::arg("shape"), py::arg("layout"),
        py::arg("mesh"), py::arg("rank"), "The tensor of all pieces: all call it together.");
}

}  // namespace ms::python
