// Complex numbers: a part of the texts of kernels that compute with some. Arithmetic has the bits of the
// host's (backends/cpu/isa/complex.cc); functions are computed in double for both types.
template <class R>
struct alignas(2 * sizeof(R)) Complex {
  R re, im;
  Complex() = default;
  MS_INSIDE Complex(R real, R imaginary = 0) : re(real), im(imaginary) {}
  template <class S>
  MS_INSIDE explicit Complex(Complex<S> other) : re((R)other.re), im((R)other.im) {}
  MS_INSIDE Complex operator/(R by) const { return Complex(re / by, im / by); }
  MS_INSIDE bool operator!=(Complex other) const { return re != other.re || im != other.im; }
};
template <class R>
struct CastTo<Complex<R>> {
  template <class U>
  static MS_INSIDE Complex<R> Of(U x) {
    return Complex<R>((R)x);
  }
  template <class S>
  static MS_INSIDE Complex<R> Of(Complex<S> x) {
    return Complex<R>(x);
  }
};
template <>
struct TotalOf<Complex<float>> {
  typedef Complex<double> type;
};
// What the threads of a warp give to each other is a number.
template <class R>
MS_FUNCTION Complex<R> __shfl_xor_sync(unsigned threads, Complex<R> x, int mask) {
  return Complex<R>(__shfl_xor_sync(threads, x.re, mask), __shfl_xor_sync(threads, x.im, mask));
}

#define MS_COMPLEX template <class R> MS_FUNCTION
MS_COMPLEX R k_real(Complex<R> a) { return a.re; }
MS_COMPLEX R k_imag(Complex<R> a) { return a.im; }
MS_COMPLEX Complex<R> k_complex(R re, R im) { return Complex<R>(re, im); }
MS_COMPLEX Complex<R> k_conj(Complex<R> a) { return Complex<R>(a.re, -a.im); }
MS_COMPLEX Complex<R> k_neg(Complex<R> a) { return Complex<R>(-a.re, -a.im); }
MS_COMPLEX Complex<R> k_add(Complex<R> a, Complex<R> b) {
  return Complex<R>(a.re + b.re, a.im + b.im);
}
MS_COMPLEX Complex<R> k_sub(Complex<R> a, Complex<R> b) {
  return Complex<R>(a.re - b.re, a.im - b.im);
}
MS_COMPLEX Complex<R> k_mul(Complex<R> a, Complex<R> b) {
  return Complex<R>(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
MS_COMPLEX bool k_equal(Complex<R> a, Complex<R> b) { return !(a != b); }
MS_COMPLEX bool k_not_equal(Complex<R> a, Complex<R> b) { return a != b; }
MS_COMPLEX bool k_is_nan(Complex<R> a) { return k_is_nan(a.re) || k_is_nan(a.im); }
MS_COMPLEX bool k_is_inf(Complex<R> a) { return k_is_inf(a.re) || k_is_inf(a.im); }
MS_COMPLEX bool k_is_finite(Complex<R> a) { return k_is_finite(a.re) && k_is_finite(a.im); }

MS_FUNCTION float k_abs(Complex<float> a) {
  const double x = a.re, y = a.im;
  return k_is_inf(a) ? (float)__builtin_huge_val() : (float)::sqrt(x * x + y * y);
}
MS_FUNCTION double k_abs(Complex<double> a) { return ::hypot(a.re, a.im); }

// ---- quotients
// Of numbers that squares do not take out of range; by R. L. Smith where they may.
MS_FUNCTION Complex<double> Ratio(Complex<float> a, Complex<float> b) {
  const double x = a.re, y = a.im, c = b.re, d = b.im, square = c * c + d * d;
  return Complex<double>((x * c + y * d) / square, (y * c - x * d) / square);
}
MS_FUNCTION Complex<double> Ratio(Complex<double> a, Complex<double> b) {
  if (::fabs(b.re) < ::fabs(b.im)) {
    const double r = b.re / b.im, by = b.re * r + b.im;
    return Complex<double>((a.re * r + a.im) / by, (a.im * r - a.re) / by);
  }
  const double r = b.im / b.re, by = b.im * r + b.re;
  return Complex<double>((a.im * r + a.re) / by, (a.im - a.re * r) / by);
}
// 1 with the sign of an infinite part, and 0 with that of another one.
MS_COMPLEX Complex<R> Directions(Complex<R> a) {
  return Complex<R>((R)::copysign(k_is_inf(a.re) ? 1.0 : 0.0, (double)a.re),
                    (R)::copysign(k_is_inf(a.im) ? 1.0 : 0.0, (double)a.im));
}
// Without parts that are nan.
MS_COMPLEX Complex<R> Known(Complex<R> a) {
  return Complex<R>(k_is_nan(a.re) ? (R)::copysign(0.0, (double)a.re) : a.re,
                    k_is_nan(a.im) ? (R)::copysign(0.0, (double)a.im) : a.im);
}
// What came out as nan though a factor is infinite, or overflowed, is what C has for it.
MS_COMPLEX Complex<R> Mended(Complex<R> a, Complex<R> b) {
  const Complex<R> product = k_mul(a, b);
  if (!k_is_nan(product.re) || !k_is_nan(product.im)) return product;
  const bool is_inf = k_is_inf(a) || k_is_inf(b);
  if (k_is_inf(a)) a = Directions(a), b = Known(b);
  if (k_is_inf(b)) b = Directions(b), a = Known(a);
  const bool over = k_is_inf(a.re * b.re) || k_is_inf(a.im * b.im) || k_is_inf(a.re * b.im) ||
                    k_is_inf(a.im * b.re);
  if (!is_inf && !over) return product;
  const R huge = (R)__builtin_huge_val();
  const Complex<R> turned = is_inf ? k_mul(a, b) : k_mul(Known(a), Known(b));
  return Complex<R>(huge * turned.re, huge * turned.im);
}
// Likewise where the divisor is 0, or one of both infinite.
MS_COMPLEX Complex<R> k_div(Complex<R> a, Complex<R> b) {
  const Complex<R> q(Ratio(a, b));
  if (!k_is_nan(q.re) || !k_is_nan(q.im)) return q;
  const R huge = (R)__builtin_huge_val();
  if (b.re == 0 && b.im == 0 && (!k_is_nan(a.re) || !k_is_nan(a.im))) {
    const R sided = (R)::copysign((double)huge, (double)b.re);
    return Complex<R>(sided * a.re, sided * a.im);
  }
  if (k_is_inf(a) && k_is_finite(b)) {
    const Complex<R> turned = k_mul(Directions(a), k_conj(b));
    return Complex<R>(huge * turned.re, huge * turned.im);
  }
  if (k_is_inf(b) && k_is_finite(a)) {
    const Complex<R> turned = k_mul(a, k_conj(Directions(b)));
    return Complex<R>(turned.re * 0, turned.im * 0);
  }
  return q;
}
// a / |a|, and 0 of 0. A part that alone is infinite says it all.
MS_COMPLEX Complex<R> k_sign(Complex<R> a) {
  if (a.re == 0 && a.im == 0) return Complex<R>(0);
  if (k_is_inf(a.re) != k_is_inf(a.im)) {
    const Complex<R> only = Directions(a);
    return k_is_inf(a.re) ? Complex<R>(only.re) : Complex<R>(0, only.im);
  }
  const R x = k_abs(a.re), y = k_abs(a.im);
  a = a / (x < y ? y : x);  // |a| may be out of range
  return a / k_abs(a);
}

// ---- functions, in double
typedef Complex<double> Wide;

// A product in which 0 wins over what is infinite or nan.
MS_FUNCTION double Product(double a, double b) {
  const double made = a * b;
  return made == made ? made : a == 0 ? a : b == 0 ? b : made;
}
MS_FUNCTION Wide ExpOf(Wide a) {
  if (!k_is_finite(a.im)) {
    if (a.re == -__builtin_huge_val()) return Wide(0);
    if (a.re == __builtin_huge_val()) return Wide(a.re, a.im - a.im);
  }
  const double beyond = a.re > 700 && k_is_finite(a.re) ? 700 : 0, more = ::exp(beyond);
  const double size = ::exp(a.re - beyond);
  return Wide(size * ::cos(a.im) * more, a.im == 0 ? a.im : size * ::sin(a.im) * more);
}
// exp(a) - 1, exact for small a: exp(x) cos(y) - 1 = expm1(x) cos(y) - 2 sin(y / 2)^2.
MS_FUNCTION Wide Expm1Of(Wide a) {
  const Wide power = ExpOf(a);
  if (!(a.re < 1) || !k_is_finite(a.im)) return Wide(power.re - 1, power.im);
  const double half = ::sin(a.im / 2);
  return Wide(::expm1(a.re) * ::cos(a.im) - 2 * half * half, power.im);
}
// Where |a| is near 1 its logarithm is that of |a|^2 - 1 = (x - 1) (x + 1) + y^2.
MS_FUNCTION Wide LogOf(Wide a) {
  const double x = ::fabs(a.re), y = ::fabs(a.im), size = ::hypot(x, y);
  const double most = x < y ? y : x, least = x < y ? x : y;
  double log = ::log(size);
  if (size > 0.5 && size < 2) log = ::log1p((most - 1) * (most + 1) + least * least) / 2;
  if (k_is_inf(size) && k_is_finite(most)) log = ::log(::hypot(x / 2, y / 2)) + ::log(2.0);
  return Wide(log, ::atan2(a.im, a.re));
}
// log(1 + a), exact for small a: |1 + a|^2 - 1 = x (x + 2) + y^2.
MS_FUNCTION Wide Log1pOf(Wide a) {
  if (!(k_abs(a) < 0.5)) return LogOf(Wide(1 + a.re, a.im));
  return Wide(::log1p(a.re * (a.re + 2) + a.im * a.im) / 2, ::atan2(a.im, 1 + a.re));
}
MS_FUNCTION Wide SqrtOf(Wide a) {
  const double x = ::fabs(a.re), y = ::fabs(a.im);
  if (k_is_inf(y)) return Wide(y, a.im);
  if (x == 0 && y == 0) return Wide(0, a.im);
  // Sizes that overflow, or are too small for their squares, are moved by a power of 4.
  const double most = x < y ? y : x, by = most > 0x1p1000 ? 0x1p-4 : most < 0x1p-1000 ? 0x1p108 : 1;
  const double back = most > 0x1p1000 ? 4 : most < 0x1p-1000 ? 0x1p-54 : 1;
  const double root = ::sqrt((x * by + ::hypot(x * by, y * by)) / 2);
  const double other = y == 0 && x == x ? 0 : y * by / (2 * root);
  return a.re < 0 ? Wide(other * back, ::copysign(root * back, a.im))
                  : Wide(root * back, ::copysign(other * back, a.im));
}
MS_FUNCTION Wide RsqrtOf(Wide a) {
  const Wide root = SqrtOf(a);
  return k_div(Wide(1), root);
}
// Either of both powers is of a number that is not above 0, so that neither overflows.
MS_FUNCTION Wide SigmoidOf(Wide a) {
  const Wide power = ExpOf(a.re < 0 ? a : k_neg(a));
  return k_div(a.re < 0 ? power : Wide(1), k_add(Wide(1), power));
}
MS_FUNCTION Wide SinhOf(Wide a) {
  return Wide(Product(::sinh(a.re), ::cos(a.im)), Product(::cosh(a.re), ::sin(a.im)));
}
MS_FUNCTION Wide CoshOf(Wide a) {
  return Wide(Product(::cosh(a.re), ::cos(a.im)), Product(::sinh(a.re), ::sin(a.im)));
}
// By W. Kahan; where |x| is large, by its limit.
MS_FUNCTION Wide TanhOf(Wide a) {
  if (a.re == 0) return Wide(a.re, ::tan(a.im));
  if (::fabs(a.re) > 20) {
    const double turn = k_is_inf(a.re) && !k_is_finite(a.im) ? 0 : ::sin(2 * a.im);
    return Wide(::copysign(1 + 0 * turn, a.re), 2 * turn * ::exp(-2 * ::fabs(a.re)));
  }
  const double t = ::tan(a.im), s = ::sinh(a.re), c = ::sqrt(1 + s * s), b = 1 + t * t;
  return Wide(b * c * s / (1 + b * s * s), t / (1 + b * s * s));
}
// Inverse functions, likewise. Of infinite numbers, the angle is that of one far out.
MS_FUNCTION Wide Far(Wide a) {
  const Wide to = Directions(a);
  return k_is_inf(a) && !k_is_nan(a) ? Wide(1e150 * to.re, 1e150 * to.im) : a;
}
MS_FUNCTION double SizeOf(Wide a, double log) {
  return k_is_inf(a) ? ::copysign(__builtin_huge_val(), log) : log;
}
MS_FUNCTION Wide AsinOf(Wide a) {
  const Wide b = Far(a), low = SqrtOf(Wide(1 - b.re, -b.im)), high = SqrtOf(Wide(1 + b.re, b.im));
  return Wide(::atan2(b.re, k_mul(low, high).re),
              SizeOf(a, ::asinh(k_mul(k_conj(low), high).im)));
}
MS_FUNCTION Wide AcosOf(Wide a) {
  const Wide b = Far(a), low = SqrtOf(Wide(1 - b.re, -b.im)), high = SqrtOf(Wide(1 + b.re, b.im));
  return Wide(2 * ::atan2(low.re, high.re), SizeOf(a, ::asinh(k_mul(k_conj(high), low).im)));
}
MS_FUNCTION Wide AcoshOf(Wide a) {
  const Wide b = Far(a), low = SqrtOf(Wide(b.re - 1, b.im)), high = SqrtOf(Wide(b.re + 1, b.im));
  return Wide(SizeOf(a, ::asinh(k_mul(k_conj(low), high).re)), 2 * ::atan2(low.im, high.re));
}
MS_FUNCTION Wide AtanhOf(Wide a) {
  const Wide b = Far(a);
  const double x = ::fabs(b.re), y = b.im, square = (1 - x) * (1 - x) + y * y;
  return Wide(::copysign(::log1p(4 * x / square) / 4, a.re),
              ::atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2);
}
// Functions of i a are those of a, turned.
MS_FUNCTION Wide TimesI(Wide a) { return Wide(-a.im, a.re); }
MS_FUNCTION Wide ByI(Wide a) { return Wide(a.im, -a.re); }
MS_FUNCTION Wide SinOf(Wide a) { return ByI(SinhOf(TimesI(a))); }
MS_FUNCTION Wide CosOf(Wide a) { return CoshOf(TimesI(a)); }
MS_FUNCTION Wide TanOf(Wide a) { return ByI(TanhOf(TimesI(a))); }
MS_FUNCTION Wide AsinhOf(Wide a) { return ByI(AsinOf(TimesI(a))); }
MS_FUNCTION Wide AtanOf(Wide a) { return ByI(AtanhOf(TimesI(a))); }

#define MS_OF_COMPLEX(name, Function) \
  MS_COMPLEX Complex<R> k_##name(Complex<R> a) { return Complex<R>(Function(Wide(a))); }
MS_OF_COMPLEX(exp, ExpOf)
MS_OF_COMPLEX(expm1, Expm1Of)
MS_OF_COMPLEX(log, LogOf)
MS_OF_COMPLEX(log1p, Log1pOf)
MS_OF_COMPLEX(sqrt, SqrtOf)
MS_OF_COMPLEX(rsqrt, RsqrtOf)
MS_OF_COMPLEX(sigmoid, SigmoidOf)
MS_OF_COMPLEX(sinh, SinhOf)
MS_OF_COMPLEX(cosh, CoshOf)
MS_OF_COMPLEX(tanh, TanhOf)
MS_OF_COMPLEX(sin, SinOf)
MS_OF_COMPLEX(cos, CosOf)
MS_OF_COMPLEX(tan, TanOf)
MS_OF_COMPLEX(asin, AsinOf)
MS_OF_COMPLEX(acos, AcosOf)
MS_OF_COMPLEX(atan, AtanOf)
MS_OF_COMPLEX(asinh, AsinhOf)
MS_OF_COMPLEX(acosh, AcoshOf)
MS_OF_COMPLEX(atanh, AtanhOf)

// Small whole powers are products: exact, and those of 0 too.
MS_COMPLEX Complex<R> k_pow(Complex<R> a, Complex<R> b) {
  const int most = 8, whole = k_abs(b.re) <= most ? (int)b.re : most + 1;
  if (b != Complex<R>((R)whole)) return Complex<R>(ExpOf(k_mul(Wide(b), LogOf(Wide(a)))));
  Complex<R> product(1);
  for (int i = whole < 0 ? -whole : whole; i > 0; --i) product = Mended(product, a);
  return whole < 0 ? k_div(Complex<R>(1), product) : product;
}
