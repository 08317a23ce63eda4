#include "ops/update_group.h"

#include <numeric>

#include "ops/all.h"
#include "ops/fused.h"

namespace ms {

bool IsUpdateGroup(const Node& node) {
  static const OpDef& group = Ops().Get("UpdateGroup");
  return node.op == &group;
}

void DefineUpdateGroup(OpRegistry& ops) {
  ops.Op("UpdateGroup")
      .Doc("Updates of many Parameters as one step.")
      .In("inputs", kAny, "The parameters of the body.")
      .Variadic()
      .RequiredAttr<Graph*>("body", "What is computed: a straight graph without captures.")
      .RequiredAttr<Ints>("chains", "Nodes of each chain, of those that apply ops.")
      .Infer([](InferContext& c) {
        size_t nodes = 0;
        for (const Node* node : c.attr<Graph*>("body")->nodes())
          nodes += node->kind == NodeKind::kApply;
        const Ints& chains = c.attr<Ints>("chains");
        auto sum = std::accumulate(chains.begin(), chains.end(), int64_t{0});
        c.Check(sum == static_cast<int64_t>(nodes), "'chains' must add up to {} nodes, but got {}",
                nodes, sum);
        return InferBody(c);
      });
}

}  // namespace ms
