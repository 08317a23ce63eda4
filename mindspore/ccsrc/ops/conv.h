// What the declarations of convolutions share.
#pragma once

#include "ir/op.h"

namespace ms {

// The attributes that say what a convolution is.
OpDef& WithConvAttrs(OpDef& op);

}  // namespace ms
