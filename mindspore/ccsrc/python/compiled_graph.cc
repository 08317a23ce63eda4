// See compiled_graph.h.
#include "python/compiled_graph.h"

#include <pybind11/stl.h>

#include "passes/parallel/pieces.h"
#include "python/errors.h"
#include "python/op_call.h"
#include "python/views.h"
#include "runtime/machine.h"
#include "tensor/exposure.h"

namespace ms::python {
namespace py = pybind11;
namespace {

// A function that a run returned, with what it captured. Its first result, the tangent of those
// captures, is nothing that Python sees.
class BackwardCall {
 public:
  BackwardCall(RtValue closure, std::vector<py::object> kept)
      : closure_(std::move(closure)), kept_(std::move(kept)) {}

  py::list Run(const py::list& tangents) const {
    std::vector<RtValue> arguments, outputs;
    for (py::handle t : tangents)
      arguments.emplace_back(Snapshot(ValueOf(t.ptr(), "the function that vjp returned")));
    {
      py::gil_scoped_release release;
      Executable::RunClosure(closure_, arguments, &outputs, DefaultRandom().get());
    }
    py::list results;
    for (size_t i = 1; i < outputs.size(); ++i)
      results.append(py::reinterpret_steal<py::object>(NewTensor(outputs[i].tensor())));
    return results;
  }

 private:
  RtValue closure_;
  std::vector<py::object> kept_;
};

}  // namespace

CompiledGraph::CompiledGraph(std::shared_ptr<const Executable> executable,
                             std::vector<py::object> parameters,
                             std::vector<std::pair<int, int>> updates, std::vector<py::object> kept)
    : executable_(std::move(executable)),
      parameters_(std::move(parameters)),
      updates_(std::move(updates)),
      kept_(std::move(kept)) {
  if (dynamic()) return;
  for (const Type& type : executable_->program().main().output_types)
    gives_functions_ |= !type.is_tensor();
}

py::list CompiledGraph::Run(const py::list& arguments) {
  CheckApart(arguments);
  ms::Memory& memory = executable_->backend().memory();
  if (executable_->lowered() && !rehearsal_ && same_inputs_.Next()) CheckSame(arguments);
  SliceParameters();
  for (auto [output, input] : updates_) {
    TensorObject* parameter = AsTensor(parameters_[input].ptr());
    if (!SliceOf(parameter)) Settle(parameter, memory);
  }
  SettleInputs(arguments);
  std::vector<Tensor> inputs = Inputs(arguments);
  if (gives_functions_) {  // which keep what they read
    for (Tensor& input : inputs) input = Snapshot(input);
  }
  std::vector<RtValue> outputs;
  {
    BeingWritten written(kept_.empty());
    for (auto [output, input] : updates_) {
      TakeAlone(AsTensor(parameters_[input].ptr()), inputs[static_cast<size_t>(input)]);
      written.Add(inputs[static_cast<size_t>(input)]);
    }
    std::shared_ptr<RandomState> random = DefaultRandom();
    py::gil_scoped_release release;
    if (rehearsal_)
      rehearsal_->Run(inputs, &outputs, random.get());
    else
      executable_->Run(inputs, &outputs, random.get());
  }
  inputs.clear();
  return Deliver(outputs);
}

void CompiledGraph::Replace(const py::list& parameters) {
  for (py::handle p : parameters) replaced_.insert(AsTensor(p.ptr()));
}

bool CompiledGraph::Fits(const py::list& arguments) const {
  const DynamicProgram* program = executable_->dynamic();
  if (!program) return true;
  try {
    return program->Holds(program->Bind(Inputs(arguments)));
  } catch (const Error&) {
    return false;  // sizes that were one symbol differ
  }
}

bool CompiledGraph::Takes(const py::list& objects) const {
  if (dynamic() || executable_->lowered()) return false;
  size_t next = 0;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i]) continue;
    if (next == objects.size()) return false;
    PyObject* object = PyList_GET_ITEM(objects.ptr(), static_cast<Py_ssize_t>(next++));
    if (Py_TYPE(object) != tensor_type) return false;
    const Type& type = executable_->input_types()[i];
    const TensorObject& tensor = *AsTensor(object);
    if (tensor.dtype() != type.dtype() || tensor.shape() != type.shape()) return false;
  }
  return next == objects.size();
}

std::vector<std::string> CompiledGraph::Assumptions() const {
  return dynamic() ? executable_->dynamic()->Assumptions() : std::vector<std::string>();
}

py::list CompiledGraph::Parameters() const {
  py::list result;
  for (const py::object& p : parameters_) {
    if (p) result.append(p);
  }
  return result;
}

bool CompiledGraph::Repeats() const {
  return !dynamic() && updates_.empty() && kept_.empty() && !executable_->program().random();
}

py::object CompiledGraph::LayoutsOf() const {
  const parallel::Lowered* lowered = executable_->lowered();
  if (!lowered) return py::none();
  auto texts = [&](const std::vector<parallel::Layout>& layouts) {
    py::list result;
    for (const parallel::Layout& layout : layouts) result.append(layout.ToString(lowered->mesh));
    return result;
  };
  py::list groups;
  for (const parallel::ProcessGroup& group : lowered->groups) {
    if (!group.beside) groups.append(group.ranks);
  }
  py::dict result;
  result["inputs"] = texts(lowered->inputs);
  result["outputs"] = texts(lowered->outputs);
  result["groups"] = groups;
  result["stages"] = lowered->held;
  result["warnings"] = lowered->plan.warnings;
  result["seconds"] = lowered->plan.seconds;
  return result;
}

py::dict CompiledGraph::Memory() const {
  if (dynamic()) {
    Throw(ErrorKind::kValue,
          "For 'memory_report', the sizes must be fixed, but the graph was compiled for dynamic "
          "ones.");
  }
  const MemoryReport& report = executable_->memory();
  py::list lines;
  for (const auto& [span, bytes] : report.peak)
    lines.append(py::make_tuple(ShortSpan(span), bytes));
  py::list inputs;  // (the Parameter or None, bytes)
  size_t constants = report.parameters;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    size_t bytes = executable_->input_types()[i].bytes();
    constants -= bytes;
    inputs.append(py::make_tuple(parameters_[i] ? parameters_[i] : py::none(), bytes));
  }
  py::dict result;
  result["inputs"] = inputs;
  result["constants"] = constants;
  result["arena"] = report.arena;
  result["spilled"] = report.spilled;
  result["feature_maps"] = report.feature_maps;
  result["workspace"] = report.workspace;
  result["outputs"] = report.outputs;
  result["peak_by_line"] = lines;
  return result;
}

void CompiledGraph::SettleInputs(const py::list& arguments) const {
  if (!AnyBeingWritten()) return;
  std::vector<PyObject*> read;
  for (const py::object& p : parameters_) {
    if (p) read.push_back(p.ptr());
  }
  for (py::handle argument : arguments) read.push_back(argument.ptr());
  SettleAll(read);
}

std::vector<Tensor> CompiledGraph::Inputs(const py::list& arguments) const {
  std::vector<Tensor> inputs;
  inputs.reserve(parameters_.size());
  ms::Memory& memory = executable_->backend().memory();
  size_t next = 0;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i] && next == arguments.size()) {
      Throw(ErrorKind::kInternal, "a compiled graph must be given more than {} arguments", next);
    }
    PyObject* object = parameters_[i]
                           ? parameters_[i].ptr()
                           : PyList_GET_ITEM(arguments.ptr(), static_cast<Py_ssize_t>(next++));
    if (const Slice* slice = SliceOf(AsTensor(object)); slice && executable_->lowered()) {
      CheckSlice(i, *slice);
      inputs.push_back(slice->piece);
      continue;
    }
    const Tensor& value = ValueOf(object, "a call of a compiled graph");
    inputs.push_back(memory.on_host() ? value : ValueFor(AsTensor(object), memory));
    if (executable_->lowered()) inputs.back() = Piece(i, inputs.back());
    if (!dynamic()) CheckType(i, inputs.back(), object);
  }
  return inputs;
}

// What processes are to be given alike.
void CompiledGraph::CheckSame(const py::list& arguments) const {
  const parallel::Lowered& program = *executable_->lowered();
  std::vector<GivenInput> given;
  size_t number = 0;
  for (size_t i = 0; i < parameters_.size() && number < arguments.size(); ++i) {
    if (parameters_[i]) continue;
    PyObject* object = PyList_GET_ITEM(arguments.ptr(), static_cast<Py_ssize_t>(number++));
    if (program.inputs[i].Pieces(program.mesh) < program.mesh.devices())
      given.push_back({i, number - 1, HostValueOf(object, "a call of a compiled graph")});
  }
  py::gil_scoped_release release;
  same_inputs_.Check(program, given);
}

// Parameters that lie in slices, from their first run on.
void CompiledGraph::SliceParameters() const {
  const parallel::Lowered* lowered = executable_->lowered();
  if (!lowered) return;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    int64_t stage = lowered->held.empty() ? parallel::kAllStages : lowered->held[i];
    if (!parameters_[i] || (lowered->inputs[i].replicated() && stage < 0)) continue;
    TensorObject* parameter = AsTensor(parameters_[i].ptr());
    Slice* slice = SliceOf(parameter);
    if (!slice) {
      SliceTensor(parameter, lowered->mesh, lowered->inputs[i], lowered->rank, stage);
    } else if (slice->stage < 0 && stage >= 0) {  // what ran before had it in all stages
      slice->stage = stage;
      if (!slice->Holds(slice->rank))
        slice->piece = Tensor(slice->whole.dtype(), Shape{int64_t{0}});
    }
  }
}

// A graph that was compiled before the Parameter was sliced may want other pieces.
void CompiledGraph::CheckSlice(size_t i, const Slice& slice) const {
  const parallel::Lowered& lowered = *executable_->lowered();
  if (SameAxes(slice.mesh, lowered.mesh) && slice.layout == lowered.inputs[i] &&
      slice.rank == lowered.rank && (lowered.held.empty() || slice.stage == lowered.held[i]))
    return;
  Throw(ErrorKind::kRuntime,
        "a Parameter must lie as when the graph was compiled, {}, but it lies in slices as {}",
        lowered.inputs[i].ToString(lowered.mesh), slice.layout.ToString(slice.mesh));
}

// What this process needs of an argument, which is whole or this already.
Tensor CompiledGraph::Piece(size_t i, const Tensor& value) const {
  const parallel::Lowered& lowered = *executable_->lowered();
  const Type& whole = lowered.whole_inputs[i];
  if (value.shape() == executable_->input_types()[i].shape() || value.shape() != whole.shape())
    return value;
  return parallel::Cutout(value,
                          lowered.inputs[i].BoxOf(whole.shape(), lowered.mesh, lowered.rank));
}

// The run writes over `input`, the value of a Parameter: others who hold it are to keep it. Only
// arrays outside that share its memory see the update, but no other value.
void CompiledGraph::TakeAlone(TensorObject* parameter, Tensor& input) const {
  if (SliceOf(parameter)) {  // the slice holds it too
    if (input.buffer()->references() > 2) input = input.Copy();
    return;
  }
  Tensor& value = parameter->value;
  parameter->shared = parameter->shared && value.exposed();
  if (&value.memory() != &input.memory()) return;
  if (parameter->shared && !replaced_.contains(parameter)) return;
  const Buffer* buffer = input.buffer().get();
  bool same = value.buffer().get() == buffer;
  // Python code that the graph calls may make a view of it, which is to keep a value that
  // set_data replaces.
  bool may_be_seen = !kept_.empty() && replaced_.contains(parameter);
  if (may_be_seen) return void(input = input.Copy());
  if (!buffer || (buffer->references() <= 1 + same && !buffer->foreign())) return;
  input = input.Copy();
  if (same) value = input;
}

// An input that shows elements of a Parameter that the graph updates would have to change with
// it; views of one that it gives another value, to keep theirs.
void CompiledGraph::CheckApart(const py::list& arguments) const {
  auto check = [&](PyObject* input) {
    const TensorObject* base = Shown(AsTensor(input));
    for (auto [output, updated] : updates_) {
      if (base && base == AsTensor(parameters_[updated].ptr())) throw SharedMemory();
    }
  };
  if (updates_.empty()) return;
  for (const py::object& p : parameters_) {
    if (p) check(p.ptr());
  }
  for (py::handle argument : arguments) check(argument.ptr());
  for (const TensorObject* parameter : replaced_) {
    if (HasViews(parameter)) throw SharedMemory();
  }
}

// Arguments were matched by type; a Parameter may have been given another value since.
void CompiledGraph::CheckType(size_t i, const Tensor& value, PyObject* object) const {
  const Type& type = executable_->input_types()[i];
  if (value.dtype() == type.dtype() && value.shape() == type.shape()) return;
  auto name = py::hasattr(object, "name") ? py::str(py::getattr(object, "name")).cast<std::string>()
                                          : "an input";
  Throw(ErrorKind::kValue, "'{}' must be {} as when the graph was compiled, but got {}.", name,
        type, value.ToString());
}

py::list CompiledGraph::Deliver(std::vector<RtValue>& outputs) {
  size_t n_results = outputs.size() - updates_.size();
  for (size_t k = 0; k < updates_.size(); ++k) {
    TensorObject* parameter = AsTensor(parameters_[updates_[k].second].ptr());
    if (Slice* slice = SliceOf(parameter)) {
      slice->piece = outputs[n_results + k].tensor();
      continue;
    }
    if (replaced_.contains(parameter)) {
      parameter->shared = false;
      if (HasViews(parameter)) Part(parameter);  // made by code that the graph called
    }
    Overwrite(parameter, WrittenOver(parameter, outputs[n_results + k].tensor()), {}, 0);
  }
  py::list results(n_results);
  for (size_t i = 0; i < n_results; ++i) {
    PyObject* object = outputs[i].is_tensor()
                           ? NewTensor(Snapshot(outputs[i].tensor()))
                           : py::cast(BackwardCall(std::move(outputs[i]), kept_)).release().ptr();
    PyList_SET_ITEM(results.ptr(), static_cast<Py_ssize_t>(i), object);
  }
  return results;
}

void BindCompiledGraph(py::module_& m) {
  py::class_<BackwardCall>(m, "BackwardCall").def("run", &BackwardCall::Run);
  py::class_<CompiledGraph>(m, "CompiledGraph")
      .def("run", &CompiledGraph::Run)
      .def("replace", &CompiledGraph::Replace,
           "Updates of these Parameters give them other values, as set_data does.")
      .def_property_readonly("dynamic", &CompiledGraph::dynamic)
      .def("fits", &CompiledGraph::Fits, "Whether this version is right for these sizes.")
      .def_property_readonly("assumptions", &CompiledGraph::Assumptions,
                             "What was assumed about open sizes.")
      .def_property_readonly("parameters", &CompiledGraph::Parameters, "The Parameters it reads.")
      .def_property_readonly("repeats", &CompiledGraph::Repeats,
                             "Whether another run does nothing but give the same results.")
      .def_property_readonly("planned", &CompiledGraph::planned, "How many plans were made of it.")
      .def_property_readonly(
          "layouts", &CompiledGraph::LayoutsOf,
          "How inputs and outputs lie over processes, and the groups; None: whole.")
      .def("memory", &CompiledGraph::Memory, "Bytes by kind, and at the peak by source line.");
  py::register_exception<SharedMemory>(m, "SharedMemory");
}

}  // namespace ms::python
