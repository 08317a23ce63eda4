#include "python/view_steps.h"

#include <algorithm>
#include <utility>

#include "python/convert.h"
#include "python/errors.h"
#include "python/op_call.h"

namespace ms::python {
namespace py = pybind11;

namespace {

// Never destroyed: tensors may outlive static destructors.
std::vector<void*>& KeptBlocks() {
  static auto* kept = new std::vector<void*>;
  return *kept;
}

}  // namespace

void* View::operator new(size_t size) {
  if (KeptBlocks().empty()) return ::operator new(size);
  void* block = KeptBlocks().back();
  KeptBlocks().pop_back();
  return block;
}
void View::operator delete(void* block) {
  constexpr size_t kMost = 64;
  if (KeptBlocks().size() < kMost)
    KeptBlocks().push_back(block);
  else
    ::operator delete(block);
}

namespace {

const Attrs& AttrsOf(const View& step) {
  static const Attrs kNone;
  return step.attrs ? *step.attrs : kNone;
}

Put PutOf(const View& step, const Shape& base) {
  return step.op->put({*step.op, AttrsOf(step), base, step.shape, step.index});
}

// Where the elements of a view lie among those of its base; false where strides cannot say that.
bool Place(const View& step, const Shape& base, StridedView* place) {
  Put put = PutOf(step, base);
  if (!put.op) return place->Broadcast(step.shape), true;
  const OpDef& op = Ops().Get(put.op);
  if (&op == &Ops().Get("Reshape")) return place->Reshape(step.shape);
  if (put.whole) return place->Transpose(AttrOf<Ints>(*step.op, AttrsOf(step), "perm")), true;
  return place->Slice(op, *MakeAttrs(op, put.attrs), step.shape);
}

// Whether two shapes differ in axes of size 1 alone.
bool SameButOnes(const Shape& a, const Shape& b) {
  auto without_ones = [](const Shape& shape) {
    Ints codes = shape.ToCodes();
    std::erase(codes, 1);
    return codes;
  };
  return without_ones(a) == without_ones(b);  // codes: no guards, for another answer is right, too
}

// The same where sizes are not known.
Stays StaysOpenView(const View* parent, const Shape& base, const Shape& shape) {
  if (SameButOnes(parent ? parent->shape : base, shape)) return Stays::kYes;
  for (const View* step = parent; step; step = step->parent) {
    if (!step->op->view) return Stays::kUnsure;
  }
  return Stays::kYes;
}

// The op by which a value takes the way back through a step.
Put WayBack(const View& step, const Shape& base) {
  Put put = PutOf(step, base);
  if (put.op) return put;
  Throw(ErrorKind::kValue,
        "For 'Tensor', what is written to must hold each of its elements once, but got a tensor "
        "that '{}' made, of which several elements are one. Write to a copy(), or to what it was "
        "made of.",
        step.op->name);
}

}  // namespace

void Release(Cell* cell) {
  if (cell && --cell->references == 0) delete cell;
}

void Release(View* view) {
  while (view && --view->references == 0) {
    View* parent = view->parent;
    Release(view->cell);
    delete view;
    view = parent;
  }
}

std::vector<const View*> StepsOf(const View* view) {
  std::vector<const View*> steps;
  for (; view; view = view->parent) steps.push_back(view);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

py::object Apply(const View& step, PyObject* x) {
  PyObject* made = ApplyOp(*step.op, &x, 1, step.attrs);
  if (!made) throw py::error_already_set();
  auto result = py::reinterpret_steal<py::object>(made);
  return PyTuple_Check(made) ? py::object(result.cast<py::tuple>()[step.index]) : result;
}

py::object PutBack(const std::vector<const View*>& steps, const py::object& base,
                   py::object value) {
  std::vector<py::object> befores{base};
  for (size_t i = 0; i + 1 < steps.size(); ++i)
    befores.push_back(Apply(*steps[i], befores[i].ptr()));
  for (size_t i = steps.size(); i-- > 0;) {
    Put put = WayBack(*steps[i], AsTensor(befores[i].ptr())->shape());
    const OpDef& op = Ops().Get(put.op);
    PyObject* inputs[] = {befores[i].ptr(), value.ptr()};
    AttrsRef attrs = MakeAttrs(op, put.attrs);
    WriteScope scope(i == 0 ? base.ptr() : nullptr);
    value = py::reinterpret_steal<py::object>(put.whole ? ApplyOp(op, inputs + 1, 1, attrs)
                                                        : ApplyOp(op, inputs, 2, attrs));
  }
  return value;
}

// Where the elements of a view do not lie in order, NumPy makes a copy of another shape.
Stays StaysView(View* parent, const Shape& base, const Shape& shape) {
  if (shape.symbolic() || base.symbolic()) return StaysOpenView(parent, base, shape);
  if (base.empty()) return Stays::kYes;
  std::vector<View*> unplaced;  // the last steps, from the last one
  const View* placed = parent;
  for (View* step = parent; step && !step->place; step = step->parent) {
    unplaced.push_back(step);
    placed = step->parent;
  }
  StridedView place = placed ? *placed->place : StridedView::Dense(base);
  Shape before = placed ? placed->shape : base;
  for (; !unplaced.empty(); unplaced.pop_back()) {
    View& step = *unplaced.back();
    if (step.shape.symbolic() || !Place(step, before, &place)) return Stays::kNo;
    step.place = std::make_unique<StridedView>(place);
    before = step.shape;
  }
  return place.Reshape(shape) ? Stays::kYes : Stays::kNo;
}

void RequireOnce(const View* view, const Shape& base) {
  const Shape* before = &base;
  for (const View* step : StepsOf(view)) {
    WayBack(*step, *before);
    before = &step->shape;
  }
}

void RequireSure(const View* view) {
  for (; view; view = view->parent) {
    if (view->unsure)
      Throw(ErrorKind::kSymbolic,
            "For 'Tensor', whether '{}' gives a view or a copy depends on dynamic sizes, but what "
            "it shows is written to.",
            view->op->name);
  }
}

}  // namespace ms::python
