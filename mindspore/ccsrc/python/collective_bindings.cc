// The processes that train together, for mindspore.communication.
#include <pybind11/stl.h>

#include <chrono>
#include <numeric>

#include "kernel/joint_sums.h"
#include "kernel/kernel.h"
#include "kernel/sample_part.h"
#include "python/module.h"
#include "python/world.h"

namespace ms::python {
namespace py = pybind11;
namespace {

// The least time of a sum of so many floats over a group, which all members call together.
double TimeSums(const std::string& name, int64_t count, int repeats) {
  std::shared_ptr<Group> group = FindGroup(name);
  std::vector<float> values(static_cast<size_t>(count), 1.0f);
  double least = 0;
  for (int i = 0; i <= repeats; ++i) {
    Exchange call{"a sum that measures the links"};
    group->Barrier(call);
    auto begin = std::chrono::steady_clock::now();
    group->AllReduce(call, values.data(), values.data(), count, DType::kFloat32, Reduction::kMax);
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (i == 1 || (i && took.count() < least)) least = took.count();  // the first makes buffers
  }
  return least;
}

// The texts of all processes, by rank, which all call it.
std::vector<std::string> GatherTexts(const std::string& text) {
  std::shared_ptr<Group> world = FindGroup(kWorld);
  Exchange call{"a text of each"};
  Announced announced(*world, call);  // who ends meanwhile is named
  auto ranks = static_cast<size_t>(world->size());
  std::vector<int64_t> sizes(ranks);
  auto size = static_cast<int64_t>(text.size());
  world->AllGather(call, &size, sizes.data(), std::vector<int64_t>(ranks, sizeof(size)));
  std::string joined(static_cast<size_t>(std::reduce(sizes.begin(), sizes.end())), ' ');
  world->AllGather(call, text.data(), joined.data(), sizes);
  std::vector<std::string> texts;
  size_t from = 0;
  for (int64_t length : sizes) {
    texts.push_back(joined.substr(from, static_cast<size_t>(length)));
    from += static_cast<size_t>(length);
  }
  return texts;
}

}  // namespace

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
  m.def("gather_texts", &GatherTexts, Free(), py::arg("text"),
        "The texts of all processes, by rank.");
  m.def(
      "await_all",
      [] {
        std::shared_ptr<Group> world = FindGroup(kWorld);
        Exchange call{"the begin of the job"};
        Announced announced(*world, call);
        world->Barrier(call);
      },
      Free(), "Returns when all processes have come here.");
  m.def("time_sums", &TimeSums, Free(), py::arg("group"), py::arg("count"), py::arg("repeats"),
        "The least seconds of sums of so many floats; all members call it together.");
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
