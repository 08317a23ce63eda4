// Attributes: compile-time arguments of an op. A node holds them in the order of the op's
// declaration.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "tensor/tensor.h"

namespace ms {

class Graph;

// monostate stands for Python's None (and, in a declaration, for "required").
using Attr = std::variant<std::monostate, bool, int64_t, double, std::string, DType, Ints,
                          std::vector<double>, Tensor, Graph*>;
using Attrs = std::vector<Attr>;
using AttrsRef = std::shared_ptr<const Attrs>;  // shared by nodes; null where an op has none

bool Equal(const Attr& a, const Attr& b);  // tensors: bit for bit; graphs: by identity
bool Equal(const Attrs& a, const Attrs& b);
size_t Hash(const Attr& attr);
size_t Hash(const Attrs& attrs);
std::string ToString(const Attr& attr);  // text of the IR: true, 3, 0.5, "same", Float32, [1, 2]

}  // namespace ms
