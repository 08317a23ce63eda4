// Matrix products, pooling, normalisation and softmax: Float32 and half kernels against Float64
// ones, whose code is another instance or another algorithm.
#include "backends/cpu/cpu.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/matmul_loops.h"
#include "backends/cpu/kernels/matmul_packed.h"
#include "backends/kernel_runner.h"

namespace ms::testing {
namespace {

const KernelTable& Table() {
  static const auto* table = [] {
    auto* t = new KernelTable;
    for (auto add : {cpu::AddMatMul, cpu::AddPool, cpu::AddNorm, cpu::AddSoftmax, cpu::AddLoss}) {
      add(*t);
    }
    return t;
  }();
  return *table;
}

Types Converted(const Types& types, DType dtype) {
  Types result;
  for (const Type& t : types) {
    result.emplace_back(IsFloating(t.dtype()) ? dtype : t.dtype(), t.shape());
  }
  return result;
}

// Runs the op in float64 and in `dtype`.
void Compare(const char* op, const Types& in, const NamedAttrs& attrs, DType dtype,
             double tolerance) {
  Call exact(op, Converted(in, DType::kFloat64), attrs);
  Call fast(op, Converted(in, dtype), attrs);
  std::vector<Tensor> inputs = fast.Inputs(11);
  std::vector<Tensor> wide = exact.Inputs(11);
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (int64_t k = 0; k < inputs[i].size(); ++k) wide[i].data<double>()[k] = At(inputs[i], k);
  }
  auto truth = exact.Run(*Table().Find(exact.request(), "CPU"), wide);
  auto actual = fast.Run(*Table().Find(fast.request(), "CPU"), inputs);
  for (size_t i = 0; i < truth.size(); ++i) {
    ExpectNear(actual[i], truth[i], tolerance, fmt::format("{}{} {}", op, ToString(in), i));
  }
}

Type F(const Shape& shape) { return Type(DType::kFloat32, shape); }

TEST(MatMul, MatchesFloat64) {
  std::mt19937 random(4);
  auto pick = [&](int64_t high) { return std::uniform_int_distribution<int64_t>(1, high)(random); };
  for (int i = 0; i < 40; ++i) {
    int64_t high = i % 2 ? 20 : 150;
    int64_t m = pick(high), n = pick(high), k = pick(high);
    bool ta = i & 1, tb = i & 2;
    Shape x = ta ? Shape{k, m} : Shape{m, k};
    Shape y = tb ? Shape{n, k} : Shape{k, n};
    NamedAttrs attrs{{"transpose_a", ta}, {"transpose_b", tb}};
    Compare("MatMul", {F(x), F(y)}, attrs, DType::kFloat32, 1e-4);
    Compare("MatMul", {F(x), F(y)}, attrs, DType::kBFloat16, 2e-1);
    Shape xs = x.Insert(0, pick(4)).Insert(0, 1);
    Shape ys = y.Insert(0, 1).Insert(0, pick(3));
    Compare("BatchMatMul", {F(xs), F(ys)}, attrs, DType::kFloat32, 1e-4);
    Compare("BatchMatMul", {F(xs), F(y)}, attrs, DType::kFloat16, 2e-2);
  }
}

// Rows that are a multiple of 2 KB apart are copied where that is quicker.
TEST(MatMul, RowsFarApartMatchFloat64) {
  Compare("MatMul", {F({40, 70}), F({70, 512})}, {}, DType::kFloat32, 1e-4);
  Compare("MatMul", {F({70, 512}), F({70, 33})}, {{"transpose_a", true}}, DType::kFloat32, 1e-4);
  Compare("MatMul", {F({70, 512}), F({70, 1024})}, {{"transpose_a", true}}, DType::kFloat32, 1e-4);
  Compare("BatchMatMul", {F({1, 40, 70}), F({1, 70, 512})}, {}, DType::kFloat32, 1e-4);
}

// The primitive with a bias reads them as they lie, unless the second matrix is packed.
TEST(MatMul, TakesNoBiasWhereRowsAreCopied) {
  bool copies = cpu::MachineIsa() == cpu::Isa::kAvx2;
  auto takes = [](const Shape& x, const Shape& y, bool ta, bool packed = false) {
    Call call("MatMul", {F(x), F(y)}, {{"transpose_a", ta}});
    return cpu::TakesBias(call.request(), packed);
  };
  EXPECT_TRUE(takes({100, 70}, {70, 500}, false));
  EXPECT_EQ(takes({100, 70}, {70, 512}, false), !copies);
  EXPECT_TRUE(takes({100, 70}, {70, 512}, false, true));
  EXPECT_EQ(takes({70, 512}, {70, 100}, true), !copies);
  EXPECT_EQ(takes({70, 512}, {70, 100}, true, true), !copies);
}

template <class T>
void ExpectWrappedSums(int64_t m, int64_t n, int64_t k) {
  std::mt19937_64 random(7);
  Call call("MatMul", {Type(kDTypeOf<T>, {k, m}), Type(kDTypeOf<T>, {n, k})},
            {{"transpose_a", true}, {"transpose_b", true}});
  auto in = call.Inputs(7);
  for (Tensor& t : in) {
    for (int64_t i = 0; i < t.size(); ++i) t.data<T>()[i] = static_cast<T>(random());
  }
  Tensor out = call.Run(*Table().Find(call.request(), "CPU"), in)[0];
  for (int64_t i = 0; i < m * n; ++i) {
    uint64_t sum = 0;
    for (int64_t j = 0; j < k; ++j) {
      sum += static_cast<uint64_t>(in[0].data<T>()[j * m + i / n]) *
             static_cast<uint64_t>(in[1].data<T>()[i % n * k + j]);
    }
    ASSERT_EQ(out.data<T>()[i], static_cast<T>(sum)) << Name(kDTypeOf<T>);
  }
}

TEST(MatMul, IntegersWrap) {
  ExpectWrappedSums<int8_t>(70, 33, 5);
  ExpectWrappedSums<int16_t>(1, 40, 64);
  ExpectWrappedSums<int32_t>(65, 67, 33);
  ExpectWrappedSums<int64_t>(7, 17, 80);
  ExpectWrappedSums<uint8_t>(13, 1, 7);
  ExpectWrappedSums<uint16_t>(6, 8, 1);
  ExpectWrappedSums<uint32_t>(128, 16, 9);
  ExpectWrappedSums<uint64_t>(5, 9, 11);
}

TEST(MatMul, Float64MatchesTheSumsItStandsFor) {
  for (int64_t m : {1, 3, 70}) {
    for (int64_t n : {1, 17, 64}) {
      Call call("MatMul", {Type(DType::kFloat64, {m, 9}), Type(DType::kFloat64, {n, 9})},
                {{"transpose_b", true}});
      auto in = call.Inputs(5);
      Tensor out = call.Run(*Table().Find(call.request(), "CPU"), in)[0];
      for (int64_t i = 0; i < m * n; ++i) {
        double sum = 0;
        for (int64_t k = 0; k < 9; ++k) sum += At(in[0], i / n * 9 + k) * At(in[1], i % n * 9 + k);
        ASSERT_NEAR(At(out, i), sum, 1e-12);
      }
    }
  }
}

TEST(Pool, MatchesFloat64) {
  for (const char* mode : {"valid", "same", "pad"}) {
    for (int64_t kernel : {2, 3}) {
      for (int64_t stride : {1, 2, 3}) {
        NamedAttrs attrs{{"kernel_size", Ints{kernel}},
                         {"strides", Ints{stride}},
                         {"pad_mode", std::string(mode)},
                         {"pad", Ints{mode == std::string("pad") ? 1 : 0}}};
        Shape x{2, 3, 19, 37};
        Compare("MaxPool", {F(x)}, attrs, DType::kFloat32, 1e-6);
        Compare("AvgPool", {F(x)}, attrs, DType::kFloat32, 1e-5);
        Shape y = Call("MaxPool", {F(x)}, attrs).out[0].shape();
        Compare("MaxPoolGrad", {F(x), F(y)}, attrs, DType::kFloat32, 1e-6);
        Compare("MaxPoolGradGrad", {F(x), F(x)}, attrs, DType::kFloat32, 1e-6);
      }
    }
  }
}

TEST(Norm, MatchesFloat64) {
  for (const Shape& x : {Shape{4, 5, 9, 31}, Shape{300, 70}, Shape{2, 3, 130}}) {
    Type c = F({x[1]});
    Compare("BatchNorm", {F(x), c, c, c, c}, {}, DType::kFloat32, 1e-4);
    Compare("BatchNormGrad", {F(x), F(x), c, c, c}, {}, DType::kFloat32, 1e-3);
    Type gamma = F({x.back()});
    Type rows = F(x.With(-1, 1));
    int64_t axis = x.rank() - 1;
    NamedAttrs attrs{{"begin_norm_axis", axis}, {"begin_params_axis", axis}, {"epsilon", 0.1}};
    Compare("LayerNorm", {F(x), gamma, gamma}, attrs, DType::kFloat32, 1e-4);
  }
}

TEST(Softmax, MatchesFloat64) {
  for (int64_t axis : {0, 1, 2}) {
    for (const char* op : {"Softmax", "LogSoftmax"}) {
      Attr along = op == std::string("Softmax") ? Attr(Ints{axis}) : Attr(axis);
      Compare(op, {F({7, 33, 40})}, {{"axis", along}}, DType::kFloat32, 1e-5);
    }
    Compare("SoftmaxGrad", {F({7, 33, 40}), F({7, 33, 40})}, {{"axis", axis}}, DType::kFloat32,
            1e-4);
  }
}

TEST(Loss, RefusesLabelsOutOfRange) {
  Call call("SparseSoftmaxCrossEntropyWithLogits", {F({2, 3}), Type(DType::kInt32, {2})}, {});
  auto kernel = Table().Find(call.request(), "CPU");
  auto logits = RandomTensor(DType::kFloat32, {2, 3}, 1);
  for (int32_t bad : {3, -1, INT32_MIN, INT32_MAX}) {
    auto labels = Tensor::FromVector<int32_t>({0, bad}, {2});
    EXPECT_THROW(call.Run(*kernel, {logits, labels}), Error);
  }
}

}  // namespace
}  // namespace ms::testing
