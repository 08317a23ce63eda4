// CUDA C text of scalar ops on named values.
#pragma once

#include <string>
#include <vector>

#include "ir/scalar.h"

namespace ms::cuda {

std::string MemoryType(DType dtype);    // of an element: "Float16", "int32_t"
std::string RegisterType(DType dtype);  // of what is computed with: "float", "int32_t"
// What precedes the text of a kernel that computes with these numbers.
std::string TextOf(DType dtype);

// Half types have the numbers of their registers: a body's constants are not rounded to them.
std::string ConstantText(double value, DType dtype);

// An expression of the register type of node.dtype. `args` are names, of values of these dtypes.
// Empty where there is no text for the op, which `why` then says.
std::string ScalarText(const ScalarNode& node, const std::vector<std::string>& args,
                       const std::vector<DType>& dtypes, std::string* why);

}  // namespace ms::cuda
