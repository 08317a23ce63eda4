// The moves that lead from a layout to others: one collective each.
#pragma once

#include <bit>
#include <functional>

#include "passes/parallel/redistribute.h"

namespace ms::parallel {

// Which axes may move, and where to.
struct MoveScope {
  uint32_t active = 0;  // a bit for each axis
  bool uneven = false;  // pieces on the way may differ in size, as those of an end do
  // Many axes: they go only from where they were to where they shall be, or are freed between, ...
  bool anywhere = true;
  bool blocks = false;  // ... and those with equal ways go together
  Layout from, to;      // where not anywhere
};

using UseMove = std::function<void(Move&)>;
void ForMoves(const Mesh& mesh, const Shape& shape, const Layout& at, const MoveScope& scope,
              const UseMove& use);

// Bytes that a device sends, for what CollectiveSeconds takes.
int64_t SentBytes(const Mesh& mesh, const Move& move, int64_t bytes);

}  // namespace ms::parallel
