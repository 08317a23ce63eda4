// Tensors of one element as Python numbers.
#pragma once

#include <Python.h>

#include <vector>

namespace ms::python {

// tensor.item(*index).
PyObject* NumberOf(PyObject* tensor, PyObject* index);

// bool(), int(), float(), and what may stand as an index.
std::vector<PyType_Slot> NumberSlots();

}  // namespace ms::python
