// Sources of mindspore._core.dataset that lie in arrays and files: columns by row, pieces of files.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "dataset/columns.h"
#include "dataset/example.h"
#include "dataset/pieces.h"
#include "python/dataset_handles.h"
#include "python/dataset_values.h"
#include "python/files.h"

namespace ms::python {
namespace py = pybind11;

namespace {

// The array itself, not a copy: it is only read, and each row is given out as a copy.
dataset::ColumnRef ArrayColumn(py::handle item) {
  auto array = InNativeOrder(py::reinterpret_borrow<py::array>(item));
  dataset::Value value = ValueFromPython(array[py::slice(0, 0, 1)]);
  if (value.opaque() || (array.flags() & py::array::c_style) == 0) {
    Throw(ErrorKind::kType, "For 'NumpySlicesDataset', arrays of {} cannot be rows.",
          py::str(array.dtype()).cast<std::string>());
  }
  value.dims = dataset::MakeDims(dataset::Dims(array.shape(), array.shape() + array.ndim()));
  value.data = static_cast<const std::byte*>(array.data());
  value.buffer = BufferRef();
  value.owner = Held(std::move(array));
  return dataset::MakeArrayColumn(std::move(value));
}

std::vector<std::string> SystemPaths(const py::list& paths) {
  std::vector<std::string> names;
  for (py::handle path : paths) names.push_back(SystemPath(path));
  return names;
}

struct ColumnHandle {
  dataset::ColumnRef column;
};

struct PiecesHandle {
  dataset::PiecesRef pieces;
};

NodeHandle ColumnsNode(const OrderHandle& order, const std::vector<ColumnHandle>& handles,
                       bool parallel) {
  std::vector<dataset::ColumnRef> columns;
  for (const ColumnHandle& handle : handles) columns.push_back(handle.column);
  auto step = dataset::MakeColumnStep(std::move(columns));
  return {dataset::MakeSequence(order.order, std::move(step), parallel, false)};
}

NodeHandle PiecesNode(const OrderHandle& order, const PiecesHandle& pieces,
                      std::shared_ptr<const dataset::PieceForm> form) {
  auto step = dataset::MakePieceStep(pieces.pieces, std::move(form));
  return {dataset::MakeSequence(order.order, std::move(step), true, false)};
}

// Paths of files, each alone or in a pair with what it holds decompressed.
PiecesHandle Found(const std::string& kind, const py::list& given) {
  std::vector<dataset::PieceFile> files;
  for (py::handle item : given) {
    if (py::isinstance<py::tuple>(item)) {
      auto pair = item.cast<std::pair<py::object, std::string>>();
      files.push_back({SystemPath(pair.first), std::move(pair.second)});
    } else {
      files.push_back({SystemPath(item), std::nullopt});
    }
  }
  py::gil_scoped_release released;
  if (kind == "examples") return {dataset::FindExamples(std::move(files))};
  if (kind == "lines" || kind == "all lines") {
    return {dataset::FindLines(std::move(files), kind == "all lines")};
  }
  return {dataset::FindRecords(std::move(files), kind == "headed records")};
}

// (name, dtype or "string" or None, shape or None) of each column.
std::vector<dataset::ExampleColumn> ExampleColumns(const py::list& given) {
  std::vector<dataset::ExampleColumn> columns;
  for (py::handle item : given) {
    auto [name, kind, dims] =
        item.cast<std::tuple<std::string, py::object, std::optional<dataset::Dims>>>();
    dataset::ExampleColumn column{std::move(name), std::nullopt, std::move(dims)};
    if (py::isinstance<py::str>(kind)) {
      column.element = dataset::Element{dataset::Kind::kText, DType::kUInt8, 4};
    } else if (!kind.is_none()) {
      py::array empty(kind.cast<py::dtype>(), std::vector<py::ssize_t>{0});
      column.element = ValueFromPython(empty).element;
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

void BindColumns(py::module_& m) {
  py::class_<ColumnHandle>(m, "Column", "A column of a source by the number of the row.")
      .def("file",
           [](const ColumnHandle& self, size_t row) { return py::bytes(self.column->File(row)); });
  m.def("array_column", [](py::handle array) { return ColumnHandle{ArrayColumn(array)}; });
  m.def("list_column", [](const py::list& values) {
    return ColumnHandle{dataset::MakeListColumn(ValuesFromPython(values))};
  });
  m.def("file_column", [](const py::list& paths, const std::string& form, bool unsigned_rate) {
    auto known = form == "picture" ? dataset::FileForm::kPicture
                 : form == "text"  ? dataset::FileForm::kText
                 : form == "sound" ? dataset::FileForm::kSound
                                   : dataset::FileForm::kBytes;
    return ColumnHandle{dataset::MakeFileColumn(SystemPaths(paths), known, unsigned_rate)};
  });
  m.def("columns", &ColumnsNode);
}

}  // namespace

void BindDatasetFiles(py::module_& m) {
  BindColumns(m);
  py::class_<PiecesHandle>(m, "Pieces", "Where the rows of files lie.")
      .def(py::init(&Found))
      .def_property_readonly("counts",
                             [](const PiecesHandle& self) { return self.pieces->Counts(); })
      .def("feature_names", [](const PiecesHandle& self,
                               size_t row) { return dataset::FeatureNames(*self.pieces, row); })
      .def("where", [](const PiecesHandle& self, size_t row) { return self.pieces->Where(row); })
      .def("text", [](const PiecesHandle& self, size_t row) { return self.pieces->Bytes(row); });
  m.def("line_rows", [](const OrderHandle& order, const PiecesHandle& pieces) {
    return PiecesNode(order, pieces, dataset::MakeLineForm());
  });
  m.def("csv_rows", [](const OrderHandle& order, const PiecesHandle& pieces, char delimiter,
                       const std::string& kinds) {
    std::vector<dataset::CsvColumn> columns;
    for (char kind : kinds) {
      columns.push_back({kind == 'i'   ? dataset::CsvColumn::kInt32
                         : kind == 'f' ? dataset::CsvColumn::kFloat32
                                       : dataset::CsvColumn::kText});
    }
    return PiecesNode(order, pieces, dataset::MakeCsvForm(delimiter, std::move(columns)));
  });
  m.def("example_rows",
        [](const OrderHandle& order, const PiecesHandle& pieces, const py::list& columns) {
          return PiecesNode(order, pieces, dataset::MakeExampleForm(ExampleColumns(columns)));
        });
  m.def("split_record", [](const std::string& record, char delimiter, const std::string& where) {
    return dataset::SplitRecord(record, delimiter, where);
  });
  m.def("masked_sum", [](const py::bytes& bytes) {
    return dataset::MaskedSum(static_cast<std::string_view>(bytes));
  });
}

}  // namespace ms::python
