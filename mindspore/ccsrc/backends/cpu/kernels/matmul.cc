// Matrix products by oneDNN; its older entry point where a product is so small that the call itself
// counts, and where the newer one copies too much.
#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/in_float32.h"
#include "backends/cpu/kernels/matmul_packed.h"
#include "kernel/parallel.h"

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

// A dense matrix as it lies in memory. With `padding` its rows are copied to the workspace, so many
// floats further apart.
struct Operand2D {
  int64_t rows, columns, padding = 0;

  Operand2D(int64_t height, int64_t width, bool transposed)
      : rows(transposed ? width : height), columns(transposed ? height : width) {}
  int64_t step() const { return columns + padding; }
  size_t bytes() const { return padding ? static_cast<size_t>(rows * step()) * sizeof(float) : 0; }

  const float* Place(const void* given, float*& workspace) const {
    auto* from = static_cast<const float*>(given);
    if (!padding) return from;
    float* to = workspace;
    workspace += rows * step();
    ParallelFor(rows, static_cast<double>(columns) / 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        std::copy_n(from + i * columns, columns, to + i * step());
    });
    return to;
  }
};

// One product by the older entry point.
KernelChoice Gemm(const KernelRequest& r, const Products& p, const Operand2D& a,
                  const Operand2D& b) {
  bool ta = r.attr<bool>("transpose_a");
  bool tb = r.attr<bool>("transpose_b");
  return FunctionKernel(
      [p, a, b, ta, tb](const KernelArgs& args) {
        auto* workspace = static_cast<float*>(args.workspace);
        const float* x = a.Place(args.in[0], workspace);
        const float* y = b.Place(args.in[1], workspace);
        Sgemm(ta, tb, p.m, p.n, p.k, x, a.step(), y, b.step(), static_cast<float*>(args.out[0]));
      },
      p.Work() * kNsPerProduct, a.bytes() + b.bytes());
}

KernelChoice Gemm(const KernelRequest& r, const Products& p) {
  return Gemm(r, p, Operand2D(p.m, p.k, r.attr<bool>("transpose_a")),
              Operand2D(p.k, p.n, r.attr<bool>("transpose_b")));
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

KernelChoice PaddedMatMul(const KernelRequest& r) {
  constexpr int64_t kPadding = 16;
  Products p(r);
  if (r.dtype(0) != DType::kFloat32) return No("needs Float32, got {}", Name(r.dtype(0)));
  if (p.count() != 1 || p.Work() <= kSmallProduct) return No("needs one product that is not small");
  bool ta = r.attr<bool>("transpose_a"), tb = r.attr<bool>("transpose_b");
  Aliasing rows = RowsThatAlias(p, ta, tb);
  if (!rows.a && !rows.b) return No("needs AVX2 alone, and rows a multiple of 2 KB apart");
  Operand2D a(p.m, p.k, ta), b(p.k, p.n, tb);
  if (rows.a) a.padding = kPadding;
  if (rows.b) b.padding = kPadding;
  return Gemm(r, p, a, b);
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

// With AVX2 oneDNN reads a matrix in columns of a few vectors. Where its rows are a multiple of 2
// KB apart, these meet in few lines of the cache, and half of the speed is lost. A copy costs less,
// unless the other matrix has few rows. Measured: 256 x 1024 by 1024 x 1024 took 11 ms, and
// takes 5.5.
Aliasing RowsThatAlias(const Products& p, bool transpose_a, bool transpose_b) {
  constexpr int64_t kApart = 512, kLeast = 8;
  if (MachineIsa() != Isa::kAvx2) return {};
  return {.a = transpose_a && p.m % kApart == 0 && p.n >= kLeast,
          .b = !transpose_b && p.n % kApart == 0 && p.m >= kLeast};
}

void AddMatMul(KernelTable& table) {
  for (const char* op : {"MatMul", "BatchMatMul"}) {
    table.For(op)
        .Try("by a vector", MatVec)
        .Try("onednn sgemm", SmallMatMul)
        .Try("onednn sgemm of padded rows", PaddedMatMul)
        .Try("onednn sgemm of wide", WideMatMul)
        .Try("onednn", OneDnnMatMul)
        .Try("onednn in float32", InFloat32(OneDnnMatMul))
        .Try("panels", PanelMatMul)
        .Try("reference", ReferenceMatMul);
  }
  AddMatMulBias(table);
}

}  // namespace ms::cpu
