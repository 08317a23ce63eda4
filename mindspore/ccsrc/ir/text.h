// The text form of the IR. Print and Parse are inverse, so that dumps, tests, bug reports and files
// share one form; anything damaged is an Error that names the line.
//
//   graph net(x: Float32[2, 3], w: Float32[3, 2]) -> (Float32[2, 2]) {
//     %0 = MatMul(x, w, transpose_b=true)  # net.py:14
//     %1 = Constant(Float32[2] [1.0, 2.5])
//     return %0
//   }
//
// The first graph is the main one. After the results may stand loop(body=@b, done=@d, trip_count=3)
// and updates(0=2, 1=3); captures come before the parameters: graph f[a: Int64[]](x: Float32[]) ->
// (...).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace ms {

using TensorTable = std::map<std::string, Tensor>;

struct PrintOptions {
  bool spans = true;   // "# net.py:14" after a node
  bool types = false;  // "# Float32[2, 2]" after a node
  // Tensors of more than a few elements are left out of the text and put here, under a digest.
  // Without a table they are printed in full, as base64.
  TensorTable* large = nullptr;
};

std::string Print(const Graph& graph, const PrintOptions& options = {});
std::string Print(const Module& module, const PrintOptions& options = {});

// Throws ValueError / TypeError: "IR text, line 3: ...". `large` resolves the digests.
std::unique_ptr<Module> Parse(std::string_view text, const TensorTable* large = nullptr);

// "" when the two are the same up to names, the place of parameters and the order of independent
// nodes without effects; otherwise what differs first, in words.
std::string Difference(const Module& a, const Module& b);
inline bool StructurallyEqual(const Module& a, const Module& b) { return Difference(a, b).empty(); }

}  // namespace ms
