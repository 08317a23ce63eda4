// Process-wide switches the Python side flips, and facts about the running process.
#include <pybind11/stl.h>

#include <omp.h>
#include <pthread.h>

#include <algorithm>

#include "kernel/kernel.h"
#include "python/module.h"
#include "python/op_call.h"
#include "runtime/arena.h"
#include "tensor/block_cache.h"
#include "tensor/buffer.h"

namespace ms::python {
namespace py = pybind11;
namespace {

bool graph_mode = false;

// Long kernels run without the GIL.
void InstallGilRelease() {
  EagerRunner::run_long = [](const Kernel& kernel, const KernelArgs& args) {
    py::gil_scoped_release release;
    kernel.Run(args);
  };
}

// A forked child has the forking thread only, while its OpenMP would wait for the parent's others
// for ever. So that thread's pool is dissolved before a fork; parent and child make a new one when
// they need it.
void DissolvePoolBeforeFork() {
  pthread_atfork([] { omp_pause_resource_all(omp_pause_hard); }, nullptr, nullptr);
}

PyObject* GraphMode(PyObject*, PyObject*) { return PyBool_FromLong(graph_mode); }
PyMethodDef quick[] = {{"graph_mode", GraphMode, METH_NOARGS, "True in GRAPH_MODE."},
                       {nullptr, nullptr, 0, nullptr}};

}  // namespace

void BindRuntime(py::module_& m) {
  PyModule_AddFunctions(m.ptr(), quick);
  InstallGilRelease();
  GuardBlocksAcrossFork();
  DissolvePoolBeforeFork();
  m.def("set_graph_mode", [](bool on) { graph_mode = on; });
  m.def("backends", &BackendNames);
  m.def("set_num_threads", [](int n) { omp_set_num_threads(n); });
  m.def("num_threads", [] { return omp_get_max_threads(); });
  m.def("memory_stats", [] {
    MemoryStats stats = GetMemoryStats();
    return std::make_tuple(stats.live, stats.peak, Blocks().sizes().kept, ReservedPeak());
  });
  m.def("reset_peak_memory", &ResetPeakMemory);
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
  m.def("reset_peak_reserved", &ResetReservedPeak);
  m.def("empty_memory_cache", [] {
    FreeIdleArenas();
    Blocks().Clear();
  });
}

}  // namespace ms::python
