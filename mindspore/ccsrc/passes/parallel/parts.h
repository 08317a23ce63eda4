// Equal parts of a program, as those of a batch that a network takes one after the other: nodes
// that do the same with what is the same but for where it was cut from data. A plan for one of them
// serves all, so each is one variable that counts as often as there are parts.
#pragma once

#include "passes/parallel/problem.h"

namespace ms::parallel {

struct EqualParts {
  Problem one;          // variables, links and types alone
  std::vector<int> of;  // by variable of the whole: that of the one which stands for it
};

// Nothing where no parts compute with the same Parameters.
std::optional<EqualParts> FindEqualParts(const Problem& whole);

}  // namespace ms::parallel
