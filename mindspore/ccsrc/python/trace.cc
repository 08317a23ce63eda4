#include "python/trace.h"

#include <algorithm>
#include <atomic>

#include "python/dtype_object.h"
#include "python/tensor_object.h"

namespace ms::python {
namespace {
thread_local Trace* current = nullptr;
std::atomic<uint64_t> next_id{1};
std::unordered_map<uint64_t, Trace*> traces;  // by id; guarded by the GIL
}  // namespace

Trace::Trace()
    : module_(std::make_shared<Module>()),
      outer_(current),
      id_(kSymbolicBit | next_id.fetch_add(1)) {
  Graph* main = module_->NewGraph("main");
  module_->set_main(main);
  stack_.push_back(main);
  traces.emplace(id_, this);
  current = this;
  use_scope_.emplace(&scope_);
}

void Trace::Close() {
  if (closed_) return;
  closed_ = true;
  current = outer_;
  use_scope_.reset();
  on_update = on_write = on_replace = pybind11::none();  // they may refer to who owns this trace
}

Dim Trace::AddSymbol(int64_t hint) {
  scope_.hints.push_back(hint);
  return Dim::Symbol(static_cast<int>(scope_.hints.size()) - 1);
}

Trace::~Trace() {
  Close();
  traces.erase(id_);
  for (Entry& e : environment_) Py_DECREF(e.parameter);
}

void Trace::Made(TensorObject* tensor, uint64_t when) {
  auto it = traces.find(tensor->owner);
  if (it == traces.end()) return;
  Trace& trace = *it->second;
  trace.live_.emplace(tensor, when == kNow ? trace.made++ : when);
}

uint64_t Trace::Gone(TensorObject* tensor) {
  uint64_t when = WhenMade(tensor);
  if (when != kNow) traces.at(tensor->owner)->live_.erase(tensor);
  return when;
}

uint64_t Trace::WhenMade(const TensorObject* tensor) {
  auto it = traces.find(tensor->owner);
  if (it == traces.end()) return kNow;
  const auto& live = it->second->live_;
  auto found = live.find(const_cast<TensorObject*>(tensor));
  return found == live.end() ? kNow : found->second;
}

bool Trace::Sees(const Var& v) const {
  for (const Graph* g = v.node ? top() : nullptr; g; g = g->parent) {
    if (g == v.node->graph) return true;
  }
  return false;
}

std::vector<std::pair<uint64_t, TensorObject*>> Trace::Live() const {
  std::vector<std::pair<uint64_t, TensorObject*>> found;
  for (auto [tensor, when] : live_) found.emplace_back(when, tensor);
  std::sort(found.begin(), found.end());
  return found;
}

Trace* Trace::Current() { return current; }

GraphEmitter& Trace::emitter() {
  if (emitter_.graph() != top()) emitter_ = GraphEmitter(top());
  emitter_.span = span;
  return emitter_;
}

void Trace::Push(Graph* graph) { stack_.push_back(graph); }
void Trace::Pop() {
  MS_ASSERT(stack_.size() > 1);
  stack_.pop_back();
}

Trace::Entry& Trace::Find(PyObject* parameter) {
  auto [it, fresh] = positions_.try_emplace(parameter, environment_.size());
  if (fresh) {
    TensorObject* t = AsTensor(parameter);
    PyObject* name = PyObject_GetAttrString(parameter, "name");
    std::string text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : "parameter";
    Py_XDECREF(name);
    if (!name && !PyErr_ExceptionMatches(PyExc_AttributeError)) throw pybind11::error_already_set();
    PyErr_Clear();
    Node* node = main()->AddParameter(Type(t->value.dtype(), t->value.shape()), text);
    environment_.push_back({Py_NewRef(parameter), {node, 0}, {node, 0}});
  }
  return environment_[it->second];
}

void CheckOwner(const Trace& trace, const TensorObject* tensor) {
  if (tensor->owner == trace.id()) return;
  if (trace.continued) {
    Throw(ErrorKind::kUnknownValue,
          "a value of before a line that runs eagerly is used after it, but was not kept.");
  }
  if (tensor->owner == kSymbolicBit)
    ValueOf(const_cast<PyObject*>(reinterpret_cast<const PyObject*>(tensor)), "an op");
  Throw(ErrorKind::kRuntime,
        "a tensor of a graph whose compilation ended is used; it was kept in a variable outside of "
        "the "
        "compiled function, which should return it instead.");
}

std::vector<std::pair<const Trace::Entry*, size_t>> Trace::Positions() const {
  std::unordered_map<const Node*, size_t> places;
  for (const Var& input : main()->inputs()) places.emplace(input.node, places.size());
  std::vector<std::pair<const Entry*, size_t>> positions;
  for (const Entry& e : environment_) positions.emplace_back(&e, places.at(e.input.node));
  return positions;
}

Var Trace::Lift(PyObject* parameter) { return Find(parameter).current; }

void Trace::SetParameter(PyObject* parameter, const Var& value) {
  Entry& entry = Find(parameter);
  const Type& type = entry.input.type();
  if (value.type().dtype() != type.dtype() || !(value.type().shape() == type.shape())) {
    Throw(ErrorKind::kValue,
          "For '{}', a new value must have the type {} of the parameter, but got {}.",
          entry.input.node->name, type, value.type());
  }
  entry.current = value;
}

}  // namespace ms::python
