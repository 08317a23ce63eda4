// Arguments that come under the names of earlier releases.
#pragma once

#include <Python.h>

#include <span>

namespace ms::python {

// The parameter that a call means by a name which the function does not have: one of `left`, those
// that are not given yet; null where it is none of them.
PyObject* MeantBy(PyObject* function, PyObject* name, std::span<PyObject* const> left);

}  // namespace ms::python
