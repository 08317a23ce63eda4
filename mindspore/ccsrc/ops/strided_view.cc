#include "ops/strided_view.h"

#include "ops/axes.h"
#include "ops/slicing.h"

namespace ms {
namespace {

struct ViewOps {
  const OpDef* transpose = &Ops().Get("Transpose");
  const OpDef* broadcast = &Ops().Get("BroadcastTo");
  const OpDef* slice = &Ops().Get("Slice");
  const OpDef* strided_slice = &Ops().Get("StridedSlice");
};
const ViewOps& Views() {
  static const ViewOps ops;
  return ops;
}

}  // namespace

void StridedView::Transpose(const Ints& perm) {
  StridedView before = *this;
  for (size_t i = 0; i < perm.size(); ++i) {
    auto from = static_cast<size_t>(Wrap(perm[i], static_cast<int>(perm.size())));
    sizes[i] = before.sizes[from];
    strides[i] = before.strides[from];
  }
}

void StridedView::Broadcast(const Shape& shape) {
  Ints steps;
  int missing = shape.rank() - static_cast<int>(sizes.size());
  for (int i = 0; i < shape.rank(); ++i) {
    auto own = static_cast<size_t>(i - missing);
    bool repeated = i < missing || sizes[own] != shape[i];
    steps.push_back(repeated ? 0 : strides[own]);
  }
  sizes = shape.ToInts();
  strides = std::move(steps);
}

bool StridedView::Slice(const OpDef& op, const Attrs& attrs, const Shape& result) {
  StridedView sliced = *this;
  SliceSpec spec = ResolveSlice(op, attrs, Shape(sizes));
  for (size_t i = 0; i < sizes.size(); ++i) {
    sliced.offset += spec.begin[i].value() * strides[i];
    sliced.strides[i] *= spec.step[i];
    sliced.sizes[i] = spec.size[i].value();
  }
  if (!sliced.Reshape(result)) return false;
  *this = std::move(sliced);
  return true;
}

StridedView StridedView::Dense(const Shape& shape) {
  StridedView view;
  view.sizes = shape.ToInts();
  view.strides.resize(view.sizes.size());
  int64_t stride = 1;
  for (size_t i = view.sizes.size(); i-- > 0; stride *= view.sizes[i]) view.strides[i] = stride;
  return view;
}

bool StridedView::IsDense() const {
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) {
    if (sizes[i] != 1 && strides[i] != stride) return false;
  }
  return offset == 0;
}

// Axes are matched from the last one: a new axis is split from an old run, and old axes that follow
// each other in memory make one run.
bool StridedView::Reshape(const Shape& shape) {
  if (shape.empty()) return false;
  Ints runs, steps;  // old axes, merged, innermost last
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    if (!runs.empty() && steps.back() == strides[i] * sizes[i]) {
      runs.back() *= sizes[i];
      steps.back() = strides[i];
    } else {
      runs.push_back(sizes[i]);
      steps.push_back(strides[i]);
    }
  }
  Ints made(static_cast<size_t>(shape.rank()), 0);
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    if (!runs.empty() && runs.back() == 1) runs.pop_back(), steps.pop_back();
    if (runs.empty() || runs.back() % shape[i] != 0) return false;
    made[static_cast<size_t>(i)] = steps.back();
    steps.back() *= shape[i];
    runs.back() /= shape[i];
  }
  sizes = shape.ToInts();
  strides = std::move(made);
  return true;
}

bool StridedView::Apply(const Node& node) {
  const OpDef* op = node.op;
  const Shape& shape = node.outputs[0].shape();
  if (shape.symbolic() || shape.empty()) return false;
  if (op->view) return Reshape(shape);
  if (op == Views().transpose) {
    Transpose(node.attr<Ints>("perm"));
    return true;
  }
  if (op == Views().broadcast) {
    Broadcast(shape);
    return true;
  }
  if (op == Views().slice) {
    const Ints& begin = node.attr<Ints>("begin");
    for (size_t i = 0; i < sizes.size(); ++i) offset += begin[i] * strides[i];
    sizes = shape.ToInts();
    return true;
  }
  if (op == Views().strided_slice) return Slice(*op, *node.attrs, shape);
  return false;
}

}  // namespace ms
