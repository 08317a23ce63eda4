// Fourier transforms: what is prepared for a length, and the loops that are compiled once per
// instruction set. Transforms run side by side, one in each lane of a vector: element i of a group
// is a vector of real parts, then one of imaginary parts. Float32 and Float64.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/isa.h"

namespace ms::cpu {

inline constexpr int kMostLanes = 16;
inline constexpr int64_t kMostRadix = 31;  // larger prime factors are left to convolution

// One pass of Stockham's algorithm: `radix` parts, `rest` butterflies with factors of their own,
// `stride` with the same ones.
template <class T>
struct FftPass {
  int64_t radix = 1, rest = 1, stride = 1;
  std::vector<T> factors;         // (radix - 1) complex numbers for each of `rest`
  std::vector<T> cosines, sines;  // of 2 pi k / radix, for odd ones
};

// A transform as a convolution with a chirp (Bluestein), which `spectrum` is the transform of.
template <class T>
struct FftChirp {
  std::vector<T> chirp, spectrum;  // complex
};

// Transforms of n elements in lanes: passes, or by convolution through those of `inner`.
template <class T>
struct LaneFft {
  explicit LaneFft(int64_t n);
  int64_t n;
  std::vector<FftPass<T>> passes;
  FftChirp<T> by_chirp;
  std::unique_ptr<LaneFft> inner;
  // Elements that the transform needs: its own, as many to work with, and one behind the result.
  int64_t room() const { return inner ? n + inner->room() : 2 * n + 1; }
};

// Lines of numbers, one for each lane; those from `lanes` on repeat another.
template <class T>
struct FftLines {
  T* at[kMostLanes];
  int lanes = 0;
  int64_t step = 1;       // numbers from one element to the next
  bool adjacent = false;  // the elements of all lanes lie side by side
};

// How one-sided spectra of real signals are read and written.
struct FftHalf {
  bool conjugate = false;  // the other sign of the exponent
  double inner = 1;        // factor of the elements that stand for two of the whole spectrum
};

template <class T>
struct FftLoops {
  int lanes;
  // Elements of `parts` numbers, 1 or 2, to and from a group.
  void (*load)(const FftLines<const T>& from, int parts, int64_t n, T* to);
  void (*store)(const T* from, int parts, int64_t n, T scale, const FftLines<T>& to);
  // Where the transform of x is then: in x too, which has room for plan.room() elements.
  T* (*transform)(const LaneFft<T>& plan, bool inverse, T* x);
  // Element i times factors[i * step ...], of which each lane has its own.
  void (*twist)(const T* factors, int64_t n, bool inverse, T* x);
  // From n / 2 complex elements made of n real ones to n / 2 + 1 of the spectrum, and back; `roots`
  // are the n-th ones.
  void (*untangle)(const T* roots, int64_t n, FftHalf half, T* x);
  void (*tangle)(const T* roots, int64_t n, FftHalf half, T* x);
  // The same of an odd n: from real elements, which become complex, and from the spectrum of all.
  void (*widen)(int64_t n, T* x);
  void (*halve)(int64_t n, FftHalf half, T* x);
  void (*mirror)(int64_t n, FftHalf half, T* x);
  void (*narrow)(int64_t n, T* x);
};

MS_DECLARE_ISA(template <class T> FftLoops<T> MakeFftLoops();)

template <class T>
const FftLoops<T>& LoopsOfFft() {
  static const FftLoops<T> loops = MS_PICK_ISA(MakeFftLoops<T>)();
  return loops;
}

// e^(-2 pi i t / n).
class FftRoots {
 public:
  explicit FftRoots(int64_t n);
  std::complex<double> operator()(int64_t t) const;

 private:
  int64_t n_, step_;
  std::vector<std::complex<double>> fine_, coarse_;
};

std::vector<int64_t> FftFactors(int64_t n);  // radices, each at most kMostRadix or a larger prime
int64_t SmoothSize(int64_t least);           // the next product of 2, 3 and 5
template <class T>
FftChirp<T> MakeChirp(int64_t n, int64_t padded);  // without the spectrum: the kernel itself
inline int64_t PaddedForChirp(int64_t n) { return SmoothSize(2 * n - 1); }

}  // namespace ms::cpu
