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

PyObject* PowSlot(PyObject* a, PyObject* b, PyObject*) { return BinarySlot<kPow>(a, b); }

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
  if (IsBoolOperand(self)) return UnarySlot<kLogicalNot>(self);
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
      MS_SLOT(Py_nb_add, BinarySlot<kAdd>),
      MS_SLOT(Py_nb_subtract, BinarySlot<kSub>),
      MS_SLOT(Py_nb_multiply, BinarySlot<kMul>),
      MS_SLOT(Py_nb_true_divide, BinarySlot<kDiv>),
      MS_SLOT(Py_nb_floor_divide, BinarySlot<kFloorDiv>),
      MS_SLOT(Py_nb_remainder, BinarySlot<kFloorMod>),
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
