// Vector loops of arithmetic, comparison, logic and selection for every element type.
#include "backends/cpu/isa/loops.h"
#include "backends/cpu/isa/tables.h"

namespace ms::cpu::MS_ISA {
namespace {

// Unsigned arithmetic at least as wide as int: wraps, and never overflows in a promotion to int.
template <class T>
struct WrapImpl {
  using type = uint32_t;
};
template <>
struct WrapImpl<int64_t> {
  using type = uint64_t;
};
template <>
struct WrapImpl<uint64_t> {
  using type = uint64_t;
};
template <class T>
using Wrap = typename WrapImpl<T>::type;

template <class T>
constexpr bool kSignedType = static_cast<T>(-1) < static_cast<T>(0);

// Division that cannot trap: by zero gives 0, and the most negative number by -1 itself (as NumPy).
template <class T>
T Quotient(T a, T b) {
  if (b == 0) return 0;
  if constexpr (kSignedType<T>) {
    if (b == -1) return static_cast<T>(Wrap<T>{0} - static_cast<Wrap<T>>(a));
  }
  return static_cast<T>(a / b);
}
template <class T>
T Remainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (kSignedType<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}
template <class T>
T FloorQuotient(T a, T b) {
  T q = Quotient(a, b);
  if constexpr (kSignedType<T>) {
    if (Remainder(a, b) != 0 && (a < 0) != (b < 0)) --q;
  }
  return q;
}
template <class T>
T FloorRemainder(T a, T b) {
  T r = Remainder(a, b);
  if constexpr (kSignedType<T>) {
    if (r != 0 && (r < 0) != (b < 0)) r = static_cast<T>(r + b);
  }
  return r;
}

// Wraps; a negative exponent gives the truncated true value.
template <class T>
T IntegerPower(T base, T exponent) {
  if constexpr (kSignedType<T>) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == -1) return (exponent & 1) ? -1 : 1;
      return 0;
    }
  }
  Wrap<T> result = 1;
  Wrap<T> square = static_cast<Wrap<T>>(base);
  for (auto e = static_cast<Wrap<T>>(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

template <class T>
void FillCompare(VectorTable& t) {
  constexpr DType d = kDTypeOf<T>;
  t.Set(ScalarOp::kLess, d, Binary<T, bool>([](T a, T b) { return a < b; }));
  t.Set(ScalarOp::kLessEqual, d, Binary<T, bool>([](T a, T b) { return a <= b; }));
  t.Set(ScalarOp::kGreater, d, Binary<T, bool>([](T a, T b) { return a > b; }));
  t.Set(ScalarOp::kGreaterEqual, d, Binary<T, bool>([](T a, T b) { return a >= b; }));
  t.Set(ScalarOp::kEqual, d, Binary<T, bool>([](T a, T b) { return a == b; }));
  t.Set(ScalarOp::kNotEqual, d, Binary<T, bool>([](T a, T b) { return a != b; }));
  t.Set(ScalarOp::kSelect, d, SelectLoop<T>());
  t.SetCast(d, d, Unary<T, T>([](T a) { return a; }));
}

template <class T>
void FillInteger(VectorTable& t) {
  constexpr DType d = kDTypeOf<T>;
  using U = Wrap<T>;
  t.Set(ScalarOp::kAdd, d, Binary<T, T>([](T a, T b) { return static_cast<T>(U(a) + U(b)); }));
  t.Set(ScalarOp::kSub, d, Binary<T, T>([](T a, T b) { return static_cast<T>(U(a) - U(b)); }));
  t.Set(ScalarOp::kMul, d, Binary<T, T>([](T a, T b) { return static_cast<T>(U(a) * U(b)); }));
  t.Set(ScalarOp::kFloorDiv, d, Binary<T, T>([](T a, T b) { return FloorQuotient(a, b); }));
  t.Set(ScalarOp::kFloorMod, d, Binary<T, T>([](T a, T b) { return FloorRemainder(a, b); }));
  t.Set(ScalarOp::kTruncDiv, d, Binary<T, T>([](T a, T b) { return Quotient(a, b); }));
  t.Set(ScalarOp::kTruncMod, d, Binary<T, T>([](T a, T b) { return Remainder(a, b); }));
  auto power = Binary<T, T>([](T a, T b) { return IntegerPower(a, b); });
  t.Set(ScalarOp::kPow, d, power);
  t.uniform_pow[static_cast<int>(d)] = power;
  t.Set(ScalarOp::kMin, d, Binary<T, T>([](T a, T b) { return a < b ? a : b; }));
  t.Set(ScalarOp::kMax, d, Binary<T, T>([](T a, T b) { return a > b ? a : b; }));
  t.Set(ScalarOp::kNeg, d, Unary<T, T>([](T a) { return static_cast<T>(U{0} - U(a)); }));
  t.Set(ScalarOp::kAbs, d,
        Unary<T, T>([](T a) { return a < 0 ? static_cast<T>(U{0} - U(a)) : a; }));
  t.Set(ScalarOp::kSign, d, Unary<T, T>([](T a) { return static_cast<T>((a > 0) - (a < 0)); }));
  t.Set(ScalarOp::kAnd, d, Binary<T, T>([](T a, T b) { return static_cast<T>(a & b); }));
  t.Set(ScalarOp::kOr, d, Binary<T, T>([](T a, T b) { return static_cast<T>(a | b); }));
  t.Set(ScalarOp::kXor, d, Binary<T, T>([](T a, T b) { return static_cast<T>(a ^ b); }));
  t.Set(ScalarOp::kNot, d, Unary<T, T>([](T a) { return static_cast<T>(~a); }));
  constexpr unsigned kWidth = sizeof(T) * 8;
  t.Set(ScalarOp::kShiftLeft, d, Binary<T, T>([](T a, T b) {
          bool out = static_cast<uint64_t>(b) >= kWidth;
          return static_cast<T>(out ? U{0} : U(a) << (out ? 0 : static_cast<unsigned>(b)));
        }));
  t.Set(ScalarOp::kShiftRight, d, Binary<T, T>([](T a, T b) {
          unsigned by = static_cast<uint64_t>(b) >= kWidth ? kWidth - 1 : static_cast<unsigned>(b);
          if constexpr (!kSignedType<T>) {
            if (static_cast<uint64_t>(b) >= kWidth) return T{0};
          }
          return static_cast<T>(a >> by);
        }));
  FillCompare<T>(t);
}

void FillBool(VectorTable& t) {
  constexpr DType d = DType::kBool;
  auto both =
      Binary<uint8_t, uint8_t>([](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a & b); });
  auto either =
      Binary<uint8_t, uint8_t>([](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a | b); });
  auto differ =
      Binary<uint8_t, uint8_t>([](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a ^ b); });
  auto same = Unary<uint8_t, uint8_t>([](uint8_t a) { return a; });
  t.Set(ScalarOp::kAnd, d, both);
  t.Set(ScalarOp::kMul, d, both);
  t.Set(ScalarOp::kMin, d, both);
  t.Set(ScalarOp::kOr, d, either);
  t.Set(ScalarOp::kAdd, d, either);
  t.Set(ScalarOp::kMax, d, either);
  t.Set(ScalarOp::kXor, d, differ);
  t.Set(ScalarOp::kSub, d, differ);
  t.Set(ScalarOp::kNotEqual, d, differ);
  t.Set(ScalarOp::kEqual, d, Binary<uint8_t, uint8_t>([](uint8_t a, uint8_t b) {
          return static_cast<uint8_t>(a == b);
        }));
  t.Set(ScalarOp::kLess, d, Binary<uint8_t, bool>([](uint8_t a, uint8_t b) { return a < b; }));
  t.Set(ScalarOp::kLessEqual, d,
        Binary<uint8_t, bool>([](uint8_t a, uint8_t b) { return a <= b; }));
  t.Set(ScalarOp::kGreater, d, Binary<uint8_t, bool>([](uint8_t a, uint8_t b) { return a > b; }));
  t.Set(ScalarOp::kGreaterEqual, d,
        Binary<uint8_t, bool>([](uint8_t a, uint8_t b) { return a >= b; }));
  t.Set(ScalarOp::kNot, d,
        Unary<uint8_t, uint8_t>([](uint8_t a) { return static_cast<uint8_t>(a ^ 1); }));
  t.Set(ScalarOp::kAbs, d, same);
  t.Set(ScalarOp::kSign, d, same);
  t.Set(ScalarOp::kSelect, d, SelectLoop<uint8_t>());
  t.SetCast(d, d, same);
}

template <class T>
void FillFloating(VectorTable& t) {
  constexpr DType d = kDTypeOf<T>;
  t.Set(ScalarOp::kAdd, d, Binary<T, T>([](T a, T b) { return a + b; }));
  t.Set(ScalarOp::kSub, d, Binary<T, T>([](T a, T b) { return a - b; }));
  t.Set(ScalarOp::kMul, d, Binary<T, T>([](T a, T b) { return a * b; }));
  t.Set(ScalarOp::kDiv, d, Binary<T, T>([](T a, T b) { return a / b; }));
  // A nan wins: the sum of a nan and anything is one.
  t.Set(ScalarOp::kMin, d, Binary<T, T>([](T a, T b) {
          T m = a < b ? a : b;
          return a == a ? m : a;
        }));
  t.Set(ScalarOp::kMax, d, Binary<T, T>([](T a, T b) {
          T m = a > b ? a : b;
          return a == a ? m : a;
        }));
  t.Set(ScalarOp::kNeg, d, Unary<T, T>([](T a) { return -a; }));
  t.Set(ScalarOp::kSign, d, Unary<T, T>([](T a) {
          T s = a > 0 ? T{1} : (a < 0 ? T{-1} : T{0});
          return a == a ? s : a;
        }));
  constexpr T kInf = static_cast<T>(__builtin_inff());
  t.Set(ScalarOp::kIsNan, d, Unary<T, bool>([](T a) { return a != a; }));
  t.Set(ScalarOp::kIsInf, d, Unary<T, bool>([](T a) { return a == kInf || a == -kInf; }));
  t.Set(ScalarOp::kIsFinite, d, Unary<T, bool>([](T a) { return a - a == 0; }));
  FillCompare<T>(t);
}

template <class T>
void Repeat(void* out, const void* value, int64_t n) {
  T* y = static_cast<T*>(out);
  const T v = *static_cast<const T*>(value);
  for (int64_t i = 0; i < n; ++i) y[i] = v;
}

struct Pair {
  uint64_t words[2];
};

}  // namespace

void FillArithmetic(VectorTable& t) {
  t.fills[0] = Repeat<uint8_t>;
  t.fills[1] = Repeat<uint16_t>;
  t.fills[2] = Repeat<uint32_t>;
  t.fills[3] = Repeat<uint64_t>;
  t.fills[4] = Repeat<Pair>;
  FillBool(t);
  FillInteger<int8_t>(t);
  FillInteger<int16_t>(t);
  FillInteger<int32_t>(t);
  FillInteger<int64_t>(t);
  FillInteger<uint8_t>(t);
  FillInteger<uint16_t>(t);
  FillInteger<uint32_t>(t);
  FillInteger<uint64_t>(t);
  FillFloating<float>(t);
  FillFloating<double>(t);
}

}  // namespace ms::cpu::MS_ISA
