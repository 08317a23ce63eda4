// Steps of a training one after the other, with nothing of the interpreter between them: rows come
// out of a pipeline and go into the compiled step, until somebody has to look at what one returned.
#include <chrono>
#include <cmath>
#include <deque>

#include "python/compiled_graph.h"
#include "python/dataset_handles.h"
#include "python/guards.h"
#include "python/module.h"

namespace ms::python {
namespace py = pybind11;
namespace {

constexpr char kWhat[] = "a training step";

// Whether it says how well a step went: a truth value, as that of an overflow, or a number.
bool Speaks(const Tensor& result) {
  DType dtype = result.dtype();
  return result.shape().size() == 1 && (dtype == DType::kBool || IsFloating(dtype));
}

// A truth value that holds, or a number that is none.
bool Alarming(DType dtype, const void* value) {
  return VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_same_v<T, bool>)
      return *static_cast<const T*>(value);
    else if constexpr (IsFloating(kDTypeOf<T>))
      return !std::isfinite(static_cast<double>(*static_cast<const T*>(value)));
    else
      return false;
  });
}

// Steps on a device that nobody has looked at yet: it does them while the host goes on, which would
// wait for each one whose loss it reads. What they returned is gathered on the device.
class StepsAhead {
 public:
  // Takes a step that the device was given. False: it is to be looked at now, as the host has what
  // it returned, or as that decides what the next step is, or is much to keep.
  bool Take(const py::object& outputs) {
    std::vector<const Tensor*> values;
    for (py::handle result : outputs) {
      const Tensor* value = IsTensor(result.ptr()) ? &ValueOf(result.ptr(), kWhat) : nullptr;
      if (!value || !Speaks(*value) || value->on_host() || value->dtype() == DType::kBool)
        return false;
      values.push_back(value);
    }
    if (values.empty() || values.size() > kMostOfStep) return false;
    Memory& memory = values[0]->memory();
    if (!gathered_) gathered_ = Buffer::Allocate(kMost * sizeof(double), memory);
    for (const Tensor* value : values) {
      void* place = static_cast<char*>(gathered_->data()) + numbers_.size() * sizeof(double);
      memory.Copy(place, value->raw(), value->bytes());
      numbers_.emplace_back(steps_.size(), value->dtype());
    }
    steps_.push_back(outputs);
    Wait(GetBackend(memory.device()).stream());
    return true;
  }
  // Whether one more may follow.
  bool HasRoom() const { return numbers_.size() + kMostOfStep <= kMost; }
  // The first step that alarms, and what it returned; else the number of all.
  std::pair<size_t, py::object> FirstAlarm() const {
    if (!numbers_.empty()) {
      std::vector<double> values(numbers_.size());
      gathered_->memory().Fetch(values.data(), gathered_->data(), values.size() * sizeof(double));
      for (size_t i = 0; i < values.size(); ++i) {
        auto [step, dtype] = numbers_[i];
        if (Alarming(dtype, &values[i])) return {step, steps_[step]};
      }
    }
    return {steps_.size(), py::none()};
  }

 private:
  static constexpr size_t kMost = 4096, kMostOfStep = 64;  // numbers
  static constexpr size_t kMostAhead = 4;  // steps that the device has before it, with their rows

  void Wait(Stream& stream) {
    given_.push_back(stream.Record());
    if (given_.size() <= kMostAhead) return;
    HostWait wait(true);
    given_.front()->Synchronize();
    given_.pop_front();
  }

  std::vector<py::object> steps_;
  BufferRef gathered_;
  std::vector<std::pair<size_t, DType>> numbers_;  // whose they are
  std::deque<std::unique_ptr<Event>> given_;
};

class Sink {
 public:
  Sink(py::object graph, py::object guards) : graph_(std::move(graph)), guards_(guards) {}

  // Runs up to `most` steps, and begins none when `seconds` are over. Ends before a row that the
  // graph was not made for, and behind a step that returned something alarming; where steps run on
  // a device, some may follow that one. An exception leaves the counts as they are then: with as
  // many rows as steps, it is not one of a step, unless a device found it later.
  void Run(const py::object& pipeline, int64_t most, double seconds) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(seconds));
    taken = done = sound = 0;
    ended = false;
    row = unused = outputs = alarming = py::none();
    auto& graph = py::cast<CompiledGraph&>(graph_);
    StepsAhead ahead;
    try {
      for (bool goes_on = true; goes_on && done < most;) {
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        py::object next = NextRow(pipeline);
        ended = next.is_none();
        if (ended) break;
        ++taken;
        goes_on = Step(graph, std::move(next), ahead) && ahead.HasRoom() && Clock::now() < end;
      }
    } catch (...) {
      LookBack(ahead);  // what it throws is from before
      throw;
    }
    LookBack(ahead);
  }

  int64_t taken = 0, done = 0;  // rows, steps
  int64_t sound = 0;   // steps before one that others followed and that returned `alarming`
  bool ended = false;  // there are no more rows
  // None until there is one.
  py::object row = py::none();      // of the last step
  py::object unused = py::none();   // the row that was taken last, where no step was made of it
  py::object outputs = py::none();  // of the last step
  py::object alarming = py::none();

 private:
  void LookBack(const StepsAhead& ahead) {
    auto [steps, returned] = ahead.FirstAlarm();
    sound = static_cast<int64_t>(steps);
    alarming = std::move(returned);
  }

  // False: the next one is not to follow.
  bool Step(CompiledGraph& graph, py::object next, StepsAhead& ahead) {
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
    if (ahead.Take(outputs)) return true;
    for (py::handle result : outputs) {
      if (!IsTensor(result.ptr()) || !Speaks(ValueOf(result.ptr(), kWhat))) continue;
      Tensor value = HostValueOf(result.ptr(), kWhat);
      if (Alarming(value.dtype(), value.raw())) return false;
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
      .def_readonly("outputs", &Sink::outputs)
      .def_readonly("sound", &Sink::sound)
      .def_readonly("alarming", &Sink::alarming);
}

}  // namespace ms::python
