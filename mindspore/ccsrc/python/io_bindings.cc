// mindspore._core.io: checkpoints, and the atomic writes and bounded reads that other formats are
// made of. Tensors cross as Tensors, texts as bytes in UTF-32. File work runs without the GIL.
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "io/atomic_file.h"
#include "io/checkpoint.h"
#include "io/checkpoint_format.h"
#include "io/crc32c.h"
#include "io/file_reader.h"
#include "python/files.h"
#include "python/tensor_object.h"
#include "tensor/exposure.h"

namespace ms::python {
namespace {

namespace py = pybind11;

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::span<const std::byte> Bytes(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.raw()), tensor.bytes()};
}

py::object Wrapped(Tensor tensor) {
  return py::reinterpret_steal<py::object>(NewTensor(std::move(tensor)));
}

// What is saved: a handle of the tensor keeps others from writing to its memory meanwhile.
struct Entry {
  std::string name;
  std::variant<Tensor, std::string> value;

  explicit Entry(const std::pair<std::string, py::object>& pair) : name(pair.first) {
    if (IsTensor(pair.second.ptr()))
      value = HostValueOf(pair.second.ptr(), "save_checkpoint");
    else
      value = std::string(pair.second.cast<py::bytes>());
  }

  CheckpointEntry View() const {
    if (auto* text = std::get_if<std::string>(&value))
      return {name, std::string(kTextType), {0}, Bytes(*text)};
    const auto& tensor = std::get<Tensor>(value);
    return {name, std::string(Name(tensor.dtype())), tensor.shape().ToInts(), Bytes(tensor)};
  }
};

using Arguments = std::vector<std::pair<std::string, py::object>>;

// The entries of a file, and views of them as long as they live.
struct Contents {
  std::vector<Entry> entries;
  std::vector<CheckpointEntry> views;

  explicit Contents(const Arguments& arguments) : entries(arguments.begin(), arguments.end()) {
    views.reserve(entries.size());
    for (const Entry& entry : entries) views.push_back(entry.View());
  }
};

void Save(py::handle path, const Arguments& arguments, bool native_crc, uint64_t slice_bytes) {
  if (slice_bytes == 0) throw py::value_error("slice_bytes must be positive");
  Contents contents(arguments);
  std::string target = SystemPath(path);
  py::gil_scoped_release release;
  SaveCheckpoint(target, contents.views, {native_crc, slice_bytes, SignalPoll()});
}

void Blocks(const Arguments& arguments, uint64_t block_bytes, const py::function& take) {
  if (block_bytes == 0) throw py::value_error("block_bytes must be positive");
  CheckpointBlocks(Contents(arguments).views, {}, block_bytes,
                   [&](std::span<const std::byte> block) {
                     take(py::bytes(reinterpret_cast<const char*>(block.data()), block.size()));
                   });
}

py::tuple Load(py::handle path, const py::object& choose) {
  CheckpointLoadOptions options;
  options.poll = SignalPoll();
  if (!choose.is_none()) {
    options.choose = [&choose](const std::string& name) {
      py::gil_scoped_acquire gil;
      return py::cast<bool>(py::bool_(choose(name)));
    };
  }
  std::string source = SystemPath(path);
  Checkpoint checkpoint;
  {
    py::gil_scoped_release release;
    checkpoint = LoadCheckpoint(source, options);
  }
  py::list values;
  for (CheckpointValue& value : checkpoint.values) {
    py::object object =
        value.text ? py::object(py::bytes(*value.text)) : Wrapped(std::move(value.tensor));
    values.append(py::make_tuple(value.name, object));
  }
  return py::make_tuple(values, checkpoint.checked);
}

// ---- the parts of other formats
// A file that is being written; left without commit, it is as it was. As a context manager it is
// left at the end of the block, whoever still refers to it; what is written after that is an error.
class Writer {
 public:
  explicit Writer(py::handle path) : file_(SystemPath(path)) { file_->set_poll(SignalPoll()); }

  void WriteText(const py::bytes& text) { file_.value().Write(Bytes(std::string_view(text))); }
  uint32_t WriteTensor(py::handle tensor, uint32_t crc) {
    Tensor value = HostValueOf(tensor.ptr(), "a file");
    py::gil_scoped_release release;
    return file_.value().WriteSummed(Bytes(value), crc);
  }
  void Patch(uint64_t offset, const py::bytes& text) {
    file_.value().Patch(offset, Bytes(std::string_view(text)));
  }
  void Commit() {
    py::gil_scoped_release release;
    file_.value().Commit();
  }
  void Leave(const py::args&) { file_.reset(); }

 private:
  std::optional<AtomicFile> file_;
};

class Reader {
 public:
  explicit Reader(py::handle path) : in_(SystemPath(path), "safetensors file") {
    in_.set_poll(SignalPoll());
  }

  uint64_t Remaining() const { return in_.remaining(); }
  py::bytes ReadBytes(uint64_t length) { return in_.Bytes(length); }
  // The next tensor; None where it is not wanted.
  py::object ReadTensor(const std::string& name, const std::string& type, const Ints& dims,
                        bool wanted) {
    DType dtype;
    if (!DTypeFromName(type, &dtype)) throw py::value_error("there is no type " + type);
    Shape shape = ShapeOf(name, dims);
    uint64_t bytes = static_cast<uint64_t>(shape.size()) * ItemSize(dtype);
    if (bytes > in_.remaining()) in_.Fail("'{:.200}' is larger than the file.", name);
    Tensor tensor = wanted ? Tensor(dtype, shape) : Tensor();
    {
      py::gil_scoped_release release;
      sum_ = in_.ReadElements(dtype, tensor.data<std::byte>(), bytes, sum_, name);
    }
    return wanted ? Wrapped(std::move(tensor)) : py::none();
  }
  uint32_t Sum() const { return sum_; }

 private:
  Shape ShapeOf(const std::string& name, const Ints& dims) const {
    try {
      return Shape(dims);
    } catch (const Error& error) {
      in_.Fail("the shape of '{:.200}' is not valid: {}.", name, error.message());
    }
  }

  FileReader in_;
  uint32_t sum_ = 0;
};

// ---- the end of the process
std::atomic<pid_t> failed_process{0};

// Once this process has shown an error that no caller can get any more, its exit status says so.
void FailExit() {
#if defined(__GLIBC__)
  static const int registered = on_exit(
      [](int status, void*) {
        if (status != 0 || failed_process.load() != getpid()) return;
        std::fflush(nullptr);
        _exit(1);
      },
      nullptr);
  if (registered == 0) failed_process.store(getpid());
#endif
}

}  // namespace

void BindIo(py::module_& m) {
  py::module_ io = m.def_submodule("io", "Files: checkpoints, atomic writes, checksums.");
  io.def(
      "save_checkpoint", &Save, py::arg("path"), py::arg("entries"), py::arg("native_crc") = false,
      py::arg("slice_bytes") = uint64_t{512} << 20,
      "Write (name, Tensor or bytes) entries; the file is replaced as a whole or stays as it was.");
  io.def("checkpoint_blocks", &Blocks, py::arg("entries"), py::arg("block_bytes"), py::arg("take"),
         "The bytes of a checkpoint with these entries, handed to take(bytes) block by block.");
  io.def(
      "load_checkpoint", &Load, py::arg("path"), py::arg("choose") = py::none(),
      "Read a checkpoint: ([(name, Tensor or bytes)], whether a checksum covered it). Only names "
      "for which choose(name) is true take memory.");
  io.def(
      "crc32c",
      [](const py::bytes& content, uint32_t crc) {
        return Crc32c(crc, Bytes(std::string_view(content)));
      },
      py::arg("content"), py::arg("crc") = 0, "CRC-32C of bytes, continuing `crc`.");
  io.def(
      "snapshot",
      [](py::handle tensor) { return Wrapped(Snapshot(ValueOf(tensor.ptr(), "a snapshot"))); },
      "The present value of a tensor, which nobody changes; memory is shared where it can be.");
  io.def("fail_exit", &FailExit, "Let this process end with status 1 where it would with 0.");
  py::class_<Writer>(io, "Writer", "A file that is replaced as a whole or stays as it was.")
      .def(py::init<py::handle>())
      .def("write", &Writer::WriteText)
      .def("write_tensor", &Writer::WriteTensor, py::arg("tensor"), py::arg("crc"),
           "Write the elements; returns their CRC-32C, continuing `crc`.")
      .def("patch", &Writer::Patch, "Replace bytes that were written before.")
      .def("commit", &Writer::Commit)
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__", &Writer::Leave);
  py::class_<Reader>(io, "Reader", "A file that is read from front to back.")
      .def(py::init<py::handle>())
      .def_property_readonly("remaining", &Reader::Remaining)
      .def_property_readonly("crc", &Reader::Sum, "CRC-32C of all tensors that were read.")
      .def("read", &Reader::ReadBytes)
      .def("read_tensor", &Reader::ReadTensor, py::arg("name"), py::arg("dtype"), py::arg("shape"),
           py::arg("wanted"), "The next tensor; None where it is not wanted.");
}

}  // namespace ms::python
