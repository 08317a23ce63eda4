// Tensors that show elements of another one, their base: `v = a[1:3]`. Values stay immutable
// underneath. A view has a value of its own and knows by which steps it was made; a write to it
// gives the base a new value, and views of a base that has another value now make theirs anew when
// they are asked for it.
#pragma once

#include <pybind11/pybind11.h>

#include "ir/op.h"
#include "python/tensor_object.h"

namespace ms::python {

// How often was written to what a tensor shows.
uint64_t VersionOf(PyObject* tensor);
// `tensor` is output `index` of `op`, which shows elements of `base` as they were at `version`.
void Show(PyObject* base, PyObject* tensor, const OpDef& op, const AttrsRef& attrs, uint32_t index,
          uint64_t version);
// `tensor` is a row of `base`.
void ShowRow(PyObject* base, PyObject* tensor, int64_t row);
// `tensor` shows of `base` what `like`, a view, shows of its base.
void ShowLike(PyObject* base, PyObject* tensor, TensorObject* like);

// Gives a view the value that its base has now.
void RefreshView(TensorObject* tensor);
inline void Refresh(TensorObject* tensor) {
  if (tensor->view) [[unlikely]]
    RefreshView(tensor);
}
inline void Refresh(PyObject* tensor) { Refresh(AsTensor(tensor)); }
// In another graph: it is to be made anew, for a line that ran in between may have written to the
// base. The Var that it was made of is gone, and another one may lie where that lay.
void Outdate(TensorObject* tensor);

// Whether others, perhaps, hold what a tensor shows.
bool IsView(const TensorObject* tensor);
// The tensor of which this one shows elements; null: none.
TensorObject* Shown(const TensorObject* tensor);
// The tensor that a write to this one changes; null: itself alone.
pybind11::object BaseOf(PyObject* tensor);
// The value of the base where a view has another value; null where it is a view no more, for other
// threads may have run.
pybind11::object BaseWith(const pybind11::object& base, PyObject* view,
                          const pybind11::object& value);
bool HasViews(const TensorObject* base);
// The tensors that show elements of this one.
pybind11::list ViewsOf(PyObject* base);

// The value of a tensor was written to: its views are to follow.
void Written(TensorObject* tensor);
// It is to have a value that has nothing to do with the one it had: its views, and what it showed,
// keep theirs.
void Part(TensorObject* tensor);

void BindViews(pybind11::module_& m);

}  // namespace ms::python
