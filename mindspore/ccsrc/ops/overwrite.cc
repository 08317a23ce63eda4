#include "ops/overwrite.h"

#include <algorithm>

#include "ir/uses.h"
#include "ops/joint_sums.h"
#include "ops/update_group.h"

namespace ms {

bool Overwriting::May(const Node& node, size_t out, size_t in) {
  const Type& from = node.inputs[in].type();
  const Type& to = node.outputs[out];
  if (!from.is_tensor() || from.dtype() != to.dtype() || from.bytes() != to.bytes()) return false;
  const OpDef& op = *node.op;
  if (IsAwaitSums(node)) return out == in;
  if (op.scalar) return out == 0;  // element by element: each is read before it is written
  if (IsFused(node)) {
    const FusedBody* body = BodyOf(*FusedGraph(node));
    return body && FusedMayOverwrite(*body, out, in);
  }
  if (IsUpdateGroup(node)) return MayInGroup(node, out, in);
  std::pair<int, int> pair(static_cast<int>(out), static_cast<int>(in));
  return std::find(op.in_place.begin(), op.in_place.end(), pair) != op.in_place.end();
}

// A chunk of elements passes through a whole chain: nothing of the chain may read the old value
// after the node that makes the new one, and nothing of another chain at all.
bool Overwriting::MayInGroup(const Node& node, size_t out, size_t in) {
  const Graph& body = *node.attr<Graph*>("body");
  const GroupBody& group = GroupOf(node);
  Var made = WithoutViews(body.outputs()[out]), old{body.parameters()[in], 0};
  auto maker = group.made.find(made.node);
  auto reads = group.reads.find(old);
  if (maker == group.made.end() || reads == group.reads.end()) return false;
  auto [chain, place] = maker->second;
  const Reads& r = reads->second;
  if (r.chain != chain || r.place > place) return false;
  if (r.place < place) return true;
  for (size_t i = 0; i < made.node->inputs.size(); ++i) {
    if (WithoutViews(made.node->inputs[i]) == old)
      return (r.times == 1 || made.node->op->scalar) && May(*made.node, made.index, i);
  }
  return false;
}

const Overwriting::GroupBody& Overwriting::GroupOf(const Node& node) {
  auto [it, fresh] = groups_.try_emplace(node.attr<Graph*>("body"));
  GroupBody& group = it->second;
  if (!fresh) return group;
  const Ints& chains = node.attr<Ints>("chains");
  int chain = 0;
  int64_t left = chains[0];
  size_t place = 0;
  for (const Node* n : it->first->nodes()) {
    if (n->kind != NodeKind::kApply) continue;
    for (; left == 0; left = chains[static_cast<size_t>(chain)]) ++chain;
    --left;
    if (n->op->view) continue;
    group.made[n] = {chain, ++place};
    for (const Var& v : n->inputs) {
      Reads& r = group.reads[WithoutViews(v)];
      r.times = r.place == place ? r.times + 1 : 1;
      r.place = place;
      r.chain = r.chain == -1 || r.chain == chain ? chain : -2;
    }
  }
  return group;
}

const FusedBody* Overwriting::BodyOf(const Graph& graph) {
  auto [it, fresh] = bodies_.try_emplace(&graph);
  if (fresh) {
    auto body = std::make_unique<FusedBody>();
    if (AnalyzeFused(graph, body.get()).empty()) it->second = std::move(body);
  }
  return it->second.get();
}

}  // namespace ms
