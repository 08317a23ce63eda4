// Element types: their names, sizes, C++ representations and the promotion lattice.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace ms {

enum class DType : uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
};
inline constexpr int kDTypeCount = 15;

size_t ItemSize(DType dtype);
std::string_view Name(DType dtype);                     // "Float32"
bool DTypeFromName(std::string_view name, DType* out);  // the inverse; false when unknown

constexpr bool IsBool(DType t) { return t == DType::kBool; }
constexpr bool IsSigned(DType t) { return t >= DType::kInt8 && t <= DType::kInt64; }
constexpr bool IsUnsigned(DType t) { return t >= DType::kUInt8 && t <= DType::kUInt64; }
constexpr bool IsInteger(DType t) { return IsSigned(t) || IsUnsigned(t); }
constexpr bool IsFloating(DType t) { return t >= DType::kFloat16 && t <= DType::kFloat64; }
constexpr bool IsComplex(DType t) { return t >= DType::kComplex64; }
// The integers of a type; wide enough to compare them with those of any other.
__extension__ using Wide = __int128;
struct IntegerRange {
  Wide low, high;
  bool Holds(Wide value) const { return low <= value && value <= high; }
};
IntegerRange RangeOf(DType integer);
// "an integer must fit Int8, which holds -128 to 127, but got 300"
std::string UnfitText(DType integer, std::string_view got);

// Real or complex numbers, up to rounding.
constexpr bool IsContinuous(DType t) { return IsFloating(t) || IsComplex(t); }

// The 2.x promotion table. A weak operand (a Python number) yields its dtype to a strong one of the
// same or a higher category: bool < integer < floating < complex.
DType Promote(DType a, DType b);
DType Promote(DType a, bool weak_a, DType b, bool weak_b);

uint16_t FloatToHalfBits(float value);
float HalfBitsToFloat(uint16_t bits);

struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float v) : bits(FloatToHalfBits(v)) {}
  operator float() const { return HalfBitsToFloat(bits); }
};

struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float v) {
    uint32_t u;
    std::memcpy(&u, &v, 4);
    if ((u & 0x7fffffffu) > 0x7f800000u) {
      bits = static_cast<uint16_t>((u >> 16) | 0x40);  // keep a nan a (quiet) nan
    } else {
      bits = static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1)) >> 16);  // round to nearest even
    }
  }
  operator float() const {
    uint32_t u = static_cast<uint32_t>(bits) << 16;
    float v;
    std::memcpy(&v, &u, 4);
    return v;
  }
};

template <class T>
struct DTypeOfImpl;
#define MS_DTYPE(type, name)                    \
  template <>                                   \
  struct DTypeOfImpl<type> {                    \
    static constexpr DType value = DType::name; \
  };
MS_DTYPE(bool, kBool)
MS_DTYPE(int8_t, kInt8)
MS_DTYPE(int16_t, kInt16)
MS_DTYPE(int32_t, kInt32)
MS_DTYPE(int64_t, kInt64)
MS_DTYPE(uint8_t, kUInt8)
MS_DTYPE(uint16_t, kUInt16)
MS_DTYPE(uint32_t, kUInt32)
MS_DTYPE(uint64_t, kUInt64)
MS_DTYPE(Half, kFloat16)
MS_DTYPE(BFloat16, kBFloat16)
MS_DTYPE(float, kFloat32)
MS_DTYPE(double, kFloat64)
MS_DTYPE(std::complex<float>, kComplex64)
MS_DTYPE(std::complex<double>, kComplex128)
#undef MS_DTYPE
template <class T>
inline constexpr DType kDTypeOf = DTypeOfImpl<T>::value;

// The type in which sums and transcendental functions of T are computed.
template <class T>
struct ComputeTypeImpl {
  using type = T;
};
template <>
struct ComputeTypeImpl<Half> {
  using type = float;
};
template <>
struct ComputeTypeImpl<BFloat16> {
  using type = float;
};
template <class T>
using ComputeType = typename ComputeTypeImpl<T>::type;

template <class T>
struct TypeTag {
  using type = T;
};

// Calls f(TypeTag<T>{}) with the C++ type of `dtype`.
template <class F>
decltype(auto) VisitDType(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kBool:
      return f(TypeTag<bool>{});
    case DType::kInt8:
      return f(TypeTag<int8_t>{});
    case DType::kInt16:
      return f(TypeTag<int16_t>{});
    case DType::kInt32:
      return f(TypeTag<int32_t>{});
    case DType::kInt64:
      return f(TypeTag<int64_t>{});
    case DType::kUInt8:
      return f(TypeTag<uint8_t>{});
    case DType::kUInt16:
      return f(TypeTag<uint16_t>{});
    case DType::kUInt32:
      return f(TypeTag<uint32_t>{});
    case DType::kUInt64:
      return f(TypeTag<uint64_t>{});
    case DType::kFloat16:
      return f(TypeTag<Half>{});
    case DType::kBFloat16:
      return f(TypeTag<BFloat16>{});
    case DType::kFloat32:
      return f(TypeTag<float>{});
    case DType::kFloat64:
      return f(TypeTag<double>{});
    case DType::kComplex64:
      return f(TypeTag<std::complex<float>>{});
    case DType::kComplex128:
      break;
  }
  return f(TypeTag<std::complex<double>>{});
}

}  // namespace ms
