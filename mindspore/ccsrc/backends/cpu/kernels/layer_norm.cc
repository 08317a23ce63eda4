// Layer normalisation: rows are independent but for the sums over rows that gamma's and beta's
// gradients are. Those are taken over a fixed number of slices of rows, so that results do not
// depend on the number of threads.
#include "backends/cpu/kernels/layer_norm.h"

#include <cmath>

#include "backends/cpu/kernels/in_float32.h"
#include "backends/cpu/kernels/norm_loops.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

struct RowView {
  int64_t rows = 1, columns = 1;
  int64_t parameters = 1;  // elements of gamma: a multiple or a divisor of columns
  double epsilon = 0;

  RowView(const KernelRequest& r, size_t x, size_t gamma)
      : parameters(r.shape(gamma).size()), epsilon(r.attr<double>("epsilon")) {
    const Shape& shape = r.shape(x);
    int64_t axis = r.attr<int64_t>("begin_norm_axis");
    if (axis < 0) axis += shape.rank();
    rows = shape.Product(0, static_cast<int>(axis));
    columns = shape.Product(static_cast<int>(axis), shape.rank());
  }
  double elements() const { return static_cast<double>(rows) * static_cast<double>(columns); }

  // Calls piece(offset in the row, offset in gamma, count) so that gamma is in order within a
  // piece.
  template <class F>
  void EachPiece(int64_t row, F&& piece) const {
    int64_t step = std::min(columns, parameters);
    for (int64_t at = 0; at < columns; at += step)
      piece(at, (row * columns + at) % parameters, step);
  }
};

template <class T>
void Forward(const RowView& v, const KernelArgs& args) {
  auto* x = static_cast<const T*>(args.in[0]);
  auto* gamma = static_cast<const T*>(args.in[1]);
  auto* beta = static_cast<const T*>(args.in[2]);
  auto* y = static_cast<T*>(args.out[0]);
  auto* means = static_cast<T*>(args.out[1]);
  auto* variances = static_cast<T*>(args.out[2]);
  auto* sum = MS_PICK_ISA(RunSum<T>);
  auto* squares = MS_PICK_ISA(RunSquares<T>);
  auto* total = MS_PICK_ISA(Total<T>);
  auto* scale = MS_PICK_ISA(RunScale<T>);
  auto count = static_cast<double>(v.columns);
  ParallelFor(v.rows, 0.4 * count + 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* row = x + i * v.columns;
      LaneSums<T> all, centred;
      sum(row, v.columns, &all);
      T mean = static_cast<T>(total(all) / count);
      squares(row, v.columns, mean, &centred);
      double variance = total(centred) / count;
      T r = static_cast<T>(1 / std::sqrt(variance + v.epsilon));
      means[i] = mean;
      variances[i] = static_cast<T>(variance);
      v.EachPiece(i, [&](int64_t at, int64_t parameter, int64_t n) {
        scale(row + at, n, mean, r, gamma + parameter, beta + parameter, y + i * v.columns + at);
      });
    }
  });
}

int64_t Slices(const RowView& v) { return std::clamp<int64_t>(v.rows / 32, 1, 16); }

// Per slice: float64 totals and T partial sums, each for dgamma and dbeta.
template <class T>
size_t SliceBytes(const RowView& v) {
  return static_cast<size_t>(v.parameters) * 2 * (sizeof(double) + sizeof(T));
}

template <class T>
class BackwardSlice {
 public:
  BackwardSlice(const RowView& v, const KernelArgs& args, int64_t slice) : v_(v), args_(args) {
    auto* memory =
        static_cast<std::byte*>(args.workspace) + SliceBytes<T>(v) * static_cast<size_t>(slice);
    totals_ = reinterpret_cast<double*>(memory);
    partial_ = reinterpret_cast<T*>(totals_ + 2 * v.parameters);
    std::fill(totals_, totals_ + 2 * v.parameters, 0.0);
    std::fill(partial_, partial_ + 2 * v.parameters, T{0});
  }

  void Rows(int64_t begin, int64_t end) {
    constexpr int64_t kRowsPerFlush = 64;
    for (int64_t i = begin; i < end; ++i) {
      Row(i);
      if ((i - begin) % kRowsPerFlush == kRowsPerFlush - 1) Flush();
    }
    Flush();
  }
  const double* totals() const { return totals_; }

 private:
  void Row(int64_t i) {
    const T* dy = static_cast<const T*>(args_.in[0]) + i * v_.columns;
    const T* x = static_cast<const T*>(args_.in[1]) + i * v_.columns;
    double variance = static_cast<const T*>(args_.in[2])[i];
    T mean = static_cast<const T*>(args_.in[3])[i];
    auto* gamma = static_cast<const T*>(args_.in[4]);
    T* dx = static_cast<T*>(args_.out[0]) + i * v_.columns;
    T r = static_cast<T>(1 / std::sqrt(variance + v_.epsilon));
    LaneSums<T> sums[2];
    v_.EachPiece(i, [&](int64_t at, int64_t parameter, int64_t n) {
      dots_(dy + at, x + at, gamma + parameter, n, mean, r, sums, partial_ + parameter,
            partial_ + v_.parameters + parameter);
    });
    auto count = static_cast<double>(v_.columns);
    T mean_a = static_cast<T>(total_(sums[0]) / count);
    T mean_ah = static_cast<T>(total_(sums[1]) / count);
    v_.EachPiece(i, [&](int64_t at, int64_t parameter, int64_t n) {
      grad_(dy + at, x + at, gamma + parameter, n, mean, r, mean_a, mean_ah, dx + at);
    });
  }

  void Flush() {
    for (int64_t j = 0; j < 2 * v_.parameters; ++j) {
      totals_[j] += partial_[j];
      partial_[j] = 0;
    }
  }

  const RowView& v_;
  const KernelArgs& args_;
  double* totals_;
  T* partial_;
  decltype(&base::RunLayerDots<T>) dots_ = MS_PICK_ISA(RunLayerDots<T>);
  decltype(&base::RunLayerGrad<T>) grad_ = MS_PICK_ISA(RunLayerGrad<T>);
  decltype(&base::Total<T>) total_ = MS_PICK_ISA(Total<T>);
};

template <class T>
void Backward(const RowView& v, const KernelArgs& args) {
  int64_t slices = Slices(v);
  double cost = v.elements() / static_cast<double>(slices);
  ParallelFor(slices, cost, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
      BackwardSlice<T>(v, args, s).Rows(v.rows * s / slices, v.rows * (s + 1) / slices);
    }
  });
  auto* dgamma = static_cast<T*>(args.out[1]);
  auto* dbeta = static_cast<T*>(args.out[2]);
  for (int64_t j = 0; j < 2 * v.parameters; ++j) {
    double total = 0;
    for (int64_t s = 0; s < slices; ++s) {
      auto* memory =
          static_cast<std::byte*>(args.workspace) + SliceBytes<T>(v) * static_cast<size_t>(s);
      total += reinterpret_cast<double*>(memory)[j];
    }
    (j < v.parameters ? dgamma[j] : dbeta[j - v.parameters]) = static_cast<T>(total);
  }
}

template <class F>
KernelChoice ForFloats(const KernelRequest& r, F make) {
  for (const Type& t : r.in) {
    if (t.dtype() != r.dtype(0)) return No("needs inputs of one dtype, got {}", ToString(r.in));
  }
  if (r.dtype(0) == DType::kFloat32) return make(TypeTag<float>{});
  if (r.dtype(0) == DType::kFloat64) return make(TypeTag<double>{});
  return No("needs Float32 or Float64, got {}", Name(r.dtype(0)));
}

KernelChoice LayerNorm(const KernelRequest& r) {
  return ForFloats(r, [&](auto tag) {
    using T = typename decltype(tag)::type;
    RowView v(r, 0, 1);
    return FunctionKernel([v](const KernelArgs& args) { Forward<T>(v, args); }, 0.4 * v.elements());
  });
}

KernelChoice LayerNormGrad(const KernelRequest& r) {
  return ForFloats(r, [&](auto tag) {
    using T = typename decltype(tag)::type;
    RowView v(r, 1, 4);
    return FunctionKernel([v](const KernelArgs& args) { Backward<T>(v, args); }, v.elements(),
                          SliceBytes<T>(v) * static_cast<size_t>(Slices(v)));
  });
}

}  // namespace

void AddLayerNorm(KernelTable& table) {
  table.For("LayerNorm").Try("rows", LayerNorm).Try("in float32", InFloat32(LayerNorm));
  table.For("LayerNormGrad").Try("rows", LayerNormGrad).Try("in float32", InFloat32(LayerNormGrad));
}

}  // namespace ms::cpu
