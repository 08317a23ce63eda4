#include "python/op_call.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "kernel/notice.h"
#include "ops/pairs.h"
#include "python/convert.h"
#include "python/dim_object.h"
#include "python/errors.h"
#include "python/tensor_object.h"
#include "python/trace.h"
#include "python/views.h"
#include "tensor/exposure.h"

namespace ms::python {
namespace py = pybind11;
namespace {

thread_local Tape* current_tape = nullptr;
thread_local PyObject* overwritten = nullptr;
thread_local std::unordered_map<PyObject*, Var> tracked_parameters;

// ---- the dtype that promotion gives -------------------------------------------------------------
// Over tensors and
// numbers alike; numbers are weak. Unset where the op does not promote.
class Common {
 public:
  explicit Common(const OpDef& op) : mode_(op.promotion), elementwise_(op.scalar) {}
  void Add(DType dtype, bool weak) {
    dtype_ = any_ ? Promote(dtype_, weak_, dtype, weak) : dtype;
    weak_ = any_ ? weak_ && weak : weak;
    any_ = true;
  }
  bool weak() const { return weak_; }
  DType dtype() const {
    bool exact = !IsFloating(dtype_) && !IsComplex(dtype_);
    return mode_ == Promotion::kFloating && exact ? DType::kFloat32 : dtype_;
  }
  // In a graph, numbers among themselves are as precise as Python's where they stay numbers.
  DType graph_dtype() const {
    return elementwise_ && weak_ && dtype() == DType::kFloat32 ? DType::kFloat64 : dtype();
  }

 private:
  Promotion mode_;
  bool elementwise_;
  DType dtype_ = DType::kFloat32;
  bool weak_ = false;
  bool any_ = false;
};

[[noreturn]] void BadInput(const OpDef& op, size_t i, PyObject* object) {
  std::string name =
      op.inputs.empty() ? "input" : op.inputs[std::min(i, op.inputs.size() - 1)].name;
  Throw(ErrorKind::kType, "For '{}', '{}' must be a Tensor or a number, but got {}.", op.name, name,
        TypeName(object));
}

// One input as it came.
struct Operand {
  TensorObject* tensor = nullptr;  // else: a number, or a value made here
  bool is_number = false;
  bool is_size = false;          // a symbolic one
  bool is_number_input = false;  // a number that is an input of the graph: `tensor` holds it
  py::object keep;
  Number number;
  Dim size;
  Tensor made;
};

void ReadOperand(const OpDef& op, size_t i, PyObject* object, Operand* out) {
  if (IsTensor(object)) {
    out->tensor = AsTensor(object);
    Refresh(out->tensor);
  } else if (IsNumberInput(object)) {
    out->keep = py::handle(object).attr("tensor");
    out->tensor = AsTensor(out->keep.ptr());
    out->is_number_input = true;
    out->number.dtype = IsFloating(out->tensor->dtype()) ? DType::kFloat32 : DType::kInt64;
  } else if (IsSymbolicInt(object)) {
    out->is_size = DimFromObject(object, &out->size);
  } else if (NumberFromObject(object, &out->number)) {
    out->is_number = true;
  } else if (py::isinstance<py::array>(object)) {
    out->made = TensorFromArray(py::reinterpret_borrow<py::array>(object), true);
  } else {
    BadInput(op, i, object);
  }
}

// OpDef::returned: the inputs decide how many outputs there are; a tuple, be it of one.
constexpr int kAsTuple = -2;

// AssignAdd(p, 1): a number takes the Parameter's shape.
bool AssignsNumber(const OpDef& op, const std::vector<Operand>& operands) {
  return !op.updates.empty() && operands.size() == 2 && operands[0].tensor && operands[1].is_number;
}

PyObject* Pack(const OpDef& op, std::vector<py::object>& objects) {
  while (op.returned >= 0 && objects.size() > static_cast<size_t>(op.returned)) objects.pop_back();
  if (objects.size() == 1 && op.returned != kAsTuple) return objects[0].release().ptr();
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(objects.size()));
  if (!tuple) throw py::error_already_set();
  for (size_t i = 0; i < objects.size(); ++i)
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), objects[i].release().ptr());
  return tuple;
}

// Whether an input of the graph is a number, which takes the dtype of the tensors beside it.
bool IsNumber(const Operand& operand, const Var& v) {
  return v && (operand.is_number_input || v.type().weak());
}

// Comparisons are exact. A number that no integer of the common type equals is as far as infinity;
// one that is known only when the graph runs (`vars`) is compared in its own type.
void KeepComparable(const OpDef& op, std::vector<Operand>& operands, const Vars& vars,
                    Common* common) {
  if (op.promotion != Promotion::kCompare || !IsInteger(common->dtype())) return;
  for (size_t i = 0; i < operands.size(); ++i) {
    Number& number = operands[i].number;
    if (operands[i].is_number && !number.FitsIn(common->dtype())) {
      number = {DType::kFloat64, std::copysign(HUGE_VAL, number.real), 0, 0};
      return common->Add(DType::kFloat64, false);
    }
    bool later = i < vars.size() && IsNumber(operands[i], vars[i]);
    if (later && !common->weak() && common->dtype() != DType::kUInt64)
      common->Add(DType::kInt64, false);
  }
}

// An input of the graph in the common type. A number must fit: eager code would refuse it.
Var Joined(Emitter& emitter, const OpDef& op, const Operand& operand, const Var& v,
           const Common& common) {
  DType dtype = common.graph_dtype();
  DType own = v.type().dtype();
  bool shrinks = Contains(kIndex, own) && IsInteger(dtype) && !common.weak();
  if (shrinks && IsNumber(operand, v)) {
    return emitter.Call("FitNumber", {emitter.Wrap(v)}, {{"dtype", dtype}, {"of", op.name}}).var;
  }
  Term cast = CastTo(emitter.Wrap(v), dtype);
  // Numbers among themselves stay numbers.
  return (common.weak() ? emitter.Call("Number", {cast}) : cast).var;
}

// Python says nothing where an integer tensor is divided by zero; the user is told.
Var CheckedDivisor(Emitter& emitter, const Var& v) {
  const Node& node = *v.node;
  if (node.kind == NodeKind::kConstant && !HasZero(node.value)) return v;
  NamedAttrs attrs{{"span", static_cast<int64_t>(emitter.span)}};
  return emitter.Call("CheckDivisor", {emitter.Wrap(v)}, attrs).var;
}

void CheckUpdates(const OpDef& op, PyObject* const* inputs) {
  for (auto [output, input] : op.updates) {
    if (IsParameter(inputs[input])) continue;
    Throw(ErrorKind::kType, "For '{}', '{}' must be a Parameter, since it is updated, but got {}.",
          op.name, op.inputs[input].name, TypeName(inputs[input]));
  }
}

// ---- compiled: append to the trace
PyObject* ApplySymbolic(Trace& trace, const OpDef& op, PyObject* const* inputs,
                        std::vector<Operand>& operands, const AttrsRef& attrs) {
  for (auto [output, input] : op.updates) {
    if (!trace.on_update.is_none()) trace.on_update(py::handle(inputs[input]));
  }
  GraphEmitter& emitter = trace.emitter();
  Common common(op);
  Vars vars(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    Operand& o = operands[i];
    if (o.tensor) {
      if (o.tensor->symbolic()) {
        CheckOwner(trace, o.tensor);
        vars[i] = o.tensor->var;
      } else if (IsParameter(inputs[i])) {
        vars[i] = trace.Lift(inputs[i]);
      } else {
        vars[i] = emitter.Constant(o.tensor->value, false);
      }
    } else if (o.is_size) {
      vars[i] = emitter
                    .Call("SizeScalar", {},
                          {{"size", o.size.code()}, {"dtype", DType::kInt64}, {"weak", true}})
                    .var;
    } else if (!o.is_number) {
      vars[i] = emitter.Constant(o.made, false);
    }
    if (vars[i] && !o.is_number_input)
      common.Add(vars[i].type().dtype(), vars[i].type().weak());
    else
      common.Add(o.number.dtype, true);
  }
  bool promotes = op.promotion != Promotion::kNone;
  bool number_input = std::any_of(operands.begin(), operands.end(),
                                  [](const Operand& o) { return o.is_number_input; });
  if (number_input && (!promotes || common.weak())) {
    Throw(ErrorKind::kUnknownValue, "For '{}', a number that changes from call to call has no type",
          op.name);
  }
  KeepComparable(op, operands, vars, &common);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (vars[i]) {
      if (promotes && vars[i].type().dtype() != common.graph_dtype())
        vars[i] = Joined(emitter, op, operands[i], vars[i], common);
      continue;
    }
    DType dtype = promotes                      ? common.graph_dtype()
                  : AssignsNumber(op, operands) ? common.dtype()
                                                : operands[i].number.dtype;
    vars[i] = emitter.Constant(ScalarTensor(operands[i].number, dtype, op.name),
                               !promotes || common.weak());
  }
  if (op.divides && IsInteger(vars[1].type().dtype())) vars[1] = CheckedDivisor(emitter, vars[1]);
  if (AssignsNumber(op, operands))
    vars[1] = BroadcastTo(emitter.Wrap(vars[1]), vars[0].type().shape()).var;
  Vars outputs = emitter.Emit(op, vars, attrs);
  std::vector<py::object> objects;
  for (const Var& v : outputs) {
    objects.push_back(py::reinterpret_steal<py::object>(NewSymbolic(v, trace.id())));
    if (op.put && IsTensor(inputs[0]))
      Show(inputs[0], objects.back().ptr(), op, attrs, v.index, VersionOf(inputs[0]));
  }
  for (auto [output, input] : op.updates) trace.SetParameter(inputs[input], outputs[output]);
  return Pack(op, objects);
}

// ---- eager: run, record, update
PyObject* CastEager(PyObject* tensor, DType dtype) {
  static const OpDef& cast = Ops().Get("Cast");
  return ApplyOp(cast, &tensor, 1, std::make_shared<const Attrs>(Attrs{dtype}));
}

// A scalar in the shape of another tensor.
Tensor Filled(const Tensor& scalar, const Tensor& like) {
  Tensor result(scalar.dtype(), like.shape());
  size_t item = ItemSize(scalar.dtype());
  for (int64_t i = 0; i < like.shape().size(); ++i)
    std::memcpy(static_cast<char*>(result.raw()) + static_cast<size_t>(i) * item, scalar.raw(),
                item);
  return result;
}

void SetTapeVar(PyObject* object, Tape* tape, Node* node, uint32_t index) {
  TensorObject* t = AsTensor(object);
  t->var = {node, index};
  t->owner = tape->id();
}

PyObject* Finish(const OpDef& op, PyObject* const* inputs, size_t count, const AttrsRef& attrs,
                 const Tensor* const* values, Prepared& prepared, Tensor* outputs, size_t n_outputs,
                 uint64_t version) {
  Node* node = nullptr;
  if (Tape* tape = current_tape) {
    Vars vars(count);
    bool tracked = count == 0 && DependsOnOthers(op);
    for (size_t i = 0; i < count; ++i) {
      if (!IsTensor(inputs[i])) continue;
      vars[i] = TapeVar(inputs[i], *tape);
      if (vars[i]) tracked = true;
    }
    if (tracked)
      node = tape->Record(prepared, attrs, std::move(vars), {values, count}, {outputs, n_outputs});
  }
  bool shows = op.put && IsTensor(inputs[0]);
  if (n_outputs == 1 && op.updates.empty() && op.returned != kAsTuple) {
    PyObject* result = NewTensor(std::move(outputs[0]));
    if (node) SetTapeVar(result, current_tape, node, 0);
    if (shows) Show(inputs[0], result, op, attrs, 0, version);
    return result;
  }
  std::vector<py::object> objects;
  for (size_t i = 0; i < n_outputs; ++i) {
    py::object object;
    for (auto [output, input] : op.updates) {
      if (static_cast<size_t>(output) != i) continue;
      object = py::reinterpret_borrow<py::object>(inputs[input]);
      Overwrite(AsTensor(object.ptr()), std::move(outputs[i]), {}, 0);
    }
    if (!object) object = py::reinterpret_steal<py::object>(NewTensor(std::move(outputs[i])));
    if (shows) Show(inputs[0], object.ptr(), op, attrs, static_cast<uint32_t>(i), version);
    if (node) SetTapeVar(object.ptr(), current_tape, node, static_cast<uint32_t>(i));
    objects.push_back(std::move(object));
  }
  return Pack(op, objects);
}

PyObject* RunEager(const OpDef& op, PyObject* const* inputs, size_t count, const AttrsRef& attrs,
                   const Tensor** values) {
  EagerOutputs outputs;
  if (op.divides && IsInteger(values[1]->dtype()) && HasZero(*values[1])) {
    Trace* trace = Trace::Current();
    TellOfZeroDivisor(trace ? trace->span : 0);
  }
  static const OpDef& assign = Ops().Get("StridedSliceAssign");
  const EagerRunner::InPlace* in_place = &op.updates;
  // Nothing can fail once a slice is being written.
  if (&op == &assign && overwritten && inputs[0] == overwritten) in_place = &op.in_place;
  uint64_t version = op.put ? VersionOf(inputs[0]) : 0;
  // What shows elements of a tensor does so where that is.
  EagerRunner& runner = op.put ? RunnerFor(values[0]->memory()) : CurrentRunner();
  if (!runner.memory().on_host()) {
    for (auto [output, input] : op.updates) Settle(AsTensor(inputs[input]), runner.memory());
    for (size_t i = 0; i < count; ++i) values[i] = &ValueFor(AsTensor(inputs[i]), runner.memory());
  }
  Prepared& prepared = runner.Run(op, {values, count}, attrs, outputs, in_place, !current_tape);
  for (size_t i = 0; i < outputs.inputs.size(); ++i) values[i] = &outputs.inputs[i];
  return Finish(op, inputs, count, attrs, values, prepared, outputs.data(), outputs.size(),
                version);
}

// Inputs that need a cast, a conversion or a home.
PyObject* ApplyEagerSlow(const OpDef& op, PyObject* const* inputs, std::vector<Operand>& operands,
                         const AttrsRef& attrs) {
  Common common(op);
  for (Operand& o : operands) {
    if (o.is_number)
      common.Add(o.number.dtype, true);
    else
      common.Add(o.tensor ? o.tensor->value.dtype() : o.made.dtype(), false);
  }
  KeepComparable(op, operands, {}, &common);
  bool promotes = op.promotion != Promotion::kNone;
  size_t n = operands.size();
  bool joins = promotes || (!op.updates.empty() &&
                            n == 2);  // AssignAdd(p, 1): a number takes the Parameter's dtype
  std::vector<py::object> owned(n);
  std::vector<PyObject*> objects(n);
  std::vector<const Tensor*> values(n);
  for (size_t i = 0; i < n; ++i) {
    Operand& o = operands[i];
    if (o.is_number)
      o.made = ScalarTensor(o.number, joins ? common.dtype() : o.number.dtype, op.name);
    if (o.tensor) {
      objects[i] = inputs[i];
    } else {
      if (i == 1 && AssignsNumber(op, operands)) o.made = Filled(o.made, *values[0]);
      owned[i] = py::reinterpret_steal<py::object>(NewTensor(o.made));
      objects[i] = owned[i].ptr();
    }
    if (promotes && AsTensor(objects[i])->value.dtype() != common.dtype()) {
      owned[i] = py::reinterpret_steal<py::object>(CastEager(objects[i], common.dtype()));
      objects[i] = owned[i].ptr();
    }
    values[i] = &AsTensor(objects[i])->value;
  }
  return RunEager(op, objects.data(), n, attrs, values.data());
}

}  // namespace

WriteScope::WriteScope(PyObject* target)
    : before_(std::exchange(overwritten, current_tape || Trace::Current() ? nullptr : target)) {}
WriteScope::~WriteScope() { overwritten = before_; }

Tape* CurrentTape() { return current_tape; }
void SetCurrentTape(Tape* tape) { current_tape = tape; }

Var TapeVar(PyObject* tensor, const Tape& tape) {
  TensorObject* t = AsTensor(tensor);
  Refresh(t);
  if (t->owner == tape.id()) return t->var;
  if (tracked_parameters.empty() || (t->owner == 0 && !IsParameter(tensor))) return {};
  auto at = tracked_parameters.find(tensor);
  return at == tracked_parameters.end() ? Var{} : at->second;
}
void TrackOnThread(PyObject* parameter, const Var& var) { tracked_parameters[parameter] = var; }
void ForgetTracked() { tracked_parameters.clear(); }
void ForgetTracked(PyObject* parameter) { tracked_parameters.erase(parameter); }

PyObject* ApplyOp(const OpDef& op, PyObject* const* inputs, size_t count, const AttrsRef& attrs) {
  // The common case first: concrete tensors of one dtype.
  constexpr size_t kFast = 16;
  std::array<const Tensor*, kFast> values;
  Trace* trace = Trace::Current();
  bool fast = count <= kFast;
  if (AnyBeingWritten()) [[unlikely]]
    SettleAll({inputs, count});
  bool promotes = op.promotion != Promotion::kNone;
  for (size_t i = 0; i < count && fast; ++i) {
    fast = IsTensor(inputs[i]) && !AsTensor(inputs[i])->symbolic() &&
           !(trace && IsParameter(inputs[i]));
    if (!fast) break;
    Refresh(inputs[i]);
    values[i] = &AsTensor(inputs[i])->value;
    if (promotes) {
      fast = values[i]->dtype() == values[0]->dtype() &&
             (op.promotion != Promotion::kFloating || IsFloating(values[0]->dtype()) ||
              IsComplex(values[0]->dtype()));
    }
  }
  bool dynamic = trace && attrs && !trace->scope().hints.empty() && HasSymbols(*attrs);
  if (fast && !dynamic && !(trace && op.effect != Effect::kNone)) {
    CheckUpdates(op, inputs);
    return RunEager(op, inputs, count, attrs, values.data());
  }

  std::vector<Operand> operands(count);
  bool symbolic =
      trace &&
      (dynamic ||
       op.effect !=
           Effect::kNone);  // a random op belongs to the compiled program even without inputs
  for (size_t i = 0; i < count; ++i) {
    ReadOperand(op, i, inputs[i], &operands[i]);
    symbolic |= trace && operands[i].is_size;
    if (!operands[i].tensor) continue;
    bool here = operands[i].tensor->symbolic();
    if (operands[i].tensor->owner == kSymbolicBit) ValueOf(inputs[i], "an op");
    if (here && !trace) {
      Throw(ErrorKind::kRuntime,
            "For '{}', a tensor of a graph under compilation is used after its compilation ended.",
            op.name);
    }
    symbolic |= here || (trace && IsParameter(inputs[i]));
  }
  CheckUpdates(op, inputs);
  if (symbolic) return ApplySymbolic(*trace, op, inputs, operands, attrs);
  return ApplyEagerSlow(op, inputs, operands, attrs);
}

PyObject* ApplyOp(const OpDef& op, std::initializer_list<PyObject*> inputs) {
  static const AttrsRef kNone;
  if (op.attributes.empty()) return ApplyOp(op, inputs.begin(), inputs.size(), kNone);
  return ApplyOp(op, inputs.begin(), inputs.size(), MakeAttrs(op, {}));
}

}  // namespace ms::python
