// One step of recurrent layers: register tiles of rows of the batch by one vector of each gate (or
// four vectors of the state's gradient), and the functions of the gates on what the tile leaves.
#include <algorithm>
#include <cstring>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#include "backends/cpu/isa/vector_functions.h"
#include "backends/cpu/isa/vector_math.h"
#include "backends/cpu/isa/vectors.h"
#include "backends/cpu/kernels/recurrent_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

// The rows of a tile of four vectors that the registers hold, and a fused a * b + c.
#if defined(__AVX512F__)
constexpr int kRows = 7;
inline FloatVector MultiplyAdd(float a, FloatVector b, FloatVector c) {
  return _mm512_fmadd_ps(_mm512_set1_ps(a), b, c);
}
#elif defined(__AVX2__)
constexpr int kRows = 3;
inline FloatVector MultiplyAdd(float a, FloatVector b, FloatVector c) {
  return _mm256_fmadd_ps(_mm256_set1_ps(a), b, c);
}
#else
constexpr int kRows = 2;
inline FloatVector MultiplyAdd(float a, FloatVector b, FloatVector c) { return a * b + c; }
#endif
constexpr int64_t kLanes = kVectorFloats;
constexpr int kColumnVectors = 4;  // of a backward block

// sums[R, N vectors] = a[R, depth] * packed[depth, N vectors].
template <int R, int N>
void Tile(const float* a, int64_t distance, int64_t depth, const float* packed, float* sums) {
  FloatVector acc[R][N] = {};
  for (int64_t k = 0; k < depth; ++k) {
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) {
      FloatVector b = LoadVector(packed + (k * N + n) * kLanes);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) acc[r][n] = MultiplyAdd(a[r * distance + k], b, acc[r][n]);
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int n = 0; n < N; ++n) StoreVector(sums + (r * N + n) * kLanes, acc[r][n]);
  }
}

using TileFunction = void (*)(const float*, int64_t, int64_t, const float*, float*);

template <int N>
TileFunction TileOf(int64_t rows) {
  switch (rows) {
    case 1:
      return Tile<1, N>;
    case 2:
      return Tile<2, N>;
#if defined(__AVX2__)
    case 3:
      return Tile<3, N>;
#endif
#if defined(__AVX512F__)
    case 4:
      return Tile<4, N>;
    case 5:
      return Tile<5, N>;
    case 6:
      return Tile<6, N>;
    case 7:
      return Tile<7, N>;
#endif
    default:
      return nullptr;
  }
}

// Calls done(row, its N vectors) for all rows, in tiles of nearly equal height.
template <int N, class F>
void EachRow(const float* a, int64_t distance, int64_t rows, int64_t depth, const float* packed,
             F&& done) {
  alignas(64) float sums[kRows * N * kLanes];
  int64_t tiles = (rows + kRows - 1) / kRows;
  for (int64_t i = 0; i < tiles; ++i) {
    int64_t first = rows * i / tiles;
    int64_t count = rows * (i + 1) / tiles - first;
    TileOf<N>(count)(a + first * distance, distance, depth, packed, sums);
    for (int64_t r = 0; r < count; ++r) done(first + r, sums + r * N * kLanes);
  }
}

// A vector's worth of values on their way between memory and the functions of the gates.
struct Lanes {
  alignas(64) float v[kLanes];
  float& operator[](int64_t i) { return v[i]; }
  float operator[](int64_t i) const { return v[i]; }
};

Lanes Read(const float* p, int64_t n) {
  Lanes x;
  if (n == kLanes) {
    std::memcpy(x.v, p, sizeof(x.v));
    return x;
  }
  for (int64_t l = 0; l < kLanes; ++l) x[l] = l < n ? p[l] : 0;
  return x;
}

void Write(float* p, const Lanes& x, int64_t n) {
  if (n == kLanes) {
    std::memcpy(p, x.v, sizeof(x.v));
  } else {
    std::copy(x.v, x.v + n, p);
  }
}

template <class F>
Lanes Each(F&& f) {
  Lanes y;
#pragma GCC ivdep
  for (int64_t l = 0; l < kLanes; ++l) y[l] = f(l);
  return y;
}

// ---- forward
// Units [unit, unit + n) of one row; `sums` holds the product with the state, gate by gate.
struct Place {
  int64_t row, unit, n;
};

template <RecurrentMode mode>
Lanes NewState(const RecurrentStep& s, const Place& at, const float* sums) {
  constexpr int kGates = RecurrentGates(mode);
  const float* x = s.from_x + at.row * s.distance * kGates * s.hidden + at.unit;
  float* saved =
      s.saved ? s.saved + at.row * s.distance * RecurrentSaved(mode) * s.hidden : nullptr;
  auto keep = [&](int block, const Lanes& v) {
    if (saved) Write(saved + block * s.hidden + at.unit, v, at.n);
  };
  auto gate = [&](int g) {
    Lanes a = Read(x + g * s.hidden, at.n), b = Read(s.bias + g * s.hidden + at.unit, at.n);
    return Each([&](int64_t l) { return a[l] + b[l] + sums[g * kLanes + l]; });
  };
  auto sigmoid = [](const Lanes& v) {
    Lanes y;
    StoreVector(y.v, loops::math::Sigmoid(Reals(LoadVector(v.v))).v);
    return y;
  };
  auto tanh = [](const Lanes& v) { return Each([&](int64_t l) { return Tanh(v[l]); }); };
  if constexpr (mode == RecurrentMode::kLstm) {
    float* cell = s.cells + at.row * s.hidden + at.unit;
    Lanes before = Read(cell, at.n);
    Lanes in = sigmoid(gate(0)), forget = sigmoid(gate(1));
    Lanes fresh = tanh(gate(2)), out = sigmoid(gate(3));
    Lanes c = Each([&](int64_t l) { return forget[l] * before[l] + in[l] * fresh[l]; });
    Lanes bent = tanh(c);
    keep(0, in), keep(1, forget), keep(2, fresh), keep(3, out), keep(4, before);
    if (s.active[at.row]) Write(cell, c, at.n);
    return Each([&](int64_t l) { return out[l] * bent[l]; });
  } else if constexpr (mode == RecurrentMode::kGru) {
    Lanes state = Read(s.state + at.row * s.hidden + at.unit, at.n);
    Lanes reset = sigmoid(gate(0)), update = sigmoid(gate(1));
    Lanes bias = Read(s.bias + 3 * s.hidden + at.unit, at.n);
    Lanes from_h = Each([&](int64_t l) { return sums[2 * kLanes + l] + bias[l]; });
    Lanes a = Read(x + 2 * s.hidden, at.n), b = Read(s.bias + 2 * s.hidden + at.unit, at.n);
    Lanes fresh = tanh(Each([&](int64_t l) { return a[l] + b[l] + reset[l] * from_h[l]; }));
    keep(0, reset), keep(1, update), keep(2, fresh), keep(3, from_h);
    return Each([&](int64_t l) { return fresh[l] + update[l] * (state[l] - fresh[l]); });
  } else {
    Lanes pre = gate(0);
    Lanes h = mode == RecurrentMode::kTanh
                  ? tanh(pre)
                  : Each([&](int64_t l) { return pre[l] > 0 || pre[l] != pre[l] ? pre[l] : 0; });
    keep(0, h);
    return h;
  }
}

template <RecurrentMode mode>
void Forward(const RecurrentStep& s, int64_t block, const float* packed) {
  int64_t unit = block * kLanes;
  int64_t n = std::min(kLanes, s.hidden - unit);
  EachRow<RecurrentGates(mode)>(s.state, s.hidden, s.batch, s.hidden, packed,
                                [&](int64_t row, const float* sums) {
                                  Place at{row, unit, n};
                                  Lanes h = NewState<mode>(s, at, sums);
                                  int64_t dense = row * s.hidden + unit;
                                  int64_t spread = row * s.distance * s.hidden + unit;
                                  Lanes old = Read(s.state + dense, n);
                                  if (s.before) Write(s.before + spread, old, n);
                                  Write(s.new_state + dense, s.active[row] ? h : old, n);
                                  Write(s.output + spread, s.active[row] ? h : Lanes{}, n);
                                });
}

// ---- backward
template <RecurrentMode mode>
void BackwardRow(const RecurrentStep& s, const Place& at) {
  constexpr int kGates = RecurrentGates(mode);
  int64_t dense = at.row * s.hidden + at.unit;
  int64_t spread = at.row * s.distance;
  float* dx = s.dfrom_x + spread * kGates * s.hidden + at.unit;
  float* dproduct = s.dproduct ? s.dproduct + spread * kGates * s.hidden + at.unit : nullptr;
  if (!s.active[at.row]) {  // the state passed through; the output was zero
    for (int g = 0; g < kGates; ++g) {
      Write(dx + g * s.hidden, Lanes{}, at.n);
      if (dproduct) Write(dproduct + g * s.hidden, Lanes{}, at.n);
    }
    return;
  }
  const float* kept = s.kept + spread * RecurrentSaved(mode) * s.hidden + at.unit;
  auto saved = [&](int block) { return Read(kept + block * s.hidden, at.n); };
  Lanes dout = Read(s.dout + spread * s.hidden + at.unit, at.n),
        passed = Read(s.dstate + dense, at.n);
  Lanes dh = Each([&](int64_t l) { return dout[l] + passed[l]; });
  auto put = [&](int g, const Lanes& v) { Write(dx + g * s.hidden, v, at.n); };
  if constexpr (mode == RecurrentMode::kLstm) {
    Lanes in = saved(0), forget = saved(1), fresh = saved(2), out = saved(3), before = saved(4);
    Lanes bent = Each([&](int64_t l) { return Tanh(forget[l] * before[l] + in[l] * fresh[l]); });
    Lanes dc = Read(s.dcells + dense, at.n);
    dc = Each([&](int64_t l) { return dc[l] + dh[l] * out[l] * (1 - bent[l] * bent[l]); });
    put(0, Each([&](int64_t l) { return dc[l] * fresh[l] * in[l] * (1 - in[l]); }));
    put(1, Each([&](int64_t l) { return dc[l] * before[l] * forget[l] * (1 - forget[l]); }));
    put(2, Each([&](int64_t l) { return dc[l] * in[l] * (1 - fresh[l] * fresh[l]); }));
    put(3, Each([&](int64_t l) { return dh[l] * bent[l] * out[l] * (1 - out[l]); }));
    Write(s.dcells + dense, Each([&](int64_t l) { return dc[l] * forget[l]; }), at.n);
    Write(s.dstate + dense, Lanes{}, at.n);
  } else if constexpr (mode == RecurrentMode::kGru) {
    Lanes reset = saved(0), update = saved(1), fresh = saved(2), from_h = saved(3);
    Lanes state = Read(s.kept_before + spread * s.hidden + at.unit, at.n);
    Lanes dfresh =
        Each([&](int64_t l) { return dh[l] * (1 - update[l]) * (1 - fresh[l] * fresh[l]); });
    Lanes dreset =
        Each([&](int64_t l) { return dfresh[l] * from_h[l] * reset[l] * (1 - reset[l]); });
    Lanes dupdate = Each(
        [&](int64_t l) { return dh[l] * (state[l] - fresh[l]) * update[l] * (1 - update[l]); });
    put(0, dreset), put(1, dupdate), put(2, dfresh);
    Write(dproduct, dreset, at.n);
    Write(dproduct + s.hidden, dupdate, at.n);
    Write(dproduct + 2 * s.hidden, Each([&](int64_t l) { return dfresh[l] * reset[l]; }), at.n);
    Write(s.dstate + dense, Each([&](int64_t l) { return dh[l] * update[l]; }), at.n);
  } else {
    Lanes h = saved(0);
    put(0, Each([&](int64_t l) {
          return mode == RecurrentMode::kTanh ? dh[l] * (1 - h[l] * h[l]) : h[l] > 0 ? dh[l] : 0;
        }));
    Write(s.dstate + dense, Lanes{}, at.n);
  }
}

template <RecurrentMode mode>
void Backward(const RecurrentStep& s, int64_t block) {
  int64_t first = block * kColumnVectors * kLanes;
  int64_t last = std::min(s.hidden, first + kColumnVectors * kLanes);
  for (int64_t row = 0; row < s.batch; ++row) {
    for (int64_t unit = first; unit < last; unit += kLanes) {
      BackwardRow<mode>(s, {row, unit, std::min(kLanes, last - unit)});
    }
  }
}

}  // namespace

int64_t RecurrentUnits(bool backward) { return backward ? kColumnVectors * kLanes : kLanes; }

void PackRecurrent(const float* weight, int64_t hidden, int gates, bool backward, int64_t block,
                   float* packed) {
  int64_t units = RecurrentUnits(backward);
  int64_t first = block * units;
  int64_t count = std::min(units, hidden - first);
  int64_t depth = backward ? gates * hidden : hidden;
  int64_t width = backward ? units : gates * units;
  std::fill(packed, packed + depth * width, 0.0f);
  if (backward) {
    for (int64_t k = 0; k < depth; ++k) {
      std::copy_n(weight + k * hidden + first, count, packed + k * width);
    }
    return;
  }
  for (int64_t g = 0; g < gates; ++g) {
    for (int64_t l = 0; l < count; ++l) {
      const float* row = weight + (g * hidden + first + l) * hidden;
      for (int64_t k = 0; k < depth; ++k) packed[k * width + g * units + l] = row[k];
    }
  }
}

void RecurrentForward(RecurrentMode mode, const RecurrentStep& step, int64_t block,
                      const float* packed) {
  switch (mode) {
    case RecurrentMode::kLstm:
      return Forward<RecurrentMode::kLstm>(step, block, packed);
    case RecurrentMode::kGru:
      return Forward<RecurrentMode::kGru>(step, block, packed);
    case RecurrentMode::kTanh:
      return Forward<RecurrentMode::kTanh>(step, block, packed);
    case RecurrentMode::kRelu:
      return Forward<RecurrentMode::kRelu>(step, block, packed);
  }
}

void RecurrentBackwardProduct(const RecurrentStep& step, int gates, const float* dproduct,
                              int64_t block, const float* packed) {
  int64_t first = block * RecurrentUnits(true);
  int64_t count = std::min(RecurrentUnits(true), step.hidden - first);
  int64_t depth = gates * step.hidden;
  EachRow<kColumnVectors>(dproduct, step.distance * depth, step.batch, depth, packed,
                          [&](int64_t row, const float* sums) {
                            float* to = step.dstate + row * step.hidden + first;
#pragma GCC ivdep
                            for (int64_t i = 0; i < count; ++i) to[i] += sums[i];
                          });
}

void RecurrentBackward(RecurrentMode mode, const RecurrentStep& step, int64_t block) {
  switch (mode) {
    case RecurrentMode::kLstm:
      return Backward<RecurrentMode::kLstm>(step, block);
    case RecurrentMode::kGru:
      return Backward<RecurrentMode::kGru>(step, block);
    case RecurrentMode::kTanh:
      return Backward<RecurrentMode::kTanh>(step, block);
    case RecurrentMode::kRelu:
      return Backward<RecurrentMode::kRelu>(step, block);
  }
}

}  // namespace ms::cpu::MS_ISA
