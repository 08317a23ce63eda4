// Images of another size: each element is a sum of neighbours along up to three axes, which tables
// name together with their weights (ops/resample.h).
struct Numbers {
  long long count;  // elements of the result
  struct {          // the innermost axis first; the last three are places in the table
    long long in, out, first, begin, weights;
  } axis[3];
};

// What an element of the result takes along an axis.
struct Taken {
  long long first, count;
  const long long* weights;  // the bits of doubles
};
MS_FUNCTION Taken TakenAlong(const long long* table, const Numbers& n, int k, long long i) {
  const long long* begin = table + n.axis[k].begin + i;
  return Taken{table[n.axis[k].first + i], begin[1] - begin[0],
               table + n.axis[k].weights + begin[0]};
}
template <class R>
MS_FUNCTION R WeightOf(const Taken& taken, long long i) {
  return (R)__builtin_bit_cast(double, taken.weights[i]);
}

template <class M>
MS_FUNCTION void Resample(const M* x, const long long* table, M* out, const Numbers& n) {
  typedef decltype(Load(M())) R;
  const long long step = (long long)gridDim.x * 256;
  for (long long e = (long long)blockIdx.x * 256 + threadIdx.x; e < n.count; e += step) {
    const Taken columns = TakenAlong(table, n, 0, e % n.axis[0].out);
    long long rest = e / n.axis[0].out;
    const Taken rows = TakenAlong(table, n, 1, rest % n.axis[1].out);
    rest /= n.axis[1].out;
    const Taken layers = TakenAlong(table, n, 2, rest % n.axis[2].out);
    const long long image = rest / n.axis[2].out * n.axis[2].in + layers.first;
    R sum = 0;
    for (long long d = 0; d < layers.count; ++d) {
      R layer = 0;
      for (long long h = 0; h < rows.count; ++h) {
        const M* from = x + (((image + d) * n.axis[1].in + rows.first + h) * n.axis[0].in) +
                        columns.first;
        R row = 0;
        for (long long w = 0; w < columns.count; ++w)
          row = k_add(row, k_mul(Load(from[w]), WeightOf<R>(columns, w)));
        layer = k_add(layer, k_mul(row, WeightOf<R>(rows, h)));
      }
      sum = k_add(sum, k_mul(layer, WeightOf<R>(layers, d)));
    }
    out[e] = Stored<M>::Of(sum);
  }
}
