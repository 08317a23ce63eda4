// What is asked of Python once.
#pragma once

#include <pybind11/gil_safe_call_once.h>

namespace ms::python {

// What `find` gives, a function of its own type: kept for ever. A static would not do: an import
// lets go of the GIL, and who has it then would wait here for the one who imports.
template <class Find>
const auto& Once(Find find) {
  PYBIND11_CONSTINIT static pybind11::gil_safe_call_once_and_store<decltype(find())> stored;
  return stored.call_once_and_store_result(find).get_stored();
}

}  // namespace ms::python
