// See guards.cc.
#pragma once

#include <pybind11/pybind11.h>

namespace ms::python {

// Whether the facts that compiled code rests on hold, all of these Guards.
bool GuardsHold(pybind11::handle guards);

}  // namespace ms::python
