// Common subexpressions: of nodes with the same op, inputs and attributes, without effects, the
// first one stays. Small constants are compared by their bits, large ones by where they lie.
#include <cstring>

#include "ir/control.h"
#include "ir/rewrite.h"
#include "passes/effects.h"
#include "passes/passes.h"

namespace ms {
namespace {

constexpr size_t kSmallConstant = 256;  // bytes

size_t HashOf(const Node& node) {
  size_t hash = std::hash<const void*>()(node.op);
  if (node.kind == NodeKind::kConstant) {
    hash = HashCombine(hash, node.outputs[0].Hash());
    if (node.value.bytes() > kSmallConstant)
      return HashCombine(hash, std::hash<void*>()(node.value.raw()));
    std::string_view bytes(static_cast<const char*>(node.value.raw()), node.value.bytes());
    return HashCombine(hash, std::hash<std::string_view>()(bytes));
  }
  for (const Var& v : node.inputs) hash = HashCombine(hash, VarHash()(v));
  return node.attrs ? HashCombine(hash, Hash(*node.attrs)) : hash;
}

bool SameConstant(const Node& a, const Node& b) {
  if (!(a.outputs == b.outputs)) return false;
  if (a.value.raw() == b.value.raw()) return true;
  return a.value.bytes() <= kSmallConstant &&
         std::memcmp(a.value.raw(), b.value.raw(), a.value.bytes()) == 0;
}

bool Same(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.op != b.op) return false;
  if (a.kind == NodeKind::kConstant) return SameConstant(a, b);
  if (!(a.inputs == b.inputs)) return false;
  return a.attrs == b.attrs || (a.attrs && b.attrs && Equal(*a.attrs, *b.attrs));
}

// Open addressing: a table of nodes and their hashes.
class NodeTable {
 public:
  explicit NodeTable(size_t count) {
    size_t size = 16;
    while (size < 2 * count) size *= 2;
    slots_.resize(size);
  }
  // An equal node that was added before, or this one, added.
  Node* Unique(Node* node) {
    size_t hash = HashOf(*node);
    for (size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[i];
      if (!slot.node) {
        slot = {hash, node};
        return node;
      }
      if (slot.hash == hash && Same(*slot.node, *node)) return slot.node;
    }
  }

 private:
  struct Slot {
    size_t hash = 0;
    Node* node = nullptr;
  };
  std::vector<Slot> slots_;
};

bool MergeIn(Graph* graph, const EffectAnalysis& effects) {
  NodeTable table(graph->nodes().size());
  Rewriter rewriter(graph);
  rewriter.Walk([&](Node& node) {
    if (node.kind == NodeKind::kParameter || effects.HasEffect(node)) return;
    Node* first = table.Unique(&node);
    if (first == &node) return;
    for (uint32_t i = 0; i < node.outputs.size(); ++i) rewriter.Replace({&node, i}, {first, i});
    rewriter.Drop(node);
  });
  return rewriter.changed();
}

}  // namespace

bool MergeEqualNodes(Module& module, const GraphSet& kept) {
  EffectAnalysis effects(module);
  bool changed = false;
  for (const auto& graph : module.graphs()) {
    if (!kept.contains(graph.get())) changed |= MergeIn(graph.get(), effects);
  }
  return changed;
}

}  // namespace ms
