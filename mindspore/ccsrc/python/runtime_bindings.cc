// Process-wide switches the Python side flips, and facts about the running process.
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>

#include "backends/null/null.h"
#include "base/control_group.h"
#include "kernel/launch.h"
#include "kernel/threads.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/module.h"
#include "python/op_call.h"
#include "tensor/block_cache.h"
#include "tensor/buffer.h"

namespace ms::python {
namespace py = pybind11;
namespace {

bool graph_mode = false;

// Long kernels run without the GIL.
void RunLong(const Kernel& kernel, const KernelArgs& args) {
  WithoutGil others_run;
  WatchProcessors();
  Launch(kernel, args);
}

PyObject* GraphMode(PyObject*, PyObject*) { return PyBool_FromLong(graph_mode); }
PyMethodDef quick[] = {{"graph_mode", GraphMode, METH_NOARGS, "True in GRAPH_MODE."},
                       {nullptr, nullptr, 0, nullptr}};

}  // namespace

void BindRuntime(py::module_& m) {
  PyModule_AddFunctions(m.ptr(), quick);
  EagerRunner::SetHooks({RunLong, CallingSpan});
  SetUpThreads();
  m.def("set_graph_mode", [](bool on) { graph_mode = on; });
  m.def(
      "add_null_device", [] { RegisterBackend(MakeNullBackend()); },
      "A device 'Null' that accepts every op and computes nothing: to try out compilation.");
  m.def("set_num_threads", &SetThreads);
  m.def("num_threads", &Threads);
  m.def(
      "set_waiting",
      [](std::optional<bool> brief) {
        SetWaiting(!brief ? Waiting::kAutomatic : *brief ? Waiting::kBrief : Waiting::kLong);
      },
      "Whether OpenMP threads sleep soon when they wait; None: as the load of the machine asks.");
  m.def("waits_briefly", &WaitsBriefly);
  m.def("default_threads", &DefaultThreads);
  m.def(
      "granted_by_control_groups",
      [](const std::string& root) {
        Granted granted = GrantedByControlGroups(root);
        return std::make_pair(granted.memory, granted.processors);
      },
      "Bytes of memory and processors, of the groups below a root folder.");
  m.def(
      "require_memory",
      [](const std::string& name, double bytes) {
        constexpr double kMost = 1e18;
        try {
          RequireMemory(static_cast<size_t>(std::min(bytes, kMost)));
        } catch (const Error& error) {
          throw error.Of(name);
        }
      },
      "Raises MemoryError in the name of a function unless there may be so many further bytes.");
}

}  // namespace ms::python
