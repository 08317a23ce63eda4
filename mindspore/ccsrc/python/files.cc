#include "python/files.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

namespace ms::python {

namespace py = pybind11;
using Clock = std::chrono::steady_clock;

std::string SystemPath(py::handle path) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &bytes) == 0) throw py::error_already_set();
  return py::reinterpret_steal<py::bytes>(bytes);
}

py::object PathObject(const std::string& path) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

// Taking the GIL may wait for other threads, so not after each block.
std::function<void()> SignalPoll() {
  if (syscall(SYS_gettid) != getpid()) return {};  // gettid() is younger than the oldest glibc
  return [last = Clock::now()]() mutable {
    if (Clock::now() - last < std::chrono::milliseconds(50)) return;
    py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    last = Clock::now();
  };
}

}  // namespace ms::python
