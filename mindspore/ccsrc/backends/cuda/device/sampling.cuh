// Permutations, choices by weights, and numbers of distributions that are drawn until one is
// accepted: those of the host, from device/random.cuh's stream as one of 64-bit numbers.

// Number i: words i % 32 and i % 32 + 32 of group i / 32.
MS_FUNCTION uint64_t WideWord(const Stream& stream, long long i) {
  const Words words = Philox(stream.seed, stream.offset, (uint64_t)(i / 32 * 16 + i % 16));
  const bool odd = i % 32 >= 16;
  return (uint64_t)(odd ? words.at[1] : words.at[0]) << 32 | (odd ? words.at[3] : words.at[2]);
}
// In (0, 1).
MS_FUNCTION double WideUniform(const Stream& stream, long long i) {
  return ((double)(WideWord(stream, i) >> 11) + 0.5) * (1.0 / 9007199254740992.0);
}

// ---- permutations: Fisher and Yates swap element i with one of those from it on, to[i]. Who swaps
// with a place is a list of the numbers i in any order: what is at place p before step i comes from
// the last step before it that swapped with p, which left there what was at its own place.
// Lists end with 0, others are numbers plus 1.
template <class I>
MS_FUNCTION void ListSwaps(Recorded recorded, unsigned* heads, unsigned* next, I* to, Numbers n) {
  const long long size = n.at[2] / 2;
  ForWideWords(recorded, n, [=](uint64_t word, long long i) {
    const long long place = i + (long long)UpperHalf(word, (uint64_t)(size - i));
    to[i] = (I)place;
    next[i] = atomicExch(&heads[place], (unsigned)i + 1);
  });
}
MS_FUNCTION unsigned LastBefore(const unsigned* heads, const unsigned* next, long long place,
                                long long step) {
  unsigned last = 0;
  for (unsigned at = heads[place]; at != 0; at = next[at - 1]) {
    if (at - 1 < step && at > last) last = at;
  }
  return last;
}
// A place is followed back through few steps, as many as the logarithm of the size has.
template <class I>
MS_FUNCTION void FollowSwaps(const unsigned* heads, const unsigned* next, I* to, Numbers n) {
  ForAll(n.at[2] / 2, [&](long long e) {
    long long place = to[e];
    for (unsigned at = LastBefore(heads, next, place, e); at != 0;
         at = LastBefore(heads, next, place, place))
      place = at - 1;
    to[e] = (I)place;
  });
}

// ---- choices by weights: rows of `size` weights, of which `kept` are drawn
MS_FUNCTION unsigned OwnTicket(unsigned found, const Numbers& n) {
  return found == (unsigned)n.at[6] || found == (unsigned)n.fewer ? found : 0;
}
// Reports weights that are none, and rows with too few that are above 0.
template <class M>
MS_FUNCTION void CheckWeights(Fault* fault, const M* weights, long long needed, Numbers n) {
  for (long long row = blockIdx.x; row < n.rows; row += gridDim.x) {
    long long positive = 0;
    for (long long i = threadIdx.x; i < n.size; i += 256) {
      const double weight = (double)Load(weights[row * n.size + i]);
      if (!(weight >= 0) || k_is_inf(weight)) Report(fault, (unsigned)n.at[6], row * n.size + i, 0);
      positive += weight > 0;
    }
    positive = JoinGroup<Sum<int64_t>, 1, 256>(positive);
    if (positive < needed && threadIdx.x == 0)
      Report(fault, (unsigned)n.fewer, needed, positive);
  }
}
// Running sums of each row, by 256 stretches, one of each thread.
template <class M>
MS_FUNCTION void SumWeights(const M* weights, double* sums, Numbers n) {
  __shared__ double stretches[256];
  const long long stretch = (n.size + 255) / 256, begin = threadIdx.x * stretch;
  const long long end = begin + stretch < n.size ? begin + stretch : n.size;
  for (long long row = blockIdx.x; row < n.rows; row += gridDim.x) {
    double sum = 0, before = 0;
    for (long long i = begin; i < end; ++i) sum += (double)Load(weights[row * n.size + i]);
    __syncthreads();  // those of an earlier row have been read
    stretches[threadIdx.x] = sum;
    __syncthreads();
    for (int t = 0; t < (int)threadIdx.x; ++t) before += stretches[t];
    sum = 0;
    for (long long i = begin; i < end; ++i) {
      sum += (double)Load(weights[row * n.size + i]);
      sums[row * n.size + i] = before + sum;
    }
  }
}
// The inverse of the running sum.
template <class M, class I>
MS_FUNCTION void DrawBySums(Recorded recorded, const M* weights, const double* sums, I* out,
                            Numbers n) {
  const Stream stream = StreamOf(recorded, n);
  ForAll(n.rows * n.kept, [&](long long e) {
    const long long row = e / n.kept * n.size;
    const double at = WideUniform(stream, e) * sums[row + n.size - 1];
    long long low = 0, high = n.size;
    while (low < high) {
      const long long middle = low + (high - low) / 2;
      if (sums[row + middle] <= at)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == n.size) --low;
    // Only where rounding met the end of the sum.
    while (low > 0 && !((double)Load(weights[row + low]) > 0)) --low;
    out[e] = (I)low;
  });
}
// Without drawing one twice: the smallest of exponential waiting times, whose rates are the weights.
template <class M>
MS_FUNCTION void SortTimes(Recorded recorded, const M* weights, WideKey* keys, Numbers n) {
  const Stream stream = StreamOf(recorded, n);
  SortTiles(keys, n.rows, n.size, [=](long long row, long long i) {
    const double weight = (double)Load(weights[row * n.size + i]);
    const double time = -::log(WideUniform(stream, row * n.size + i)) / weight;
    const double never = __builtin_nan("");  // above all
    const uint64_t order = OrderOf<double>::Number(weight > 0 ? time : never, uint64_t());
    return MakeKey(order, (uint32_t)i);
  });
}
template <class I>
MS_FUNCTION void TakeFirst(const WideKey* keys, I* out, Numbers n) {
  ForAll(n.rows * n.kept,
         [&](long long e) { out[e] = (I)Origin(keys[e / n.kept * n.size + e % n.kept]); });
}

// ---- what is drawn until it is accepted
// The numbers of one element: those of an attempt lie side by side, those of the next one `size`
// elements further on.
struct Draws {
  Stream stream;
  long long i, size, attempt, place;
  MS_INSIDE double Next() { return WideUniform(stream, (attempt * size + i) * 4 + place++); }
  MS_INSIDE void Again() { ++attempt, place = 0; }
  MS_INSIDE double Last() { return WideUniform(stream, i * 4 + 3); }  // beside all attempts
};
// By G. Marsaglia and W. W. Tsang.
MS_FUNCTION double GammaOf(double shape, Draws& draws) {
  if (!(shape > 0) || k_is_inf(shape)) return shape >= 0 ? shape : __builtin_nan("");
  const double power = shape < 1 ? ::pow(draws.Last(), 1 / shape) : 1;
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / ::sqrt(9 * d);
  for (;; draws.Again()) {
    const double u = draws.Next(), angle = draws.Next() * 2 * 3.14159265358979323846;
    const double w = draws.Next(), x = ::sqrt(-2 * ::log(u)) * ::cos(angle);
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    if (::log(w) < 0.5 * x * x + d - d * v + d * ::log(v)) return d * v * power;
  }
}
// By the running sum of probabilities where the mean is small; else by W. Hoermann.
MS_FUNCTION double PoissonOf(double mean, Draws& draws) {
  if (!(mean >= 0) || k_is_inf(mean)) return mean >= 0 ? mean : __builtin_nan("");
  if (mean < 10) {
    const double u = draws.Next();
    double p = ::exp(-mean), sum = p;
    int k = 0;
    while (u > sum && k < 1000) sum += p *= mean / (double)++k;
    return (double)k;
  }
  const double b = 0.931 + 2.53 * ::sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse = 1.1239 + 1.1328 / (b - 3.4), limit = 0.9277 - 3.6224 / (b - 2);
  for (;; draws.Again()) {
    const double u = draws.Next() - 0.5, v = draws.Next(), us = 0.5 - ::fabs(u);
    const double k = ::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= limit) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double log = ::log(v) + ::log(inverse) - ::log(a / (us * us) + b);
    if (log <= -mean + k * ::log(mean) - ::lgamma(k + 1)) return k;
  }
}
template <class M, class F>
MS_FUNCTION void DrawEach(Recorded recorded, const M* x, M* out, Numbers n, F draw) {
  typedef decltype(Load(M())) R;
  const Stream stream = StreamOf(recorded, n);
  const long long size = n.at[2];
  ForAll(size, [&](long long e) {
    Draws draws{stream, e, size, 0, 0};
    out[e] = Stored<M>::Of((R)draw((double)Load(x[e]), draws));
  });
}
