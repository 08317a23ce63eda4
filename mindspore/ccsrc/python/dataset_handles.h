// Python's handles of what the data pipeline shares as const, and what binds them.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "dataset/sources.h"
#include "dataset/texts/operations.h"
#include "python/dataset_values.h"

namespace ms::python {

struct NodeHandle {
  dataset::NodeRef node;
  ~NodeHandle() {
    node.reset();
    DropReleased();
  }
};
struct OrderHandle {
  std::shared_ptr<const dataset::Order> order;
};

// The next row of a Pipeline, as a list of Tensors and what else there is; None at the end of the
// epoch.
pybind11::object NextRow(pybind11::handle pipeline);

// Iterators.
void BindDatasetIteration(pybind11::module_& dataset);
// Sources of arrays and files.
void BindDatasetFiles(pybind11::module_& dataset);
// Chains on one image.
void BindDatasetCalls(pybind11::module_& dataset);
// Operations on text.
void BindDatasetTexts(pybind11::module_& dataset);
// Null for what is none.
dataset::TextOperationRef TextOperationOf(pybind11::handle object);

}  // namespace ms::python
