// The processes that train together, for mindspore.communication.
#include <pybind11/stl.h>

#include "kernel/joint_sums.h"
#include "kernel/kernel.h"
#include "kernel/sample_part.h"
#include "python/module.h"

namespace ms::python {
namespace py = pybind11;

const char* const kWorld = "world_group";  // one of the names that common/_groups.py gives it

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
        std::shared_ptr<Transport> t = CurrentTransport();
        if (!t) return py::object(py::none());
        return py::object(
            py::make_tuple(t->rank(), t->size(), t->local_rank(), t->local_size(), t->Describe()));
      },
      "Rank, size, the same of the host, the library; None: this process is alone.");
  m.def(
      "share_text",
      [](std::string text) {
        std::shared_ptr<Group> world = FindGroup(kWorld);
        Announced announced(*world, {"a text"});  // who ends meanwhile is named
        auto size = static_cast<int64_t>(text.size());
        world->Broadcast({"its length"}, &size, sizeof(size), 0);
        text.resize(static_cast<size_t>(size));
        world->Broadcast({"a text"}, text.data(), size, 0);
        return text;
      },
      Free(), py::arg("text"), "The text of rank 0, in all processes.");
  m.def(
      "set_bucket_wish",
      [](std::vector<int64_t> ends, int64_t bytes) { SetBucketWish({std::move(ends), bytes}); },
      py::arg("ends"), py::arg("bytes"));
  m.def(
      "set_sample_part", [](int64_t first, int64_t rows) { SetSamplePart({first, rows}); },
      py::arg("first"), py::arg("rows"),
      "How many samples of a step are before those of this process, and how many it has.");
  m.def(
      "sum_times",
      [] {
        SumTimes t = TimesOfSums();
        py::dict times;
        times["runs"] = t.runs;
        times["buckets"] = t.buckets;
        times["sums"] = t.sums;
        times["hideable"] = t.hideable;
        times["hidden"] = t.hidden;
        times["tail"] = t.tail;
        return times;
      },
      "What sums of gradients have taken beside the program, in seconds.");
  m.def("make_group", &MakeGroup, Free(), "Called by all members.");
  m.def("forget_group", &ForgetGroup, Free());
}

}  // namespace ms::python
