// Distances between all pairs of points: x is [batch, rows, size], y is [batch, columns, size].
struct Numbers {
  long long batch, rows, columns, size;
};

struct Squares {
  template <class R>
  static MS_INSIDE R Of(R a, R b) {
    return (a - b) * (a - b);
  }
};
struct Sizes {
  template <class R>
  static MS_INSIDE R Of(R a, R b) {
    return k_abs(a - b);
  }
};
// A block has a tile of the pairs, a thread one of them. Coordinates come to shared memory by
// sixteens; zeros beyond the end add nothing.
template <class Part, class M, class R>
MS_FUNCTION void PairSums(const M* x, const M* y, M* out, const Numbers& n) {
  __shared__ R of_x[16][17], of_y[16][17];
  const int i = threadIdx.x / 16, j = threadIdx.x % 16;
  const long long down = (n.rows + 15) / 16, across = (n.columns + 15) / 16;
  for (long long tile = blockIdx.x; tile < n.batch * down * across; tile += gridDim.x) {
    const long long batch = tile / across / down;
    const long long row = tile / across % down * 16, column = tile % across * 16;
    R sum = 0;
    for (long long k = 0; k < n.size; k += 16) {
      const bool inside = k + j < n.size;
      of_x[i][j] = inside && row + i < n.rows
                       ? Load(x[(batch * n.rows + row + i) * n.size + k + j])
                       : 0;
      of_y[i][j] = inside && column + i < n.columns
                       ? Load(y[(batch * n.columns + column + i) * n.size + k + j])
                       : 0;
      __syncthreads();
      for (int p = 0; p < 16; ++p) sum += Part::Of(of_x[i][p], of_y[j][p]);
      __syncthreads();
    }
    if (row + i < n.rows && column + j < n.columns)
      out[(batch * n.rows + row + i) * n.columns + column + j] = Stored<M>::Of(sum);
  }
}

// The gradient of x for sums of sizes: the tangents with the signs of the differences. A thread has
// a coordinate of a point, and all points of y.
template <class M, class R>
MS_FUNCTION void SumSigns(const M* tangents, const M* x, const M* y, M* dx, const Numbers& n) {
  ForAll(n.batch * n.rows * n.size, [&](long long e) {
    const long long row = e / n.size, k = e % n.size;
    const M* other = y + row / n.rows * n.columns * n.size + k;
    const R own = Load(x[e]);
    R sum = 0;
    for (long long j = 0; j < n.columns; ++j) {
      const R at = Load(other[j * n.size]), tangent = Load(tangents[row * n.columns + j]);
      sum += own > at ? tangent : own < at ? -tangent : 0;
    }
    dx[e] = Stored<M>::Of(sum);
  });
}
