#include "kernel/node_kernels.h"

#include <algorithm>

#include "kernel/prepare.h"
#include "kernel/refusal.h"

namespace ms {
namespace {

const Attrs kNoAttrs;

size_t HashOf(const Node& node) {
  size_t hash = std::hash<const void*>()(node.op);
  for (const Var& v : node.inputs) hash = HashCombine(hash, v.type().Hash());
  for (const Type& t : node.outputs) hash = HashCombine(hash, t.Hash());
  return node.attrs ? HashCombine(hash, Hash(*node.attrs)) : hash;
}

// Whether two nodes ask for the same kernel.
bool SameRequest(const Node& a, const Node& b) {
  auto same_input = [](const Var& x, const Var& y) { return x.type() == y.type(); };
  bool same_types =
      std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(), same_input) &&
      a.outputs == b.outputs;
  return a.op == b.op && same_types &&
         (a.attrs == b.attrs || (a.attrs && b.attrs && Equal(*a.attrs, *b.attrs)));
}

}  // namespace

std::shared_ptr<const Kernel> NodeKernels::Of(const Node& node) {
  size_t hash = HashOf(node);
  auto [first, last] = known_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (SameRequest(*it->second.node, node)) return it->second.kernel;
  }
  Types in;
  in.reserve(node.inputs.size());
  for (const Var& v : node.inputs) in.push_back(v.type());
  const Attrs& attrs = node.attrs ? *node.attrs : kNoAttrs;
  std::shared_ptr<const Kernel> kernel;
  try {
    kernel = PrepareKernel(backend_, {*node.op, in, node.outputs, attrs});
  } catch (const Refusal&) {
    throw;
  } catch (const Error& error) {  // a library is missing, say
    throw error.Of(node.op->name).WithSpan(node.span);
  }
  known_.emplace(hash, Known{&node, kernel});
  return kernel;
}

}  // namespace ms
