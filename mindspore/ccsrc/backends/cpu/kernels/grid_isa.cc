// Points are placed a tile at a time: along each axis which two elements they lie between and with
// which weights, then for each corner of the cell. Channels then only gather.
#include "backends/cpu/kernels/grid_loops.h"

#include <algorithm>
#include <cmath>

namespace ms::cpu::MS_ISA {
namespace {

// Of n points: along each axis, of the element before and of the one behind, where it is in the
// plane (-1: outside), its weight, and how that changes with the coordinate.
template <class T>
struct Line {
  T weights[2][kGridTile];
  T slopes[kGridTile];  // of the element behind; that of the one before is its negative
  int32_t at[2][kGridTile];
};

// Thrown back into [low, high] as often as it takes.
template <class T>
void Reflect(T low, T high, int64_t n, T* at, T* slopes) {
  T span = high - low;
  if (span <= 0) {
    std::fill_n(at, n, T{0});
    std::fill_n(slopes, n, T{0});
    return;
  }
  for (int64_t j = 0; j < n; ++j) {
    T beyond = at[j] - low, distance = std::abs(beyond);
    T turns = std::floor(distance / span), rest = distance - turns * span;
    bool even = turns - 2 * std::floor(turns / 2) == 0;
    at[j] = (even ? rest : span - rest) + low;
    slopes[j] = even == (beyond >= 0) ? slopes[j] : -slopes[j];
  }
}

// Coordinate `axis` of points as positions of elements, and how these change with it.
template <class T>
void Positions(const GridPlan& p, int axis, const T* grid, int64_t n, T* at, T* slopes) {
  T size = static_cast<T>(p.sizes[axis]), last = size - 1;
  bool corners = p.rule.align_corners;
  T scale = (corners ? last : size) / 2;
  for (int64_t j = 0; j < n; ++j) {
    T moved = grid[j * p.axes + axis] + 1;
    at[j] = corners ? moved * scale : (moved * size - 1) / 2;
    slopes[j] = scale;
  }
  if (p.rule.padding == GridPadding::kZeros) return;
  if (p.rule.padding == GridPadding::kReflection) {
    Reflect<T>(corners ? T{0} : T{-0.5}, corners ? last : size - T{0.5}, n, at, slopes);
  }
  for (int64_t j = 0; j < n; ++j) {
    T v = at[j];
    slopes[j] = (v > 0) & (v < last) ? slopes[j] : T{0};
    v = v < last ? v : last;  // a nan, too
    at[j] = v > 0 ? v : T{0};
  }
}

template <class T>
void Place(const GridPlan& p, int axis, int64_t step, const T* grid, int64_t n, Line<T>* line) {
  alignas(64) T at[kGridTile];
  Positions(p, axis, grid, n, at, line->slopes);
  T last = static_cast<T>(p.sizes[axis] - 1);
  auto top = static_cast<int32_t>(p.sizes[axis] - 1), stride = static_cast<int32_t>(step);
  bool nearest = p.rule.nearest;
  for (int64_t j = 0; j < n; ++j) {
    T low = nearest ? std::nearbyint(at[j]) : std::floor(at[j]);
    bool near = (low >= -1) & (low <= last);
    T share = near ? at[j] - low : T{0};  // without, a nan would spread from afar
    auto i = static_cast<int32_t>(near ? low : T{-2});
    line->weights[0][j] = nearest ? T{1} : 1 - share;
    line->weights[1][j] = share;
    line->at[0][j] = (i >= 0) & (i <= top) ? i * stride : -1;
    line->at[1][j] = (i >= -1) & (i < top) ? (i + 1) * stride : -1;
  }
}

int Corners(const GridPlan& p) { return p.rule.nearest ? 1 : 1 << p.axes; }

template <class T>
struct Tile {
  Line<T> lines[3];
  T weights[8][kGridTile];
  T sums[8][kGridTile];      // of the gradient of the positions
  int32_t at[8][kGridTile];  // -1: outside

  // The weights of the corners, differentiated by some coordinates.
  void Weigh(const GridPlan& p, unsigned slopes, int64_t n) {
    for (int k = 0, corners = Corners(p); k < corners; ++k) {
      for (int a = 0; a < p.axes; ++a) {
        bool slope = (slopes >> a & 1) != 0, behind = (k >> a & 1) != 0;
        const T* w = slope ? lines[a].slopes : lines[a].weights[behind];
        T sign = slope && !behind ? T{-1} : T{1};
        for (int64_t j = 0; j < n; ++j)
          weights[k][j] = (a == 0 ? sign : weights[k][j] * sign) * w[j];
      }
    }
  }
  void Find(const GridPlan& p, const T* grid, int64_t n) {
    int64_t step = 1;
    for (int a = 0; a < p.axes; step *= p.sizes[a++]) Place(p, a, step, grid, n, &lines[a]);
    for (int k = 0, corners = Corners(p); k < corners; ++k) {
      const int32_t *x = lines[0].at[k & 1], *y = lines[1].at[k >> 1 & 1];
      const int32_t* z = lines[2].at[k >> 2 & 1];
      if (p.axes == 2) {
        for (int64_t j = 0; j < n; ++j) at[k][j] = (x[j] | y[j]) < 0 ? -1 : x[j] + y[j];
      } else {
        for (int64_t j = 0; j < n; ++j)
          at[k][j] = (x[j] | y[j] | z[j]) < 0 ? -1 : x[j] + y[j] + z[j];
      }
    }
  }
};

template <class T>
Tile<T>& Scratch() {
  thread_local Tile<T> tile;
  return tile;
}

// ---- channels: `Planes` of them at a time, which share what is read of the tile
template <class T>
T Read(const T* x, int32_t at) {
  T v = x[std::max(at, 0)];
  return at >= 0 ? v : T{0};
}

struct SampleLoop {
  template <int Corners, int Planes, class T>
  static void Run(const GridPlan& p, const Tile<T>& tile, int64_t n, const T* x, T* y) {
    int64_t plane = p.plane(), points = p.points;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) {
      T sums[Planes] = {};
      for (int k = 0; k < Corners; ++k) {
        T w = tile.weights[k][j];
        int32_t at = tile.at[k][j];
        for (int c = 0; c < Planes; ++c) sums[c] += w * Read(x + c * plane, at);
      }
      for (int c = 0; c < Planes; ++c) y[c * points + j] = sums[c];
    }
  }
};

struct SpreadLoop {
  template <int Corners, int Planes, class T>
  static void Run(const GridPlan& p, const Tile<T>& tile, int64_t n, T* dx, const T* dy) {
    int64_t plane = p.plane(), points = p.points;
    for (int64_t j = 0; j < n; ++j) {
      for (int k = 0; k < Corners; ++k) {
        int32_t at = tile.at[k][j];
        if (at < 0) continue;
        for (int c = 0; c < Planes; ++c)
          dx[c * plane + at] += tile.weights[k][j] * dy[c * points + j];
      }
    }
  }
};

// The tile's sums += dy times each corner.
struct CornersLoop {
  template <int Corners, int Planes, class T>
  static void Run(const GridPlan& p, Tile<T>& tile, int64_t n, const T* x, const T* dy) {
    int64_t plane = p.plane(), points = p.points;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) {
      for (int k = 0; k < Corners; ++k) {
        T sum = tile.sums[k][j];
        int32_t at = tile.at[k][j];
        for (int c = 0; c < Planes; ++c) sum += dy[c * points + j] * Read(x + c * plane, at);
        tile.sums[k][j] = sum;
      }
    }
  }
};

template <class Loop, int Corners, class T, class Image, class Sample>
void ForPlanes(const GridPlan& p, Tile<T>& tile, int64_t n, int64_t channels, Image image,
               Sample sample) {
  constexpr int kPlanes = 4;
  int64_t c = 0;
  for (; c + kPlanes <= channels; c += kPlanes)
    Loop::template Run<Corners, kPlanes>(p, tile, n, image + c * p.plane(), sample + c * p.points);
  for (; c < channels; ++c)
    Loop::template Run<Corners, 1>(p, tile, n, image + c * p.plane(), sample + c * p.points);
}

// For planes of an image and of its samples.
template <class Loop, class T, class Image, class Sample>
void ForChannels(const GridPlan& p, Tile<T>& tile, int64_t n, int64_t channels, Image image,
                 Sample sample) {
  if (p.rule.nearest) return ForPlanes<Loop, 1>(p, tile, n, channels, image, sample);
  if (p.axes == 2) return ForPlanes<Loop, 4>(p, tile, n, channels, image, sample);
  ForPlanes<Loop, 8>(p, tile, n, channels, image, sample);
}

}  // namespace

template <class T>
void SamplePoints(const GridPlan& p, int64_t begin, int64_t end, const T* x, const T* grid, T* y) {
  Tile<T>& tile = Scratch<T>();
  int64_t n = end - begin;
  tile.Find(p, grid + begin * p.axes, n);
  tile.Weigh(p, p.rule.slopes, n);
  ForChannels<SampleLoop>(p, tile, n, p.channels, x, y + begin);
}

template <class T>
void SpreadPoints(const GridPlan& p, int64_t channels, const T* dy, const T* grid, T* dx) {
  Tile<T>& tile = Scratch<T>();
  for (int64_t begin = 0; begin < p.points; begin += kGridTile) {
    int64_t n = std::min(kGridTile, p.points - begin);
    tile.Find(p, grid + begin * p.axes, n);
    tile.Weigh(p, p.rule.slopes, n);
    ForChannels<SpreadLoop>(p, tile, n, channels, dx, dy + begin);
  }
}

template <class T>
void MovePoints(const GridPlan& p, int64_t begin, int64_t end, const T* dy, const T* x,
                const T* grid, T* dgrid) {
  Tile<T>& tile = Scratch<T>();
  int64_t n = end - begin;
  int corners = Corners(p);
  tile.Find(p, grid + begin * p.axes, n);
  for (int k = 0; k < corners; ++k) std::fill_n(tile.sums[k], n, T{0});
  ForChannels<CornersLoop>(p, tile, n, p.channels, x, dy + begin);
  for (int a = 0; a < p.axes; ++a) {
    T* to = dgrid + begin * p.axes + a;
    unsigned own = 1u << a;
    bool constant = (p.rule.slopes & own) != 0;  // along its own axis a slope is
    if (!constant) tile.Weigh(p, p.rule.slopes | own, n);
    for (int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (int k = 0; k < corners && !constant; ++k) sum += tile.weights[k][j] * tile.sums[k][j];
      to[j * p.axes] = sum;
    }
  }
}

#define MS_GRID(T)                                                                          \
  template void SamplePoints<T>(const GridPlan&, int64_t, int64_t, const T*, const T*, T*); \
  template void SpreadPoints<T>(const GridPlan&, int64_t, const T*, const T*, T*);          \
  template void MovePoints<T>(const GridPlan&, int64_t, int64_t, const T*, const T*, const T*, T*);
MS_GRID(float)
MS_GRID(double)
#undef MS_GRID

}  // namespace ms::cpu::MS_ISA
