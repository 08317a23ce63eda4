// Matrix products by oneDNN; its older entry point where a product is so small that the call itself
// counts, and where the newer one copies too much.
#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/in_float32.h"
#include "backends/cpu/kernels/matmul_packed.h"

namespace ms::cpu {
namespace {

using dnnl::memory;

KernelChoice OneDnnMatMul(const KernelRequest& r) {
  memory::data_type type;
  if (!OneDnnType(r.dtype(0), &type)) return No("needs Float32, got {}", Name(r.dtype(0)));
  if (r.shape(0).empty() || r.shape(1).empty()) return No("needs elements, got none");
  return AskOneDnn([&]() -> KernelChoice {
    const Shape& out = r.out[0].shape();
    Desc a = OperandDesc(r.shape(0), out.rank(), r.attr<bool>("transpose_a"), type);
    Desc b = OperandDesc(r.shape(1), out.rank(), r.attr<bool>("transpose_b"), type);
    Desc c = OperandDesc(out, out.rank(), false, type);
    dnnl::matmul::primitive_desc pd(OneDnnEngine(), a, b, c, UserScratchpad());
    return PrimitiveKernel(
        dnnl::matmul(pd), pd.scratchpad_desc(),
        {InputOperand(DNNL_ARG_SRC, 0, a, a), InputOperand(DNNL_ARG_WEIGHTS, 1, b, b),
         OutputOperand(DNNL_ARG_DST, 0, c, c)},
        Products(r).Work() * kNsPerProduct);
  });
}

// One product by the older entry point, which takes matrices as they are.
KernelChoice Gemm(const KernelRequest& r, const Products& p) {
  bool ta = r.attr<bool>("transpose_a");
  bool tb = r.attr<bool>("transpose_b");
  int64_t lda = std::max(p.a_row, p.a_column);
  int64_t ldb = std::max(p.b_row, p.b_column);
  return FunctionKernel(
      [p, ta, tb, lda, ldb](const KernelArgs& args) {
        Sgemm(ta, tb, p.m, p.n, p.k, static_cast<const float*>(args.in[0]), lda,
              static_cast<const float*>(args.in[1]), ldb, static_cast<float*>(args.out[0]));
      },
      p.Work() * kNsPerProduct);
}

KernelChoice SmallMatMul(const KernelRequest& r) {
  Products p(r);
  if (r.dtype(0) != DType::kFloat32) return No("needs Float32, got {}", Name(r.dtype(0)));
  if (p.count() != 1 || p.Work() > kSmallProduct || p.Work() == 0) {
    return No("needs one small product");
  }
  return Gemm(r, p);
}

KernelChoice WideMatMul(const KernelRequest& r) {
  Products p(r);
  if (r.dtype(0) != DType::kFloat32) return No("needs Float32, got {}", Name(r.dtype(0)));
  if (p.count() != 1 || p.Work() == 0 ||
      !CopiesMuch(p, r.attr<bool>("transpose_a"), r.attr<bool>("transpose_b"))) {
    return No("needs one product of which the second matrix is wide and deep");
  }
  return Gemm(r, p);
}

}  // namespace

Desc OperandDesc(const Shape& shape, int rank, bool transposed, memory::data_type type) {
  memory::dims dims(static_cast<size_t>(rank), 1);
  memory::dims strides(static_cast<size_t>(rank), 1);
  int64_t step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    auto at = static_cast<size_t>(i);
    int from = i - (rank - shape.rank());
    dims[at] = from >= 0 ? shape[from] : 1;
    strides[at] = step;
    step *= dims[at];
  }
  if (transposed) {
    std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
  }
  return Desc(dims, type, strides);
}

// Measured on one core and two: for wide and deep y sgemm takes 0.55 to 0.9 of the primitive's
// time. With x transposed that holds for deep products alone, with y transposed never.
bool CopiesMuch(const Products& p, bool transpose_a, bool transpose_b) {
  if (transpose_b || p.n < 256) return false;
  if (transpose_a) return p.k >= 2048 && p.m >= 128;
  return p.k >= 2048 || p.n >= 2048 || p.m <= 32;
}

void AddMatMul(KernelTable& table) {
  for (const char* op : {"MatMul", "BatchMatMul"}) {
    table.For(op)
        .Try("by a vector", MatVec)
        .Try("onednn sgemm", SmallMatMul)
        .Try("onednn sgemm of wide", WideMatMul)
        .Try("onednn", OneDnnMatMul)
        .Try("onednn in float32", InFloat32(OneDnnMatMul))
        .Try("panels", PanelMatMul)
        .Try("reference", ReferenceMatMul);
  }
  AddMatMulBias(table);
}

}  // namespace ms::cpu
