// The group of all processes that came together.
#pragma once

namespace ms::python {

inline constexpr const char* kWorld = "world_group";  // one of its names in common/_groups.py

}  // namespace ms::python
