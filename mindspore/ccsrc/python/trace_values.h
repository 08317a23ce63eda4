// How graphs and function values of a trace look from Python.
#pragma once

#include <memory>

#include "python/trace.h"

namespace ms::python {

struct GraphHandle {
  Graph* graph;
  std::shared_ptr<Module> module;  // keeps the graph alive
};
struct FunctionValue {
  Var var;
  uint64_t trace;
};

pybind11::object ObjectOf(Trace& trace, const Var& v);
Var FunctionOf(const Trace& trace, pybind11::handle object);

// Gradients, tangents and batches of function values.
void BindTransforms(pybind11::class_<Trace>& c);

}  // namespace ms::python
