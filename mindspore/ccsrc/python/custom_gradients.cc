// Steps of the eager tape whose gradient is a Python function: custom gradients, hooks, and calls
// that are run again in the backward pass rather than saved.
#include <pybind11/stl.h>

#include <cstring>

#include "python/convert.h"
#include "python/module.h"
#include "python/op_call.h"
#include "python/tensor_object.h"
#include "tensor/exposure.h"

namespace ms::python {
namespace py = pybind11;
namespace {

// Makes `tape` (or none) the one that records, for a while.
class RecordOn {
 public:
  explicit RecordOn(Tape* tape) : before_(CurrentTape()) { SetCurrentTape(tape); }
  ~RecordOn() { SetCurrentTape(before_); }
  RecordOn(const RecordOn&) = delete;

 private:
  Tape* before_;
};

py::object ObjectFor(Tape& tape, const Var& v) {
  py::object object = py::reinterpret_steal<py::object>(NewTensor(tape.Value(v)));
  AsTensor(object.ptr())->var = v;
  AsTensor(object.ptr())->owner = tape.id();
  return object;
}

// A tangent that Python returned; None is no tangent.
Var TangentFrom(Tape& tape, const py::object& object) {
  if (object.is_none()) return {};
  if (!IsTensor(object.ptr()))
    Throw(ErrorKind::kType, "a gradient must be a Tensor, but got {}.", TypeName(object.ptr()));
  const Tensor& value = ValueOf(object.ptr(), "an eager gradient");
  Var v = TapeVar(object.ptr(), tape);
  if (!v) return tape.Leaf(value);
  tape.Keep(v, value);
  return v;
}

// What is kept of Python may go where the interpreter is not held.
class Held {
 public:
  explicit Held(py::object object) : object_(std::move(object)) {}
  ~Held() {
    py::gil_scoped_acquire gil;
    object_ = py::object();
  }
  Held(const Held&) = delete;
  const py::object& get() const { return object_; }

 private:
  py::object object_;
};

// rule([tangent of each output or None]) -> [tangent of each input or None]
class PythonRule : public BackwardFunction {
 public:
  explicit PythonRule(py::object rule) : rule_(std::move(rule)) {}

  Vars Run(Tape& tape, const Vars& tangents, bool keep) override {
    RecordOn scope(keep ? &tape : nullptr);
    py::list given;
    for (const Var& v : tangents) given.append(v ? ObjectFor(tape, v) : py::none());
    Vars result;
    for (py::handle item : rule_.get()(given))
      result.push_back(TangentFrom(tape, py::reinterpret_borrow<py::object>(item)));
    return result;
  }

 private:
  Held rule_;
};

// again() -> the outputs, computed once more while the tape records.
class Recomputation : public BackwardFunction {
 public:
  Recomputation(Tape& source, py::object again, Vars inputs)
      : source_(source), again_(std::move(again)), inputs_(std::move(inputs)) {}

  Vars Run(Tape& tape, const Vars& tangents, bool keep) override {
    bool elsewhere = &tape != &source_;  // then this tape is left as it was
    size_t first = source_.size();
    Vars outputs;
    Vars seeds;
    {
      RecordOn scope(&source_);
      py::list made = again_.get()();
      MS_ASSERT(made.size() == tangents.size());
      for (size_t i = 0; i < tangents.size(); ++i) {
        if (!tangents[i]) continue;
        Var v = TapeVar(py::object(made[i]).ptr(), source_);
        if (!v) continue;
        outputs.push_back(v);
        seeds.push_back(keep ? tangents[i] : tape.Leaf(tape.Value(tangents[i])));
      }
    }
    Vars found;
    if (elsewhere) {
      found = source_.GradientOnto(tape, outputs, seeds, inputs_, first, !keep);
      source_.Forget(first);
    } else {
      tape.Gradient(outputs, seeds, inputs_, first, keep, &found);
    }
    return found;
  }

 private:
  Tape& source_;  // which holds this
  Held again_;
  Vars inputs_;
};

class PythonHook : public TangentHook {
 public:
  explicit PythonHook(py::object hook) : hook_(std::move(hook)) {}
  Var Run(Tape& tape, const Var& tangent, bool keep) override {
    RecordOn scope(keep ? &tape : nullptr);
    py::object result = hook_.get()(ObjectFor(tape, tangent));
    return result.is_none() ? tangent : TangentFrom(tape, result);
  }

 private:
  Held hook_;
};

// A tensor of its own with the value of `tensor`, where that stands on the recording tape now.
py::object RecordedAlias(const py::object& tensor) {
  Tape* tape = CurrentTape();
  Var v = tape ? TapeVar(tensor.ptr(), *tape) : Var{};
  const Tensor& value = ValueOf(tensor.ptr(), "an eager gradient");
  py::object alias = py::reinterpret_steal<py::object>(NewTensor(value));
  if (v) {
    AsTensor(alias.ptr())->var = v;
    AsTensor(alias.ptr())->owner = tape->id();
  }
  return alias;
}

// The outputs as results of `node`, each at its place.
py::list Results(Tape& tape, Node* node, const std::vector<Tensor>& values) {
  py::list results;
  for (size_t i = 0; i < values.size(); ++i) {
    py::object object = py::reinterpret_steal<py::object>(NewTensor(values[i]));
    AsTensor(object.ptr())->var = {node, static_cast<uint32_t>(i)};
    AsTensor(object.ptr())->owner = tape.id();
    results.append(object);
  }
  return results;
}

py::object RecordCustom(const py::list& inputs, const py::list& outputs, py::object rule) {
  Tape* tape = CurrentTape();
  if (!tape) return py::none();
  Vars vars;
  bool tracked = false;
  for (py::handle o : inputs) {
    vars.push_back(TapeVar(o.ptr(), *tape));
    tracked |= static_cast<bool>(vars.back());
  }
  if (!tracked) return py::none();
  std::vector<Tensor> values;
  for (py::handle o : outputs) values.push_back(ValueOf(o.ptr(), "an eager gradient"));
  Node* node =
      tape->RecordCall(std::make_shared<PythonRule>(std::move(rule)), std::move(vars), values);
  return Results(*tape, node, values);
}

py::object RecordAgain(const std::string& name, size_t mark, const py::list& outputs,
                       py::object again) {
  Tape* tape = CurrentTape();
  MS_ASSERT(tape);
  std::vector<Tensor> values;
  std::vector<size_t> places;
  for (size_t i = 0; i < outputs.size(); ++i) {
    py::object o = outputs[i];
    Var v = TapeVar(o.ptr(), *tape);
    if (!v || v.node->id < mark) continue;
    places.push_back(i);
    values.push_back(ValueOf(o.ptr(), "an eager gradient"));
  }
  Vars inputs = tape->Forget(mark);
  if (tape->size() > mark) tape->Close(mark, name);
  if (places.empty()) return outputs;
  py::cpp_function picked([again, places] {
    py::list all = again(), some;
    for (size_t i : places) some.append(all[i]);
    return some;
  });
  auto back = std::make_shared<Recomputation>(*tape, std::move(picked), inputs);
  Node* node = tape->RecordCall(std::move(back), inputs, values);
  py::list made = Results(*tape, node, values), result;
  for (py::handle o : outputs) result.append(o);
  for (size_t k = 0; k < places.size(); ++k) result[places[k]] = made[k];
  return result;
}

// Parameters as they were, for a run that must start from that state again.
class Snapshot {
 public:
  explicit Snapshot(const py::list& parameters) {
    for (py::handle p : parameters)
      entries_.push_back({py::reinterpret_borrow<py::object>(p), StateOf(p.ptr()), {}});
  }
  // Forgets those that have their value still.
  void KeepChanged() {
    std::erase_if(entries_, [](const Entry& e) {
      const Tensor& now = AsTensor(e.parameter.ptr())->value;
      bool same = now.raw() == e.before.value.raw();
      return same ||
             (now.exposed() && std::memcmp(now.raw(), e.before.value.raw(), now.bytes()) == 0);
    });
  }
  // Their values as they are now, as tensors of their own.
  py::list Values() const {
    py::list values;
    for (const Entry& e : entries_) {
      State now = StateOf(e.parameter.ptr());
      py::object object = py::reinterpret_steal<py::object>(NewTensor(now.value));
      Put(object.ptr(), now);
      values.append(object);
    }
    return values;
  }
  // The same values, recorded as other steps.
  void Adopt(const py::list& values) {
    for (size_t i = 0; i < entries_.size(); ++i)
      Put(entries_[i].parameter.ptr(), StateOf(py::object(values[i]).ptr()));
  }
  void Enter() {
    for (Entry& e : entries_) {
      e.now = StateOf(e.parameter.ptr());
      Put(e.parameter.ptr(), e.before);
    }
  }
  void Leave() {
    for (Entry& e : entries_) Put(e.parameter.ptr(), std::exchange(e.now, {}));
  }

 private:
  struct State {
    Tensor value;
    Var var;
    uint64_t owner = 0;
  };
  struct Entry {
    py::object parameter;
    State before, now;
  };
  static State StateOf(PyObject* object) {
    TensorObject* t = AsTensor(object);
    return {ms::Snapshot(t->value), t->var, t->owner};
  }
  static void Put(PyObject* object, const State& state) {
    Overwrite(AsTensor(object), state.value, state.var, state.owner);
  }

  std::vector<Entry> entries_;
};

// `with NoRecord():` what runs inside is not recorded.
struct NoRecord {
  Tape* before = nullptr;
};

}  // namespace

void BindCustomGradients(py::module_& m) {
  m.def(
      "record_custom", &RecordCustom,
      "The outputs as results of one step with the gradient `rule`; None if nothing is recorded.");
  m.def("recorded_alias", &RecordedAlias,
        "The same value at the same place of the recording tape, whatever the tensor becomes.");
  m.def(
      "tape_size", [] { return CurrentTape()->size(); },
      "How many steps the recording tape has; only while one records.");
  m.def(
      "record_again", &RecordAgain,
      "Replaces the steps since `mark` by one, whose gradient calls `again` to record them anew.");
  m.def(
      "hook_tangent",
      [](const py::object& tensor, py::object hook) {
        Tape* tape = CurrentTape();
        Var v = tape ? TapeVar(tensor.ptr(), *tape) : Var{};
        if (v) tape->AddHook(v, std::make_shared<PythonHook>(std::move(hook)));
        return static_cast<bool>(v);
      },
      "Calls `hook` with the gradient of a recorded tensor; False where it is not recorded.");
  m.def(
      "is_recorded",
      [](const py::object& tensor) {
        Tape* tape = CurrentTape();
        return tape && static_cast<bool>(TapeVar(tensor.ptr(), *tape));
      },
      "Whether the gradient of a tensor is recorded.");
  m.def(
      "was_recorded", [](const py::object& tensor) { return AsTensor(tensor.ptr())->owner != 0; },
      "Whether a tensor is, or was, a step of a tape or a trace.");
  py::class_<Snapshot>(m, "Snapshot")
      .def(py::init<const py::list&>())
      .def("keep_changed", &Snapshot::KeepChanged, "Forgets Parameters that did not change.")
      .def("values", &Snapshot::Values, "The present values, as tensors of their own.")
      .def("adopt", &Snapshot::Adopt, "Takes the same values, recorded as other steps.")
      .def("__enter__", &Snapshot::Enter, "Parameters have their earlier values again.")
      .def("__exit__", [](Snapshot& self, const py::args&) { self.Leave(); });
  py::class_<NoRecord>(m, "NoRecord")
      .def(py::init<>())
      .def("__enter__",
           [](NoRecord& self) {
             self.before = CurrentTape();
             SetCurrentTape(nullptr);
           })
      .def("__exit__", [](NoRecord& self, const py::args&) { SetCurrentTape(self.before); });
}

}  // namespace ms::python
