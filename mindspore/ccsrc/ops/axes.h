// Helpers that array and reduction ops share between declarations and kernels.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "ir/op.h"

namespace ms {

// An attribute of axes, where None reads as the empty list.
Ints AxisList(const OpDef& op, const Attrs& attrs, std::string_view name);
// `shape` without the given sorted axes, or with size 1 there.
Shape ReducedShape(const Shape& shape, const std::vector<int>& axes, bool keep_dims);
// For ops that were inferred, hence without checks: `axis` in [0, rank), and the sorted axes (none
// given: all).
inline int Wrap(int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }
std::vector<int> SortedAxes(const Ints& axes, int rank);

// The attribute 'shape', whose sizes must not be negative.
Shape CheckedShape(const InferContext& c);

// `value` must be one that an integer type holds; other types hold all.
void CheckFits(const InferContext& c, double value, DType dtype);

// Parts of DefineReduce and DefineArray that live in files of their own.
void DefineScan(OpRegistry& ops);
void DefineSlicing(OpRegistry& ops);
void DefineJoin(OpRegistry& ops);
void DefineScatter(OpRegistry& ops);

}  // namespace ms
