// mindspore._core.io: checkpoints and atomic writes. Tensors cross as (name, type name, shape,
// buffer); loaded contents become NumPy arrays over the memory the reader filled. File work runs
// without the GIL.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <complex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "io/atomic_file.h"
#include "io/checkpoint.h"
#include "io/crc32c.h"

namespace ms::python {
namespace {

namespace py = pybind11;

// Lets Ctrl-C through between two blocks of a long read or write.
void PollSignals() {
  py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

std::span<const std::byte> Bytes(const py::buffer_info& info) {
  py::ssize_t expected = info.itemsize;
  for (py::ssize_t axis = info.ndim - 1; axis >= 0; --axis) {
    if (info.size != 0 && info.shape[axis] != 1 && info.strides[axis] != expected) {
      throw py::value_error("the buffer must be contiguous in C order");
    }
    expected *= info.shape[axis];
  }
  return {static_cast<const std::byte*>(info.ptr), static_cast<size_t>(info.size * info.itemsize)};
}

using EntryArgument = std::tuple<std::string, std::string, std::vector<int64_t>, py::buffer>;

void Save(const std::string& path, const std::vector<EntryArgument>& arguments, bool native_crc,
          uint64_t slice_bytes) {
  if (slice_bytes == 0) throw py::value_error("slice_bytes must be positive");
  std::vector<py::buffer_info> infos;  // keeps the exports alive while the GIL is released
  std::vector<CheckpointEntry> entries;
  infos.reserve(arguments.size());
  for (const auto& [name, dtype, dims, buffer] : arguments) {
    infos.push_back(buffer.request());
    entries.push_back({name, dtype, dims, Bytes(infos.back())});
  }
  py::gil_scoped_release release;
  SaveCheckpoint(path, entries, {native_crc, slice_bytes, PollSignals});
}

// The NumPy type that holds the elements; bfloat16 and text travel as their bits.
py::dtype StorageType(const std::string& dtype) {
  if (dtype == "str") return py::dtype("u4");
  if (dtype == "BFloat16") return py::dtype("u2");
  std::string name(dtype);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return py::dtype(name);
}

py::tuple ToPython(CheckpointTensor&& tensor) {
  py::dtype type = StorageType(tensor.dtype);
  std::vector<py::ssize_t> shape(tensor.dims.begin(), tensor.dims.end());
  if (tensor.dtype == "str") shape = {static_cast<py::ssize_t>(tensor.bytes / 4)};
  std::byte* memory = tensor.content.release();
  py::capsule owner(memory, [](void* p) { std::free(p); });
  return py::make_tuple(tensor.name, tensor.dtype, tensor.dims,
                        py::array(type, shape, memory, owner));
}

py::tuple Load(const std::string& path) {
  Checkpoint checkpoint;
  {
    py::gil_scoped_release release;
    checkpoint = LoadCheckpoint(path, {PollSignals});
  }
  py::list tensors;
  for (CheckpointTensor& tensor : checkpoint.tensors) tensors.append(ToPython(std::move(tensor)));
  return py::make_tuple(tensors, checkpoint.checked);
}

void WriteFile(const std::string& path, const py::buffer& content) {
  py::buffer_info info = content.request();
  auto bytes = Bytes(info);
  py::gil_scoped_release release;
  AtomicFile file(path);
  file.set_poll(PollSignals);
  file.Write(bytes);
  file.Commit();
}

}  // namespace

void BindIo(py::module_& m) {
  py::module_ io = m.def_submodule("io", "Files: checkpoints, atomic writes, checksums.");
  io.def("save_checkpoint", &Save, py::arg("path"), py::arg("entries"),
         py::arg("native_crc") = false, py::arg("slice_bytes") = uint64_t{512} << 20,
         "Write (name, type, shape, buffer) entries; the file is replaced as a whole or stays as "
         "it was.");
  io.def("load_checkpoint", &Load, py::arg("path"),
         "Read a checkpoint: ([(name, type, shape, array)], whether a checksum covered it).");
  io.def("write_file", &WriteFile, py::arg("path"), py::arg("content"),
         "Write a file; it is replaced as a whole or stays as it was.");
  io.def(
      "crc32c",
      [](const py::buffer& content, uint32_t crc) { return Crc32c(crc, Bytes(content.request())); },
      py::arg("content"), py::arg("crc") = 0, "CRC-32C of a buffer, continuing `crc`.");
}

}  // namespace ms::python
