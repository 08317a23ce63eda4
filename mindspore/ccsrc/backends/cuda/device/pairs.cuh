// Sums over all pairs of a row and a column: of products, or of how far their elements are apart.
struct Numbers {
  long long batch, rows, columns, size;
  struct {
    long long next, step;  // from one row or column to the next, and along it
  } x, y;
  struct {
    long long count, x, y;  // sizes and steps of the dimensions before, where any are
  } lead[6];
};

struct Products {
  template <class R>
  static MS_INSIDE R Of(R a, R b) {
    return k_mul(a, b);
  }
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
// A block has a tile of the pairs, a thread one of them. Elements come to shared memory by sixteens;
// zeros beyond the end add nothing.
template <class Part, class R, class M, class O>
MS_FUNCTION void PairSums(const M* x, const M* y, O* out, const Numbers& n) {
  __shared__ R of_x[16][17], of_y[16][17];
  const int i = threadIdx.x / 16, j = threadIdx.x % 16;
  const long long down = (n.rows + 15) / 16, across = (n.columns + 15) / 16;
  for (long long tile = blockIdx.x; tile < n.batch * down * across; tile += gridDim.x) {
    const long long batch = tile / across / down;
    const long long row = tile / across % down * 16, column = tile % across * 16;
    const M *from_x = x + (row + i) * n.x.next, *from_y = y + (column + i) * n.y.next;
    long long rest = batch;
    for (int a = 5; a >= 0; rest /= n.lead[a--].count) {
      from_x += rest % n.lead[a].count * n.lead[a].x;
      from_y += rest % n.lead[a].count * n.lead[a].y;
    }
    R sum = 0;
    for (long long k = 0; k < n.size; k += 16) {
      const bool inside = k + j < n.size;
      of_x[i][j] = inside && row + i < n.rows ? (R)Load(from_x[(k + j) * n.x.step]) : (R)0;
      of_y[i][j] = inside && column + i < n.columns ? (R)Load(from_y[(k + j) * n.y.step]) : (R)0;
      __syncthreads();
      for (int p = 0; p < 16; ++p) sum = k_add(sum, Part::Of(of_x[i][p], of_y[j][p]));
      __syncthreads();
    }
    if (row + i < n.rows && column + j < n.columns)
      out[(batch * n.rows + row + i) * n.columns + column + j] = Stored<O>::Of(sum);
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
