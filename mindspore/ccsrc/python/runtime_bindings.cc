// Process-wide switches the Python side flips, and facts about the running process.
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>

#include "backends/null/null.h"
#include "base/control_group.h"
#include "kernel/launch.h"
#include "kernel/threads.h"
#include "python/errors.h"
#include "python/module.h"
#include "python/op_call.h"
#include "runtime/profile.h"
#include "tensor/block_cache.h"
#include "tensor/buffer.h"

namespace ms::python {
namespace py = pybind11;
namespace {

bool graph_mode = false;

// Long kernels run without the GIL.
void RunLong(const Kernel& kernel, const KernelArgs& args) {
  py::gil_scoped_release release;
  WatchProcessors();
  Launch(kernel, args);
}

// Where code is, and from where it was called: (file, line, function) each, the innermost first.
py::list PlaceOf(SpanId id) {
  py::list chain;
  for (; id; id = GetSpan(id).caller) {
    const Span& span = GetSpan(id);
    chain.append(py::make_tuple(span.file, span.line, span.function));
  }
  return chain;
}

py::list ProfileRows() {
  py::list rows;
  for (const ProfileRow& r : GetProfile())
    rows.append(py::make_tuple(r.op, PlaceOf(r.span), r.count, r.total_ns, r.best_ns));
  return rows;
}

py::tuple ProfiledLaunches() {
  ProfileEvents events = GetProfileEvents();
  py::list kept;
  for (const ProfileEvent& e : events.kept) {
    kept.append(py::make_tuple(e.op->name, PlaceOf(e.span), e.thread, e.start_ns, e.ns,
                               e.live_bytes, e.device, e.given_start_ns, e.given_ns));
  }
  return py::make_tuple(kept, events.dropped);
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
  m.def("set_profile", &SetProfile, py::arg("on"), py::arg("events") = 0,
        "Whether launches are timed, and how many are kept one by one.");
  m.def("reset_profile", &ResetProfile);
  m.def("profile_rows", &ProfileRows,
        "Sums by op and line, the longest first: op, place, count, nanoseconds, of the quickest.");
  m.def("profile_events", &ProfiledLaunches,
        "Launches (op, place, thread, start and length in ns, bytes held; where the device noted "
        "these times, its name, and start and length of the host's work), how many were dropped.");
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
