// What the Python front end needs to build modules: graphs inside graphs, function values, the
// environment of Parameters, spans. Symbolic values cross the border as Tensor; function values and
// boxes as FunctionValue.
#include <pybind11/stl.h>

#include <unordered_map>
#include <unordered_set>

#include "ir/control.h"
#include "python/convert.h"
#include "python/dim_object.h"
#include "python/dtype_object.h"
#include "python/tensor_object.h"
#include "python/trace.h"
#include "python/trace_values.h"
#include "python/views.h"

namespace ms::python {
namespace py = pybind11;

py::object ObjectOf(Trace& trace, const Var& v) {
  if (v.type().is_tensor()) return py::reinterpret_steal<py::object>(NewSymbolic(v, trace.id()));
  return py::cast(FunctionValue{v, trace.id()});
}

Var FunctionOf(const Trace& trace, py::handle object) {
  auto function = object.cast<FunctionValue>();
  if (function.trace != trace.id())
    Throw(ErrorKind::kUnknownValue,
          "a function that a tensor chose cannot be kept over a line "
          "that runs eagerly.");
  return function.var;
}

Var VarOf(Trace& trace, py::handle object) {
  if (py::isinstance<FunctionValue>(object)) return FunctionOf(trace, object);
  Number number;
  if (IsTensor(object.ptr())) {
    TensorObject* t = AsTensor(object.ptr());
    Refresh(t);
    if (t->symbolic()) {
      CheckOwner(trace, t);
      return t->var;
    }
    if (IsParameter(object.ptr())) return trace.Lift(object.ptr());
    return trace.emitter().Constant(t->value, false);
  }
  if (NumberFromObject(object.ptr(), &number)) {
    DType dtype = number.dtype == DType::kFloat32 ? DType::kFloat64 : number.dtype;
    return trace.emitter().Constant(ScalarTensor(number, dtype, "jit"), true);
  }
  Throw(ErrorKind::kType, "a tensor or function value is needed here, but got {}",
        TypeName(object.ptr()));
}

Vars VarsOf(Trace& trace, const py::sequence& objects) {
  Vars vars;
  for (py::handle o : objects) vars.push_back(VarOf(trace, o));
  return vars;
}

py::list ObjectsOf(Trace& trace, const Vars& vars) {
  py::list list;
  for (const Var& v : vars) list.append(ObjectOf(trace, v));
  return list;
}

namespace {

bool IsInside(const Graph* inner, const Graph* outer) {
  for (const Graph* g = inner; g; g = g->parent) {
    if (g == outer) return true;
  }
  return false;
}

// Whether a symbolic tensor is of this trace: the nodes of one that ended are gone.
bool IsOf(const Trace& trace, const TensorObject* tensor) {
  return tensor->symbolic() && tensor->owner == trace.id() && tensor->var.node;
}

// A function value for `callee` where the trace stands. Inside the callee itself (a loop,
// recursion) its captures are its own capture parameters; so this is the last thing to emit there,
// when all captures are known.
Var PartialHere(Trace& trace, Graph* callee) {
  Vars captures;
  if (IsInside(trace.top(), callee)) {
    for (Node* n : callee->captures()) captures.push_back({n, 0});
  } else {
    captures = callee->captured;
  }
  return trace.emitter().Partial(callee, captures);
}

Type TypeFrom(py::handle dtype, const py::sequence& sizes, bool weak) {
  Dims shape;
  for (py::handle size : sizes) {
    Dim& dim = shape.emplace_back();
    if (!DimFromObject(size.ptr(), &dim)) dim = size.cast<int64_t>();
  }
  DType d;
  if (!DTypeFromObject(dtype.ptr(), &d))
    Throw(ErrorKind::kType, "not a dtype: {}", TypeName(dtype.ptr()));
  return Type(d, Shape(shape), weak);
}

py::object AddParameter(Trace& trace, const py::object& dtype, const py::sequence& shape, bool weak,
                        const std::string& name) {
  return ObjectOf(trace, {trace.top()->AddParameter(TypeFrom(dtype, shape, weak), name), 0});
}

Type TypeOf(Trace& trace, py::handle tensor) {
  if (IsTensor(tensor.ptr()) && !AsTensor(tensor.ptr())->symbolic()) {
    const TensorObject* t = AsTensor(tensor.ptr());
    return Type(t->value.dtype(), t->value.shape());
  }
  return VarOf(trace, tensor).type();
}

// Emitted even where the dtype stays: the value is not a Python number's any more. The tensor of a
// Python float is Float32.
Var Strong(Trace& trace, const Var& v) {
  if (!v.type().weak()) return v;
  const OpDef& cast = Ops().Get("Cast");
  DType dtype = v.type().dtype() == DType::kFloat64 ? DType::kFloat32 : v.type().dtype();
  return trace.emitter().Emit(cast, {v}, MakeAttrs(cast, {{"dtype", dtype}}))[0];
}

// Whether code that stands where the trace is can read what `graph` holds.
bool IsVisible(Trace& trace, const Graph* graph) { return IsInside(trace.top(), graph); }

// The answers among the guards that say so of two symbols.
std::vector<std::pair<int, int>> EqualSymbols(const Trace& trace) {
  std::vector<std::pair<int, int>> pairs;
  auto symbols = static_cast<int>(trace.scope().hints.size());
  for (int j = 1; j < symbols; ++j) {
    for (int i = 0; i < j; ++i) {
      Dim d = Dim::Symbol(i) - Dim::Symbol(j);
      for (const DimScope::Guard& g : trace.scope().guards) {
        bool about = g.difference.Same(d) || g.difference.Same(d * -1);
        if (g.equality && g.answer && about) pairs.emplace_back(i, j);
      }
    }
  }
  return pairs;
}

py::list Environment(Trace& trace) {
  py::list list;
  for (const Trace::Entry& e : trace.environment()) {
    list.append(py::make_tuple(py::reinterpret_borrow<py::object>(e.parameter),
                               ObjectOf(trace, e.current)));
  }
  return list;
}

void RestoreEnvironment(Trace& trace, const py::list& saved) {
  auto& entries = trace.environment();
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i].current =
        i < saved.size() ? AsTensor(saved[i].cast<py::tuple>()[1].ptr())->var : entries[i].input;
  }
}

void BindGraphs(py::class_<Trace>& c) {
  c.def(
      "begin",
      [](Trace& t, const std::string& name) {
        Graph* g = t.module()->NewGraph(name);
        g->parent = t.top();
        t.Push(g);
        return GraphHandle{g, t.module()};
      },
      "Starts a graph inside the current one and makes it the target of op calls.");
  c.def(
      "parameter_like",
      [](Trace& t, py::handle like, const std::string& name) {
        return ObjectOf(t, {t.top()->AddParameter(TypeOf(t, like), name), 0});
      },
      py::arg("like"), py::arg("name") = "x", "A parameter of a tensor's type, weak where it is.");
  c.def(
      "add_symbol", [](Trace& t, int64_t hint) { return ObjectFromDim(t.AddSymbol(hint)); },
      py::arg("hint"), "A new dynamic size, which is `hint` in the call that is compiled.");
  c.def("equal_symbols", &EqualSymbols,
        "Pairs of symbols that were taken to be equal because they are so in this call.");
  c.def("add_parameter", &AddParameter, py::arg("dtype"), py::arg("shape"), py::arg("weak") = false,
        py::arg("name") = "x");
  c.def(
      "add_parameter_like",
      [](Trace& t, py::handle value) {
        return ObjectOf(t, {t.top()->AddParameter(VarOf(t, value).type(), "x"), 0});
      },
      "A parameter of the type of a value, which may be of an enclosing graph.");
  c.def(
      "declare_outputs",
      [](Trace& t, GraphHandle& g, const py::sequence& like) {
        Types types;
        for (py::handle o : like) types.push_back(TypeOf(t, o));
        g.graph->DeclareOutputTypes(std::move(types));
      },
      "Result types of a graph that calls itself, from example values.");
  c.def(
      "end",
      [](Trace& t, const py::sequence& outputs) {
        Vars used;
        for (const Var& v : VarsOf(t, outputs)) used.push_back(GraphEmitter::Use(t.top(), v));
        t.top()->SetOutputs(std::move(used));
        t.Pop();
      },
      "Ends the current graph.");
  c.def("suspend", [](Trace& t) { t.Pop(); }, "Leaves the current graph, perhaps to resume() it.");
  c.def("resume", [](Trace& t, GraphHandle& g) { t.Push(g.graph); });
  c.def("tag_loop",
        [](Trace&, GraphHandle& loop, GraphHandle& body, GraphHandle& done, int64_t trip_count) {
          loop.graph->loop = {body.graph, done.graph, trip_count};
        });
}

// Function values, and what graphs see of each other.
void BindFunctions(py::class_<Trace>& c) {
  c.def("partial", [](Trace& t, GraphHandle& g) { return ObjectOf(t, PartialHere(t, g.graph)); });
  // Arms that cannot be made of one type are no error of the user's: the program runs eagerly.
  c.def("switch", [](Trace& t, py::handle condition, py::handle f, py::handle g) {
    try {
      Var chosen = t.emitter().Switch(VarOf(t, condition), FunctionOf(t, f), FunctionOf(t, g));
      return ObjectOf(t, chosen);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kType) throw;
      Throw(ErrorKind::kUnknownValue, "{}", error.message());
    }
  });
  c.def("call", [](Trace& t, py::handle f, const py::sequence& arguments) {
    return ObjectsOf(t, t.emitter().CallFunction(FunctionOf(t, f), VarsOf(t, arguments)));
  });
  c.def(
      "captures", [](Trace& t, GraphHandle& g) { return ObjectsOf(t, g.graph->captured); },
      "What a graph captured, as values of the enclosing graph.");
  c.def(
      "capture",
      [](Trace& t, const py::sequence& values) {
        for (const Var& v : VarsOf(t, values)) GraphEmitter::Use(t.top(), v);
      },
      "Captures values of enclosing graphs, whether or not they will be used.");
  c.def(
      "made_in",
      [](Trace& t, GraphHandle& graph, py::handle value) {
        if (!IsTensor(value.ptr()) || !IsOf(t, AsTensor(value.ptr()))) return false;
        return IsInside(AsTensor(value.ptr())->var.node->graph, graph.graph);
      },
      "Whether a value was computed inside of a graph.");
  c.def(
      "sees",
      [](Trace& t, py::handle value) {
        if (py::isinstance<GraphHandle>(value))
          return IsVisible(t, value.cast<GraphHandle&>().graph->parent);
        if (!IsTensor(value.ptr()) || !AsTensor(value.ptr())->symbolic()) return true;
        Refresh(value.ptr());
        const TensorObject* tensor = AsTensor(value.ptr());
        return IsOf(t, tensor) && IsVisible(t, tensor->var.node->graph);
      },
      "Whether a value, or a finished graph, can be used where the trace stands.");
}

// Which input of main, Parameters aside, a value is, or -1.
std::unordered_map<const Node*, int> ArgumentPositions(Trace& trace) {
  std::unordered_set<const Node*> parameters;
  for (const Trace::Entry& e : trace.environment()) {
    if (e.input.node) parameters.insert(e.input.node);
  }
  std::unordered_map<const Node*, int> positions;
  int next = 0;
  for (const Var& input : trace.main()->inputs()) {
    if (!parameters.contains(input.node)) positions.emplace(input.node, next++);
  }
  return positions;
}

// For a program that goes on in another trace after a line that ran eagerly.
void BindContinuation(py::class_<Trace>& c) {
  c.def(
      "live",
      [](Trace& t) {
        py::list list;
        auto positions = ArgumentPositions(t);
        for (auto [when, tensor] : t.Live()) Refresh(tensor);
        for (auto [when, tensor] : t.Live()) {
          if (tensor->var.node->graph != t.main()) continue;  // of an arm that was given up
          auto object = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(tensor));
          auto found = positions.find(tensor->var.node);
          int at = found == positions.end() ? -1 : found->second;
          list.append(py::make_tuple(object, at, tensor->var.type().weak(), when));
        }
        return list;
      },
      "For each symbolic tensor that is alive, in the order they were made: the tensor, which "
      "argument of main it is (or -1), whether its dtype is weak, and when it was made.");
  c.def_readwrite("made", &Trace::made, "How many symbolic tensors were made.");
  c.def_property_readonly(
      "has_effects",
      [](Trace& t) {
        for (const auto& graph : t.module()->graphs()) {
          for (const Node* n : graph->nodes()) {
            if (n->op && n->op->effect == Effect::kIo) return true;
          }
        }
        return false;
      },
      "Whether a run does more than compute.");
  c.def(
      "adopt",
      [](Trace& t, py::handle object, bool weak, uint64_t when) {
        TensorObject* tensor = AsTensor(object.ptr());
        Trace::Gone(tensor);
        Type type(tensor->dtype(), tensor->shape(), weak);
        tensor->var = {t.main()->AddParameter(type, "x"), 0};
        tensor->owner = t.id();
        Trace::Made(tensor, when);
        Outdate(tensor);
      },
      "Makes a symbolic tensor of an earlier trace an input of this one, in place.");
}

void BindEnvironment(py::class_<Trace>& c) {
  c.def(
      "lift", [](Trace& t, py::object p) { return ObjectOf(t, t.Lift(p.ptr())); },
      "The current value of a Parameter.");
  c.def("set_parameter",
        [](Trace& t, py::object p, py::handle value) { t.SetParameter(p.ptr(), VarOf(t, value)); });
  c.def("environment", &Environment,
        "(Parameter, current value) for each Parameter read or written so far.");
  c.def(
      "changed_since",
      [](Trace& t, const py::list& saved) {
        py::list list;
        for (size_t i = 0; i < t.environment().size(); ++i) {
          const Trace::Entry& e = t.environment()[i];
          Var before =
              i < saved.size() ? AsTensor(saved[i].cast<py::tuple>()[1].ptr())->var : e.input;
          if (!(e.current == before))
            list.append(py::make_tuple(py::reinterpret_borrow<py::object>(e.parameter),
                                       ObjectOf(t, e.current)));
        }
        return list;
      },
      "(Parameter, current value) for those that changed since an earlier environment().");
  c.def(
      "restore", &RestoreEnvironment,
      "Back to an earlier environment(); Parameters first read since then get their input value.");
  c.def("intern_span", [](Trace&, const std::string& file, int line, int column, int end_line,
                          int end_column, const std::string& function, SpanId caller) {
    return InternSpan({file, line, column, end_line, end_column, function, caller});
  });
  c.def_readwrite("span", &Trace::span);
  c.def_readwrite("continued", &Trace::continued);
  c.def_readwrite("on_update", &Trace::on_update,
                  "Called before an op updates a Parameter, with it.");
  c.def_readwrite("on_write", &Trace::on_write,
                  "Called for a tensor that is written to, with it and its new value.");
  c.def_readwrite("on_replace", &Trace::on_replace,
                  "Called for a Parameter that is given another value, with both.");
  c.def_property_readonly("size", [](Trace& t) { return t.top()->nodes().size(); });
  c.def_property_readonly("depth", [](Trace& t) {
    int depth = 0;
    for (Graph* g = t.top(); g->parent; g = g->parent) ++depth;
    return depth;
  });
  c.def("constant", [](Trace& t, py::handle value) { return ObjectOf(t, VarOf(t, value)); });
  c.def(
      "strong", [](Trace& t, py::handle value) { return ObjectOf(t, Strong(t, VarOf(t, value))); },
      "A tensor whose dtype does not yield to others.");
  // Main: outputs, then the final values of Parameters that were written.
  c.def(
      "finish",
      [](Trace& t, const py::sequence& outputs) {
        Vars vars = VarsOf(t, outputs);
        Graph* main = t.main();
        py::list updated;
        main->updates.clear();
        for (auto [entry, position] : t.Positions()) {
          if (entry->current == entry->input) continue;
          main->updates.emplace_back(static_cast<int>(vars.size()), static_cast<int>(position));
          vars.push_back(entry->current);
          updated.append(py::reinterpret_borrow<py::object>(entry->parameter));
        }
        main->SetOutputs(std::move(vars));
        return updated;
      },
      "Ends the main graph; returns the Parameters whose new values follow the outputs.");
  c.def(
      "parameters",
      [](Trace& t) {
        py::dict by_position;
        for (auto [entry, position] : t.Positions())
          by_position[py::int_(position)] = py::reinterpret_borrow<py::object>(entry->parameter);
        return by_position;
      },
      "Position among the inputs of main -> Parameter.");
}

void BindSymbolicTensors(py::module_& m) {
  m.def(
      "alias",
      [](py::handle tensor) {
        TensorObject* t = AsTensor(tensor.ptr());
        Refresh(t);
        PyObject* made = t->symbolic() ? NewSymbolic(t->var, t->owner) : NewTensor(t->value);
        return py::reinterpret_steal<py::object>(made);
      },
      "Another tensor of the same value.");
  m.def(
      "rebind",
      [](py::handle tensor, py::handle value) {
        Refresh(value.ptr());
        Rebind(AsTensor(tensor.ptr()), AsTensor(value.ptr()));
      },
      "Lets a tensor stand for the value of another one while a graph is made.");
  m.def(
      "same_value",
      [](py::handle a, py::handle b) {
        if (!IsTensor(a.ptr()) || !IsTensor(b.ptr())) return false;
        TensorObject* x = AsTensor(a.ptr());
        TensorObject* y = AsTensor(b.ptr());
        Refresh(x), Refresh(y);
        return x->symbolic() && y->symbolic() && x->var == y->var;
      },
      "Whether two symbolic tensors are one value.");
  m.def(
      "value_id",
      [](py::handle a) {
        Refresh(a.ptr());
        const Var& v = AsTensor(a.ptr())->var;
        return py::make_tuple(reinterpret_cast<uintptr_t>(v.node), v.index);
      },
      "A key of the value that a symbolic tensor is, while its trace lives.");
  m.def(
      "is_weak",
      [](py::handle a) {
        const TensorObject* t = AsTensor(a.ptr());
        return t->symbolic() && t->var.node && t->var.type().weak();
      },
      "Whether a tensor stands for a Python number.");
  m.def(
      "type_text",
      [](py::handle a) {
        TensorObject* t = AsTensor(a.ptr());
        bool lives = t->symbolic() && t->var.node;
        return (lives ? t->var.type() : Type(t->dtype(), t->shape())).ToString();
      },
      "`weak Int64[]`: the type of a tensor in a graph.");
}

}  // namespace

void BindTrace(py::module_& m) {
  py::class_<GraphHandle>(m, "Graph").def_property_readonly("name", [](GraphHandle& g) {
    return g.graph->name();
  });
  py::class_<FunctionValue>(m, "FunctionValue");
  py::class_<Module, std::shared_ptr<Module>>(m, "Module")
      .def_property_readonly("size", [](Module& module) {
        size_t n = 0;
        for (const auto& g : module.graphs()) n += g->nodes().size();
        return n;
      });
  py::class_<Trace> trace(m, "Trace");
  trace.def(py::init<>());
  trace.def("close", &Trace::Close);
  trace.def_property_readonly("module", [](Trace& t) { return t.module(); });
  BindGraphs(trace);
  BindFunctions(trace);
  BindTransforms(trace);
  BindEnvironment(trace);
  BindContinuation(trace);
  BindSymbolicTensors(m);
  m.def("is_tracing", [] { return Trace::Current() != nullptr; });
  m.def(
      "replace_in_trace",
      [](py::handle parameter, py::handle value) {
        Trace* trace = Trace::Current();
        if (!trace) return false;
        if (trace->on_replace.is_none())
          trace->SetParameter(parameter.ptr(), VarOf(*trace, value));
        else
          trace->on_replace(parameter, value);
        return true;
      },
      "Gives a Parameter another value in the graph that is made; False where none is.");
}

}  // namespace ms::python
