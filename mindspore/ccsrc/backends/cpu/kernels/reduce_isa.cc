// Reductions of the common dtypes with wide vectors (null for the others), and sums of float
// tensors.
#include "backends/cpu/kernels/reduce_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

template <template <class> class Rule>
ReduceFn ForDType(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return Reduce<Rule<float>>;
    case DType::kFloat64:
      return Reduce<Rule<double>>;
    case DType::kFloat16:
      return Reduce<Rule<Half>>;
    case DType::kBFloat16:
      return Reduce<Rule<BFloat16>>;
    case DType::kInt32:
      return Reduce<Rule<int32_t>>;
    case DType::kInt64:
      return Reduce<Rule<int64_t>>;
    default:
      return nullptr;
  }
}

template <int kCount>
void AddSome(const float* const* in, float* out, int64_t begin, int64_t end) {
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    float sum = in[0][i];
    for (int k = 1; k < kCount; ++k) sum += in[k][i];
    out[i] = sum;
  }
}

}  // namespace

// out = in[0] + ... + in[count - 1]; `out` may be in[0].
void AddFloats(const float* const* in, int64_t count, float* out, int64_t begin, int64_t end) {
  constexpr int64_t kBlock = 4096;  // stays in the first cache while further tensors are added
  for (int64_t first = begin; first < end; first += kBlock) {
    int64_t last = std::min(first + kBlock, end);
    int64_t done = std::min<int64_t>(count, 4);
    if (done == 1)
      AddSome<1>(in, out, first, last);
    else if (done == 2)
      AddSome<2>(in, out, first, last);
    else if (done == 3)
      AddSome<3>(in, out, first, last);
    else
      AddSome<4>(in, out, first, last);
    for (; done < count; ++done) {
      const float* two[2] = {out, in[done]};
      AddSome<2>(two, out, first, last);
    }
  }
}

ReduceFn FindReduce(ReduceKind kind, DType dtype) {
  switch (kind) {
    case ReduceKind::kSum:
      return ForDType<SumRule>(dtype);
    case ReduceKind::kMean:
      return ForDType<MeanRule>(dtype);
    case ReduceKind::kMax:
      return ForDType<MaxRule>(dtype);
    case ReduceKind::kMin:
      return ForDType<MinRule>(dtype);
    case ReduceKind::kProd:
      return ForDType<ProdRule>(dtype);
    case ReduceKind::kAll:
      return IsBool(dtype) ? Reduce<AllRule<bool>> : nullptr;
    case ReduceKind::kAny:
      return IsBool(dtype) ? Reduce<AnyRule<bool>> : nullptr;
  }
  return nullptr;
}

}  // namespace ms::cpu::MS_ISA
