// Joins the halves of two diagonals, whose own eigenvalues or singular values are known: those of
// the whole are the roots of a secular equation over them, and its vectors products of matrices.
#pragma once

#include <limits>
#include <vector>

#include "backends/cpu/kernels/factor_equation.h"
#include "backends/cpu/kernels/factor_iterate.h"

namespace ms::cpu {

// Of n rows; the first `split` of them have elements in the first `split` columns alone, the others
// in the others. Joined are either d + rho z z^T, with one side of vectors, or, squared, singular
// values of d with z in place of row `middle`, where d is 0: first the right vectors, then the
// left.
template <class T>
class Merge {
 public:
  static constexpr int64_t kNone = -1;

  Merge(int64_t n, int64_t split, int64_t middle, double* d, std::vector<Side<T>> sides);

  // z in terms of the vectors. `most`: the size of what stands in the whole, at least. The values
  // rise then, whose vectors are the rows.
  void Run(Doubles z, double rho, double most);

 private:
  // In which columns a row has elements.
  enum Part : uint8_t { kTop = 1, kBottom = 2, kBoth = 3 };

  bool squares() const { return middle_ != kNone; }
  std::vector<int64_t> Rising() const;
  void Deflate();
  bool DeflateBeside(int64_t last, int64_t j);
  bool DeflateBesideMiddle(int64_t j);
  void Turn(int64_t i, int64_t j, double c, double s, size_t sides);
  Doubles FindRoots(std::vector<Root>& roots, Doubles& changes) const;
  void Combine(const std::vector<Root>& roots, const Doubles& z,
               std::vector<Scratch<T>>& made) const;
  void PutShares(const std::vector<Root>& roots, const Doubles& z, const std::vector<size_t>& order,
                 std::vector<Scratch<T>>& shares) const;

  int64_t n_, split_, middle_;
  double* d_;
  std::vector<Side<T>> sides_;
  Doubles z_;
  double rho_ = 0, small_ = 0;
  std::vector<Part> part_;
  std::vector<int64_t> kept_, deflated_;
};

}  // namespace ms::cpu
