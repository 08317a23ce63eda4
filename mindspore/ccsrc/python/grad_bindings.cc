// Gradient scopes of eager mode. One tape serves nested scopes: an inner scope differentiates only
// what was recorded since it began, and what its reverse walk emits is recorded for the outer ones.
#include <pybind11/stl.h>

#include <utility>

#include "python/convert.h"
#include "python/module.h"
#include "python/op_call.h"
#include "python/tensor_object.h"
#include "python/views.h"
#include "tensor/exposure.h"

namespace ms::python {
namespace py = pybind11;
namespace {

thread_local std::weak_ptr<Tape> shared_tape;
thread_local int open_scopes = 0;
thread_local bool may_join = false;  // see records_whole_calls

class GradScope {
 public:
  explicit GradScope(bool once) {
    tape_ = open_scopes > 0 ? shared_tape.lock() : nullptr;
    if (!tape_) tape_ = std::make_shared<Tape>();
    shared_tape = tape_;
    first_ = tape_->size();
    joined_ = std::exchange(may_join, once && open_scopes == 0);
    ++open_scopes;
    outer_ = CurrentTape();
    SetCurrentTape(tape_.get());
  }
  ~GradScope() { Close(); }
  GradScope(const GradScope&) = delete;

  // The same value as a variable of this scope; what produced it lies outside. What arrays write to
  // its memory is seen until the scope is closed; what is written to the variable is its own.
  py::object Track(const py::object& tensor) {
    if (!IsTensor(tensor.ptr()))
      Throw(ErrorKind::kType, "a gradient is taken with respect to tensors, but got {}.",
            TypeName(tensor.ptr()));
    TensorObject* t = AsTensor(tensor.ptr());
    const Tensor value = ValueOf(tensor.ptr(), "an eager gradient");
    if (t->owner == tape_->id()) {
      static const OpDef& identity = Ops().Get("Identity");
      return py::reinterpret_steal<py::object>(ApplyOp(identity, {tensor.ptr()}));
    }
    py::object alias = py::reinterpret_steal<py::object>(NewTensor(value));
    SetVar(alias.ptr(), tape_->Leaf(value), *tape_);
    if (value.exposed()) showing_.push_back(alias);
    return alias;
  }

  void TrackParameter(const py::object& parameter) {
    TensorObject* t = AsTensor(parameter.ptr());
    Var v = TapeVar(parameter.ptr(), *tape_);
    if (!v) v = tape_->Leaf(t->value);
    SetVar(parameter.ptr(), v, *tape_);
    TrackOnThread(parameter.ptr(), v);
  }

  // The place of `tensor` on the tape now: a Parameter may be updated before its gradient is asked
  // for.
  struct Place {
    Var var;
  };
  Place PlaceOf(const py::object& tensor) { return {TapeVar(tensor.ptr(), *tape_)}; }

  void Pause() {
    if (!closed_) SetCurrentTape(outer_);
  }

  py::list Gradient(const py::sequence& outputs, const py::sequence& tangents,
                    const std::vector<Place>& wrt) {
    std::vector<Place> places;
    for (py::handle o : outputs) {
      TensorObject* t = AsTensor(o.ptr());
      bool on_tape = t->owner == tape_->id();
      places.push_back({on_tape ? t->var : Var{}});
    }
    return GradientOf(places, tangents, wrt);
  }

  // As Gradient, any number of times: the record stays, and grows only where an outer scope of the
  // same tape sees this call, too. Scopes that began later differentiate for the tangents.
  py::list Pull(const std::vector<Place>& outputs, const py::sequence& tangents,
                const std::vector<Place>& wrt) {
    Tape* current = CurrentTape();
    if (current == tape_.get()) return GradientOf(outputs, tangents, wrt);
    if (tape_->freed()) {
      Throw(ErrorKind::kRuntime,
            "For 'vjp', the function that it returns inside a function that is differentiated must "
            "be called there, but got a call after the gradient was taken, which frees what it "
            "needs.");
    }
    bool seen = false;  // by a scope of another tape
    for (py::handle t : tangents) seen |= current && TapeVar(t.ptr(), *current);
    Tape scratch;
    Tape& target = seen ? *current : scratch;
    Vars vars, seeds, asked;
    for (const Place& place : outputs) vars.push_back(place.var);
    for (py::handle t : tangents)
      seeds.push_back(SeedOn(target, py::reinterpret_borrow<py::object>(t), seen));
    for (const Place& place : wrt) {
      if (place.var) asked.push_back(place.var);
    }
    Vars found = tape_->GradientOnto(target, vars, seeds, asked, first_, !seen);
    py::list result;
    size_t next = 0;
    for (const Place& place : wrt) {
      Var gradient = place.var ? found[next++] : Var{};
      py::object object = py::none();
      if (gradient) {
        object = py::reinterpret_steal<py::object>(NewTensor(target.Value(gradient)));
        if (seen) SetVar(object.ptr(), gradient, target);
      }
      result.append(object);
    }
    return result;
  }

  void Close() {
    if (closed_) return;
    closed_ = true;
    may_join = joined_;
    --open_scopes;
    if (open_scopes == 0) ForgetTracked();
    for (const py::object& alias : std::exchange(showing_, {})) {  // which may be a result
      TensorObject* t = AsTensor(alias.ptr());
      if (t->shared || !t->value.exposed()) continue;
      t->value = Snapshot(t->value);
      Written(t);
    }
    SetCurrentTape(open_scopes > 0 ? outer_ : nullptr);
  }

 private:
  py::list GradientOf(const std::vector<Place>& outputs, const py::sequence& tangents,
                      const std::vector<Place>& wrt) {
    bool nested = open_scopes > (closed_ ? 0 : 1);  // an outer scope records what follows
    Vars vars, seeds;
    for (size_t i = 0; i < outputs.size(); ++i) {
      vars.push_back(outputs[i].var);
      seeds.push_back(SeedOn(*tape_, py::object(tangents[i]), nested));
    }
    Vars targets;
    std::vector<size_t> positions;
    for (size_t i = 0; i < wrt.size(); ++i) {
      if (!wrt[i].var) continue;
      targets.push_back(wrt[i].var);
      positions.push_back(i);
    }
    Vars found;
    auto gradients = tape_->Gradient(vars, seeds, targets, first_, nested, &found);
    py::list result;
    for (size_t i = 0; i < wrt.size(); ++i) result.append(py::none());
    for (size_t k = 0; k < positions.size(); ++k) {
      if (!gradients[k].defined()) continue;
      py::object object = py::reinterpret_steal<py::object>(NewTensor(gradients[k]));
      if (nested) SetVar(object.ptr(), found[k], *tape_);
      result[positions[k]] = object;
    }
    return result;
  }

  // A tangent on the tape. Where an outer scope records, it may differentiate for the tangent.
  static Var SeedOn(Tape& tape, const py::object& tangent, bool recorded) {
    // Its memory may be written before the gradient is read, or differentiated.
    Tensor value = Snapshot(ValueOf(tangent.ptr(), "an eager gradient"));
    Var v = recorded ? TapeVar(tangent.ptr(), tape) : Var{};
    if (!v) return tape.Leaf(value);
    tape.Keep(v, value);
    return v;
  }

  static void SetVar(PyObject* object, const Var& v, const Tape& tape) {
    AsTensor(object)->var = v;
    AsTensor(object)->owner = tape.id();
  }

  std::shared_ptr<Tape> tape_;
  std::vector<py::object> showing_;  // variables whose memory arrays outside share
  Tape* outer_ = nullptr;
  size_t first_ = 0;
  bool closed_ = false;
  bool joined_ = false;  // what may_join was outside
};

// `with EachOp():` compiled code that is called inside is recorded op by op.
struct EachOp {
  bool before = false;
};

}  // namespace

void BindGrad(py::module_& m) {
  py::class_<GradScope> scope(m, "GradScope");
  py::class_<GradScope::Place>(scope, "Place");
  scope
      .def(py::init<bool>(), py::arg("once") = false,
           "`once`: a gradient is asked for once, when the scope is closed, and not differentiated "
           "unless in a scope around this one.")
      .def("track", &GradScope::Track, "A value as a variable of the scope.")
      .def("track_parameter", &GradScope::TrackParameter)
      .def("place", &GradScope::PlaceOf)
      .def("pause", &GradScope::Pause,
           "Stops recording for this scope; gradients may still be taken.")
      .def("gradient", &GradScope::Gradient, py::arg("outputs"), py::arg("tangents"),
           py::arg("wrt"), "Gradients at the places `wrt`; None where there is no path.")
      .def("pull", &GradScope::Pull, py::arg("outputs"), py::arg("tangents"), py::arg("wrt"),
           "As gradient, but it may be asked for again.")
      .def("close", &GradScope::Close);
  m.def("is_recording", [] { return CurrentTape() != nullptr; });
  m.def(
      "records_whole_calls", [] { return may_join && CurrentTape(); },
      "Whether what records needs no derivatives of its gradients, so that a compiled call may be "
      "one step of it.");
  py::class_<EachOp>(m, "EachOp")
      .def(py::init<>())
      .def("__enter__", [](EachOp& self) { self.before = std::exchange(may_join, false); })
      .def("__exit__", [](EachOp& self, const py::args&) { may_join = self.before; });
}

}  // namespace ms::python
