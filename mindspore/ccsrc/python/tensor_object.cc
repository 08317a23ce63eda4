#include "python/tensor_object.h"

#include <pthread.h>
#include <structmember.h>

#include <cstring>
#include <optional>

#include "kernel/kernel.h"
#include "python/convert.h"
#include "python/dim_object.h"
#include "python/dtype_object.h"
#include "python/errors.h"
#include "python/op_call.h"
#include "python/tensor_numbers.h"
#include "python/tensor_operators.h"
#include "python/trace.h"
#include "python/views.h"
#include "tensor/exposure.h"

namespace ms::python {
namespace py = pybind11;

PyTypeObject* tensor_type = nullptr;
PyTypeObject* parameter_type = nullptr;
PyTypeObject* number_input_type = nullptr;
PyObject* parameter_assign = nullptr;

namespace {

PyObject* shape_type = nullptr;  // tuple that may be called
PyObject* size_type = nullptr;   // int that may be called
PyObject* python_new = nullptr;  // common/tensor.py: arguments of Tensor(...) to array-like, dtype

TensorObject* Alloc(PyTypeObject* type) {
  auto* t = reinterpret_cast<TensorObject*>(type->tp_alloc(type, 0));
  if (!t) throw py::error_already_set();
  new (&t->value) Tensor();
  new (&t->var) Var();
  t->owner = 0;
  t->weak_references = nullptr;
  t->view = nullptr;
  t->cell = nullptr;
  t->elsewhere = nullptr;
  t->shared = false;
  t->stays = false;
  return t;
}

void Dealloc(PyObject* self) {
  TensorObject* t = AsTensor(self);
  PyTypeObject* type = Py_TYPE(self);
  if (PyType_IS_GC(type)) PyObject_GC_UnTrack(self);
  if (t->weak_references) PyObject_ClearWeakRefs(self);
  if (t->view || t->cell) Part(t);
  if (t->symbolic()) Trace::Gone(t);
  delete t->elsewhere;
  t->value.~Tensor();
  type->tp_free(self);
  Py_DECREF(type);
}

// Another tensor of the same elements: what is written to one of them, the other shows.
PyObject* NewShowing(PyObject* tensor) {
  static const OpDef& reshape = Ops().Get("Reshape");
  const Shape& shape = AsTensor(tensor)->shape();
  return ApplyOp(reshape, &tensor, 1, MakeAttrs(reshape, {{"shape", shape.ToCodes()}}));
}

// Tensor(input_data=None, dtype=None, shape=None, init=None, ...): Python sorts out the spellings.
PyObject* New(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return Guarded([&]() -> PyObject* {
    py::object data;
    py::object dtype = py::none(), device = py::none();
    if (!kwargs && PyTuple_GET_SIZE(args) == 1) {
      data = py::reinterpret_borrow<py::object>(PyTuple_GET_ITEM(args, 0));
    } else {
      auto* sorted = PyObject_Call(python_new, args, kwargs);
      if (!sorted) throw py::error_already_set();
      auto parts = py::reinterpret_steal<py::tuple>(sorted);
      data = parts[0];
      dtype = parts[1];
      device = parts[2];
    }
    if (IsTensor(data.ptr()) && AsTensor(data.ptr())->symbolic()) {
      if (!dtype.is_none()) return PyObject_CallMethod(data.ptr(), "astype", "O", dtype.ptr());
      return data.release().ptr();
    }
    DType target;
    bool given = !dtype.is_none();
    if (given && !DTypeFromObject(dtype.ptr(), &target)) {
      Throw(ErrorKind::kType, "For 'Tensor', 'dtype' must be a dtype, but got {}.",
            py::repr(dtype).cast<std::string>());
    }
    if (type == tensor_type && IsTensor(data.ptr()) && device.is_none() &&
        (!given || target == AsTensor(data.ptr())->dtype())) {
      return NewShowing(data.ptr());
    }
    Tensor value = TensorFromObject(data.ptr(), given ? &target : nullptr);
    if (!device.is_none()) value = value.In(GetBackend(py::cast<std::string>(device)).memory());
    TensorObject* t = Alloc(type);
    t->value = std::move(value);
    t->stays = !device.is_none();
    return reinterpret_cast<PyObject*>(t);
  });
}

// ---- facts
// In a description: each open size is a symbol of its own, which no program has; one before them
// stands for any number of dimensions.
constexpr int kFirstOpen = 1000;
Dim AnyRank() { return Dim::Symbol(kFirstOpen - 1); }

PyObject* GetShape(PyObject* self, void*) {
  TensorObject* t = AsTensor(self);
  if (t->owner != kSymbolicBit) return ShapeTuple(t->shape());
  // Of a description: -1 where any size will do, (-2,) where any number of dimensions will.
  PyObject* tuple = PyTuple_New(t->shape().rank());
  for (int i = 0; i < t->shape().rank(); ++i) {
    Dim size = t->shape().dim(i);
    int64_t shown = !size.symbolic() ? size.value() : size.Same(AnyRank()) ? -2 : -1;
    PyTuple_SET_ITEM(tuple, i, PyLong_FromLongLong(shown));
  }
  return tuple;
}
PyObject* GetDType(PyObject* self, void*) {
  return Py_NewRef(DTypeObject(AsTensor(self)->dtype()));
}
PyObject* GetNdim(PyObject* self, void*) { return PyLong_FromLong(AsTensor(self)->shape().rank()); }
PyObject* GetSize(PyObject* self, void*) {
  return Guarded([&]() -> PyObject* {
    Dim size = AsTensor(self)->shape().elements();
    if (size.symbolic()) return ObjectFromDim(size).release().ptr();
    return PyObject_CallFunction(size_type, "L", size.value());
  });
}
PyObject* GetItemSize(PyObject* self, void*) {
  return PyLong_FromSize_t(ItemSize(AsTensor(self)->dtype()));
}
PyObject* GetSymbolic(PyObject* self, void*) { return PyBool_FromLong(AsTensor(self)->symbolic()); }
PyObject* GetStrides(PyObject* self, void*) {
  return Guarded([&] {
    Ints strides = Strides(AsTensor(self)->shape());
    for (int64_t& s : strides) s *= static_cast<int64_t>(ItemSize(AsTensor(self)->dtype()));
    PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(strides.size()));
    for (size_t i = 0; i < strides.size(); ++i)
      PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(strides[i]));
    return tuple;
  });
}

// ---- values
PyObject* AsNumpy(PyObject* self, PyObject*) {
  return Guarded([&] {
    const Tensor& value = ValueOf(self, "asnumpy()");
    TensorObject* t = AsTensor(self);
    if (!value.on_host()) return ArrayFromTensor(HostValueOf(self, "asnumpy()")).release().ptr();
    if (IsView(t)) return ArrayFromTensor(value.Copy()).release().ptr();
    // Others who hold this value are to keep it; so is who writes over it at the moment.
    if (!(t->shared && value.exposed()) && !value.unique()) {
      t->value.MakeUnique();
      Written(t);
    }
    t->shared = true;
    return ArrayFromTensor(value).release().ptr();
  });
}

// The other's value, whose memory is not copied, but for one of a device: what computes it may have
// been left out. Views and arrays of the old one keep that.
PyObject* AssignValue(PyObject* self, PyObject* other) {
  Writing alone;
  return Guarded([&]() -> PyObject* {
    if (!IsTensor(other))
      Throw(ErrorKind::kType, "For 'Tensor', a new value must be a Tensor, but got {}.",
            TypeName(other));
    const Tensor value =
        ValueOf(other, "an assignment");  // a copy moved to a device lets others run
    TensorObject* t = AsTensor(self);
    if (t->symbolic()) Throw(ErrorKind::kRuntime, "a symbolic tensor cannot be assigned.");
    const Tensor& old = t->value;
    Tensor taken = t->stays ? value.In(old.memory()) : value;
    if (old.defined() && (old.on_host() || &taken.memory() == &old.memory()))
      taken = AssignedOver(old, std::move(taken));
    Part(t);
    t->shared = false;
    DropCopy(t);
    t->value = std::move(taken);
    t->owner = AsTensor(other)->owner;
    t->var = AsTensor(other)->var;
    ForgetTracked(self);
    Py_RETURN_NONE;
  });
}

// ---- the rest of the protocol
PyObject* matmul_function = nullptr;  // ops.matmul
PyObject* getitem_function = nullptr;
PyObject* setitem_function = nullptr;
PyObject* repr_function = nullptr;

PyObject* MatMulSlot(PyObject* a, PyObject* b) {
  return PyObject_CallFunctionObjArgs(matmul_function, a, b, nullptr);
}

Py_hash_t HashOf(PyObject* self) {
  // A number that is known only at run time is a key by its value, not by this object.
  TensorObject* t = AsTensor(self);
  if (t->symbolic() && t->var.node && t->var.type().weak() &&
      !Guarded([&]() -> PyObject* { return ValueOf(self, "a dict or set"), nullptr; })) {
    return -1;
  }
  return static_cast<Py_hash_t>(reinterpret_cast<size_t>(self) >> 4);
}
PyObject* Repr(PyObject* self) { return PyObject_CallOneArg(repr_function, self); }
Py_ssize_t Length(PyObject* self) {
  const Shape& shape = AsTensor(self)->shape();
  if (shape.rank() == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
  }
  if (!shape.dim(0).symbolic()) return static_cast<Py_ssize_t>(shape[0]);
  return PyNumber_AsSsize_t(ObjectFromDim(shape.dim(0)).ptr(), nullptr);
}
PyObject* GetItem(PyObject* self, PyObject* key) {
  return PyObject_CallFunctionObjArgs(getitem_function, self, key, nullptr);
}

// `with Writing():` in Python.
struct WritingScope {
  std::optional<Writing> alone;
};

// x[i] = v. The front end handles names of traced values itself.
int SetItem(PyObject* self, PyObject* key, PyObject* value) {
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "For 'Tensor', elements cannot be deleted.");
    return -1;
  }
  Writing alone;
  PyObject* updated = nullptr;
  bool shown = false;
  PyObject* writable = Guarded([&] {  // or refused, before anything is written
    shown = static_cast<bool>(BaseOf(self));
    return Py_NewRef(Py_None);
  });
  if (!writable) return -1;
  Py_DECREF(writable);
  {
    WriteScope scope(shown ? nullptr : self);
    updated = PyObject_CallFunctionObjArgs(setitem_function, self, key, value, nullptr);
  }
  if (!updated) return -1;
  bool done = Write(self, updated, false);
  Py_DECREF(updated);
  return done ? 0 : -1;
}

PyObject* WriteMethod(PyObject* self, PyObject* value) {
  return Write(self, value, true) ? Py_NewRef(self) : nullptr;
}

PyObject* ShowRowMethod(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return Guarded([&]() -> PyObject* {
    if (count != 2 || !IsTensor(arguments[0]) || !PyLong_Check(arguments[1]))
      Throw(ErrorKind::kType, "For '_show_row', the arguments must be a tensor and an int.");
    ShowRow(arguments[0], self, PyLong_AsLongLong(arguments[1]));
    return Py_NewRef(self);
  });
}

PyMethodDef methods[] = {
    {"asnumpy", AsNumpy, METH_NOARGS, "The value as a NumPy array that shares memory."},
    {"numpy", AsNumpy, METH_NOARGS, "The value as a NumPy array that shares memory."},
    {"item", NumberOf, METH_VARARGS,
     "The element as a Python number; an index picks one of several."},
    {"_assign_value", AssignValue, METH_O, "Takes over the value of another tensor."},
    {"_write", WriteMethod, METH_O,
     "Is given the value of another tensor where it stands; itself."},
    {"_show_row", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(ShowRowMethod)),
     METH_FASTCALL, "(base, row): this tensor is a row of the base; itself."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef getters[] = {
    {"shape", GetShape, nullptr, "Sizes, a tuple.", nullptr},
    {"dtype", GetDType, nullptr, "Element type.", nullptr},
    {"ndim", GetNdim, nullptr, "Number of dimensions.", nullptr},
    {"size", GetSize, nullptr, "Number of elements.", nullptr},
    {"itemsize", GetItemSize, nullptr, "Bytes per element.", nullptr},
    {"strides", GetStrides, nullptr, "Bytes between neighbours along each axis.", nullptr},
    {"is_symbolic", GetSymbolic, nullptr, "True while a graph is compiled: the value is not known.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

#define MS_SLOT(id, f) {id, reinterpret_cast<void*>(f)}
PyType_Slot slots[] = {
    MS_SLOT(Py_tp_new, New),
    MS_SLOT(Py_tp_dealloc, Dealloc),
    MS_SLOT(Py_tp_repr, Repr),
    MS_SLOT(Py_tp_hash, HashOf),
    MS_SLOT(Py_tp_methods, methods),
    MS_SLOT(Py_tp_getset, getters),
    MS_SLOT(Py_tp_members, members),
    MS_SLOT(Py_nb_matrix_multiply, MatMulSlot),
    MS_SLOT(Py_mp_length, Length),
    MS_SLOT(Py_mp_subscript, GetItem),
    MS_SLOT(Py_mp_ass_subscript, SetItem),
    {Py_tp_doc, const_cast<char*>("A tensor: elements of one type in a dense array.")},
    {0, nullptr}};
#undef MS_SLOT
PyTypeObject* MakeType() {
  std::vector<PyType_Slot> all = OperatorSlots(), numbers = NumberSlots();
  all.insert(all.end(), numbers.begin(), numbers.end());
  all.insert(all.end(), std::begin(slots), std::end(slots));
  PyType_Spec spec = {"mindspore._core.Tensor", sizeof(TensorObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, all.data()};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

}  // namespace

PyObject* NewTensor(Tensor value) {
  TensorObject* t = Alloc(tensor_type);
  t->value = std::move(value);
  return reinterpret_cast<PyObject*>(t);
}

PyObject* NewSymbolic(const Var& var, uint64_t owner) {
  TensorObject* t = Alloc(tensor_type);
  t->value = Tensor::Typed(var.type().dtype(), var.type().shape());
  t->var = var;
  t->owner = owner;
  Trace::Made(t);
  return reinterpret_cast<PyObject*>(t);
}

PyObject* NewPlaceholder(DType dtype, const Shape& shape) {
  TensorObject* t = Alloc(tensor_type);
  t->value = Tensor::Typed(dtype, shape);
  t->owner = kSymbolicBit;
  return reinterpret_cast<PyObject*>(t);
}

PyObject* ShapeTuple(const Shape& shape) {
  PyObject* tuple = PyTuple_New(shape.rank());
  for (int i = 0; i < shape.rank(); ++i)
    PyTuple_SET_ITEM(tuple, i, ObjectFromDim(shape.dim(i)).release().ptr());
  PyObject* result = shape_type ? PyObject_CallOneArg(shape_type, tuple) : Py_NewRef(tuple);
  Py_DECREF(tuple);
  return result;
}

void BindTensor(py::module_& m) {
  pthread_atfork(nullptr, nullptr, Writing::InChild);
  py::class_<WritingScope>(m, "Writing", "`with Writing():` no other thread writes to a tensor.")
      .def(py::init<>())
      .def("__enter__", [](WritingScope& scope) { scope.alone.emplace(); })
      .def("__exit__", [](WritingScope& scope, const py::args&) { scope.alone.reset(); });
  tensor_type = MakeType();
  if (!tensor_type) throw py::error_already_set();
  m.attr("Tensor") = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(tensor_type));
  // Python parts of the type; called once by common/tensor.py and its kin.
  m.def("register_python", [](const std::string& what, py::object object) {
    PyObject* o = object.inc_ref().ptr();
    if (what == "shape")
      shape_type = o;
    else if (what == "size")
      size_type = o;
    else if (what == "new")
      python_new = o;
    else if (what == "matmul")
      matmul_function = o;
    else if (what == "getitem")
      getitem_function = o;
    else if (what == "setitem")
      setitem_function = o;
    else if (what == "repr")
      repr_function = o;
    else if (what == "parameter")
      parameter_type = reinterpret_cast<PyTypeObject*>(o);
    else if (what == "number_input")
      number_input_type = reinterpret_cast<PyTypeObject*>(o);
    else if (what == "parameter_assign")
      parameter_assign = o;
    else
      throw py::value_error(what);
  });
  m.def(
      "placeholder",
      [](py::handle dtype, const py::sequence& sizes) {
        DType type;
        if (!DTypeFromObject(dtype.ptr(), &type))
          Throw(ErrorKind::kType, "For 'Tensor', 'dtype' must be a dtype, but got {}.",
                TypeName(dtype.ptr()));
        Dims dims;
        for (py::handle size : sizes) {
          if (size.is_none())
            dims.push_back(Dim::Symbol(kFirstOpen + static_cast<int>(dims.size())));
          else
            dims.push_back(size.cast<int64_t>());
        }
        return py::reinterpret_steal<py::object>(NewPlaceholder(type, Shape(dims)));
      },
      py::arg("dtype"), py::arg("sizes"), "A Tensor that describes an input; None: any size.");
  m.def(
      "placeholder_of_any_rank",
      [](py::handle dtype) {
        DType type;
        if (!DTypeFromObject(dtype.ptr(), &type))
          Throw(ErrorKind::kType, "For 'Tensor', 'dtype' must be a dtype, but got {}.",
                TypeName(dtype.ptr()));
        return py::reinterpret_steal<py::object>(NewPlaceholder(type, Shape{AnyRank()}));
      },
      py::arg("dtype"), "A Tensor that describes an input of any shape.");
  m.def(
      "from_numpy",
      [](py::array array) {
        PyObject* tensor = NewTensor(TensorFromArray(std::move(array), false));
        AsTensor(tensor)->shared = true;
        return py::reinterpret_steal<py::object>(tensor);
      },
      "A tensor that shares the array's memory.");
}

}  // namespace ms::python
