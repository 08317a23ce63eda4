// Kernels of factorisations (ops/factor.cc) of Float32 and Float64: all matrices of a batch. Half
// types run in Float32; complex ones are in factor_complex.cc.
#include <atomic>
#include <cmath>
#include <vector>

#include "backends/cpu/kernels/factor.h"
#include "backends/cpu/kernels/factor_dense.h"
#include "backends/cpu/kernels/in_float32.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

template <class T>
View<T> Output(const KernelArgs& a, size_t i, int64_t at, int64_t rows, int64_t columns) {
  return {static_cast<T*>(a.out[i]) + at * rows * columns, columns};
}
template <class T>
View<T> Input(const KernelArgs& a, size_t i, int64_t at, int64_t rows, int64_t columns) {
  // Views are read and written alike; inputs are only read.
  auto* data = const_cast<T*>(static_cast<const T*>(a.in[i]));
  return {data + at * rows * columns, columns};
}
template <class T>
T* Vector(const KernelArgs& a, size_t i, int64_t at, int64_t size) {
  return static_cast<T*>(a.out[i]) + at * size;
}

// A view as memory where it is padded, which the blocks want.
template <class T>
Scratch<T> Copied(int64_t rows, int64_t columns, View<T> from) {
  Scratch<T> made(rows, columns);
  Copy<T>(rows, columns, from, made);
  return made;
}

template <class T>
void FillWithNan(int64_t rows, int64_t columns, View<T> to) {
  for (int64_t i = 0; i < rows; ++i) std::fill_n(&to(i, 0), columns, static_cast<T>(NAN));
}

// ---- Cholesky ------------------------------------------------------------------------------

constexpr int64_t kTile = 16;  // rows and columns: what is read across is read along soon after

// Squares of elements, and of what they and those opposite differ by.
struct Squares {
  double all = 0, apart = 0;
};

// The symmetric part of x from the diagonal on, of the rows of a tile.
template <class T>
Squares SymmetriseRows(int64_t first, int64_t n, View<T> x, View<T> to) {
  Squares sums;
  for (int64_t j0 = first; j0 < n; j0 += kTile) {
    for (int64_t i = first; i < std::min(first + kTile, n); ++i) {
      for (int64_t j = std::max(i, j0); j < std::min(j0 + kTile, n); ++j) {
        double a = static_cast<double>(x(i, j)), b = static_cast<double>(x(j, i));
        to(i, j) = x(i, j) / 2 + x(j, i) / 2;
        sums.all += a * a + b * b;
        sums.apart += 2 * (a - b) * (a - b);
      }
    }
  }
  return sums;
}

// The upper triangle of the symmetric part of a matrix; false where it is not nearly the matrix.
template <class T>
bool Symmetrise(int64_t n, View<T> x, View<T> to) {
  constexpr double kTolerance = 1e-4, kNs = 1;
  int64_t tiles = (n + kTile - 1) / kTile;
  std::vector<Squares> parts(static_cast<size_t>(tiles));  // summed in order, whoever made them
  ParallelFor(tiles, kNs * static_cast<double>(n * kTile), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t)
      parts[static_cast<size_t>(t)] = SymmetriseRows(t * kTile, n, x, to);
  });
  Squares sums;
  for (const Squares& part : parts) sums.all += part.all, sums.apart += part.apart;
  return sums.apart <= kTolerance * kTolerance * sums.all;
}

template <class T>
Refusal CholeskyOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  int64_t n = r.shape(0)[-1];
  Scratch<T> a(n, n);
  if (!Symmetrise<T>(n, Input<T>(args, 0, at, n, n), a)) return "be symmetric";
  if (!FactorCholesky<T>(n, a)) return "be positive definite";
  View<T> to = Output<T>(args, 0, at, n, n), u = a;
  for (int64_t i = 0; i < n; ++i) std::fill_n(&u(i, 0), i, T(0));
  Copy<T>(n, n, r.attr<bool>("upper") ? u : u.Transposed(), to);
  return nullptr;
}

// ---- solutions -----------------------------------------------------------------------------
template <class T>
Refusal TriangularOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  int64_t n = r.shape(0)[-1], k = r.shape(1)[-1];
  bool lower = r.attr<bool>("lower"), adjoint = r.attr<bool>("adjoint");
  View<T> t = Input<T>(args, 0, at, n, n), x = Output<T>(args, 0, at, n, k);
  Copy<T>(n, k, Input<T>(args, 1, at, n, k), x);
  SolveTriangle<T>(n, k, adjoint ? t.Transposed() : t, lower != adjoint, r.attr<bool>("unit"), x);
  return nullptr;
}

template <class T>
Refusal LuOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  int64_t m = r.shape(0)[-2], n = r.shape(0)[-1];
  Scratch<T> a = Copied(m, n, Input<T>(args, 0, at, m, n));
  FactorLu<T>(m, n, a, Vector<int32_t>(args, 1, at, std::min(m, n)));
  Copy<T>(m, n, a, Output<T>(args, 0, at, m, n));
  return nullptr;
}

template <class T>
bool IsSingular(int64_t n, View<T> lu) {
  for (int64_t i = 0; i < n; ++i) {
    if (lu(i, i) == T(0)) return true;
  }
  return false;
}

constexpr const char* kInvertible = "be invertible";

template <class T>
Refusal SolveOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  int64_t n = r.shape(0)[-1], k = r.shape(1)[-1];
  View<T> lu = Input<T>(args, 2, at, n, n), x = Output<T>(args, 0, at, n, k);
  const auto* pivots = static_cast<const int32_t*>(args.in[3]) + at * n;
  if (IsSingular(n, lu)) return kInvertible;
  Copy<T>(n, k, Input<T>(args, 1, at, n, k), x);
  bool adjoint = r.attr<bool>("adjoint");
  if (adjoint) {
    SolveTriangle<T>(n, k, lu.Transposed(), true, false, x);
    SolveTriangle<T>(n, k, lu.Transposed(), false, true, x);
    ExchangeRows<T>(n, pivots, k, x, true);
  } else {
    ExchangeRows<T>(n, pivots, k, x, false);
    SolveTriangle<T>(n, k, lu, true, true, x);
    SolveTriangle<T>(n, k, lu, false, false, x);
  }
  return nullptr;
}

template <class T>
Refusal InverseOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  int64_t n = r.shape(0)[-1];
  View<T> x = Input<T>(args, 0, at, n, n), to = Output<T>(args, 0, at, n, n);
  Scratch<T> lu = Copied(n, n, r.attr<bool>("adjoint") ? x.Transposed() : x), inverse(n, n);
  std::vector<int32_t> pivots(static_cast<size_t>(n));
  FactorLu<T>(n, n, lu, pivots.data());
  if (IsSingular<T>(n, lu)) return kInvertible;
  SetUnit<T>(n, n, inverse);
  ExchangeRows<T>(n, pivots.data(), n, inverse, false);
  SolveTriangle<T>(n, n, lu, true, true, inverse);
  SolveTriangle<T>(n, n, lu, false, false, inverse);
  Copy<T>(n, n, inverse, to);
  return nullptr;
}

// ---- orthogonal ----------------------------------------------------------------------------
template <class T>
Refusal ReflectionsOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  int64_t m = r.shape(0)[-2], n = r.shape(0)[-1];
  Scratch<T> a = Copied(m, n, Input<T>(args, 0, at, m, n));
  FactorQr<T>(m, n, a, Vector<T>(args, 1, at, std::min(m, n)));
  Copy<T>(m, n, a, Output<T>(args, 0, at, m, n));
  return nullptr;
}

template <class T>
Refusal QrOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  int64_t m = r.shape(0)[-2], n = r.shape(0)[-1], k = std::min(m, n), inner = r.out[0].shape()[-1];
  Scratch<T> a = Copied(m, n, Input<T>(args, 0, at, m, n)), vectors(k, m), q(m, inner);
  std::vector<T> tau(static_cast<size_t>(k));
  FactorQr<T>(m, n, a, tau.data());
  VectorsOfQr<T>(k, m, a, vectors);
  SetUnit<T>(m, inner, q);
  ApplyReflections<T>(k, m, 0, vectors, tau.data(), false, true, inner, q);
  Copy<T>(m, inner, q, Output<T>(args, 0, at, m, inner));
  View<T> to = Output<T>(args, 1, at, inner, n), from = a;
  for (int64_t i = 0; i < inner; ++i) {
    std::fill_n(&to(i, 0), std::min(i, n), T(0));
    if (i < n) std::copy_n(&from(i, i), n - i, &to(i, i));
  }
  return nullptr;
}

template <class T>
Refusal SvdOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  int64_t m = r.shape(0)[-2], n = r.shape(0)[-1], most = std::max(m, n), least = std::min(m, n);
  View<T> x = Input<T>(args, 0, at, m, n);
  Scratch<T> a = Copied(most, least, m >= n ? x : x.Transposed());
  T* s = Vector<T>(args, 0, at, least);
  if (!r.attr<bool>("compute_uv")) {
    if (at == 0) *Vector<T>(args, 1, 0, 1) = *Vector<T>(args, 2, 0, 1) = 0;
    if (!SingularValues<T>(most, least, a, s, 0, {}, {}))
      std::fill_n(s, least, static_cast<T>(NAN));
    return nullptr;
  }
  int64_t of_u = r.out[1].shape()[-1], of_v = r.out[2].shape()[-1];
  View<T> u = Output<T>(args, 1, at, m, of_u), v = Output<T>(args, 2, at, n, of_v);
  Scratch<T> longer(std::max(of_u, of_v), most), shorter(least, least);
  bool found = SingularValues<T>(most, least, a, s, m >= n ? of_u : of_v, longer, shorter);
  if (!found) {
    std::fill_n(s, least, static_cast<T>(NAN));
    FillWithNan(m, of_u, u);
    FillWithNan(n, of_v, v);
    return nullptr;
  }
  View<T> rows_u = m >= n ? longer.view() : shorter.view();
  View<T> rows_v = m >= n ? shorter.view() : longer.view();
  Copy<T>(m, of_u, rows_u.Transposed(), u);
  Copy<T>(n, of_v, rows_v.Transposed(), v);
  return nullptr;
}

template <class T>
Refusal SymmetricOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  int64_t n = r.shape(0)[-1];
  Scratch<T> a(n, n);
  Symmetrise<T>(n, Input<T>(args, 0, at, n, n), a);
  T* values = Vector<T>(args, 0, at, n);
  View<T> to = Output<T>(args, 1, at, n, n);
  if (!SymmetricEigen<T>(n, a, values, to)) {
    std::fill_n(values, n, static_cast<T>(NAN));
    FillWithNan(n, n, to);
  }
  return nullptr;
}

template <class T>
Refusal ExponentialOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  int64_t n = r.shape(0)[-1];
  Exponential<T>(n, Input<T>(args, 0, at, n, n), Output<T>(args, 0, at, n, n));
  return nullptr;
}

// ---- permutations --------------------------------------------------------------------------
KernelChoice Permutation(const KernelRequest& r) {
  int64_t count = r.shape(0)[-1], size = r.out[0].shape()[-1];
  int64_t many = size > 0 ? r.out[0].shape().size() / size : 0;
  auto base = static_cast<int32_t>(r.attr<int64_t>("base"));
  return FunctionKernel(
      [=](const KernelArgs& args) {
        const auto* pivots = static_cast<const int32_t*>(args.in[0]);
        auto* to = static_cast<int32_t*>(args.out[0]);
        for (int64_t at = 0; at < many; ++at, pivots += count, to += size) {
          for (int64_t i = 0; i < size; ++i) to[i] = static_cast<int32_t>(i);
          for (int64_t i = 0; i < count; ++i) {
            int64_t other = int64_t{pivots[i]} - base;
            if (other < 0 || other >= size) {
              Throw(ErrorKind::kValue,
                    "For 'PivotsToPermutation', 'pivots' must be in [{}, {}), but got {}.", base,
                    size + base, pivots[i]);
            }
            std::swap(to[i], to[other]);
          }
        }
      },
      static_cast<double>(r.out[0].shape().size()) * 2);
}

// A kernel of one matrix, for Float32 and Float64.
struct OfReal {
  OneMatrix of_float, of_double;
};

KernelMaker Real(OfReal one, double steps) {
  return [=](const KernelRequest& r) -> KernelChoice {
    if (r.dtype(0) == DType::kFloat32) return OverMatrices(r, one.of_float, steps);
    if (r.dtype(0) == DType::kFloat64) return OverMatrices(r, one.of_double, steps);
    return No("needs Float32 or Float64, got {}", Name(r.dtype(0)));
  };
}

}  // namespace

KernelChoice OverMatrices(const KernelRequest& request, OneMatrix one, double steps) {
  const Shape& x = request.shape(0);
  int64_t m = x[-2], n = x[-1], count = x.Part(0, x.rank() - 2).size();
  double size = static_cast<double>(std::min(m, n));
  double ns = 500 + static_cast<double>(m) * static_cast<double>(n) * (size * steps / 20 + 5);
  if (request.in.size() > 1) ns += static_cast<double>(request.shape(1).size()) * size / 20;
  // The request does not outlast the choice of a kernel; its types and attributes are kept.
  struct Kept {
    const OpDef& op;
    Types in, out;
    Attrs attrs;
  };
  auto kept = std::make_shared<Kept>(Kept{request.op, request.in, request.out, request.attrs});
  auto run = [=](const KernelArgs& args) {
    KernelRequest r{kept->op, kept->in, kept->out, kept->attrs};
    std::atomic<Refusal> refusal = nullptr;
    ParallelFor(count, ns, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        if (Refusal why = one(r, args, at)) refusal = why;
      }
    });
    if (Refusal why = refusal) {
      Throw(ErrorKind::kValue, "For '{}', the matrix must {}, but got one that is not.", r.op.name,
            why);
    }
  };
  return FunctionKernel(run, ns * static_cast<double>(count));
}

void AddFactor(KernelTable& table) {
  auto add = [&](const char* op, OfReal one, double steps) {
    table.For(op).Try("blocks", Real(one, steps)).Try("in float32", InFloat32(Real(one, steps)));
  };
  add("Cholesky", {CholeskyOf<float>, CholeskyOf<double>}, 0.3);
  add("MatrixTriangularSolve", {TriangularOf<float>, TriangularOf<double>}, 0);
  add("Lu", {LuOf<float>, LuOf<double>}, 0.7);
  add("MatrixSolve", {SolveOf<float>, SolveOf<double>}, 0);
  add("MatrixInverse", {InverseOf<float>, InverseOf<double>}, 2);
  add("Geqrf", {ReflectionsOf<float>, ReflectionsOf<double>}, 1.3);
  add("Qr", {QrOf<float>, QrOf<double>}, 3);
  add("Svd", {SvdOf<float>, SvdOf<double>}, 20);
  add("SymmetricEigen", {SymmetricOf<float>, SymmetricOf<double>}, 9);
  add("MatrixExp", {ExponentialOf<float>, ExponentialOf<double>}, 20);
  table.For("PivotsToPermutation").Try("reference", Permutation);
  AddComplexFactor(table);
}

}  // namespace ms::cpu
