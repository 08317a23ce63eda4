#include "python/tensor_operators.h"

#include "python/convert.h"
#include "python/dim_object.h"
#include "python/errors.h"
#include "python/op_call.h"
#include "python/tensor_object.h"

namespace ms::python {
namespace py = pybind11;
namespace {

bool Operand(PyObject* o) {
  if (IsTensor(o) || IsSymbolicInt(o) || IsNumberInput(o)) return true;
  Number n;
  return NumberFromObject(o, &n) || py::isinstance<py::array>(o);
}

template <const char* kOp>
PyObject* BinarySlot(PyObject* a, PyObject* b) {
  static const OpDef& op = Ops().Get(kOp);
  return Guarded([&]() -> PyObject* {
    if (!Operand(a) || !Operand(b)) Py_RETURN_NOTIMPLEMENTED;
    return ApplyOp(op, {a, b});
  });
}

bool IsWeak(PyObject* tensor) {  // stands for a Python number
  TensorObject* t = AsTensor(tensor);
  return t->symbolic() && t->var.node && t->var.type().weak();
}

bool IsSequence(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o); }

// A list or tuple of numbers as a tensor beside another one: like a number, it has no dtype of its
// own.
py::object TensorBeside(PyObject* sequence, PyObject* other) {
  DType own = TensorFromObject(sequence, nullptr).dtype();
  DType common = Promote(AsTensor(other)->dtype(), IsWeak(other), own, true);
  return py::reinterpret_steal<py::object>(NewTensor(TensorFromObject(sequence, &common)));
}

// Arithmetic that takes lists and tuples too: what Python does to these alone, it does not do here.
template <const char* kOp>
PyObject* ArithmeticSlot(PyObject* a, PyObject* b) {
  bool left = IsTensor(b) && IsSequence(a);
  if (!left && !(IsTensor(a) && IsSequence(b))) return BinarySlot<kOp>(a, b);
  return Guarded([&]() -> PyObject* {
    py::object made = left ? TensorBeside(a, b) : TensorBeside(b, a);
    return left ? BinarySlot<kOp>(made.ptr(), b) : BinarySlot<kOp>(a, made.ptr());
  });
}
template <const char* kOp>
PyObject* UnarySlot(PyObject* a) {
  static const OpDef& op = Ops().Get(kOp);
  return Guarded([&] { return ApplyOp(op, {a}); });
}
#define MS_NAME(id) constexpr char k##id[] = #id;
// clang-format off
MS_NAME(Add)
MS_NAME(Sub)
MS_NAME(Mul)
MS_NAME(Div)
MS_NAME(FloorDiv)
MS_NAME(FloorMod)
MS_NAME(Pow)
MS_NAME(Neg)
MS_NAME(Abs)
MS_NAME(Equal)
MS_NAME(NotEqual)
MS_NAME(Less)
MS_NAME(LessEqual)
MS_NAME(Greater)
MS_NAME(GreaterEqual)
MS_NAME(LogicalAnd)
MS_NAME(LogicalOr)
MS_NAME(LogicalXor)
MS_NAME(LogicalNot)
MS_NAME(BitwiseAnd)
MS_NAME(BitwiseOr)
MS_NAME(BitwiseXor)
// clang-format on
#undef MS_NAME

PyObject* PowSlot(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return BinarySlot<kPow>(a, b);
}

// A list times a tensor of one integer is that list repeated.
PyObject* MulSlot(PyObject* a, PyObject* b) {
  auto counts = [](PyObject* o) {
    return IsTensor(o) && IsInteger(AsTensor(o)->dtype()) && AsTensor(o)->shape().rank() == 0;
  };
  if ((IsSequence(a) && counts(b)) || (IsSequence(b) && counts(a))) Py_RETURN_NOTIMPLEMENTED;
  return ArithmeticSlot<kMul>(a, b);
}

// &, |, ^ mean logic on booleans and bits on integers.
bool IsBoolOperand(PyObject* o) {
  return IsTensor(o) ? IsBool(AsTensor(o)->dtype()) : PyBool_Check(o);
}
template <const char* kLogical, const char* kBits>
PyObject* BitSlot(PyObject* a, PyObject* b) {
  return IsBoolOperand(a) && IsBoolOperand(b) ? BinarySlot<kLogical>(a, b)
                                              : BinarySlot<kBits>(a, b);
}
PyObject* Positive(PyObject* self) { return Py_NewRef(self); }
PyObject* Invert(PyObject* self) {
  // Of a tensor, ~ is logic whatever it holds; what stands for an int keeps to Python's bits.
  if (!IsWeak(self) || IsBoolOperand(self)) return UnarySlot<kLogicalNot>(self);
  auto minus_one = py::reinterpret_steal<py::object>(PyLong_FromLong(-1));
  return BinarySlot<kBitwiseXor>(self, minus_one.ptr());
}

PyObject* Compare(PyObject* a, PyObject* b, int op) {
  bool comparable = Guarded([&] { return Operand(b) ? Py_True : Py_None; }) == Py_True;
  if (PyErr_Occurred()) return nullptr;
  if (!comparable) {
    if (op == Py_EQ) Py_RETURN_FALSE;
    if (op == Py_NE) Py_RETURN_TRUE;
    Py_RETURN_NOTIMPLEMENTED;
  }
  switch (op) {
    case Py_EQ:
      return BinarySlot<kEqual>(a, b);
    case Py_NE:
      return BinarySlot<kNotEqual>(a, b);
    case Py_LT:
      return BinarySlot<kLess>(a, b);
    case Py_LE:
      return BinarySlot<kLessEqual>(a, b);
    case Py_GT:
      return BinarySlot<kGreater>(a, b);
    default:
      return BinarySlot<kGreaterEqual>(a, b);
  }
}

}  // namespace

#define MS_SLOT(id, f) {id, reinterpret_cast<void*>(f)}
std::vector<PyType_Slot> OperatorSlots() {
  return {
      MS_SLOT(Py_tp_richcompare, Compare),
      MS_SLOT(Py_nb_add, ArithmeticSlot<kAdd>),
      MS_SLOT(Py_nb_subtract, ArithmeticSlot<kSub>),
      MS_SLOT(Py_nb_multiply, MulSlot),
      MS_SLOT(Py_nb_true_divide, ArithmeticSlot<kDiv>),
      MS_SLOT(Py_nb_floor_divide, ArithmeticSlot<kFloorDiv>),
      MS_SLOT(Py_nb_remainder, ArithmeticSlot<kFloorMod>),
      MS_SLOT(Py_nb_power, PowSlot),
      MS_SLOT(Py_nb_negative, UnarySlot<kNeg>),
      MS_SLOT(Py_nb_absolute, UnarySlot<kAbs>),
      MS_SLOT(Py_nb_positive, Positive),
      MS_SLOT(Py_nb_invert, Invert),
      MS_SLOT(Py_nb_and, (BitSlot<kLogicalAnd, kBitwiseAnd>)),
      MS_SLOT(Py_nb_or, (BitSlot<kLogicalOr, kBitwiseOr>)),
      MS_SLOT(Py_nb_xor, (BitSlot<kLogicalXor, kBitwiseXor>)),
  };
}
#undef MS_SLOT

}  // namespace ms::python
