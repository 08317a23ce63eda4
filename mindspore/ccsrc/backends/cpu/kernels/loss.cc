// Losses over classes.
#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/in_float32.h"
#include "backends/cpu/kernels/loss_parts.h"
#include "backends/cpu/kernels/softmax_loops.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

// ---- cross entropy of softmax
template <class T>
void DenseRow(const T* x, const T* labels, int64_t n, T* loss, T* dx,
              T (*log_sum_exp)(const T*, int64_t), void (*softmax)(const T*, int64_t, T*)) {
  T log_sum = log_sum_exp(x, n);
  softmax(x, n, dx);
  T sum = 0, total = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += labels[i] * (log_sum - x[i]);
    total += labels[i];
  }
  for (int64_t i = 0; i < n; ++i) dx[i] = dx[i] * total - labels[i];
  *loss = sum;
}

KernelChoice DenseCrossEntropy(const KernelRequest& r) {
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    int64_t rows = r.shape(0)[0], n = r.shape(0)[1];
    auto* log_sum_exp = MS_PICK_ISA(RowLogSumExp<T>);
    auto* softmax = MS_PICK_ISA(RowSoftmax<T>);
    return FunctionKernel(
        [=](const KernelArgs& args) {
          auto* x = static_cast<const T*>(args.in[0]);
          auto* labels = static_cast<const T*>(args.in[1]);
          ParallelFor(rows, RowCost(n), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              DenseRow<T>(x + i * n, labels + i * n, n, static_cast<T*>(args.out[0]) + i,
                          static_cast<T*>(args.out[1]) + i * n, log_sum_exp, softmax);
            }
          });
        },
        RowCost(n) * static_cast<double>(rows));
  });
}

KernelChoice SparseLoss(const KernelRequest& r) {
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    int64_t rows = r.shape(0)[0], n = r.shape(0)[1];
    auto* log_sum_exp = MS_PICK_ISA(RowLogSumExp<T>);
    return FunctionKernel(
        [=, name = r.op.name, type = r.dtype(1)](const KernelArgs& args) {
          auto* x = static_cast<const T*>(args.in[0]);
          Labels labels(args.in[1], type);
          labels.Check(name, rows, n, nullptr);
          auto* losses = static_cast<double*>(args.workspace);
          ParallelFor(rows, RowCost(n), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              losses[i] = log_sum_exp(x + i * n, n) - x[i * n + labels[i]];
            }
          });
          double sum = 0;
          for (int64_t i = 0; i < rows; ++i) sum += losses[i];
          *static_cast<T*>(args.out[0]) = static_cast<T>(sum / static_cast<double>(rows));
        },
        RowCost(n) * static_cast<double>(rows), static_cast<size_t>(rows) * sizeof(double));
  });
}

KernelChoice SparseGrad(const KernelRequest& r) {
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    int64_t rows = r.shape(0)[0], n = r.shape(0)[1];
    auto* softmax = MS_PICK_ISA(RowSoftmax<T>);
    return FunctionKernel(
        [=, name = r.op.name, type = r.dtype(1)](const KernelArgs& args) {
          auto* x = static_cast<const T*>(args.in[0]);
          auto* dx = static_cast<T*>(args.out[0]);
          Labels labels(args.in[1], type);
          labels.Check(name, rows, n, nullptr);
          T scale = T{1} / static_cast<T>(rows);
          ParallelFor(rows, RowCost(n), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              softmax(x + i * n, n, dx + i * n);
              dx[i * n + labels[i]] -= 1;
              for (int64_t j = 0; j < n; ++j) dx[i * n + j] *= scale;
            }
          });
        },
        RowCost(n) * static_cast<double>(rows));
  });
}

KernelChoice SparseCrossEntropy(const KernelRequest& r) {
  return r.attr<bool>("is_grad") ? SparseGrad(r) : SparseLoss(r);
}

// ---- negative log likelihood
KernelChoice Likelihood(const KernelRequest& r) {
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    int64_t rows = r.shape(0)[0], n = r.shape(0)[1];
    int64_t ignored = r.attr<int64_t>("ignore_index");
    return FunctionKernel(
        [=, name = r.op.name, type = r.dtype(1),
         reduction = ReductionOf(r)](const KernelArgs& args) {
          auto* x = static_cast<const T*>(args.in[0]);
          auto* weight = static_cast<const T*>(args.in[2]);
          auto* loss = static_cast<T*>(args.out[0]);
          Labels labels(args.in[1], type);
          labels.Check(name, rows, n, &ignored);
          double sum = 0, total = 0;
          for (int64_t i = 0; i < rows; ++i) {
            int64_t label = labels[i];
            double w = label == ignored ? 0 : weight[label];
            double value = label == ignored ? 0 : -w * x[i * n + label];
            sum += value;
            total += w;
            if (reduction == Reduction::kNone) loss[i] = static_cast<T>(value);
          }
          Finish<T>(reduction, sum, total, args);
        },
        3.0 * static_cast<double>(rows));
  });
}

KernelChoice LikelihoodGrad(const KernelRequest& r) {
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    int64_t rows = r.out[0].shape()[0], n = r.out[0].shape()[1];
    int64_t ignored = r.attr<int64_t>("ignore_index");
    return FunctionKernel(
        [=, name = r.op.name, type = r.dtype(1),
         reduction = ReductionOf(r)](const KernelArgs& args) {
          auto* dloss = static_cast<const T*>(args.in[0]);
          auto* weight = static_cast<const T*>(args.in[2]);
          T total = *static_cast<const T*>(args.in[3]);
          auto* dx = static_cast<T*>(args.out[0]);
          Labels labels(args.in[1], type);
          labels.Check(name, rows, n, &ignored);
          std::fill(dx, dx + rows * n, T{0});
          for (int64_t i = 0; i < rows; ++i) {
            int64_t label = labels[i];
            if (label == ignored) continue;
            T d = dloss[reduction == Reduction::kNone ? i : 0];
            if (reduction == Reduction::kMean) d /= total;
            dx[i * n + label] = -d * weight[label];
          }
        },
        0.1 * static_cast<double>(rows) * static_cast<double>(n));
  });
}

}  // namespace

void AddLoss(KernelTable& table) {
  auto add = [&](const char* op, const KernelMaker& maker) {
    table.For(op).Try("rows", maker).Try("in float32", InFloat32(maker));
  };
  add("SoftmaxCrossEntropyWithLogits", DenseCrossEntropy);
  add("SparseSoftmaxCrossEntropyWithLogits", SparseCrossEntropy);
  add("NLLLoss", Likelihood);
  add("NLLLossGrad", LikelihoodGrad);
  add("CrossEntropy", CrossEntropy);
  add("CrossEntropyGrad", CrossEntropyGrad);
}

}  // namespace ms::cpu
