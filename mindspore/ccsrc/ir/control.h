// The structural ops (ops/control.cc) by pointer, for code that walks graphs.
#pragma once

#include "ir/op.h"

namespace ms {

struct ControlOps {
  const OpDef* partial;
  const OpDef* select;  // Switch
  const OpDef* call;
  const OpDef* vjp;
  const OpDef* jvp;
  const OpDef* vmap;
  const OpDef* custom_grad;
  const OpDef* box_make;
  const OpDef* box_get;
  const OpDef* box_zero;
  const OpDef* box_add;
};

inline const ControlOps& Control() {
  static const ControlOps ops{&Ops().Get("Partial"),    &Ops().Get("Switch"),  &Ops().Get("Call"),
                              &Ops().Get("Vjp"),        &Ops().Get("Jvp"),     &Ops().Get("Vmap"),
                              &Ops().Get("CustomGrad"), &Ops().Get("BoxMake"), &Ops().Get("BoxGet"),
                              &Ops().Get("BoxZero"),    &Ops().Get("BoxAdd")};
  return ops;
}

// Vjp, Jvp and Vmap: functions of functions, which passes expand.
inline bool IsTransform(const Node& node) {
  return node.op &&
         (node.op == Control().vjp || node.op == Control().jvp || node.op == Control().vmap);
}

// The graph of a Partial node; null for all other nodes.
inline Graph* PartialGraph(const Node* node) {
  return node->op == Control().partial ? node->attr<Graph*>("graph") : nullptr;
}

}  // namespace ms
