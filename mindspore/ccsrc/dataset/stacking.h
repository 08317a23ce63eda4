// Between batching.cc and stacking.cc.
#pragma once

#include <string>
#include <vector>

#include "dataset/batching.h"

namespace ms::dataset {

Value StackPadded(const std::string& column, const std::vector<Value>& rows, const Pad& pad);

}  // namespace ms::dataset
