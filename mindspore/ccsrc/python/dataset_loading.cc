// Rows of a Python object with __getitem__, whose values are arrays and numbers in most cases:
// small ones are copied from there into the batch, without a value for each of them between.
#include <pybind11/numpy.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "python/dataset_functions.h"
#include "python/dataset_values.h"

namespace ms::python {
namespace py = pybind11;
using dataset::Dims;
using dataset::Element;
using dataset::Row;
using dataset::Value;

namespace {

// Larger rows are joined outside of the interpreter.
constexpr Py_ssize_t kSmall = 4096;

bool IsArray(PyObject* object) {
  static const auto* type = py::detail::npy_api::get().PyArray_Type_;
  return Py_TYPE(object) == type;
}

bool IsScalar(PyObject* object) {
  static auto* generic = reinterpret_cast<PyTypeObject*>(
      py::object(py::module_::import("numpy").attr("generic")).release().ptr());
  return PyObject_TypeCheck(object, generic);
}

// A number of Python as an array has it; none: it is something else, or too large.
std::optional<Value> NumberOf(PyObject* object) {
  if (PyBool_Check(object)) return Value::Scalar<bool>(object == Py_True);
  if (PyFloat_CheckExact(object)) return Value::Scalar<double>(PyFloat_AS_DOUBLE(object));
  if (!PyLong_CheckExact(object)) return std::nullopt;
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0) return std::nullopt;
  return Value::Scalar<int64_t>(number);
}

std::optional<Value> PlainValue(PyObject* object) {
  if (IsArray(object)) return ValueFromPython(object);
  if (auto number = NumberOf(object)) return number;
  if (!IsScalar(object)) return std::nullopt;
  return ValueFromPython(py::array::ensure(object));
}

// Numbers of one kind as a column.
template <class T, class Get>
std::optional<Value> JoinNumbers(const std::vector<py::object>& rows, Py_ssize_t column,
                                 Get&& get) {
  Value joined =
      Value::Make(Element::Of(kDTypeOf<T>), dataset::MakeDims({static_cast<int64_t>(rows.size())}));
  auto* to = reinterpret_cast<T*>(joined.memory());
  for (const py::object& row : rows) {
    if (!get(PyTuple_GET_ITEM(row.ptr(), column), to++)) return std::nullopt;
  }
  return joined;
}

bool GetInteger(PyObject* object, int64_t* to) {
  if (!PyLong_CheckExact(object)) return false;
  int overflow = 0;
  *to = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0;
}

bool GetReal(PyObject* object, double* to) {
  if (!PyFloat_CheckExact(object)) return false;
  *to = PyFloat_AS_DOUBLE(object);
  return true;
}

// An array, or a number of NumPy as one.
py::array ArrayOf(PyObject* object) {
  if (IsArray(object)) return py::reinterpret_borrow<py::array>(object);
  return IsScalar(object) ? py::array::ensure(object) : py::array();
}

bool Dense(const py::array& array) {
  return (array.flags() & py::array::c_style) != 0 && array.dtype().byteorder() != '>';
}

bool Alike(const py::array& a, const py::array& b) {
  auto* one = py::detail::array_proxy(a.ptr());
  auto* other = py::detail::array_proxy(b.ptr());
  bool same = one->descr == other->descr || a.dtype().equal(b.dtype());
  return same && a.ndim() == b.ndim() && std::equal(a.shape(), a.shape() + a.ndim(), b.shape());
}

// Small arrays of one shape and type of numbers as a column.
std::optional<Value> JoinArrays(const std::vector<py::object>& rows, Py_ssize_t column) {
  py::array first = ArrayOf(PyTuple_GET_ITEM(rows[0].ptr(), column));
  if (!first || first.nbytes() > kSmall || !Dense(first)) return std::nullopt;
  Value like = ValueFromPython(first);
  if (like.element.kind != dataset::Kind::kNumber) return std::nullopt;
  Dims dims{static_cast<int64_t>(rows.size())};
  dims.insert(dims.end(), like.dims->begin(), like.dims->end());
  Value joined = Value::Make(like.element, dataset::MakeDims(std::move(dims)));
  std::byte* to = joined.memory();
  auto bytes = static_cast<size_t>(first.nbytes());
  for (const py::object& row : rows) {
    py::array array = ArrayOf(PyTuple_GET_ITEM(row.ptr(), column));
    if (!array || !Alike(first, array) || !Dense(array)) return std::nullopt;
    if (bytes) std::memcpy(to, array.data(), bytes);
    to += bytes;
  }
  return joined;
}

std::optional<Value> JoinColumn(const std::vector<py::object>& rows, Py_ssize_t column) {
  PyObject* first = PyTuple_GET_ITEM(rows[0].ptr(), column);
  if (PyLong_CheckExact(first)) return JoinNumbers<int64_t>(rows, column, GetInteger);
  if (PyFloat_CheckExact(first)) return JoinNumbers<double>(rows, column, GetReal);
  return JoinArrays(rows, column);
}

class LoadStep : public dataset::Step {
 public:
  LoadStep(py::object adapter, size_t columns)
      : source_(Held(adapter.attr("source"))),
        adapter_(Held(std::move(adapter))),
        columns_(static_cast<Py_ssize_t>(columns)) {}

  void Run(std::span<Row> rows, size_t depth) const override {
    py::gil_scoped_acquire gil;
    DropReleased();
    for (Row& row : rows) {
      int64_t index = row.pending[depth].number;
      row.values = ValuesOf(Load(index), index);
    }
  }

  bool RunJoined(std::span<Row> rows, size_t depth, std::vector<Value>* columns) const override {
    py::gil_scoped_acquire gil;
    DropReleased();
    std::vector<py::object> loaded;
    loaded.reserve(rows.size());
    bool whole = true;
    for (const Row& row : rows) {
      loaded.push_back(Load(row.pending[depth].number));
      whole = whole && IsWhole(loaded.back());
    }
    if (whole && Join(loaded, columns)) return true;
    columns->clear();
    for (size_t i = 0; i < rows.size(); ++i) {
      py::object row = std::exchange(loaded[i], {});
      rows[i].values = ValuesOf(std::move(row), rows[i].pending[depth].number);
    }
    return false;
  }

 private:
  static py::handle Object(const std::shared_ptr<const void>& held) {
    return static_cast<PyObject*>(const_cast<void*>(held.get()));
  }

  bool IsWhole(const py::object& row) const {
    return PyTuple_CheckExact(row.ptr()) && PyTuple_GET_SIZE(row.ptr()) == columns_;
  }

  py::object Load(int64_t index) const {
    py::int_ number(index);
    auto row =
        py::reinterpret_steal<py::object>(PyObject_GetItem(Object(source_).ptr(), number.ptr()));
    if (row) return row;
    py::error_already_set failure;
    if (!failure.matches(PyExc_Exception)) throw failure;  // Ctrl-C, and what ends the program
    if (failure.trace()) PyException_SetTraceback(failure.value().ptr(), failure.trace().ptr());
    Object(adapter_).attr("failed")(failure.value(), number);
    throw failure;
  }

  bool Join(const std::vector<py::object>& rows, std::vector<Value>* columns) const {
    for (Py_ssize_t i = 0; i < columns_; ++i) {
      std::optional<Value> column = JoinColumn(rows, i);
      if (!column) return false;
      columns->push_back(std::move(*column));
    }
    return true;
  }

  std::vector<Value> ValuesOf(py::object row, int64_t index) const {
    std::vector<Value> values;
    if (IsWhole(row)) {
      values.reserve(static_cast<size_t>(columns_));
      for (Py_ssize_t i = 0; i < columns_; ++i) {
        std::optional<Value> value = PlainValue(PyTuple_GET_ITEM(row.ptr(), i));
        if (!value) break;
        values.push_back(std::move(*value));
      }
      if (static_cast<Py_ssize_t>(values.size()) == columns_) return values;
    }
    return ValuesFromPython(Object(adapter_).attr("checked")(row, index));
  }

  std::shared_ptr<const void> source_, adapter_;
  Py_ssize_t columns_;
};

}  // namespace

std::shared_ptr<const dataset::Step> PythonLoad(py::object adapter, size_t columns) {
  return std::make_shared<LoadStep>(std::move(adapter), columns);
}

}  // namespace ms::python
