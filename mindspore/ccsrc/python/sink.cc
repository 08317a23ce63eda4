// Steps of a training one after the other, with nothing of the interpreter between them: rows come
// out of a pipeline and go into the compiled step, until somebody has to look at what one returned.
#include <chrono>
#include <cmath>

#include "python/compiled_graph.h"
#include "python/dataset_handles.h"
#include "python/guards.h"
#include "python/module.h"

namespace ms::python {
namespace py = pybind11;
namespace {

// A truth value that holds, as that of an overflow, or a number that is none.
bool Alarming(PyObject* result) {
  if (!IsTensor(result)) return false;
  DType dtype = AsTensor(result)->dtype();
  if (AsTensor(result)->shape().size() != 1 || !(dtype == DType::kBool || IsFloating(dtype)))
    return false;
  Tensor value = HostValueOf(result, "a training step");
  return VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_same_v<T, bool>)
      return *value.data<T>();
    else if constexpr (IsFloating(kDTypeOf<T>))
      return !std::isfinite(static_cast<double>(*value.data<T>()));
    else
      return false;
  });
}

class Sink {
 public:
  Sink(py::object graph, py::object guards) : graph_(std::move(graph)), guards_(guards) {}

  // Runs up to `most` steps, and begins none when `seconds` are over. Ends before a row that the
  // graph was not made for, and behind a step that returned something alarming. An exception leaves
  // the counts as they are then: with as many rows as steps, it is not one of a step.
  void Run(const py::object& pipeline, int64_t most, double seconds) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(seconds));
    taken = done = 0;
    ended = false;
    row = unused = outputs = py::none();
    auto& graph = py::cast<CompiledGraph&>(graph_);
    for (bool goes_on = true; goes_on && done < most;) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      py::object next = NextRow(pipeline);
      ended = next.is_none();
      if (ended) return;
      ++taken;
      goes_on = Step(graph, std::move(next)) && Clock::now() < end;
    }
  }

  int64_t taken = 0, done = 0;  // rows, steps
  bool ended = false;           // there are no more rows
  // None until there is one.
  py::object row = py::none();      // of the last step
  py::object unused = py::none();   // the row that was taken last, where no step was made of it
  py::object outputs = py::none();  // of the last step

 private:
  // False: the next one is not to follow.
  bool Step(CompiledGraph& graph, py::object next) {
    auto arguments = py::reinterpret_borrow<py::list>(next);
    bool runs = graph.Takes(arguments) && GuardsHold(guards_);
    try {
      if (runs) outputs = graph.Run(arguments);
    } catch (const SharedMemory&) {
      runs = false;
    }
    if (!runs) {
      unused = std::move(next);
      return false;
    }
    ++done;
    row = std::move(next);
    for (py::handle result : outputs) {
      if (Alarming(result.ptr())) return false;
    }
    return true;
  }

  py::object graph_, guards_;
};

}  // namespace

void BindSink(py::module_& m) {
  py::class_<Sink>(m, "Sink", "Steps of a training that the runtime makes by itself.")
      .def(py::init<py::object, py::object>(), py::arg("graph"), py::arg("guards"))
      .def("run", &Sink::Run, py::arg("pipeline"), py::arg("most"), py::arg("seconds"))
      .def_readonly("taken", &Sink::taken)
      .def_readonly("done", &Sink::done)
      .def_readonly("ended", &Sink::ended)
      .def_readonly("row", &Sink::row)
      .def_readonly("unused", &Sink::unused)
      .def_readonly("outputs", &Sink::outputs);
}

}  // namespace ms::python
