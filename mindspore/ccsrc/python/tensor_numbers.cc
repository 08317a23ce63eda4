#include "python/tensor_numbers.h"

#include <string>

#include "python/convert.h"
#include "python/errors.h"
#include "python/tensor_object.h"

namespace ms::python {
namespace py = pybind11;

namespace {

PyObject* ItemOf(PyObject* self) {
  const Shape& shape = ValueOf(self, "a conversion to a Python number").shape();
  if (shape.size() != 1) {
    Throw(ErrorKind::kValue,
          "For 'Tensor', what becomes a Python number must have exactly one element, but got shape "
          "{}.",
          shape);
  }
  Tensor value = HostValueOf(self, "a conversion to a Python number");
  return VisitDType(value.dtype(), [&]<class T>(TypeTag<T>) -> PyObject* {
    if constexpr (std::is_same_v<T, bool>)
      return PyBool_FromLong(*value.data<T>());
    else if constexpr (IsComplex(kDTypeOf<T>))
      return PyComplex_FromDoubles(value.data<T>()->real(), value.data<T>()->imag());
    else if constexpr (IsSigned(kDTypeOf<T>))
      return PyLong_FromLongLong(*value.data<T>());
    else if constexpr (IsUnsigned(kDTypeOf<T>))
      return PyLong_FromUnsignedLongLong(*value.data<T>());
    else
      return PyFloat_FromDouble(static_cast<double>(*value.data<T>()));
  });
}

int Bool(PyObject* self) {
  PyObject* found = Guarded([&]() -> PyObject* {
    const Tensor& value = ValueOf(self, "a Python condition");
    if (value.size() != 1) {
      Throw(
          ErrorKind::kValue,
          "For 'Tensor', a condition must have exactly one element, but got shape {}. Use ops.any "
          "or ops.all.",
          value.shape());
    }
    return value.Item() != 0 ? Py_True : Py_False;  // borrowed
  });
  return found ? found == Py_True : -1;
}

PyObject* ToInt(PyObject* self) {
  return Guarded([&]() -> PyObject* {
    auto item = py::reinterpret_steal<py::object>(ItemOf(self));
    return PyNumber_Long(item.ptr());
  });
}
PyObject* ToFloat(PyObject* self) {
  return Guarded([&]() -> PyObject* {
    auto item = py::reinterpret_steal<py::object>(ItemOf(self));
    return PyNumber_Float(item.ptr());
  });
}
PyObject* ToIndex(PyObject* self) {
  return Guarded([&]() -> PyObject* {
    DType dtype = AsTensor(self)->dtype();
    if (!IsInteger(dtype) && !IsBool(dtype))
      Throw(ErrorKind::kType, "For 'Tensor', an index must be an integer, but got {}.",
            Name(dtype));
    auto item = py::reinterpret_steal<py::object>(ItemOf(self));
    return PyNumber_Long(item.ptr());  // of a bool, too, an int
  });
}

}  // namespace

PyObject* NumberOf(PyObject* self, PyObject* args) {
  return Guarded([&]() -> PyObject* {
    if (PyTuple_GET_SIZE(args) == 0) return ItemOf(self);
    auto index = py::reinterpret_borrow<py::tuple>(args);
    py::array array = ArrayFromTensor(HostValueOf(self, "item()"));
    try {
      return array.attr("item")(*index).release().ptr();
    } catch (py::error_already_set& error) {
      Throw(error.matches(PyExc_IndexError)  ? ErrorKind::kIndex
            : error.matches(PyExc_TypeError) ? ErrorKind::kType
                                             : ErrorKind::kValue,
            "For 'Tensor.item', the index must name an element of shape {}, but got {}.",
            AsTensor(self)->shape(), py::repr(index).cast<std::string>().substr(0, 60));
    }
  });
}

#define MS_SLOT(id, f) {id, reinterpret_cast<void*>(f)}
std::vector<PyType_Slot> NumberSlots() {
  return {MS_SLOT(Py_nb_bool, Bool), MS_SLOT(Py_nb_int, ToInt), MS_SLOT(Py_nb_float, ToFloat),
          MS_SLOT(Py_nb_index, ToIndex)};
}
#undef MS_SLOT

}  // namespace ms::python
