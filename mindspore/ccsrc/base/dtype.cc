#include "base/dtype.h"

#include <array>

#include <fmt/format.h>

namespace ms {
namespace {

struct Facts {
  std::string_view name;
  size_t size;
};

constexpr std::array<Facts, kDTypeCount> kFacts = {{
    {"Bool", 1},
    {"Int8", 1},
    {"Int16", 2},
    {"Int32", 4},
    {"Int64", 8},
    {"UInt8", 1},
    {"UInt16", 2},
    {"UInt32", 4},
    {"UInt64", 8},
    {"Float16", 2},
    {"BFloat16", 2},
    {"Float32", 4},
    {"Float64", 8},
    {"Complex64", 8},
    {"Complex128", 16},
}};

std::string Digits(Wide value) {
  if (value < 0) return "-" + Digits(-value);
  return fmt::format("{}", static_cast<uint64_t>(value));
}

int Category(DType t) {
  if (IsBool(t)) return 0;
  if (IsInteger(t)) return 1;
  return IsFloating(t) ? 2 : 3;
}

DType PromoteIntegers(DType a, DType b) {
  if (IsSigned(a) == IsSigned(b)) return ItemSize(a) >= ItemSize(b) ? a : b;
  DType with_sign = IsSigned(a) ? a : b;
  DType without = IsSigned(a) ? b : a;
  if (ItemSize(with_sign) > ItemSize(without)) return with_sign;
  switch (ItemSize(without)) {
    case 1:
      return DType::kInt16;
    case 2:
      return DType::kInt32;
    case 4:
      return DType::kInt64;
    default:
      return DType::kFloat32;  // no integer holds both; the table of 2.x says Float32
  }
}

DType PromoteComplex(DType a, DType b) {
  bool wide = a == DType::kComplex128 || b == DType::kComplex128 || a == DType::kFloat64 ||
              b == DType::kFloat64;
  return wide ? DType::kComplex128 : DType::kComplex64;
}

}  // namespace

IntegerRange RangeOf(DType integer) {
  int bits = static_cast<int>(8 * ItemSize(integer));
  if (IsUnsigned(integer)) return {0, (Wide{1} << bits) - 1};
  return {-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1};
}

std::string UnfitText(DType integer, std::string_view got) {
  IntegerRange range = RangeOf(integer);
  return fmt::format("an integer must fit {}, which holds {} to {}, but got {}", Name(integer),
                     Digits(range.low), Digits(range.high), got);
}

size_t ItemSize(DType dtype) { return kFacts[static_cast<size_t>(dtype)].size; }

std::string_view Name(DType dtype) { return kFacts[static_cast<size_t>(dtype)].name; }

bool DTypeFromName(std::string_view name, DType* out) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kFacts[i].name == name) {
      *out = static_cast<DType>(i);
      return true;
    }
  }
  return false;
}

DType Promote(DType a, DType b) {
  if (a == b) return a;
  int ca = Category(a);
  int cb = Category(b);
  if (ca == 3 || cb == 3) return PromoteComplex(a, b);
  if (ca != cb) return ca > cb ? a : b;
  if (ca == 1) return PromoteIntegers(a, b);
  if (ItemSize(a) != ItemSize(b)) return ItemSize(a) > ItemSize(b) ? a : b;
  return DType::kFloat32;  // Float16 with BFloat16
}

DType Promote(DType a, bool weak_a, DType b, bool weak_b) {
  if (weak_a == weak_b) return Promote(a, b);
  DType strong = weak_a ? b : a;
  DType weak = weak_a ? a : b;
  if (Category(weak) <= Category(strong)) return strong;
  if (Category(weak) == 3) return PromoteComplex(strong, weak);
  // An integer tensor with a Python float, which in a graph has all its digits: the default type.
  return weak == DType::kFloat64 ? DType::kFloat32 : weak;
}

uint16_t FloatToHalfBits(float value) {
  uint32_t x;
  std::memcpy(&x, &value, 4);
  uint32_t sign = (x >> 16) & 0x8000u;
  uint32_t mag = x & 0x7fffffffu;
  if (mag >= 0x7f800000u) {  // inf, nan
    return static_cast<uint16_t>(sign | 0x7c00u | (mag > 0x7f800000u ? 0x200u : 0));
  }
  if (mag >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to inf
  if (mag < 0x38800000u) {                                               // subnormal or zero
    if (mag < 0x33000000u) return static_cast<uint16_t>(sign);
    uint32_t shift = 126 - (mag >> 23);
    uint32_t mantissa = (mag & 0x7fffffu) | 0x800000u;
    uint32_t half = mantissa >> shift;
    uint32_t rest = mantissa & ((1u << shift) - 1);
    uint32_t middle = 1u << (shift - 1);
    if (rest > middle || (rest == middle && (half & 1))) ++half;
    return static_cast<uint16_t>(sign | half);
  }
  uint32_t half = (mag - 0x38000000u) >> 13;
  uint32_t rest = mag & 0x1fffu;
  if (rest > 0x1000u || (rest == 0x1000u && (half & 1))) ++half;
  return static_cast<uint16_t>(sign | half);
}

float HalfBitsToFloat(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t mantissa = bits & 0x3ffu;
  uint32_t x;
  if (exponent == 0x1fu) {
    x = sign | 0x7f800000u | (mantissa << 13);
  } else if (exponent != 0) {
    x = sign | ((exponent + 112) << 23) | (mantissa << 13);
  } else if (mantissa == 0) {
    x = sign;
  } else {
    int shift = __builtin_clz(mantissa) - 21;  // leading zeros within the 11-bit significand
    x = sign | ((113u - shift) << 23) | (((mantissa << shift) & 0x3ffu) << 13);
  }
  float value;
  std::memcpy(&value, &x, 4);
  return value;
}

}  // namespace ms
