// Matrix products and the bias that goes with them.
#include "ops/all.h"
#include "ops/batch.h"
#include "ops/shard.h"

namespace ms {
namespace {

// [rows, columns] of the last two dimensions as the product sees them.
struct MatrixSize {
  Dim rows;
  Dim columns;
};

MatrixSize SizeOf(const Shape& shape, bool transposed) {
  Dim rows = shape.dim(-2);
  Dim columns = shape.dim(-1);
  return transposed ? MatrixSize{columns, rows} : MatrixSize{rows, columns};
}

Shape ProductShape(InferContext& c) {
  MatrixSize x = SizeOf(c.shape(0), c.attr<bool>("transpose_a"));
  MatrixSize y = SizeOf(c.shape(1), c.attr<bool>("transpose_b"));
  c.Check(x.columns == y.rows,
          "the inner sizes must be equal, but got {} and {} from shapes {} and {}", x.columns,
          y.rows, c.shape(0), c.shape(1));
  auto batch = [](const Shape& shape) { return shape.Part(0, shape.rank() - 2); };
  Shape shape;
  c.Check(Broadcast(batch(c.shape(0)), batch(c.shape(1)), &shape),
          "the batch dimensions must broadcast, but got shapes {} and {}", c.shape(0), c.shape(1));
  return Join({shape, {x.rows, y.columns}});
}

Type InferProduct(InferContext& c) {
  c.CheckSameDType(0, 1);
  return c.Like(0, ProductShape(c));
}

void CheckStacks(InferContext& c) {
  for (size_t i : {0, 1}) {
    c.Check(c.rank(i) >= 2, "'{}' must have at least 2 dimensions, but got shape {}",
            c.input_name(i), c.shape(i));
  }
}

Term Conjugate(GradContext& g, const Term& x) {
  return IsComplex(x.dtype()) ? g.Call("Conj", {x}) : x;
}

// With z = x y: dx = dz y^T and dy = x^T dz; a transposed operand gets the transposed product.
Terms ProductGrad(GradContext& g, const char* op) {
  bool ta = g.attr<bool>("transpose_a");
  bool tb = g.attr<bool>("transpose_b");
  auto multiply = [&](const Term& a, const Term& b, bool transpose_a, bool transpose_b) {
    return g.Call(op, {a, b}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
  };
  Terms grads(2);
  Term dz = g.dout();
  if (g.needs(0)) {
    Term y = Conjugate(g, g.in(1));
    Term dx = ta ? multiply(y, dz, tb, true) : multiply(dz, y, false, !tb);
    grads[0] = SumTo(dx, g.in_type(0).shape());
  }
  if (g.needs(1)) {
    Term x = Conjugate(g, g.in(0));
    Term dy = tb ? multiply(dz, x, true, ta) : multiply(x, dz, !ta, false);
    grads[1] = SumTo(dy, g.in_type(1).shape());
  }
  return grads;
}

// ---- bias -------------------------------------------------------------------------------------
int ChannelAxis(const std::string& format, int rank) { return format == "NHWC" ? rank - 1 : 1; }

Type InferBiasAdd(InferContext& c) {
  const auto& format = c.attr<std::string>("data_format");
  c.Check(format == "NCHW" || format == "NHWC" || format == "NCDHW",
          "'data_format' must be one of ['NCHW', 'NHWC', 'NCDHW'], but got '{}'", format);
  c.Check(c.rank(0) >= 2 && c.rank(0) <= 5,
          "'input_x' must have 2 to 5 dimensions, but got shape {}", c.shape(0));
  c.Check(format != "NCDHW" || c.rank(0) == 5,
          "'input_x' must have 5 dimensions with 'NCDHW', but got shape {}", c.shape(0));
  c.CheckRank(1, 1);
  c.CheckSameDType(0, 1);
  Dim channels = c.dim(0, ChannelAxis(format, c.rank(0)));
  c.Check(c.dim(1, 0) == channels,
          "'bias' must have as many elements as there are channels, but "
          "got {} for {} channels",
          c.dim(1, 0), channels);
  return c.Like(0, c.shape(0));
}

// The shape in which the bias broadcasts against the input.
Shape BiasShape(const Shape& x, const std::string& format) {
  int axis = ChannelAxis(format, x.rank());
  Dims dims(static_cast<size_t>(x.rank()), 1);
  dims[static_cast<size_t>(axis)] = x.dim(axis);
  return dims;
}

Terms BiasAddGrad(GradContext& g) {
  const Shape& shape = g.in_type(0).shape();
  Shape bias = BiasShape(shape, g.attr<std::string>("data_format"));
  Terms grads(2);
  grads[0] = g.dout();
  if (g.needs(1)) grads[1] = Reshape(SumTo(g.dout(), bias), g.in_type(1).shape());
  return grads;
}

}  // namespace

void DefineLinalg(OpRegistry& ops) {
  ops.Op("MatMul")
      .Doc("Product of two matrices.")
      .In("x", kNumber, "[m, k], or [k, m] with transpose_a.")
      .In("y", kNumber, "[k, n], or [n, k] with transpose_b; of the dtype of x.")
      .WithAttr("transpose_a", false, "Read x transposed.")
      .WithAttr("transpose_b", false, "Read y transposed.")
      .Batch(batch::Product)
      .Infer([](InferContext& c) {
        c.CheckRank(0, 2);
        c.CheckRank(1, 2);
        return InferProduct(c);
      })
      .Grad([](GradContext& g) { return ProductGrad(g, "MatMul"); })
      .Shard(shard::Product)
      .Class("MatMul(transpose_a=False, transpose_b=False)(input, mat2)");
  ops.Op("BatchMatMul")
      .Doc("Products of the matrices in the last two dimensions; the dimensions before broadcast.")
      .In("x", kNumber, "[..., m, k], or [..., k, m] with transpose_a.")
      .In("y", kNumber, "[..., k, n], or [..., n, k] with transpose_b; of the dtype of x.")
      .WithAttr("transpose_a", false, "Read the matrices of x transposed.")
      .WithAttr("transpose_b", false, "Read the matrices of y transposed.")
      .Batch(batch::Product)
      .Infer([](InferContext& c) {
        CheckStacks(c);
        return InferProduct(c);
      })
      .Grad([](GradContext& g) { return ProductGrad(g, "BatchMatMul"); })
      .Shard(shard::Product);
  // What quantised networks are made of; what scales the sums is composed in Python.
  ops.Op("MatMulInteger")
      .Internal()
      .Doc(
          "Products of matrices of bytes with exact sums; the dimensions before the last two "
          "broadcast.")
      .In("x", One(DType::kInt8), "[..., m, k], or [..., k, m] with transpose_a.")
      .In("y", One(DType::kInt8), "[..., k, n], or [..., n, k] with transpose_b.")
      .WithAttr("transpose_a", false, "Read the matrices of x transposed.")
      .WithAttr("transpose_b", false, "Read the matrices of y transposed.")
      .Shard(shard::Product)
      .Infer([](InferContext& c) {
        CheckStacks(c);
        return Type(DType::kInt32, ProductShape(c));
      });
  // No kernel: as an addition it joins the elementwise work around it.
  ops.Op("BiasAdd")
      .Doc("Adds one number per channel.")
      .In("input_x", kNumber, "Rank 2 to 5; channels in dimension 1, or last with 'NHWC'.")
      .In("bias", kNumber, "[channels], of the dtype of input_x.")
      .WithAttr("data_format", "NCHW", "'NCHW', 'NHWC', or 'NCDHW' for rank 5.")
      .Format("data_format")
      .Shard(shard::BiasAdd)
      .Infer(InferBiasAdd)
      .Grad(BiasAddGrad)
      .Expand([](ExpandContext& c) {
        Shape bias = BiasShape(c.in(0).shape(), c.attr<std::string>("data_format"));
        return c.in(0) + Reshape(c.in(1), bias);
      })
      .Python("bias_add(input_x, bias)");
}

}  // namespace ms
