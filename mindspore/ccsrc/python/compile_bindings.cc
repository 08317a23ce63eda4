// Compiled graphs and the check of the Python facts they rest on.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstring>

#include "driver/compile.h"
#include "passes/pipeline.h"
#include "python/errors.h"
#include "python/module.h"
#include "python/op_call.h"
#include "python/tensor_object.h"
#include "python/trace.h"
#include "runtime/frames.h"

namespace ms::python {
namespace py = pybind11;
namespace {

// ---- guards
// -----------------------------------------------------------------------------------------------
PyObject* missing = nullptr;

enum FactKind { kItem, kAttribute, kClosure, kList, kDict, kArray };

// Identity, or equality for immutable Python values of one type.
bool Same(PyObject* now, PyObject* expected) {
  if (now == expected) return true;
  if (!now || !expected || Py_TYPE(now) != Py_TYPE(expected)) return false;
  if (PyFloat_Check(now)) {  // bit for bit: -0.0 is not 0.0, a nan is itself
    double a = PyFloat_AS_DOUBLE(now);
    double b = PyFloat_AS_DOUBLE(expected);
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
  bool simple =
      PyLong_Check(now) || PyUnicode_Check(now) || PyBytes_Check(now) || PyComplex_Check(now);
  if (simple) {
    int equal = PyObject_RichCompareBool(now, expected, Py_EQ);
    if (equal < 0) PyErr_Clear();
    return equal == 1;
  }
  if (PyTuple_CheckExact(now)) {
    Py_ssize_t n = PyTuple_GET_SIZE(now);
    if (n != PyTuple_GET_SIZE(expected)) return false;
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (!Same(PyTuple_GET_ITEM(now, i), PyTuple_GET_ITEM(expected, i))) return false;
    }
    return true;
  }
  // Bound methods are made anew at every read.
  if (PyMethod_Check(now)) {
    return PyMethod_GET_SELF(now) == PyMethod_GET_SELF(expected) &&
           PyMethod_GET_FUNCTION(now) == PyMethod_GET_FUNCTION(expected);
  }
  return false;
}

bool ListHolds(PyObject* list, PyObject* expected) {
  Py_ssize_t n = PyList_GET_SIZE(list);
  if (n != PyTuple_GET_SIZE(expected)) return false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (!Same(PyList_GET_ITEM(list, i), PyTuple_GET_ITEM(expected, i))) return false;
  }
  return true;
}

bool DictHolds(PyObject* dict, PyObject* expected) {
  if (PyDict_GET_SIZE(dict) != PyDict_GET_SIZE(expected)) return false;
  PyObject *key, *value;
  Py_ssize_t at = 0;
  while (PyDict_Next(expected, &at, &key, &value)) {
    if (!Same(PyDict_GetItem(dict, key), value)) return false;
  }
  return true;
}

bool ArrayHolds(PyObject* array, PyObject* expected) {
  py::array a = py::reinterpret_borrow<py::array>(array);
  py::array b = py::reinterpret_borrow<py::array>(expected);
  return a.attr("shape").equal(b.attr("shape")) && a.dtype().equal(b.dtype()) &&
         a.attr("tobytes")().equal(b.attr("tobytes")());
}

bool Holds(PyObject* fact) {
  long kind = PyLong_AsLong(PyTuple_GET_ITEM(fact, 0));
  PyObject* owner = PyTuple_GET_ITEM(fact, 1);
  PyObject* key = PyTuple_GET_ITEM(fact, 2);
  PyObject* expected = PyTuple_GET_ITEM(fact, 3);
  switch (kind) {
    case kItem: {
      PyObject* now = PyDict_GetItem(owner, key);
      return now ? Same(now, expected) : expected == missing;
    }
    case kAttribute: {
      PyObject* now = PyObject_GetAttr(owner, key);
      if (!now) PyErr_Clear();
      bool same = now ? Same(now, expected) : expected == missing;
      Py_XDECREF(now);
      return same;
    }
    case kClosure:
      return Same(PyCell_GET(owner), expected);
    case kList:
      return ListHolds(owner, expected);
    case kDict:
      return DictHolds(owner, expected);
    default:
      return ArrayHolds(owner, expected);
  }
}

// Position of the first fact that no longer holds, or -1.
PyObject* CheckGuards(PyObject*, PyObject* facts) {
  return Guarded([&]() -> PyObject* {
    Py_ssize_t n = PyList_GET_SIZE(facts);
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (!Holds(PyList_GET_ITEM(facts, i))) return PyLong_FromSsize_t(i);
    }
    return PyLong_FromLong(-1);
  });
}

PyMethodDef quick[] = {
    {"check_guards", CheckGuards, METH_O, "Position of the first fact that does not hold, or -1."},
    {nullptr, nullptr, 0, nullptr}};

// ---- compiled graphs
// --------------------------------------------------------------------------------------
class CompiledGraph {
 public:
  CompiledGraph(std::shared_ptr<const Executable> executable, std::vector<py::object> parameters,
                std::vector<std::pair<int, int>> updates, std::vector<py::object> kept)
      : executable_(std::move(executable)),
        parameters_(std::move(parameters)),
        updates_(std::move(updates)),
        kept_(std::move(kept)) {}

  // `arguments` fill the inputs that are not Parameters, in order.
  py::list Run(const py::list& arguments) {
    for (auto [output, input] : updates_) AsTensor(parameters_[input].ptr())->value.MakeUnique();
    std::vector<Tensor> inputs;
    inputs.reserve(parameters_.size());
    size_t next = 0;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      PyObject* object = parameters_[i]
                             ? parameters_[i].ptr()
                             : PyList_GET_ITEM(arguments.ptr(), static_cast<Py_ssize_t>(next++));
      inputs.push_back(ValueOf(object, "a call of a compiled graph"));
      CheckType(i, inputs.back(), object);
    }
    std::vector<RtValue> outputs;
    {
      py::gil_scoped_release release;
      executable_->Run(inputs, &outputs, &DefaultRandom());
    }
    inputs.clear();
    return Deliver(outputs);
  }

  py::dict Memory() const {
    const MemoryReport& report = executable_->memory();
    py::list lines;
    for (const auto& [span, bytes] : report.peak)
      lines.append(py::make_tuple(ShortSpan(span), bytes));
    py::dict result;
    result["parameters"] = report.parameters;
    result["feature_maps"] = report.feature_maps;
    result["workspace"] = report.workspace;
    result["outputs"] = report.outputs;
    result["peak_by_line"] = lines;
    return result;
  }

 private:
  // Arguments were matched by type; a Parameter may have been given another value since.
  void CheckType(size_t i, const Tensor& value, PyObject* object) const {
    const Type& type = executable_->input_types()[i];
    if (value.dtype() == type.dtype() && value.shape() == type.shape()) return;
    auto name = py::hasattr(object, "name")
                    ? py::str(py::getattr(object, "name")).cast<std::string>()
                    : "an input";
    Throw(ErrorKind::kValue, "'{}' must be {} as when the graph was compiled, but got {}.", name,
          type, value.ToString());
  }

  py::list Deliver(std::vector<RtValue>& outputs) {
    size_t n_results = outputs.size() - updates_.size();
    for (size_t k = 0; k < updates_.size(); ++k) {
      TensorObject* parameter = AsTensor(parameters_[updates_[k].second].ptr());
      parameter->value = outputs[n_results + k].tensor();
      parameter->owner = 0;
    }
    py::list results(n_results);
    for (size_t i = 0; i < n_results; ++i) {
      PyList_SET_ITEM(results.ptr(), static_cast<Py_ssize_t>(i), NewTensor(outputs[i].tensor()));
    }
    return results;
  }

  std::shared_ptr<const Executable> executable_;
  std::vector<py::object> parameters_;  // by input position; null: an argument
  std::vector<std::pair<int, int>> updates_;
  std::vector<py::object> kept_;  // host functions
};

CompiledGraph CompileTrace(Trace& trace, const std::string& device) {
  Graph* main = trace.main();
  auto inputs = main->inputs();
  std::vector<py::object> parameters(inputs.size());
  for (const Trace::Entry& e : trace.environment()) {
    auto at = std::find(inputs.begin(), inputs.end(), e.input) - inputs.begin();
    parameters[static_cast<size_t>(at)] = py::reinterpret_borrow<py::object>(e.parameter);
  }
  auto updates = main->updates;
  std::shared_ptr<const Executable> executable;
  {
    auto module = trace.module();
    py::gil_scoped_release release;
    executable = Compile(module, {device});
  }
  return CompiledGraph(std::move(executable), std::move(parameters), std::move(updates),
                       trace.kept);
}

}  // namespace

void BindCompile(py::module_& m) {
  // Ctrl-C stops a long run: its machine asks here now and then.
  SetInterruptPoll([] {
    py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  });
  missing = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  m.attr("GUARD_MISSING") = py::reinterpret_borrow<py::object>(missing);
  PyModule_AddFunctions(m.ptr(), quick);
  py::class_<CompiledGraph>(m, "CompiledGraph")
      .def("run", &CompiledGraph::Run)
      .def("memory", &CompiledGraph::Memory, "Bytes by kind, and at the peak by source line.");
  m.def("compile", &CompileTrace, py::arg("trace"), py::arg("device") = "CPU");
  m.def("compiled_count", &CompiledCount);
  m.def("clear_compiled", &ClearCompiled);
  m.def("dump_graphs_to", &DumpGraphsTo);
}

}  // namespace ms::python
