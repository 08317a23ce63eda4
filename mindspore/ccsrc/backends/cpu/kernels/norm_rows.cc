// Batch normalisation of images with the channels last. Pixels are shared out in segments, whose
// number depends on the sizes alone: sums of segments are joined in order, so that results do not
// depend on how many threads there are.
#include "backends/cpu/kernels/norm_rows.h"

#include <cmath>

#include "backends/cpu/kernels/in_float32.h"
#include "backends/cpu/kernels/norm_row_loops.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

constexpr int64_t kMostSegments = 16;
constexpr int64_t kSegmentElements = 1 << 15;
constexpr int64_t kWide = 128;

// The pixels of an image. Of few channels, neighbouring pixels are taken for one with more:
// `repeat` times the channels.
struct Pixels {
  int64_t rows = 1, channels = 1, repeat = 1, segments = 1;

  Pixels(const Shape& x, int64_t channel_count) : channels(channel_count) {
    rows = x.size() / channels;
    while (wide() < kWide && rows % 2 == 0) {
      repeat *= 2;
      rows /= 2;
    }
    segments = std::clamp<int64_t>(rows * wide() / kSegmentElements, 1, kMostSegments);
  }
  int64_t wide() const { return channels * repeat; }
  double count() const { return static_cast<double>(rows * repeat); }
  double elements() const { return count() * static_cast<double>(channels); }
  int64_t First(int64_t segment) const { return rows * segment / segments; }
  PixelRows Segment(int64_t s) const { return {First(s + 1) - First(s), wide()}; }
  // Calls body(segment, offset) in parallel.
  template <class F>
  void Each(double passes, F&& body) const {
    ParallelFor(segments, passes * 0.1 * elements() / static_cast<double>(segments),
                [&](int64_t begin, int64_t end) {
                  for (int64_t s = begin; s < end; ++s) body(s, First(s) * wide());
                });
  }
};

// What lies in the workspace: two sums in float64 for each segment, and five numbers per channel.
template <class T>
struct Scratch {
  double* sums[2];
  T* numbers[5];

  Scratch(const Pixels& p, void* memory) {
    auto* at = static_cast<double*>(memory);
    for (double*& sum : sums) {
      sum = at;
      at += p.segments * p.wide();
    }
    for (T*& n : numbers) {
      n = reinterpret_cast<T*>(at);
      at += p.wide();
    }
  }
  static size_t Bytes(const Pixels& p) {
    return static_cast<size_t>((2 * p.segments + 5) * p.wide()) * sizeof(double);
  }
};

// The mean and the sum of squared distances from it of channel c over all pixels.
std::pair<double, double> JoinMoments(const Pixels& p, double* const* sums, int64_t c) {
  double mean = 0, square = 0, seen = 0;
  for (int64_t s = 0; s < p.segments; ++s) {
    auto n = static_cast<double>(p.Segment(s).rows);
    for (int64_t k = 0; k < p.repeat; ++k) {
      int64_t at = s * p.wide() + k * p.channels + c;
      double d = sums[0][at] - mean;
      double share = n / (seen + n);
      mean += d * share;
      square += sums[1][at] + d * d * seen * share;
      seen += n;
    }
  }
  return {mean, square};
}

double JoinSums(const Pixels& p, const double* sums, int64_t c) {
  double total = 0;
  for (int64_t s = 0; s < p.segments; ++s) {
    for (int64_t k = 0; k < p.repeat; ++k) total += sums[s * p.wide() + k * p.channels + c];
  }
  return total;
}

template <class T>
void Repeat(const Pixels& p, T* numbers) {
  for (int64_t k = 1; k < p.repeat; ++k) std::copy_n(numbers, p.channels, numbers + k * p.channels);
}

template <class T>
void Apply(const Pixels& p, RowActivation act, const Scratch<T>& scratch, const T* x,
           const T* residual, T* y) {
  auto* norm = MS_PICK_ISA(RowNorm<T>);
  for (int i = 0; i < 3; ++i) Repeat(p, scratch.numbers[i]);
  p.Each(2, [&](int64_t s, int64_t at) {
    norm(act, p.Segment(s),
         {x + at, scratch.numbers[0], scratch.numbers[1], scratch.numbers[2],
          residual ? residual + at : nullptr, y + at});
  });
}

// Inputs: x, scale, bias, mean, variance and perhaps the residual. The factor is made of the saved,
// rounded inverse, as the gradient makes it.
template <class T>
void Train(const Pixels& p, RowActivation act, double epsilon, double momentum,
           const KernelArgs& args, const T* residual) {
  Scratch<T> scratch(p, args.workspace);
  const T* x = In<T>(args, 0);
  auto* moments = MS_PICK_ISA(RowMoments<T>);
  p.Each(1, [&](int64_t s, int64_t at) {
    moments(p.Segment(s), x + at, scratch.sums[0] + s * p.wide(), scratch.sums[1] + s * p.wide());
  });
  double correction = p.count() > 1 ? p.count() / (p.count() - 1) : 1;
  for (int64_t c = 0; c < p.channels; ++c) {
    auto [mean, square] = JoinMoments(p, scratch.sums, c);
    double variance = square / p.count();
    T inverse = static_cast<T>(1 / std::sqrt(variance + epsilon));
    double old_mean = In<T>(args, 3)[c], old_variance = In<T>(args, 4)[c];
    Out<T>(args, 1)[c] = static_cast<T>(old_mean + momentum * (mean - old_mean));
    Out<T>(args, 2)[c] =
        static_cast<T>(old_variance + momentum * (variance * correction - old_variance));
    Out<T>(args, 3)[c] = scratch.numbers[0][c] = static_cast<T>(mean);
    Out<T>(args, 4)[c] = inverse;
    scratch.numbers[1][c] = inverse * In<T>(args, 1)[c];
    scratch.numbers[2][c] = In<T>(args, 2)[c];
  }
  Apply(p, act, scratch, x, residual, Out<T>(args, 0));
}

template <class T>
void Evaluate(const Pixels& p, double epsilon, const KernelArgs& args) {
  Scratch<T> scratch(p, args.workspace);
  for (int64_t c = 0; c < p.channels; ++c) {
    double variance = In<T>(args, 4)[c];
    scratch.numbers[0][c] = In<T>(args, 3)[c];
    scratch.numbers[1][c] = static_cast<T>(In<T>(args, 1)[c] / std::sqrt(variance + epsilon));
    scratch.numbers[2][c] = In<T>(args, 2)[c];
  }
  Apply(p, RowActivation::kNone, scratch, In<T>(args, 0), static_cast<const T*>(nullptr),
        Out<T>(args, 0));
}

// What a gradient reads beside dy; null where there is none.
template <class T>
struct GradInputs {
  const T *x, *y, *scale, *bias, *mean, *inverse;
};

template <class T>
void Backward(const Pixels& p, RowActivation act, bool training, const KernelArgs& args,
              const GradInputs<T>& in, T* residual_grad) {
  Scratch<T> scratch(p, args.workspace);
  T* const* n = scratch.numbers;  // mean, factor, bias, then what is subtracted
  for (int64_t c = 0; c < p.channels; ++c) {
    n[0][c] = in.mean[c];
    n[1][c] = in.inverse[c] * in.scale[c];
    n[2][c] = in.bias ? in.bias[c] : T{0};
  }
  for (int i = 0; i < 3; ++i) Repeat(p, n[i]);
  auto piece = [&](int64_t at) {
    auto move = [at](auto* pointer) { return pointer ? pointer + at : pointer; };
    return NormGrad<T>{In<T>(args, 0) + at, in.x + at, move(in.y), n[0], n[1], n[2],
                       move(residual_grad)};
  };
  auto* dots = MS_PICK_ISA(RowDots<T>);
  p.Each(2, [&](int64_t s, int64_t at) {
    dots(act, p.Segment(s), piece(at), scratch.sums[0] + s * p.wide(),
         scratch.sums[1] + s * p.wide());
  });
  for (int64_t c = 0; c < p.channels; ++c) {
    double sum = JoinSums(p, scratch.sums[0], c);
    double dot = JoinSums(p, scratch.sums[1], c);
    double inverse = in.inverse[c];
    Out<T>(args, 1)[c] = static_cast<T>(dot * inverse);
    Out<T>(args, 2)[c] = static_cast<T>(sum);
    n[3][c] = static_cast<T>(training ? sum / p.count() : 0);
    n[4][c] = static_cast<T>(training ? dot * inverse * inverse / p.count() : 0);
  }
  for (int i = 3; i < 5; ++i) Repeat(p, n[i]);
  auto* grad = MS_PICK_ISA(RowNormGrad<T>);
  p.Each(3, [&](int64_t s, int64_t at) {
    grad(act, p.Segment(s), piece(at), n[3], n[4], Out<T>(args, 0) + at);
  });
}

// The pixels of input i, or why there are none.
std::string Refusal(const KernelRequest& r, size_t i) {
  for (const Type& t : r.in) {
    if (t.dtype() != r.dtype(0)) return "needs inputs of one dtype, got " + ToString(r.in);
  }
  if (r.dtype(0) != DType::kFloat32 && r.dtype(0) != DType::kFloat64) {
    return fmt::format("needs Float32 or Float64, got {}", Name(r.dtype(0)));
  }
  bool last = r.shape(i).rank() == 2 ||
              (r.shape(i).rank() == 4 && r.attr<std::string>("data_format") == "NHWC");
  if (!last) return "needs the channels last";
  return r.shape(i).empty() ? "needs elements, got none" : "";
}

template <class F>
KernelChoice ForPixels(const KernelRequest& r, size_t x, size_t per_channel, double cost, F run) {
  if (std::string why = Refusal(r, x); !why.empty()) return KernelChoice(std::move(why));
  Pixels p(r.shape(x), r.shape(per_channel)[0]);
  cost *= p.elements();
  if (r.dtype(0) == DType::kFloat32) {
    return FunctionKernel([p, run](const KernelArgs& args) { run(p, args, TypeTag<float>{}); },
                          cost, Scratch<float>::Bytes(p));
  }
  return FunctionKernel([p, run](const KernelArgs& args) { run(p, args, TypeTag<double>{}); }, cost,
                        Scratch<double>::Bytes(p));
}

RowActivation ActivationOf(const KernelRequest& r) {
  return r.attr<std::string>("activation") == "relu6" ? RowActivation::kRelu6
                                                      : RowActivation::kRelu;
}

KernelChoice Training(const KernelRequest& r, RowActivation act, bool with_residual) {
  double epsilon = r.attr<double>("epsilon");
  double momentum = r.attr<double>("momentum");
  return ForPixels(r, 0, 1, 0.3, [=](const Pixels& p, const KernelArgs& args, auto tag) {
    using T = typename decltype(tag)::type;
    Train<T>(p, act, epsilon, momentum, args, with_residual ? In<T>(args, 5) : nullptr);
  });
}

KernelChoice NormReluGrad(const KernelRequest& r) {
  RowActivation act = ActivationOf(r);
  return ForPixels(r, 1, 2, 0.5, [=](const Pixels& p, const KernelArgs& args, auto tag) {
    using T = typename decltype(tag)::type;
    Backward<T>(
        p, act, true, args,
        {In<T>(args, 1), nullptr, In<T>(args, 2), In<T>(args, 3), In<T>(args, 4), In<T>(args, 5)},
        nullptr);
  });
}

KernelChoice NormAddReluGrad(const KernelRequest& r) {
  return ForPixels(r, 2, 3, 0.6, [](const Pixels& p, const KernelArgs& args, auto tag) {
    using T = typename decltype(tag)::type;
    Backward<T>(
        p, RowActivation::kRelu, true, args,
        {In<T>(args, 2), In<T>(args, 1), In<T>(args, 3), nullptr, In<T>(args, 4), In<T>(args, 5)},
        Out<T>(args, 3));
  });
}

}  // namespace

KernelChoice BatchNormRows(const KernelRequest& r) {
  return Training(r, RowActivation::kNone, false);
}

KernelChoice BatchNormInferenceRows(const KernelRequest& r) {
  double epsilon = r.attr<double>("epsilon");
  return ForPixels(r, 0, 1, 0.2, [=](const Pixels& p, const KernelArgs& args, auto tag) {
    Evaluate<typename decltype(tag)::type>(p, epsilon, args);
  });
}

KernelChoice BatchNormGradRows(const KernelRequest& r) {
  bool training = r.attr<bool>("is_training");
  return ForPixels(r, 1, 2, 0.5, [=](const Pixels& p, const KernelArgs& args, auto tag) {
    using T = typename decltype(tag)::type;
    Backward<T>(p, RowActivation::kNone, training, args,
                {In<T>(args, 1), nullptr, In<T>(args, 2), nullptr, In<T>(args, 3), In<T>(args, 4)},
                nullptr);
  });
}

void AddNormRelu(KernelTable& table) {
  auto relu = [](const KernelRequest& r) { return Training(r, ActivationOf(r), false); };
  auto add_relu = [](const KernelRequest& r) { return Training(r, RowActivation::kRelu, true); };
  auto add = [&table](const char* op, const KernelMaker& maker) {
    table.For(op).Try("pixels", maker).Try("pixels in float32", InFloat32(maker));
  };
  add("BatchNormRelu", relu);
  add("BatchNormAddRelu", add_relu);
  add("BatchNormReluGrad", NormReluGrad);
  add("BatchNormAddReluGrad", NormAddReluGrad);
}

}  // namespace ms::cpu
