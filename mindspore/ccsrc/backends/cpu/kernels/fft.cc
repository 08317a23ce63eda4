// Fourier transforms along axes (ops/fft.cc), one axis after the other: many lines side by side in
// lanes, or long and few ones each by itself.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/fft_line.h"
#include "kernel/parallel.h"
#include "ops/axes.h"
#include "tensor/buffer.h"

namespace ms::cpu {
namespace {

// What is held in the middle-sized cache: a group of longer lines is slower than lines one by one.
constexpr int64_t kGroupBytes = 1 << 19;

enum class Kind { kComplex, kFromReal, kToReal };

// Lines along one axis of an array: [outer, n, inner].
struct Lines {
  int64_t outer, inner;
  int64_t count() const { return outer * inner; }
};

template <class T>
class AxisFft {
 public:
  AxisFft(Kind kind, int64_t n, bool inverse, double scale, bool adjoint, Lines lines)
      : kind_(kind), n_(n), lines_(lines), scale_(static_cast<T>(scale)) {
    inverse_ = kind == Kind::kComplex ? inverse : kind == Kind::kToReal;
    half_.conjugate = inverse != inverse_;
    if (adjoint) half_.inner = kind == Kind::kFromReal ? 2 : 0.5;
    by_halves_ = kind != Kind::kComplex && n % 2 == 0;
    int64_t length = by_halves_ ? n / 2 : n;
    const int lanes = LoopsOfFft<T>().lanes;
    bool large = length * 4 * lanes * static_cast<int64_t>(sizeof(T)) > kGroupBytes;
    if (large || (2 * lines.count() <= lanes && (CanCutFft(length) || length >= 128))) {
      line_ = std::make_unique<LineFft<T>>(length);
    } else {
      lanes_ = std::make_unique<LaneFft<T>>(length);
    }
    if (by_halves_) {
      FftRoots roots(n);
      for (int64_t k = 0; k <= n / 4; ++k) {
        roots_.push_back(static_cast<T>(roots(k).real()));
        roots_.push_back(static_cast<T>(roots(k).imag()));
      }
    }
  }

  double cost_ns() const {
    double n = static_cast<double>(n_);
    return static_cast<double>(lines_.count()) * n * (1 + std::log2(n)) / 4;
  }
  void Run(const T* in, T* out) const { line_ ? RunLines(in, out) : RunLanes(in, out); }
  // Numbers of all lines together.
  int64_t numbers_in() const { return lines_.count() * length_in() * parts_in(); }

 private:
  int parts_in() const { return kind_ == Kind::kFromReal ? 1 : 2; }
  int parts_out() const { return kind_ == Kind::kToReal ? 1 : 2; }
  int64_t length_in() const { return kind_ == Kind::kToReal ? n_ / 2 + 1 : n_; }
  int64_t length_out() const { return kind_ == Kind::kFromReal ? n_ / 2 + 1 : n_; }

  // Where a line begins.
  int64_t PlaceIn(int64_t line) const {
    return (line / lines_.inner * length_in() * lines_.inner + line % lines_.inner) * parts_in();
  }
  int64_t PlaceOut(int64_t line) const {
    return (line / lines_.inner * length_out() * lines_.inner + line % lines_.inner) * parts_out();
  }

  T* TransformGroup(const FftLoops<T>& loops, T* x) const {
    if (kind_ == Kind::kToReal) {
      by_halves_ ? loops.tangle(roots_.data(), n_, half_, x) : loops.mirror(n_, half_, x);
    } else if (kind_ == Kind::kFromReal && !by_halves_) {
      loops.widen(n_, x);
    }
    T* y = loops.transform(*lanes_, inverse_, x);
    if (kind_ == Kind::kFromReal) {
      by_halves_ ? loops.untangle(roots_.data(), n_, half_, y) : loops.halve(n_, half_, y);
    } else if (kind_ == Kind::kToReal && !by_halves_) {
      loops.narrow(n_, y);
    }
    return y;
  }

  void RunLanes(const T* in, T* out) const {
    const FftLoops<T>& loops = LoopsOfFft<T>();
    const int lanes = loops.lanes;
    int64_t groups = (lines_.count() + lanes - 1) / lanes;
    ParallelFor(groups, cost_ns() / static_cast<double>(groups), [&](int64_t g, int64_t end) {
      // A group that came as real numbers, or as half a spectrum, takes one element more.
      T* x = FftRoom<T>((lanes_->room() + 1) * 2 * lanes);
      for (; g < end; ++g) {
        int64_t first = g * lanes;
        auto from = MakeFftLines<const T>(first, lines_.count(), lines_.inner * parts_in(), lanes,
                                          [&](int64_t line) { return in + PlaceIn(line); });
        auto to = MakeFftLines<T>(first, lines_.count(), lines_.inner * parts_out(), lanes,
                                  [&](int64_t line) { return out + PlaceOut(line); });
        from.adjacent = to.adjacent =
            from.lanes == lanes && first % lines_.inner + lanes <= lines_.inner;
        loops.load(from, parts_in(), length_in(), x);
        loops.store(TransformGroup(loops, x), parts_out(), length_out(), scale_, to);
      }
    });
  }

  // Numbers that a line needs beside those of its transform.
  int64_t LineRoom() const { return kind_ == Kind::kComplex ? 0 : 2 * n_ + 2; }

  void RunLines(const T* in, T* out) const {
    int64_t room = line_->work() + LineRoom(), count = lines_.count();
    bool inside = omp_in_parallel();
    int64_t workers = inside ? 1 : std::min<int64_t>(omp_get_max_threads(), count);
    BufferRef memory = Buffer::Allocate(static_cast<size_t>(room * workers) * sizeof(T));
    ParallelFor(count, cost_ns() / static_cast<double>(count), [&](int64_t line, int64_t end) {
      T* work = static_cast<T*>(memory->data()) + (inside ? 0 : room * omp_get_thread_num());
      for (; line < end; ++line) {
        const T* from = in + PlaceIn(line);
        T* to = out + PlaceOut(line);
        if (kind_ == Kind::kComplex) {
          line_->Run(from, 2 * lines_.inner, to, 2 * lines_.inner, inverse_, scale_, work);
        } else {
          RunReal(from, to, work + line_->work(), work);
        }
      }
    });
  }

  // `x` is where the line is complex.
  void RunReal(const T* from, T* to, T* x, T* work) const {
    int64_t in_step = lines_.inner * parts_in(), out_step = lines_.inner * parts_out();
    for (int64_t i = 0; i < length_in(); ++i) {
      if (kind_ == Kind::kToReal) {
        x[2 * i] = from[i * in_step], x[2 * i + 1] = from[i * in_step + 1];
      } else if (by_halves_) {
        x[i] = from[i * in_step];
      } else {
        x[2 * i] = from[i * in_step], x[2 * i + 1] = 0;
      }
    }
    if (kind_ == Kind::kToReal) by_halves_ ? TangleLine(roots_.data(), n_, half_, x) : Mirror(x);
    line_->Run(x, 2, x, 2, inverse_, scale_, work);
    if (kind_ == Kind::kFromReal) {
      by_halves_ ? UntangleLine(roots_.data(), n_, half_, x) : Halve(x);
    }
    for (int64_t i = 0; i < length_out(); ++i) {
      if (kind_ == Kind::kFromReal) {
        to[i * out_step] = x[2 * i], to[i * out_step + 1] = x[2 * i + 1];
      } else {
        to[i * out_step] = x[by_halves_ ? i : 2 * i];
      }
    }
  }
  void Halve(T* x) const {
    T inner = static_cast<T>(half_.inner), sign = half_.conjugate ? -inner : inner;
    x[1] = 0;
    for (int64_t i = 1; i <= n_ / 2; ++i) x[2 * i] *= inner, x[2 * i + 1] *= sign;
  }
  void Mirror(T* x) const {
    Halve(x);
    for (int64_t i = 1; i <= n_ / 2; ++i)
      x[2 * (n_ - i)] = x[2 * i], x[2 * (n_ - i) + 1] = -x[2 * i + 1];
  }

  Kind kind_;
  int64_t n_;
  Lines lines_;
  T scale_;
  bool inverse_, by_halves_;
  FftHalf half_;
  std::vector<T> roots_;
  std::unique_ptr<LaneFft<T>> lanes_;
  std::unique_ptr<LineFft<T>> line_;
};

double ScaleOf(const std::string& scale, double count) {
  return scale == "none" ? 1 : scale == "ortho" ? 1 / std::sqrt(count) : 1 / count;
}

// The transforms along all axes, in the order in which they run: real numbers first or last.
template <class T>
std::vector<std::shared_ptr<AxisFft<T>>> MakePlans(const KernelRequest& r) {
  bool from_real = !IsComplex(r.dtype(0)), to_real = !IsComplex(r.out[0].dtype());
  const Shape& whole = from_real ? r.shape(0) : r.out[0].shape();  // with all of each spectrum
  Ints axes = r.attr<Ints>("axes");
  int rank = whole.rank();
  double count = 1;
  for (int64_t axis : axes) count *= static_cast<double>(whole[Wrap(axis, rank)]);
  // Nothing but one axis has half a spectrum, and others run where it has.
  const Shape& halved = to_real ? r.shape(0) : r.out[0].shape();
  std::vector<std::shared_ptr<AxisFft<T>>> plans;
  auto add = [&](size_t i) {
    int axis = Wrap(axes[i], rank);
    bool last = i + 1 == axes.size();
    Kind kind = last && from_real ? Kind::kFromReal
                : last && to_real ? Kind::kToReal
                                  : Kind::kComplex;
    Lines lines{halved.Part(0, axis).size(), halved.Part(axis + 1, rank).size()};
    double scale = plans.empty() ? ScaleOf(r.attr<std::string>("scale"), count) : 1;
    plans.push_back(std::make_shared<AxisFft<T>>(kind, whole[axis], r.attr<bool>("inverse"), scale,
                                                 r.attr<bool>("adjoint"), lines));
  };
  if (!to_real) add(axes.size() - 1);
  for (size_t i = 0; i + 1 < axes.size(); ++i) add(i);
  if (to_real) add(axes.size() - 1);
  return plans;
}

template <class T>
KernelChoice MakeFor(const KernelRequest& r) {
  if (r.out[0].shape().size() == 0) return FunctionKernel([](const KernelArgs&) {}, 0);
  auto plans = MakePlans<T>(r);
  double cost = 0;
  for (const auto& plan : plans) cost += plan->cost_ns();
  // Spectra on their way to real numbers need memory of their own.
  bool apart = !IsComplex(r.out[0].dtype()) && plans.size() > 1;
  size_t bytes = apart ? static_cast<size_t>(plans.back()->numbers_in()) * sizeof(T) : 0;
  return FunctionKernel(
      [plans, apart](const KernelArgs& a) {
        const T* from = static_cast<const T*>(a.in[0]);
        for (const auto& plan : plans) {
          bool on_the_way = apart && plan != plans.back();
          T* to = static_cast<T*>(on_the_way ? a.workspace : a.out[0]);
          plan->Run(from, to);
          from = to;
        }
      },
      cost, bytes);
}

KernelChoice Make(const KernelRequest& r) {
  DType t = r.dtype(0);
  return t == DType::kFloat32 || t == DType::kComplex64 ? MakeFor<float>(r) : MakeFor<double>(r);
}

}  // namespace

void AddFft(KernelTable& table) { table.For("FFT").Try("lanes", Make); }

}  // namespace ms::cpu
