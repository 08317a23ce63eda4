// Factorisations of complex matrices, and eigenvalues of those that are not symmetric, by Eigen in
// Complex128, whatever is given: these are rare, and each type more takes a minute to compile. The
// one file that includes Eigen.
#include <Eigen/Dense>
#include <cmath>
#include <complex>
#include <unsupported/Eigen/MatrixFunctions>

#include "backends/cpu/kernels/factor.h"

namespace ms::cpu {
namespace {

using Complex = std::complex<double>;
using Matrix = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::Matrix<Complex, Eigen::Dynamic, 1>;

// ---- memory --------------------------------------------------------------------------------
Matrix Input(const KernelRequest& r, const KernelArgs& a, size_t i, int64_t at) {
  int64_t m = r.shape(i)[-2], n = r.shape(i)[-1], size = m * n;
  Matrix made(m, n);
  VisitDType(r.dtype(i), [&]<class T>(TypeTag<T>) {
    if constexpr (IsComplex(kDTypeOf<T>) || std::is_floating_point_v<T>) {
      const T* from = static_cast<const T*>(a.in[i]) + at * size;
      std::transform(from, from + size, made.data(), [](T x) { return Complex(x); });
    }
  });
  return made;
}

void Write(const KernelRequest& r, const KernelArgs& a, size_t i, int64_t at, const Complex* from,
           int64_t size) {
  VisitDType(r.out[i].dtype(), [&]<class T>(TypeTag<T>) {
    T* to = static_cast<T*>(a.out[i]) + at * size;
    if constexpr (IsComplex(kDTypeOf<T>)) {
      std::transform(from, from + size, to, [](Complex x) { return T(x); });
    } else if constexpr (std::is_floating_point_v<T>) {
      std::transform(from, from + size, to, [](Complex x) { return static_cast<T>(x.real()); });
    }
  });
}
void Write(const KernelRequest& r, const KernelArgs& a, size_t i, int64_t at, const Matrix& x) {
  Write(r, a, i, at, x.data(), x.size());
}
void Write(const KernelRequest& r, const KernelArgs& a, size_t i, int64_t at, const Vector& x) {
  Write(r, a, i, at, x.data(), x.size());
}

Matrix Unknown(int64_t rows, int64_t columns) {
  return Matrix::Constant(rows, columns, Complex(NAN, NAN));
}
Vector Unknown(int64_t size) { return Vector::Constant(size, Complex(NAN, NAN)); }

// ---- elimination ---------------------------------------------------------------------------
void SolveTriangle(const Matrix& t, bool lower, bool unit, Matrix& x) {
  int64_t n = t.rows();
  for (int64_t at = 0; at < n; ++at) {
    int64_t i = lower ? at : n - 1 - at;
    for (int64_t k = lower ? 0 : i + 1; k < (lower ? i : n); ++k) x.row(i) -= t(i, k) * x.row(k);
    if (!unit) x.row(i) /= t(i, i);
  }
}

void Eliminate(Matrix& a, int32_t* pivots) {
  for (int64_t k = 0; k < std::min(a.rows(), a.cols()); ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < a.rows(); ++i) {
      if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
    }
    pivots[k] = static_cast<int32_t>(best);
    if (best != k) a.row(k).swap(a.row(best));
    if (a(k, k) == Complex(0)) continue;
    int64_t right = a.cols() - k - 1;
    for (int64_t i = k + 1; i < a.rows(); ++i) {
      a(i, k) /= a(k, k);
      a.row(i).tail(right) -= a(i, k) * a.row(k).tail(right);
    }
  }
}

bool IsSingular(const Matrix& lu) {
  for (int64_t i = 0; i < lu.rows(); ++i) {
    if (lu(i, i) == Complex(0)) return true;
  }
  return false;
}

// x becomes the solution for the factors of a matrix, or for their adjoint.
void SolveByFactors(const Matrix& lu, const int32_t* pivots, bool adjoint, Matrix& x) {
  int64_t n = lu.rows();
  auto exchange = [&](int64_t i) {
    if (pivots[i] != i) x.row(i).swap(x.row(pivots[i]));
  };
  if (adjoint) {
    Matrix turned = lu.adjoint();
    SolveTriangle(turned, true, false, x);
    SolveTriangle(turned, false, true, x);
    for (int64_t i = n - 1; i >= 0; --i) exchange(i);
  } else {
    for (int64_t i = 0; i < n; ++i) exchange(i);
    SolveTriangle(lu, true, true, x);
    SolveTriangle(lu, false, false, x);
  }
}

Refusal TriangularOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  Matrix t = Input(r, args, 0, at), x = Input(r, args, 1, at);
  bool adjoint = r.attr<bool>("adjoint");
  if (adjoint) t = t.adjoint().eval();
  SolveTriangle(t, r.attr<bool>("lower") != adjoint, r.attr<bool>("unit"), x);
  Write(r, args, 0, at, x);
  return nullptr;
}

Refusal LuOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  Matrix a = Input(r, args, 0, at);
  Eliminate(a, static_cast<int32_t*>(args.out[1]) + at * std::min(a.rows(), a.cols()));
  Write(r, args, 0, at, a);
  return nullptr;
}

Refusal SolveOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  Matrix lu = Input(r, args, 2, at), x = Input(r, args, 1, at);
  if (IsSingular(lu)) return "be invertible";
  const auto* pivots = static_cast<const int32_t*>(args.in[3]) + at * lu.rows();
  SolveByFactors(lu, pivots, r.attr<bool>("adjoint"), x);
  Write(r, args, 0, at, x);
  return nullptr;
}

Refusal InverseOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  Matrix a = Input(r, args, 0, at), x = Matrix::Identity(a.rows(), a.cols());
  std::vector<int32_t> pivots(static_cast<size_t>(a.rows()));
  Eliminate(a, pivots.data());
  if (IsSingular(a)) return "be invertible";
  SolveByFactors(a, pivots.data(), r.attr<bool>("adjoint"), x);
  Write(r, args, 0, at, x);
  return nullptr;
}

// ---- orthogonal ----------------------------------------------------------------------------

// c becomes (1 - tau v v^H) c, where v begins with row k.
void ApplyReflection(const Vector& v, Complex tau, int64_t k, Matrix& c) {
  for (int64_t j = 0; j < c.cols(); ++j) {
    Complex dot = 0;
    for (int64_t i = k; i < c.rows(); ++i) dot += std::conj(v(i)) * c(i, j);
    for (int64_t i = k; i < c.rows(); ++i) c(i, j) -= tau * dot * v(i);
  }
}

// As LAPACK has them: r with a real diagonal, the vectors below it, and tau.
Vector Reflect(Matrix& a) {
  int64_t count = std::min(a.rows(), a.cols());
  Vector tau = Vector::Zero(count);
  for (int64_t k = 0; k < count; ++k) {
    int64_t below = a.rows() - k - 1;
    double rest = a.col(k).tail(below).stableNorm();
    Complex first = a(k, k);
    if (rest == 0 && first.imag() == 0) continue;
    double beta = -std::copysign(std::hypot(std::abs(first), rest), first.real());
    tau(k) = (beta - first) / beta;
    Vector v = Vector::Zero(a.rows());
    v(k) = 1;
    v.tail(below) = a.col(k).tail(below) / (first - beta);
    Matrix right = a.rightCols(a.cols() - k - 1);
    ApplyReflection(v, std::conj(tau(k)), k, right);
    a.rightCols(a.cols() - k - 1) = right;
    a(k, k) = beta;
    a.col(k).tail(below) = v.tail(below);
  }
  return tau;
}

Refusal ReflectionsOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  Matrix a = Input(r, args, 0, at);
  Vector tau = Reflect(a);
  Write(r, args, 0, at, a);
  Write(r, args, 1, at, tau);
  return nullptr;
}

Refusal QrOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  Matrix a = Input(r, args, 0, at);
  Vector tau = Reflect(a);
  int64_t inner = r.out[0].shape()[-1];
  Matrix q = Matrix::Identity(a.rows(), inner), upper = Matrix::Zero(inner, a.cols());
  for (int64_t k = tau.size() - 1; k >= 0; --k) {
    Vector v = a.col(k);
    v(k) = 1;
    ApplyReflection(v, tau(k), k, q);
  }
  for (int64_t i = 0; i < inner; ++i) {
    for (int64_t j = i; j < a.cols(); ++j) upper(i, j) = a(i, j);
  }
  Write(r, args, 0, at, q);
  Write(r, args, 1, at, upper);
  return nullptr;
}

Refusal SvdOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  Matrix x = Input(r, args, 0, at);
  int64_t m = x.rows(), n = x.cols();
  bool vectors = r.attr<bool>("compute_uv"), full = r.attr<bool>("full_matrices");
  Vector s = Unknown(std::min(m, n));
  Matrix u = vectors ? Unknown(m, r.out[1].shape()[-1]) : Matrix::Zero(1, 1);
  Matrix v = vectors ? Unknown(n, r.out[2].shape()[-1]) : Matrix::Zero(1, 1);
  if (x.size() == 0) {
    u.setIdentity();
    v.setIdentity();
  } else if (x.allFinite()) {
    unsigned options = !vectors ? 0u
                       : full   ? Eigen::ComputeFullU | Eigen::ComputeFullV
                                : Eigen::ComputeThinU | Eigen::ComputeThinV;
    Eigen::JacobiSVD<Matrix, Eigen::HouseholderQRPreconditioner> svd(x, options);
    s = svd.singularValues();
    if (vectors) u = svd.matrixU(), v = svd.matrixV();
  }
  Write(r, args, 0, at, s);
  if (vectors || at == 0) {
    Write(r, args, 1, at, u);
    Write(r, args, 2, at, v);
  }
  return nullptr;
}

// ---- eigenvalues ---------------------------------------------------------------------------
Refusal HermitianOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  Matrix x = Input(r, args, 0, at);
  Vector values = Unknown(x.rows());
  Matrix vectors = Unknown(x.rows(), x.rows());
  if (x.size() > 0 && x.allFinite()) {
    Matrix part = (x + x.adjoint()) / 2.0;
    Eigen::SelfAdjointEigenSolver<Matrix> eigen(part);
    values = eigen.eigenvalues();
    vectors = eigen.eigenvectors();
  }
  Write(r, args, 0, at, values);
  Write(r, args, 1, at, vectors);
  return nullptr;
}

Refusal GeneralOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  Matrix x = Input(r, args, 0, at);
  Vector values = Unknown(x.rows());
  Matrix vectors = Unknown(x.rows(), x.rows());
  if (x.size() > 0 && x.allFinite()) {
    Eigen::ComplexEigenSolver<Matrix> eigen(x);
    if (eigen.info() == Eigen::Success) {
      values = eigen.eigenvalues();
      vectors = eigen.eigenvectors().colwise().normalized();
    }
  }
  Write(r, args, 0, at, values);
  Write(r, args, 1, at, vectors);
  return nullptr;
}

Refusal ExponentialOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  Matrix x = Input(r, args, 0, at);
  if (x.size() > 0) x = x.allFinite() ? Matrix(x.exp()) : Unknown(x.rows(), x.rows());
  Write(r, args, 0, at, x);
  return nullptr;
}
Refusal LogarithmOf(const KernelRequest& r, const KernelArgs& args, int64_t at) {
  Matrix x = Input(r, args, 0, at);
  if (x.size() > 0) x = x.allFinite() ? Matrix(x.log()) : Unknown(x.rows(), x.rows());
  Write(r, args, 0, at, x);
  return nullptr;
}

}  // namespace

void AddComplexFactor(KernelTable& table) {
  constexpr double kSlowness = 20;  // beside blocks of real numbers
  auto add = [&](const char* op, bool real, OneMatrix one, double steps) {
    table.For(op).Try("eigen", [=](const KernelRequest& r) -> KernelChoice {
      if (!real && !IsComplex(r.dtype(0)))
        return No("needs complex numbers, got {}", Name(r.dtype(0)));
      return OverMatrices(r, one, steps * kSlowness);
    });
  };
  add("MatrixTriangularSolve", false, TriangularOf, 1);
  add("Lu", false, LuOf, 0.7);
  add("MatrixSolve", false, SolveOf, 1);
  add("MatrixInverse", false, InverseOf, 2);
  add("Geqrf", false, ReflectionsOf, 1.3);
  add("Qr", false, QrOf, 3);
  add("Svd", false, SvdOf, 60);
  add("SymmetricEigen", false, HermitianOf, 9);
  add("GeneralEigen", true, GeneralOf, 25);
  add("MatrixExp", false, ExponentialOf, 20);
  add("MatrixLogarithm", false, LogarithmOf, 60);
}

}  // namespace ms::cpu
