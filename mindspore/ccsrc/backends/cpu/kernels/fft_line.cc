// Transforms of one long line.
#include "backends/cpu/kernels/fft_line.h"

#include <algorithm>
#include <cmath>

#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

constexpr int64_t kLeastSide = 8;

// The divisor that is nearest to the root, from below.
int64_t MiddleDivisor(int64_t n) {
  auto divisor = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % divisor != 0) --divisor;
  return divisor;
}

double CostOf(int64_t n) {
  return static_cast<double>(n) * (1 + std::log2(static_cast<double>(n))) / 4;
}

}  // namespace

bool CanCutFft(int64_t n) { return n >= kLeastSide * kLeastSide && MiddleDivisor(n) >= kLeastSide; }

template <class T>
T* FftRoom(int64_t numbers) {
  thread_local std::vector<T> room;
  constexpr size_t kAlign = 64 / sizeof(T);
  if (room.size() < static_cast<size_t>(numbers) + kAlign)
    room.resize(static_cast<size_t>(numbers) + kAlign);
  auto at = reinterpret_cast<uintptr_t>(room.data());
  return room.data() + ((64 - at % 64) % 64) / sizeof(T);
}

template <class T>
LineFft<T>::LineFft(int64_t n) : n_(n) {
  if (!CanCutFft(n)) {
    int64_t padded = std::max<int64_t>(PaddedForChirp(n), 256);
    while (!CanCutFft(padded)) padded = SmoothSize(padded + 1);
    inner_ = std::make_unique<LineFft>(padded);
    by_chirp_ = MakeChirp<T>(n, padded);
    T* spectrum = by_chirp_.spectrum.data();
    std::vector<T> work(static_cast<size_t>(inner_->work()));
    inner_->Run(spectrum, 2, spectrum, 2, false, static_cast<T>(1.0 / static_cast<double>(padded)),
                work.data());
    return;
  }
  columns_ = MiddleDivisor(n);
  rows_ = n / columns_;
  of_columns_ = std::make_unique<LaneFft<T>>(rows_);
  of_rows_ = std::make_unique<LaneFft<T>>(columns_);
  FftRoots roots(n);
  const int lanes = LoopsOfFft<T>().lanes;
  for (int64_t first = 0; first < columns_; first += lanes) {
    for (int64_t row = 0; row < rows_; ++row) {
      auto root = [&](int l) { return roots(row * std::min(first + l, columns_ - 1)); };
      for (int l = 0; l < lanes; ++l) factors_.push_back(static_cast<T>(root(l).real()));
      for (int l = 0; l < lanes; ++l) factors_.push_back(static_cast<T>(root(l).imag()));
    }
  }
}

template <class T>
void LineFft<T>::Columns(const T* from, int64_t step, bool inverse, T* to) const {
  const FftLoops<T>& loops = LoopsOfFft<T>();
  const int lanes = loops.lanes;
  ParallelFor((columns_ + lanes - 1) / lanes, lanes * CostOf(rows_), [&](int64_t g, int64_t end) {
    T* x = FftRoom<T>(of_columns_->room() * 2 * lanes);
    for (; g < end; ++g) {
      int64_t first = g * lanes;
      auto in = MakeFftLines<const T>(first, columns_, columns_ * step, lanes,
                                      [&](int64_t c) { return from + c * step; });
      auto out = MakeFftLines<T>(first, columns_, columns_ * 2, lanes,
                                 [&](int64_t c) { return to + c * 2; });
      out.adjacent = out.lanes == lanes;
      in.adjacent = out.adjacent && step == 2;
      loops.load(in, 2, rows_, x);
      T* y = loops.transform(*of_columns_, inverse, x);
      loops.twist(factors_.data() + first * rows_ * 2, rows_, inverse, y);
      loops.store(y, 2, rows_, T(1), out);
    }
  });
}

template <class T>
void LineFft<T>::Rows(const T* from, T* to, int64_t step, bool inverse, T scale) const {
  const FftLoops<T>& loops = LoopsOfFft<T>();
  const int lanes = loops.lanes;
  ParallelFor((rows_ + lanes - 1) / lanes, lanes * CostOf(columns_), [&](int64_t g, int64_t end) {
    T* x = FftRoom<T>(of_rows_->room() * 2 * lanes);
    for (; g < end; ++g) {
      int64_t first = g * lanes;
      auto in = MakeFftLines<const T>(first, rows_, 2, lanes,
                                      [&](int64_t r) { return from + r * columns_ * 2; });
      auto out = MakeFftLines<T>(first, rows_, rows_ * step, lanes,
                                 [&](int64_t r) { return to + r * step; });
      out.adjacent = out.lanes == lanes && step == 2;
      loops.load(in, 2, columns_, x);
      loops.store(loops.transform(*of_rows_, inverse, x), 2, columns_, scale, out);
    }
  });
}

template <class T>
void LineFft<T>::Convolve(const T* from, int64_t from_step, T* to, int64_t to_step, bool inverse,
                          T scale, T* work) const {
  T* x = work;
  T sign = inverse ? T(-1) : T(1);
  auto multiply = [sign](const T* a, const T* w, T by, T* y) {
    T re = a[0] * w[0] - sign * a[1] * w[1], im = a[1] * w[0] + sign * a[0] * w[1];
    y[0] = by * re, y[1] = by * im;
  };
  const T *chirp = by_chirp_.chirp.data(), *spectrum = by_chirp_.spectrum.data();
  for (int64_t i = 0; i < n_; ++i) multiply(from + i * from_step, chirp + 2 * i, 1, x + 2 * i);
  std::fill(x + 2 * n_, x + 2 * inner_->n_, T(0));
  T* rest = work + 2 * inner_->n_;
  inner_->Run(x, 2, x, 2, inverse, T(1), rest);
  for (int64_t i = 0; i < inner_->n_; ++i) multiply(x + 2 * i, spectrum + 2 * i, 1, x + 2 * i);
  inner_->Run(x, 2, x, 2, !inverse, T(1), rest);
  for (int64_t i = 0; i < n_; ++i) multiply(x + 2 * i, chirp + 2 * i, scale, to + i * to_step);
}

template <class T>
void LineFft<T>::Run(const T* from, int64_t from_step, T* to, int64_t to_step, bool inverse,
                     T scale, T* work) const {
  if (inner_) return Convolve(from, from_step, to, to_step, inverse, scale, work);
  Columns(from, from_step, inverse, work);
  Rows(work, to, to_step, inverse, scale);
}

template <class T>
void UntangleLine(const T* roots, int64_t n, FftHalf half, T* x) {
  int64_t count = n / 2;
  T inner = static_cast<T>(half.inner / 2), sign = half.conjugate ? T(-1) : T(1);
  T first = x[0], second = x[1];
  x[0] = first + second, x[1] = 0;
  x[2 * count] = first - second, x[2 * count + 1] = 0;
#pragma GCC ivdep
  for (int64_t k = 1; k < count - k; ++k) {
    T *a = x + 2 * k, *b = x + 2 * (count - k);
    T sum_re = inner * (a[0] + b[0]), sum_im = inner * (a[1] - b[1]);
    T odd_re = inner * (a[1] + b[1]), odd_im = inner * (b[0] - a[0]);
    T c = roots[2 * k], s = roots[2 * k + 1];
    T re = odd_re * c - odd_im * s, im = odd_re * s + odd_im * c;
    a[0] = sum_re + re, a[1] = sign * (sum_im + im);
    b[0] = sum_re - re, b[1] = sign * (im - sum_im);
  }
  // The root in the middle is -i.
  if (count % 2 == 0 && count > 0) x[count] *= 2 * inner, x[count + 1] *= -sign * 2 * inner;
}

template <class T>
void TangleLine(const T* roots, int64_t n, FftHalf half, T* x) {
  int64_t count = n / 2;
  T inner = static_cast<T>(half.inner), sign = half.conjugate ? T(-1) : T(1);
  T first = x[0], last = x[2 * count];
  x[0] = first + last, x[1] = first - last;
#pragma GCC ivdep
  for (int64_t k = 1; k < count - k; ++k) {
    T *a = x + 2 * k, *b = x + 2 * (count - k);
    T a_im = sign * a[1], b_im = -sign * b[1];
    T sum_re = inner * (a[0] + b[0]), sum_im = inner * (a_im + b_im);
    T apart_re = inner * (a[0] - b[0]), apart_im = inner * (a_im - b_im);
    T c = roots[2 * k], s = -roots[2 * k + 1];
    T re = -(apart_re * s + apart_im * c), im = apart_re * c - apart_im * s;
    a[0] = sum_re + re, a[1] = sum_im + im;
    b[0] = sum_re - re, b[1] = im - sum_im;
  }
  if (count % 2 == 0 && count > 0) x[count] *= 2 * inner, x[count + 1] *= -sign * 2 * inner;
}

template float* FftRoom<float>(int64_t);
template double* FftRoom<double>(int64_t);
template class LineFft<float>;
template class LineFft<double>;
template void UntangleLine(const float*, int64_t, FftHalf, float*);
template void UntangleLine(const double*, int64_t, FftHalf, double*);
template void TangleLine(const float*, int64_t, FftHalf, float*);
template void TangleLine(const double*, int64_t, FftHalf, double*);

}  // namespace ms::cpu
