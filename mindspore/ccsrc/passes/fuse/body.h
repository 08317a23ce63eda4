// From a group to the Fused node that stands for it.
#pragma once

#include "passes/fuse/sketch.h"

namespace ms {

struct MadeBody {
  Graph* body = nullptr;  // null: the group stays as it is
  Vars inputs;            // of the graph
};

// `sketch` is solved. The body is added to the module; it is legal (ops/fused.h).
MadeBody MakeBody(const Sketch& sketch, Module* module);

}  // namespace ms
