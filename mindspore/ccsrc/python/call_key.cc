// What a call of compiled code is looked up by: the types of its arguments and the values of those
// that are not tensors; and the tensors among them, in order. Asked on every call, so not in
// Python, which sees to the rare kinds of arguments (compile/versions/keys.py); the keys are equal.
#include <cmath>
#include <vector>

#include "python/dtype_object.h"
#include "python/module.h"
#include "python/tensor_object.h"

namespace ms::python {
namespace py = pybind11;
namespace {

class CallKey {
 public:
  CallKey(PyObject* other, PyObject* more_than_items)
      : other_(other), more_than_items_(more_than_items) {}

  // A new reference. Null without an error set: only Python can tell.
  PyObject* Of(PyObject* value) {
    if (IsTensor(value)) return OfTensor(value);
    if (PyTuple_Check(value) || PyList_Check(value)) return Nested(&CallKey::OfSequence, value);
    if (PyDict_CheckExact(value)) return Nested(&CallKey::OfDict, value);
    if (PyDict_Check(value)) return nullptr;
    if (PyFloat_CheckExact(value)) return OfFloat(value);
    if (value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value) ||
        PyUnicode_CheckExact(value)) {
      return PyTuple_Pack(2, reinterpret_cast<PyObject*>(Py_TYPE(value)), value);
    }
    return PyObject_CallOneArg(other_, value);
  }

  PyObject* Inputs() const {
    PyObject* list = PyList_New(static_cast<Py_ssize_t>(inputs_.size()));
    for (size_t i = 0; list && i < inputs_.size(); ++i)
      PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), Py_NewRef(inputs_[i]));
    return list;
  }

 private:
  PyObject* Nested(PyObject* (CallKey::*of)(PyObject*), PyObject* value) {
    if (Py_EnterRecursiveCall(" while the arguments of a compiled call were looked up"))
      return nullptr;
    PyObject* key = (this->*of)(value);
    Py_LeaveRecursiveCall();
    return key;
  }

  PyObject* OfTensor(PyObject* value) {
    if (!IsParameter(value)) inputs_.push_back(value);
    if (Py_TYPE(value) != tensor_type) return PyObject_CallOneArg(other_, value);
    const Shape& shape = AsTensor(value)->shape();
    PyObject* sizes = PyTuple_New(shape.rank());
    for (int i = 0; sizes && i < shape.rank(); ++i)
      PyTuple_SET_ITEM(sizes, i, PyLong_FromLongLong(shape[i]));
    PyObject* key =
        sizes ? PyTuple_Pack(3, DTypeObject(AsTensor(value)->dtype()), sizes, Py_False) : nullptr;
    Py_XDECREF(sizes);
    return key;
  }

  // -0.0 is not 0.0.
  PyObject* OfFloat(PyObject* value) {
    double number = PyFloat_AS_DOUBLE(value);
    if (std::isnan(number)) return PyObject_CallOneArg(other_, value);
    PyObject* sign = PyFloat_FromDouble(std::signbit(number) ? -1 : 1);
    PyObject* key =
        sign ? PyTuple_Pack(3, reinterpret_cast<PyObject*>(&PyFloat_Type), value, sign) : nullptr;
    Py_XDECREF(sign);
    return key;
  }

  PyObject* OfSequence(PyObject* value) {
    Py_ssize_t n = PySequence_Fast_GET_SIZE(value);
    PyObject* key = PyTuple_New(n + 1);
    if (!key) return nullptr;
    PyTuple_SET_ITEM(key, 0, Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(value))));
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* part =
          PySequence_Fast_GET_SIZE(value) > i ? Of(PySequence_Fast_GET_ITEM(value, i)) : nullptr;
      if (!part) {
        Py_DECREF(key);
        return nullptr;
      }
      PyTuple_SET_ITEM(key, i + 1, part);
    }
    return MayHoldMore(Py_TYPE(value)) ? WithMore(key, value) : key;
  }

  // A subclass may have attributes. One without, as named tuples are, is seen here.
  static bool MayHoldMore(PyTypeObject* type) {
    if (type == &PyTuple_Type || type == &PyList_Type) return false;
    return type->tp_dictoffset != 0 || type->tp_basicsize != PyTuple_Type.tp_basicsize ||
           !PyType_IsSubtype(type, &PyTuple_Type);
  }

  PyObject* WithMore(PyObject* key, PyObject* value) const {
    PyObject* more = PyObject_CallOneArg(more_than_items_, value);
    PyObject* whole = more ? PySequence_Concat(key, more) : nullptr;
    Py_XDECREF(more);
    Py_DECREF(key);
    return whole;
  }

  // Of a dict whose keys are strings; others are for Python to see.
  PyObject* OfDict(PyObject* value) {
    PyObject* key = PyTuple_New(PyDict_GET_SIZE(value) + 1);
    if (!key) return nullptr;
    PyTuple_SET_ITEM(key, 0, Py_NewRef(reinterpret_cast<PyObject*>(&PyDict_Type)));
    PyObject *name, *item;
    Py_ssize_t at = 0, filled = 1;
    while (PyDict_Next(value, &at, &name, &item)) {
      bool plain = PyUnicode_CheckExact(name);
      PyObject* part = plain && filled < PyTuple_GET_SIZE(key) ? Of(item) : nullptr;
      PyObject* pair = part ? PyTuple_Pack(2, name, part) : nullptr;
      Py_XDECREF(part);
      if (!pair) {
        Py_DECREF(key);
        return nullptr;
      }
      PyTuple_SET_ITEM(key, filled++, pair);
    }
    return key;
  }

  PyObject* other_;            // the key of any other value
  PyObject* more_than_items_;  // what of a tuple or list counts besides its items
  std::vector<PyObject*> inputs_;
};

// call_key(args, kwargs, other, more_than_items) -> (key, inputs), or None.
PyObject* FindCallKey(PyObject*, PyObject* const* given, Py_ssize_t) {
  CallKey maker(given[2], given[3]);
  PyObject* args = maker.Of(given[0]);
  PyObject* kwargs = args ? maker.Of(given[1]) : nullptr;
  PyObject* inputs = kwargs ? maker.Inputs() : nullptr;
  PyObject* key = inputs ? PyTuple_Pack(2, args, kwargs) : nullptr;
  PyObject* found = key ? PyTuple_Pack(2, key, inputs) : nullptr;
  Py_XDECREF(args);
  Py_XDECREF(kwargs);
  Py_XDECREF(inputs);
  Py_XDECREF(key);
  if (!found && !PyErr_Occurred()) Py_RETURN_NONE;
  return found;
}

PyMethodDef quick[] = {
    {"call_key", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(FindCallKey)),
     METH_FASTCALL, "The key of a call's arguments, and the tensors among them."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void BindCallKey(py::module_& m) { PyModule_AddFunctions(m.ptr(), quick); }

}  // namespace ms::python
