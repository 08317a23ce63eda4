// What the declarations of convolutions share.
#pragma once

#include "ir/op.h"

namespace ms {

// The attributes that say what a convolution in two or three dimensions is.
OpDef& WithConvAttrs(OpDef& op, int rank = 2);

}  // namespace ms
