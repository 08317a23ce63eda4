#include "python/dtype_object.h"

#include <pybind11/numpy.h>

#include <string>

namespace ms::python {
namespace py = pybind11;
namespace {

struct Object {
  PyObject_HEAD DType dtype;
};

PyTypeObject* type = nullptr;
PyObject* objects[kDTypeCount];

DType Of(PyObject* self) { return reinterpret_cast<Object*>(self)->dtype; }

std::string LowerName(DType dtype) {
  std::string name(Name(dtype));
  for (char& c : name) c = static_cast<char>(std::tolower(c));
  return name;
}

PyObject* Str(PyObject* self) {
  std::string_view name = Name(Of(self));
  return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
}
PyObject* Repr(PyObject* self) {
  return PyUnicode_FromString(("mindspore." + LowerName(Of(self))).c_str());
}
Py_hash_t HashOf(PyObject* self) { return static_cast<Py_hash_t>(Of(self)) + 7919; }
PyObject* Compare(PyObject* a, PyObject* b, int op) {
  if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((a == b) == (op == Py_EQ));
}
// The first releases had tensor.dtype(): the value may also be called.
PyObject* Call(PyObject* self, PyObject*, PyObject*) { return Py_NewRef(self); }
PyObject* Reduce(PyObject* self, PyObject*) {
  py::object lookup = py::module_::import("mindspore._core").attr("dtype_from_name");
  return Py_BuildValue("O(s)", lookup.ptr(), std::string(Name(Of(self))).c_str());
}
PyObject* Copy(PyObject* self, PyObject*) { return Py_NewRef(self); }
PyObject* ItemSizeOf(PyObject* self, void*) { return PyLong_FromSize_t(ItemSize(Of(self))); }
PyObject* IsFloatingOf(PyObject* self, void*) { return PyBool_FromLong(IsFloating(Of(self))); }
PyObject* IsComplexOf(PyObject* self, void*) { return PyBool_FromLong(IsComplex(Of(self))); }
PyObject* IsSignedOf(PyObject* self, void*) {
  return PyBool_FromLong(!IsBool(Of(self)) && !IsUnsigned(Of(self)));
}
PyObject* ToComplex(PyObject* self, PyObject*) {
  DType dtype = Of(self);
  if (IsComplex(dtype)) return Py_NewRef(self);
  if (dtype == DType::kFloat64) return Py_NewRef(DTypeObject(DType::kComplex128));
  if (IsFloating(dtype) && dtype != DType::kFloat16)
    return Py_NewRef(DTypeObject(DType::kComplex64));
  return PyErr_Format(PyExc_TypeError,
                      "For 'to_complex', the type must be complex or a float of at least Float32's "
                      "range, but got %S.",
                      self);
}
PyObject* ToReal(PyObject* self, PyObject*) {
  DType dtype = Of(self);
  if (!IsComplex(dtype)) return Py_NewRef(self);
  return Py_NewRef(DTypeObject(dtype == DType::kComplex128 ? DType::kFloat64 : DType::kFloat32));
}

PyMethodDef methods[] = {
    {"__reduce__", Reduce, METH_NOARGS, nullptr},
    {"to_complex", ToComplex, METH_NOARGS, "The complex type whose parts are of this type."},
    {"to_real", ToReal, METH_NOARGS, "The type of the parts."},
    {"__copy__", Copy, METH_NOARGS, nullptr},
    {"__deepcopy__", Copy, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef getters[] = {
    {"itemsize", ItemSizeOf, nullptr, "Bytes per element.", nullptr},
    {"is_floating_point", IsFloatingOf, nullptr, nullptr, nullptr},
    {"is_complex", IsComplexOf, nullptr, nullptr, nullptr},
    {"is_signed", IsSignedOf, nullptr, "Whether it has numbers below 0.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {{Py_tp_repr, reinterpret_cast<void*>(Repr)},
                       {Py_tp_str, reinterpret_cast<void*>(Str)},
                       {Py_tp_hash, reinterpret_cast<void*>(HashOf)},
                       {Py_tp_richcompare, reinterpret_cast<void*>(Compare)},
                       {Py_tp_call, reinterpret_cast<void*>(Call)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, getters},
                       {Py_tp_doc, const_cast<char*>("The type of the elements of a tensor.")},
                       {0, nullptr}};
PyType_Spec spec = {"mindspore._core.DType", sizeof(Object), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

}  // namespace

PyObject* DTypeObject(DType dtype) { return objects[static_cast<int>(dtype)]; }
bool IsDTypeObject(PyObject* object) { return Py_TYPE(object) == type; }

py::dtype NumpyDType(DType dtype) {
  if (dtype == DType::kBFloat16) {
    return py::dtype::from_args(py::module_::import("ml_dtypes").attr("bfloat16"));
  }
  return py::dtype(LowerName(dtype));
}

bool DTypeFromNumpy(const py::dtype& dtype, DType* out) {
  auto name = py::str(dtype.attr("name")).cast<std::string>();
  for (int i = 0; i < kDTypeCount; ++i) {
    if (LowerName(static_cast<DType>(i)) == name) {
      *out = static_cast<DType>(i);
      return dtype.attr("isnative").cast<bool>();
    }
  }
  return false;
}

bool DTypeFromObject(PyObject* object, DType* out) {
  if (IsDTypeObject(object)) {
    *out = Of(object);
    return true;
  }
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return *out = DType::kBool, true;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return *out = DType::kInt64, true;
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return *out = DType::kFloat64, true;
  bool numpy_like = PyType_Check(object) || py::isinstance<py::dtype>(object);
  if (!numpy_like) return false;
  try {
    return DTypeFromNumpy(py::dtype::from_args(py::reinterpret_borrow<py::object>(object)), out);
  } catch (py::error_already_set&) {
    return false;
  }
}

void BindDTypes(py::module_& m) {
  type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  m.attr("DType") = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(type));
  for (int i = 0; i < kDTypeCount; ++i) {
    auto* object = PyObject_New(Object, type);
    object->dtype = static_cast<DType>(i);
    objects[i] = reinterpret_cast<PyObject*>(object);
    m.attr(LowerName(object->dtype).c_str()) = py::reinterpret_borrow<py::object>(objects[i]);
  }
  m.def("dtype_from_name", [](const std::string& name) {
    DType dtype;
    if (!DTypeFromName(name, &dtype)) throw py::value_error("unknown dtype " + name);
    return py::reinterpret_borrow<py::object>(DTypeObject(dtype));
  });
  m.def("numpy_dtype", [](py::object object) {
    DType dtype;
    if (!DTypeFromObject(object.ptr(), &dtype))
      throw py::type_error("not a dtype: " + py::repr(object).cast<std::string>());
    return NumpyDType(dtype);
  });
  m.def("dtype_of", [](py::object object) {
    DType dtype;
    if (!DTypeFromObject(object.ptr(), &dtype))
      throw py::type_error("not a dtype: " + py::repr(object).cast<std::string>());
    return py::reinterpret_borrow<py::object>(DTypeObject(dtype));
  });
  m.def("promote", [](py::object a, bool weak_a, py::object b, bool weak_b) {
    DType x, y;
    if (!DTypeFromObject(a.ptr(), &x) || !DTypeFromObject(b.ptr(), &y))
      throw py::type_error("not a dtype");
    return py::reinterpret_borrow<py::object>(DTypeObject(Promote(x, weak_a, y, weak_b)));
  });
}

}  // namespace ms::python
