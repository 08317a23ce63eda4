// Batch normalisation. A channel is read from memory once per pass over the data and again from the
// cache; threads share out the channels, so no sums cross threads.
#include <cmath>

#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/in_float32.h"
#include "backends/cpu/kernels/layer_norm.h"
#include "backends/cpu/kernels/norm_loops.h"
#include "backends/cpu/kernels/norm_rows.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

// x as [outer, channels, inner]. With inner == 1 the channels are next to each other, and are done
// in blocks.
struct ChannelView {
  int64_t outer = 1, channels = 1, inner = 1;

  ChannelView(const Shape& x, const std::string& format) {
    bool last = x.rank() == 4 && format == "NHWC";
    int axis = last ? 3 : 1;
    channels = x[axis];
    outer = x.Product(0, axis);
    inner = x.Product(axis + 1, x.rank());
  }
  bool blocks() const { return inner == 1; }
  double count() const { return static_cast<double>(outer * inner); }
  double elements() const { return count() * static_cast<double>(channels); }
};

template <class T>
struct Statistics {
  T mean[kColumnBlock];
  T variance[kColumnBlock];  // not corrected for bias
};

// What is done to channels [c, c + width); width is 1 unless channels are done in blocks.
template <class T>
class Channels {
 public:
  explicit Channels(const ChannelView& view) : v_(view) {}

  void Moments(const T* x, int64_t c, int64_t width, Statistics<T>* s) const {
    double sums[kColumnBlock];
    Sum(x, c, width, sums);
    for (int64_t j = 0; j < width; ++j) s->mean[j] = static_cast<T>(sums[j] / v_.count());
    if (v_.blocks()) {
      MS_PICK_ISA(ColumnsSquares<T>)(Block(width), x + c, s->mean, sums);
    } else {
      auto* squares = MS_PICK_ISA(RunSquares<T>);
      LaneSums<T> sum;
      for (int64_t n = 0; n < v_.outer; ++n) squares(x + At(n, c), v_.inner, s->mean[0], &sum);
      sums[0] = MS_PICK_ISA(Total<T>)(sum);
    }
    for (int64_t j = 0; j < width; ++j) s->variance[j] = static_cast<T>(sums[j] / v_.count());
  }

  void Affine(const T* x, int64_t c, int64_t width, const T* mean, const T* a, const T* b,
              T* y) const {
    if (v_.blocks()) {
      MS_PICK_ISA(ColumnsAffine<T>)(Block(width), x + c, mean, a, b, y + c);
      return;
    }
    auto* affine = MS_PICK_ISA(RunAffine<T>);
    for (int64_t n = 0; n < v_.outer; ++n) {
      affine(x + At(n, c), v_.inner, mean[0], a[0], b[0], y + At(n, c));
    }
  }

  void Dots(const T* dy, const T* x, int64_t c, int64_t width, const T* mean, double* dy_sums,
            double* dots) const {
    if (v_.blocks()) {
      MS_PICK_ISA(ColumnsDots<T>)(Block(width), dy + c, x + c, mean, dy_sums, dots);
      return;
    }
    auto* run = MS_PICK_ISA(RunDots<T>);
    LaneSums<T> sums[2];
    for (int64_t n = 0; n < v_.outer; ++n) {
      run(dy + At(n, c), x + At(n, c), v_.inner, mean[0], sums);
    }
    dy_sums[0] = MS_PICK_ISA(Total<T>)(sums[0]);
    dots[0] = MS_PICK_ISA(Total<T>)(sums[1]);
  }

  void Grad(const T* dy, const T* x, int64_t c, int64_t width, const T* mean, const T* a,
            const T* b, const T* k, T* dx) const {
    if (v_.blocks()) {
      MS_PICK_ISA(ColumnsGrad<T>)(Block(width), dy + c, x + c, mean, a, b, k, dx + c);
      return;
    }
    auto* grad = MS_PICK_ISA(RunGrad<T>);
    for (int64_t n = 0; n < v_.outer; ++n) {
      grad(dy + At(n, c), x + At(n, c), v_.inner, mean[0], a[0], b[0], k[0], dx + At(n, c));
    }
  }

  // Calls body(c, width) for all channels, in parallel.
  template <class F>
  void Each(double passes, F&& body) const {
    int64_t block = v_.blocks() ? kColumnBlock : 1;
    int64_t tasks = (v_.channels + block - 1) / block;
    double cost = passes * 0.2 * v_.count() * static_cast<double>(block);
    ParallelFor(tasks, cost, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        body(task * block, std::min(block, v_.channels - task * block));
      }
    });
  }

 private:
  int64_t At(int64_t n, int64_t c) const { return (n * v_.channels + c) * v_.inner; }
  ColumnBlock Block(int64_t width) const { return {v_.outer, width, v_.channels}; }

  void Sum(const T* x, int64_t c, int64_t width, double* sums) const {
    if (v_.blocks()) {
      MS_PICK_ISA(ColumnsSum<T>)(Block(width), x + c, sums);
      return;
    }
    auto* sum = MS_PICK_ISA(RunSum<T>);
    LaneSums<T> lanes;
    for (int64_t n = 0; n < v_.outer; ++n) sum(x + At(n, c), v_.inner, &lanes);
    sums[0] = MS_PICK_ISA(Total<T>)(lanes);
  }

  ChannelView v_;
};

template <class T>
void Train(const ChannelView& view, double epsilon, double momentum, const KernelArgs& args) {
  Channels<T> channels(view);
  double correction = view.count() > 1 ? view.count() / (view.count() - 1) : 1;
  channels.Each(3, [&](int64_t c, int64_t width) {
    Statistics<T> s;
    channels.Moments(In<T>(args, 0), c, width, &s);
    T a[kColumnBlock];
    for (int64_t j = 0; j < width; ++j) {
      double inverse = 1 / std::sqrt(static_cast<double>(s.variance[j]) + epsilon);
      a[j] = static_cast<T>(inverse * In<T>(args, 1)[c + j]);
      Out<T>(args, 3)[c + j] = s.mean[j];
      Out<T>(args, 4)[c + j] = static_cast<T>(inverse);
      double old_mean = In<T>(args, 3)[c + j];
      double old_variance = In<T>(args, 4)[c + j];
      double variance = s.variance[j] * correction;
      Out<T>(args, 1)[c + j] = static_cast<T>(old_mean + momentum * (s.mean[j] - old_mean));
      Out<T>(args, 2)[c + j] = static_cast<T>(old_variance + momentum * (variance - old_variance));
    }
    channels.Affine(In<T>(args, 0), c, width, s.mean, a, In<T>(args, 2) + c, Out<T>(args, 0));
  });
}

// Unlike training this needs no channel as a whole, and reads x in the order of memory.
template <class T>
void Evaluate(const ChannelView& view, double epsilon, const KernelArgs& args) {
  auto factor = [&](int64_t c) {
    double variance = In<T>(args, 4)[c];
    return static_cast<T>(In<T>(args, 1)[c] / std::sqrt(variance + epsilon));
  };
  if (view.blocks()) {
    Channels<T>(view).Each(1, [&](int64_t c, int64_t width) {
      T a[kColumnBlock];
      for (int64_t j = 0; j < width; ++j) a[j] = factor(c + j);
      Channels<T>(view).Affine(In<T>(args, 0), c, width, In<T>(args, 3) + c, a, In<T>(args, 2) + c,
                               Out<T>(args, 0));
    });
    return;
  }
  auto* affine = MS_PICK_ISA(RunAffine<T>);
  double cost = 0.2 * static_cast<double>(view.inner) + 10;
  ParallelFor(view.outer * view.channels, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t c = i % view.channels;
      affine(In<T>(args, 0) + i * view.inner, view.inner, In<T>(args, 3)[c], factor(c),
             In<T>(args, 2)[c], Out<T>(args, 0) + i * view.inner);
    }
  });
}

template <class T>
void Backward(const ChannelView& view, bool training, const KernelArgs& args) {
  Channels<T> channels(view);
  channels.Each(4, [&](int64_t c, int64_t width) {
    double dy_sums[kColumnBlock], dots[kColumnBlock];
    const T* mean = In<T>(args, 3) + c;
    channels.Dots(In<T>(args, 0), In<T>(args, 1), c, width, mean, dy_sums, dots);
    T a[kColumnBlock], b[kColumnBlock], k[kColumnBlock];
    for (int64_t j = 0; j < width; ++j) {
      double inverse = In<T>(args, 4)[c + j];
      Out<T>(args, 1)[c + j] = static_cast<T>(dots[j] * inverse);
      Out<T>(args, 2)[c + j] = static_cast<T>(dy_sums[j]);
      a[j] = static_cast<T>(inverse * In<T>(args, 2)[c + j]);
      b[j] = static_cast<T>(training ? dy_sums[j] / view.count() : 0);
      k[j] = static_cast<T>(training ? dots[j] * inverse * inverse / view.count() : 0);
    }
    channels.Grad(In<T>(args, 0), In<T>(args, 1), c, width, mean, a, b, k, Out<T>(args, 0));
  });
}

template <class F>
KernelChoice ForFloats(const KernelRequest& r, double cost, F run) {
  for (const ms::Type& t : r.in) {
    if (t.dtype() != r.dtype(0)) return No("needs inputs of one dtype, got {}", ToString(r.in));
  }
  if (r.dtype(0) == DType::kFloat32) {
    return FunctionKernel([run](const KernelArgs& args) { run(args, TypeTag<float>{}); }, cost);
  }
  if (r.dtype(0) == DType::kFloat64) {
    return FunctionKernel([run](const KernelArgs& args) { run(args, TypeTag<double>{}); }, cost);
  }
  return No("needs Float32 or Float64, got {}", Name(r.dtype(0)));
}

KernelChoice BatchNorm(const KernelRequest& r) {
  ChannelView view(r.shape(0), r.attr<std::string>("data_format"));
  double epsilon = r.attr<double>("epsilon");
  double momentum = r.attr<double>("momentum");
  return ForFloats(r, 0.5 * view.elements(), [=](const KernelArgs& args, auto tag) {
    Train<typename decltype(tag)::type>(view, epsilon, momentum, args);
  });
}

KernelChoice BatchNormInference(const KernelRequest& r) {
  ChannelView view(r.shape(0), r.attr<std::string>("data_format"));
  double epsilon = r.attr<double>("epsilon");
  return ForFloats(r, 0.3 * view.elements(), [=](const KernelArgs& args, auto tag) {
    Evaluate<typename decltype(tag)::type>(view, epsilon, args);
  });
}

KernelChoice BatchNormGrad(const KernelRequest& r) {
  ChannelView view(r.shape(1), r.attr<std::string>("data_format"));
  bool training = r.attr<bool>("is_training");
  return ForFloats(r, 0.8 * view.elements(), [=](const KernelArgs& args, auto tag) {
    Backward<typename decltype(tag)::type>(view, training, args);
  });
}

}  // namespace

void AddNorm(KernelTable& table) {
  auto add = [&](const char* op, const KernelMaker& maker) {
    table.For(op).Try("channels", maker).Try("channels in float32", InFloat32(maker));
  };
  table.For("BatchNorm").Try("pixels", BatchNormRows);
  table.For("BatchNormInference").Try("pixels", BatchNormInferenceRows);
  table.For("BatchNormGrad").Try("pixels", BatchNormGradRows);
  add("BatchNorm", BatchNorm);
  add("BatchNormInference", BatchNormInference);
  add("BatchNormGrad", BatchNormGrad);
  AddNormRelu(table);
  AddLayerNorm(table);
}

}  // namespace ms::cpu
