// The Python face of DType: one immortal object per element type.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "base/dtype.h"

namespace ms::python {

PyObject* DTypeObject(DType dtype);  // borrowed
bool IsDTypeObject(PyObject* object);
// From our own object, a NumPy dtype or scalar type, or bool/int/float; false (no error set) for
// anything else.
bool DTypeFromObject(PyObject* object, DType* out);
pybind11::dtype NumpyDType(DType dtype);
bool DTypeFromNumpy(const pybind11::dtype& dtype, DType* out);
void BindDTypes(pybind11::module_& m);

}  // namespace ms::python
