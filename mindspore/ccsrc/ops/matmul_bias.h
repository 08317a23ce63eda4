// Matrix products with an epilogue or a packed matrix: declared in a file of their own.
#pragma once

#include "ir/op.h"

namespace ms {

void DefineMatMulBias(OpRegistry& ops);

}  // namespace ms
