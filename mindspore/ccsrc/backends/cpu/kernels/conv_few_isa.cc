// The gradient of a filter over images of one channel: for each row of the filter, a few columns
// of it and a few output channels are summed in registers, one vector of neighbouring pixels each.
#include <algorithm>
#include <vector>

#include "backends/cpu/isa/vectors.h"
#include "backends/cpu/kernels/conv_few.h"

namespace ms::cpu::MS_ISA {
namespace {

constexpr int kSums = 12;  // of what 16 registers hold

// The first n of a vector's floats, zeros behind them: those may be nobody's, or not be numbers.
FloatVector LoadFirst(const float* p, int64_t n) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p);
#else
  float v[kVectorFloats] = {};
  std::copy_n(p, n, v);
  return LoadVector(v);
#endif
}

// One row of pixels: dy of `Outs` channels, `dy_step` apart, by x at `columns`.
template <int Outs, int Columns>
struct Sums {
  FloatVector of[Outs][Columns] = {};

  void AddRow(const float* dy, int64_t dy_step, const float* const* x, int64_t width) {
    int64_t i = 0;
    auto add = [&](auto load) {
      FloatVector d[Outs];
#pragma GCC unroll 4
      for (int o = 0; o < Outs; ++o) d[o] = load(dy + o * dy_step + i);
#pragma GCC unroll 5
      for (int c = 0; c < Columns; ++c) {
        FloatVector v = load(x[c] + i);
#pragma GCC unroll 4
        for (int o = 0; o < Outs; ++o) of[o][c] += d[o] * v;
      }
    };
    for (; i + kVectorFloats <= width; i += kVectorFloats) add(LoadVector);
    if (i < width) add([n = width - i](const float* p) { return LoadFirst(p, n); });
  }
};

// A row of the image in order of what each column of the filter meets: `stride` parts of pixels
// that are so far apart, with zeros where the padding is.
class Row {
 public:
  explicit Row(const Window& w)
      : w_(w), part_((w.out - 1) + (w.kernel - 1) * w.dilation / w.stride + 1) {
    copied_ = w.stride != 1 || w.padded();
    if (copied_) parts_.resize(static_cast<size_t>(part_ * w.stride));
  }
  void Fill(const float* x) {
    x_ = x;
    if (!copied_) return;
    for (int64_t s = 0; s < w_.stride; ++s) {
      float* to = parts_.data() + s * part_;
      for (int64_t i = 0; i < part_; ++i) {
        int64_t at = i * w_.stride + s - w_.pad_before;
        to[i] = at >= 0 && at < w_.size ? x[at] : 0;
      }
    }
  }
  const float* At(int64_t column) const {
    int64_t at = column * w_.dilation;
    return copied_ ? parts_.data() + at % w_.stride * part_ + at / w_.stride : x_ + at;
  }

 private:
  const Window& w_;
  int64_t part_;
  bool copied_;
  const float* x_ = nullptr;
  std::vector<float> parts_;
};

template <int Outs, int Columns>
void Task(const ConvGeometry& g, const FewTask& t, const float* dy, const float* x, float* dw) {
  const Window &h = g.height, &w = g.width;
  int64_t plane = h.out * w.out;
  Sums<Outs, Columns> sums;
  Row row(w);
  for (int64_t n = 0; n < g.batch; ++n) {
    const float* image = x + n * h.size * w.size;
    const float* from = dy + (n * g.out_channels + t.out) * plane;
    for (int64_t i = 0; i < h.out; ++i) {
      int64_t at = i * h.stride + t.row * h.dilation - h.pad_before;
      if (at < 0 || at >= h.size) continue;
      row.Fill(image + at * w.size);
      const float* columns[Columns];
      for (int c = 0; c < Columns; ++c) columns[c] = row.At(t.column + c);
      sums.AddRow(from + i * w.out, plane, columns, w.out);
    }
  }
  for (int o = 0; o < Outs; ++o) {
    for (int c = 0; c < Columns; ++c) {
      float lanes[kVectorFloats], sum = 0;
      StoreVector(lanes, sums.of[o][c]);
      for (float lane : lanes) sum += lane;
      dw[((t.out + o) * h.kernel + t.row) * w.kernel + t.column + c] = sum;
    }
  }
}

// The instance for a number of channels and columns; both grow from 1.
template <int Outs, int Columns>
void Dispatch(const ConvGeometry& g, const FewTask& t, const float* dy, const float* x, float* dw) {
  if constexpr (Columns < kFewColumns) {
    if (t.columns > Columns) return Dispatch<Outs, Columns + 1>(g, t, dy, x, dw);
  }
  if constexpr (Outs < kFewOuts && (Outs + 1) * Columns <= kSums) {
    if (t.outs > Outs) return Dispatch<Outs + 1, Columns>(g, t, dy, x, dw);
  }
  Task<Outs, Columns>(g, t, dy, x, dw);
}

}  // namespace

void FewFilterGrad(const ConvGeometry& g, const FewTask& task, const float* dy, const float* x,
                   float* dw) {
  Dispatch<1, 1>(g, task, dy, x, dw);
}

int FewOuts(int columns) { return std::min(kFewOuts, kSums / columns); }

}  // namespace ms::cpu::MS_ISA
