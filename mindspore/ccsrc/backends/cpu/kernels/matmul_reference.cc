// Matrix products for every dtype, plainly: what the fast kernels are tested against. And panels of
// Float64 and integers, which oneDNN does not multiply.
#include <type_traits>

#include "backends/cpu/kernels/matmul_loops.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, PanelSum<T>, ComputeType<T>>;

template <class T>
void MultiplyRow(const Products& p, const T* a, const T* b, T* c) {
  using S = Sum<T>;
  thread_local std::vector<S> sums;
  sums.assign(static_cast<size_t>(p.n), S{});
  for (int64_t k = 0; k < p.k; ++k) {
    auto x = static_cast<S>(a[k * p.a_column]);
    const T* row = b + k * p.b_row;
    for (int64_t j = 0; j < p.n; ++j) {
      sums[static_cast<size_t>(j)] += x * static_cast<S>(row[j * p.b_column]);
    }
  }
  for (int64_t j = 0; j < p.n; ++j) c[j] = static_cast<T>(sums[static_cast<size_t>(j)]);
}

template <class T>
void MultiplyAll(const Products& p, const KernelArgs& args) {
  auto* a = static_cast<const T*>(args.in[0]);
  auto* b = static_cast<const T*>(args.in[1]);
  auto* c = static_cast<T*>(args.out[0]);
  double cost = static_cast<double>(p.n) * static_cast<double>(p.k);
  ParallelFor(p.count() * p.m, cost, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t from_a = 0, from_b = 0;
      p.Offsets(row / p.m, &from_a, &from_b);
      MultiplyRow(p, a + from_a + row % p.m * p.a_row, b + from_b, c + row * p.n);
    }
  });
}

template <class T>
void MultiplyPanels(const Products& p, double ns_per_product, const KernelArgs& args) {
  constexpr int64_t kRowsPerTask = 64;
  auto* multiply = MS_PICK_ISA(MultiplyPanel<T>);
  int64_t row_tasks = (p.m + kRowsPerTask - 1) / kRowsPerTask;
  int64_t column_tasks = (p.n + kPanel - 1) / kPanel;
  double cost = static_cast<double>(std::min(p.m, kRowsPerTask) * kPanel) *
                static_cast<double>(p.k) * ns_per_product;
  ParallelFor(p.count() * row_tasks * column_tasks, cost, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      int64_t product = task / (row_tasks * column_tasks);
      int64_t from_a = 0, from_b = 0;
      p.Offsets(product, &from_a, &from_b);
      int64_t i = task / column_tasks % row_tasks * kRowsPerTask;
      multiply(p, {static_cast<const T*>(args.in[0]) + from_a,
                   static_cast<const T*>(args.in[1]) + from_b,
                   static_cast<T*>(args.out[0]) + product * p.m * p.n, i,
                   std::min(p.m, i + kRowsPerTask), task % column_tasks * kPanel});
    }
  });
}

}  // namespace

Products::Products(const KernelRequest& r) {
  bool ta = r.attr<bool>("transpose_a");
  bool tb = r.attr<bool>("transpose_b");
  const Shape& a = r.shape(0);
  const Shape& b = r.shape(1);
  const Shape& c = r.out[0].shape();
  m = c[-2];
  n = c[-1];
  k = a[ta ? -2 : -1];
  a_row = ta ? 1 : k;
  a_column = ta ? m : 1;
  b_row = tb ? 1 : n;
  b_column = tb ? k : 1;
  batch = Shape(std::span<const int64_t>(c.begin(), c.end() - 2));
  auto steps = [&](const Shape& shape) {
    Ints result(static_cast<size_t>(batch.rank()), 0);
    int64_t step = shape[-1] * shape[-2];
    int lead = c.rank() - shape.rank();
    for (int i = shape.rank() - 3; i >= 0; --i) {
      if (shape[i] != 1) result[static_cast<size_t>(i + lead)] = step;
      step *= shape[i];
    }
    return result;
  };
  a_step = steps(a);
  b_step = steps(b);
}

void Products::Offsets(int64_t i, int64_t* a, int64_t* b) const {
  for (int axis = batch.rank() - 1; axis >= 0; --axis) {
    int64_t index = i % batch[axis];
    i /= batch[axis];
    *a += index * a_step[static_cast<size_t>(axis)];
    *b += index * b_step[static_cast<size_t>(axis)];
  }
}

KernelChoice PanelMatMul(const KernelRequest& r) {
  Products p(r);
  DType dtype = r.dtype(0);
  if (dtype != DType::kFloat64 && !IsInteger(dtype))
    return No("needs Float64 or integers, got {}", Name(dtype));
  return VisitDType(dtype, [&](auto tag) -> KernelChoice {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, double> ||
                  (std::is_integral_v<T> && !std::is_same_v<T, bool>)) {
      constexpr double kNs = sizeof(PanelSum<T>) <= 4 ? 0.05 : 0.1;  // of a product
      return FunctionKernel([p](const KernelArgs& args) { MultiplyPanels<T>(p, kNs, args); },
                            p.Work() * kNs);
    } else {
      return No("needs Float64 or integers, got {}", Name(dtype));
    }
  });
}

KernelChoice ReferenceMatMul(const KernelRequest& r) {
  Products p(r);
  DType dtype = r.dtype(0);
  if (IsBool(dtype)) return No("needs numbers, got Bool");
  return VisitDType(dtype, [&](auto tag) -> KernelChoice {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      return No("needs numbers, got Bool");
    } else {
      return FunctionKernel([p](const KernelArgs& args) { MultiplyAll<T>(p, args); }, p.Work());
    }
  });
}

}  // namespace ms::cpu
