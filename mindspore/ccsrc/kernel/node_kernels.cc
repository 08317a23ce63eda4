#include "kernel/node_kernels.h"

#include <algorithm>

#include "kernel/prepare.h"

namespace ms {
namespace {

const Attrs kNoAttrs;

// Whether two nodes of one op ask for the same kernel.
bool SameRequest(const Node& a, const Node& b) {
  auto same_input = [](const Var& x, const Var& y) { return x.type() == y.type(); };
  bool same_types =
      std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(), same_input) &&
      a.outputs == b.outputs;
  return same_types && (a.attrs == b.attrs || (a.attrs && b.attrs && Equal(*a.attrs, *b.attrs)));
}

}  // namespace

std::shared_ptr<const Kernel> NodeKernels::Of(const Node& node) {
  Recent& recent = recent_[node.op];
  for (const Known& known : recent.known) {
    if (known.node && SameRequest(*known.node, node)) return known.kernel;
  }
  Types in;
  in.reserve(node.inputs.size());
  for (const Var& v : node.inputs) in.push_back(v.type());
  const Attrs& attrs = node.attrs ? *node.attrs : kNoAttrs;
  auto kernel = PrepareKernel(backend_, {*node.op, in, node.outputs, attrs});
  recent.known[recent.next] = {&node, kernel};
  recent.next = (recent.next + 1) % recent.known.size();
  return kernel;
}

}  // namespace ms
