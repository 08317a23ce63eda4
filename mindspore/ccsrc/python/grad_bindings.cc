// Gradient scopes of eager mode. One tape serves nested scopes: an inner scope differentiates only
// what was recorded since it began, and what its reverse walk emits is recorded for the outer ones.
#include <pybind11/stl.h>

#include "python/convert.h"
#include "python/module.h"
#include "python/op_call.h"
#include "python/tensor_object.h"

namespace ms::python {
namespace py = pybind11;
namespace {

thread_local std::weak_ptr<Tape> shared_tape;
thread_local int open_scopes = 0;

class GradScope {
 public:
  GradScope() {
    tape_ = open_scopes > 0 ? shared_tape.lock() : nullptr;
    if (!tape_) tape_ = std::make_shared<Tape>();
    shared_tape = tape_;
    first_ = tape_->size();
    ++open_scopes;
    outer_ = CurrentTape();
    SetCurrentTape(tape_.get());
  }
  ~GradScope() { Close(); }
  GradScope(const GradScope&) = delete;

  // The same value as a variable of this scope; what produced it lies outside.
  py::object Track(const py::object& tensor) {
    if (!IsTensor(tensor.ptr()))
      Throw(ErrorKind::kType, "a gradient is taken with respect to tensors, but got {}.",
            TypeName(tensor.ptr()));
    TensorObject* t = AsTensor(tensor.ptr());
    const Tensor& value = ValueOf(tensor.ptr(), "an eager gradient");
    if (t->owner == tape_->id()) {
      static const OpDef& identity = Ops().Get("Identity");
      return py::reinterpret_steal<py::object>(ApplyOp(identity, {tensor.ptr()}));
    }
    py::object alias = py::reinterpret_steal<py::object>(NewTensor(value));
    SetVar(alias.ptr(), tape_->Leaf(value));
    return alias;
  }

  void TrackParameter(const py::object& parameter) {
    TensorObject* t = AsTensor(parameter.ptr());
    Var v = TapeVar(parameter.ptr(), *tape_);
    if (!v) v = tape_->Leaf(t->value);
    SetVar(parameter.ptr(), v);
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
                    const std::vector<Place>& wrt, bool keep) {
    bool nested = open_scopes > (closed_ ? 0 : 1);  // an outer scope records what follows
    Vars vars, seeds;
    for (size_t i = 0; i < outputs.size(); ++i) {
      TensorObject* t = AsTensor(py::object(outputs[i]).ptr());
      bool on_tape = t->owner == tape_->id();
      vars.push_back(on_tape ? t->var : Var{});
      seeds.push_back(SeedOf(py::object(tangents[i]), nested));
    }
    Vars targets;
    std::vector<size_t> positions;
    for (size_t i = 0; i < wrt.size(); ++i) {
      if (!wrt[i].var) continue;
      targets.push_back(wrt[i].var);
      positions.push_back(i);
    }
    Vars found;
    auto gradients = tape_->Gradient(vars, seeds, targets, first_, nested || keep, &found);
    py::list result;
    for (size_t i = 0; i < wrt.size(); ++i) result.append(py::none());
    for (size_t k = 0; k < positions.size(); ++k) {
      if (!gradients[k].defined()) continue;
      py::object object = py::reinterpret_steal<py::object>(NewTensor(gradients[k]));
      if (nested) SetVar(object.ptr(), found[k]);
      result[positions[k]] = object;
    }
    return result;
  }

  void Close() {
    if (closed_) return;
    closed_ = true;
    --open_scopes;
    if (open_scopes == 0) ForgetTracked();
    SetCurrentTape(open_scopes > 0 ? outer_ : nullptr);
  }

 private:
  // A tangent on the tape. Where an outer scope records, it may differentiate for the tangent.
  Var SeedOf(const py::object& tangent, bool nested) {
    const Tensor& value = ValueOf(tangent.ptr(), "an eager gradient");
    Var v = nested ? TapeVar(tangent.ptr(), *tape_) : Var{};
    if (!v) return tape_->Leaf(value);
    tape_->Keep(v, value);
    return v;
  }

  void SetVar(PyObject* object, const Var& v) {
    AsTensor(object)->var = v;
    AsTensor(object)->owner = tape_->id();
  }

  std::shared_ptr<Tape> tape_;
  Tape* outer_ = nullptr;
  size_t first_ = 0;
  bool closed_ = false;
};

}  // namespace

void BindGrad(py::module_& m) {
  py::class_<GradScope> scope(m, "GradScope");
  py::class_<GradScope::Place>(scope, "Place");
  scope.def(py::init<>())
      .def("track", &GradScope::Track, "A value as a variable of the scope.")
      .def("track_parameter", &GradScope::TrackParameter)
      .def("place", &GradScope::PlaceOf)
      .def("pause", &GradScope::Pause,
           "Stops recording for this scope; gradients may still be taken.")
      .def("gradient", &GradScope::Gradient, py::arg("outputs"), py::arg("tangents"),
           py::arg("wrt"), py::arg("keep") = false,
           "Gradients at the places `wrt`; None where there is no path.")
      .def("close", &GradScope::Close);
  m.def("is_recording", [] { return CurrentTape() != nullptr; });
}

}  // namespace ms::python
