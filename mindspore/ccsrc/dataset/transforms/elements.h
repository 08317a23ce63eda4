// The elements of images as types of C++.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "dataset/value.h"

namespace ms::dataset {

// Calls f with a null pointer of the C++ type of `dtype`.
template <class F>
void WithType(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kBool:
      return f(static_cast<bool*>(nullptr));
    case DType::kInt8:
      return f(static_cast<int8_t*>(nullptr));
    case DType::kInt16:
      return f(static_cast<int16_t*>(nullptr));
    case DType::kInt32:
      return f(static_cast<int32_t*>(nullptr));
    case DType::kInt64:
      return f(static_cast<int64_t*>(nullptr));
    case DType::kUInt8:
      return f(static_cast<uint8_t*>(nullptr));
    case DType::kUInt16:
      return f(static_cast<uint16_t*>(nullptr));
    case DType::kUInt32:
      return f(static_cast<uint32_t*>(nullptr));
    case DType::kUInt64:
      return f(static_cast<uint64_t*>(nullptr));
    case DType::kFloat16:
      return f(static_cast<Half*>(nullptr));
    case DType::kBFloat16:
      return f(static_cast<BFloat16*>(nullptr));
    case DType::kFloat32:
      return f(static_cast<float*>(nullptr));
    case DType::kFloat64:
      return f(static_cast<double*>(nullptr));
    default:
      Throw(ErrorKind::kType, "the input must hold real numbers, but got {}",
            Element::Of(dtype).name());
  }
}

template <class To, class From>
To Converted(From from) {
  using Wide =
      std::conditional_t<std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>, float, From>;
  auto wide = static_cast<Wide>(from);
  if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(wide));
  } else if constexpr (std::is_same_v<To, bool>) {
    return wide != 0;
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<Wide>) {
    // Through the widest integer, as NumPy does it here: what no integer holds is its least.
    if (!(wide > -9.3e18 && wide < 9.2e18)) return static_cast<To>(INT64_MIN);
    return static_cast<To>(static_cast<int64_t>(wide));
  } else {
    return static_cast<To>(wide);
  }
}

// The nearest whole number, of two the even one, of numbers up to 2^22: sums with 1.5 * 2^23 have
// no fraction. Unlike nearbyint, compilers make vectors of it.
inline float Unbroken(float number) { return (number + 12582912.0f) - 12582912.0f; }

// A result of arithmetic as a byte, rounded and clipped.
inline uint8_t RoundedByte(float number) {
  float clipped = number > 0 ? number : 0;
  clipped = clipped < 255 ? clipped : 255;
  return static_cast<uint8_t>(static_cast<int32_t>(Unbroken(clipped)));
}

// A result of arithmetic as an element: of integers, rounded and clipped to what they hold.
template <class To, class From>
To Rounded(From given) {
  if constexpr (std::is_same_v<To, uint8_t> && std::is_same_v<From, float>) {
    return RoundedByte(given);
  }
  auto number = static_cast<double>(given);
  if constexpr (std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    constexpr auto low = static_cast<double>(std::numeric_limits<To>::min());
    constexpr auto high = static_cast<double>(std::numeric_limits<To>::max());
    double whole = std::nearbyint(number);
    if (!(whole > low)) return std::numeric_limits<To>::min();
    return whole >= high ? std::numeric_limits<To>::max() : static_cast<To>(whole);
  } else {
    return Converted<To>(number);
  }
}

inline int64_t Channels(const Value& image) {
  return image.dims->size() == 3 ? (*image.dims)[2] : 1;
}

}  // namespace ms::dataset
