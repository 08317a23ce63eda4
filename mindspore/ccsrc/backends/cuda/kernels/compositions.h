// Ops as compositions of others: a maker of a kernel that is one loop nest, from a function that
// says what the op is made of.
#pragma once

#include "backends/cuda/kernels.h"

namespace ms::cuda {

// The inputs as terms, and the request.
struct Composer {
  Emitter& emitter;
  Terms in;
  const KernelRequest& request;

  Term Call(const char* op, const Terms& args, const NamedAttrs& attrs = {}) const {
    return emitter.Call(op, args, attrs);
  }
  Term Along(const char* op, const Term& x, const Ints& axes) const {
    return Call(op, {x}, {{"axis", axes}, {"keep_dims", true}});
  }
  // Half types compute in Float32, and are rounded once.
  Term Wide(size_t i) const {
    bool half = ItemSize(in[i].dtype()) == 2;
    return half ? CastTo(in[i], DType::kFloat32) : in[i];
  }
};
using Compose = Terms (*)(const Composer&);

KernelMaker Composition(Compose compose);

}  // namespace ms::cuda
