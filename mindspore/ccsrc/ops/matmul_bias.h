// Which ops may follow a matrix product inside MatMulBias and MatMulPacked.
#pragma once

#include <span>
#include <string_view>

#include "ir/op.h"

namespace ms {

struct MatMulActivation {
  std::string_view name;         // the attribute 'activation'
  std::string_view op;           // what it does
  std::string_view approximate;  // the attribute of op, if it has one
};
std::span<const MatMulActivation> MatMulActivations();
// Null where there is none of that name.
const MatMulActivation* FindMatMulActivation(std::string_view name);

void DefineMatMulBias(OpRegistry& ops);

}  // namespace ms
