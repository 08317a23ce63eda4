// Products of matrices by cuBLASLt, with bias and activation. Its matrices lie column by column:
// what it is given is the transposed problem, z' = y' x'.
#include "backends/cuda/kernels/products.h"

#include "backends/cuda/device.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/libraries.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/policy.h"
#include "base/mutex.h"
#include "kernel/layout.h"

namespace ms::cuda {
namespace {

constexpr uint32_t kAligned = 16;                // what its quickest algorithms need
constexpr size_t kWorkspace = size_t{32} << 20;  // what its algorithms may ask for, at most

bool LibraryType(DType dtype, int* type) {
  switch (dtype) {
    case DType::kFloat16:
      return *type = kReal16, true;
    case DType::kBFloat16:
      return *type = kBrain16, true;
    case DType::kFloat32:
      return *type = kReal32, true;
    case DType::kFloat64:
      return *type = kReal64, true;
    default:
      return false;
  }
}

ProductsHandle TheHandle() {
  static const ProductsHandle handle = [] {
    Enter();
    ProductsHandle made = nullptr;
    CheckProducts(TheProducts().Create(&made), "cublasLtCreate");
    return made;
  }();
  return handle;
}

class Layout {
 public:
  // Of a matrix that has `rows` rows of `columns` numbers, as C has it; from one row to the next
  // are `next` numbers, or these columns.
  Layout(int type, int64_t rows, int64_t columns, int64_t batch, bool same, int64_t next = 0) {
    const Products& p = TheProducts();
    CheckProducts(p.LayoutCreate(&handle_, type, static_cast<uint64_t>(columns),
                                 static_cast<uint64_t>(rows), next ? next : columns),
                  "cublasLtMatrixLayoutCreate");
    if (batch == 1) return;
    auto count = static_cast<int32_t>(batch);
    int64_t stride = same ? 0 : rows * columns;
    CheckProducts(p.LayoutSet(handle_, kLayoutBatch, &count, sizeof(count)), "the batch");
    CheckProducts(p.LayoutSet(handle_, kLayoutStride, &stride, sizeof(stride)), "the stride");
  }
  ~Layout() { TheProducts().LayoutDestroy(handle_); }
  Layout(const Layout&) = delete;
  MatrixLayout handle() const { return handle_; }

 private:
  MatrixLayout handle_ = nullptr;
};

class ProductKernel : public Kernel {
 public:
  explicit ProductKernel(const Product& p, int type)
      : product_(p),
        x_(type, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k, p.batch, p.same_x,
           p.next_row),
        y_(type, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n, p.batch, p.same_y),
        z_(p.in_float32 ? kReal32 : type, p.m, p.n, p.batch, false) {
    cost_ns_ = 4000;  // of the host
  }
  ~ProductKernel() override {
    for (ProductDesc desc : {full_.desc, tensor_.desc}) {
      if (desc) TheProducts().DescDestroy(desc);
    }
  }

  // Why cuBLASLt does not compute it: chips before compute capability 8.0 have no BFloat16.
  std::string Prepare() {
    bool wide = product_.dtype == DType::kFloat64;
    if (product_.dtype == DType::kFloat32) rounds_ = Make(&tensor_, kComputeTensor32).empty();
    return Make(&full_, wide ? kCompute64 : kCompute32);
  }

  void Run(const KernelArgs& args) const override {
    Enter();
    auto& stream = static_cast<CudaStream&>(*args.stream);
    // The bias belongs to the description: one for each run, as threads share this kernel.
    std::lock_guard lock(mutex_);
    const Way& way = rounds_ && ThePolicy().products_tf32 ? tensor_ : full_;
    if (product_.bias) Set(way.desc, kDescBias, args.in[2]);
    Address all = AddressOf(args.in[0]) | AddressOf(args.in[1]) | AddressOf(args.out[0]);
    if (product_.bias) all |= AddressOf(args.in[2]);
    const Algorithm& algorithm = all % kAligned == 0 ? way.aligned : way.single;
    double one = 1, zero = 0;
    float one32 = 1, zero32 = 0;
    bool wide = product_.dtype == DType::kFloat64;
    const void* alpha = wide ? static_cast<const void*>(&one) : &one32;
    const void* beta = wide ? static_cast<const void*>(&zero) : &zero32;
    CheckProducts(
        TheProducts().Matmul(TheHandle(), way.desc, alpha, args.in[1], y_.handle(), args.in[0],
                             x_.handle(), beta, args.out[0], z_.handle(), args.out[0], z_.handle(),
                             &algorithm, args.workspace, workspace_bytes_, stream.handle()),
        "cublasLtMatmul");
  }

 private:
  // How it is computed: for addresses that are aligned, and for others.
  struct Way {
    ProductDesc desc = nullptr;
    Algorithm aligned = {}, single = {};
  };

  // Empty, or why there is no such way.
  std::string Make(Way* way, int compute) {
    bool wide = product_.dtype == DType::kFloat64;
    CheckProducts(TheProducts().DescCreate(&way->desc, compute, wide ? kReal64 : kReal32),
                  "cublasLtMatmulDescCreate");
    Set(way->desc, kDescTransposeA, static_cast<int32_t>(product_.transpose_b));
    Set(way->desc, kDescTransposeB, static_cast<int32_t>(product_.transpose_a));
    int32_t epilogue = (product_.bias ? kEpilogueBias : 0) | (product_.relu ? kEpilogueRelu : 0);
    if (epilogue) Set(way->desc, kDescEpilogue, epilogue);
    std::string why = Choose(way->desc, kAligned, &way->aligned);
    if (!why.empty()) return why;
    return Choose(way->desc, static_cast<uint32_t>(ItemSize(product_.dtype)), &way->single);
  }

  template <class T>
  static void Set(ProductDesc desc, int attribute, T value) {
    CheckProducts(TheProducts().DescSet(desc, attribute, &value, sizeof(value)),
                  "cublasLtMatmulDescSetAttribute");
  }

  // An algorithm for addresses that are multiples of `alignment`, and of their numbers' sizes.
  std::string Choose(ProductDesc desc, uint32_t alignment, Algorithm* algorithm) {
    const Products& p = TheProducts();
    Preference preference = nullptr;
    CheckProducts(p.PreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    uint64_t most = kWorkspace;
    int status = p.PreferenceSet(preference, kPreferenceWorkspace, &most, sizeof(most));
    for (int operand = 0; operand < 4 && status == 0; ++operand) {
      size_t item = operand > 1 && product_.in_float32 ? sizeof(float) : 1;
      uint32_t own = std::max(alignment, static_cast<uint32_t>(item));
      status = p.PreferenceSet(preference, kPreferenceAlignment + operand, &own, sizeof(own));
    }
    Heuristic found = {};
    int count = 0;
    if (status == 0) {
      status = p.AlgoGetHeuristic(TheHandle(), desc, y_.handle(), x_.handle(), z_.handle(),
                                  z_.handle(), preference, 1, &found, &count);
    }
    p.PreferenceDestroy(preference);
    bool refused = status == kArchMismatch || status == kNotSupported;
    if (!refused) CheckProducts(status, "cublasLtMatmulAlgoGetHeuristic");
    if (refused || count == 0)
      return fmt::format("libcublasLt has no algorithm, status {}", status);
    workspace_bytes_ = std::max(workspace_bytes_, found.workspace_bytes);
    *algorithm = found.algorithm;
    return "";
  }

  const Product product_;
  const Layout x_, y_, z_;
  Way full_, tensor_;
  bool rounds_ = false;  // tensor_ is one that may be taken
  mutable Mutex mutex_;
};

Product Matrices(const KernelRequest& r) {
  Product p;
  p.transpose_a = r.attr<bool>("transpose_a");
  p.transpose_b = r.attr<bool>("transpose_b");
  const Shape& x = r.shape(0);
  p.m = r.out[0].shape()[-2];
  p.n = r.out[0].shape()[-1];
  p.k = x[p.transpose_a ? -2 : -1];
  p.dtype = r.dtype(0);
  return p;
}

KernelChoice MakeMatMul(const KernelRequest& r) { return MakeProduct(Matrices(r)); }

KernelChoice MakeMatMulBias(const KernelRequest& r) {
  const auto& activation = r.attr<std::string>("activation");
  if (!activation.empty() && activation != "relu") return No("cannot end with '{}'", activation);
  if (!r.attr<Ints>("y_shape").empty()) return No("needs a plain matrix, got a packed one");
  Product p = Matrices(r);
  p.bias = r.in.size() == 3;
  p.relu = activation == "relu";
  return MakeProduct(p);
}

// The dimensions before the last two: the same for both, or none with more than one for either.
KernelChoice MakeBatchMatMul(const KernelRequest& r) {
  auto lead = [](const Shape& shape) { return shape.Part(0, shape.rank() - 2); };
  Shape x = lead(r.shape(0)), y = lead(r.shape(1)), z = lead(r.out[0].shape());
  Product p = Matrices(r);
  p.batch = z.size();
  p.same_x = x.size() == 1;
  p.same_y = y.size() == 1;
  auto fits = [&](const Shape& own) { return own.size() == 1 || own == z; };
  if (!fits(x) || !fits(y)) return No("needs leading dimensions that do not broadcast in part");
  return MakeProduct(p);
}

}  // namespace

KernelChoice MakeProduct(const Product& p) {
  int type = 0;
  if (!LibraryType(p.dtype, &type)) return No("needs a floating dtype, got {}", Name(p.dtype));
  if (p.m * p.n * p.k * p.batch == 0) return No("needs elements, got none");
  if (std::max({p.m, p.n, p.k, p.batch, p.next_row}) > INT32_MAX)
    return No("needs sizes of 31 bits");
  auto kernel = std::make_unique<ProductKernel>(p, type);
  if (std::string why = kernel->Prepare(); !why.empty()) return No("{}", why);
  return kernel;
}

void AddProducts(KernelTable& table) {
  table.For("MatMul").Try("cublaslt", MakeMatMul);
  table.For("BatchMatMul").Try("cublaslt", MakeBatchMatMul);
  table.For("MatMulBias").Try("cublaslt", MakeMatMulBias);
}

const Layouts& TheLayouts() {
  static const Layouts layouts = [] {
    Layouts l;
    l.takes_bias = [](const KernelRequest& product, bool) {
      return product.op.name == "MatMul" && IsFloating(product.dtype(0)) &&
             product.dtype(0) != DType::kFloat64;
    };
    l.channels_last = ConvolutionWantsChannelsLast;
    l.packed_size = PackedWeightSize;
    l.joins = [](const std::string& activation) { return activation == "relu"; };
    return l;
  }();
  return layouts;
}

}  // namespace ms::cuda
