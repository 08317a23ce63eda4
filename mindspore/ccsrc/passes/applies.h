// Whether a pass has anything to look at: one walk over names, before tables of readers are made.
#pragma once

#include <algorithm>
#include <string_view>

#include "ir/op.h"

namespace ms {

inline bool Applies(const Graph& graph, std::string_view op) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [&](const Node* node) { return node->op && node->op->name == op; });
}

}  // namespace ms
