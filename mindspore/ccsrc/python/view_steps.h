// The steps by which a view is made of its base: what they show, and how a value takes the way
// back.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <vector>

#include "ir/op.h"
#include "ops/strided_view.h"
#include "python/tensor_object.h"

namespace ms::python {

// What a base and its views share. The GIL guards all of this.
struct Cell {
  TensorObject* base = nullptr;  // null: it is gone
  bool kept = false;             // nobody but this cell holds the base
  View* first = nullptr;         // of the views that are alive
  uint64_t version = 0;          // counts writes to the base
  int references = 1;
  DType dtype = DType::kFloat32;  // of the base that is gone
  Shape shape;
};

// A step from a base, or from another view, to a view. Some blocks are kept, since eager code makes
// and drops views all the time.
struct View {
  static void* operator new(size_t size);
  static void operator delete(void* block);

  Cell* cell = nullptr;
  View* parent = nullptr;  // null: a step from the base
  const OpDef* op = nullptr;
  AttrsRef attrs;
  uint32_t index = 0;
  Shape shape;                     // what it leads to
  TensorObject* tensor = nullptr;  // null: gone, but views of it are left
  View* previous = nullptr;
  View* next = nullptr;
  std::unique_ptr<StridedView> place{};  // of its elements among the base's, once asked for
  bool unsure = false;  // whether the step makes a copy, sizes decide that are not known
  uint64_t seen = 0;    // version of the base that the value was made of; in a graph, its Var
  Var seen_var{};
  int references = 1;
};

// One reference less; null is nothing.
void Release(Cell* cell);
void Release(View* view);

// A view and its steps stay for as long as this lives. Where code lets other threads run, one of
// them may give the tensor of the view a value of its own, and then nobody else holds the steps.
class HeldView {
 public:
  explicit HeldView(View* view) : view_(view) {
    if (view_) ++view_->references;
  }
  ~HeldView() { Release(view_); }
  HeldView(const HeldView&) = delete;

 private:
  View* view_;
};

// The same for what a base and its views share.
class HeldCell {
 public:
  explicit HeldCell(Cell* cell) : cell_(cell) { ++cell_->references; }
  ~HeldCell() { Release(cell_); }
  HeldCell(const HeldCell&) = delete;

 private:
  Cell* cell_;
};

// The steps from the base to a view.
std::vector<const View*> StepsOf(const View* view);

// What a step makes of a value.
pybind11::object Apply(const View& step, PyObject* x);

// A value takes the way back to the base through the steps that made a view.
pybind11::object PutBack(const std::vector<const View*>& steps, const pybind11::object& base,
                         pybind11::object value);

// Whether a new shape of a view is a view, too: sizes that are not known may decide it.
enum class Stays { kNo, kYes, kUnsure };
Stays StaysView(View* parent, const Shape& base, const Shape& shape);

// What is written to must hold each element of the base once.
void RequireOnce(const View* view, const Shape& base);

// What is written through steps of which one may be a copy waits for the sizes.
void RequireSure(const View* view);

}  // namespace ms::python
