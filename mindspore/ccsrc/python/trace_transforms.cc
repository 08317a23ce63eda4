// What the Python front end asks of a trace for gradients, tangents and batches of functions.
#include <pybind11/stl.h>

#include "ir/control.h"
#include "ops/control.h"
#include "passes/effects.h"
#include "python/dim_object.h"
#include "python/tensor_object.h"
#include "python/trace_values.h"

namespace ms::python {
namespace py = pybind11;
namespace {

// A graph for the backward function of a CustomGrad of `f`: its parameters are what `f` takes, what
// it returns and the tangents of that.
py::tuple BeginBackward(Trace& trace, const GraphHandle& f) {
  Graph* g = trace.module()->NewGraph("back_" + f.graph->name());
  g->parent = trace.top();
  trace.Push(g);
  auto add = [&](const Types& types, const char* name) {
    Vars vars;
    for (const Type& t : types) vars.push_back({g->AddParameter(t, name), 0});
    return ObjectsOf(trace, vars);
  };
  Types taken;
  for (const Node* n : f.graph->parameters()) taken.push_back(n->outputs[0]);
  Types returned = f.graph->OutputTypes();
  py::list x = add(taken, "x"), y = add(returned, "y"), d = add(TangentTypes(returned), "d");
  return py::make_tuple(GraphHandle{g, trace.module()}, x, y, d);
}

// `f` with its captures as further parameters.
GraphHandle LiftCaptures(Trace& trace, const GraphHandle& f) {
  Graph* g = trace.module()->NewGraph("lifted_" + f.graph->name());
  g->parent = trace.top();
  Vars arguments, captures;
  for (const Node* n : f.graph->parameters())
    arguments.push_back({g->AddParameter(n->outputs[0], n->name), 0});
  for (const Node* n : f.graph->captures())
    captures.push_back({g->AddParameter(n->outputs[0], n->name), 0});
  GraphEmitter emitter(g);
  g->SetOutputs(emitter.CallFunction(emitter.Partial(f.graph, captures), arguments));
  return {g, trace.module()};
}

// Whether somebody reads a value already.
bool IsUsed(Trace& trace, py::handle object) {
  Var v = VarOf(trace, object);
  const auto& nodes = v.node->graph->nodes();
  return std::any_of(nodes.begin() + v.node->id, nodes.end(), [&](const Node* n) {
    return std::find(n->inputs.begin(), n->inputs.end(), v) != n->inputs.end();
  });
}

void BindCustomGradients(py::class_<Trace>& c) {
  c.def("begin_backward", &BeginBackward,
        "Starts the backward graph of a custom gradient; (graph, inputs, outputs, tangents).");
  c.def(
      "custom_grad",
      [](Trace& t, FunctionValue f, FunctionValue back) {
        return ObjectOf(t, t.emitter().Emit(*Control().custom_grad, {f.var, back.var}, nullptr)[0]);
      },
      "The function f with a backward function of its own.");
  c.def("lift_captures", &LiftCaptures, "A finished graph with its captures as more parameters.");
  c.def("is_used", &IsUsed, "Whether a value has been read.");
  c.def(
      "has_effect",
      [](Trace& t, const GraphHandle& g) { return EffectAnalysis(*t.module()).HasEffect(g.graph); },
      "Whether a graph draws random numbers or has another effect.");
}

}  // namespace

void BindTransforms(py::class_<Trace>& c) {
  BindCustomGradients(c);
  c.def(
      "vjp",
      [](Trace& t, py::handle f) {
        return ObjectOf(t, t.emitter().Emit(Ops().Get("Vjp"), {FunctionOf(t, f)}, nullptr)[0]);
      },
      "The function that returns f's results and its backward closure.");
  c.def(
      "jvp",
      [](Trace& t, FunctionValue f) {
        return ObjectOf(t, t.emitter().Emit(Ops().Get("Jvp"), {f.var}, nullptr)[0]);
      },
      "The function that takes tangents after f's arguments, and returns them after its results.");
  c.def(
      "vmap",
      [](Trace& t, FunctionValue f, const Ints& in_axes, const Ints& out_axes, py::handle size,
         int64_t written) {
        const OpDef& op = Ops().Get("Vmap");
        Dim items;
        if (!DimFromObject(size.ptr(), &items)) Throw(ErrorKind::kType, "'size' must be a size");
        AttrsRef attrs = MakeAttrs(op, {{"in_axes", in_axes},
                                        {"out_axes", out_axes},
                                        {"size", items.code()},
                                        {"written", written}});
        return ObjectOf(t, t.emitter().Emit(op, {f.var}, attrs)[0]);
      },
      "The function that applies f to `size` items along axis 0; axes are 0, or -1 for none. The "
      "last "
      "`written` results are new values of Parameters.");
}

}  // namespace ms::python
