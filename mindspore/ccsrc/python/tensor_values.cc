// What a Python Tensor holds: read, brought to a device, replaced and written to.
#include <chrono>
#include <thread>
#include <utility>

#include "kernel/ledger.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/op_call.h"
#include "python/slices.h"
#include "python/tensor_object.h"
#include "python/trace.h"
#include "python/views.h"
#include "runtime/eager.h"
#include "tensor/exposure.h"

namespace ms::python {
namespace py = pybind11;

namespace {

// Who writes. The GIL guards the fields.
struct Writer {
  std::thread::id thread;
  int depth = 0;
} writer;

}  // namespace

namespace {

bool IsMine() { return writer.thread == std::this_thread::get_id(); }

void Enter(int depth) {
  while (writer.depth > 0 && !IsMine()) {
    py::gil_scoped_release release;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  writer.thread = std::this_thread::get_id();
  writer.depth += depth;
}

}  // namespace

Writing::Writing() { Enter(1); }

Writing::Paused::Paused() {
  if (IsMine()) depth_ = std::exchange(writer.depth, 0);
}

Writing::Paused::~Paused() {
  if (depth_ > 0) Enter(depth_);
}

Writing::~Writing() { --writer.depth; }

void Writing::InChild() {
  if (!IsMine()) writer.depth = 0;
}

void Overwrite(TensorObject* t, Tensor value, const Var& var, uint64_t owner) {
  if (SliceOf(t)) ForgetSlice(t);
  if (t->shared && t->value.exposed() && t->value.raw() != value.raw()) {
    Tensor shared = t->value;  // others may run while this waits
    value.memory().Fetch(shared.raw(), value.raw(), value.bytes());
  } else {
    Tensor taken = t->stays ? value.In(t->value.memory()) : std::move(value);
    if (t->elsewhere) DropCopy(t);
    t->value = std::move(taken);
    t->shared = t->shared && t->value.exposed();
  }
  t->var = var;
  t->owner = owner;
  ForgetTracked(reinterpret_cast<PyObject*>(t));
  Written(t);
}

Tensor AssignedOver(const Tensor& old, Tensor value) {
  static const OpDef& assign = Ops().Get("Assign");
  if (value.on_host() || value.buffer().get() == old.buffer().get() ||
      value.dtype() != old.dtype() || value.shape() != old.shape())
    return value;
  auto* ledger = dynamic_cast<const Ledger*>(&value.memory());
  if (ledger && ledger->IsSure(value.raw(), value.bytes())) return value;
  EagerRunner& runner = RunnerFor(value.memory());
  const Tensor* inputs[] = {&old, &value};
  EagerOutputs outputs;
  runner.Run(assign, inputs, nullptr, outputs, &assign.updates);
  return std::move(outputs[0]);
}

Tensor WrittenOver(const TensorObject* t, Tensor value) {
  bool fetched = t->value.on_host() && (t->stays || t->value.exposed());
  return fetched ? value : AssignedOver(t->value, std::move(value));
}

bool Write(PyObject* object, PyObject* value, bool of_program) {
  Writing alone;
  PyObject* done = Guarded([&]() -> PyObject* {
    if (!IsTensor(value))
      Throw(ErrorKind::kType, "For 'Tensor', a new value must be a Tensor, but got {}.",
            TypeName(value));
    py::object target = py::reinterpret_borrow<py::object>(object);
    py::object whole = py::reinterpret_borrow<py::object>(value);
    py::object base = BaseOf(object);
    if (py::object with = base ? BaseWith(base, object, whole) : py::object()) {
      whole = with;
      target = base;
    }
    TensorObject* t = AsTensor(target.ptr());
    TensorObject* v = AsTensor(whole.ptr());
    Refresh(v);
    Trace* trace = Trace::Current();
    if (trace && !trace->on_write.is_none() && (of_program || t->symbolic() || v->symbolic())) {
      trace->on_write(target, whole);
    } else if (IsParameter(target.ptr())) {
      py::handle assign = parameter_assign;
      assign(target, whole);
    } else if (t->symbolic() || v->symbolic()) {
      Rebind(t, v);
    } else {
      Tensor next = WrittenOver(t, v->value.exposed() ? v->value.Copy() : v->value);
      Overwrite(t, std::move(next), v->var, v->owner);
    }
    return Py_NewRef(Py_None);
  });
  Py_XDECREF(done);
  return done;
}

namespace {

// Whether a copy may stand for the value in that memory.
bool MayBeCopied(const TensorObject* t, const Memory& memory) {
  const Tensor& value = t->value;
  return value.defined() && &value.memory() != &memory && value.on_host() && !value.exposed() &&
         !t->stays;
}

}  // namespace

const Tensor& ValueFor(TensorObject* t, Memory& memory) {
  if (!MayBeCopied(t, memory)) return t->value;
  Elsewhere* known = t->elsewhere;
  // Who holds the old value keeps others from writing to it in place.
  bool current = known && known->of.raw() == t->value.raw() &&
                 known->of.buffer().get() == t->value.buffer().get() &&
                 known->of.shape() == t->value.shape() && &known->copy.memory() == &memory;
  if (!current) {
    DropCopy(t);
    t->elsewhere = new Elsewhere{t->value, t->value.In(memory)};
  }
  return t->elsewhere->copy;
}

void Settle(TensorObject* t, Memory& memory) {
  if (!MayBeCopied(t, memory)) return;
  Tensor there = ValueFor(t, memory);
  DropCopy(t);
  t->value = std::move(there);
}

void Rebind(TensorObject* t, const TensorObject* v) {
  uint64_t when = t->symbolic() ? Trace::Gone(t) : Trace::kNow;
  t->value = v->value;
  t->var = v->var;
  t->owner = v->owner;
  if (t->symbolic()) Trace::Made(t, when);
}

// A value that is held is never written over again, but for arrays that share its memory. So who
// writes again and again keeps nobody waiting: his present value is another one by then.
void SettleAll(std::span<PyObject* const> objects) {
  constexpr auto kPatience = std::chrono::milliseconds(50);  // between looks at Ctrl-C
  std::vector<TensorObject*> tensors;
  std::vector<Tensor> held;
  for (PyObject* object : objects) {
    if (!IsTensor(object) || AsTensor(object)->symbolic()) continue;
    tensors.push_back(AsTensor(object));
    held.push_back(tensors.back()->value);
  }
  std::vector<uint64_t> writes = WritesTo(held);
  if (writes.empty()) return;
  for (bool ended = false; !ended;) {
    {
      py::gil_scoped_release release;
      ended = AwaitWrites(writes, kPatience);
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!WritesTo({&tensors[i]->value, 1}).empty()) tensors[i]->value = held[i];
  }
}

const Tensor& ValueOf(PyObject* tensor, const char* what) {
  TensorObject* t = AsTensor(tensor);
  if (AnyBeingWritten()) [[unlikely]]
    SettleAll({&tensor, 1});
  Refresh(t);
  if (t->owner == kSymbolicBit) {
    Throw(ErrorKind::kType,
          "For 'Tensor', {} needs the value of a tensor, but a Tensor with a size of None only "
          "describes an "
          "input.",
          what);
  }
  if (t->symbolic() || (IsParameter(tensor) && Trace::Current())) {
    Throw(ErrorKind::kUnknownValue,
          "{} needs the value of a tensor, but in a compiled graph it is known only at run time.",
          what);
  }
  return t->value;
}

Tensor HostValueOf(PyObject* tensor, const char* what) { return ValueOf(tensor, what).OnHost(); }

}  // namespace ms::python
