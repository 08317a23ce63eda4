// mindspore._core.dataset: nodes of the data pipeline.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "dataset/operators.h"
#include "dataset/prefetch.h"
#include "dataset/transforms/chain.h"
#include "python/dataset_functions.h"
#include "python/dataset_handles.h"
#include "python/dataset_values.h"
#include "python/dtype_object.h"
#include "python/module.h"

namespace ms::python {
namespace py = pybind11;
using dataset::NodeRef;
using dataset::Row;

namespace {

using Columns = std::vector<size_t>;

std::vector<NodeRef> Nodes(const std::vector<NodeHandle>& handles) {
  std::vector<NodeRef> nodes;
  for (const NodeHandle& handle : handles) nodes.push_back(handle.node);
  return nodes;
}

struct PythonCall {
  py::object adapter;
  bool parallel;
};
using Operations = std::vector<std::shared_ptr<const dataset::Operation>>;

std::shared_ptr<const dataset::Operation> OperationOf(py::handle object) {
  if (py::isinstance<dataset::Chain>(object)) {
    return object.cast<std::shared_ptr<dataset::Chain>>();
  }
  if (auto text = TextOperationOf(object)) return text;
  const auto& call = object.cast<const PythonCall&>();
  return PythonOperation(call.adapter, call.parallel);
}

NodeHandle Map(const NodeHandle& child, const py::list& operations, Columns take,
               const std::vector<std::pair<bool, size_t>>& place) {
  Operations chain;
  bool parallel = false;
  for (py::handle operation : operations) {
    chain.push_back(OperationOf(operation));
    parallel = parallel || chain.back()->parallel();
  }
  std::vector<dataset::Placement> placement;
  for (auto [made, index] : place) placement.push_back({made, index});
  auto step = dataset::MakeMapStep(std::move(chain), std::move(take), std::move(placement));
  return {dataset::MakeMap(child.node, std::move(step), parallel)};
}

// A source whose rows a function loads by their index.
NodeHandle Loaded(const OrderHandle& order, py::handle operation, size_t columns) {
  const auto& call = operation.cast<const PythonCall&>();
  if (!call.parallel && py::hasattr(call.adapter, "plain") &&
      call.adapter.attr("plain").cast<bool>()) {
    return {dataset::MakeSequence(order.order, PythonLoad(call.adapter, columns), false, false)};
  }
  auto load = OperationOf(operation);
  bool parallel = load->parallel();
  std::vector<dataset::Placement> place;
  for (size_t i = 0; i < columns; ++i) place.push_back({true, i});
  auto step = dataset::MakeMapStep({std::move(load)}, {}, std::move(place));
  return {dataset::MakeSequence(order.order, std::move(step), parallel, false)};
}

std::optional<dataset::Padding> PaddingOf(const py::object& given) {
  if (given.is_none()) return std::nullopt;
  dataset::Padding padding;
  auto columns = given.cast<py::dict>();
  padding.all = columns.empty();
  for (auto [name, pair] : columns) {
    auto [shape, fill] = pair.cast<std::pair<std::optional<dataset::Dims>, py::object>>();
    dataset::Pad& pad = padding.columns[name.cast<std::string>()];
    pad.shape = std::move(shape);
    if (!fill.is_none()) pad.fill = ValueFromPython(fill);
  }
  return padding;
}

NodeHandle Batch(const NodeHandle& child, const py::object& size, bool drop_remainder,
                 std::vector<std::string> columns, const py::object& padding,
                 const py::object& function) {
  dataset::BatchOptions options;
  if (py::isinstance<py::int_>(size)) {
    options.size = size.cast<int64_t>();
  } else {
    options.size_of = [held = Held(size)](int64_t epoch, int64_t number) {
      WithGil gil;
      py::handle call = static_cast<PyObject*>(const_cast<void*>(held.get()));
      return call(epoch, number).cast<int64_t>();
    };
  }
  options.drop_remainder = drop_remainder;
  options.columns = std::move(columns);
  options.padding = PaddingOf(padding);
  if (!function.is_none()) options.function = PythonBatchFunction(function);
  return {dataset::MakeBatch(child.node, std::move(options))};
}

NodeHandle Buckets(const NodeHandle& child, Columns take, const py::object& length,
                   std::vector<int64_t> boundaries, std::vector<int64_t> sizes,
                   const py::object& padding, bool pad_to_boundary, bool drop_remainder,
                   std::vector<std::string> columns) {
  dataset::BucketOptions options;
  options.take = std::move(take);
  if (!length.is_none()) options.length = OperationOf(length);
  options.boundaries = std::move(boundaries);
  options.sizes = std::move(sizes);
  options.padding = PaddingOf(padding);
  options.pad_to_boundary = pad_to_boundary;
  options.drop_remainder = drop_remainder;
  options.columns = std::move(columns);
  return {dataset::MakeBucketBatch(child.node, std::move(options))};
}

NodeHandle FlatMap(const NodeHandle& child, py::object function) {
  auto call = [held = Held(std::move(function))](const Row& row) {
    WithGil gil;
    py::handle inner = static_cast<PyObject*>(const_cast<void*>(held.get()));
    return inner(ArraysFromValues(row.values)).cast<NodeHandle>().node;
  };
  return {dataset::MakeFlatMap(child.node, std::move(call))};
}

void BindSources(py::module_& m) {
  py::class_<OrderHandle>(m, "Order", "Which rows of a source are read, and in what order.");
  m.def("regular_order", [](int64_t length, int64_t first, int64_t stride, int64_t count,
                            bool shuffled, bool common) {
    return OrderHandle{dataset::MakeRegularOrder({length, first, stride, count, shuffled, common})};
  });
  m.def("drawn_order", [](int64_t length, int64_t count) {
    return OrderHandle{dataset::MakeDrawnOrder(length, count)};
  });
  m.def("function_order", [](py::object adapter, std::optional<int64_t> size, bool shuffles) {
    return OrderHandle{PythonOrder(std::move(adapter), size, shuffles)};
  });
  m.def("loaded", &Loaded);
  m.def("stream", [](py::object open, py::object size) {
    return NodeHandle{PythonStream(std::move(open), std::move(size))};
  });
}

void BindTransforms(py::module_& m) {
  // Name, numbers, draws (place, low, high, whether they are integers), probability.
  using Drawn = std::tuple<size_t, double, double, bool>;
  using Given =
      std::vector<std::tuple<std::string, std::vector<double>, std::vector<Drawn>, double>>;
  py::class_<dataset::Chain, std::shared_ptr<dataset::Chain>>(
      m, "Chain", "Transforms of the package, one after the other.")
      .def(py::init([](const Given& given) {
        std::vector<dataset::Transform> transforms;
        for (const auto& [name, numbers, drawn, probability] : given) {
          dataset::Transform transform{name, numbers, {}, probability};
          for (const auto& [place, low, high, whole] : drawn) {
            if (place >= numbers.size()) throw py::index_error("a draw for no number");
            transform.draws.push_back({place, low, high, whole});
          }
          transforms.push_back(std::move(transform));
        }
        return std::make_shared<dataset::Chain>(std::move(transforms));
      }))
      .def("run", [](const dataset::Chain& self, py::handle array, uint64_t key) {
        dataset::Value value = BorrowedFromPython(array);
        {
          py::gil_scoped_release released;
          value = self.Run(std::move(value), key);
        }
        return ArrayFromValue(value);
      });
  m.def("number_of_dtype", [](const py::dtype& dtype) -> std::optional<int> {
    DType found;
    if (!DTypeFromNumpy(dtype, &found) || IsComplex(found)) return std::nullopt;
    return static_cast<int>(found);
  });
  m.def("set_picture_reader", [](py::object function) {
    dataset::SetPictureReader([held = Held(std::move(function))](const dataset::Value& bytes) {
      WithGil gil;
      py::handle call = static_cast<PyObject*>(const_cast<void*>(held.get()));
      py::bytes content(reinterpret_cast<const char*>(bytes.data), bytes.bytes());
      auto [image, refused] = call(content).cast<std::pair<py::object, std::string>>();
      if (image.is_none()) Throw(ErrorKind::kValue, "For 'Decode', {}", refused);
      return ValueFromPython(image);
    });
  });
}

void BindOperators(py::module_& m) {
  m.def("map", &Map);
  m.def("project", [](const NodeHandle& child, Columns columns) {
    return NodeHandle{dataset::MakeProject(child.node, std::move(columns))};
  });
  m.def("filter", [](const NodeHandle& child, py::handle predicate, Columns take) {
    auto step = dataset::MakeFilterStep(OperationOf(predicate), std::move(take));
    return NodeHandle{dataset::MakeFilter(child.node, std::move(step))};
  });
  m.def("shuffle", [](const NodeHandle& child, int64_t buffer_size) {
    return NodeHandle{dataset::MakeShuffle(child.node, buffer_size)};
  });
  m.def("repeat", [](const NodeHandle& child, std::optional<int64_t> count) {
    return NodeHandle{dataset::MakeRepeat(child.node, count)};
  });
  m.def("window",
        [](const NodeHandle& child, int64_t start, std::optional<int64_t> stop, bool fixed) {
          return NodeHandle{dataset::MakeWindow(child.node, start, stop, fixed)};
        });
  m.def("stride", [](const NodeHandle& child, int64_t first, int64_t step) {
    return NodeHandle{dataset::MakeStride(child.node, first, step)};
  });
  m.def("zip", [](const std::vector<NodeHandle>& children) {
    return NodeHandle{dataset::MakeZip(Nodes(children))};
  });
  m.def("concat", [](const std::vector<NodeHandle>& children) {
    return NodeHandle{dataset::MakeConcat(Nodes(children))};
  });
  m.def("flat_map", &FlatMap);
  m.def("batch", &Batch);
  m.def("bucket_batch", &Buckets);
}

}  // namespace

void BindDataset(py::module_& core) {
  py::module_ m = core.def_submodule("dataset", "The engine of the data pipeline.");
  py::class_<NodeHandle>(m, "Node")
      .def("size", [](const NodeHandle& self) { return self.node->Size(); })
      .def("shuffles", [](const NodeHandle& self) { return self.node->Shuffles(); })
      .def(
          "spent",
          [](const NodeHandle& self) -> std::optional<std::pair<double, int64_t>> {
            const dataset::Spent* spent = self.node->spent();
            if (!spent) return std::nullopt;
            return std::pair(1e-9 * static_cast<double>(spent->nanoseconds), spent->rows.load());
          },
          "Seconds that its own work has taken, all workers together, and rows; None: unmeasured.")
      .def(
          "count",
          [](const NodeHandle& self) {
            if (auto size = self.node->Size()) return *size;
            py::gil_scoped_release released;
            auto run = std::make_shared<dataset::Run>(*self.node, 0, false);
            return self.node->Open(run, 0)->Skip(int64_t{1} << 60);
          },
          "Rows of an epoch, read through if need be.");
  py::class_<PythonCall>(m, "Call", "A Python function as an operation on rows.")
      .def(py::init([](py::object adapter, bool parallel) {
        return PythonCall{std::move(adapter), parallel};
      }));
  m.def("set_worker_limit", &dataset::SetWorkerLimit);
  m.def(
      "queue_bytes",
      [](const std::string& root) {
        return dataset::QueueBytes(root.empty() ? MemoryLimit() : MemoryLimit(root));
      },
      py::arg("root") = "", "What the rows ahead in one queue may take, in bytes.");
  m.def("set_opaque_stacker", [](py::object function) {
    dataset::SetOpaqueStacker([held = Held(std::move(function))](const std::string& column,
                                                                 std::vector<dataset::Value> rows) {
      WithGil gil;
      py::list given;
      for (const dataset::Value& row : rows) given.append(ArrayFromValue(row));
      py::handle call = static_cast<PyObject*>(const_cast<void*>(held.get()));
      return ValueFromPython(call(column, given));
    });
  });
  BindSources(m);
  BindDatasetFiles(m);
  BindOperators(m);
  BindDatasetIteration(m);
  BindTransforms(m);
  BindDatasetCalls(m);
  BindDatasetTexts(m);
}

}  // namespace ms::python
