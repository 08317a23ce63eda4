// Parameters that lie in slices: each process has a piece of the value, and what Python sees of the
// Parameter is the type of the whole. Who asks for the value is told that it is not here.
#pragma once

#include <map>
#include <string>

#include "passes/parallel/lower.h"
#include "python/tensor_object.h"

namespace ms::python {

class Trace;

struct Slice {
  Tensor piece;
  Type whole;
  parallel::Mesh mesh;
  parallel::Layout layout;
  int64_t rank = 0;
  // The stage of a pipeline that has it, along the first axis of the mesh; in other processes the
  // piece has no elements.
  int64_t stage = parallel::kAllStages;

  bool Holds(int64_t other) const { return stage < 0 || mesh.Coordinate(other, 0) == stage; }
  parallel::Box box() const { return layout.BoxOf(whole.shape(), mesh, rank); }
};

// What stands in place of a view (TensorObject::view) where a tensor lies in slices, so that who
// asks whether a view is up to date gets here.
View* SliceMark();
inline View* ViewOf(const TensorObject* tensor) {
  return tensor->view == SliceMark() ? nullptr : tensor->view;
}

// Null where the tensor is whole.
Slice* SliceOf(const TensorObject* tensor);
// Keeps the piece of this process alone.
void SliceTensor(TensorObject* tensor, const parallel::Mesh& mesh, const parallel::Layout& layout,
                 int64_t rank, int64_t stage = parallel::kAllStages);
// The tensor has a value of its own again, which the caller gives it.
void ForgetSlice(TensorObject* tensor);
[[noreturn]] void RefuseSlice(const TensorObject* tensor);

// The whole value, of the pieces of all processes, which call this together. A copy of the slice:
// other threads run meanwhile.
Tensor GatherSlice(Slice slice);

// Reads "stages", "stage" of this process, "marks" of Parameters by name and "schedule".
void ReadPipeline(const pybind11::dict& given, parallel::ParallelOptions* options,
                  std::map<std::string, int64_t>* marks);

// What set_parallel was told, for a graph that is being compiled; null: nothing.
std::shared_ptr<const parallel::ParallelOptions> ParallelOptionsFor(Trace& trace);

}  // namespace ms::python
