// Preparing Fourier transforms: factors of lengths, roots of unity, chirps.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends/cpu/kernels/fft_loops.h"

namespace ms::cpu {
namespace {

std::complex<double> Root(int64_t t, int64_t n) {
  long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(t) /
                      static_cast<long double>(n);
  return {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
}

template <class T>
void Append(std::vector<T>* to, std::complex<double> x) {
  to->push_back(static_cast<T>(x.real()));
  to->push_back(static_cast<T>(x.imag()));
}

template <class T>
FftPass<T> MakePass(int64_t radix, int64_t rest, int64_t stride) {
  FftPass<T> pass{radix, rest, stride, {}, {}, {}};
  FftRoots roots(radix * rest);
  for (int64_t p = 0; p < rest; ++p) {
    for (int64_t j = 1; j < radix; ++j) Append(&pass.factors, roots(p * j));
  }
  for (int64_t k = 0; k < radix; ++k) {
    std::complex<double> w = Root(k, radix);
    pass.cosines.push_back(static_cast<T>(w.real()));
    pass.sines.push_back(static_cast<T>(-w.imag()));
  }
  return pass;
}

// Of the chirp's kernel, divided by its length: what the convolution's inverse transform leaves
// out.
template <class T>
void Transform(const LaneFft<T>& plan, std::vector<T>* spectrum) {
  const FftLoops<T>& loops = LoopsOfFft<T>();
  FftLines<const T> from;
  FftLines<T> to;
  std::vector<T> x(static_cast<size_t>(plan.room() * 2 * loops.lanes));
  for (int l = 0; l < loops.lanes; ++l) from.at[l] = spectrum->data(), to.at[l] = spectrum->data();
  from.lanes = to.lanes = 1;
  from.step = to.step = 2;
  loops.load(from, 2, plan.n, x.data());
  const T* done = loops.transform(plan, false, x.data());
  loops.store(done, 2, plan.n, static_cast<T>(1.0 / static_cast<double>(plan.n)), to);
}

}  // namespace

FftRoots::FftRoots(int64_t n)
    : n_(n), step_(static_cast<int64_t>(std::sqrt(static_cast<double>(n))) + 1) {
  for (int64_t t = 0; t < step_; ++t) fine_.push_back(Root(t, n));
  for (int64_t t = 0; t < n; t += step_) coarse_.push_back(Root(t, n));
}

std::complex<double> FftRoots::operator()(int64_t t) const {
  t %= n_;
  std::complex<double> a = coarse_[static_cast<size_t>(t / step_)];
  std::complex<double> b = fine_[static_cast<size_t>(t % step_)];
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

std::vector<int64_t> FftFactors(int64_t n) {
  std::vector<int64_t> factors;
  int twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  for (; twos >= 3 && twos != 4; twos -= 3) factors.push_back(8);
  for (; twos >= 2; twos -= 2) factors.push_back(4);
  if (twos == 1) factors.push_back(2);
  for (int64_t p = 3; p * p <= n; p += 2) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  if (n > 1) factors.push_back(n);
  return factors;
}

int64_t SmoothSize(int64_t least) {
  int64_t best = 1;
  while (best < least) best *= 2;
  for (int64_t fives = 1; fives < best; fives *= 5) {
    for (int64_t threes = fives; threes < best; threes *= 3) {
      int64_t size = threes;
      while (size < least) size *= 2;
      best = std::min(best, size);
    }
  }
  return best;
}

template <class T>
FftChirp<T> MakeChirp(int64_t n, int64_t padded) {
  FftChirp<T> made;
  made.spectrum.resize(static_cast<size_t>(2 * padded));
  FftRoots roots(2 * n);
  for (int64_t i = 0; i < n; ++i) {
    std::complex<double> w = roots(i * i % (2 * n));
    Append(&made.chirp, w);
    for (int64_t at : {i, (padded - i) % padded}) {
      made.spectrum[static_cast<size_t>(2 * at)] = static_cast<T>(w.real());
      made.spectrum[static_cast<size_t>(2 * at + 1)] = static_cast<T>(-w.imag());
    }
  }
  return made;
}

template <class T>
LaneFft<T>::LaneFft(int64_t size) : n(size) {
  std::vector<int64_t> factors = FftFactors(n);
  if (!factors.empty() && *std::max_element(factors.begin(), factors.end()) > kMostRadix) {
    int64_t padded = PaddedForChirp(n);
    inner = std::make_unique<LaneFft>(padded);
    by_chirp = MakeChirp<T>(n, padded);
    Transform(*inner, &by_chirp.spectrum);
    return;
  }
  int64_t rest = n, stride = 1;
  for (int64_t radix : factors) {
    rest /= radix;
    passes.push_back(MakePass<T>(radix, rest, stride));
    stride *= radix;
  }
}

template struct LaneFft<float>;
template struct LaneFft<double>;
template FftChirp<float> MakeChirp<float>(int64_t, int64_t);
template FftChirp<double> MakeChirp<double>(int64_t, int64_t);

}  // namespace ms::cpu
