// Devices: which there are, which one runs, where tensors are.
#include <pybind11/stl.h>

#include <optional>

#include "kernel/plugin.h"
#include "python/module.h"
#include "python/op_call.h"
#include "python/tensor_object.h"
#include "python/views.h"
#include "runtime/arena.h"
#include "tensor/block_cache.h"

namespace ms::python {
namespace py = pybind11;
namespace {

const Backend& Device(const std::optional<std::string>& name) {
  return name ? GetBackend(*name) : CurrentBackend();
}

std::string DeviceOf(py::handle tensor) {
  TensorObject* t = AsTensor(tensor.ptr());
  Refresh(t);
  return std::string(t->value.defined() ? t->value.memory().device() : CurrentBackend().name());
}

// The same value and the same place on the tape, in the memory of another device than its own.
py::object MoveTo(py::handle tensor, const std::string& device) {
  Memory& memory = GetBackend(device).memory();
  Tensor value = ValueOf(tensor.ptr(), "move_to()");
  Tape* tape = CurrentTape();
  Var var = tape ? TapeVar(tensor.ptr(), *tape) : Var{};  // before others may run
  auto moved = py::reinterpret_steal<py::object>(NewTensor(value.In(memory)));
  TensorObject* t = AsTensor(moved.ptr());
  t->stays = true;
  if (var) {
    t->var = var;
    t->owner = tape->id();
  }
  return moved;
}

void Keep(py::handle tensor, const std::string& device) {
  TensorObject* t = AsTensor(tensor.ptr());
  t->value = t->value.In(GetBackend(device).memory());
  t->stays = true;
}

py::tuple MemoryFigures(const std::optional<std::string>& device) {
  Memory& memory = Device(device).memory();
  MemoryStats stats = memory.stats();
  size_t kept = memory.on_host() ? Blocks().sizes().kept : 0;
  size_t reserved = memory.on_host() ? ReservedPeak() : stats.peak;
  return py::make_tuple(stats.live, stats.peak, kept, reserved);
}

}  // namespace

// A device's threads may need the GIL, to make a kernel, say.
void LetOthersRunMeanwhile() {
  HostWait::SetHooks([]() -> void* { return PyGILState_Check() ? PyEval_SaveThread() : nullptr; },
                     [](void* state) { PyEval_RestoreThread(static_cast<PyThreadState*>(state)); });
}

void BindDevices(py::module_& m) {
  LetOthersRunMeanwhile();
  m.def("backends", &BackendNames);
  m.def("load_backend", &LoadBackend, "Registers the device of a library; its name.");
  m.def("set_device", &SetCurrentBackend, "Of eager code and of what is compiled from now on.");
  m.def("device", [] { return std::string(CurrentBackend().name()); });
  m.def(
      "synchronize",
      [](const std::optional<std::string>& device) { Device(device).stream().Synchronize(); },
      py::arg("device") = py::none(), "Waits until a device has done what it was given.");
  m.def("device_of", &DeviceOf, "The name of the device that a tensor is on.");
  m.def("move_to", &MoveTo, "A tensor of the same value on a device.");
  m.def("keep_on", &Keep, "Moves a tensor to a device for good: others use copies of it.");

  m.def("memory_stats", &MemoryFigures, py::arg("device") = py::none(),
        "Bytes of a device: live, the most of them, kept for later, the most of both.");
  m.def(
      "reset_peak_memory",
      [](const std::optional<std::string>& device) { Device(device).memory().ResetPeak(); },
      py::arg("device") = py::none());
  m.def(
      "reset_peak_reserved",
      [](const std::optional<std::string>& device) {
        Memory& memory = Device(device).memory();
        memory.on_host() ? ResetReservedPeak() : memory.ResetPeak();
      },
      py::arg("device") = py::none());
  m.def("empty_memory_cache", [] {
    FreeIdleArenas();
    Blocks().Clear();
  });
}

}  // namespace ms::python
