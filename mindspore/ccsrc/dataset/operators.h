// Nodes that change the rows of one or more other nodes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "dataset/node.h"

namespace ms::dataset {

// Puts a step on every row. `parallel`: it runs outside of the interpreter.
NodeRef MakeMap(NodeRef child, std::shared_ptr<const Step> step, bool parallel);
// Columns by number, in another order.
NodeRef MakeProject(NodeRef child, std::vector<size_t> columns);
NodeRef MakeFilter(NodeRef child, std::shared_ptr<const Step> predicate);
// A full permutation where the child can mix its rows and the buffer would hold all of them; else
// rows at random from a buffer that is refilled in order.
NodeRef MakeShuffle(NodeRef child, int64_t buffer_size);
// Several epochs of the child as one; none: without end.
NodeRef MakeRepeat(NodeRef child, std::optional<int64_t> count);
// Rows `start` to `stop` of every epoch. `fixed`: every epoch is the child's first, and drawn alike
// by all who have set no seed, so that the parts of a split do not overlap.
NodeRef MakeWindow(NodeRef child, int64_t start, std::optional<int64_t> stop, bool fixed);
// Every `step`-th row, from row `first` on.
NodeRef MakeStride(NodeRef child, int64_t first, int64_t step);
NodeRef MakeZip(std::vector<NodeRef> children);
NodeRef MakeConcat(std::vector<NodeRef> children);
// The rows of what the function makes of every row.
NodeRef MakeFlatMap(NodeRef child, std::function<NodeRef(const Row&)> function);

}  // namespace ms::dataset
