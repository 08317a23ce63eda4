// vmap of one op: from the application to one item to the application to all of them. Items lie
// along a new first axis. Most rules are derived: of scalar bodies, views, attributes that count
// axes and compositions; the functions here make the others, as `.Batch(...)` in the declarations.
// Whatever has none is applied to each item by itself, which is slow but right.
#pragma once

#include <string>

#include "ir/op.h"

namespace ms {

// The outputs of `node` for all items, each with the new axis.
Terms BatchNode(BatchContext& batch);

// `x` of all items, where it is the same for each.
Term SpreadItems(const Term& x, int64_t size);
// x, whose items have a lower rank than `rank`, with axes of size 1 behind the new one.
Term AlignItems(const Term& x, bool batched, int item_rank, int rank);

namespace batch {

// What follows from OpDef::Axes, NewAxis or PerAxis; nothing where that does not cover the case.
Terms ByAxes(BatchContext& b);
// Works on the last axes, whatever there is before: the same op.
Terms Leading(BatchContext& b);
// The first axis of inputs and outputs is a batch already: the items are joined along it. Inputs
// from `shared` on must be the same for all items. `size_attr` names a shape among the attributes.
BatchFn FirstAxis(size_t shared = 100, const char* size_attr = nullptr);
// Coordinates, in the last axis of one input, get the number of the item in front. `shape_attr`
// names the shape that they point into, where that is an attribute.
BatchFn Coordinates(size_t indices, const char* shape_attr = nullptr);
// Random numbers of an attribute's shape.
BatchFn Shaped(const char* attr);

Terms Product(BatchContext& b);
Terms Gather(BatchContext& b);
Terms GatherGrad(BatchContext& b);
Terms SegmentSum(BatchContext& b);
Terms SparseCrossEntropy(BatchContext& b);
Terms Likelihood(BatchContext& b);
Terms LikelihoodGrad(BatchContext& b);
Terms ChannelSlope(BatchContext& b);
Terms StridedSlice(BatchContext& b);
Terms Convolution(BatchContext& b);
Terms ConvolutionFilter(BatchContext& b);
Terms LayerNorm(BatchContext& b);
Terms LayerNormGrad(BatchContext& b);
Terms ChannelNorm(BatchContext& b);

}  // namespace batch
}  // namespace ms
