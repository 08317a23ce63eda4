// The processes that train together, for mindspore.communication.
#include <pybind11/stl.h>

#include "kernel/collectives.h"
#include "kernel/kernel.h"
#include "python/module.h"

namespace ms::python {
namespace py = pybind11;

void BindCollectives(py::module_& m) {
  using Free = py::call_guard<py::gil_scoped_release>;  // others are waited for
  m.def(
      "join_processes",
      [](const std::string& library, bool windows, const std::vector<std::string>& worlds) {
        Join(CurrentBackend().NewTransport(library, windows), worlds);
      },
      Free(),
      "Starts the transport of the device; the groups of all processes bear the names `worlds`.");
  m.def("leave_processes", &LeaveGroups, Free());
  m.def(
      "process_facts",
      [] {
        Transport* t = CurrentTransport();
        if (!t) return py::object(py::none());
        return py::object(
            py::make_tuple(t->rank(), t->size(), t->local_rank(), t->local_size(), t->Describe()));
      },
      "Rank, size, the same of the host, the library; None: this process is alone.");
  m.def("make_group", &MakeGroup, Free(), "Called by all members.");
  m.def("forget_group", &ForgetGroup, Free());
}

}  // namespace ms::python
