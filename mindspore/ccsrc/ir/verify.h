// What must hold for every graph between two passes. A failure is a bug of ours: InternalError with
// the graph's text.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace ms {

enum class Level {
  kTyped,       // every node typed as its op infers, graphs closed and complete
  kNoGradLeft,  // and no Vjp, Jvp, Vmap or CustomGrad
  kLowered,     // and every op has a kernel, or is structural
};

struct VerifyOptions {
  Level level = Level::kTyped;
  std::string_view stage;  // "after Inline", for the message
  // kLowered: why the target does not take a node; "" when it does.
  std::function<std::string(const Node&)> refusal;
};

void Verify(const Module& module, const VerifyOptions& options = {});
inline void Verify(const Module& module, Level level) {
  Verify(module, VerifyOptions{level, {}, {}});
}

// Whether a graph with a loop tag is built as the tag says: it returns Call(Switch(c,
// Partial(body), Partial(done)), ...), and the body returns Call(Partial(graph), ...).
bool HasLoopShape(const Graph& graph);

// MS_VERIFY=1 in the environment, or SetVerifying(true): passes call Verify after each change.
bool Verifying();
void SetVerifying(bool on);

}  // namespace ms
