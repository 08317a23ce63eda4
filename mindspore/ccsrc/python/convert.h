// Python objects to tensors and attributes, and back.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "ir/op.h"

namespace ms::python {

// A tensor from an array-like (array, NumPy scalar, number, nested lists): `copy` or zero-copy
// where memory allows.
Tensor TensorFromArray(pybind11::array array, bool copy);
Tensor TensorFromObject(PyObject* object, const DType* dtype);
// The array shares the tensor's memory and keeps it alive.
pybind11::array ArrayFromTensor(const Tensor& tensor);

// Python numbers: bool, int, float, complex and NumPy scalars. False for anything else.
struct Number {
  DType dtype;  // Bool, Int64, Float32 (Complex64 for complex)
  double real = 0;
  double imag = 0;
  Wide integer = 0;  // beyond 64 bits some number that no type holds

  bool FitsIn(DType type) const;  // an integer type; true for numbers that are no integers
};
bool NumberFromObject(PyObject* object, Number* out);
// `op` refuses an integer that the dtype does not hold.
Tensor ScalarTensor(const Number& number, DType dtype, std::string_view op);

// The attribute `def` of `op` from an argument; TypeError names op, argument, what must hold and
// what came.
Attr AttrFromObject(const OpDef& op, const AttrDef& def, PyObject* object);
pybind11::object ObjectFromAttr(const Attr& attr);
std::string TypeName(PyObject* object);

}  // namespace ms::python
