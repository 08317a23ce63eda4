#include "python/slices.h"

#include <cstring>
#include <numeric>
#include <unordered_map>

#include "driver/compile.h"
#include "kernel/collectives.h"
#include "passes/parallel/pieces.h"
#include "python/views.h"

namespace ms::python {
namespace {

// Guarded by the GIL.
std::unordered_map<const TensorObject*, Slice>& Slices() {
  static auto* slices = new std::unordered_map<const TensorObject*, Slice>;
  return *slices;
}

std::string NameOf(const TensorObject* tensor) {
  auto* object = reinterpret_cast<PyObject*>(const_cast<TensorObject*>(tensor));
  if (!pybind11::hasattr(object, "name")) return "a tensor";
  return pybind11::str(pybind11::getattr(object, "name")).cast<std::string>();
}

}  // namespace

View* SliceMark() {
  static char mark;
  return reinterpret_cast<View*>(&mark);  // never looked into
}

Slice* SliceOf(const TensorObject* tensor) {
  if (tensor->view != SliceMark()) return nullptr;
  auto it = Slices().find(tensor);
  return it == Slices().end() ? nullptr : &it->second;
}

void SliceTensor(TensorObject* tensor, const parallel::Mesh& mesh, const parallel::Layout& layout,
                 int64_t rank, int64_t stage) {
  Refresh(tensor);
  Type whole(tensor->dtype(), tensor->shape());
  Slice slice{{}, whole, mesh, layout, rank, stage};
  slice.piece = slice.Holds(rank) ? parallel::Cutout(tensor->value, slice.box())
                                  : Tensor(whole.dtype(), Shape{int64_t{0}});
  if (tensor->view || tensor->cell) Part(tensor);
  DropCopy(tensor);
  tensor->shared = false;
  tensor->value = Tensor::Typed(whole.dtype(), whole.shape());
  tensor->view = SliceMark();
  Slices()[tensor] = std::move(slice);
}

void ForgetSlice(TensorObject* tensor) {
  tensor->view = nullptr;
  Slices().erase(tensor);
}

void RefuseSlice(const TensorObject* tensor) {
  const Slice* slice = SliceOf(tensor);
  Throw(ErrorKind::kRuntime,
        "For 'parallel_mode', the value of '{}' must be whole where it is read, but it lies in "
        "slices over {} processes{}{}.",
        NameOf(tensor), slice ? slice->mesh.devices() : 0,
        slice ? ", as " + slice->layout.ToString(slice->mesh) : "",
        slice && slice->stage >= 0 ? fmt::format(" of stage {}", slice->stage) : "");
}

Tensor GatherSlice(Slice slice) {
  parallel::ProcessGroup all = parallel::GroupOfAll(slice.mesh);
  auto item = static_cast<int64_t>(ItemSize(slice.whole.dtype()));
  std::vector<int64_t> bytes;
  std::vector<parallel::Box> boxes;
  for (int rank : all.ranks) {
    boxes.push_back(slice.layout.BoxOf(slice.whole.shape(), slice.mesh, rank));
    int64_t size = slice.Holds(rank) ? item : 0;
    for (const parallel::Extent& extent : boxes.back()) size *= extent.size;
    bytes.push_back(size);
  }
  int64_t total = std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
  Tensor row(DType::kInt8, Shape{total}), whole(slice.whole.dtype(), slice.whole.shape());
  std::string what = fmt::format("gather of slices of {}", slice.whole);
  {
    pybind11::gil_scoped_release release;  // making a group waits for others, too
    EnsureGroup(all, slice.mesh);
    auto group = FindGroup(all.name);
    Exchange call{what};
    Announced announced(*group, call);
    group->AllGather(call, slice.piece.raw(), row.raw(), bytes);
  }
  int64_t at = 0;
  for (size_t i = 0; i < boxes.size(); at += bytes[i++]) {
    Ints sizes;
    for (const parallel::Extent& extent : boxes[i]) sizes.push_back(extent.size);
    Tensor piece(whole.dtype(), Shape(sizes));
    if (bytes[i] == 0) continue;
    std::memcpy(piece.raw(), row.data<char>() + at, static_cast<size_t>(bytes[i]));
    parallel::Insert(piece, boxes[i], &whole);
  }
  return whole;
}

}  // namespace ms::python
