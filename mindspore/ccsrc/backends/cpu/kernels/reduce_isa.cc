// Reductions of the common dtypes with wide vectors; null for the others.
#include "backends/cpu/kernels/reduce_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

template <template <class> class Rule>
ReduceFn ForDType(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return Reduce<Rule<float>>;
    case DType::kFloat64: return Reduce<Rule<double>>;
    case DType::kFloat16: return Reduce<Rule<Half>>;
    case DType::kBFloat16: return Reduce<Rule<BFloat16>>;
    case DType::kInt32: return Reduce<Rule<int32_t>>;
    case DType::kInt64: return Reduce<Rule<int64_t>>;
    default: return nullptr;
  }
}

}  // namespace

ReduceFn FindReduce(ReduceKind kind, DType dtype) {
  switch (kind) {
    case ReduceKind::kSum: return ForDType<SumRule>(dtype);
    case ReduceKind::kMean: return ForDType<MeanRule>(dtype);
    case ReduceKind::kMax: return ForDType<MaxRule>(dtype);
    case ReduceKind::kMin: return ForDType<MinRule>(dtype);
    case ReduceKind::kProd: return ForDType<ProdRule>(dtype);
    case ReduceKind::kAll: return IsBool(dtype) ? Reduce<AllRule<bool>> : nullptr;
    case ReduceKind::kAny: return IsBool(dtype) ? Reduce<AnyRule<bool>> : nullptr;
  }
  return nullptr;
}

}  // namespace ms::cpu::MS_ISA
