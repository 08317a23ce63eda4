// Reductions: the choice of loops, the references for every dtype, and AddN.
#define MS_ISA reference
#include "backends/cpu/kernels/reduce.h"

#include "backends/cpu/cpu.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/find_reduce.h"
#include "backends/cpu/kernels/reduce_loops.h"
#include "ops/axes.h"

namespace ms::cpu {

MS_DECLARE_ISA(ReduceFn FindReduce(ReduceKind kind, DType dtype);
               void AddFloats(const float* const* in, int64_t count, float* out, int64_t begin,
                              int64_t end);)

namespace {

template <template <class> class Rule>
ReduceFn Numbers(DType dtype) {
  return VisitDType(dtype, [&]<class T>(TypeTag<T>) -> ReduceFn {
    if constexpr (std::is_same_v<T, bool>)
      return nullptr;
    else
      return reference::Reduce<Rule<T>>;
  });
}

template <template <class> class Rule>
ReduceFn RealNumbers(DType dtype) {
  return VisitDType(dtype, [&]<class T>(TypeTag<T>) -> ReduceFn {
    if constexpr (IsComplex(kDTypeOf<T>))
      return nullptr;
    else
      return reference::Reduce<Rule<T>>;
  });
}

template <template <class> class Rule>
ReduceFn AllTypes(DType dtype) {
  return VisitDType(dtype,
                    [&]<class T>(TypeTag<T>) -> ReduceFn { return reference::Reduce<Rule<T>>; });
}

ReduceFn Reference(ReduceKind kind, DType dtype) {
  switch (kind) {
    case ReduceKind::kSum:
      return IsBool(dtype) ? reference::Reduce<reference::AnyRule<bool>>
                           : Numbers<reference::SumRule>(dtype);
    case ReduceKind::kMean:
      return Numbers<reference::MeanRule>(dtype);
    case ReduceKind::kMax:
      return RealNumbers<reference::MaxRule>(dtype);
    case ReduceKind::kMin:
      return RealNumbers<reference::MinRule>(dtype);
    case ReduceKind::kProd:
      return Numbers<reference::ProdRule>(dtype);
    case ReduceKind::kAll:
      return AllTypes<reference::AllRule>(dtype);
    case ReduceKind::kAny:
      return AllTypes<reference::AnyRule>(dtype);
  }
  return nullptr;
}

// What a reduction of nothing gives.
double OfNothing(ReduceKind kind, DType dtype) {
  switch (kind) {
    case ReduceKind::kMean:
      return IsInteger(dtype) ? 0 : std::numeric_limits<double>::quiet_NaN();
    case ReduceKind::kProd:
    case ReduceKind::kAll:
      return 1;
    default:
      return 0;
  }
}

class ReduceKernel : public Kernel {
 public:
  ReduceKernel(ReduceFn run, const ReducePlan& plan, DType dtype) : run_(run), plan_(plan) {
    cost_ns_ = static_cast<double>(plan.count * plan.results) * 0.05 *
                   static_cast<double>(ItemSize(dtype)) +
               50;
    if (plan.chunks > 1)
      workspace_bytes_ = static_cast<size_t>(plan.tasks() * plan.partial_width()) * 16;
  }
  void Run(const KernelArgs& a) const override { run_(plan_, a.in[0], a.out[0], a.workspace); }

 private:
  ReduceFn run_;
  ReducePlan plan_;
};

KernelChoice Constant(Tensor value, int64_t count) {
  return FunctionKernel(
      [value, count](const KernelArgs& a) {
        ParallelFill(a.out[0], value.raw(), count, ItemSize(value.dtype()));
      },
      100);
}

KernelChoice Copy(size_t bytes) {
  return FunctionKernel([bytes](const KernelArgs& a) { ParallelCopy(a.out[0], a.in[0], bytes); },
                        0.1 * static_cast<double>(bytes));
}

KernelChoice MakeReduce(const KernelRequest& r, ReduceKind kind, bool vectors) {
  const Shape& shape = r.shape(0);
  Ints listed = AxisList(r.op, r.attrs, "axis");
  bool skip = kind == ReduceKind::kSum && r.attr<bool>("skip_mode") && listed.empty();
  bool truth = kind == ReduceKind::kAll || kind == ReduceKind::kAny;
  if ((skip || shape.rank() == 0) && (!truth || IsBool(r.dtype(0)))) return Copy(r.in[0].bytes());
  if (r.out[0].shape().empty()) return Copy(0);
  if (shape.empty()) {
    double value = OfNothing(kind, r.dtype(0));
    return Constant(Tensor::Full(r.out[0].dtype(), Shape{}, value), r.out[0].shape().size());
  }
  ReduceFn run = vectors ? MS_PICK_ISA(FindReduce)(kind, r.dtype(0)) : Reference(kind, r.dtype(0));
  if (!run) return No("has no loop for {}", Name(r.dtype(0)));
  return std::make_unique<ReduceKernel>(run, PlanReduce(shape, SortedAxes(listed, shape.rank())),
                                        r.dtype(0));
}

template <class T>
void SumTensors(const KernelArgs& a, size_t tensors, int64_t begin, int64_t end) {
  // Integers add in unsigned 64 bits, where overflow wraps.
  using C = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, uint64_t,
                               ComputeType<T>>;
  T* y = static_cast<T*>(a.out[0]);
  constexpr int64_t kBlock = 1024;
  C sums[kBlock];
  for (int64_t i = begin; i < end; i += kBlock) {
    int64_t n = std::min(kBlock, end - i);
    const T* x = static_cast<const T*>(a.in[0]) + i;
    for (int64_t k = 0; k < n; ++k) sums[k] = static_cast<C>(x[k]);
    for (size_t t = 1; t < tensors; ++t) {
      const T* z = static_cast<const T*>(a.in[t]) + i;
      if constexpr (std::is_same_v<T, bool>) {
        for (int64_t k = 0; k < n; ++k) sums[k] = sums[k] | z[k];
      } else {
        for (int64_t k = 0; k < n; ++k) sums[k] = static_cast<C>(sums[k] + static_cast<C>(z[k]));
      }
    }
    for (int64_t k = 0; k < n; ++k) y[i + k] = static_cast<T>(sums[k]);
  }
}

KernelChoice MakeAddFloats(const KernelRequest& r) {
  if (r.dtype(0) != DType::kFloat32) return No("needs Float32, got {}", Name(r.dtype(0)));
  auto add = MS_PICK_ISA(AddFloats);
  int64_t size = r.shape(0).size(), count = static_cast<int64_t>(r.in.size());
  double ns = 0.1 * static_cast<double>(count);
  return FunctionKernel(
      [=](const KernelArgs& a) {
        auto* in = reinterpret_cast<const float* const*>(a.in);
        ParallelFor(size, ns, [&](int64_t begin, int64_t end) {
          add(in, count, static_cast<float*>(a.out[0]), begin, end);
        });
      },
      ns * static_cast<double>(size));
}

KernelChoice MakeAddN(const KernelRequest& r) {
  size_t tensors = r.in.size();
  int64_t size = r.shape(0).size();
  double ns = 0.15 * static_cast<double>(tensors);
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) {
    return FunctionKernel(
        [=](const KernelArgs& a) {
          ParallelFor(size, ns,
                      [&](int64_t begin, int64_t end) { SumTensors<T>(a, tensors, begin, end); });
        },
        ns * static_cast<double>(size));
  });
}

}  // namespace

ReduceFn FindReduceLoop(ReduceKind kind, DType dtype) {
  ReduceFn loop = MS_PICK_ISA(FindReduce)(kind, dtype);
  return loop ? loop : Reference(kind, dtype);
}

void AddReduce(KernelTable& table) {
  const std::pair<const char*, ReduceKind> kinds[] = {
      {"ReduceSum", ReduceKind::kSum},   {"ReduceMean", ReduceKind::kMean},
      {"ReduceMax", ReduceKind::kMax},   {"ReduceMin", ReduceKind::kMin},
      {"ReduceProd", ReduceKind::kProd}, {"ReduceAll", ReduceKind::kAll},
      {"ReduceAny", ReduceKind::kAny}};
  for (auto [name, kind] : kinds) {
    table.For(name)
        .Try("vector", [kind](const KernelRequest& r) { return MakeReduce(r, kind, true); })
        .Try("reference", [kind](const KernelRequest& r) { return MakeReduce(r, kind, false); });
  }
  table.For("AddN").Try("vector", MakeAddFloats).Try("reference", MakeAddN);
  AddArgReduce(table);
  AddScan(table);
  AddRunning(table);
  AddSort(table);
}

}  // namespace ms::cpu
