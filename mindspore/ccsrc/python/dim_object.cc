#include "python/dim_object.h"

#include <functional>

#include "python/op_call.h"
#include "python/tensor_object.h"
#include "python/trace.h"

namespace ms::python {
namespace py = pybind11;
namespace {

struct SymbolicInt {
  Dim dim;
};
PyTypeObject* symbolic_type = nullptr;

py::object NotImplemented() { return py::reinterpret_borrow<py::object>(Py_NotImplemented); }

// The number of this compile; that other calls have the same becomes a guard.
int64_t Fix(Dim dim) {
  DimScope* scope = DimScope::Current();
  if (!dim.symbolic()) return dim.value();
  if (!scope) Dim::Refuse();
  int64_t value = dim.Evaluate(scope->hints);
  scope->Decide(dim - value, true);
  return value;
}

// The size as a weak scalar of the graph.
py::object ScalarOf(Dim dim, DType dtype, double divisor = 1, bool inverse = false) {
  Trace* trace = Trace::Current();
  if (!trace) Dim::Refuse();
  Term term = trace->emitter().Call("SizeScalar", {},
                                    {{"size", dim.code()},
                                     {"dtype", dtype},
                                     {"divisor", divisor},
                                     {"inverse", inverse},
                                     {"weak", true}});
  return py::reinterpret_steal<py::object>(NewSymbolic(term.var, trace->id()));
}

template <class F>
auto Arithmetic(F f, const char* name) {
  return [f, name](const SymbolicInt& a, const py::object& b) -> py::object {
    Dim other;
    if (DimFromObject(b.ptr(), &other)) return ObjectFromDim(f(a.dim, other));
    if (!py::isinstance<py::float_>(b)) return NotImplemented();
    return ScalarOf(a.dim, DType::kFloat64).attr(name)(b);
  };
}

template <class F>
auto Comparison(F f, const char* name) {
  return [f, name](const SymbolicInt& a, const py::object& b) -> py::object {
    Dim other;
    if (DimFromObject(b.ptr(), &other)) return py::bool_(f(a.dim, other));
    if (!py::isinstance<py::float_>(b)) return NotImplemented();
    return py::float_(static_cast<double>(Fix(a.dim))).attr(name)(b);
  };
}

py::object TrueDivide(const SymbolicInt& a, const py::object& b) {
  if (IsSymbolicInt(b.ptr()))
    return ScalarOf(a.dim, DType::kFloat64) /
           ScalarOf(b.cast<const SymbolicInt&>().dim, DType::kFloat64);
  if (!py::isinstance<py::int_>(b) && !py::isinstance<py::float_>(b)) return NotImplemented();
  return ScalarOf(a.dim, DType::kFloat64, b.cast<double>());
}

py::object ReverseTrueDivide(const SymbolicInt& a, const py::object& b) {
  if (!py::isinstance<py::int_>(b) && !py::isinstance<py::float_>(b)) return NotImplemented();
  return ScalarOf(a.dim, DType::kFloat64, b.cast<double>(), true);
}

py::object Power(const SymbolicInt& a, const py::object& b) {
  int64_t exponent = py::isinstance<py::int_>(b) ? b.cast<int64_t>() : -1;
  if (exponent < 0) return py::int_(Fix(a.dim)).attr("__pow__")(b);
  Dim power = 1;
  for (int64_t i = 0; i < exponent; ++i) power *= a.dim;
  return ObjectFromDim(power);
}

}  // namespace

bool IsSymbolicInt(PyObject* object) { return Py_TYPE(object) == symbolic_type; }

py::object ObjectFromDim(Dim dim) {
  if (dim.symbolic()) return py::cast(SymbolicInt{dim});
  return py::int_(dim.value());
}

bool DimFromObject(PyObject* object, Dim* out) {
  if (IsSymbolicInt(object)) {
    *out = py::handle(object).cast<const SymbolicInt&>().dim;
    return true;
  }
  if (!PyLong_Check(object)) return false;
  int overflow = 0;
  int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0 || Dim::IsSymbolicCode(value)) return false;
  *out = value;
  return true;
}

void BindDim(py::module_& m) {
  py::class_<SymbolicInt> c(m, "SymbolicInt", "A size that each call of a compiled graph decides.");
  symbolic_type = reinterpret_cast<PyTypeObject*>(c.ptr());
  auto reversed = [](auto f) { return [f](Dim a, Dim b) { return f(b, a); }; };
  c.def("__add__", Arithmetic(std::plus<Dim>(), "__add__"));
  c.def("__radd__", Arithmetic(std::plus<Dim>(), "__radd__"));
  c.def("__sub__", Arithmetic(std::minus<Dim>(), "__sub__"));
  c.def("__rsub__", Arithmetic(reversed(std::minus<Dim>()), "__rsub__"));
  c.def("__mul__", Arithmetic(std::multiplies<Dim>(), "__mul__"));
  c.def("__rmul__", Arithmetic(std::multiplies<Dim>(), "__rmul__"));
  c.def("__floordiv__", Arithmetic(std::divides<Dim>(), "__floordiv__"));
  c.def("__rfloordiv__", Arithmetic(reversed(std::divides<Dim>()), "__rfloordiv__"));
  c.def("__mod__", Arithmetic(std::modulus<Dim>(), "__mod__"));
  c.def("__rmod__", Arithmetic(reversed(std::modulus<Dim>()), "__rmod__"));
  c.def("__truediv__", &TrueDivide);
  c.def("__rtruediv__", &ReverseTrueDivide);
  c.def("__pow__", &Power);
  c.def("__neg__", [](const SymbolicInt& a) { return ObjectFromDim(a.dim * -1); });
  c.def("__pos__", [](const SymbolicInt& a) { return ObjectFromDim(a.dim); });
  c.def("__abs__",
        [](const SymbolicInt& a) { return ObjectFromDim(a.dim < 0 ? a.dim * -1 : a.dim); });
  c.def("__eq__", Comparison(std::equal_to<Dim>(), "__eq__"));
  c.def("__ne__", Comparison(std::not_equal_to<Dim>(), "__ne__"));
  c.def("__lt__", Comparison(std::less<Dim>(), "__lt__"));
  c.def("__le__", Comparison(std::less_equal<Dim>(), "__le__"));
  c.def("__gt__", Comparison(std::greater<Dim>(), "__gt__"));
  c.def("__ge__", Comparison(std::greater_equal<Dim>(), "__ge__"));
  c.def("__bool__", [](const SymbolicInt& a) { return a.dim != 0; });
  c.def("__hash__", [](const SymbolicInt& a) { return a.dim.code(); });
  c.def("__index__", [](const SymbolicInt& a) { return Fix(a.dim); });
  c.def("__int__", [](const SymbolicInt& a) { return Fix(a.dim); });
  c.def("__float__", [](const SymbolicInt& a) { return static_cast<double>(Fix(a.dim)); });
  c.def("__str__", [](const SymbolicInt& a) { return fmt::format("{}", Fix(a.dim)); });
  c.def("__format__", [](const SymbolicInt& a, const py::str& spec) {
    return py::int_(Fix(a.dim)).attr("__format__")(spec);
  });
  c.def("__repr__", [](const SymbolicInt& a) { return a.dim.ToString(); });
  c.def(
      "as_tensor",
      [](const SymbolicInt& a, bool floating) {
        return ScalarOf(a.dim, floating ? DType::kFloat64 : DType::kInt64);
      },
      py::arg("floating") = false, "The size as a scalar of the graph.");
}

}  // namespace ms::python
