// The rows that a predicate keeps.
#pragma once

#include "dataset/node.h"

namespace ms::dataset {

// `judged`: a node whose rows end with a step that says whether they are kept.
NodeRef MakeFilterOf(NodeRef judged);

}  // namespace ms::dataset
