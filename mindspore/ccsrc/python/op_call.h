// Op calls from Python: one entry for eager and compiled code, and the callables that Python names are bound to.
#pragma once

#include <pybind11/pybind11.h>

#include "ir/op.h"
#include "runtime/eager.h"

namespace ms::python {

// The tape of the gradient scope in force on this thread, or null.
Tape* CurrentTape();
void SetCurrentTape(Tape* tape);

// Applies `op` to tensors, numbers and arrays: appended to the trace if an input is symbolic (or, while tracing, a
// Parameter), run otherwise. Returns a new reference: a tensor, or a tuple of them.
PyObject* ApplyOp(const OpDef& op, PyObject* const* inputs, size_t count, const AttrsRef& attrs);
// For slots: no attributes.
PyObject* ApplyOp(const OpDef& op, std::initializer_list<PyObject*> inputs);

void BindOps(pybind11::module_& m);

}  // namespace ms::python
