// The watch of processes over each other, as mindspore._core.watch.
#include <pybind11/stl.h>

#include <algorithm>

#include "base/error.h"
#include "cluster/watch.h"
#include "python/errors.h"
#include "python/module.h"

namespace ms::python {
namespace py = pybind11;
namespace {

using cluster::Watch;
using cluster::WatchOptions;

// What waits in the core lets the program's signals through.
void RaiseSignals() {
  py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

std::chrono::milliseconds Seconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

void Join(int rank, int size, const std::string& address, double silence, double join) {
  WatchOptions options;
  options.silence = Seconds(silence);
  options.beat = std::min(options.beat, options.silence / 4);
  options.join = Seconds(join);
  options.interrupt = RaiseSignals;
  py::gil_scoped_release release;
  Watch::Join(rank, size, address, options);
}

Watch& Joined() {
  if (Watch* watch = Watch::Current()) return *watch;
  Throw(ErrorKind::kRuntime, "this process has not joined a watch");
}

}  // namespace

void BindWatch(py::module_& m) {
  py::module_ watch = m.def_submodule("watch", "Processes that watch each other.");
  watch.def("listen", &Watch::Listen, py::arg("host"),
            "Opens a port for the ranks to come to; its address, for all to join.");
  watch.def("join", &Join, py::arg("rank"), py::arg("size"), py::arg("address"), py::arg("silence"),
            py::arg("join"),
            "Joins the ranks of a job; times are seconds: of silence until a rank is taken for "
            "lost, and for all to come.");
  watch.def("leave", &Watch::Leave, py::call_guard<py::gil_scoped_release>(),
            "Says farewell, so that nobody takes the end of this process for a death.");
  watch.def("joined", [] { return Watch::Current() != nullptr; });
  watch.def(
      "raised",
      [](const std::string& text) {
        if (Watch* joined = Watch::Current()) joined->Raised(text);
      },
      py::arg("text"), "Tells the others that an exception ends this process.");
  watch.def(
      "set_group",
      [](int group, std::vector<int> ranks) { Joined().SetGroup(group, std::move(ranks)); },
      py::arg("group"), py::arg("ranks"), "The members of a group, by their ranks.");
  watch.def(
      "enter",
      [](int group, uint64_t number, std::string_view what, std::string_view place,
         bool unchecked) { Joined().Enter(group, number, what, place, unchecked); },
      py::arg("group"), py::arg("number"), py::arg("what"), py::arg("place"),
      py::arg("unchecked") = false,
      "Says what collective this thread is about to do; raises if a rank is lost. One that is not "
      "compared with the others' by itself is so by the watch, a moment later.");
  watch.def("exit", [](bool done) { Joined().Exit(done); }, py::arg("done") = true);
  watch.def("check", [] { Joined().Check(); }, "Raises if a rank is lost.");
}

}  // namespace ms::python
