// Gradients of factorisations, in products and solutions of triangular systems alone, so they have
// gradients themselves. For complex matrices dL = Re(sum of conj(gradient) * change). Formulas:
// Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
// differentiation", 2008; Murray, "Differentiation of the Cholesky decomposition", 2016.
#include "ops/factor.h"

namespace ms::factor {
namespace {

// ---- matrices as terms ---------------------------------------------------------------------
Term Call(const char* op, const Terms& in, const NamedAttrs& attrs = {}) {
  return in[0].emitter->Call(op, in, attrs);
}

Term Conjugate(const Term& x) { return IsComplex(x.dtype()) ? Call("Conj", {x}) : x; }

Term Swapped(const Term& x) {
  Ints perm;
  for (int i = 0; i < x.shape().rank(); ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return Call("Transpose", {x}, {{"perm", perm}});
}

Term Adjoint(const Term& x) { return Conjugate(Swapped(x)); }

Term Product(const Term& a, const Term& b) { return Call("BatchMatMul", {a, b}); }
// a^H b and a b^H.
Term AdjointProduct(const Term& a, const Term& b) {
  return Call("BatchMatMul", {Conjugate(a), b}, {{"transpose_a", true}});
}
Term ProductAdjoint(const Term& a, const Term& b) {
  return Call("BatchMatMul", {a, Conjugate(b)}, {{"transpose_b", true}});
}

Term Lower(const Term& x, int64_t diagonal = 0) {
  return Call("Tril", {x}, {{"diagonal", diagonal}});
}
Term Upper(const Term& x, int64_t diagonal = 0) {
  return Call("Triu", {x}, {{"diagonal", diagonal}});
}
Term Hermitian(const Term& x) { return (x + Adjoint(x)) * 0.5; }

Term Solve(const Term& triangle, const Term& b, bool lower, bool adjoint, bool unit = false) {
  return Call("MatrixTriangularSolve", {triangle, b},
              {{"lower", lower}, {"adjoint", adjoint}, {"unit", unit}});
}

Shape WithAxis(const Shape& shape, int axis) { return shape.Insert(axis, 1); }
// A vector for each matrix, beside its rows or above its columns.
Term AsColumn(const Term& x) { return Reshape(x, WithAxis(x.shape(), x.shape().rank())); }
Term AsRow(const Term& x) { return Reshape(x, WithAxis(x.shape(), x.shape().rank() - 1)); }

Term Unit(Emitter& emitter, Dim size, DType dtype) {
  return emitter.Call("Eye", {}, {{"n", size.code()}, {"m", size.code()}, {"dtype", dtype}});
}
Term UnitLike(const Term& x) { return Unit(*x.emitter, x.shape().dim(-1), x.dtype()); }

Term Diagonal(const Term& x) {
  return Call("ReduceSum", {x * UnitLike(x)}, {{"axis", Ints{-1}}, {"keep_dims", false}});
}
Term WithDiagonal(const Term& x) {
  return AsRow(x) * Unit(*x.emitter, x.shape().dim(-1), x.dtype());
}

// 1 / (x_j - x_i) beside the diagonal, zeros on it.
Term InverseDifferences(const Term& x) {
  Term unit = UnitLike(x);
  Term differences = AsRow(x) - AsColumn(x) + unit;
  return (1.0 - unit) / differences;
}

// Columns [from, to) of matrices.
Term Columns(const Term& x, Dim from, Dim to) {
  Ints begin(static_cast<size_t>(x.shape().rank()), 0);
  begin.back() = from.code();
  return Call("Slice", {x}, {{"begin", begin}, {"size", x.shape().With(-1, to - from).ToCodes()}});
}

Term Joined(const Term& a, const Term& b, int64_t axis) {
  return a.emitter->Call("Concat", {a, b}, {{"axis", axis}});
}

Term RealOf(const Term& x, DType dtype) {
  return IsComplex(x.dtype()) && !IsComplex(dtype) ? Call("Real", {x}) : x;
}

}  // namespace

// ---- triangles -----------------------------------------------------------------------------
Terms CholeskyGrad(GradContext& g) {
  bool upper = g.attr<bool>("upper");
  Term l = upper ? Adjoint(g.out()) : g.out();
  Term dl = upper ? Adjoint(g.dout()) : g.dout();
  Term product = AdjointProduct(l, dl);
  Term half = (Lower(product) + Lower(product, -1)) * 0.5;
  Term right = Solve(l, Adjoint(Solve(l, half, true, true)), true, true);
  return {Hermitian(right)};
}

Terms TriangularSolveGrad(GradContext& g) {
  bool lower = g.attr<bool>("lower"), adjoint = g.attr<bool>("adjoint");
  bool unit = g.attr<bool>("unit");
  Term db = Solve(g.in(0), g.dout(), lower, !adjoint, unit);
  Terms grads(2);
  grads[1] = db;
  if (g.needs(0)) {
    Term da = -(adjoint ? ProductAdjoint(g.out(), db) : ProductAdjoint(db, g.out()));
    grads[0] = lower ? Lower(da, unit ? -1 : 0) : Upper(da, unit ? 1 : 0);
  }
  return grads;
}

// With p a = l u: da = p^H l^-H (tril(l^H dl, -1) + triu(du u^H)) u^-H.
Terms LuGrad(GradContext& g) {
  Term lu = g.out(), d = g.dout(), pivots = g.out(1);
  Dim rows = lu.shape().dim(-2), columns = lu.shape().dim(-1);
  if (!(rows == columns)) {
    Throw(ErrorKind::kValue,
          "For 'Lu', matrices must be square to have a gradient, but got shape {}.", lu.shape());
  }
  Term l = Lower(lu, -1) + UnitLike(lu), u = Upper(lu);
  Term inner = Lower(AdjointProduct(l, Lower(d, -1)), -1) + Upper(ProductAdjoint(Upper(d), u));
  Term left = Solve(l, inner, true, true, true);
  Term moved = Adjoint(Solve(u, Adjoint(left), false, false));  // rows as after the exchanges
  Term order = g.Call("PivotsToPermutation", {pivots}, {{"size", rows.code()}});
  Term places = BroadcastTo(AsColumn(order), lu.shape());
  return {g.Call("TensorScatterElements", {ZerosLike(moved), places, moved},
                 {{"axis", int64_t{-2}}, {"reduction", std::string("none")}})};
}

// ---- solutions -----------------------------------------------------------------------------
Terms SolveByLuGrad(GradContext& g) {
  bool adjoint = g.attr<bool>("adjoint");
  Terms grads(4);
  grads[1] = g.Call("MatrixSolve", {g.in(0), g.dout(), g.in(2), g.in(3)}, {{"adjoint", !adjoint}});
  if (g.needs(0)) {
    const Term& db = grads[1];
    grads[0] = -(adjoint ? ProductAdjoint(g.out(), db) : ProductAdjoint(db, g.out()));
  }
  return grads;
}

Terms InverseGrad(GradContext& g) {
  Term y = g.out();
  if (g.attr<bool>("adjoint")) return {-Product(y, AdjointProduct(g.dout(), y))};
  return {-AdjointProduct(y, ProductAdjoint(g.dout(), y))};
}

// ---- determinants --------------------------------------------------------------------------
namespace {

struct Eliminated {
  Term diagonal;  // of u
  Term sign;      // of the permutation
};

Eliminated Eliminate(ExpandContext& c) {
  Term x = c.in(0);
  Terms factors = c.emitter().CallMany("Lu", {x});
  Dim n = x.shape().dim(-1);
  Term still = c.Call(
      "Range", {},
      {{"start", int64_t{0}}, {"end", n.code()}, {"step", int64_t{1}}, {"dtype", DType::kInt32}});
  Term moved = CastTo(c.Call("NotEqual", {factors[1], still}), x.dtype());
  Term signs = 1.0 - moved * 2.0;
  return {Diagonal(factors[0]), c.Call("ReduceProd", {signs}, {{"axis", Ints{-1}}})};
}

Term InverseAdjoint(GradContext& g) {
  return g.Call("MatrixInverse", {g.in(0)}, {{"adjoint", true}});
}

Term AsMatrix(const Term& x) { return AsColumn(AsColumn(x)); }

}  // namespace

Terms Determinant(ExpandContext& c) {
  Eliminated e = Eliminate(c);
  return {c.Call("ReduceProd", {e.diagonal}, {{"axis", Ints{-1}}}) * e.sign};
}

Terms DeterminantGrad(GradContext& g) {
  return {AsMatrix(g.dout() * Conjugate(g.out())) * InverseAdjoint(g)};
}

Terms LogDeterminant(ExpandContext& c) {
  Eliminated e = Eliminate(c);
  Term size = c.Call("Abs", {e.diagonal});
  Term sum =
      c.Call("ReduceSum", {c.Call("Log", {size})}, {{"axis", Ints{-1}}, {"keep_dims", false}});
  Term signs = IsComplex(e.diagonal.dtype()) ? e.diagonal / CastTo(size, e.diagonal.dtype())
                                             : c.Call("Sign", {e.diagonal});
  Term sign = c.Call("ReduceProd", {signs}, {{"axis", Ints{-1}}}) * e.sign;
  return {sign, CastTo(sum, sign.dtype())};
}

// The sign of a real determinant has none; that of a complex one is differentiated as it is made.
Terms LogDeterminantGrad(GradContext& g) {
  if (IsComplex(g.in_type(0).dtype())) return {};
  return {AsMatrix(g.dout(1)) * InverseAdjoint(g)};
}

// ---- orthogonal factors --------------------------------------------------------------------
namespace {

// Of a = q r with as many columns as r has rows: (dq + q sym(r dr^H - dq^H q)) r^-H, where sym
// mirrors the lower triangle.
Term TallQrGrad(const Term& q, const Term& r, const Term& dq, const Term& dr) {
  Term m = ProductAdjoint(r, dr) - AdjointProduct(dq, q);
  Term mirrored = Lower(m) + Adjoint(Lower(m, -1));
  Term sum = dq + Product(q, mirrored);
  return Adjoint(Solve(r, Adjoint(sum), false, false));
}

}  // namespace

Terms QrGrad(GradContext& g) {
  Term q = g.out(0), r = g.out(1), dq = g.dout(0), dr = g.dout(1);
  Dim m = q.shape().dim(-2), k = q.shape().dim(-1), n = r.shape().dim(-1);
  if (n < k) {
    Throw(
        ErrorKind::kValue,
        "For 'Qr', a full q must be of a matrix with no more rows than columns to have a gradient, "
        "but got shape {}.",
        g.in_type(0).shape());
  }
  if (n == m || n == k) return {TallQrGrad(q, r, dq, dr)};
  Term rest = Columns(g.in(0), k, n), drest = Columns(dr, k, n);
  Term first = TallQrGrad(q, Columns(r, 0, k), dq + ProductAdjoint(rest, drest), Columns(dr, 0, k));
  return {Joined(first, Product(q, drest), -1)};
}

// Vectors that stand together with the k singular values; those beyond have no gradient.
Terms SvdGrad(GradContext& g) {
  Term s, u, v;
  const Shape& shape = g.in_type(0).shape();
  if (IsComplex(g.in_type(0).dtype()) && (g.has_dout(1) || g.has_dout(2))) {
    Throw(ErrorKind::kValue, "For 'Svd', vectors must be real to have a gradient, but got {}.",
          Name(g.in_type(0).dtype()));
  }
  Dim m = shape.dim(-2), n = shape.dim(-1), k = std::min(m, n);
  bool vectors = g.attr<bool>("compute_uv");
  if (vectors) {
    s = g.out(0), u = Columns(g.out(1), 0, k), v = Columns(g.out(2), 0, k);
  } else {
    Terms all = g.CallMany("Svd", {g.in(0)});
    s = all[0], u = all[1], v = all[2];
  }
  Term middle;
  auto add = [](Term& sum, const Term& x) { sum = sum ? sum + x : x; };
  if (g.has_dout(0)) middle = WithDiagonal(CastTo(g.dout(0), u.dtype()));
  Term outside;
  if (vectors && (g.has_dout(1) || g.has_dout(2))) {
    Term f = InverseDifferences(s * s), inverse = 1.0 / s;
    if (g.has_dout(1)) {
      Term du = Columns(g.dout(1), 0, k), turn = AdjointProduct(u, du);
      add(middle, f * (turn - Adjoint(turn)) * AsRow(s));
      if (!(m == k)) {
        Term beyond = (du - Product(u, turn)) * AsRow(inverse);
        add(outside, ProductAdjoint(beyond, v));
      }
    }
    if (g.has_dout(2)) {
      Term dv = Columns(g.dout(2), 0, k), turn = AdjointProduct(v, dv);
      add(middle, AsColumn(s) * (f * (turn - Adjoint(turn))));
      if (!(n == k)) {
        Term beyond = (dv - Product(v, turn)) * AsRow(inverse);
        add(outside, ProductAdjoint(u, beyond));
      }
    }
  }
  if (!middle) return {Term{}};
  Term da = ProductAdjoint(Product(u, middle), v);
  return {outside ? da + outside : da};
}

// Without vectors, their places are the same for all items.
Terms SvdBatch(BatchContext& b) {
  Terms made = b.Again({b.in(0)});
  if (b.attr<bool>("compute_uv")) return made;
  for (size_t i : {1, 2}) made[i] = BroadcastTo(made[i], Shape{b.size(), 1});
  return made;
}

// ---- pseudo-inverse ------------------------------------------------------------------------
Terms PseudoInverse(ExpandContext& c) {
  Term x = c.in(0);
  Terms factors = c.emitter().CallMany("Svd", {x});
  Term s = factors[0], u = factors[1], v = factors[2];
  Term bound = c.emitter().Full(c.attr<double>("atol"), s.type());
  if (!s.shape().dim(-1).Is(0)) {
    Ints begin(static_cast<size_t>(s.shape().rank()), 0);
    Term largest =
        c.Call("Slice", {s}, {{"begin", begin}, {"size", s.shape().With(-1, 1).ToCodes()}});
    bound = c.Call("Maximum", {bound, largest * c.attr<double>("rtol")});
  }
  Term counts = c.Call("Greater", {s, bound});
  Term inverse = c.Call(
      "Select",
      {counts, 1.0 / c.Call("Select", {counts, s, c.emitter().Full(1, s.type())}), ZerosLike(s)});
  return {ProductAdjoint(v * AsRow(CastTo(inverse, v.dtype())), u)};
}

// Golub and Pereyra, 1973: only the pseudo-inverse and the matrix itself take part.
Terms PseudoInverseGrad(GradContext& g) {
  Term a = g.in(0), p = g.out(), d = g.dout();
  Term back = Adjoint(p), turned = Adjoint(d);
  Term da = -Product(back, Product(d, back));
  Term left = Product(turned, Product(p, back));
  da = da + left - Product(a, Product(p, left));
  Term right = Product(Product(back, p), turned);
  return {da + right - Product(Product(right, p), a)};
}

// ---- eigenvalues ---------------------------------------------------------------------------
Terms SymmetricEigenGrad(GradContext& g) {
  Term w = g.out(0), v = g.out(1), middle;
  if (g.has_dout(0)) middle = WithDiagonal(CastTo(g.dout(0), v.dtype()));
  if (g.has_dout(1)) {
    Term turn = CastTo(InverseDifferences(w), v.dtype()) * AdjointProduct(v, g.dout(1));
    middle = middle ? middle + turn : turn;
  }
  if (!middle) return {Term{}};
  return {Hermitian(ProductAdjoint(Product(v, middle), v))};
}

Terms GeneralEigenGrad(GradContext& g) {
  Term w = g.out(0), v = g.out(1), middle;
  if (g.has_dout(0)) middle = WithDiagonal(g.dout(0));
  if (g.has_dout(1)) {
    Term turn = AdjointProduct(v, g.dout(1));
    Term length = CastTo(g.Call("Real", {Diagonal(turn)}), v.dtype());  // vectors keep theirs
    Term turned = turn - AdjointProduct(v, v * AsRow(length));
    turned = turned * Conjugate(InverseDifferences(w));
    middle = middle ? middle + turned : turned;
  }
  if (!middle) return {Term{}};
  Terms factors = g.CallMany("Lu", {g.Call("StopGradient", {v})});
  Term da = g.Call("MatrixSolve", {v, ProductAdjoint(middle, v), factors[0], factors[1]},
                   {{"adjoint", true}});
  return {RealOf(da, g.in_type(0).dtype())};
}

Terms AnalyticGrad(GradContext& g, const char* op) {
  Term x = Adjoint(g.in(0)), d = g.dout();
  Dim n = x.shape().dim(-1);
  Term blocks = Joined(Joined(x, d, -1), Joined(ZerosLike(x), x, -1), -2);
  Term of_all = Columns(g.Call(op, {blocks}), n, n + n);
  Ints begin(static_cast<size_t>(x.shape().rank()), 0);
  return {g.Call("Slice", {of_all}, {{"begin", begin}, {"size", x.shape().ToCodes()}})};
}

}  // namespace ms::factor
