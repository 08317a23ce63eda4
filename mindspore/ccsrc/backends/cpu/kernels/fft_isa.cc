// Loops of Fourier transforms over groups of lanes. The inverse transform is the forward one with
// the real and the imaginary parts exchanged: `re` says where the real parts are in an element.
#include <algorithm>
#include <utility>

#include "backends/cpu/isa/vectors.h"
#include "backends/cpu/kernels/fft_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

template <class T>
inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
template <class T>
inline constexpr int64_t kElement = 2 * kLanes<T>;  // numbers in an element of a group
template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vector = typename VectorOf<T>::type;

template <class T>
Vector<T> Load(const T* p) {
  Vector<T> v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
template <class T>
void Store(T* p, Vector<T> v) {
  __builtin_memcpy(p, &v, sizeof(v));
}

template <class T>
struct Complex {
  Vector<T> re, im;
  friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend Complex operator*(T x, Complex a) { return {x * a.re, x * a.im}; }
  Complex Times(T c, T s) const { return {re * c - im * s, re * s + im * c}; }
  Complex Times(Complex w) const { return {re * w.re - im * w.im, re * w.im + im * w.re}; }
  Complex Right() const { return {im, -re}; }  // times -i
};

template <class T>
Complex<T> Read(const T* x, int64_t re) {
  return {Load(x + re), Load(x + kLanes<T> - re)};
}
template <class T>
void Write(T* x, int64_t re, Complex<T> a) {
  Store(x + re, a.re);
  Store(x + kLanes<T> - re, a.im);
}
template <class T>
int64_t RealPart(bool inverse) {
  return inverse ? kLanes<T> : 0;
}

// ---- transforms of few elements -------------------------------------------------------------
template <class T>
[[gnu::always_inline]] inline void Dft2(Complex<T>& a, Complex<T>& b) {
  Complex<T> sum = a + b;
  b = a - b;
  a = sum;
}

template <class T>
[[gnu::always_inline]] inline void Dft4(Complex<T>& a, Complex<T>& b, Complex<T>& c,
                                        Complex<T>& d) {
  Complex<T> even = a + c, other = a - c, odd = b + d, turned = (b - d).Right();
  a = even + odd, c = even - odd, b = other + turned, d = other - turned;
}

template <class T>
[[gnu::always_inline]] inline void Dft8(Complex<T>* t) {
  constexpr T kHalfRoot = static_cast<T>(0.70710678118654752440);
  Dft4(t[0], t[2], t[4], t[6]);
  Dft4(t[1], t[3], t[5], t[7]);
  Complex<T> one = kHalfRoot * (t[3] + t[3].Right());
  Complex<T> three = kHalfRoot * (t[7].Right() - t[7]);
  Complex<T> zero = t[1], two = t[5].Right(), e0 = t[0], e1 = t[2], e2 = t[4], e3 = t[6];
  t[0] = e0 + zero, t[4] = e0 - zero, t[1] = e1 + one, t[5] = e1 - one;
  t[2] = e2 + two, t[6] = e2 - two, t[3] = e3 + three, t[7] = e3 - three;
}

// An odd number of elements: sums and differences of those that lie opposite.
template <class T>
[[gnu::always_inline]] inline void DftOdd(int radix, const T* cosines, const T* sines,
                                          Complex<T>* t) {
  Complex<T> first = t[0];
  int half = radix / 2;
  for (int k = 1; k <= half; ++k) {
    Dft2(t[k], t[radix - k]);
    t[0] = t[0] + t[k];
  }
  Complex<T> sums[kMostRadix / 2 + 1], turns[kMostRadix / 2 + 1];
#pragma GCC unroll 4
  for (int j = 1; j <= half; ++j) {
    Complex<T> sum = first, turn{};
    int at = 0;
#pragma GCC unroll 4
    for (int k = 1; k <= half; ++k) {
      at = at + j >= radix ? at + j - radix : at + j;
      sum = sum + cosines[at] * t[k];
      turn = turn + sines[at] * t[radix - k];
    }
    sums[j] = sum, turns[j] = turn.Right();
  }
#pragma GCC unroll 4
  for (int j = 1; j <= half; ++j) t[j] = sums[j] + turns[j], t[radix - j] = sums[j] - turns[j];
}

template <int Radix, class T>
[[gnu::always_inline]] inline void Dft(const FftPass<T>& pass, int radix, Complex<T>* t) {
  if constexpr (Radix == 2) {
    Dft2(t[0], t[1]);
  } else if constexpr (Radix == 4) {
    Dft4(t[0], t[1], t[2], t[3]);
    // Dft4 leaves them in order.
  } else if constexpr (Radix == 8) {
    Dft8(t);
  } else {
    DftOdd(radix, pass.cosines.data(), pass.sines.data(), t);
  }
}

// ---- passes ---------------------------------------------------------------------------------
// Radix 0: any odd one.
template <int Radix, class T>
void Pass(const FftPass<T>& pass, int64_t re, const T* x, T* y) {
  const int radix = Radix ? Radix : static_cast<int>(pass.radix);
  const int64_t apart = pass.stride * pass.rest * kElement<T>, row = pass.stride * kElement<T>;
  Complex<T> t[Radix ? Radix : kMostRadix];
  auto read = [&](const T* from) {
#pragma GCC unroll 8
    for (int k = 0; k < radix; ++k) t[k] = Read(from + k * apart, re);
    Dft<Radix>(pass, radix, t);
  };
  for (int64_t q = 0; q < row; q += kElement<T>) {
    read(x + q);
#pragma GCC unroll 8
    for (int k = 0; k < radix; ++k) Write(y + q + k * row, re, t[k]);
  }
  for (int64_t p = 1; p < pass.rest; ++p) {
    const T* w = pass.factors.data() + 2 * (radix - 1) * p;
    for (int64_t q = 0; q < row; q += kElement<T>) {
      read(x + p * row + q);
      T* to = y + p * radix * row + q;
      Write(to, re, t[0]);
#pragma GCC unroll 8
      for (int k = 1; k < radix; ++k)
        Write(to + k * row, re, t[k].Times(w[2 * k - 2], w[2 * k - 1]));
    }
  }
}

template <class T>
void RunPass(const FftPass<T>& pass, int64_t re, const T* x, T* y) {
  switch (pass.radix) {
    case 2:
      return Pass<2>(pass, re, x, y);
    case 3:
      return Pass<3>(pass, re, x, y);
    case 4:
      return Pass<4>(pass, re, x, y);
    case 5:
      return Pass<5>(pass, re, x, y);
    case 7:
      return Pass<7>(pass, re, x, y);
    case 8:
      return Pass<8>(pass, re, x, y);
    default:
      return Pass<0>(pass, re, x, y);
  }
}

template <class T>
void Multiply(const T* factors, int64_t n, int64_t re, const T* x, T* y) {
  for (int64_t i = 0; i < n; ++i) {
    Complex<T> a = Read(x + i * kElement<T>, re);
    Write(y + i * kElement<T>, re, a.Times(factors[2 * i], factors[2 * i + 1]));
  }
}

template <class T>
T* Transform(const LaneFft<T>& plan, bool inverse, T* x) {
  int64_t re = RealPart<T>(inverse);
  if (!plan.inner) {
    T* y = x + plan.n * kElement<T>;
    for (const FftPass<T>& pass : plan.passes) RunPass(pass, re, x, y), std::swap(x, y);
    return x;
  }
  T* work = x + plan.n * kElement<T>;
  const FftChirp<T>& by = plan.by_chirp;
  Multiply(by.chirp.data(), plan.n, re, x, work);
  std::fill(work + plan.n * kElement<T>, work + plan.inner->n * kElement<T>, T(0));
  T* done = Transform(*plan.inner, inverse, work);
  // Back to where a transform starts, which wants to be first in its room.
  Multiply(by.spectrum.data(), plan.inner->n, re, done, work);
  done = Transform(*plan.inner, !inverse, work);
  Multiply(by.chirp.data(), plan.n, re, done, x);
  return x;
}

template <class T>
void Twist(const T* factors, int64_t n, bool inverse, T* x) {
  int64_t re = RealPart<T>(inverse);
  for (int64_t i = 0; i < n; ++i, x += kElement<T>, factors += kElement<T>)
    Write(x, re, Read(x, re).Times(Read(factors, 0)));
}

// ---- lanes from lines and back --------------------------------------------------------------
template <class T, int Apart, size_t... I>
[[gnu::always_inline]] inline void Exchange(Vector<T>& a, Vector<T>& b, std::index_sequence<I...>) {
  constexpr int kWidth = kLanes<T>;
  Vector<T> low =
      __builtin_shufflevector(a, b,
                              (static_cast<int>(I) & Apart ? kWidth + static_cast<int>(I) - Apart
                                                           : static_cast<int>(I))...);
  b = __builtin_shufflevector(a, b,
                              (static_cast<int>(I) & Apart ? kWidth + static_cast<int>(I)
                                                           : static_cast<int>(I) + Apart)...);
  a = low;
}

template <class T, int Apart = kLanes<T> / 2>
[[gnu::always_inline]] inline void TransposeSquare(Vector<T>* rows) {
#pragma GCC unroll 16
  for (int i = 0; i < kLanes<T>; ++i) {
    if ((i & Apart) == 0)
      Exchange<T, Apart>(rows[i], rows[i + Apart], std::make_index_sequence<kLanes<T>>{});
  }
  if constexpr (Apart > 1) TransposeSquare<T, Apart / 2>(rows);
}

template <class T, size_t... I>
[[gnu::always_inline]] inline Complex<T> Parted(Vector<T> a, Vector<T> b,
                                                std::index_sequence<I...>) {
  return {__builtin_shufflevector(a, b, static_cast<int>(2 * I)...),
          __builtin_shufflevector(a, b, static_cast<int>(2 * I + 1)...)};
}
template <class T, size_t... I>
[[gnu::always_inline]] inline Vector<T> Joined(Complex<T> a, int half, std::index_sequence<I...>) {
  constexpr int kWidth = kLanes<T>;
  if (half == 0)
    return __builtin_shufflevector(a.re, a.im, static_cast<int>(I / 2 + (I % 2) * kWidth)...);
  return __builtin_shufflevector(a.re, a.im,
                                 static_cast<int>(kWidth / 2 + I / 2 + (I % 2) * kWidth)...);
}

template <class T>
void LoadRows(const FftLines<const T>& from, int64_t count, T* to) {
  constexpr int kWidth = kLanes<T>;
  int64_t j = 0;
  for (; j + kWidth <= count; j += kWidth, to += kWidth * kWidth) {
    Vector<T> rows[kWidth];
#pragma GCC unroll 16
    for (int l = 0; l < kWidth; ++l) rows[l] = Load(from.at[l] + j);
    TransposeSquare<T>(rows);
#pragma GCC unroll 16
    for (int l = 0; l < kWidth; ++l) Store(to + l * kWidth, rows[l]);
  }
  for (; j < count; ++j) {
    for (int l = 0; l < kWidth; ++l) *to++ = from.at[l][j];
  }
}

template <class T>
void StoreRows(const T* from, int64_t count, T scale, const FftLines<T>& to) {
  constexpr int kWidth = kLanes<T>;
  int64_t j = 0;
  for (; j + kWidth <= count; j += kWidth, from += kWidth * kWidth) {
    Vector<T> rows[kWidth];
#pragma GCC unroll 16
    for (int l = 0; l < kWidth; ++l) rows[l] = scale * Load(from + l * kWidth);
    TransposeSquare<T>(rows);
    for (int l = 0; l < to.lanes; ++l) Store(to.at[l] + j, rows[l]);
  }
  for (; j < count; ++j, from += kWidth) {
    for (int l = 0; l < to.lanes; ++l) to.at[l][j] = scale * from[l];
  }
}

template <class T>
void LoadGroup(const FftLines<const T>& from, int parts, int64_t n, T* to) {
  constexpr int kWidth = kLanes<T>;
  if (from.step == parts) return LoadRows(from, n * parts, to);
  if (from.adjacent) {
    const T* x = from.at[0];
    for (int64_t i = 0; i < n; ++i, x += from.step, to += parts * kWidth) {
      if (parts == 1) {
        Store(to, Load(x));
      } else {
        Write(to, 0, Parted<T>(Load(x), Load(x + kWidth), std::make_index_sequence<kLanes<T>>{}));
      }
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int part = 0; part < parts; ++part) {
      for (int l = 0; l < kWidth; ++l) *to++ = from.at[l][i * from.step + part];
    }
  }
}

template <class T>
void StoreGroup(const T* from, int parts, int64_t n, T scale, const FftLines<T>& to) {
  constexpr int kWidth = kLanes<T>;
  if (to.step == parts) return StoreRows(from, n * parts, scale, to);
  if (to.adjacent) {
    T* x = to.at[0];
    for (int64_t i = 0; i < n; ++i, x += to.step, from += parts * kWidth) {
      if (parts == 1) {
        Store(x, scale * Load(from));
      } else {
        Complex<T> a = scale * Read(from, 0);
        Store(x, Joined(a, 0, std::make_index_sequence<kLanes<T>>{}));
        Store(x + kWidth, Joined(a, 1, std::make_index_sequence<kLanes<T>>{}));
      }
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int part = 0; part < parts; ++part, from += kWidth) {
      for (int l = 0; l < to.lanes; ++l) to.at[l][i * to.step + part] = scale * from[l];
    }
  }
}

// ---- real signals ---------------------------------------------------------------------------
// With the elements of even number as real parts and the others as imaginary ones, the spectrum is
// even + root * odd, where both parts are found from the elements k and n / 2 - k.
template <class T>
void Untangle(const T* roots, int64_t n, FftHalf half, T* x) {
  int64_t count = n / 2;
  T inner = static_cast<T>(half.inner / 2), sign = half.conjugate ? T(-1) : T(1);
  Complex<T> first = Read(x, 0);
  Write(x, 0, Complex<T>{first.re + first.im, Vector<T>{}});
  Write(x + count * kElement<T>, 0, Complex<T>{first.re - first.im, Vector<T>{}});
  for (int64_t k = 1; k <= count - k; ++k) {
    T *low = x + k * kElement<T>, *high = x + (count - k) * kElement<T>;
    Complex<T> a = Read(low, 0), b = Read(high, 0);
    b.im = -b.im;
    Complex<T> even = inner * (a + b);
    Complex<T> odd = (inner * (a - b)).Right().Times(roots[2 * k], roots[2 * k + 1]);
    Complex<T> lower = even + odd, upper = even - odd;
    lower.im *= sign, upper.im *= -sign;
    Write(low, 0, lower);
    Write(high, 0, upper);
  }
}

template <class T>
void Tangle(const T* roots, int64_t n, FftHalf half, T* x) {
  int64_t count = n / 2;
  T inner = static_cast<T>(half.inner), sign = half.conjugate ? T(-1) : T(1);
  Vector<T> first = Load(x), last = Load(x + count * kElement<T>);
  Write(x, 0, Complex<T>{first + last, first - last});
  for (int64_t k = 1; k <= count - k; ++k) {
    T *low = x + k * kElement<T>, *high = x + (count - k) * kElement<T>;
    Complex<T> a = inner * Read(low, 0), b = inner * Read(high, 0);
    a.im *= sign, b.im *= -sign;
    Complex<T> even = a + b, odd = (a - b).Times(roots[2 * k], -roots[2 * k + 1]);
    Complex<T> turned{-odd.im, odd.re};
    Complex<T> lower = even + turned, upper = even - turned;
    upper.im = -upper.im;
    Write(low, 0, lower);
    Write(high, 0, upper);
  }
}

template <class T>
void Widen(int64_t n, T* x) {
  for (int64_t i = n - 1; i >= 0; --i)
    Write(x + i * kElement<T>, 0, Complex<T>{Load(x + i * kLanes<T>), Vector<T>{}});
}
template <class T>
void Narrow(int64_t n, T* x) {
  for (int64_t i = 0; i < n; ++i) Store(x + i * kLanes<T>, Load(x + i * kElement<T>));
}

template <class T>
void Halve(int64_t n, FftHalf half, T* x) {
  T inner = static_cast<T>(half.inner), sign = half.conjugate ? -inner : inner;
  Store(x + kLanes<T>, Vector<T>{});
  for (int64_t i = 1; i <= n / 2; ++i) {
    Complex<T> a = Read(x + i * kElement<T>, 0);
    Write(x + i * kElement<T>, 0, Complex<T>{inner * a.re, sign * a.im});
  }
}
template <class T>
void Mirror(int64_t n, FftHalf half, T* x) {
  Halve(n, half, x);
  for (int64_t i = 1; i <= n / 2; ++i) {
    Complex<T> a = Read(x + i * kElement<T>, 0);
    Write(x + (n - i) * kElement<T>, 0, Complex<T>{a.re, -a.im});
  }
}

}  // namespace

template <class T>
FftLoops<T> MakeFftLoops() {
  return {kLanes<T>, LoadGroup<T>, StoreGroup<T>, Transform<T>, Twist<T>, Untangle<T>,
          Tangle<T>, Widen<T>,     Halve<T>,      Mirror<T>,    Narrow<T>};
}

template FftLoops<float> MakeFftLoops<float>();
template FftLoops<double> MakeFftLoops<double>();

}  // namespace ms::cpu::MS_ISA
