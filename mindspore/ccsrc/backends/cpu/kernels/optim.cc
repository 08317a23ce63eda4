// Optimiser updates: one pass over all arrays of an update, shared by the threads; and assignments
// to Parameters.
#define MS_ISA reference
#include <algorithm>
#include <string>
#include <vector>

#include "backends/cpu/cpu.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/optim_rules.h"
#include "kernel/range_kernel.h"

namespace ms::cpu {

MS_DECLARE_ISA(void UpdateFloat(UpdateKind kind, const double* scalars, const OnTheWay* way,
                                const void* const* in, void* const* out, int64_t begin,
                                int64_t end);)

namespace {

// How the inputs of an op are the arrays and scalars of a rule.
struct UpdateForm {
  const char* op;
  UpdateKind kind;
  std::vector<size_t> full;             // the updated ones in the order of outputs, the gradient
  std::vector<size_t> scalars;          // inputs
  std::vector<const char*> attributes;  // further scalars
};

const std::vector<UpdateForm>& Forms() {
  static const std::vector<UpdateForm> forms = {
      {"ApplyMomentum",
       UpdateKind::kMomentum,
       {0, 1, 3},
       {2, 4},
       {"gradient_scale", "use_nesterov"}},
      {"SGD", UpdateKind::kSgd, {0, 3, 5, 1}, {2, 4}, {"dampening", "weight_decay", "nesterov"}},
      {"Adam", UpdateKind::kAdam, {0, 1, 2, 9}, {3, 4, 5, 6, 7, 8}, {"use_nesterov"}},
      {"AdamWeightDecay", UpdateKind::kAdamWeightDecay, {0, 1, 2, 8}, {3, 4, 5, 6, 7}, {}},
      {"ApplyAdaMax", UpdateKind::kAdaMax, {0, 1, 2, 8}, {3, 4, 5, 6, 7}, {}},
      {"ApplyRMSProp", UpdateKind::kRmsProp, {0, 1, 2, 4}, {3, 5, 6, 7}, {}},
      {"ApplyCenteredRMSProp", UpdateKind::kCenteredRmsProp, {0, 1, 2, 3, 4}, {5, 6, 7, 8}, {}},
      {"ApplyAdagrad", UpdateKind::kAdagrad, {0, 1, 3}, {2}, {"update_slots"}},
      {"ApplyAdagradV2", UpdateKind::kAdagrad, {0, 1, 3}, {2}, {"update_slots", "epsilon"}},
      {"ApplyAdadelta", UpdateKind::kAdadelta, {0, 1, 2, 6}, {3, 4, 5}, {}},
      {"ApplyFtrl", UpdateKind::kFtrl, {0, 1, 2, 3}, {4, 5, 6, 7}, {}},
      {"ApplyGradientDescent", UpdateKind::kDescent, {0, 2}, {1}, {}},
  };
  return forms;
}

double ScalarAttr(const KernelRequest& r, const char* name) {
  const Attr& value = r.attrs.at(static_cast<size_t>(r.op.AttrIndex(name)));
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  return std::get<double>(value);
}

constexpr size_t kMaxScalars = 10, kMaxArrays = 6;

class UpdateKernel : public RangeKernel {
 public:
  UpdateKernel(const UpdateForm& form, const KernelRequest& r, UpdateFn run)
      : form_(form),
        run_(run),
        inputs_(r.in.size()),
        outputs_(r.out.size()),
        item_(static_cast<int64_t>(ItemSize(r.dtype(0)))) {
    for (size_t i : form.scalars) dtypes_.push_back(r.dtype(i));
    for (const char* name : form.attributes) attributes_.push_back(ScalarAttr(r, name));
    SetWork(r.shape(0).size(), kNsPerElement, 30);
  }
  void RunRange(const KernelArgs& a, int64_t begin, int64_t end) const override {
    if (chooses_ && *static_cast<const bool*>(a.in[inputs_ + factors_.size()]) != when_)
      return Keep(a, begin, end);
    double scalars[kMaxScalars] = {};
    size_t n = 0;
    for (size_t i : form_.scalars) scalars[n] = ReadScalar(a.in[i], dtypes_[n]), ++n;
    for (double value : attributes_) scalars[n++] = value;
    const void* in[kMaxArrays];
    void* out[kMaxArrays];
    for (size_t i = 0; i < form_.full.size(); ++i) in[i] = a.in[form_.full[i]];
    for (size_t i = 0; i < outputs_; ++i) out[i] = a.out[i];
    OnTheWay way = way_;
    const void* const* factor = a.in + inputs_;
    for (size_t i = 0; i < factors_.size(); ++i)
      way.*factors_[i].value = ReadScalar(factor[i], factors_[i].dtype);
    run_(form_.kind, scalars, factors_.empty() ? nullptr : &way, in, out, begin, end);
  }

  // The gradient, from the weights at most.
  std::shared_ptr<const RangeKernel> With(const Blend& blend,
                                          const std::vector<DType>& dtypes) const override {
    bool known = blend.input == form_.full.back() &&
                 (blend.of < 0 || static_cast<size_t>(blend.of) == form_.full[0]);
    if (!known || !takes_ || !factors_.empty()) return nullptr;
    auto kernel = std::make_shared<UpdateKernel>(*this);
    auto add = [&](double OnTheWay::* value) {
      kernel->factors_.push_back({value, dtypes[kernel->factors_.size()]});
    };
    if (blend.before) add(&OnTheWay::before);
    if (blend.of >= 0) add(&OnTheWay::decay), kernel->way_.decays = true;
    if (blend.after) add(&OnTheWay::after);
    return kernel;
  }
  std::shared_ptr<const RangeKernel> When(bool value) const override {
    auto kernel = std::make_shared<UpdateKernel>(*this);
    kernel->chooses_ = true;
    kernel->when_ = value;
    return kernel;
  }
  void TakeOnTheWay() { takes_ = true; }

 private:
  static constexpr double kNsPerElement = 0.6;
  struct Factor {
    double OnTheWay::* value;
    DType dtype;
  };
  const UpdateForm& form_;
  UpdateFn run_;
  void Keep(const KernelArgs& a, int64_t begin, int64_t end) const {
    for (size_t i = 0; i < outputs_; ++i) {
      const char* from = static_cast<const char*>(a.in[form_.full[i]]);
      char* to = static_cast<char*>(a.out[i]);
      if (from != to) std::copy(from + begin * item_, from + end * item_, to + begin * item_);
    }
  }

  size_t inputs_, outputs_;
  int64_t item_;  // bytes of an element
  bool chooses_ = false, when_ = true;
  bool takes_ = false;  // whether `run` makes the gradient by itself
  std::vector<Factor> factors_;
  OnTheWay way_;
  std::vector<DType> dtypes_;
  std::vector<double> attributes_;
};

KernelChoice MakeVectorUpdate(const UpdateForm& form, const KernelRequest& r) {
  if (r.dtype(0) != DType::kFloat32) return No("needs Float32, got {}", Name(r.dtype(0)));
  auto kernel = std::make_unique<UpdateKernel>(form, r, MS_PICK_ISA(UpdateFloat));
  kernel->TakeOnTheWay();
  return kernel;
}

UpdateFn ReferenceOf(DType dtype) {
  return VisitDType(dtype, [&]<class T>(TypeTag<T>) -> UpdateFn {
    if constexpr (IsFloating(kDTypeOf<T>))
      return reference::RunUpdate<T>;
    else
      return nullptr;
  });
}

KernelChoice MakeUpdate(const UpdateForm& form, const KernelRequest& r) {
  UpdateFn run = ReferenceOf(r.dtype(0));
  if (!run) return No("needs a float type, got {}", Name(r.dtype(0)));
  return std::make_unique<UpdateKernel>(form, r, run);
}

// ---- assignment
// Elements in the dtype of the Parameter; a dtype that promotes to it loses nothing on its way
// through double.
template <class T>
void Convert(const void* in, DType dtype, int64_t first, int64_t n, T* out) {
  VisitDType(dtype, [&]<class S>(TypeTag<S>) {
    const S* x = static_cast<const S*>(in) + first;
    if constexpr (std::is_same_v<S, T>) {
      std::copy(x, x + n, out);
    } else if constexpr (!IsComplex(kDTypeOf<S>)) {
      for (int64_t i = 0; i < n; ++i) {
        out[i] = static_cast<T>(
            static_cast<ComputeType<T>>(static_cast<double>(static_cast<ComputeType<S>>(x[i]))));
      }
    }
  });
}

enum class AssignKind { kSet, kAdd, kSub };

template <class T, AssignKind kKind>
void AssignBlock(const KernelArgs& a, DType dtype, int64_t begin, int64_t end) {
  constexpr int64_t kBlock = 512;
  T values[kBlock];
  using C = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, uint64_t,
                               ComputeType<T>>;
  const T* x = static_cast<const T*>(a.in[0]);
  T* y = static_cast<T*>(a.out[0]);
  for (int64_t first = begin; first < end; first += kBlock) {
    int64_t n = std::min(kBlock, end - first);
    const T* v = static_cast<const T*>(a.in[1]) + first;
    if (dtype != kDTypeOf<T>) Convert(a.in[1], dtype, first, n, values), v = values;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kKind == AssignKind::kSet)
        y[first + i] = v[i];
      else if constexpr (kKind == AssignKind::kAdd)
        y[first + i] = static_cast<T>(static_cast<C>(x[first + i]) + static_cast<C>(v[i]));
      else
        y[first + i] = static_cast<T>(static_cast<C>(x[first + i]) - static_cast<C>(v[i]));
    }
  }
}

template <class T, AssignKind kKind>
class AssignKernel : public RangeKernel {
 public:
  explicit AssignKernel(const KernelRequest& r) : dtype_(r.dtype(1)) {
    SetWork(r.shape(0).size(), 0.1 * sizeof(T), 30);
  }
  void RunRange(const KernelArgs& a, int64_t begin, int64_t end) const override {
    if (kKind != AssignKind::kSet || dtype_ != kDTypeOf<T>)
      return AssignBlock<T, kKind>(a, dtype_, begin, end);
    const T* from = static_cast<const T*>(a.in[1]);
    T* to = static_cast<T*>(a.out[0]);
    if (from != to) std::copy(from + begin, from + end, to + begin);
  }

 private:
  DType dtype_;
};

template <AssignKind kKind>
KernelChoice MakeAssign(const KernelRequest& r) {
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) {
    return KernelChoice(std::make_unique<AssignKernel<T, kKind>>(r));
  });
}

}  // namespace

double ReadScalar(const void* value, DType dtype) {
  return VisitDType(dtype, [&]<class T>(TypeTag<T>) -> double {
    if constexpr (IsComplex(kDTypeOf<T>))
      return 0;  // no op admits it
    else
      return static_cast<double>(static_cast<ComputeType<T>>(*static_cast<const T*>(value)));
  });
}

UpdateFn UpdateOf(DType dtype) {
  if (dtype == DType::kFloat32) return MS_PICK_ISA(UpdateFloat);
  return ReferenceOf(dtype);
}

void AddOptim(KernelTable& table) {
  table.For("Assign").Try("reference", MakeAssign<AssignKind::kSet>);
  table.For("AssignAdd").Try("reference", MakeAssign<AssignKind::kAdd>);
  table.For("AssignSub").Try("reference", MakeAssign<AssignKind::kSub>);
  AddUpdateRows(table);
  for (const UpdateForm& form : Forms()) {
    table.For(form.op)
        .Try("vector", [&form](const KernelRequest& r) { return MakeVectorUpdate(form, r); })
        .Try("reference", [&form](const KernelRequest& r) { return MakeUpdate(form, r); });
  }
}

}  // namespace ms::cpu
