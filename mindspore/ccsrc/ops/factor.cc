// Factorisations of matrices and what is computed through them. Matrices are the last two axes;
// those before count them. The gradients are in ops/factor_gradients.cc.
#include "ops/factor.h"

#include "ops/all.h"
#include "ops/batch.h"
#include "ops/elementwise.h"
#include "ops/shard.h"

namespace ms {
namespace {

void CheckMatrix(InferContext& c, size_t i) {
  c.Check(c.rank(i) >= 2, "'{}' must have at least 2 dimensions, but got shape {}", c.input_name(i),
          c.shape(i));
}

void CheckSquare(InferContext& c, size_t i) {
  CheckMatrix(c, i);
  c.Check(c.dim(i, -1) == c.dim(i, -2), "'{}' must hold square matrices, but got shape {}",
          c.input_name(i), c.shape(i));
}

Type SameSquare(InferContext& c) {
  CheckSquare(c, 0);
  return c.Like(0, c.shape(0));
}

Shape BatchOf(const Shape& shape) { return shape.Part(0, shape.rank() - 2); }

// A matrix and right-hand sides of as many rows; the axes before are those of the matrix.
Type InferSolve(InferContext& c) {
  CheckSquare(c, 0);
  CheckMatrix(c, 1);
  c.CheckSameDType(0, 1);
  c.Check(c.rank(0) == c.rank(1) && BatchOf(c.shape(0)) == BatchOf(c.shape(1)) &&
              c.dim(0, -1) == c.dim(1, -2),
          "'{}' must have as many rows as '{}', and the same dimensions before, but got shapes {} "
          "and {}",
          c.input_name(1), c.input_name(0), c.shape(1), c.shape(0));
  return c.Like(1, c.shape(1));
}

DType RealOf(DType dtype) {
  if (dtype == DType::kComplex64) return DType::kFloat32;
  return dtype == DType::kComplex128 ? DType::kFloat64 : dtype;
}
DType ComplexOf(DType dtype) {
  return RealOf(dtype) == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

Dim Least(const InferContext& c) { return std::min(c.dim(0, -1), c.dim(0, -2)); }

void DefineTriangular(OpRegistry& ops) {
  ops.Op("Cholesky")
      .Doc(
          "The triangular factor of a symmetric positive definite matrix: a = l l^T, or u^T u. Of "
          "a "
          "matrix that is symmetric up to rounding it is that of its symmetric part.")
      .In("input_x", kFloating, "[..., n, n]")
      .WithAttr("upper", false, "Give u instead of l.")
      .Refuses()
      .Batch(batch::Leading)
      .Shard("... n m -> ... n m; n m whole")
      .Infer(SameSquare)
      .Grad(factor::CholeskyGrad)
      .Python("cholesky(input_x, upper=False)", kFunction | kMethod);
  ops.Op("MatrixTriangularSolve")
      .Internal()
      .Doc("x with t x = b for a triangle t of a matrix; its other elements are not read.")
      .In("a", kContinuous, "[..., n, n]")
      .In("b", kContinuous, "[..., n, k]; of the dtype of a.")
      .WithAttr("lower", true, "The triangle is the lower one.")
      .WithAttr("adjoint", false, "Solve with the adjoint of t.")
      .WithAttr("unit", false, "The diagonal counts as ones, whatever it is.")
      .Batch(batch::Leading)
      .Shard("... n m, ... n k -> ... n k; n m whole")
      .Infer(InferSolve)
      .Grad(factor::TriangularSolveGrad);
}

void DefineElimination(OpRegistry& ops) {
  ops.Op("Lu")
      .Internal()
      .Doc(
          "Gaussian elimination with row exchanges: u in the upper triangle, l below it, and with "
          "which row each one was exchanged.")
      .In("x", kContinuous, "[..., m, n]")
      .Batch(batch::Leading)
      .Shard("... m n -> ... m n, ... k; m n k whole")
      .Infer([](InferContext& c) {
        CheckMatrix(c, 0);
        return Types{c.Like(0, c.shape(0)),
                     Type(DType::kInt32, Join({BatchOf(c.shape(0)), {Least(c)}}))};
      })
      .Grad(factor::LuGrad);
  ops.Op("PivotsToPermutation")
      .Internal()
      .Doc("Where the rows come from that exchanges, counted from `base`, leave at each place.")
      .In("pivots", One(DType::kInt32), "[..., k]")
      .RequiredAttr<int64_t>("size", "How many rows there are.")
      .WithAttr("base", 0, "The number of the first row.")
      .Refuses()
      .Batch(batch::Leading)
      .Shard("... k -> ... m; k m whole")
      .Infer([](InferContext& c) {
        int64_t size = c.attr<int64_t>("size");
        c.Check(c.rank(0) >= 1, "'pivots' must have at least 1 dimension, but got a scalar");
        c.Check(size >= 0 && c.dim(0, -1) <= size,
                "there must be at most as many exchanges as rows, but got {} of {}", c.dim(0, -1),
                size);
        return c.Like(0, c.shape(0).With(-1, size));
      });
  ops.Op("MatrixSolve")
      .Internal()
      .Doc("x with a x = b, where the factors of a are known. They have no gradient: a has it.")
      .In("a", kContinuous, "[..., n, n]")
      .In("b", kContinuous, "[..., n, k]")
      .In("lu", kContinuous, "What op Lu gives for a.")
      .In("pivots", One(DType::kInt32), "[..., n]")
      .WithAttr("adjoint", false, "Solve with the adjoint of a.")
      .Refuses()
      .Batch(batch::Leading)
      .Shard("... n m, ... n k, ... n m, ... m -> ... n k; n m whole")
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 2);
        c.CheckSameShape(0, 2);
        Type x = InferSolve(c);
        c.Check(c.shape(3) == c.shape(0).Part(0, c.rank(0) - 1),
                "'pivots' must have shape {}, but got {}", c.shape(0).Part(0, c.rank(0) - 1),
                c.shape(3));
        return x;
      })
      .Grad(factor::SolveByLuGrad);
  ops.Op("MatrixInverse")
      .Doc("The inverse of a square matrix; a singular one is refused.")
      .In("x", kContinuous, "[..., n, n]")
      .WithAttr("adjoint", false, "Give the adjoint of the inverse.")
      .Refuses()
      .Batch(batch::Leading)
      .Shard("... n m -> ... n m; n m whole")
      .Infer(SameSquare)
      .Grad(factor::InverseGrad)
      .Python("inverse(input)", kFunction | kMethod);
  ops.Op("MatrixDeterminant")
      .Doc("The determinant of a square matrix.")
      .In("input", kContinuous, "[..., n, n]")
      .Batch(batch::Leading)
      .Shard("... n m -> ...; n m whole")
      .Infer([](InferContext& c) {
        CheckSquare(c, 0);
        return c.Like(0, BatchOf(c.shape(0)));
      })
      .Expand(factor::Determinant)
      .Grad(factor::DeterminantGrad)
      .Python("matrix_determinant(input)", kFunction | kMethod)
      .Python("det(input)", kFunction | kMethod);
  ops.Op("LogMatrixDeterminant")
      .Doc("The sign of the determinant and the logarithm of its size.")
      .In("input", kContinuous, "[..., n, n]")
      .Batch(batch::Leading)
      .Shard("... n m -> ..., ...; n m whole")
      .Infer([](InferContext& c) {
        CheckSquare(c, 0);
        Shape batch = BatchOf(c.shape(0));
        return Types{c.Like(0, batch), c.Like(0, batch)};
      })
      .Expand(factor::LogDeterminant)
      .Grad(factor::LogDeterminantGrad)
      .Python("log_matrix_determinant(input)", kFunction | kMethod)
      .Python("slogdet(input)", kFunction | kMethod);
}

void DefineOrthogonal(OpRegistry& ops) {
  ops.Op("Geqrf")
      .Doc(
          "The factors of qr as reflections: r in the upper triangle, below it the vectors v of "
          "reflections 1 - tau v v^H, whose product is q. It has no gradient; Qr has.")
      .In("input", kContinuous, "[..., m, n]")
      .Batch(batch::Leading)
      .Shard("... m n -> ... m n, ... k; m n k whole")
      .Infer([](InferContext& c) {
        CheckMatrix(c, 0);
        return Types{c.Like(0, c.shape(0)), c.Like(0, Join({BatchOf(c.shape(0)), {Least(c)}}))};
      })
      .Python("geqrf(input)", kFunction | kMethod);
  ops.Op("Qr")
      .Doc("q with orthonormal columns and an upper triangular r, whose product is the input.")
      .In("x", kContinuous, "[..., m, n]")
      .WithAttr("full_matrices", false, "q is square; else r is, where there are more rows.")
      .Batch(batch::Leading)
      .Shard("... m n -> ... a b, ... c n; m n a b c whole")
      .Infer([](InferContext& c) {
        CheckMatrix(c, 0);
        Dim inner = c.attr<bool>("full_matrices") ? c.dim(0, -2) : Least(c);
        return Types{c.Like(0, c.shape(0).With(-1, inner)), c.Like(0, c.shape(0).With(-2, inner))};
      })
      .Grad(factor::QrGrad);
  ops.Op("Svd")
      .Internal()
      .Doc(
          "Singular values, largest first, and the vectors as columns of u and v: the input is u "
          "diag(s) v^H.")
      .In("input", kContinuous, "[..., m, n]")
      .WithAttr("full_matrices", false, "u and v are square.")
      .WithAttr("compute_uv", true,
                "Without it there are no vectors: u and v are zeros of shape [1].")
      .Batch(factor::SvdBatch)
      .Shard([](const ShardContext& c) -> std::string {
        return c.attr<bool>("compute_uv")
                   ? "... m n -> ... k, ... a b, ... c d; m n k a b c d whole"
                   : "... m n -> ... k, 1, 1; m n k whole";
      })
      .Infer([](InferContext& c) {
        CheckMatrix(c, 0);
        Dim m = c.dim(0, -2), n = c.dim(0, -1), k = Least(c);
        Type s(RealOf(c.dtype(0)), Join({BatchOf(c.shape(0)), {k}}));
        if (!c.attr<bool>("compute_uv")) return Types{s, c.Like(0, {1}), c.Like(0, {1})};
        bool full = c.attr<bool>("full_matrices");
        Shape batch = BatchOf(c.shape(0));
        return Types{s, c.Like(0, Join({batch, {m, full ? m : k}})),
                     c.Like(0, Join({batch, {n, full ? n : k}}))};
      })
      .Grad(factor::SvdGrad);
}

void DefineSpectral(OpRegistry& ops) {
  ops.Op("PseudoInverse")
      .Internal()
      .Doc("The pseudo-inverse, to which singular values up to a bound count as zeros.")
      .In("x", kContinuous, "[..., m, n]")
      .WithAttr("atol", 0.0, "The bound ...")
      .WithAttr("rtol", 0.0, "... or this part of the largest, if that is more.")
      .Batch(batch::Leading)
      .Shard("... m n -> ... n m; m n whole")
      .Infer([](InferContext& c) {
        CheckMatrix(c, 0);
        return c.Like(0, Join({BatchOf(c.shape(0)), {c.dim(0, -1), c.dim(0, -2)}}));
      })
      .Expand(factor::PseudoInverse)
      .Grad(factor::PseudoInverseGrad);
  ops.Op("SymmetricEigen")
      .Internal()
      .Doc(
          "Eigenvalues, smallest first, and eigenvectors as columns, of the symmetric (or "
          "Hermitian) "
          "part of a matrix.")
      .In("x", kContinuous, "[..., n, n]")
      .Batch(batch::Leading)
      .Shard("... n m -> ... n, ... n m; n m whole")
      .Infer([](InferContext& c) {
        CheckSquare(c, 0);
        const Shape& shape = c.shape(0);
        return Types{Type(RealOf(c.dtype(0)), shape.Part(0, shape.rank() - 1)), c.Like(0, shape)};
      })
      .Grad(factor::SymmetricEigenGrad);
  ops.Op("GeneralEigen")
      .Internal()
      .Doc("Eigenvalues in any order and eigenvectors of length 1 as columns, all complex.")
      .In("x", One(DType::kFloat32) | One(DType::kFloat64) | kComplex, "[..., n, n]")
      .Batch(batch::Leading)
      .Shard("... n m -> ... n, ... n m; n m whole")
      .Infer([](InferContext& c) {
        CheckSquare(c, 0);
        const Shape& shape = c.shape(0);
        DType dtype = ComplexOf(c.dtype(0));
        return Types{Type(dtype, shape.Part(0, shape.rank() - 1)), Type(dtype, shape)};
      })
      .Grad(factor::GeneralEigenGrad);
  ops.Op("MatrixExp")
      .Doc("The exponential of a square matrix.")
      .In("input", kContinuous, "[..., n, n]")
      .Batch(batch::Leading)
      .Shard("... n m -> ... n m; n m whole")
      .Infer(SameSquare)
      .Grad([](GradContext& g) { return factor::AnalyticGrad(g, "MatrixExp"); })
      .Python("matrix_exp(input)", kFunction);
  ops.Op("MatrixLogarithm")
      .Doc("The principal logarithm of a square matrix.")
      .In("x", kComplex, "[..., n, n]")
      .Batch(batch::Leading)
      .Shard("... n m -> ... n m; n m whole")
      .Infer(SameSquare)
      .Grad([](GradContext& g) { return factor::AnalyticGrad(g, "MatrixLogarithm"); });
}

}  // namespace

void DefineFactor(OpRegistry& ops) {
  DefineTriangular(ops);
  DefineElimination(ops);
  DefineOrthogonal(ops);
  DefineSpectral(ops);
}

}  // namespace ms
