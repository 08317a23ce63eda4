// Cross entropy of a row's softmax against a class: NLLLoss of LogSoftmax, row by row while the row
// is in the cache.
#include <algorithm>

#include "backends/cpu/kernels/loss_parts.h"
#include "backends/cpu/kernels/softmax_loops.h"
#include "kernel/parallel.h"

namespace ms::cpu {

KernelChoice CrossEntropy(const KernelRequest& r) {
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    int64_t rows = r.shape(0)[0], n = r.shape(0)[1];
    int64_t ignored = r.attr<int64_t>("ignore_index");
    auto* log_share = MS_PICK_ISA(RowLogShare<T>);
    return FunctionKernel(
        [=, name = r.op.name, type = r.dtype(1),
         reduction = ReductionOf(r)](const KernelArgs& args) {
          auto* x = static_cast<const T*>(args.in[0]);
          auto* weight = static_cast<const T*>(args.in[2]);
          auto* loss = static_cast<T*>(args.out[0]);
          Labels labels(args.in[1], type);
          labels.Check(name, rows, n, &ignored);
          auto* losses = static_cast<double*>(args.workspace);
          ParallelFor(rows, RowCost(n), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              int64_t label = labels[i];
              losses[i] = label == ignored ? 0
                                           : -static_cast<double>(weight[label]) *
                                                 log_share(x + i * n, n, label);
            }
          });
          double sum = 0, total = 0;
          for (int64_t i = 0; i < rows; ++i) {
            sum += losses[i];
            total += labels[i] == ignored ? 0 : weight[labels[i]];
            if (reduction == Reduction::kNone) loss[i] = static_cast<T>(losses[i]);
          }
          Finish<T>(reduction, sum, total, args);
        },
        RowCost(n) * static_cast<double>(rows), static_cast<size_t>(rows) * sizeof(double));
  });
}

KernelChoice CrossEntropyGrad(const KernelRequest& r) {
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    int64_t rows = r.shape(1)[0], n = r.shape(1)[1];
    int64_t ignored = r.attr<int64_t>("ignore_index");
    auto* softmax = MS_PICK_ISA(RowScaledSoftmax<T>);
    return FunctionKernel(
        [=, name = r.op.name, type = r.dtype(2),
         reduction = ReductionOf(r)](const KernelArgs& args) {
          auto* dloss = static_cast<const T*>(args.in[0]);
          auto* x = static_cast<const T*>(args.in[1]);
          auto* weight = static_cast<const T*>(args.in[3]);
          T total = *static_cast<const T*>(args.in[4]);
          auto* dx = static_cast<T*>(args.out[0]);
          Labels labels(args.in[2], type);
          labels.Check(name, rows, n, &ignored);
          ParallelFor(rows, RowCost(n), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              int64_t label = labels[i];
              if (label == ignored) {
                std::fill_n(dx + i * n, n, T{0});
                continue;
              }
              T d = dloss[reduction == Reduction::kNone ? i : 0];
              if (reduction == Reduction::kMean) d /= total;
              d *= weight[label];
              softmax(x + i * n, n, d, dx + i * n);
              dx[i * n + label] -= d;
            }
          });
        },
        RowCost(n) * static_cast<double>(rows));
  });
}

}  // namespace ms::cpu
