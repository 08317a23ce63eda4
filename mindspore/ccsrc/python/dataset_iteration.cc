// mindspore._core.dataset: iterators over the pipeline. All waiting is without the GIL.
#include <pthread.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "dataset/prefetch.h"
#include "dataset/verdicts.h"
#include "python/dataset_handles.h"
#include "python/dataset_values.h"
#include "python/module.h"

namespace ms::python {
namespace py = pybind11;
using dataset::Row;

namespace {

// How often a waiting iterator looks for Ctrl-C.
constexpr auto kPatience = std::chrono::milliseconds(50);

// How many forks lie between the first process and this one. Asking the system who this process is
// would take as long as making an array of a row.
int forks = 0;  // changes where there is one thread

// What filters decided in the passes of an iterator, which may be gone already.
struct VerdictsHandle {
  using Told = std::tuple<int, int64_t, int64_t, py::bytes>;
  dataset::RunRef run;

  std::vector<Told> All() const {
    std::vector<Told> told;
    for (const auto& one : run->verdicts().All()) {
      told.emplace_back(one.node, one.epoch, one.count, py::bytes(one.bits));
    }
    return told;
  }
  void Set(const std::vector<Told>& told) const {
    std::vector<dataset::Verdicts::Judged> judged;
    for (const auto& [node, epoch, count, bits] : told)
      judged.push_back({node, epoch, count, bits});
    run->verdicts().Set(std::move(judged));
  }
};

// One iterator's epochs. It belongs to the process that made it.
class Pipeline {
 public:
  Pipeline(const NodeHandle& root, uint64_t seed, bool seeded, int workers, int64_t items,
           size_t bytes)
      : root_(root.node), run_(std::make_shared<dataset::Run>(*root_, seed, seeded)) {
    options_.workers = workers == 0 ? 0 : (root_->Parallel() ? workers : 1);
    options_.items = items;
    options_.bytes = bytes;
    options_.grain = root_->Coarse() ? 1 : 16;
    options_.shared = root_->Interpreted();
  }
  // What the pipeline held of Python's, such as workers in processes, goes with it.
  ~Pipeline() {
    Close();
    run_.reset();
    root_.reset();
    DropReleased();
  }

  // Begins an epoch after its first `skip` rows; says how many rows there were to leave out.
  int64_t Begin(int64_t epoch, int64_t skip) {
    Close();
    int64_t skipped = 0;
    std::shared_ptr<dataset::Prefetcher> rows;
    {
      py::gil_scoped_release released;
      run_->verdicts().Renew();
      dataset::CursorRef cursor = root_->Open(run_, epoch);
      skipped = skip > 0 ? cursor->Skip(skip) : 0;
      rows = std::make_shared<dataset::Prefetcher>(std::move(cursor), options_);
    }
    rows_ = std::move(rows);
    return skipped;
  }

  // A row that is there already, as Next gives it, or None: most rows that are taken one by one
  // come so.
  py::object AtHand(bool as_arrays, const py::object& names) {
    CheckProcess();
    if (!rows_ || !rows_->AtHand()) return py::none();
    Row row;
    rows_->Next(&row, kPatience);
    return Given(row, as_arrays, names);
  }

  // A list of values, or with names of columns a dict; None at the end of the epoch.
  py::object Next(bool as_arrays, const py::object& names) {
    CheckProcess();
    // Kept for the time of the call: another thread may close the pipeline meanwhile.
    std::shared_ptr<dataset::Prefetcher> rows = rows_;
    if (!rows) Throw(ErrorKind::kRuntime, "For 'Iterator', the iterator must not be stopped.");
    Row row;
    DropReleased();
    while (true) {
      dataset::Prefetcher::Got got;
      {
        // Nothing waits for a row that is there.
        std::optional<py::gil_scoped_release> released;
        if (!rows->AtHand()) released.emplace();
        got = rows->Next(&row, kPatience);
      }
      if (got == dataset::Prefetcher::Got::kEnd) return py::none();
      if (got == dataset::Prefetcher::Got::kRow) break;
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
    return Given(row, as_arrays, names);
  }

  // What the queue of this epoch tells: see PrefetchFacts. None between epochs.
  py::object Facts() const {
    if (!rows_) return py::none();
    dataset::PrefetchFacts f = rows_->Facts();
    return py::make_tuple(f.given, f.depth, f.waited, f.worked, f.workers, f.items);
  }
  // Numbers of workers and of rows ahead, for this epoch and those that follow.
  void Tune(int workers, int64_t items) {
    if (options_.workers > 0) options_.workers = std::max(workers, 1);
    options_.items = std::max<int64_t>(items, 1);
    if (rows_) rows_->Tune(workers, items);
  }
  bool parallel() const { return root_->Parallel(); }
  VerdictsHandle verdicts() const { return {run_}; }

  void Close() {
    std::shared_ptr<dataset::Prefetcher> rows = std::move(rows_);
    if (!rows) return;
    if (forks != forks_) {
      new std::shared_ptr(std::move(rows));  // its threads are not here
      return;
    }
    py::gil_scoped_release released;
    rows->Stop();
    rows.reset();
  }

 private:
  void CheckProcess() const {
    if (forks == forks_) return;
    Throw(ErrorKind::kRuntime,
          "For 'Iterator', the iterator must be used in the process that made it.");
  }

  static py::object Given(const Row& row, bool as_arrays, const py::object& names) {
    auto made = as_arrays ? &ArrayFromValue : &TensorFromValue;
    size_t count = row.values.size();
    if (names.is_none()) {
      py::list values(count);
      for (size_t i = 0; i < count; ++i) values[i] = made(row.values[i]);
      return values;
    }
    auto columns = names.cast<py::tuple>();
    if (columns.size() != count) {
      Throw(ErrorKind::kValue, "For 'Iterator', a row must have {} columns, but got {}.",
            columns.size(), count);
    }
    py::dict values;
    for (size_t i = 0; i < count; ++i) values[columns[i]] = made(row.values[i]);
    return values;
  }

  dataset::NodeRef root_;
  dataset::RunRef run_;
  dataset::PrefetchOptions options_;
  std::shared_ptr<dataset::Prefetcher> rows_;  // guarded by the GIL
  int forks_ = forks;
};

// Where an iterator stands in its epoch.
struct Place {
  int64_t step = 0;  // rows that were given
};

// Of an iterator in Python: it takes rows that are at hand by itself, and asks Python for all
// others.
struct Taker {
  py::object pipeline = py::none();  // a Pipeline; None once it is stopped
  py::object place = py::none();     // a Place
  bool as_arrays = false;
  py::object names = py::none();  // of the columns, for dicts
  bool straight = false;          // rows are given as they are taken, and nobody looks on
  bool taking = false;            // a thread takes a row from Python

  bool Enter() { return !std::exchange(taking, true); }
  void Leave() { taking = false; }

  static py::object Next(py::handle self) {
    auto& taker = self.cast<Taker&>();
    if (taker.straight && !taker.taking && !taker.pipeline.is_none()) {
      try {
        py::object row = taker.pipeline.cast<Pipeline&>().AtHand(taker.as_arrays, taker.names);
        if (!row.is_none()) {
          ++taker.place.cast<Place&>().step;
          return row;
        }
      } catch (...) {  // it was taken, and the user does not have it
        self.attr("_fail")();
        throw;
      }
    }
    return self.attr("_take")();
  }
};

}  // namespace

py::object NextRow(py::handle pipeline) {
  return py::cast<Pipeline&>(pipeline).Next(false, py::none());
}

void BindDatasetIteration(py::module_& m) {
  pthread_atfork(nullptr, nullptr, [] { ++forks; });
  m.attr("MOST_VERDICTS") = dataset::Verdicts::kMost;
  py::class_<VerdictsHandle>(m, "Verdicts", "What filters decided about the rows of an epoch.")
      .def("all", &VerdictsHandle::All, "(node, epoch, rows, a bit for each) of each pass.")
      .def("set", &VerdictsHandle::Set, "What is known already when the next epoch begins.");
  py::class_<Pipeline>(m, "Pipeline")
      .def(py::init<const NodeHandle&, uint64_t, bool, int, int64_t, size_t>())
      .def("begin", &Pipeline::Begin)
      .def("next", &Pipeline::Next, py::arg("as_arrays"), py::arg("names") = py::none())
      .def("facts", &Pipeline::Facts)
      .def("tune", &Pipeline::Tune)
      .def_property_readonly("parallel", &Pipeline::parallel)
      .def_property_readonly("verdicts", &Pipeline::verdicts)
      .def("close", &Pipeline::Close);
  py::class_<Place>(m, "Place", "Where an iterator stands in its epoch.")
      .def(py::init())
      .def_readwrite("step", &Place::step, "Rows of the epoch that were given.");
  py::class_<Taker>(m, "Taker", "What iterators are: rows that are at hand need no step in Python.")
      .def(py::init())
      .def_readwrite("_pipeline", &Taker::pipeline)
      .def_readwrite("_position", &Taker::place)
      .def_readwrite("_as_arrays", &Taker::as_arrays)
      .def_readwrite("_names", &Taker::names)
      .def_readwrite("_straight", &Taker::straight, "Nothing is done to rows, nobody looks on.")
      .def("_enter", &Taker::Enter, "False: another thread takes a row.")
      .def("_leave", &Taker::Leave)
      .def("__next__", &Taker::Next);
}

}  // namespace ms::python
