// Arithmetic, logic and comparison of Python tensors: each is an op of the registry.
#pragma once

#include <Python.h>

#include <vector>

namespace ms::python {

std::vector<PyType_Slot> OperatorSlots();

}  // namespace ms::python
