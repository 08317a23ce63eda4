// Python's handles of what the data pipeline shares as const, and what binds them.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "dataset/sources.h"

namespace ms::python {

struct NodeHandle {
  dataset::NodeRef node;
};
struct OrderHandle {
  std::shared_ptr<const dataset::Order> order;
};

// Sources of arrays and files.
void BindDatasetFiles(pybind11::module_& dataset);

}  // namespace ms::python
