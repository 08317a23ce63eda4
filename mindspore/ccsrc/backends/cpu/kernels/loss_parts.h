// What the kernels of losses over classes share.
#pragma once

#include <string>

#include "kernel/kernel.h"

namespace ms::cpu {

// Labels are checked before any work starts, on the calling thread, since no exception may leave a
// parallel region.
class Labels {
 public:
  Labels(const void* data, DType dtype) : data_(data), wide_(dtype == DType::kInt64) {}
  int64_t operator[](int64_t i) const {
    return wide_ ? static_cast<const int64_t*>(data_)[i] : static_cast<const int32_t*>(data_)[i];
  }

  // Every label is in [0, classes), or is `ignored` where that is not null.
  void Check(const std::string& op, int64_t count, int64_t classes, const int64_t* ignored) const {
    for (int64_t i = 0; i < count; ++i) {
      int64_t label = (*this)[i];
      if ((label >= 0 && label < classes) || (ignored && label == *ignored)) continue;
      Throw(ErrorKind::kValue,
            "For '{}', the labels must be in [0, {}), but got {} at position {}.", op, classes,
            label, i);
    }
  }

 private:
  const void* data_;
  bool wide_;
};

enum class Reduction { kNone, kMean, kSum };

inline Reduction ReductionOf(const KernelRequest& r) {
  const auto& text = r.attr<std::string>("reduction");
  return text == "none" ? Reduction::kNone : text == "mean" ? Reduction::kMean : Reduction::kSum;
}

// The reduced loss, output 0, where it is reduced, and the weights of all rows, output 1.
template <class T>
void Finish(Reduction reduction, double sum, double total, const KernelArgs& args) {
  if (reduction != Reduction::kNone) {
    *static_cast<T*>(args.out[0]) =
        static_cast<T>(reduction == Reduction::kMean ? sum / total : sum);
  }
  *static_cast<T*>(args.out[1]) = static_cast<T>(total);
}

template <class F>
KernelChoice ForFloats(DType dtype, F make) {
  if (dtype == DType::kFloat32) return make(TypeTag<float>{});
  if (dtype == DType::kFloat64) return make(TypeTag<double>{});
  return No("needs Float32 or Float64, got {}", Name(dtype));
}

inline double RowCost(int64_t classes) { return static_cast<double>(classes) + 20; }

// Of logits, without the matrix of their probabilities as a value (loss_cross_entropy.cc).
KernelChoice CrossEntropy(const KernelRequest& request);
KernelChoice CrossEntropyGrad(const KernelRequest& request);

}  // namespace ms::cpu
