#include "python/convert.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "python/dim_object.h"
#include "python/dtype_object.h"
#include "python/tensor_object.h"
#include "python/views.h"
#include "tensor/exposure.h"

namespace ms::python {
namespace py = pybind11;

std::string TypeName(PyObject* object) { return Py_TYPE(object)->tp_name; }

// ---- arrays
namespace {
// Its elements one behind the other: more memory than it has itself where it repeats some.
py::array Contiguous(const py::array& array) {
  try {
    return py::module_::import("numpy").attr("ascontiguousarray")(array).cast<py::array>();
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_MemoryError)) throw;
    Throw(ErrorKind::kMemory,
          "For 'Tensor', the {} bytes of the array must fit into memory, but they do not.",
          array.nbytes());
  }
}
}  // namespace

Tensor TensorFromArray(py::array array, bool copy) {
  DType dtype;
  if (!DTypeFromNumpy(array.dtype(), &dtype)) {
    Throw(ErrorKind::kType,
          "For 'Tensor', the dtype of an array must be a number or bool in native byte order, but "
          "got {}.",
          py::str(array.dtype()).cast<std::string>());
  }
  Ints dims(array.shape(), array.shape() + array.ndim());
  Shape shape(dims);
  bool dense = (array.flags() & py::array::c_style) != 0;
  if (!dense) array = Contiguous(array).reshape(dims);
  bool aligned = reinterpret_cast<uintptr_t>(array.data()) % ItemSize(dtype) == 0;
  if (copy || !aligned || !array.writeable()) {
    Tensor tensor(dtype, shape);
    if (tensor.bytes()) std::memcpy(tensor.raw(), array.data(), tensor.bytes());
    return tensor;
  }
  PyObject* owner = array.inc_ref().ptr();
  BufferRef buffer =
      Buffer::Wrap(const_cast<void*>(array.data()), static_cast<size_t>(array.nbytes()), [owner] {
        if (!Py_IsInitialized()) return;
        py::gil_scoped_acquire gil;
        Py_DECREF(owner);
      });
  return Tensor(dtype, shape, std::move(buffer));
}

namespace {

// Lists of tensors are accepted too: each becomes an array.
py::object Plain(py::handle object) {
  if (IsTensor(object.ptr())) return ArrayFromTensor(ValueOf(object.ptr(), "a list of tensors"));
  if (py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object)) {
    py::list plain;
    for (py::handle item : object) plain.append(Plain(item));
    return plain;
  }
  return py::reinterpret_borrow<py::object>(object);
}

// What Python's own floats and NumPy's default integers are in this framework, alone and in lists.
void ToOwnDefaults(PyObject* object, py::array* array) {
  bool list = PyList_Check(object) || PyTuple_Check(object);
  if (!list && !PyFloat_CheckExact(object)) return;
  if (array->dtype().is(py::dtype::of<double>()))
    *array = array->attr("astype")("float32").cast<py::array>();
  else if (list && array->dtype().is(py::dtype::of<int32_t>()))
    *array = array->attr("astype")("int64").cast<py::array>();
}

[[noreturn]] void Unfit(DType dtype, py::handle got) {
  Throw(ErrorKind::kValue, "For 'Tensor', {}.",
        UnfitText(dtype, py::repr(got).cast<std::string>().substr(0, 60)));
}

// What is made an integer must be one of the type, up to what lies behind the point.
void CheckFits(const py::array& array, DType dtype) {
  DType own;
  if (!DTypeFromNumpy(array.dtype(), &own) || IsBool(own) || IsComplex(own) || array.size() == 0)
    return;
  IntegerRange range = RangeOf(dtype);
  if (IsInteger(own) && range.Holds(RangeOf(own).low) && range.Holds(RangeOf(own).high)) return;
  for (const char* extreme : {"min", "max"}) {
    py::object item = array.attr(extreme)().attr("item")();
    Number number;
    NumberFromObject(item.ptr(), &number);
    bool fits = IsInteger(own) ? number.FitsIn(dtype)
                               : number.real > static_cast<double>(range.low) - 1 &&
                                     number.real < static_cast<double>(range.high + 1);
    if (!fits) Unfit(dtype, item);
  }
}

py::array Converted(const py::array& array, DType dtype) {
  if (IsInteger(dtype)) CheckFits(array, dtype);
  return array.attr("astype")(NumpyDType(dtype), py::arg("copy") = false).cast<py::array>();
}

// Python's integers have no bounds.
bool HoldsWideInteger(py::handle object) {
  if (PyLong_Check(object.ptr())) {
    Number number;
    NumberFromObject(object.ptr(), &number);
    return !number.FitsIn(DType::kInt64);
  }
  if (!PyList_Check(object.ptr()) && !PyTuple_Check(object.ptr())) return false;
  return std::any_of(object.begin(), object.end(), HoldsWideInteger);
}

}  // namespace

Tensor TensorFromObject(PyObject* object, const DType* dtype) {
  if (IsTensor(object)) {
    const Tensor& value = ValueOf(object, "Tensor(...)");
    if (!dtype || *dtype == value.dtype()) return value.Copy();
    return TensorFromArray(Converted(ArrayFromTensor(value), *dtype), true);
  }
  py::object numpy = py::module_::import("numpy");
  py::object plain = Plain(object);
  py::array array;
  try {
    array = numpy.attr("asarray")(plain).cast<py::array>();
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError)) throw;
    Throw(ErrorKind::kValue,
          "For 'Tensor', the nested lists must have equal lengths, but NumPy says: {}",
          py::str(error.value()).cast<std::string>());
  }
  char kind = array.dtype().kind();
  if (kind == 'O' && HoldsWideInteger(plain)) Unfit(dtype ? *dtype : DType::kInt64, plain);
  if (kind == 'O' || kind == 'U' || kind == 'S') {
    std::string what = TypeName(object);
    if (py::isinstance<py::array>(object))
      what += " of dtype " + py::str(array.dtype()).cast<std::string>();
    Throw(ErrorKind::kType, "For 'Tensor', the data must be numbers, but got {}.", what);
  }
  if (!dtype) ToOwnDefaults(object, &array);
  if (dtype && *dtype != DType::kBool && array.dtype().kind() == 'b')
    array = array.attr("astype")("int8").cast<py::array>();
  if (dtype) array = Converted(array, *dtype);
  return TensorFromArray(array, true);
}

py::array ArrayFromTensor(const Tensor& value) {
  const bool here = value.on_host();
  if (here) Expose(value);  // first: another handle of the memory would count as a second holder
  Tensor tensor = value.OnHost();
  if (!here) Expose(tensor);
  auto* keep = new Tensor(tensor);
  py::capsule owner(keep, [](void* p) {
    auto* kept = static_cast<Tensor*>(p);
    Conceal(*kept);
    delete kept;
  });
  return py::array(NumpyDType(tensor.dtype()), tensor.shape().ToInts(), tensor.raw(), owner);
}

// ---- numbers
namespace {

// An integer of more than 63 bits.
Number WideNumber(PyObject* object, int sign) {
  double real = PyLong_AsDouble(object);
  if (real == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    real = sign * std::numeric_limits<double>::infinity();
  }
  uint64_t bits = sign > 0 ? PyLong_AsUnsignedLongLong(object) : 0;
  bool fits = sign > 0 && !PyErr_Occurred();
  PyErr_Clear();
  return {DType::kInt64, real, 0, fits ? Wide{bits} : sign * (Wide{1} << 100)};
}

}  // namespace

bool Number::FitsIn(DType type) const {
  return !IsInteger(type) || !IsInteger(dtype) || RangeOf(type).Holds(integer);
}

bool NumberFromObject(PyObject* object, Number* out) {
  if (PyFloat_CheckExact(object)) {
    *out = {DType::kFloat32, PyFloat_AS_DOUBLE(object), 0, 0};
    return true;
  }
  if (PyBool_Check(object)) {
    int64_t v = object == Py_True;
    *out = {DType::kBool, static_cast<double>(v), 0, v};
    return true;
  }
  if (PyLong_Check(object)) {
    int overflow = 0;
    int64_t v = PyLong_AsLongLongAndOverflow(object, &overflow);
    *out = overflow ? WideNumber(object, overflow)
                    : Number{DType::kInt64, static_cast<double>(v), 0, v};
    return true;
  }
  if (PyFloat_Check(object)) {  // numpy.float64 too
    *out = {DType::kFloat32, PyFloat_AS_DOUBLE(object), 0, 0};
    return true;
  }
  if (PyComplex_Check(object)) {
    *out = {DType::kComplex64, PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object), 0};
    return true;
  }
  if (py::hasattr(object, "dtype") && py::hasattr(object, "item") &&
      !py::isinstance<py::array>(object) && !IsTensor(object)) {
    py::object item = py::reinterpret_borrow<py::object>(object).attr("item")();
    return item.ptr() != object && NumberFromObject(item.ptr(), out);
  }
  return false;
}

Tensor ScalarTensor(const Number& n, DType dtype, std::string_view op) {
  if (IsInteger(dtype) && IsInteger(n.dtype)) {
    if (!n.FitsIn(dtype)) {
      Throw(ErrorKind::kValue, "For '{}', {}.", op,
            UnfitText(dtype, fmt::format("{:.0f}", n.real)));
    }
    Tensor t(dtype, Shape{});
    VisitDType(dtype, [&]<class T>(TypeTag<T>) {
      if constexpr (IsInteger(kDTypeOf<T>)) *t.data<T>() = static_cast<T>(n.integer);
    });
    return t;
  }
  if (dtype == DType::kComplex64)
    return Tensor::Scalar(
        std::complex<float>(static_cast<float>(n.real), static_cast<float>(n.imag)));
  if (dtype == DType::kComplex128) return Tensor::Scalar(std::complex<double>(n.real, n.imag));
  return Tensor::Full(dtype, Shape{}, n.real);
}

// ---- attributes
namespace {

const char* KindName(size_t kind) {
  static const char* names[] = {
      "anything",        "bool",   "int",  "float", "str", "a dtype", "int or tuple of ints",
      "tuple of floats", "Tensor", "graph"};
  return names[kind];
}

bool HoldsSymbolic(PyObject* object) {
  if (IsTensor(object)) return AsTensor(object)->symbolic();
  if (!PyTuple_Check(object) && !PyList_Check(object)) return false;
  for (py::handle item : py::reinterpret_borrow<py::sequence>(object)) {
    if (HoldsSymbolic(item.ptr())) return true;
  }
  return false;
}

[[noreturn]] void BadAttr(const OpDef& op, const AttrDef& def, PyObject* object) {
  if (HoldsSymbolic(object)) {
    Throw(ErrorKind::kUnknownValue,
          "For '{}', '{}' must be known while compiling, but it holds a tensor whose value is "
          "known only at run time.",
          op.name, def.name);
  }
  std::string got = TypeName(object);
  if (!IsTensor(object)) got += " " + py::repr(object).cast<std::string>().substr(0, 60);
  Throw(ErrorKind::kType, "For '{}', '{}' must be {}{}, but got {}.", op.name, def.name,
        KindName(def.kind), def.optional ? " or None" : "", got);
}

// Without the way through a double, which rounds large ones.
static bool IntOf(const Tensor& value, int64_t* out) {
  return VisitDType(value.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      *out = static_cast<int64_t>(*value.data<T>());
      return std::in_range<int64_t>(*value.data<T>());
    }
    return false;
  });
}

bool IntFrom(PyObject* object, int64_t* out) {
  if (IsTensor(object)) {
    TensorObject* t = AsTensor(object);
    Refresh(t);
    return !t->symbolic() && t->value.size() == 1 && IntOf(t->value.OnHost(), out);
  }
  if (IsSymbolicInt(object)) {  // the op says whether this attribute may hold one
    Dim size;
    DimFromObject(object, &size);
    *out = size.code();
    return true;
  }
  if (PyFloat_Check(object) || !PyIndex_Check(object)) return false;
  *out = PyNumber_AsSsize_t(object, PyExc_ValueError);
  if (*out != -1 || !PyErr_Occurred()) return true;
  if (PyErr_ExceptionMatches(PyExc_ValueError)) throw py::error_already_set();
  PyErr_Clear();  // an array of several numbers
  return false;
}

bool DoubleFrom(PyObject* object, double* out) {
  Number number;
  if (IsTensor(object)) {
    TensorObject* t = AsTensor(object);
    Refresh(t);
    if (t->symbolic() || t->value.size() != 1) return false;
    *out = t->value.Item();
    int64_t exact = 0;
    return std::abs(*out) < 0x1p53 || !IntOf(t->value.OnHost(), &exact) ||
           static_cast<Wide>(*out) == static_cast<Wide>(exact);
  }
  if (!NumberFromObject(object, &number) || number.dtype == DType::kComplex64) return false;
  *out = number.real;
  // An integer that a double rounds would be another one.
  double size = std::abs(number.real);
  return !IsInteger(number.dtype) || size < 0x1p53 || size >= 0x1p64 ||
         static_cast<Wide>(number.real) == number.integer;
}

template <class T, class F>
bool ListFrom(PyObject* object, std::vector<T>* out, F convert) {
  T single;
  if (!IsTensor(object) && convert(object, &single)) {
    out->push_back(single);
    return true;
  }
  if (IsTensor(object)) {
    TensorObject* t = AsTensor(object);
    Refresh(t);
    if (t->symbolic() || t->value.shape().rank() > 2) return false;
    return ListFrom(ArrayFromTensor(t->value).attr("tolist")().ptr(), out, convert);
  }
  if (!PyTuple_Check(object) && !PyList_Check(object)) return false;
  PyObject* items = PySequence_Fast(object, "");
  Py_ssize_t n = PySequence_Fast_GET_SIZE(items);
  bool ok = true;
  for (Py_ssize_t i = 0; i < n && ok; ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(items, i);
    bool pair = PyTuple_Check(item) || PyList_Check(item);  // as in paddings: flattened
    ok = pair ? ListFrom(item, out, convert) : convert(item, &single);
    if (ok && !pair) out->push_back(single);
  }
  Py_DECREF(items);
  return ok;
}

}  // namespace

Attr AttrFromObject(const OpDef& op, const AttrDef& def, PyObject* object) {
  if (object == Py_None && def.optional) return std::monostate{};
  switch (def.kind) {
    case 0: {  // a number or a string, as it came
      int64_t i;
      if (!PyBool_Check(object) && IntFrom(object, &i)) return i;
      double d;
      if (DoubleFrom(object, &d)) return d;
      if (PyUnicode_Check(object)) return py::cast<std::string>(object);
      break;
    }
    case 1: {
      if (PyBool_Check(object)) return object == Py_True;
      Number n;
      if (!IsTensor(object) && NumberFromObject(object, &n) && (n.dtype == DType::kBool))
        return n.integer != 0;
      break;
    }
    case 2: {
      int64_t v;
      if (!PyBool_Check(object) && IntFrom(object, &v)) return v;
      break;
    }
    case 3: {
      double v;
      if (DoubleFrom(object, &v)) return v;
      break;
    }
    case 4:
      if (PyUnicode_Check(object)) return py::cast<std::string>(object);
      break;
    case 5: {
      DType dtype;
      if (DTypeFromObject(object, &dtype)) return dtype;
      // Numbers of any size, as `int_`, say what they are taken for.
      py::object element = py::getattr(object, "_dtype", py::none());
      if (DTypeFromObject(element.ptr(), &dtype)) return dtype;
      break;
    }
    case 6: {
      Ints ints;
      if (ListFrom(object, &ints, IntFrom)) return ints;
      break;
    }
    case 7: {
      std::vector<double> doubles;
      if (ListFrom(object, &doubles, DoubleFrom)) return doubles;
      break;
    }
    case 8:
      if (IsTensor(object) && !AsTensor(object)->symbolic()) return ValueOf(object, "an attribute");
      break;
    default:
      break;
  }
  BadAttr(op, def, object);
}

py::object ObjectFromAttr(const Attr& attr) {
  return std::visit(
      [](const auto& x) -> py::object {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, std::monostate> || std::is_same_v<T, Graph*>)
          return py::none();
        else if constexpr (std::is_same_v<T, DType>)
          return py::reinterpret_borrow<py::object>(DTypeObject(x));
        else if constexpr (std::is_same_v<T, Tensor>)
          return py::reinterpret_steal<py::object>(NewTensor(x));
        else if constexpr (std::is_same_v<T, Ints> || std::is_same_v<T, std::vector<double>>) {
          py::tuple items(x.size());
          for (size_t i = 0; i < x.size(); ++i) items[i] = py::cast(x[i]);
          return items;
        } else
          return py::cast(x);
      },
      attr);
}

}  // namespace ms::python
