// Types of IR values. A Type is a value: tensors carry dtype, shape and the weak flag of a Python
// number.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace ms {

class Type;
using Types = std::vector<Type>;

struct FunctionType {
  Types parameters;
  Types results;
};

class Type {
 public:
  enum class Kind : uint8_t {
    kTensor,
    kFunction,
    kBox,  // tangent of a function value: opaque, made and opened by autodiff alone
  };

  Type() = default;
  Type(DType dtype, const Shape& shape, bool weak = false)
      : shape_(shape), dtype_(dtype), weak_(weak) {}
  static Type Function(Types parameters, Types results);
  static Type Box();

  Kind kind() const { return kind_; }
  bool is_tensor() const { return kind_ == Kind::kTensor; }
  bool is_function() const { return kind_ == Kind::kFunction; }
  bool is_box() const { return kind_ == Kind::kBox; }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  bool weak() const { return weak_; }
  const FunctionType& function() const { return *function_; }
  size_t bytes() const { return static_cast<size_t>(shape_.size()) * ItemSize(dtype_); }

  // Integers have one of their own type: a derivative is truncated where it becomes theirs.
  bool has_tangent() const { return !is_tensor() || !IsBool(dtype_); }
  // The type of this value's tangent; only where has_tangent().
  Type Tangent() const { return is_tensor() ? Type(dtype_, shape_) : Box(); }
  Type Strong() const;

  bool operator==(const Type& other) const;
  size_t Hash() const;
  std::string ToString() const;  // "Float32[2, 3]", "weak Int64[]", "(Float32[]) -> (Box)", "Box"

 private:
  std::shared_ptr<const FunctionType> function_;
  Shape shape_;
  Kind kind_ = Kind::kTensor;
  DType dtype_ = DType::kFloat32;
  bool weak_ = false;
};

std::string ToString(const Types& types);  // "(Float32[], Int32[2])"

}  // namespace ms

template <>
struct fmt::formatter<ms::Type> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const ms::Type& type, Context& context) const {
    return fmt::formatter<std::string>::format(type.ToString(), context);
  }
};
