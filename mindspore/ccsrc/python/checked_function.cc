// Functions written in Python whose arguments are checked by their annotations before they run.
// What is common (tensors, numbers, strings, sequences of them) is recognised here by its type; all
// else is asked of Python, which reads the annotations at the first call (common/_checked.py). A
// call that passes costs some tens of nanoseconds more.
#include <pybind11/pybind11.h>

#include <structmember.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "python/dtype_object.h"
#include "python/errors.h"
#include "python/module.h"
#include "python/older_names.h"
#include "python/tensor_object.h"

namespace ms::python {
namespace py = pybind11;
namespace {

// Types that a parameter takes without further questions.
enum Quick : unsigned {
  kTensor = 1u,
  kNone = 2,
  kBool = 4,
  kInt = 8,
  kFloat = 16,
  kStr = 32,
  kDType = 64,
};

struct Param {
  py::object name;
  unsigned itself;  // what it may be, as bits of Quick
  unsigned items;   // what the items of a tuple or list may be; 0: it takes none
  // check(value, first argument) -> (None, what to use for it), or (an exception type, its text).
  // None: it may be anything.
  py::object check;
};

struct Signature {
  std::vector<Param> params;  // those by position first, then those by keyword alone
  size_t positional = 0;
  std::vector<Param> rest, keywords;  // *args and **kwargs, where there are any

  const Param* At(size_t i) const {
    if (i < positional) return &params[i];
    return rest.empty() ? nullptr : rest.data();
  }
  const Param* Named(PyObject* name) const {
    for (const Param& p : params) {  // interned, as the names in programs are
      if (p.name.ptr() == name) return &p;
    }
    for (const Param& p : params) {
      if (PyUnicode_Compare(p.name.ptr(), name) == 0) return &p;
    }
    return keywords.empty() ? nullptr : keywords.data();
  }
};

struct CheckedFunction {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* function;
  PyObject* read;        // read(function) -> the signature, as tuples
  Signature* signature;  // null before the first call
  PyObject* attributes;
  PyObject* weak_references;
};

CheckedFunction& Of(PyObject* self) { return *reinterpret_cast<CheckedFunction*>(self); }

// One call: `names` are those of the last values.
struct Arguments {
  PyObject* const* values;
  size_t positional;
  PyObject* names;

  size_t size() const { return positional + (names ? PyTuple_GET_SIZE(names) : 0); }
  const Param* ParamOf(const Signature& signature, size_t i) const {
    if (i < positional) return signature.At(i);
    return signature.Named(PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i - positional)));
  }
};

// Beyond what a float holds, perhaps.
bool IsLarge(PyObject* integer) {
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(integer, &overflow);
  return overflow != 0;
}

unsigned QuickOf(PyObject* value) {
  if (IsTensor(value)) {
    const TensorObject* t = AsTensor(value);
    bool number = t->symbolic() && t->var.node && t->var.type().weak();  // one of Python
    return number ? 0u : kTensor;
  }
  if (value == Py_None) return kNone;
  if (PyBool_Check(value)) return kBool;
  if (PyLong_Check(value)) return IsLarge(value) ? 0u : kInt;
  if (PyFloat_Check(value)) return kFloat;
  if (PyUnicode_Check(value)) return kStr;
  return IsDTypeObject(value) ? kDType : 0u;
}

bool Takes(const Param* param, PyObject* value) {
  if (!param || param->check.is_none() || (QuickOf(value) & param->itself)) return true;
  if (!param->items || !(PyTuple_Check(value) || PyList_Check(value))) return false;
  PyObject** items = PySequence_Fast_ITEMS(value);
  return std::all_of(items, items + PySequence_Fast_GET_SIZE(value),
                     [&](PyObject* item) { return QuickOf(item) & param->items; });
}

Param ParamFrom(py::handle entry) {
  auto parts = py::cast<py::tuple>(entry);
  return {py::str(parts[0]), py::cast<unsigned>(parts[1]), py::cast<unsigned>(parts[2]), parts[3]};
}

const Signature& SignatureOf(CheckedFunction& f) {
  if (!f.signature) {
    auto made = std::make_unique<Signature>();
    auto [positional, named, rest, keywords] =
        py::cast<std::tuple<py::list, py::list, py::list, py::list>>(
            py::handle(f.read)(py::handle(f.function)));
    for (py::handle entry : positional) made->params.push_back(ParamFrom(entry));
    made->positional = made->params.size();
    for (py::handle entry : named) made->params.push_back(ParamFrom(entry));
    for (py::handle entry : rest) made->rest.push_back(ParamFrom(entry));
    for (py::handle entry : keywords) made->keywords.push_back(ParamFrom(entry));
    if (!f.signature) f.signature = made.release();  // another thread may have read it meanwhile
  }
  return *f.signature;
}

bool TakesAll(const Signature& signature, const Arguments& given) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (!Takes(given.ParamOf(signature, i), given.values[i])) return false;
  }
  return true;
}

// The values that the function gets for those given. What it cannot take is an error.
std::vector<py::object> Accepted(const Signature& signature, const Arguments& given) {
  std::vector<py::object> accepted;
  for (size_t i = 0; i < given.size(); ++i) {
    auto value = py::reinterpret_borrow<py::object>(given.values[i]);
    const Param* param = given.ParamOf(signature, i);
    if (!Takes(param, value.ptr())) {
      py::handle first = given.positional ? py::handle(given.values[0]) : py::none();
      auto [error, result] =
          py::cast<std::pair<py::object, py::object>>(param->check(value, first));
      if (!error.is_none()) {
        ErrorKind kind = error.ptr() == PyExc_TypeError    ? ErrorKind::kType
                         : error.ptr() == PyExc_ValueError ? ErrorKind::kValue
                                                           : ErrorKind::kUnknownValue;
        throw Error(kind, py::cast<std::string>(result));
      }
      value = std::move(result);
    }
    accepted.push_back(std::move(value));
  }
  return accepted;
}

// A result, or an error on its way. That NumPy found no memory says which function asked for it.
PyObject* Result(const CheckedFunction& f, PyObject* result) {
  if (result || !PyErr_ExceptionMatches(PyExc_MemoryError)) return result;
  py::error_already_set error;
  auto text = py::cast<std::string>(py::str(error.value()));
  if (!text.starts_with("For '")) {
    Throw(ErrorKind::kMemory, "For '{}', the memory is not enough{}{}.",
          py::cast<std::string>(py::handle(f.function).attr("__name__")), text.empty() ? "" : ": ",
          text);
  }
  error.restore();
  return nullptr;
}

// The names of a call, those of earlier releases as they are today; null where it has none.
py::object NamesToday(const CheckedFunction& f, const Signature& signature, size_t positional,
                      PyObject* names) {
  auto today = py::reinterpret_borrow<py::object>(names);
  for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); ++k) {
    PyObject* name = PyTuple_GET_ITEM(names, k);
    if (signature.Named(name)) continue;
    std::vector<PyObject*> left;
    for (size_t i = positional; i < signature.params.size(); ++i) {
      PyObject* parameter = signature.params[i].name.ptr();
      int given = PySequence_Contains(today.ptr(), parameter);
      if (given < 0) throw py::error_already_set();
      if (!given) left.push_back(parameter);
    }
    PyObject* now = MeantBy(f.function, name, left);
    if (!now) continue;  // Python says so
    py::list changed(today);
    changed[static_cast<size_t>(k)] = py::handle(now);
    today = py::tuple(changed);
  }
  return today;
}

PyObject* Call(PyObject* self, PyObject* const* args, size_t flags, PyObject* given_names) {
  return Guarded([&]() -> PyObject* {
    CheckedFunction& f = Of(self);
    const Signature& signature = SignatureOf(f);
    auto positional = static_cast<size_t>(PyVectorcall_NARGS(flags));
    py::object today = NamesToday(f, signature, positional, given_names);
    PyObject* names = today.ptr();
    Arguments given{args, positional, names};
    if (TakesAll(signature, given)) {
      return Result(f, PyObject_Vectorcall(f.function, args, flags, names));
    }
    std::vector<py::object> accepted = Accepted(signature, given);
    std::vector<PyObject*> values;
    for (const py::object& value : accepted) values.push_back(value.ptr());
    return Result(f, PyObject_Vectorcall(f.function, values.data(), given.positional, names));
  });
}

// The arguments as the function would get them, without calling it.
PyObject* Accept(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* given_names) {
  return Guarded([&]() -> PyObject* {
    const Signature& signature = SignatureOf(Of(self));
    py::object today = NamesToday(Of(self), signature, static_cast<size_t>(count), given_names);
    PyObject* names = today.ptr();
    Arguments given{args, static_cast<size_t>(count), names};
    std::vector<py::object> accepted = Accepted(signature, given);
    py::list positional;
    py::dict named;
    for (size_t i = 0; i < accepted.size(); ++i) {
      if (i < given.positional)
        positional.append(accepted[i]);
      else
        named[py::handle(PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i - given.positional)))] =
            accepted[i];
    }
    return py::make_tuple(positional, named).release().ptr();
  });
}

void Dealloc(PyObject* self) {
  CheckedFunction& f = Of(self);
  if (f.weak_references) PyObject_ClearWeakRefs(self);
  delete f.signature;
  Py_DECREF(f.function);
  Py_DECREF(f.read);
  Py_XDECREF(f.attributes);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* Repr(PyObject* self) {
  return Guarded([&]() -> PyObject* {
    py::handle name = py::handle(self).attr("__qualname__");
    return PyUnicode_FromFormat("<function %U>", name.ptr());
  });
}

// As a class attribute it is a method.
PyObject* Get(PyObject* self, PyObject* object, PyObject*) {
  if (!object || object == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, object);
}

// Pickled as functions are, by name.
PyObject* Reduce(PyObject* self, PyObject*) { return PyObject_GetAttrString(self, "__qualname__"); }

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CheckedFunction, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(CheckedFunction, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(CheckedFunction, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef getters[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef methods[] = {
    {"accept", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(Accept)),
     METH_FASTCALL | METH_KEYWORDS, "The arguments as the function would get them."},
    {"__reduce__", Reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_repr, reinterpret_cast<void*>(Repr)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(Get)},
                       {Py_tp_members, members},
                       {Py_tp_getset, getters},
                       {Py_tp_methods, methods},
                       {0, nullptr}};
PyType_Spec spec = {"mindspore._core.CheckedFunction", sizeof(CheckedFunction), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
                        Py_TPFLAGS_DISALLOW_INSTANTIATION,
                    slots};
PyTypeObject* function_type = nullptr;

py::object NewFunction(const py::object& function, const py::object& read) {
  auto* f = PyObject_New(CheckedFunction, function_type);
  f->vectorcall = Call;
  f->function = Py_NewRef(function.ptr());
  f->read = Py_NewRef(read.ptr());
  f->signature = nullptr;
  f->attributes = nullptr;
  f->weak_references = nullptr;
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(f));
}

}  // namespace

void BindCheckedFunctions(py::module_& m) {
  function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  m.attr("CheckedFunction") =
      py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(function_type));
  m.attr("QUICK") = py::dict(py::arg("Tensor") = unsigned{kTensor},
                             py::arg("None") = unsigned{kNone}, py::arg("bool") = unsigned{kBool},
                             py::arg("int") = unsigned{kInt}, py::arg("float") = unsigned{kFloat},
                             py::arg("str") = unsigned{kStr}, py::arg("DType") = unsigned{kDType});
  m.def("checked_function", &NewFunction, py::arg("function"), py::arg("read"),
        "The function with its arguments checked; `read` gives its signature at the first call.");
}

}  // namespace ms::python
