#include "python/older_names.h"

#include <pybind11/pybind11.h>

#include "python/once.h"

namespace ms::python {
namespace py = pybind11;

PyObject* MeantBy(PyObject* function, PyObject* name, std::span<PyObject* const> left) {
  const py::object& meant = Once(
      [] { return py::object(py::module_::import("mindspore.ops._older_names").attr("meant")); });
  py::list names;
  for (PyObject* parameter : left) names.append(py::handle(parameter));
  py::object found = meant(py::handle(function), py::handle(name), names);
  for (PyObject* parameter : left) {
    if (found.equal(py::handle(parameter))) return parameter;
  }
  return nullptr;
}

}  // namespace ms::python
