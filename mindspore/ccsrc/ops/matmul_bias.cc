// Matrix product with what follows it as one step, and the preparation of a matrix that stays the
// same. Passes make these ops where no gradient is left to take.
#include "ops/matmul_bias.h"
#include "ops/all.h"
#include "ops/joined_activation.h"
#include "ops/shard.h"

namespace ms {
namespace {

// What devices pack.
constexpr DTypeSet kPacked = One(DType::kFloat32) | One(DType::kBFloat16);

// The shape of the plain second matrix.
Shape PlainMatrix(const InferContext& c) {
  const auto& plain = c.attr<Ints>("y_shape");
  if (plain.empty()) return c.shape(1);
  c.CheckRank(1, 1);
  return Shape(plain);
}

Type InferProduct(InferContext& c) {
  c.CheckRank(0, 2);
  for (size_t i = 1; i < c.size(); ++i) c.CheckSameDType(0, i);
  CheckActivation(c);
  Shape y = PlainMatrix(c);
  c.Check(y.rank() == 2, "'y' must be a matrix, but got shape {}", y);
  bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  Dim inner = c.dim(0, ta ? 0 : 1);
  c.Check(inner == y.dim(tb ? 1 : 0),
          "the inner sizes must be equal, but got {} and {} from shapes {} and {}", inner,
          y.dim(tb ? 1 : 0), c.shape(0), y);
  Dim columns = y.dim(tb ? 0 : 1);
  if (c.size() == 3) {
    c.Check(SameSizes(c.shape(2), Shape{columns}), "the bias must have shape {}, but got {}",
            Shape{columns}, c.shape(2));
  }
  return c.Like(0, Shape{c.dim(0, ta ? 1 : 0), columns});
}

Terms ExpandBias(ExpandContext& c) {
  Term z = c.Call(
      "MatMul", {c.in(0), c.in(1)},
      {{"transpose_a", c.attr<bool>("transpose_a")}, {"transpose_b", c.attr<bool>("transpose_b")}});
  z = z + c.in(2);
  return {Activated(c, z)};
}

OpDef& Product(OpRegistry& ops, const char* name, DTypeSet types) {
  return ops.Op(name)
      .Internal()
      .In("x", types, "[m, k], or [k, m] with transpose_a.")
      .In("y", types, "[k, n], or [n, k] with transpose_b; or a packed one.");
}

OpDef& Attributes(OpDef& op) {
  return op.WithAttr("transpose_a", false, "Read x transposed.")
      .WithAttr("transpose_b", false, "Read y transposed.")
      .WithAttr("activation", "", "'', or what follows: 'relu', 'gelu', ...")
      .WithAttr("y_shape", Ints{}, "The shape of a packed y before it was packed.")
      .Shard(shard::ProductBias)
      .Infer(InferProduct);
}

}  // namespace

void DefineMatMulBias(OpRegistry& ops) {
  Attributes(Product(ops, "MatMulBias", kFloating)
                 .In("bias", kFloating, "[n].")
                 .Doc("MatMul, plus a bias per column, through an activation."))
      .Expand(ExpandBias);
  Attributes(Product(ops, "MatMulPacked", kPacked)
                 .Doc("MatMul with a packed matrix, through an activation."));
  ops.Op("PackMatrix")
      .Internal()
      .Doc(
          "The second matrix of a product in the layout, and perhaps the type, that the device "
          "wants for it.")
      .In("y", One(DType::kFloat32), "[k, n], or [n, k] with transpose_b.")
      .WithAttr("transpose_b", false, "Read y transposed.")
      .RequiredAttr<int64_t>("rows", "How many rows the first matrix has.")
      .RequiredAttr<int64_t>("size", "How many elements the result has.")
      .WithAttr("dtype", DType::kFloat32, "Of the first matrix and the result.")
      .Shard(shard::Whole)
      .Infer([](InferContext& c) {
        c.CheckRank(0, 2);
        for (const char* name : {"rows", "size"}) {
          c.Check(c.attr<int64_t>(name) > 0, "'{}' must be positive, but got {}", name,
                  c.attr<int64_t>(name));
        }
        return Type(c.attr<DType>("dtype"), Shape{c.attr<int64_t>("size")});
      });
}

}  // namespace ms
