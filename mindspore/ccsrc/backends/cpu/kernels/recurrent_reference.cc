// Recurrent layers written plainly, one number after the other: what Float64 runs on, and the truth
// that the vector kernels are tested against.
#include <cmath>
#include <vector>

#include "backends/cpu/kernels/recurrent.h"

namespace ms::cpu {
namespace {

template <class T>
T Logistic(T x) {
  return 1 / (1 + std::exp(-x));
}

template <class T>
struct Layer {
  RecurrentSizes s;
  bool wide = false;

  // An element of a matrix with `blocks` blocks of hidden units in a row.
  template <class P>
  P* At(P* matrix, int64_t step, int64_t row, int blocks, int block = 0) const {
    return matrix + (s.Row(step) + row * s.distance()) * blocks * s.hidden + block * s.hidden;
  }

  void ForwardRow(const KernelArgs& args, int64_t t, int64_t row, std::vector<T>* next) const {
    auto in = [&](size_t i) { return static_cast<const T*>(args.in[i]); };
    auto out = [&](size_t i) { return static_cast<T*>(args.out[i]); };
    const T *weight = in(3), *bias = in(4);
    T* state = out(1) + row * s.hidden;
    bool active = t < SequenceLengths(args.in[5], wide)[row];
    for (int64_t u = 0; u < s.hidden; ++u) {
      T sums[4], x[4];
      for (int g = 0; g < s.gates; ++g) {
        sums[g] = 0;
        const T* w = weight + (g * s.hidden + u) * s.hidden;
        for (int64_t k = 0; k < s.hidden; ++k) sums[g] += w[k] * state[k];
        x[g] = At(in(0), t, row, s.gates, g)[u] + bias[g * s.hidden + u];
      }
      T saved[5] = {};
      T h = 0;
      if (s.mode == RecurrentMode::kLstm) {
        T& cell = out(2)[row * s.hidden + u];
        saved[0] = Logistic(x[0] + sums[0]), saved[1] = Logistic(x[1] + sums[1]);
        saved[2] = std::tanh(x[2] + sums[2]), saved[3] = Logistic(x[3] + sums[3]);
        saved[4] = cell;
        T c = saved[1] * cell + saved[0] * saved[2];
        h = saved[3] * std::tanh(c);
        if (active) cell = c;
      } else if (s.mode == RecurrentMode::kGru) {
        saved[0] = Logistic(x[0] + sums[0]), saved[1] = Logistic(x[1] + sums[1]);
        saved[3] = sums[2] + bias[3 * s.hidden + u];
        saved[2] = std::tanh(x[2] + saved[0] * saved[3]);
        h = saved[2] + saved[1] * (state[u] - saved[2]);
      } else {
        T pre = x[0] + sums[0];
        saved[0] = h = s.mode == RecurrentMode::kTanh ? std::tanh(pre) : pre < 0 ? T{0} : pre;
      }
      for (int b = 0; s.keep && b < s.blocks; ++b) At(out(3), t, row, s.blocks, b)[u] = saved[b];
      if (s.keep) At(out(4), t, row, 1)[u] = state[u];
      (*next)[static_cast<size_t>(u)] = active ? h : state[u];
      At(out(0), t, row, 1)[u] = active ? h : T{0};
    }
    std::copy(next->begin(), next->end(), state);
  }

  void Forward(const KernelArgs& args) const {
    auto in = [&](size_t i) { return static_cast<const T*>(args.in[i]); };
    std::copy_n(in(1), s.batch * s.hidden, static_cast<T*>(args.out[1]));
    if (s.mode == RecurrentMode::kLstm)
      std::copy_n(in(2), s.batch * s.hidden, static_cast<T*>(args.out[2]));
    std::vector<T> next(static_cast<size_t>(s.hidden));
    for (int64_t count = 0; count < s.steps; ++count) {
      for (int64_t row = 0; row < s.batch; ++row) ForwardRow(args, s.Step(count), row, &next);
    }
  }

  // The gradients of one unit; `d` of the input's blocks, `p` of the product's. Returns what the
  // old state gets past the product.
  T UnitBackward(const T* v, T dh, T state, T* dcell, T* d, T* p) const {
    T past = 0;
    if (s.mode == RecurrentMode::kLstm) {
      T bent = std::tanh(v[1] * v[4] + v[0] * v[2]);
      T dc = *dcell + dh * v[3] * (1 - bent * bent);
      d[0] = dc * v[2] * v[0] * (1 - v[0]);
      d[1] = dc * v[4] * v[1] * (1 - v[1]);
      d[2] = dc * v[0] * (1 - v[2] * v[2]);
      d[3] = dh * bent * v[3] * (1 - v[3]);
      *dcell = dc * v[1];
    } else if (s.mode == RecurrentMode::kGru) {
      d[2] = dh * (1 - v[1]) * (1 - v[2] * v[2]);
      d[0] = d[2] * v[3] * v[0] * (1 - v[0]);
      d[1] = dh * (state - v[2]) * v[1] * (1 - v[1]);
      past = dh * v[1];
    } else {
      d[0] = s.mode == RecurrentMode::kTanh ? dh * (1 - v[0] * v[0]) : v[0] > 0 ? dh : T{0};
    }
    std::copy(d, d + s.gates, p);
    if (s.mode == RecurrentMode::kGru) p[2] = d[2] * v[0];
    return past;
  }

  void BackwardRow(const KernelArgs& args, int64_t t, int64_t row, std::vector<T>* next) const {
    auto in = [&](size_t i) { return static_cast<const T*>(args.in[i]); };
    auto out = [&](size_t i) { return static_cast<T*>(args.out[i]); };
    T* dstate = out(2) + row * s.hidden;
    bool active = t < SequenceLengths(args.in[4], wide)[row];
    bool gru = s.mode == RecurrentMode::kGru;
    if (active) std::fill(next->begin(), next->end(), T{0});
    for (int64_t u = 0; u < s.hidden; ++u) {
      T d[4] = {}, p[4] = {}, v[5] = {};
      if (active) {
        for (int b = 0; b < s.blocks; ++b) v[b] = At(in(5), t, row, s.blocks, b)[u];
        T* dcell = s.mode == RecurrentMode::kLstm ? out(3) + row * s.hidden + u : nullptr;
        T dh = dstate[u] + At(in(0), t, row, 1)[u];
        (*next)[static_cast<size_t>(u)] +=
            UnitBackward(v, dh, At(in(6), t, row, 1)[u], dcell, d, p);
      }
      for (int g = 0; g < s.gates; ++g) {
        At(out(0), t, row, s.gates, g)[u] = d[g];
        if (gru) At(out(1), t, row, s.gates, g)[u] = p[g];
        if (!active) continue;
        const T* w = in(3) + (g * s.hidden + u) * s.hidden;
        for (int64_t k = 0; k < s.hidden; ++k) (*next)[static_cast<size_t>(k)] += p[g] * w[k];
      }
    }
    if (active) std::copy(next->begin(), next->end(), dstate);
  }

  void Backward(const KernelArgs& args) const {
    auto in = [&](size_t i) { return static_cast<const T*>(args.in[i]); };
    std::copy_n(in(1), s.batch * s.hidden, static_cast<T*>(args.out[2]));
    if (s.mode == RecurrentMode::kLstm)
      std::copy_n(in(2), s.batch * s.hidden, static_cast<T*>(args.out[3]));
    std::vector<T> next(static_cast<size_t>(s.hidden));
    for (int64_t count = s.steps - 1; count >= 0; --count) {
      for (int64_t row = 0; row < s.batch; ++row) BackwardRow(args, s.Step(count), row, &next);
    }
  }
};

template <class T>
KernelChoice Make(const KernelRequest& r, bool backward) {
  Layer<T> layer{RecurrentSizes(r), r.dtype(backward ? 4 : 5) == DType::kInt64};
  return FunctionKernel(
      [layer, backward](const KernelArgs& args) {
        backward ? layer.Backward(args) : layer.Forward(args);
      },
      layer.s.products());
}

KernelChoice Choose(const KernelRequest& r, bool backward) {
  if (r.dtype(0) == DType::kFloat32) return Make<float>(r, backward);
  if (r.dtype(0) == DType::kFloat64) return Make<double>(r, backward);
  return No("needs Float32 or Float64, got {}", Name(r.dtype(0)));
}

}  // namespace

KernelChoice ReferenceRecurrence(const KernelRequest& r) { return Choose(r, false); }
KernelChoice ReferenceRecurrenceGrad(const KernelRequest& r) { return Choose(r, true); }

}  // namespace ms::cpu
