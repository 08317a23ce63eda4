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

bool Dense(const py::array& array) {
  return (array.flags() & py::array::c_style) != 0 && array.dtype().byteorder() != '>';
}

// A column of a batch that is filled row by row, as long as its values are small and alike. What
// was put stays as it was, whatever the source does to its arrays afterwards.
class Column {
 public:
  // False: the first value, and so the column, is of another kind.
  bool Begin(PyObject* object, size_t rows) {
    Value like;
    if (PyLong_CheckExact(object) || PyFloat_CheckExact(object)) {
      std::optional<Value> number = NumberOf(object);
      if (!number) return false;
      type_ = Py_TYPE(object);
      like = std::move(*number);
    } else {
      py::array array = ArrayOf(object);
      if (!array || array.nbytes() > kSmall || !Dense(array)) return false;
      dtype_ = array.dtype();
      like = ValueFromPython(array);
      if (like.element.kind != dataset::Kind::kNumber) return false;
    }
    dims_ = like.dims;
    bytes_ = like.bytes();
    Dims dims{static_cast<int64_t>(rows)};
    dims.insert(dims.end(), dims_->begin(), dims_->end());
    value_ = Value::Make(like.element, dataset::MakeDims(std::move(dims)));
    return true;
  }

  bool Put(PyObject* object, size_t row) {
    std::byte* to = value_.memory() + row * bytes_;
    if (type_ == nullptr) return PutArray(object, to);
    if (Py_TYPE(object) != type_) return false;
    if (type_ == &PyFloat_Type) {
      double real = PyFloat_AS_DOUBLE(object);
      std::memcpy(to, &real, sizeof real);
      return true;
    }
    int overflow = 0;
    int64_t integer = PyLong_AsLongLongAndOverflow(object, &overflow);
    std::memcpy(to, &integer, sizeof integer);
    return overflow == 0;
  }

  // A row that was put, alone.
  Value At(size_t row) const {
    Value value = Value::Make(value_.element, dims_);
    if (bytes_) std::memcpy(value.memory(), value_.memory() + row * bytes_, bytes_);
    return value;
  }
  Value Whole() { return std::move(value_); }

 private:
  // An array, or a number of NumPy as one; null: neither.
  static py::array ArrayOf(PyObject* object) {
    if (IsArray(object)) return py::reinterpret_borrow<py::array>(object);
    if (!IsScalar(object)) return py::reinterpret_steal<py::array>(py::handle());
    return py::array::ensure(object);
  }

  bool PutArray(PyObject* object, std::byte* to) const {
    py::array array = ArrayOf(object);
    if (!array || !Dense(array) || static_cast<size_t>(array.ndim()) != dims_->size()) return false;
    if (!std::equal(dims_->begin(), dims_->end(), array.shape())) return false;
    py::dtype dtype = array.dtype();
    if (!dtype.is(dtype_) && !dtype.equal(dtype_)) return false;
    if (bytes_) std::memcpy(to, array.data(), bytes_);
    return true;
  }

  PyTypeObject* type_ = nullptr;  // of numbers of Python
  py::object dtype_;              // of arrays
  dataset::DimsRef dims_;         // of a row
  size_t bytes_ = 0;
  Value value_;
};

class LoadStep : public dataset::Step {
 public:
  LoadStep(py::object adapter, size_t columns)
      : source_(Held(adapter.attr("source"))),
        adapter_(Held(std::move(adapter))),
        columns_(static_cast<Py_ssize_t>(columns)) {}

  void Run(std::span<Row> rows, size_t depth) const override {
    WithGil gil;
    DropReleased();
    for (Row& row : rows) {
      int64_t index = row.pending[depth].number;
      row.values = ValuesOf(Load(index), index);
    }
  }

  bool RunJoined(std::span<Row> rows, size_t depth, std::vector<Value>* joined) const override {
    WithGil gil;
    DropReleased();
    std::vector<Column> columns(static_cast<size_t>(columns_));
    bool alike = true;
    for (size_t i = 0; i < rows.size(); ++i) {
      int64_t index = rows[i].pending[depth].number;
      py::object row = Load(index);
      if (alike && Put(row, i, rows.size(), columns)) continue;
      if (std::exchange(alike, false)) {
        for (size_t k = 0; k < i; ++k) {
          for (const Column& column : columns) rows[k].values.push_back(column.At(k));
        }
      }
      rows[i].values = ValuesOf(std::move(row), index);
    }
    if (!alike) return false;
    for (Column& column : columns) joined->push_back(column.Whole());
    return true;
  }
  bool interpreted() const override { return true; }

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

  bool Put(const py::object& row, size_t place, size_t rows, std::vector<Column>& columns) const {
    if (!IsWhole(row)) return false;
    for (size_t i = 0; i < columns.size(); ++i) {
      PyObject* value = PyTuple_GET_ITEM(row.ptr(), static_cast<Py_ssize_t>(i));
      if (place == 0 && !columns[i].Begin(value, rows)) return false;
      if (!columns[i].Put(value, place)) return false;
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
