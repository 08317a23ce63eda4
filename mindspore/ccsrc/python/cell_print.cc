// What a network is made of, as one value that can be compared: two cells with equal prints compile
// to the same graph. The walk sees every attribute of every cell inside, once for each cell that is
// called in a network, which makes it part of the time that compiling takes; hence C++.
#include <cstring>
#include <unordered_map>

#include "python/dim_object.h"
#include "python/module.h"
#include "python/tensor_object.h"

namespace ms::python {
namespace py = pybind11;
namespace {

// Interned once: the walk asks for them at every value.
struct PrintNames {
  static PyObject* Of(const char* text) { return PyUnicode_InternFromString(text); }
  PyObject* again = Of("again");
  PyObject* parameter = Of("parameter");
  PyObject* object = Of("object");
  PyObject* dtype = Of("dtype");
  PyObject* requires_grad = Of("requires_grad");
  PyObject* gradient_hooks = Of("_gradient_hooks");
  PyObject* params = Of("_params");
  PyObject* cells = Of("_cells");
  PyObject* attrs = Of("attrs");
};
const PrintNames& Names() {
  static const auto* names = new PrintNames;  // never destroyed: the interpreter ends first
  return *names;
}

// The attributes of an object; null where it has no dict of them. That of a class is no state.
py::object StateOf(PyObject* value) {
  if (PyType_Check(value)) return {};
  PyObject* state = PyObject_GenericGetDict(value, nullptr);
  if (!state) PyErr_Clear();
  return py::reinterpret_steal<py::object>(state);
}

// Flat, and unambiguous: each value begins with its type or a mark, a container with its length.
class CellPrinter {
 public:
  CellPrinter(PyObject* cell_type, PyObject* of_cells, PyObject* of_primitives)
      : cell_type_(reinterpret_cast<PyTypeObject*>(cell_type)),
        ignored_of_cells_(of_cells),
        ignored_of_primitives_(of_primitives) {}

  py::tuple Run(PyObject* cell) {
    Value(cell);
    return py::make_tuple(py::tuple(items_), parameters_, states_);
  }

 private:
  void Put(PyObject* item) {
    if (PyList_Append(items_.ptr(), item) != 0) throw py::error_already_set();
  }
  void PutNew(PyObject* item) {
    py::object owned = py::reinterpret_steal<py::object>(item);
    if (!owned) throw py::error_already_set();
    Put(item);
  }
  void PutType(PyObject* value) { Put(reinterpret_cast<PyObject*>(Py_TYPE(value))); }
  void PutNumber(Py_ssize_t number) { PutNew(PyLong_FromSsize_t(number)); }
  void PutMark(PyObject* mark) { Put(mark); }

  // A cell or Parameter that came before is named by its place among them.
  bool IsNew(PyObject* value) {
    auto [place, fresh] = seen_.try_emplace(value, static_cast<Py_ssize_t>(seen_.size()));
    if (!fresh) {
      PutMark(Names().again);
      PutNumber(place->second);
    }
    return fresh;
  }

  void Value(PyObject* value) {
    if (Py_EnterRecursiveCall(" while a cell is compared") != 0) throw py::error_already_set();
    struct Leave {
      ~Leave() { Py_LeaveRecursiveCall(); }
    } leave;
    if (value == Py_None || PyUnicode_Check(value) || PyLong_Check(value)) {
      PutType(value);
      Put(value);
    } else if (PyFloat_Check(value)) {
      PutType(value);
      PutDouble(PyFloat_AS_DOUBLE(value));
    } else if (IsParameter(value)) {
      Parameter(value);
    } else if (PyObject_TypeCheck(value, cell_type_)) {
      Cell(value);
    } else if (PyTuple_Check(value) || PyList_Check(value)) {
      Sequence(value);
    } else if (PyDict_Check(value)) {
      Dict(value, nullptr);
    } else if (PyBytes_Check(value) || PyComplex_Check(value) || IsSymbolicInt(value)) {
      PutType(value);
      Put(value);
    } else {
      Object(value);
    }
  }

  // Bit for bit: -0.0 is another value than 0.0.
  void PutDouble(double number) {
    char bits[sizeof number];
    std::memcpy(bits, &number, sizeof number);
    PutNew(PyBytes_FromStringAndSize(bits, sizeof number));
  }

  void Parameter(PyObject* value) {
    if (!IsNew(value)) return;
    parameters_.append(py::handle(value));
    PutMark(Names().parameter);
    PutNew(PyObject_GetAttr(value, Names().dtype));
    PutNew(ShapeTuple(AsTensor(value)->shape()));
    PutNew(PyObject_GetAttr(value, Names().requires_grad));
    py::object state = StateOf(value);
    PyObject* hooks = state ? PyDict_GetItem(state.ptr(), Names().gradient_hooks) : nullptr;
    PutNew(PyLong_FromVoidPtr(hooks));
  }

  void Cell(PyObject* cell) {
    if (!IsNew(cell)) return;
    PutType(cell);
    py::object state = py::getattr(cell, "__dict__");
    states_.append(state);
    Dict(state.ptr(), ignored_of_cells_);
    for (PyObject* part : {Names().params, Names().cells}) {  // not all of them need be attributes
      PyObject* held = PyDict_GetItem(state.ptr(), part);
      if (held && PyDict_Check(held)) Dict(held, nullptr);
    }
    if (PyObject* children = PyDict_GetItem(state.ptr(), Names().cells))
      states_.append(py::handle(children));
  }

  void Sequence(PyObject* value) {
    PutType(value);
    PutNumber(PySequence_Fast_GET_SIZE(value));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i)
      Value(PySequence_Fast_GET_ITEM(value, i));
  }

  void Dict(PyObject* dict, PyObject* ignored) {
    PutType(dict);
    PyObject *key, *value;
    Py_ssize_t at = 0, count = 0;
    while (PyDict_Next(dict, &at, &key, &value)) {
      if (ignored && PySet_Contains(ignored, key) == 1) continue;
      ++count;
      Put(key);
      Value(value);
    }
    PutNumber(count);
  }

  // A Primitive is what it holds; anything else is itself alone.
  void Object(PyObject* value) {
    if (!IsTensor(value)) {
      py::object state = StateOf(value);
      if (state && PyDict_GetItem(state.ptr(), Names().attrs)) {
        PutType(value);
        return Dict(state.ptr(), ignored_of_primitives_);
      }
    }
    PutMark(Names().object);
    PutNew(PyLong_FromVoidPtr(value));
  }

  PyTypeObject* cell_type_;
  PyObject* ignored_of_cells_;  // names of attributes
  PyObject* ignored_of_primitives_;
  py::list items_, parameters_, states_;
  std::unordered_map<PyObject*, Py_ssize_t> seen_;
};

}  // namespace

void BindCellPrint(py::module_& m) {
  m.def(
      "cell_print",
      [](py::handle cell, py::handle cell_type, py::handle of_cells, py::handle of_primitives) {
        return CellPrinter(cell_type.ptr(), of_cells.ptr(), of_primitives.ptr()).Run(cell.ptr());
      },
      "What the cell is made of, which equal cells share; its Parameters; the states of the cells "
      "inside: for each its attributes and its children.");
}

}  // namespace ms::python
