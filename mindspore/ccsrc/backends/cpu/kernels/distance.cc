// Sums of squared differences of all pairs of points, as products of matrices are made: tile by
// tile in registers.
#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/factor_loops.h"
#include "backends/cpu/kernels/in_float32.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

constexpr int64_t kRows = 192;  // of x, for which the points of y are laid out once

template <class T>
KernelChoice Make(const KernelRequest& r) {
  const Shape &x = r.shape(0), &y = r.shape(1);
  int64_t m = x[-2], n = y[-2], k = x[-1], blocks = (m + kRows - 1) / kRows;
  int64_t count = m == 0 ? 0 : x.Part(0, x.rank() - 2).size() * blocks;
  double cost = static_cast<double>(std::min(m, kRows) * n) * (0.3 + 0.05 * static_cast<double>(k));
  auto run = [=](const KernelArgs& args) {
    ParallelFor(count, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t batch = i / blocks, first = i % blocks * kRows, rows = std::min(kRows, m - first);
        // Views are read and written alike; inputs are only read.
        View<T> a{const_cast<T*>(static_cast<const T*>(args.in[0])) + (batch * m + first) * k, k};
        View<T> b{const_cast<T*>(static_cast<const T*>(args.in[1])) + batch * n * k, k};
        View<T> c{static_cast<T*>(args.out[0]) + (batch * m + first) * n, n};
        std::fill_n(c.at, rows * n, T(0));
        Loops<T>().add_squares(rows, n, k, a, b.Transposed(), c);
      }
    });
  };
  return FunctionKernel(run, cost * static_cast<double>(count));
}

KernelChoice SquaredDistances(const KernelRequest& r) {
  if (r.dtype(0) == DType::kFloat32) return Make<float>(r);
  if (r.dtype(0) == DType::kFloat64) return Make<double>(r);
  return No("needs Float32 or Float64, got {}", Name(r.dtype(0)));
}

}  // namespace

void AddDistance(KernelTable& table) {
  table.For("SquaredDistances")
      .Try("tiles", SquaredDistances)
      .Try("tiles in float32", InFloat32(SquaredDistances));
}

}  // namespace ms::cpu
