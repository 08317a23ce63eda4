// Sums of the squares or sizes of the differences of all pairs of points, as products of matrices
// are made: tile by tile in registers.
#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/factor_loops.h"
#include "backends/cpu/kernels/in_float32.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

// Of x, for which the points of y are laid out once.
constexpr int64_t kFewestRows = 192, kMostRows = 1024;

// `put` is a loop over pairs, for both types.
template <class T, class Put>
KernelChoice Make(const KernelRequest& r, Put put) {
  const Shape &x = r.shape(0), &y = r.shape(1);
  int64_t m = x[-2], n = y[-2], k = x[-1], threads = omp_get_max_threads();
  int64_t most = std::clamp((m + threads - 1) / threads, kFewestRows, kMostRows);
  int64_t blocks = (m + most - 1) / most;
  int64_t count = m == 0 ? 0 : x.Part(0, x.rank() - 2).size() * blocks;
  double cost = static_cast<double>(std::min(m, most) * n) * (0.3 + 0.05 * static_cast<double>(k));
  auto run = [=](const KernelArgs& args) {
    ParallelFor(count, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t batch = i / blocks, first = i % blocks * most, rows = std::min(most, m - first);
        // Views are read and written alike; inputs are only read.
        View<T> a{const_cast<T*>(static_cast<const T*>(args.in[0])) + (batch * m + first) * k, k};
        View<T> b{const_cast<T*>(static_cast<const T*>(args.in[1])) + batch * n * k, k};
        View<T> c{static_cast<T*>(args.out[0]) + (batch * m + first) * n, n};
        if (k == 0)
          std::fill_n(c.at, rows * n, T(0));
        else
          (Loops<T>().*put)(rows, n, k, a, b.Transposed(), c);
      }
    });
  };
  return FunctionKernel(run, cost * static_cast<double>(count));
}

KernelChoice SquaredDistances(const KernelRequest& r) {
  if (r.dtype(0) == DType::kFloat32) return Make<float>(r, &FactorLoops<float>::put_squares);
  if (r.dtype(0) == DType::kFloat64) return Make<double>(r, &FactorLoops<double>::put_squares);
  return No("needs Float32 or Float64, got {}", Name(r.dtype(0)));
}

KernelChoice Distances(const KernelRequest& r) {
  if (r.dtype(0) == DType::kFloat32) return Make<float>(r, &FactorLoops<float>::put_sizes);
  if (r.dtype(0) == DType::kFloat64) return Make<double>(r, &FactorLoops<double>::put_sizes);
  return No("needs Float32 or Float64, got {}", Name(r.dtype(0)));
}

// Rows of the result are of different threads.
template <class T>
KernelChoice MakeGradient(const KernelRequest& r) {
  const Shape &x = r.shape(1), &y = r.shape(2);
  int64_t m = x[-2], n = y[-2], k = x[-1];
  int64_t count = x.Part(0, x.rank() - 1).size();
  double cost = static_cast<double>(n) * (2 + 0.1 * static_cast<double>(k));
  auto run = [=](const KernelArgs& args) {
    auto input = [&](size_t i) { return const_cast<T*>(static_cast<const T*>(args.in[i])); };
    auto* to = static_cast<T*>(args.out[0]);
    ParallelFor(count, cost, [&](int64_t begin, int64_t end) {
      std::fill_n(to + begin * k, (end - begin) * k, T(0));
      for (int64_t i = begin; i < end;) {
        int64_t batch = i / m, rows = std::min(end, (batch + 1) * m) - i;
        View<T> weights{input(0) + i * n, n}, a{input(1) + i * k, k}, c{to + i * k, k};
        Loops<T>().add_signs(rows, n, k, weights, a, {input(2) + batch * n * k, k}, c);
        i += rows;
      }
    });
  };
  return FunctionKernel(run, cost * static_cast<double>(count));
}

KernelChoice DistancesGrad(const KernelRequest& r) {
  if (r.dtype(0) == DType::kFloat32) return MakeGradient<float>(r);
  if (r.dtype(0) == DType::kFloat64) return MakeGradient<double>(r);
  return No("needs Float32 or Float64, got {}", Name(r.dtype(0)));
}

}  // namespace

void AddDistance(KernelTable& table) {
  auto add = [&](const char* op, const KernelMaker& maker) {
    table.For(op).Try("tiles", maker).Try("tiles in float32", InFloat32(maker));
  };
  add("SquaredDistances", SquaredDistances);
  add("AbsoluteDistances", Distances);
  add("AbsoluteDistancesGrad", DistancesGrad);
}

}  // namespace ms::cpu
