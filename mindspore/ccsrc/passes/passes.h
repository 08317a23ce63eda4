// The passes: pure functions on a module that say whether they changed it. pipeline.cc puts them in
// order.
#pragma once

#include <functional>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"
#include "kernel/layout.h"

namespace ms {

using GraphSet = std::unordered_set<const Graph*>;

// Values of a node whose inputs are constants; empty when it cannot or should not be evaluated.
using Evaluator = std::function<std::vector<Tensor>(const Node&)>;

// f(x) and Vjp(f)(x) are one forward run: the call of f becomes the first outputs of the call of
// Vjp(f).
bool MergeCalls(Module& module);
// Vjp of a known function becomes its ▶ closure, Jvp its ▷ function; innermost ones first, one
// round per call. Throws for one that can never be expanded.
bool ExpandGradients(Module& module);
// Vmap of a known function becomes the function of a batch; innermost ones first. Vjp and Jvp
// inside of it may still be there: the gradient of a batch is the batch of the gradients.
bool ExpandBatches(Module& module);
// Vmap of a function that is not known, or cannot be batched, becomes one call for each item.
bool UnrollBatches(Module& module);
// CustomGrad(f, back) becomes f, once no gradient is left to take.
bool DropCustomGradients(Module& module);
// Replaces calls of known, not recursive functions by the body. At most `limit` nodes are added,
// but for small bodies and those called once.
bool Inline(Module& module, size_t limit);
// Rules of algebra, shapes, control flow and boxes, until nothing changes.
// In the graphs of `kept`, the rules of control flow and boxes only; with `fast`, also rules that
// may change the last bits of a result.
bool Simplify(Module& module, const GraphSet& kept = {}, bool fast = true);
// Graphs that a gradient or another transform is still to be made of, and those that they use.
GraphSet GraphsToTransform(const Module& module);
// Equal nodes without effects become one.
bool MergeEqualNodes(Module& module, const GraphSet& kept = {});
// What is the same in every round of a loop is computed in front of it.
bool HoistInvariants(Module& module);
// Evaluates nodes of constants, where the result is not larger than what it replaces.
bool FoldConstants(Module& module, const Evaluator& evaluate);
// Products, softmax and products in a row become Attention; before gradients are made of them.
bool MatchAttention(Module& module);
// Branches that only update parameters or leave them become choices between values.
bool SelectUpdates(Module& module);
// Updates that only concern the rows that a Gather has read take the gradients of these rows.
bool UpdateRows(Module& module);
// Sums over processes begin when what they add up is there, and are waited for where the first one
// is needed, many of them together.
bool StartSums(Module& module);
// Of sums of which each process gets its rows: they are made where what they add up is made.
bool ScatterEarly(Module& module);
// Updates that only make new values of Parameters run when what they need is there, many of them as
// one op.
bool GroupUpdates(Module& module);
// Convolutions that the device wants so work on images with the channels last, and so does what is
// between them.
bool PlaceChannelsLast(Module& module, const Layouts& layouts);
// In inference: convolutions take the normalisation, addition and activation that follow, and read
// weights that are packed as the device wants them.
bool PrepareConvolutions(Module& module, const Layouts& layouts,
                         const std::vector<uint32_t>& steady_inputs);
// Products of matrices take the bias and activation that follow; in inference those with few rows
// read matrices that are packed as the device wants them.
bool JoinMatMulBias(Module& module, const Layouts& layouts,
                    const std::vector<uint32_t>& steady_inputs);
// Takes what depends on steady inputs alone out of main: the result computes it, with main's old
// inputs, and main has its results as further inputs. Null where there is nothing worth it.
std::shared_ptr<Module> SplitSteadyPart(Module& module, const std::vector<uint32_t>& steady_inputs);
// A normalisation over pixels takes the ReLU that follows, or the addition and ReLU.
bool JoinNormRelu(Module& module);
// Values that may fail to be computed become effects (op Require), if nobody reads them, or if they
// are part of what is differentiated.
bool RequireRefusals(Module& module);
// Drops the effects of values that are read after all, or cannot fail any more.
bool DropMetRequirements(Module& module);
// Drops nodes, captures, parameters, results and graphs that no output or effect of main needs.
bool RemoveDeadCode(Module& module);

}  // namespace ms
