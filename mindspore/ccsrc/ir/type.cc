#include "ir/type.h"

namespace ms {

Type Type::Function(Types parameters, Types results) {
  Type t;
  t.kind_ = Kind::kFunction;
  t.function_ =
      std::make_shared<const FunctionType>(FunctionType{std::move(parameters), std::move(results)});
  return t;
}

Type Type::Box() {
  Type t;
  t.kind_ = Kind::kBox;
  return t;
}

Type Type::Strong() const {
  Type t = *this;
  t.weak_ = false;
  return t;
}

bool Type::operator==(const Type& other) const {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::kTensor:
      return dtype_ == other.dtype_ && weak_ == other.weak_ && shape_ == other.shape_;
    case Kind::kFunction:
      return function_ == other.function_ ||
             (function_->parameters == other.function_->parameters &&
              function_->results == other.function_->results);
    case Kind::kBox:
      return true;
  }
  return false;
}

size_t Type::Hash() const {
  size_t hash = static_cast<size_t>(kind_) * 64 + static_cast<size_t>(dtype_) * 2 + (weak_ ? 1 : 0);
  if (is_tensor()) return HashCombine(hash, shape_.Hash());
  if (is_function()) {
    for (const Type& t : function_->parameters) hash = HashCombine(hash, t.Hash());
    for (const Type& t : function_->results) hash = HashCombine(hash, t.Hash() + 1);
  }
  return hash;
}

std::string Type::ToString() const {
  switch (kind_) {
    case Kind::kTensor:
      return fmt::format("{}{}{}", weak_ ? "weak " : "", Name(dtype_), shape_);
    case Kind::kFunction:
      return fmt::format("{} -> {}", ms::ToString(function_->parameters),
                         ms::ToString(function_->results));
    case Kind::kBox:
      break;
  }
  return "Box";
}

std::string ToString(const Types& types) { return fmt::format("({})", fmt::join(types, ", ")); }

}  // namespace ms
