// Op calls from Python: one entry for eager and compiled code, and the callables that Python names
// are bound to.
#pragma once

#include <pybind11/pybind11.h>

#include "ir/op.h"
#include "runtime/eager.h"

namespace ms::python {

// The tape of the gradient scope in force on this thread, or null.
Tape* CurrentTape();
void SetCurrentTape(Tape* tape);

// Where a tensor stands on `tape`; unset if it is not on it. A Parameter is one object in all
// threads, and its mark may be what another thread made it by now: the Parameters that this thread
// tracks, and has not given another value, are known here too.
Var TapeVar(PyObject* tensor, const Tape& tape);
void TrackOnThread(PyObject* parameter, const Var& var);
void ForgetTracked();
void ForgetTracked(PyObject* parameter);

// Applies `op` to tensors, numbers and arrays: appended to the trace if an input is symbolic (or,
// while tracing, a Parameter), run otherwise. Returns a new reference: a tensor, or a tuple of
// them.
PyObject* ApplyOp(const OpDef& op, PyObject* const* inputs, size_t count, const AttrsRef& attrs);
// While it lives, the next value of a slice of `target` may take over the memory of the old one,
// which nobody asks for any more.
class WriteScope {
 public:
  explicit WriteScope(PyObject* target);
  ~WriteScope();
  WriteScope(const WriteScope&) = delete;

 private:
  PyObject* before_;
};

// For slots: no attributes.
PyObject* ApplyOp(const OpDef& op, std::initializer_list<PyObject*> inputs);

void BindOps(pybind11::module_& m);

}  // namespace ms::python
