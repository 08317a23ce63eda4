#include "python/views.h"
#include "python/slices.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "base/late_errors.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/op_call.h"
#include "python/trace.h"
#include "python/view_steps.h"
#include "tensor/exposure.h"

namespace ms::python {
namespace py = pybind11;

namespace {

PyObject* ObjectOf(TensorObject* tensor) { return reinterpret_cast<PyObject*>(tensor); }
py::object Borrowed(TensorObject* tensor) {
  return py::reinterpret_borrow<py::object>(ObjectOf(tensor));
}

void Enlist(View* view) {
  view->next = view->cell->first;
  if (view->next) view->next->previous = view;
  view->cell->first = view;
}

// The tensor of a view is one no more.
void Unlist(TensorObject* tensor) {
  View* view = std::exchange(tensor->view, nullptr);
  Cell* cell = view->cell;
  (view->previous ? view->previous->next : cell->first) = view->next;
  if (view->next) view->next->previous = view->previous;
  view->tensor = nullptr;
  ++cell->references;
  Release(view);
  if (!cell->first && cell->kept) {
    cell->kept = false;
    Py_DECREF(ObjectOf(cell->base));
  }
  Release(cell);
}

// Another one when the base has been written to, or what a device computed may be wrong.
uint64_t VersionOf(const Cell& cell) { return cell.version + LateErrors(); }

// What a tensor shares with others; null where it shares nothing.
Cell* SharedBy(const TensorObject* tensor) {
  return ViewOf(tensor) ? ViewOf(tensor)->cell : tensor->cell;
}

Cell* CellOf(TensorObject* base) {
  if (!SharedBy(base)) {
    base->cell = new Cell;
    base->cell->base = base;
  }
  return SharedBy(base);
}

// One more step, from `parent` or from the base of the cell.
View* AddStep(Cell* cell, View* parent, const OpDef& op, const AttrsRef& attrs, uint32_t index,
              const Shape& shape, uint64_t version) {
  ++cell->references;
  if (parent) ++parent->references;
  return new View{.cell = cell,
                  .parent = parent,
                  .op = &op,
                  .attrs = attrs,
                  .index = index,
                  .shape = shape,
                  .seen = version};
}

void LeadTo(View* view, TensorObject* tensor) {
  view->tensor = tensor;
  tensor->view = view;
  Enlist(view);
}

// A tensor of its own of the same value.
py::object Twin(const TensorObject* tensor) {
  constexpr uint64_t kOfTwin = uint64_t{1} << 62;
  PyObject* twin = NewTensor(tensor->value);
  AsTensor(twin)->var = tensor->var;
  AsTensor(twin)->owner = tensor->owner;
  if (tensor->symbolic()) Trace::Made(AsTensor(twin), Trace::WhenMade(tensor) | kOfTwin);
  return py::reinterpret_steal<py::object>(twin);
}

// A base that nobody but its views needs.
void Keep(Cell* cell, py::object base) {
  cell->base = AsTensor(base.release().ptr());
  cell->base->cell = cell;
  cell->kept = true;
  ++cell->references;
}

Shape BaseShape(const Cell& cell) { return cell.base ? cell.base->shape() : cell.shape; }

bool IsGraphValue(const TensorObject* base) {
  return base->symbolic() ||
         (Trace::Current() && IsParameter(ObjectOf(const_cast<TensorObject*>(base))));
}

Var VarNow(Trace& trace, TensorObject* base) {
  return base->symbolic() ? base->var : trace.Lift(ObjectOf(base));
}

// Whether the program that runs can use a view: what a graph that is made shows is nothing to code
// that runs, nor to another graph.
bool IsAlive(const View* view) {
  const TensorObject* tensor = view->tensor;
  Trace* trace = Trace::Current();
  return !tensor->symbolic() || (trace && tensor->owner == trace->id());
}

size_t CountAlive(const Cell& cell) {
  size_t count = 0;
  for (View* view = cell.first; view; view = view->next) count += IsAlive(view);
  return count;
}

// Whether a view has the value that its base has now.
bool IsFresh(TensorObject* tensor) {
  const View& view = *ViewOf(tensor);
  TensorObject* base = view.cell->base;
  Trace* trace = Trace::Current();
  if (tensor->symbolic()) {
    if (!trace || !(base->symbolic() || IsParameter(ObjectOf(base)))) return true;
    return tensor->owner == trace->id() && view.seen_var == VarNow(*trace, base) &&
           trace->Sees(tensor->var);
  }
  if (IsGraphValue(base)) return true;
  if (view.seen != VersionOf(*view.cell)) return false;
  bool shares = tensor->value.buffer().get() == base->value.buffer().get();
  if (base->value.exposed() && !shares) return false;
  Tape* tape = CurrentTape();
  return !tape || tensor->owner == tape->id() || !TapeVar(ObjectOf(base), *tape);
}

// Throws what the device of the views has found wrong. Other threads may run.
void AwaitViews(const Cell& cell) {
  for (View* view = cell.first; view; view = view->next) {
    const Tensor& value = view->tensor->value;
    if (value.defined() && !value.on_host())
      return GetBackend(value.memory().device()).stream().Synchronize();
  }
}

// A base in place of one that is gone, made of what its views show: on a device only while nothing
// is wrong, or their values would be lost.
void RestoreBase(Cell* cell) {
  HeldCell held(cell);
  AwaitViews(*cell);
  if (cell->base) return;
  auto base =
      py::reinterpret_steal<py::object>(NewTensor(Tensor::Full(cell->dtype, cell->shape, 0)));
  std::vector<py::object> views;
  for (View* view = cell->first; view; view = view->next) {
    if (IsAlive(view)) views.push_back(Borrowed(view->tensor));
  }
  for (const py::object& view : views) {
    if (py::object next = BaseWith(base, view.ptr(), view)) base = next;
  }
  if (cell->base) return;
  const TensorObject* made = AsTensor(base.ptr());
  Keep(cell, SharedBy(made) ? Twin(made) : base);  // of new shapes alone it may be a view itself
  ++cell->version;
}

}  // namespace

uint64_t VersionOf(PyObject* object) {
  const Cell* cell = SharedBy(AsTensor(object));
  return cell ? VersionOf(*cell) : LateErrors();
}

void Show(PyObject* base_object, PyObject* object, const OpDef& op, const AttrsRef& attrs,
          uint32_t index, uint64_t version) {
  TensorObject* base = AsTensor(base_object);
  TensorObject* tensor = AsTensor(object);
  if (tensor == base || SharedBy(tensor) || tensor->dtype() != base->dtype()) return;
  Cell* cell = CellOf(base);
  Stays stays = Stays::kYes;
  if (op.view && ViewOf(base)) stays = StaysView(ViewOf(base), BaseShape(*cell), tensor->shape());
  if (stays == Stays::kNo) {
    tensor->value = Snapshot(tensor->value);
    return;
  }
  View* view = AddStep(cell, ViewOf(base), op, attrs, index, tensor->shape(), version);
  view->unsure = stays == Stays::kUnsure;
  // The base of a view may have another value already, of which this one was made then.
  if (ViewOf(base))
    view->seen_var = ViewOf(base)->seen_var;
  else if (base->symbolic())
    view->seen_var = base->var;
  else if (IsGraphValue(base))
    view->seen_var = Trace::Current()->Lift(base_object);
  LeadTo(view, tensor);
}

void ShowRow(PyObject* base, PyObject* tensor, int64_t row) {
  static const OpDef& slice = Ops().Get("StridedSlice");
  auto make = [](int64_t at) {
    return MakeAttrs(slice, {{"begin", Ints{at}},
                             {"end", Ints{0}},
                             {"strides", Ints{1}},
                             {"shrink_axis_mask", int64_t{1}}});
  };
  constexpr int64_t kKept = 256;  // the first ones, which nearly all are
  static std::array<AttrsRef, kKept> kept;
  AttrsRef other;
  AttrsRef& attrs = row >= 0 && row < kKept ? kept[static_cast<size_t>(row)] : other;
  if (!attrs) attrs = make(row);
  Show(base, tensor, slice, attrs, 0, VersionOf(base));
}

void ShowLike(PyObject* base_object, PyObject* object, TensorObject* like) {
  TensorObject* base = AsTensor(base_object);
  TensorObject* tensor = AsTensor(object);
  Refresh(base);  // other threads may run
  if (!ViewOf(like) || tensor == base || SharedBy(tensor)) return;
  Cell* cell = CellOf(base);
  View* view = ViewOf(base);
  if (view) ++view->references;
  for (const View* step : StepsOf(ViewOf(like))) {
    Stays stays = Stays::kYes;
    if (step->op->view && view) stays = StaysView(view, BaseShape(*cell), step->shape);
    if (stays != Stays::kYes || step->shape.symbolic() || (step->attrs && HasSymbols(*step->attrs)))
      return Release(view);
    View* next =
        AddStep(cell, view, *step->op, step->attrs, step->index, step->shape, VersionOf(*cell));
    Release(view);  // the next step holds it
    view = next;
  }
  LeadTo(view, tensor);
}

void RefreshView(TensorObject* tensor) {
  if (tensor->view == SliceMark()) {
    if (!Trace::Current()) RefuseSlice(tensor);
    return;
  }
  View* view = ViewOf(tensor);
  TensorObject* base = view->cell->base;
  if (!base || IsFresh(tensor)) return;
  py::object keep = Borrowed(tensor);
  HeldView held(view);
  py::object value = Borrowed(base);
  Trace* trace = Trace::Current();
  if (tensor->symbolic()) {
    Var now = VarNow(*trace, base);
    if (!trace->Sees(now)) return;
    RequireSure(view);
    Var v = now;
    for (const View* step : StepsOf(view))
      v = trace->emitter().Emit(*step->op, {v}, step->attrs)[step->index];
    uint64_t when = Trace::Gone(tensor);
    tensor->var = v;
    tensor->owner = trace->id();
    Trace::Made(tensor, when);
    view->seen_var = now;
    return;
  }
  uint64_t version = VersionOf(*view->cell);
  for (const View* step : StepsOf(view)) value = Apply(*step, value.ptr());
  if (ViewOf(tensor) != view) return;  // another thread gave it a value of its own
  TensorObject* made = AsTensor(value.ptr());
  tensor->value = made->value;
  tensor->var = made->var;
  tensor->owner = made->owner;
  view->seen = version;
}

void Outdate(TensorObject* tensor) {
  if (ViewOf(tensor)) ViewOf(tensor)->seen_var = {};
}

TensorObject* Shown(const TensorObject* tensor) {
  return ViewOf(tensor) ? ViewOf(tensor)->cell->base : nullptr;
}

bool IsView(const TensorObject* tensor) {
  return ViewOf(tensor) && (ViewOf(tensor)->cell->base || CountAlive(*ViewOf(tensor)->cell) > 1);
}

py::object BaseOf(PyObject* object) {
  TensorObject* tensor = AsTensor(object);
  if (!ViewOf(tensor)) return {};
  RequireSure(ViewOf(tensor));
  Cell* cell = ViewOf(tensor)->cell;
  if (!cell->base || (cell->kept && cell->base->symbolic())) {
    if (CountAlive(*cell) <= 1) {  // what it showed is gone, and nobody else shows it
      Refresh(tensor);             // other threads may run
      if (!ViewOf(tensor)) return {};
      RequireOnce(ViewOf(tensor), BaseShape(*cell));
      Unlist(tensor);
      return {};
    }
    if (!cell->base) RestoreBase(cell);
    if (!ViewOf(tensor)) return {};
  }
  return Borrowed(cell->base);
}

py::object BaseWith(const py::object& base, PyObject* object, const py::object& value) {
  auto view = py::reinterpret_borrow<py::object>(object);
  View* steps = ViewOf(AsTensor(object));
  if (!steps) return {};
  HeldView held(steps);
  return PutBack(StepsOf(steps), base, value);
}

bool HasViews(const TensorObject* base) { return base->cell && CountAlive(*base->cell) > 0; }

py::list ViewsOf(PyObject* base) {
  py::list views;
  if (Cell* cell = AsTensor(base)->cell) {
    for (View* view = cell->first; view; view = view->next) {
      if (IsAlive(view)) views.append(Borrowed(view->tensor));
    }
  }
  return views;
}

void Written(TensorObject* tensor) {
  if (tensor->cell) ++tensor->cell->version;
}

void Part(TensorObject* tensor) {
  if (tensor->view == SliceMark()) ForgetSlice(tensor);
  if (ViewOf(tensor)) Unlist(tensor);
  Cell* cell = std::exchange(tensor->cell, nullptr);
  if (!cell) return;
  bool fresh = true;
  for (View* view = cell->first; view; view = view->next)
    fresh &= !IsAlive(view) || IsFresh(view->tensor);
  cell->base = nullptr;
  cell->dtype = tensor->dtype();
  cell->shape = tensor->shape();
  // Arrays that share the memory are to see what is written to views. In a graph the value is there
  // for good, and one made anew in a branch would be lost after it.
  bool shared = tensor->shared && tensor->value.exposed();
  if (!fresh || ((shared || tensor->symbolic()) && CountAlive(*cell) > 0)) {
    Keep(cell, Twin(tensor));
    cell->base->shared = shared;
  }
  Release(cell);
}

namespace {

// What is left of a base where a part is written through a view has the gradient that it had,
// though the view was made by StopGradient.
py::object Unstopped(PyObject* object) {
  static const OpDef* stop = Ops().Find("StopGradient");
  View* view = ViewOf(AsTensor(object));
  bool stopped = false;
  for (const View* step = view; step; step = step->parent) stopped |= step->op == stop;
  py::object value = stopped ? BaseOf(object) : py::object();
  if (!value) return Borrowed(AsTensor(object));
  HeldView held(view);
  for (const View* step : StepsOf(view)) {
    if (step->op != stop) value = Apply(*step, value.ptr());
  }
  return value;
}

}  // namespace

void BindViews(py::module_& m) {
  m.def(
      "shows",
      [](py::handle tensor) -> py::object {
        TensorObject* base = Shown(AsTensor(tensor.ptr()));
        return base ? Borrowed(base) : py::none();
      },
      "The tensor of which this one shows elements; None where there is none.");
  m.def(
      "sharing_id",
      [](py::handle tensor) {
        TensorObject* t = AsTensor(tensor.ptr());
        const Cell* cell = SharedBy(t);
        return cell && (cell->base || cell->first) ? reinterpret_cast<uintptr_t>(cell)
                                                   : reinterpret_cast<uintptr_t>(t);
      },
      "A number that is the same for tensors that may show the same elements.");
  m.def(
      "sharing",
      [](py::handle tensor) {
        TensorObject* t = AsTensor(tensor.ptr());
        const Cell* cell = SharedBy(t);
        py::list all;
        if (!cell || !cell->base) all.append(tensor);
        if (cell && cell->base) all.append(Borrowed(cell->base));
        for (View* view = cell ? cell->first : nullptr; view; view = view->next) {
          if (IsAlive(view) && (view->tensor != t || cell->base))
            all.append(Borrowed(view->tensor));
        }
        return all;
      },
      "A tensor, and those that may show the same elements.");
  m.def(
      "views_of", [](py::handle base) { return ViewsOf(base.ptr()); },
      "The tensors that show elements of this one.");
  m.def(
      "show_like",
      [](py::handle base, py::handle tensor, py::handle like) {
        ShowLike(base.ptr(), tensor.ptr(), AsTensor(like.ptr()));
      },
      "Lets a tensor show of a base what another one shows of its base.");
  m.def(
      "unstopped", [](py::handle tensor) { return Unstopped(tensor.ptr()); },
      "The same elements of the same base, where a gradient flows on the way.");
}

}  // namespace ms::python
