#include "backends/cuda/codegen/scalar_text.h"

#include <ms_cuda_texts.h>  // made when this is built

#include <cmath>

namespace ms::cuda {
namespace {

bool IsHalf(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }

// Of the parts of a complex number.
DType PartOf(DType complex) {
  return complex == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
}

std::string CastText(const std::string& arg, DType from, DType to) {
  if (from == to) return arg;
  // To other types by the real part; true is what is not 0.
  if (IsComplex(from) && !IsComplex(to) && !IsBool(to))
    return CastText(fmt::format("k_real({})", arg), PartOf(from), to);
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
  if (IsComplex(dtype)) return fmt::format("Complex<{}>", RegisterType(PartOf(dtype)));
  MS_ASSERT(IsInteger(dtype));
  return fmt::format("{}int{}_t", IsUnsigned(dtype) ? "u" : "", 8 * ItemSize(dtype));
}

std::string TextOf(DType dtype) { return IsComplex(dtype) ? kComplexText : ""; }

std::string ConstantText(double value, DType dtype) {
  if (dtype == DType::kBool) return value != 0 ? "true" : "false";
  if (IsInteger(dtype)) {
    if (value < -0x1p62) return fmt::format("({})(1ull << 63)", RegisterType(dtype));
    return fmt::format("({}){}{}", RegisterType(dtype), value < 0x1p63 ? "" : "(u",
                       value < 0x1p63 ? fmt::format("{}ll", static_cast<int64_t>(value))
                                      : fmt::format("int64_t){}ull", static_cast<uint64_t>(value)));
  }
  if (IsComplex(dtype))
    return fmt::format("{}({})", RegisterType(dtype), ConstantText(value, PartOf(dtype)));
  std::string type = RegisterType(dtype);
  if (type == "float") value = static_cast<float>(value);
  if (std::isnan(value)) return fmt::format("({})__builtin_nan(\"\")", type);
  if (std::isinf(value))
    return fmt::format("({}){}__builtin_huge_val()", type, value < 0 ? "-" : "");
  return fmt::format("{:a}{}", value, type == "float" ? "f" : "");
}

std::string ScalarText(const ScalarNode& node, const std::vector<std::string>& args,
                       const std::vector<DType>& dtypes, std::string* why) {
  if (node.op == ScalarOp::kCast) return CastText(args[0], dtypes[0], node.dtype);
  bool selects = node.op == ScalarOp::kSelect;
  if (!selects && IsBool(dtypes[0]) && !TakesBool(node.op)) {
    *why = fmt::format("'{}' of Bool has no text", Name(node.op));
    return "";
  }
  return fmt::format("k_{}({})", Name(node.op), fmt::join(args, ", "));
}

}  // namespace ms::cuda
