#include "backends/cuda/codegen/scalar_text.h"

#include <cmath>

namespace ms::cuda {
namespace {

bool IsHalf(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }

std::string CastText(const std::string& arg, DType from, DType to) {
  if (from == to) return arg;
  if (IsHalf(to)) return fmt::format("CastToHalf<{}>({})", MemoryType(to), arg);
  if (RegisterType(from) == RegisterType(to)) return arg;
  return fmt::format("CastTo<{}>::Of({})", RegisterType(to), arg);
}

bool TakesBool(ScalarOp op) {
  switch (op) {
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kMul:
    case ScalarOp::kMin:
    case ScalarOp::kMax:
    case ScalarOp::kAbs:
    case ScalarOp::kSign:
    case ScalarOp::kLess:
    case ScalarOp::kLessEqual:
    case ScalarOp::kGreater:
    case ScalarOp::kGreaterEqual:
    case ScalarOp::kEqual:
    case ScalarOp::kNotEqual:
    case ScalarOp::kAnd:
    case ScalarOp::kOr:
    case ScalarOp::kXor:
    case ScalarOp::kNot:
      return true;
    default:
      return false;
  }
}

bool TakesComplexOnly(ScalarOp op) {
  return op == ScalarOp::kReal || op == ScalarOp::kImag || op == ScalarOp::kConj ||
         op == ScalarOp::kComplex;
}

}  // namespace

std::string MemoryType(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "Bool";
    case DType::kFloat16:
      return "Float16";
    case DType::kBFloat16:
      return "BFloat16";
    default:
      return RegisterType(dtype);
  }
}

std::string RegisterType(DType dtype) {
  if (IsHalf(dtype) || dtype == DType::kFloat32) return "float";
  if (dtype == DType::kFloat64) return "double";
  if (dtype == DType::kBool) return "bool";
  MS_ASSERT(IsInteger(dtype));
  return fmt::format("{}int{}_t", IsUnsigned(dtype) ? "u" : "", 8 * ItemSize(dtype));
}

std::string ConstantText(double value, DType dtype) {
  if (dtype == DType::kBool) return value != 0 ? "true" : "false";
  if (IsInteger(dtype)) {
    if (value < -0x1p62) return fmt::format("({})(1ull << 63)", RegisterType(dtype));
    return fmt::format("({}){}{}", RegisterType(dtype), value < 0x1p63 ? "" : "(u",
                       value < 0x1p63 ? fmt::format("{}ll", static_cast<int64_t>(value))
                                      : fmt::format("int64_t){}ull", static_cast<uint64_t>(value)));
  }
  std::string type = RegisterType(dtype);
  if (type == "float") value = static_cast<float>(value);
  if (std::isnan(value)) return fmt::format("({})__builtin_nan(\"\")", type);
  if (std::isinf(value))
    return fmt::format("({}){}__builtin_huge_val()", type, value < 0 ? "-" : "");
  return fmt::format("{:a}{}", value, type == "float" ? "f" : "");
}

std::string ScalarText(const ScalarNode& node, const std::vector<std::string>& args,
                       const std::vector<DType>& dtypes, std::string* why) {
  if (TakesComplexOnly(node.op) || IsComplex(node.dtype)) {
    *why = fmt::format("'{}' of complex numbers has no text", Name(node.op));
    return "";
  }
  if (node.op == ScalarOp::kCast) return CastText(args[0], dtypes[0], node.dtype);
  bool selects = node.op == ScalarOp::kSelect;
  if (!selects && IsBool(dtypes[0]) && !TakesBool(node.op)) {
    *why = fmt::format("'{}' of Bool has no text", Name(node.op));
    return "";
  }
  return fmt::format("k_{}({})", Name(node.op), fmt::join(args, ", "));
}

}  // namespace ms::cuda
