// Transforms of one long line, which do not fit a group of lanes or would leave most lanes empty.
#pragma once

#include <memory>
#include <vector>

#include "backends/cpu/kernels/fft_loops.h"

namespace ms::cpu {

// As a matrix of rows * columns elements: transforms of its columns, factors, transforms of its
// rows. A length without fitting divisors goes through a convolution of one that has them.
template <class T>
class LineFft {
 public:
  explicit LineFft(int64_t n);
  // Complex elements `step` numbers apart; `to` may be `from`. `work` has room for work() numbers.
  void Run(const T* from, int64_t from_step, T* to, int64_t to_step, bool inverse, T scale,
           T* work) const;
  int64_t work() const { return inner_ ? 2 * inner_->n_ + inner_->work() : 2 * n_; }

 private:
  void Columns(const T* from, int64_t step, bool inverse, T* to) const;
  void Rows(const T* from, T* to, int64_t step, bool inverse, T scale) const;
  void Convolve(const T* from, int64_t from_step, T* to, int64_t to_step, bool inverse, T scale,
                T* work) const;

  int64_t n_, rows_ = 1, columns_ = 1;
  std::unique_ptr<LaneFft<T>> of_columns_, of_rows_;
  std::vector<T> factors_;  // of the groups of columns, one after the other
  std::unique_ptr<LineFft> inner_;
  FftChirp<T> by_chirp_;
};

// Whether lines of this length can be cut, hence whether lanes can be filled from one of them.
bool CanCutFft(int64_t n);
// Lanes of a group that starts at `first` of lines whose first numbers `place` gives.
template <class T, class F>
FftLines<T> MakeFftLines(int64_t first, int64_t end, int64_t step, int lanes, F place) {
  FftLines<T> made;
  made.lanes = static_cast<int>(std::min<int64_t>(lanes, end - first));
  made.step = step;
  for (int l = 0; l < lanes; ++l) made.at[l] = place(first + std::min(l, made.lanes - 1));
  return made;
}
// Memory of this thread for a group.
template <class T>
T* FftRoom(int64_t numbers);

// The ends of real transforms, of one line: as the loops of FftLoops with the same names.
template <class T>
void UntangleLine(const T* roots, int64_t n, FftHalf half, T* x);
template <class T>
void TangleLine(const T* roots, int64_t n, FftHalf half, T* x);

}  // namespace ms::cpu
