// Devices: which there are, which one runs, where tensors are.
#include <pybind11/stl.h>

#include <optional>

#include "kernel/plugin.h"
#include "python/module.h"
#include "python/op_call.h"
#include "python/tensor_object.h"
#include "python/trace.h"
#include "python/views.h"
#include "runtime/arena.h"
#include "runtime/eager.h"
#include "tensor/block_cache.h"

namespace ms::python {
namespace py = pybind11;
namespace {

const Backend& Device(const std::optional<std::string>& name) {
  return name ? GetBackend(*name) : CurrentBackend();
}

// Whether a graph is being made in which it is a value.
bool IsTraced(const TensorObject* t, py::handle tensor) {
  return t->owner != kSymbolicBit &&
         (t->symbolic() || (Trace::Current() && IsParameter(tensor.ptr())));
}

bool IsHostAlone() { return BackendNames().size() == 1; }

std::string DeviceOf(py::handle tensor) {
  TensorObject* t = AsTensor(tensor.ptr());
  Refresh(t);
  if (IsTraced(t, tensor) && !IsHostAlone())
    Throw(ErrorKind::kUnknownValue, "'device' tells where a tensor is only at run time");
  return std::string(t->value.defined() ? t->value.memory().device() : CurrentBackend().name());
}

// A value of its own, at the same place on the tape, in the memory of a device, where it stays. In
// a graph all values are on the device that is set: one that stays elsewhere, written to, too, is
// nothing for it. (That the host's stay there only matters to others.)
py::object MoveTo(py::handle tensor, const std::string& device) {
  Memory& memory = GetBackend(device).memory();
  bool is_there = device == CurrentBackend().name() && (!memory.on_host() || IsHostAlone());
  if (IsTraced(AsTensor(tensor.ptr()), tensor)) {
    if (!is_there) {
      py::set_error(py::module_::import("mindspore.compile.errors").attr("Inseparable"),
                    "a tensor moves to another device than the one that is set");
      throw py::error_already_set();
    }
    PyObject* same = ApplyOp(Ops().Get("Identity"), {tensor.ptr()});
    if (!same) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(same);
  }
  Tensor value = ValueOf(tensor.ptr(), "move_to()");
  Tape* tape = CurrentTape();
  Var var = tape ? TapeVar(tensor.ptr(), *tape) : Var{};  // before others may run
  bool here = &value.memory() == &memory;
  auto moved = py::reinterpret_steal<py::object>(NewTensor(here ? value.Copy() : value.In(memory)));
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
  HostWait::SetHooks(
      []() -> void* { return PyGILState_Check() ? PyEval_SaveThread() : nullptr; },
      [](void* state) noexcept { PyEval_RestoreThread(static_cast<PyThreadState*>(state)); });
}

void BindDevices(py::module_& m) {
  LetOthersRunMeanwhile();
  m.def("backends", &BackendNames);
  // A device may wait for its own threads while it is made.
  m.def("load_backend", &LoadBackend, py::call_guard<py::gil_scoped_release>(),
        "Registers the device of a library; its name.");
  m.def("set_device", &SetCurrentBackend, "Of eager code and of what is compiled from now on.");
  m.def("device", [] { return std::string(CurrentBackend().name()); });
  m.def(
      "synchronize",
      [](const std::optional<std::string>& device) { Device(device).stream().Synchronize(); },
      py::arg("device") = py::none(), "Waits until a device has done what it was given.");
  m.def("set_launch_blocking", &EagerRunner::SetBlocking,
        "Whether each op of a device ends before the next begins.");
  m.def("device_of", &DeviceOf, "The name of the device that a tensor is on.");
  m.def("move_to", &MoveTo, "A tensor of the same value on a device.");
  m.def("keep_on", &Keep, "Moves a tensor to a device for good: others use copies of it.");
  m.def(
      "stays", [](py::handle tensor) { return AsTensor(tensor.ptr())->stays; },
      "Whether a tensor was moved to its device for good.");

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
