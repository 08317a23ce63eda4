// Sizes in Python: an int, or a SymbolicInt where a call decides.
#pragma once

#include <pybind11/pybind11.h>

#include "base/shape.h"

namespace ms::python {

pybind11::object ObjectFromDim(Dim dim);
// An int or a SymbolicInt; false for anything else.
bool DimFromObject(PyObject* object, Dim* out);
bool IsSymbolicInt(PyObject* object);

void BindDim(pybind11::module_& m);

}  // namespace ms::python
