// See dataset_functions.h.
#include "python/dataset_functions.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "python/dataset_values.h"

namespace ms::python {
namespace py = pybind11;
using dataset::BatchColumn;
using dataset::Call;
using dataset::Row;

namespace {

// A Python object that threads without the GIL may copy and drop.
class Function {
 public:
  explicit Function(py::object object) : held_(Held(std::move(object))) {}
  py::handle get() const { return static_cast<PyObject*>(const_cast<void*>(held_.get())); }

 private:
  std::shared_ptr<const void> held_;
};

class FunctionOperation : public dataset::Operation {
 public:
  FunctionOperation(py::object adapter, bool parallel)
      : adapter_(std::move(adapter)), parallel_(parallel) {}

  void Apply(std::span<Call> calls) const override {
    WithGil gil;
    DropReleased();
    py::list rows(calls.size()), keys(calls.size()), numbers(calls.size());
    for (size_t i = 0; i < calls.size(); ++i) {
      rows[i] = ArraysFromValues(calls[i].values);
      keys[i] = py::int_(calls[i].key);
      numbers[i] = py::int_(calls[i].number);
      calls[i].values.clear();
    }
    py::list results = adapter_.get()(std::move(rows), keys, numbers);
    for (size_t i = 0; i < calls.size(); ++i) {
      calls[i].values = ValuesFromPython(results[i]);
    }
  }
  bool parallel() const override { return parallel_; }

 private:
  Function adapter_;
  bool parallel_;
};

class FunctionOfBatches : public dataset::BatchFunction {
 public:
  explicit FunctionOfBatches(py::object adapter) : adapter_(std::move(adapter)) {}

  std::vector<BatchColumn> Apply(std::vector<BatchColumn> columns, uint64_t key, int64_t epoch,
                                 int64_t number) const override {
    WithGil gil;
    DropReleased();
    py::list given;
    for (const BatchColumn& column : columns) {
      py::list rows;
      for (const dataset::Value& value : column.rows) rows.append(ArrayFromValue(value));
      given.append(std::move(rows));
    }
    columns.clear();
    py::list results = adapter_.get()(std::move(given), key, epoch, number);
    for (py::handle result : results) {
      BatchColumn& column = columns.emplace_back();
      if (py::isinstance<py::list>(result)) {
        column.rows = ValuesFromPython(result);
      } else {
        column.whole = ValueFromPython(result);
      }
    }
    return columns;
  }

 private:
  Function adapter_;
};

class FunctionOrder : public dataset::Order {
 public:
  FunctionOrder(py::object adapter, std::optional<int64_t> size, bool shuffles)
      : adapter_(std::move(adapter)), size_(size), shuffles_(shuffles) {}
  std::unique_ptr<dataset::Indices> Open(const dataset::Run& run, const dataset::Node& node,
                                         int64_t epoch) const override {
    WithGil gil;
    DropReleased();
    py::object given = adapter_.get()(run.seed(), run.seeded(), run.Number(node), epoch);
    auto indices = given.cast<py::array_t<int64_t, py::array::c_style | py::array::forcecast>>();
    return dataset::IndicesOf({indices.data(), indices.data() + indices.size()});
  }
  std::optional<int64_t> Size() const override { return size_; }
  bool Shuffles() const override { return shuffles_; }

 private:
  Function adapter_;
  std::optional<int64_t> size_;
  bool shuffles_;
};

class StreamCursor : public dataset::Cursor {
 public:
  StreamCursor(py::object rows, std::shared_ptr<dataset::Spent> spent)
      : rows_(std::move(rows)), spent_(std::move(spent)) {}
  bool Next(Row* row) override {
    WithGil gil;
    dataset::Stopwatch watch(spent_.get(), 0);
    DropReleased();
    auto given = py::reinterpret_steal<py::object>(PyIter_Next(rows_.get().ptr()));
    if (!given) {
      if (PyErr_Occurred()) throw py::error_already_set();
      return false;
    }
    *row = Row();
    row->values = ValuesFromPython(given);
    spent_->rows.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

 private:
  Function rows_;
  std::shared_ptr<dataset::Spent> spent_;
};

class Stream : public dataset::Node {
 public:
  Stream(py::object open, py::object size)
      : Node({}), open_(std::move(open)), size_(std::move(size)) {}
  dataset::CursorRef Open(const dataset::RunRef& run, int64_t epoch) const override {
    WithGil gil;
    DropReleased();
    return std::make_unique<StreamCursor>(open_.get()(run->Key(*this, epoch), epoch), spent_);
  }
  std::optional<int64_t> Size() const override {
    WithGil gil;
    return size_.get()().cast<std::optional<int64_t>>();
  }
  bool Coarse() const override { return true; }
  const dataset::Spent* spent() const override { return spent_.get(); }

 private:
  Function open_, size_;
  std::shared_ptr<dataset::Spent> spent_ = std::make_shared<dataset::Spent>();
};

}  // namespace

std::shared_ptr<const dataset::Operation> PythonOperation(py::object adapter, bool parallel) {
  return std::make_shared<FunctionOperation>(std::move(adapter), parallel);
}

std::shared_ptr<const dataset::BatchFunction> PythonBatchFunction(py::object adapter) {
  return std::make_shared<FunctionOfBatches>(std::move(adapter));
}

std::shared_ptr<const dataset::Order> PythonOrder(py::object adapter, std::optional<int64_t> size,
                                                  bool shuffles) {
  return std::make_shared<FunctionOrder>(std::move(adapter), size, shuffles);
}

dataset::NodeRef PythonStream(py::object open, py::object size) {
  return std::make_shared<Stream>(std::move(open), std::move(size));
}

}  // namespace ms::python
