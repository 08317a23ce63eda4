// Factorisations of complex matrices, and eigenvalues of those that are not symmetric, by Eigen:
// plain code, these are rare. The one file that includes it.
#include <Eigen/Dense>
#include <cmath>
#include <complex>
#include <unsupported/Eigen/MatrixFunctions>

#include "backends/cpu/kernels/factor.h"

namespace ms::cpu {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

template <class T>
Eigen::Map<const Matrix<T>> Input(const KernelRequest& r, const KernelArgs& a, size_t i,
                                  int64_t at) {
  int64_t m = r.shape(i)[-2], n = r.shape(i)[-1];
  return {static_cast<const T*>(a.in[i]) + at * m * n, m, n};
}
template <class T>
Eigen::Map<Matrix<T>> Output(const KernelRequest& r, const KernelArgs& a, size_t i, int64_t at) {
  int64_t m = r.out[i].shape()[-2], n = r.out[i].shape()[-1];
  return {static_cast<T*>(a.out[i]) + at * m * n, m, n};
}
template <class T>
Eigen::Map<Vector<T>> VectorOutput(const KernelRequest& r, const KernelArgs& a, size_t i,
                                   int64_t at) {
  int64_t n = r.out[i].shape()[-1];
  return {static_cast<T*>(a.out[i]) + at * n, n};
}

// ---- elimination --------------------------------------------------------------------------------
template <class M, class X>
void SolveTriangle(const M& t, bool lower, bool unit, X&& x) {
  if (lower && unit) {
    t.template triangularView<Eigen::UnitLower>().solveInPlace(x);
  } else if (lower) {
    t.template triangularView<Eigen::Lower>().solveInPlace(x);
  } else if (unit) {
    t.template triangularView<Eigen::UnitUpper>().solveInPlace(x);
  } else {
    t.template triangularView<Eigen::Upper>().solveInPlace(x);
  }
}

template <class T>
Refusal TriangularOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  bool lower = r.attr<bool>("lower"), unit = r.attr<bool>("unit");
  auto t = Input<T>(r, args, 0, at);
  auto x = Output<T>(r, args, 0, at);
  x = Input<T>(r, args, 1, at);
  if (x.size() == 0) return nullptr;
  if (r.attr<bool>("adjoint")) {
    SolveTriangle(Matrix<T>(t.adjoint()), !lower, unit, x);
  } else {
    SolveTriangle(t, lower, unit, x);
  }
  return nullptr;
}

// Eigen's own elimination takes square matrices alone.
template <class M>
void Eliminate(M&& a, int32_t* pivots) {
  for (int64_t k = 0; k < std::min(a.rows(), a.cols()); ++k) {
    int64_t best = 0;
    a.col(k).tail(a.rows() - k).cwiseAbs().maxCoeff(&best);
    best += k;
    pivots[k] = static_cast<int32_t>(best);
    if (best != k) a.row(k).swap(a.row(best));
    if (std::abs(a(k, k)) == 0) continue;
    int64_t below = a.rows() - k - 1, right = a.cols() - k - 1;
    a.col(k).tail(below) /= a(k, k);
    a.bottomRightCorner(below, right).noalias() -= a.col(k).tail(below) * a.row(k).tail(right);
  }
}

template <class T>
Refusal LuOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  auto lu = Output<T>(r, args, 0, at);
  lu = Input<T>(r, args, 0, at);
  Eliminate(lu, static_cast<int32_t*>(args.out[1]) + at * std::min(lu.rows(), lu.cols()));
  return nullptr;
}

template <class M>
bool IsSingular(const M& lu) {
  return lu.size() > 0 && lu.diagonal().cwiseAbs().minCoeff() == 0;
}

template <class M, class X>
void Exchange(const int32_t* pivots, M&& count_of, X&& x, bool back) {
  int64_t n = count_of.rows();
  for (int64_t k = 0; k < n; ++k) {
    int64_t i = back ? n - 1 - k : k;
    if (pivots[i] != i) x.row(i).swap(x.row(pivots[i]));
  }
}

template <class T>
Refusal SolveOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  auto lu = Input<T>(r, args, 2, at);
  auto x = Output<T>(r, args, 0, at);
  const auto* pivots = static_cast<const int32_t*>(args.in[3]) + at * lu.rows();
  if (IsSingular(lu)) return "be invertible";
  x = Input<T>(r, args, 1, at);
  if (x.size() == 0) return nullptr;
  if (r.attr<bool>("adjoint")) {
    Matrix<T> turned = lu.adjoint();
    SolveTriangle(turned, true, false, x);
    SolveTriangle(turned, false, true, x);
    Exchange(pivots, lu, x, true);
  } else {
    Exchange(pivots, lu, x, false);
    SolveTriangle(lu, true, true, x);
    SolveTriangle(lu, false, false, x);
  }
  return nullptr;
}

template <class T>
Refusal InverseOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  auto to = Output<T>(r, args, 0, at);
  if (to.size() == 0) return nullptr;
  Eigen::PartialPivLU<Matrix<T>> lu(Input<T>(r, args, 0, at));
  if (IsSingular(lu.matrixLU())) return "be invertible";
  to = lu.inverse();
  if (r.attr<bool>("adjoint")) to = to.adjoint().eval();
  return nullptr;
}

// ---- orthogonal ---------------------------------------------------------------------------------
template <class T>
Refusal ReflectionsOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  auto to = Output<T>(r, args, 0, at);
  auto tau = VectorOutput<T>(r, args, 1, at);
  if (to.size() == 0) return nullptr;
  Eigen::HouseholderQR<Matrix<T>> qr(Input<T>(r, args, 0, at));
  to = qr.matrixQR();
  tau = qr.hCoeffs().conjugate();  // as LAPACK has them
  return nullptr;
}

template <class T>
Refusal QrOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  auto q = Output<T>(r, args, 0, at), to = Output<T>(r, args, 1, at);
  q.setIdentity();
  to.setZero();
  if (q.size() == 0 || to.size() == 0) return nullptr;
  Eigen::HouseholderQR<Matrix<T>> qr(Input<T>(r, args, 0, at));
  q = qr.householderQ() * Matrix<T>::Identity(q.rows(), q.cols());
  to = qr.matrixQR().topRows(to.rows()).template triangularView<Eigen::Upper>();
  return nullptr;
}

template <class T>
Refusal SvdOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  using R = typename T::value_type;
  auto s = VectorOutput<R>(r, args, 0, at);
  auto x = Input<T>(r, args, 0, at);
  bool vectors = r.attr<bool>("compute_uv"), full = r.attr<bool>("full_matrices");
  unsigned options = !vectors ? 0u
                     : full   ? Eigen::ComputeFullU | Eigen::ComputeFullV
                              : Eigen::ComputeThinU | Eigen::ComputeThinV;
  bool good = x.size() > 0 && x.allFinite();
  Eigen::JacobiSVD<Matrix<T>> svd;
  if (good) {
    svd.compute(x, options);
    s = svd.singularValues();
  } else {
    s.setConstant(static_cast<R>(NAN));
  }
  if (!vectors) return nullptr;
  auto u = Output<T>(r, args, 1, at), v = Output<T>(r, args, 2, at);
  if (good) {
    u = svd.matrixU();
    v = svd.matrixV();
  } else if (x.size() == 0) {
    u.setIdentity();
    v.setIdentity();
  } else {
    u.setConstant(T(NAN, NAN));
    v.setConstant(T(NAN, NAN));
  }
  return nullptr;
}

// ---- eigenvalues --------------------------------------------------------------------------------
template <class T>
Refusal HermitianOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  using R = typename T::value_type;
  auto values = VectorOutput<R>(r, args, 0, at);
  auto vectors = Output<T>(r, args, 1, at);
  auto x = Input<T>(r, args, 0, at);
  if (x.size() == 0) return nullptr;
  if (!x.allFinite()) {
    values.setConstant(static_cast<R>(NAN));
    vectors.setConstant(T(NAN, NAN));
    return nullptr;
  }
  Matrix<T> part = (x + x.adjoint()) / R(2);
  Eigen::SelfAdjointEigenSolver<Matrix<T>> eigen(part);
  values = eigen.eigenvalues();
  vectors = eigen.eigenvectors();
  return nullptr;
}

template <class T>
using ComplexOf = std::conditional_t<Eigen::NumTraits<T>::IsComplex, T,
                                     std::complex<typename Eigen::NumTraits<T>::Real>>;

template <class T>
Refusal GeneralOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  using C = ComplexOf<T>;
  using Solver =
      std::conditional_t<Eigen::NumTraits<T>::IsComplex, Eigen::ComplexEigenSolver<Matrix<T>>,
                         Eigen::EigenSolver<Matrix<T>>>;
  auto values = VectorOutput<C>(r, args, 0, at);
  auto vectors = Output<C>(r, args, 1, at);
  auto x = Input<T>(r, args, 0, at);
  if (x.size() == 0) return nullptr;
  Solver eigen;
  if (x.allFinite()) eigen.compute(x);
  if (!x.allFinite() || eigen.info() != Eigen::Success) {
    values.setConstant(C(NAN, NAN));
    vectors.setConstant(C(NAN, NAN));
    return nullptr;
  }
  values = eigen.eigenvalues();
  vectors = eigen.eigenvectors().colwise().normalized();
  return nullptr;
}

template <class T>
Refusal ExponentialOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  auto to = Output<T>(r, args, 0, at);
  if (to.size() > 0) to = Matrix<T>(Input<T>(r, args, 0, at)).exp();
  return nullptr;
}
template <class T>
Refusal LogarithmOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  auto to = Output<T>(r, args, 0, at);
  if (to.size() > 0) to = Matrix<T>(Input<T>(r, args, 0, at)).log();
  return nullptr;
}

}  // namespace

void AddComplexFactor(KernelTable& table) {
  constexpr double kSlowness = 8;  // beside blocks of real numbers
  auto add = [&](const char* op, DType dtype, OneMatrix one, double steps) {
    table.For(op).Try("eigen", [=](const KernelRequest& r) -> KernelChoice {
      if (r.dtype(0) != dtype) return No("needs {}, got {}", Name(dtype), Name(r.dtype(0)));
      return OverMatrices(r, one, steps * kSlowness);
    });
  };
#define MS_ADD(op, one, steps)                                 \
  add(op, DType::kComplex64, one<std::complex<float>>, steps); \
  add(op, DType::kComplex128, one<std::complex<double>>, steps);
  MS_ADD("MatrixTriangularSolve", TriangularOf, 1)
  MS_ADD("Lu", LuOf, 0.7)
  MS_ADD("MatrixSolve", SolveOf, 1)
  MS_ADD("MatrixInverse", InverseOf, 2)
  MS_ADD("Geqrf", ReflectionsOf, 1.3)
  MS_ADD("Qr", QrOf, 3)
  MS_ADD("Svd", SvdOf, 60)
  MS_ADD("SymmetricEigen", HermitianOf, 9)
  MS_ADD("GeneralEigen", GeneralOf, 25)
  MS_ADD("MatrixExp", ExponentialOf, 20)
  MS_ADD("MatrixLogarithm", LogarithmOf, 60)
#undef MS_ADD
  add("GeneralEigen", DType::kFloat32, GeneralOf<float>, 25);
  add("GeneralEigen", DType::kFloat64, GeneralOf<double>, 25);
}

}  // namespace ms::cpu
