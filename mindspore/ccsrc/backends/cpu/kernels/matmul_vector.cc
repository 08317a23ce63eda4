// Products of matrices with vectors, which read every element of the matrix once: no packing pays.
#include "backends/cpu/kernels/matmul_loops.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

// One product as matrix times vector: which operand is the matrix, and how it lies.
struct Split {
  VectorProduct product;
  bool matrix_first = true;
  int64_t vector_step = 1;
};

Split SplitOf(const Products& p) {
  Split s;
  s.matrix_first = p.n == 1;
  int64_t row = s.matrix_first ? p.a_row : p.b_column;
  int64_t column = s.matrix_first ? p.a_column : p.b_row;
  s.vector_step = s.matrix_first ? p.b_row : p.a_column;
  s.product.rows = s.matrix_first ? p.m : p.n;
  s.product.k = p.k;
  s.product.across = column != 1;
  s.product.step = s.product.across ? column : row;
  return s;
}

constexpr int64_t kRowsPerTask = 512;

template <class T>
void Run(const Products& p, const Split& s, const KernelArgs& args) {
  auto* multiply = MS_PICK_ISA(MultiplyVector<T>);
  const VectorProduct& all = s.product;
  int64_t tasks = (all.rows + kRowsPerTask - 1) / kRowsPerTask;
  double cost = 0.1 * static_cast<double>(std::min(all.rows, kRowsPerTask) * all.k);
  ParallelFor(p.count() * tasks, cost, [&](int64_t begin, int64_t end) {
    thread_local std::vector<T> dense;
    for (int64_t task = begin; task < end; ++task) {
      int64_t from_a = 0, from_b = 0, first = task % tasks * kRowsPerTask;
      p.Offsets(task / tasks, &from_a, &from_b);
      const T* a = static_cast<const T*>(args.in[0]) + from_a;
      const T* b = static_cast<const T*>(args.in[1]) + from_b;
      const T *matrix = s.matrix_first ? a : b, *vector = s.matrix_first ? b : a;
      if (s.vector_step != 1) {
        dense.resize(static_cast<size_t>(all.k));
        for (int64_t k = 0; k < all.k; ++k)
          dense[static_cast<size_t>(k)] = vector[k * s.vector_step];
        vector = dense.data();
      }
      VectorProduct part = all;
      part.rows = std::min(kRowsPerTask, all.rows - first);
      multiply(part, matrix + first * (all.across ? 1 : all.step), vector,
               static_cast<T*>(args.out[0]) + task / tasks * all.rows + first);
    }
  });
}

}  // namespace

KernelChoice MatVec(const KernelRequest& r) {
  constexpr int64_t kFewRows = 8;  // by columns, lanes of a vector are rows
  Products p(r);
  bool wide = r.dtype(0) == DType::kFloat64;
  if (!wide && r.dtype(0) != DType::kFloat32)
    return No("needs Float32 or Float64, got {}", Name(r.dtype(0)));
  if ((p.m != 1 && p.n != 1) || p.Work() == 0) return No("needs a vector");
  Split s = SplitOf(p);
  if (s.product.across && s.product.rows < kFewRows) return No("needs more columns");
  // Measured: sgemm is as quick on rows of a vector, and on matrices that lie by columns.
  if (!wide && (s.product.across || !s.matrix_first)) return No("needs a matrix times a vector");
  double cost = 0.1 * p.Work();
  if (wide) return FunctionKernel([=](const KernelArgs& a) { Run<double>(p, s, a); }, cost);
  return FunctionKernel([=](const KernelArgs& a) { Run<float>(p, s, a); }, cost);
}

}  // namespace ms::cpu
