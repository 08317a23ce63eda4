// The Python facts that compiled code rests on, checked before each of its calls. A fact is
// (kind, owner, key, expected). Those of cells are looked at only after some cell changed: every
// change bumps an epoch. Those of classes are looked at only after the class changed, which Python
// notes in the version tag of the type. What is left (globals, closures, lists, arrays) is always
// looked at.
#include <pybind11/numpy.h>

#include <cstring>
#include <vector>

#include "python/guards.h"
#include "python/module.h"

namespace ms::python {
namespace py = pybind11;
namespace {

uint64_t epoch = 1;
PyObject* missing = nullptr;

// kOwned is added to a kind: the owner is the state of a cell.
enum FactKind {
  kItem,
  kAttribute,
  kClosure,
  kList,
  kDict,
  kArray,
  kEqual,
  kMembers,  // many items: the owner lists dicts, the key pairs of a place in it and a name
  kCode,     // of a function
  kItems,    // what a set or deque gives, one by one
  kOwned = 16
};

struct Fact {
  int kind;
  PyObject *owner, *key, *expected;  // kept alive by the list of facts
  Py_ssize_t position;
};

// Identity, or equality for immutable Python values of one type. No value at all is `missing`.
bool Same(PyObject* now, PyObject* expected) {
  if (now == expected) return true;
  if (!now) return expected == missing;
  if (!expected || Py_TYPE(now) != Py_TYPE(expected)) return false;
  if (PyFloat_Check(now)) {  // bit for bit: -0.0 is not 0.0, a nan is itself
    double a = PyFloat_AS_DOUBLE(now);
    double b = PyFloat_AS_DOUBLE(expected);
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
  if (PyComplex_Check(now)) {
    Py_complex a = PyComplex_AsCComplex(now);
    Py_complex b = PyComplex_AsCComplex(expected);
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
  bool simple = PyLong_Check(now) || PyUnicode_Check(now) || PyBytes_Check(now);
  if (simple) {
    int equal = PyObject_RichCompareBool(now, expected, Py_EQ);
    if (equal < 0) PyErr_Clear();
    return equal == 1;
  }
  if (PyTuple_CheckExact(now)) {
    Py_ssize_t n = PyTuple_GET_SIZE(now);
    if (n != PyTuple_GET_SIZE(expected)) return false;
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (!Same(PyTuple_GET_ITEM(now, i), PyTuple_GET_ITEM(expected, i))) return false;
    }
    return true;
  }
  // Bound methods are made anew at every read.
  if (PyMethod_Check(now)) {
    return PyMethod_GET_SELF(now) == PyMethod_GET_SELF(expected) &&
           PyMethod_GET_FUNCTION(now) == PyMethod_GET_FUNCTION(expected);
  }
  return false;
}

bool ListHolds(PyObject* list, PyObject* expected) {
  Py_ssize_t n = PyList_GET_SIZE(list);
  if (n != PyTuple_GET_SIZE(expected)) return false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (!Same(PyList_GET_ITEM(list, i), PyTuple_GET_ITEM(expected, i))) return false;
  }
  return true;
}

// In its order, in which a program may go through it.
bool DictHolds(PyObject* dict, PyObject* expected) {
  if (PyDict_GET_SIZE(dict) != PyDict_GET_SIZE(expected)) return false;
  PyObject *key, *value, *key_now, *now;
  Py_ssize_t at = 0, at_now = 0;
  while (PyDict_Next(expected, &at, &key, &value)) {
    if (!PyDict_Next(dict, &at_now, &key_now, &now)) return false;
    if (!Same(key_now, key) || !Same(now, value)) return false;
  }
  return true;
}

bool ItemsHold(PyObject* items, PyObject* expected) {
  PyObject* iterator = PyObject_GetIter(items);
  bool same = iterator != nullptr;
  for (Py_ssize_t i = 0; same && i < PyTuple_GET_SIZE(expected); ++i) {
    PyObject* now = PyIter_Next(iterator);
    same = now && Same(now, PyTuple_GET_ITEM(expected, i));
    Py_XDECREF(now);
  }
  PyObject* more = same ? PyIter_Next(iterator) : nullptr;
  same = same && !more && !PyErr_Occurred();
  Py_XDECREF(more);
  Py_XDECREF(iterator);
  PyErr_Clear();
  return same;
}

bool ArrayHolds(PyObject* array, PyObject* expected) {
  py::array a = py::reinterpret_borrow<py::array>(array);
  py::array b = py::reinterpret_borrow<py::array>(expected);  // a copy: contiguous
  if (!a.attr("shape").equal(b.attr("shape")) || !a.dtype().equal(b.dtype())) return false;
  a = py::array::ensure(a, py::array::c_style);
  return std::memcmp(a.data(), b.data(), static_cast<size_t>(b.nbytes())) == 0;
}

bool ItemHolds(PyObject* dict, PyObject* key, PyObject* expected) {
  return Same(PyDict_GetItem(dict, key), expected);
}

bool MembersHold(const Fact& fact) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fact.expected); ++i) {
    PyObject* member = PyList_GET_ITEM(fact.key, i);
    Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GET_ITEM(member, 0));
    PyObject* dict = PyList_GET_ITEM(fact.owner, place);
    if (!ItemHolds(dict, PyTuple_GET_ITEM(member, 1), PyTuple_GET_ITEM(fact.expected, i)))
      return false;
  }
  return true;
}

bool Holds(const Fact& fact) {
  switch (fact.kind & ~kOwned) {
    case kItem:
      return ItemHolds(fact.owner, fact.key, fact.expected);
    case kMembers:
      return MembersHold(fact);
    case kCode:
      return PyFunction_GET_CODE(fact.owner) == fact.expected;
    case kAttribute: {
      PyObject* now = PyObject_GetAttr(fact.owner, fact.key);
      if (!now) PyErr_Clear();
      bool same = Same(now, fact.expected);
      Py_XDECREF(now);
      return same;
    }
    case kClosure:
      return Same(PyCell_GET(fact.owner), fact.expected);
    case kList:
      return ListHolds(fact.owner, fact.expected);
    case kDict:
      return DictHolds(fact.owner, fact.expected);
    case kItems:
      return ItemsHold(fact.owner, fact.expected);
    case kEqual: {
      int equal = PyObject_RichCompareBool(fact.owner, fact.expected, Py_EQ);
      if (equal < 0) PyErr_Clear();
      return equal == 1;
    }
    default:
      return ArrayHolds(fact.owner, fact.expected);
  }
}

// The first fact that fails, or -1.
Py_ssize_t FirstFailure(const std::vector<Fact>& facts) {
  for (const Fact& fact : facts) {
    if (!Holds(fact)) return fact.position;
  }
  return -1;
}

// Facts that can fail only together with a change of `type`.
class ClassFacts {
 public:
  explicit ClassFacts(PyTypeObject* type) : type_(type) {}
  PyTypeObject* type() const { return type_; }
  void Add(const Fact& fact) { facts_.push_back(fact); }

  Py_ssize_t Check() {
    if (Version() != 0 && Version() == version_) return -1;
    Py_ssize_t failed = FirstFailure(facts_);  // looking attributes up gives the type a version
    version_ = failed < 0 ? Version() : 0;
    return failed;
  }

 private:
  unsigned Version() const {
#ifdef Py_TPFLAGS_VALID_VERSION_TAG
    if (!PyType_HasFeature(type_, Py_TPFLAGS_VALID_VERSION_TAG)) return 0;
#endif
    return type_->tp_version_tag;
  }

  PyTypeObject* type_;
  unsigned version_ = 0;  // for which all facts held; 0: none
  std::vector<Fact> facts_;
};

class Guards {
 public:
  explicit Guards(py::list facts) : list_(std::move(facts)) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list_.ptr()); ++i) {
      PyObject* tuple = PyList_GET_ITEM(list_.ptr(), i);
      auto part = [&](Py_ssize_t k) { return PyTuple_GET_ITEM(tuple, k); };
      Add({static_cast<int>(PyLong_AsLong(part(0))), part(1), part(2), part(3), i});
    }
  }

  // For the collector of cycles: a network keeps its compiled versions, whose facts name its parts.
  PyObject* list() const { return list_.ptr(); }
  void Clear() { *this = Guards(py::list()); }

  // Position of the first fact that no longer holds, or -1.
  Py_ssize_t Check() {
    if (epoch != epoch_) {
      Py_ssize_t failed = FirstFailure(owned_);
      if (failed >= 0) return failed;
      epoch_ = epoch;
    }
    for (ClassFacts& facts : classes_) {
      Py_ssize_t failed = facts.Check();
      if (failed >= 0) return failed;
    }
    return FirstFailure(others_);
  }

 private:
  void Add(const Fact& fact) {
    if (fact.kind & kOwned) {
      owned_.push_back(fact);
    } else if (fact.kind == kAttribute && Py_TYPE(fact.owner) == &PyType_Type) {
      ClassOf(reinterpret_cast<PyTypeObject*>(fact.owner)).Add(fact);
    } else {
      others_.push_back(fact);
    }
  }

  ClassFacts& ClassOf(PyTypeObject* type) {
    for (ClassFacts& facts : classes_) {
      if (facts.type() == type) return facts;
    }
    return classes_.emplace_back(type);
  }

  py::list list_;
  uint64_t epoch_ = 0;  // at which all facts of cells held
  std::vector<Fact> owned_, others_;
  std::vector<ClassFacts> classes_;
};

int TraverseGuards(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (py::detail::is_holder_constructed(self)) Py_VISIT(py::cast<Guards&>(py::handle(self)).list());
  return 0;
}

int ClearGuards(PyObject* self) {
  if (py::detail::is_holder_constructed(self)) py::cast<Guards&>(py::handle(self)).Clear();
  return 0;
}

void MakeCollectable(PyHeapTypeObject* heap_type) {
  PyTypeObject* type = &heap_type->ht_type;
  type->tp_flags |= Py_TPFLAGS_HAVE_GC;
  type->tp_traverse = TraverseGuards;
  type->tp_clear = ClearGuards;
}

PyObject* BumpEpoch(PyObject*, PyObject*) {
  ++epoch;
  Py_RETURN_NONE;
}

PyMethodDef quick[] = {{"bump_epoch", BumpEpoch, METH_NOARGS,
                        "Tells compiled code that an attribute of some cell changed."},
                       {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool GuardsHold(py::handle guards) { return py::cast<Guards&>(guards).Check() < 0; }

void BindGuards(py::module_& m) {
  missing = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  m.attr("GUARD_MISSING") = py::reinterpret_borrow<py::object>(missing);
  PyModule_AddFunctions(m.ptr(), quick);
  m.def("epoch", [] { return epoch; });
  py::class_<Guards>(m, "Guards", py::custom_type_setup(MakeCollectable))
      .def(py::init<py::list>())
      .def("check", &Guards::Check, "Position of the first fact that does not hold, or -1.");
}

}  // namespace ms::python
