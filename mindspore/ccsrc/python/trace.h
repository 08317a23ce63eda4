// The graph under construction on this thread. The Python front end (compile/) steers it; op calls
// append to it.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <vector>

#include "ir/emitter.h"

namespace ms::python {

class Trace {
 public:
  Trace();
  ~Trace();
  Trace(const Trace&) = delete;

  // The innermost trace of the calling thread, or null.
  static Trace* Current();
  // Ends it: its symbolic tensors are of no more use.
  void Close();
  uint64_t id() const { return id_; }  // with kSymbolicBit

  Graph* top() const { return stack_.back(); }
  Graph* main() const { return stack_.front(); }
  GraphEmitter& emitter();  // appends to top()
  const std::shared_ptr<Module>& module() const { return module_; }
  void Push(Graph* graph);
  void Pop();

  // The current value of a Parameter; the first read makes it an input of the main graph.
  Var Lift(PyObject* parameter);
  void SetParameter(PyObject* parameter, const Var& value);
  struct Entry {
    PyObject* parameter;  // owned
    Var input;            // of the main graph
    Var current;
  };
  std::vector<Entry>& environment() { return environment_; }
  // Each Parameter with its position among the inputs of main.
  std::vector<std::pair<const Entry*, size_t>> Positions() const;

  // Symbolic tensors report their birth and death to their trace; the GIL guards this. Those that
  // are alive are what the program still may use.
  static constexpr uint64_t kNow = ~uint64_t{0};
  static void Made(struct TensorObject* tensor, uint64_t when = kNow);
  static uint64_t Gone(struct TensorObject* tensor);  // when it was made
  static uint64_t WhenMade(const struct TensorObject* tensor);
  // In the order they were made. Two traces of one program count alike, whatever else waits for
  // Python's collector.
  std::vector<std::pair<uint64_t, struct TensorObject*>> Live() const;
  uint64_t made = 0;  // a number for the next one

  bool continued = false;  // of a program whose first part has run already
  SpanId span = 0;
  // Called before an op updates a Parameter, with it.
  pybind11::object on_update = pybind11::none();
  // Called for a tensor that is written to, with it and its new value.
  pybind11::object on_write = pybind11::none();
  // Called for a Parameter that is given another value, with both.
  pybind11::object on_replace = pybind11::none();
  // Whether a value can be used where the trace stands.
  bool Sees(const Var& v) const;
  std::vector<pybind11::object> kept;  // what nodes refer to: lives as long as the compiled graph

  // A new symbol for a dynamic size, which is `hint` in the call that is compiled.
  Dim AddSymbol(int64_t hint);
  const DimScope& scope() const { return scope_; }

 private:
  Entry& Find(PyObject* parameter);

  std::shared_ptr<Module> module_;
  std::vector<Graph*> stack_;
  std::vector<Entry> environment_;
  std::unordered_map<PyObject*, size_t> positions_;
  GraphEmitter emitter_{nullptr};
  Trace* outer_;
  uint64_t id_;
  std::unordered_map<struct TensorObject*, uint64_t> live_;  // -> when it was made
  bool closed_ = false;
  DimScope scope_;
  std::optional<DimScope::Use> use_scope_;
};

// Throws when a symbolic tensor belongs to another trace than this one.
void CheckOwner(const Trace& trace, const struct TensorObject* tensor);

// Values of the front end (tensors, numbers, function values) as nodes' outputs, and back.
Var VarOf(Trace& trace, pybind11::handle object);
Vars VarsOf(Trace& trace, const pybind11::sequence& objects);
pybind11::list ObjectsOf(Trace& trace, const Vars& vars);

void BindTrace(pybind11::module_& m);

}  // namespace ms::python
