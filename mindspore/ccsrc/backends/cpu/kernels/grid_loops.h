// Loops over the points of grids at which images are sampled.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"
#include "ops/grid.h"

namespace ms::cpu {

struct GridPlan {
  GridRule rule;
  int axes = 2;
  int64_t sizes[3] = {1, 1, 1};  // of an image along x, y and z
  int64_t channels = 0, points = 0;

  int64_t plane() const { return sizes[0] * sizes[1] * sizes[2]; }
};

constexpr int64_t kGridTile = 512;  // points whose weights are kept at a time

// Of one image x [channels, plane], and of all its points.
MS_DECLARE_ISA(
    // y [channels, points], those of [begin, end), which are at most a tile.
    template <class T> void SamplePoints(const GridPlan& p, int64_t begin, int64_t end, const T* x,
                                         const T* grid, T* y);
    // dx += what each sample of `channels` planes is made of.
    template <class T>
    void SpreadPoints(const GridPlan& p, int64_t channels, const T* dy, const T* grid, T* dx);
    // dgrid [points, axes], those of [begin, end), which are at most a tile.
    template <class T> void MovePoints(const GridPlan& p, int64_t begin, int64_t end, const T* dy,
                                       const T* x, const T* grid, T* dgrid);)

}  // namespace ms::cpu
