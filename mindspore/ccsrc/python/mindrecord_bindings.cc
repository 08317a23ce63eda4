// mindspore._core.mindrecord: rows of MindRecord files to and from Python. File work runs without
// the GIL.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cfloat>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dataset/mindrecord/record_rows.h"
#include "dataset/mindrecord/record_writer.h"
#include "dataset/mindrecord/row_codec.h"
#include "dataset/mindrecord/zstd.h"
#include "python/convert.h"
#include "python/dataset_handles.h"
#include "python/dataset_values.h"
#include "python/files.h"
#include "python/module.h"
#include "python/once.h"

namespace ms::python {
namespace {

namespace py = pybind11;

const py::object& NumPyFloating() {
  return Once([]() -> py::object { return py::module_::import("numpy").attr("floating"); });
}

// ---- from Python
// One value of a row that is to be written; a mistake names row, field, and what must be there.
class Value {
 public:
  Value(const RecordField& field, size_t row, py::handle object)
      : field_(field), row_(row), object_(object) {}

  RecordValue Take() const {
    RecordValue value;
    if (field_.shape)
      TakeArray(value);
    else if (field_.type == RecordType::kString)
      TakeText(value);
    else if (field_.type == RecordType::kBytes)
      TakeBytes(value);
    else if (field_.integer())
      TakeInteger(value);
    else
      TakeReal(value);
    return value;
  }
  [[noreturn]] void Fail(ErrorKind kind, const std::string& got) const {
    Throw(kind, "For 'write_raw_data', row {}: the field '{}' must be {}, but got {}.", row_,
          field_.name, field_.Describe(), got);
  }

 private:
  [[noreturn]] void FailType() const {
    std::string shown = py::cast<std::string>(
        py::str(py::repr(object_)).attr("encode")("utf-8", "backslashreplace").attr("decode")());
    Fail(ErrorKind::kType, fmt::format("{:.60} of type {}", shown, TypeName(object_.ptr())));
  }
  bool IsIndex() const {
    return PyIndex_Check(object_.ptr()) && !PyBool_Check(object_.ptr()) &&
           !py::isinstance<py::array>(object_);
  }
  void TakeInteger(RecordValue& value) const {
    if (!IsIndex()) FailType();
    py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(object_.ptr()));
    if (!number) throw py::error_already_set();
    int overflow = 0;
    value.integer = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    bool narrow = field_.type == RecordType::kInt32;
    if (overflow != 0 || (narrow && value.integer != static_cast<int32_t>(value.integer)))
      Fail(ErrorKind::kValue,
           fmt::format("{:.60}, which it cannot hold", py::cast<std::string>(py::str(number))));
  }
  void TakeReal(RecordValue& value) const {
    if (!PyFloat_Check(object_.ptr()) && !IsIndex() && !py::isinstance(object_, NumPyFloating()))
      FailType();
    value.real = PyFloat_AsDouble(object_.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      Fail(ErrorKind::kValue, "a number that it cannot hold");
    }
    if (field_.type == RecordType::kFloat32 && std::isfinite(value.real) &&
        std::abs(value.real) > FLT_MAX)
      Fail(ErrorKind::kValue, fmt::format("{}, which it cannot hold", value.real));
  }
  void TakeText(RecordValue& value) const {
    if (!PyUnicode_Check(object_.ptr())) FailType();
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(object_.ptr(), &size);
    if (text == nullptr) {
      PyErr_Clear();
      Fail(ErrorKind::kValue, "a text that is no valid Unicode");
    }
    value.bytes.assign(text, static_cast<size_t>(size));
  }
  void TakeBytes(RecordValue& value) const {
    if (!PyBytes_Check(object_.ptr())) FailType();
    value.bytes.assign(PyBytes_AS_STRING(object_.ptr()),
                       static_cast<size_t>(PyBytes_GET_SIZE(object_.ptr())));
  }
  void TakeArray(RecordValue& value) const {
    if (!py::isinstance<py::array>(object_)) FailType();
    auto array = py::reinterpret_borrow<py::array>(object_);
    py::dtype wanted(std::string(RecordTypeName(field_.type)));
    auto got = [&array] {
      return fmt::format("an array of {} with shape {}",
                         py::cast<std::string>(py::str(array.dtype())),
                         py::cast<std::string>(py::str(array.attr("shape"))));
    };
    if (!array.dtype().is(wanted) && !array.dtype().equal(wanted)) Fail(ErrorKind::kType, got());
    if (!FitShape(field_, array.size(), value.dims)) Fail(ErrorKind::kValue, got());
    py::array dense = py::module_::import("numpy").attr("ascontiguousarray")(array);
    value.bytes.assign(static_cast<const char*>(dense.data()), static_cast<size_t>(dense.nbytes()));
  }

  const RecordField& field_;
  size_t row_;
  py::handle object_;
};

RecordRow RowFrom(const RecordSchema& schema, size_t number, py::handle row) {
  if (!PyDict_Check(row.ptr())) {
    Throw(ErrorKind::kType, "For 'write_raw_data', row {} must be a dict, but got {}.", number,
          TypeName(row.ptr()));
  }
  RecordRow values;
  values.reserve(schema.fields.size());
  for (const RecordField& field : schema.fields) {
    PyObject* object = PyDict_GetItemString(row.ptr(), field.name.c_str());
    Value value(field, number, object);
    if (object == nullptr) value.Fail(ErrorKind::kValue, "none");
    values.push_back(value.Take());
  }
  return values;
}

// ---- to Python
py::dtype NumpyType(RecordType type) {
  switch (type) {
    case RecordType::kInt32:
      return py::dtype::of<int32_t>();
    case RecordType::kInt64:
      return py::dtype::of<int64_t>();
    case RecordType::kFloat32:
      return py::dtype::of<float>();
    default:
      return py::dtype::of<double>();
  }
}

py::object TextObject(const std::string& text) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

py::object ArrayObject(const RecordField& field, const RecordValue& value) {
  return py::array(NumpyType(field.type), value.dims, value.bytes.data());
}

// As int, float, str, bytes; arrays where there is a shape.
py::object PlainObject(const RecordField& field, const RecordValue& value) {
  if (field.shape) return ArrayObject(field, value);
  if (field.type == RecordType::kString) return TextObject(value.bytes);
  if (field.type == RecordType::kBytes) return py::bytes(value.bytes);
  if (field.integer()) return py::int_(value.integer);
  return py::float_(value.real);
}

std::vector<std::string> SystemPaths(const py::list& paths) {
  std::vector<std::string> result;
  for (py::handle path : paths) result.push_back(SystemPath(path));
  return result;
}

py::list PathObjects(const std::vector<std::string>& paths) {
  py::list result;
  for (const std::string& path : paths) result.append(PathObject(path));
  return result;
}

class Reader {
 public:
  Reader(const py::list& paths, bool whole) {
    std::vector<std::string> names = SystemPaths(paths);
    py::gil_scoped_release release;
    set_ = std::make_shared<RecordSet>(names, whole);
  }

  py::list Fields() const {
    py::list fields;
    for (const RecordField& field : set_->schema().fields)
      fields.append(py::make_tuple(field.name, RecordTypeName(field.type),
                                   field.shape ? py::cast(*field.shape) : py::none(),
                                   field.blob()));
    return fields;
  }
  const RecordSet& set() const { return *set_; }

  // Rows in an order, and behind the chosen ones (None: all) the row that pads them.
  NodeHandle Rows(const OrderHandle& order, std::vector<size_t> fields, const py::object& chosen,
                  const py::tuple& padding) const {
    using Numbers = py::array_t<int64_t, py::array::c_style | py::array::forcecast>;
    ChosenRecords records{std::move(fields), std::nullopt, ValuesFromPython(padding)};
    if (!chosen.is_none()) {
      auto numbers = chosen.cast<Numbers>();
      records.rows.emplace(numbers.data(), numbers.data() + numbers.size());
    }
    auto step = MakeRecordStep(set_, std::move(records));
    return {dataset::MakeSequence(order.order, std::move(step), true, false)};
  }

  // Rows as tuples of the wanted values.
  py::list Read(const py::array_t<int64_t, py::array::c_style | py::array::forcecast>& rows,
                const std::vector<size_t>& fields) {
    const RecordSchema& schema = set_->schema();
    std::vector<bool> wanted(schema.fields.size(), false);
    for (size_t field : fields) wanted.at(field) = true;
    std::vector<RecordRow> read(static_cast<size_t>(rows.size()));
    {
      std::span<const int64_t> numbers(rows.data(), static_cast<size_t>(rows.size()));
      py::gil_scoped_release release;
      set_->Read(numbers, wanted, [&](size_t place, RecordRow& values) {
        for (size_t field : fields) {  // what the reader has is gone with the next row
          RecordValue& value = values[field];
          if (value.content.data()) value.bytes = std::exchange(value.content, {});
        }
        read[place] = std::exchange(values, {});
      });
    }
    py::list result(read.size());
    for (size_t i = 0; i < read.size(); ++i) {
      py::tuple row(fields.size());
      for (size_t j = 0; j < fields.size(); ++j) {
        const RecordField& field = schema.fields[fields[j]];
        const RecordValue& value = read[i][fields[j]];
        row[j] = PlainObject(field, value);
      }
      result[i] = row;
    }
    return result;
  }

  py::tuple Select(const std::string& where) const {
    std::vector<std::string> rebuilt;
    std::vector<uint64_t> rows;
    auto poll = SignalPoll();
    {
      py::gil_scoped_release release;
      rows = set_->Select(where, poll, &rebuilt);
    }
    return py::make_tuple(py::array(py::dtype::of<int64_t>(), {rows.size()}, rows.data()),
                          PathObjects(rebuilt));
  }

 private:
  std::shared_ptr<RecordSet> set_;
};

class Writer {
 public:
  Writer(const py::list& paths, const std::string& schema, const std::string& description,
         const std::vector<std::string>& index_fields, uint64_t header_size, uint64_t page_size,
         bool packed) {
    RecordHeader form;
    form.packed = packed;
    form.schema = ParseRecordSchema(schema, "For 'add_schema', the schema");
    form.schema.description = description;
    form.index_fields = index_fields;
    form.header_size = header_size;
    form.page_size = page_size;
    writer_ = std::make_unique<RecordWriter>(SystemPaths(paths), form);
  }
  explicit Writer(const py::list& paths) {
    std::vector<std::string> names = SystemPaths(paths);
    auto poll = SignalPoll();
    py::gil_scoped_release release;
    writer_ = RecordWriter::Append(names, poll);
  }

  void Write(const py::list& rows, bool parallel) {
    const RecordSchema& schema = writer("write_raw_data").form().schema;
    std::vector<RecordRow> values;
    values.reserve(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) values.push_back(RowFrom(schema, i, rows[i]));
    writer_->set_poll(SignalPoll());
    py::gil_scoped_release release;
    writer_->CheckSizes(values);
    Guarded([&] { writer_->Write(values, parallel); });
  }
  void Commit() {
    writer("commit").set_poll(SignalPoll());
    py::gil_scoped_release release;
    Guarded([&] { writer_->Commit(); });
    writer_.reset();
  }

 private:
  RecordWriter& writer(std::string_view op) {
    if (!writer_) {
      Throw(ErrorKind::kRuntime,
            "For '{}', a write to the MindRecord files failed before, or they are done: what was "
            "not committed is given up.",
            op);
    }
    return *writer_;
  }
  // After a failure half of a row may be there: what was not committed is given up.
  template <class F>
  void Guarded(F&& f) {
    try {
      f();
    } catch (...) {
      writer_.reset();
      throw;
    }
  }

  std::unique_ptr<RecordWriter> writer_;
};

}  // namespace

void BindMindRecord(py::module_& m) {
  py::module_ mindrecord = m.def_submodule("mindrecord", "Rows of MindRecord files.");
  mindrecord.def(
      "check_schema",
      [](const std::string& schema) {
        return PrintRecordSchema(ParseRecordSchema(schema, "For 'add_schema', the schema"));
      },
      "A schema in JSON with its fields in order; ValueError tells what is wrong with it.");
  mindrecord.def(
      "require_zstd", [] { Zstd::Get(); },
      "Raises RuntimeError where blobs cannot be compressed here.");
  py::class_<Reader>(mindrecord, "Reader", "Several files as one sequence of rows.")
      .def(py::init<const py::list&, bool>(), py::arg("paths"), py::arg("whole"))
      .def_property_readonly("fields", &Reader::Fields, "(name, type, shape, blob) of each field.")
      .def_property_readonly("schema",
                             [](const Reader& r) { return PrintRecordSchema(r.set().schema()); })
      .def_property_readonly("index_fields", [](const Reader& r) { return r.set().index_fields(); })
      .def_property_readonly("rows", [](const Reader& r) { return r.set().rows(); })
      .def_property_readonly("counts", [](const Reader& r) { return r.set().Counts(); })
      .def_property_readonly("paths", [](const Reader& r) { return PathObjects(r.set().Paths()); })
      .def("read", &Reader::Read, py::arg("rows"), py::arg("fields"),
           "Rows by number, as tuples of the fields with these numbers.")
      .def("select", &Reader::Select,
           "Numbers of the rows for which an SQL condition over the index fields holds, and the "
           "files whose index had to be made anew.");
  mindrecord.def("rows",
                 [](const OrderHandle& order, const Reader& reader, std::vector<size_t> fields,
                    const py::object& chosen, const py::tuple& padding) {
                   return reader.Rows(order, std::move(fields), chosen, padding);
                 });
  py::class_<Writer>(mindrecord, "Writer", "Files that nobody sees before commit.")
      .def(py::init<const py::list&, const std::string&, const std::string&,
                    const std::vector<std::string>&, uint64_t, uint64_t, bool>(),
           py::arg("paths"), py::arg("schema"), py::arg("description"), py::arg("index_fields"),
           py::arg("header_size"), py::arg("page_size"), py::arg("packed"))
      .def(py::init<const py::list&>(), py::arg("paths"))
      .def("write", &Writer::Write, py::arg("rows"), py::arg("parallel"))
      .def("commit", &Writer::Commit);
}

}  // namespace ms::python
