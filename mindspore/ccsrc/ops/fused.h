// The op Fused: a group of elementwise ops and reductions that runs as one kernel. Its attribute
// `body` is a straight graph; the node's inputs are the body's parameters, its outputs the body's.
// The fuse pass makes such nodes after gradients are taken; kernels are generated from what
// AnalyzeFused finds.
//
// A legal body. There is one iteration space, a shape S without empty axes, and a set R of its axes
// (perhaps none) that all reductions of the body reduce. Nodes are:
//   - input views: chains of Reshape, ExpandDims, Squeeze, Flatten, Identity, Transpose, Slice and
//     BroadcastTo on a parameter, as long as an element's place is offset + sum(stride * index);
//   - constants of one element, and Fill;
//   - elementwise: any op with a scalar body (Cast among them) that broadcasts as NumPy does;
//     BroadcastTo and Identity of computed values count here and do nothing;
//   - ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd with keep_dims=true, of a value whose
//     shape is S, over R;
//   - output views: Reshape, Squeeze, ExpandDims, Flatten of a computed value, for outputs only.
// The shape of every view of an input and of every computed value, aligned to S from the right, has
// in each axis the size of S or 1. So a reduced value (size 1 in R) may be used by elementwise ops
// together with values of S: softmax, layer norm, statistics of batch norm. Reductions of values
// that depend on other reductions over R are legal too; the *stage* of a value counts the
// reductions before it. An output has as many elements as S, or as S without R ("kept"), in
// row-major order of these. R, seen from the outermost axis and with neighbouring axes of a kind
// merged, is one of: nothing, everything, [K, R] (rows), [R, K] (columns), [R, K, R] (channels).
// Each value is rounded to its dtype, as single ops do; what an op accumulates in is its own
// affair. No constant is complex, nor any value of a body that the fuse pass makes.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace ms {

class InferContext;

// A value of a body. Every index below is that of an earlier value.
struct FusedValue {
  enum class Kind : uint8_t { kInput, kConstant, kElementwise, kReduce };
  Kind kind = Kind::kInput;
  const Node* node = nullptr;  // kElementwise, kReduce: the op; kConstant: Constant or Fill
  DType dtype = DType::kFloat32;
  std::vector<int> args;  // kElementwise: in the order of the node's inputs; kReduce: one
  int input = -1;         // kInput: which parameter
  int64_t offset = 0;     // kInput: of the first element, in elements
  Ints strides;           // kInput: in elements, for each axis of FusedBody::sizes; 0: repeated
  double number = 0;      // kConstant
  int stage = 0;          // reductions before it; a kReduce of stage s reads values of stage s - 1
  bool kept = false;      // the same along all of R: one for each index of the kept axes
  bool uniform = false;   // one value for the whole space
};

struct FusedOutput {
  int value;
  bool kept;  // one element for each index of the kept axes
};

// A legal body in the form that kernels are made from.
struct FusedBody {
  enum class Form : uint8_t { kElementwise, kFull, kRows, kColumns, kChannels };
  Form form = Form::kElementwise;
  // The iteration space: axes of size 1 are left out, and neighbours of one kind are merged where
  // all inputs allow it. A space of one element has one axis.
  Ints sizes;
  std::vector<bool> reduced;  // for each axis
  std::vector<FusedValue> values;
  std::vector<FusedOutput> outputs;
  int stages = 0;  // reductions on the longest way

  int64_t size() const;          // elements of the space
  int64_t reduced_size() const;  // elements per reduction
  int64_t kept_size() const { return size() / reduced_size(); }
};

// Fills `result`, or says why the body is not legal.
std::string AnalyzeFused(const Graph& body, FusedBody* result);

bool IsFused(const Node& node);
Graph* FusedGraph(const Node& node);  // of a Fused node
// Whether an op is one of the five reductions that bodies may have.
bool IsFusableReduction(const OpDef& op);

// Whether element i of the outputs is made of elements i of the inputs, and of single ones.
bool IsAligned(const FusedBody& body, const Types& inputs);
// Of an op with an attribute `body` that takes the op's inputs: the types of what it returns.
Types InferBody(InferContext& c);

// Whether output `out` may have the memory of parameter `in`, of the same bytes. Kernels
// read each element of an elementwise body before they write any output of it.
bool FusedMayOverwrite(const FusedBody& body, size_t out, size_t in);

}  // namespace ms
