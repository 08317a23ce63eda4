#include "ops/put.h"

#include "ops/axes.h"

namespace ms::put {
namespace {

// `base[slice] = value`, from and to positions along each axis. Bit i of `shrink`: the view has no
// axis i.
Put Assign(const Dims& begin, const Dims& end, int64_t shrink = 0) {
  Ints begins, ends;
  for (const Dim& d : begin) begins.push_back(d.code());
  for (const Dim& d : end) ends.push_back(d.code());
  return {"StridedSliceAssign",
          {{"begin", begins},
           {"end", ends},
           {"strides", Ints(begins.size(), 1)},
           {"shrink_axis_mask", shrink}}};
}

}  // namespace

Put Reshaped(const ViewStep& step) { return {"Reshape", {{"shape", step.base.ToCodes()}}, true}; }

Put Transposed(const ViewStep& step) {
  const Ints& perm = step.attr<Ints>("perm");
  Ints back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    back[static_cast<size_t>(Wrap(perm[i], step.base.rank()))] = static_cast<int64_t>(i);
  return {"Transpose", {{"perm", back}}, true};
}

Put Repeated(const ViewStep& step) {
  if (SameSizes(step.base, step.view.Part(step.view.rank() - step.base.rank(), step.view.rank())) &&
      step.base.elements().Same(step.view.elements()))
    return Reshaped(step);
  return {};
}

Put Box(const ViewStep& step) {
  Dims begin = DimsFromCodes(step.attr<Ints>("begin")), end;
  for (int i = 0; i < step.base.rank(); ++i)
    end.push_back(begin[static_cast<size_t>(i)] + step.view.dim(i));
  return Assign(begin, end);
}

Put Strided(const ViewStep& step) {
  NamedAttrs attrs;
  for (size_t i = 0; i < step.op.attributes.size(); ++i)
    attrs.emplace_back(step.op.attributes[i].name, step.attrs[i]);
  return {"StridedSliceAssign", std::move(attrs)};
}

Put Pieces(const ViewStep& step) {
  int rank = step.base.rank();
  bool unstacked = step.view.rank() < rank;
  const char* name = step.op.AttrIndex("axis") < 0 ? "split_dim" : "axis";
  int axis = Wrap(step.attr<int64_t>(name), rank);
  Dim first = 0;
  Dim size = unstacked ? Dim(1) : step.view.dim(axis);
  if (step.op.AttrIndex("size_splits") < 0) {
    first = size * static_cast<int64_t>(step.index);
  } else {
    Dims sizes = DimsFromCodes(step.attr<Ints>("size_splits"));
    Dim behind = size;
    bool open = false;  // a size of -1 lies before, so positions are counted from the end
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (i < step.index) first += sizes[i], open |= sizes[i].Is(-1);
      if (i > step.index) behind += sizes[i];
    }
    if (open) first = step.base.dim(axis) - behind;
  }
  Dims begin(static_cast<size_t>(rank), 0), end = step.base.dims();
  begin[static_cast<size_t>(axis)] = first;
  end[static_cast<size_t>(axis)] = first + size;
  return Assign(begin, end, unstacked ? int64_t{1} << axis : 0);
}

}  // namespace ms::put
