// Python functions as operations, orders and sources of the data pipeline. Each is an adapter of
// dataset/engine, which checks what the user's function gives; it gets many rows at once.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>

#include "dataset/batching.h"
#include "dataset/sources.h"

namespace ms::python {

// adapter(rows, keys, numbers) -> rows; a row is a tuple of arrays. `parallel`: it hands the work
// to other processes.
std::shared_ptr<const dataset::Operation> PythonOperation(pybind11::object adapter, bool parallel);
// The rows of adapter.source by their indices, where nothing in it asks which row it is; what is no
// array or number goes to adapter.checked, what fails to adapter.failed.
std::shared_ptr<const dataset::Step> PythonLoad(pybind11::object adapter, size_t columns);
// adapter(columns, key, epoch, number) -> columns; a column is a list of rows, or a whole batch.
std::shared_ptr<const dataset::BatchFunction> PythonBatchFunction(pybind11::object adapter);
// adapter(seed, seeded, node, epoch) -> array of indices.
std::shared_ptr<const dataset::Order> PythonOrder(pybind11::object adapter,
                                                  std::optional<int64_t> size, bool shuffles);
// open(key, epoch) -> iterator of rows; size() -> int or None.
dataset::NodeRef PythonStream(pybind11::object open, pybind11::object size);

}  // namespace ms::python
