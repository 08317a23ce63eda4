// The callables behind Python's names of ops: arguments are matched to inputs and attributes by a
// signature that was read once, so that a call costs no dictionary and no Python code.
#include <pybind11/stl.h>

#include <structmember.h>

#include "grad/rule.h"
#include "python/convert.h"
#include "python/dtype_object.h"
#include "python/errors.h"
#include "python/older_names.h"
#include "python/op_call.h"
#include "python/tensor_object.h"
#include "python/trace.h"

namespace ms::python {
namespace py = pybind11;
namespace {

struct Param {
  PyObject* name;  // interned
  int input = -1;  // or
  int attr = -1;
};

struct OpFunction {
  PyObject_HEAD vectorcallfunc vectorcall;
  const OpDef* op;
  std::vector<Param>* params;
  AttrsRef* fixed;           // attributes at their defaults, or as a constructor gave them
  std::vector<bool>* given;  // attributes that have a value in `fixed`
  PyObject* doc;
  PyObject* name;
};

std::string ParamName(const Param& p) { return PyUnicode_AsUTF8(p.name); }

[[noreturn]] void BadCall(const OpFunction& f, const std::string& what) {
  std::string expected;
  for (const Param& p : *f.params) expected += (expected.empty() ? "" : ", ") + ParamName(p);
  Throw(ErrorKind::kType, "For '{}', the call must be {}({}), but {}.", f.op->name,
        PyUnicode_AsUTF8(f.name), expected, what);
}

// Where an argument under a name that is no parameter's belongs.
size_t PlaceOfOlder(const OpFunction& f, PyObject* name, PyObject* const* slots) {
  const auto& params = *f.params;
  std::vector<PyObject*> left;
  for (size_t i = 0; i < params.size(); ++i) {
    if (!slots[i]) left.push_back(params[i].name);
  }
  auto* self = reinterpret_cast<PyObject*>(const_cast<OpFunction*>(&f));
  PyObject* now = MeantBy(self, name, left);
  if (!now) BadCall(f, fmt::format("got an unexpected argument '{}'", PyUnicode_AsUTF8(name)));
  return std::ranges::find(params, now, &Param::name) - params.begin();
}

// Slots by parameter position; null where not given.
void Match(const OpFunction& f, PyObject* const* args, size_t n_args, PyObject* names,
           PyObject** slots) {
  const auto& params = *f.params;
  if (n_args > params.size()) BadCall(f, fmt::format("got {} positional arguments", n_args));
  for (size_t i = 0; i < n_args; ++i) slots[i] = args[i];
  Py_ssize_t n_names = names ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t k = 0; k < n_names; ++k) {
    PyObject* name = PyTuple_GET_ITEM(names, k);
    size_t i = 0;
    while (i < params.size() && params[i].name != name &&
           PyUnicode_Compare(params[i].name, name) != 0)
      ++i;
    if (i == params.size()) i = PlaceOfOlder(f, name, slots);
    if (slots[i]) BadCall(f, fmt::format("got two values for '{}'", PyUnicode_AsUTF8(name)));
    slots[i] = args[n_args + static_cast<size_t>(k)];
  }
}

Attr ReadAttr(const OpDef& op, const AttrDef& def, PyObject* object) {
  try {
    return AttrFromObject(op, def, object);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError))
      throw;  // what Python says of an integer that is too large
    Throw(ErrorKind::kValue, "For '{}', '{}' must fit into 64 bits, but got a larger integer.",
          op.name, def.name);
  }
}

AttrsRef CollectAttrs(const OpFunction& f, PyObject* const* slots) {
  const OpDef& op = *f.op;
  std::shared_ptr<Attrs> changed;
  for (size_t i = 0; i < f.params->size(); ++i) {
    int a = (*f.params)[i].attr;
    if (a < 0) continue;
    if (!slots[i]) {
      if (op.attributes[a].required && !(*f.given)[a])
        BadCall(f, fmt::format("'{}' is missing", ParamName((*f.params)[i])));
      continue;
    }
    if (!changed) changed = std::make_shared<Attrs>(**f.fixed);
    (*changed)[a] = ReadAttr(op, op.attributes[a], slots[i]);
  }
  return changed ? AttrsRef(std::move(changed)) : *f.fixed;
}

constexpr size_t kMaxParams = 24;

PyObject* CallVariadic(const OpFunction& f, std::vector<PyObject*>& inputs, PyObject* last,
                       const AttrsRef& attrs) {
  if (!PyTuple_Check(last) && !PyList_Check(last)) {
    if (!IsTensor(last))
      BadCall(f, fmt::format("got {} where a tuple or list of tensors must be", TypeName(last)));
    inputs.push_back(last);
    return ApplyOp(*f.op, inputs.data(), inputs.size(), attrs);
  }
  PyObject* items = PySequence_Fast(last, "");
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); ++i)
    inputs.push_back(PySequence_Fast_GET_ITEM(items, i));
  py::object keep = py::reinterpret_steal<py::object>(items);
  return ApplyOp(*f.op, inputs.data(), inputs.size(), attrs);
}

PyObject* CallUnnamed(const OpFunction& f, PyObject* const* args, size_t n_args, PyObject* names) {
  const OpDef& op = *f.op;
  PyObject* slots[kMaxParams] = {};
  // concat(a, b, c) beside concat((a, b, c)).
  if (op.variadic && op.inputs.size() == 1 && n_args > 1 && IsTensor(args[0]) &&
      IsTensor(args[1])) {
    std::vector<PyObject*> inputs(args, args + n_args);
    Match(f, args + n_args, 0, names, slots);
    for (size_t i = 0; i < f.params->size(); ++i) {  // keywords are attributes alone
      if (slots[i] && (*f.params)[i].input >= 0)
        BadCall(f, fmt::format("got two values for '{}'", ParamName((*f.params)[i])));
    }
    return ApplyOp(op, inputs.data(), inputs.size(), CollectAttrs(f, slots));
  }
  Match(f, args, n_args, names, slots);
  AttrsRef attrs = CollectAttrs(f, slots);
  PyObject* inputs[kMaxParams];
  size_t count = 0;
  for (size_t i = 0; i < f.params->size(); ++i) {
    if ((*f.params)[i].input < 0) continue;
    if (!slots[i]) BadCall(f, fmt::format("'{}' is missing", ParamName((*f.params)[i])));
    inputs[count++] = slots[i];
  }
  if (op.variadic) {
    std::vector<PyObject*> all(inputs, inputs + count - 1);
    return CallVariadic(f, all, inputs[count - 1], attrs);
  }
  return ApplyOp(op, inputs, count, attrs);
}

PyObject* Call(PyObject* self, PyObject* const* args, size_t flags, PyObject* names) {
  return Guarded([&]() -> PyObject* {
    auto& f = *reinterpret_cast<OpFunction*>(self);
    try {
      return CallUnnamed(f, args, static_cast<size_t>(PyVectorcall_NARGS(flags)), names);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kValue) throw;
      throw error.Of(f.op->name);
    }
  });
}

void Dealloc(PyObject* self) {
  auto* f = reinterpret_cast<OpFunction*>(self);
  for (Param& p : *f->params) Py_DECREF(p.name);
  delete f->params;
  delete f->fixed;
  delete f->given;
  Py_XDECREF(f->doc);
  Py_XDECREF(f->name);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* Repr(PyObject* self) {
  auto* f = reinterpret_cast<OpFunction*>(self);
  return PyUnicode_FromFormat("<op %U>", f->name);
}

// As a class attribute it is a method.
PyObject* Get(PyObject* self, PyObject* object, PyObject*) {
  if (!object || object == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, object);
}

PyObject* GetRepeatable(PyObject* self, void*) {
  const OpDef& op = *reinterpret_cast<OpFunction*>(self)->op;
  bool outside = op.effect == Effect::kIo || op.effect == Effect::kComm;
  return PyBool_FromLong(!outside && op.updates.empty());
}

PyObject* GetPure(PyObject* self, void*) {
  const OpDef& op = *reinterpret_cast<OpFunction*>(self)->op;
  return PyBool_FromLong(op.effect == Effect::kNone && op.updates.empty());
}

PyObject* GetFixed(PyObject* self, void*) {
  return Guarded([&]() -> PyObject* {
    auto* f = reinterpret_cast<OpFunction*>(self);
    py::dict result;
    for (size_t i = 0; i < f->op->attributes.size(); ++i) {
      result[f->op->attributes[i].name.c_str()] = ObjectFromAttr((**f->fixed)[i]);
    }
    return result.release().ptr();
  });
}

// Like other functions: a copy is itself, and what is pickled is its name.
PyObject* Copy(PyObject* self, PyObject*) { return Py_NewRef(self); }
PyObject* Reduce(PyObject* self, PyObject*) {
  return Guarded([&]() -> PyObject* {
    py::object named = py::module_::import("mindspore.ops._bind").attr("function_named");
    py::object name = py::reinterpret_borrow<py::object>(reinterpret_cast<OpFunction*>(self)->name);
    if (named(name).ptr() != self)
      Throw(ErrorKind::kType, "'{}' has no name in mindspore.ops to be pickled by.",
            name.cast<std::string>());
    return py::make_tuple(named, py::make_tuple(name)).release().ptr();
  });
}

PyMethodDef methods[] = {{"__copy__", Copy, METH_NOARGS, nullptr},
                         {"__deepcopy__", Copy, METH_O, nullptr},
                         {"__reduce__", Reduce, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OpFunction, vectorcall), READONLY, nullptr},
    {"__doc__", T_OBJECT, offsetof(OpFunction, doc), 0, nullptr},
    {"__name__", T_OBJECT, offsetof(OpFunction, name), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef getters[] = {
    {"attributes", GetFixed, nullptr, "Attributes the call starts from.", nullptr},
    {"pure", GetPure, nullptr, "Whether calls change nothing, not even random numbers.", nullptr},
    {"repeatable", GetRepeatable, nullptr, "Whether calls change random numbers at most.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_repr, reinterpret_cast<void*>(Repr)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(Get)},
                       {Py_tp_methods, methods},
                       {Py_tp_members, members},
                       {Py_tp_getset, getters},
                       {0, nullptr}};
PyType_Spec spec = {
    "mindspore._core.OpFunction", sizeof(OpFunction), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
PyTypeObject* function_type = nullptr;

// `names`: parameters in call order, each an input name, an attribute name, or another name for the
// next input.
PyObject* NewFunction(const OpDef& op, const std::string& name,
                      const std::vector<std::string>& names, AttrsRef fixed,
                      std::vector<bool> given) {
  if (names.size() > kMaxParams)
    Throw(ErrorKind::kInternal, "'{}' has too many parameters", op.name);
  auto* f = PyObject_New(OpFunction, function_type);
  f->vectorcall = Call;
  f->op = &op;
  f->params = new std::vector<Param>;
  f->fixed = new AttrsRef(std::move(fixed));
  f->given = new std::vector<bool>(std::move(given));
  f->doc = PyUnicode_FromString(op.doc.c_str());
  f->name = PyUnicode_FromString(name.c_str());
  for (const std::string& n : names) {
    size_t at = n.find('@');  // "shown@declared": the public name of an attribute
    std::string shown = n.substr(0, at);
    std::string declared = at == std::string::npos ? n : n.substr(at + 1);
    Param p{PyUnicode_InternFromString(shown.c_str())};
    int inputs_so_far = 0;
    for (const Param& q : *f->params) inputs_so_far += q.input >= 0;
    p.attr = op.AttrIndex(declared);
    if (p.attr < 0) p.input = inputs_so_far;
    f->params->push_back(p);
  }
  return reinterpret_cast<PyObject*>(f);
}

AttrsRef Defaults(const OpDef& op) {
  if (op.attributes.empty()) return nullptr;
  auto attrs = std::make_shared<Attrs>();
  for (const AttrDef& def : op.attributes) attrs->push_back(def.fallback);
  return attrs;
}

py::object MakeFunction(const std::string& op_name, const std::string& name,
                        const std::vector<std::string>& names, const py::dict& values) {
  const OpDef* op = Ops().Find(op_name);
  if (!op) Throw(ErrorKind::kName, "there is no op '{}'", op_name);
  AttrsRef fixed = Defaults(*op);
  std::vector<bool> given(op->attributes.size(), false);
  if (!values.empty()) {
    auto changed = std::make_shared<Attrs>(*fixed);
    for (auto [key, value] : values) {
      int a = op->AttrIndex(py::cast<std::string>(key));
      if (a < 0)
        Throw(ErrorKind::kType, "For '{}', there is no attribute '{}'.", op_name,
              py::cast<std::string>(key));
      (*changed)[a] = ReadAttr(*op, op->attributes[a], value.ptr());
      given[a] = true;
    }
    fixed = std::move(changed);
  }
  return py::reinterpret_steal<py::object>(
      NewFunction(*op, name, names, std::move(fixed), std::move(given)));
}

// Ops on functions, and others that take a graph.
bool IsStructural(const OpDef& op) {
  auto takes_graph = [](const AttrDef& a) {
    return a.kind == Attr(static_cast<Graph*>(nullptr)).index();
  };
  return op.structural || std::any_of(op.attributes.begin(), op.attributes.end(), takes_graph);
}

py::list Registry() {
  py::list all;
  for (const OpDef* op : Ops().All()) {
    py::dict d;
    d["name"] = op->name;
    d["doc"] = op->doc;
    py::list inputs, attributes, functions, methods;
    for (const InputDef& in : op->inputs) {
      py::list dtypes;
      for (int i = 0; i < kDTypeCount; ++i) {
        if (Contains(in.types, static_cast<DType>(i)))
          dtypes.append(std::string(Name(static_cast<DType>(i))));
      }
      inputs.append(py::make_tuple(in.name, dtypes, in.doc));
    }
    for (const AttrDef& a : op->attributes) {
      attributes.append(py::make_tuple(a.name, ObjectFromAttr(a.fallback), a.required, a.doc));
    }
    for (const PythonFace& face : op->faces) {
      if (face.kinds & kFunction) functions.append(face.signature);
      if (face.kinds & kMethod) methods.append(face.signature);
    }
    d["inputs"] = inputs;
    d["attributes"] = attributes;
    d["functions"] = functions;
    d["methods"] = methods;
    d["classes"] = op->classes;
    d["variadic"] = op->variadic;
    d["differentiable"] = IsDifferentiable(*op);
    d["scalar"] = static_cast<bool>(op->scalar);
    d["structural"] = IsStructural(*op);
    d["internal"] = op->internal;
    d["view"] = op->view;
    d["random"] = op->effect == Effect::kRandom;
    d["updates"] = op->updates;
    all.append(d);
  }
  return all;
}

}  // namespace

namespace {

void BindRandom(py::module_& m) {
  auto at = [](const RandomState& state) { return std::make_pair(state.seed(), state.offset()); };
  py::class_<RandomState, std::shared_ptr<RandomState>>(m, "RandomState")
      .def(py::init(&NewRandom))
      .def_property_readonly("at", at, "The seed, and how many ops have drawn.");
  m.def("set_seed", [](uint64_t seed) { SetDefaultRandom(NewRandom(seed, 0)); });
  m.def("get_random_state", [at] { return at(*DefaultRandom()); });
  m.def("set_random_state",
        [](uint64_t seed, uint64_t offset) { SetDefaultRandom(NewRandom(seed, offset)); });
  m.def(
      "skip_random",
      [](uint64_t count) {
        auto state = DefaultRandom();
        for (; count > 0; --count) state->NextOffset();
      },
      "As if so many ops had drawn.");
  m.def("draw_from", &DrawFrom, py::arg("state").none(true),
        "Ops of this thread draw from the state from here on, for None from that of the process. "
        "Returns what they drew from before.");
}

}  // namespace

void BindOps(py::module_& m) {
  function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  m.attr("OpFunction") =
      py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(function_type));
  m.def("make_function", &MakeFunction, py::arg("op"), py::arg("name"), py::arg("parameters"),
        py::arg("values") = py::dict(),
        "A callable for an op: `parameters` name inputs and attributes in call order, `values` "
        "fixes attributes.");
  m.def(
      "op",
      [](const std::string& name) {
        const OpDef* op = Ops().Find(name);
        if (!op) Throw(ErrorKind::kName, "there is no op '{}'", name);
        std::vector<std::string> names;
        for (const InputDef& in : op->inputs) names.push_back(in.name);
        for (const AttrDef& a : op->attributes) names.push_back(a.name);
        return MakeFunction(name, name, names, {});
      },
      "The raw op: inputs by position, attributes by keyword.");
  m.def("registry", &Registry);
  BindRandom(m);
}

}  // namespace ms::python
