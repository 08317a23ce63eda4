// What runs on along an axis: each element is joined with what the elements before it came to. Line
// l of an array [outer, size, inner] is as in order.cuh. A thread has a line, or a block has, whose
// threads join in a fixed order.
struct Numbers {
  long long lines, size, inner;
};

// Kinds of scans: a State of one element, what two of them come to, and what is kept of it.
// Place: of an element, and of the one before it in the order of the scan (-1: none).
struct Place {
  long long at, before, number;
};
template <class M>
struct Arrays {
  const M *x, *factor;
  M* y;
  long long* places;
};
template <class M>
struct Scanned {
  typedef decltype(Load(M())) Element;
  typedef typename TotalOf<Element>::type Wide;
  static MS_INSIDE Wide Read(const M* x, long long at) { return (Wide)Load(x[at]); }
  static MS_INSIDE void Write(M* y, long long at, Wide value) {
    y[at] = Stored<M>::Of((Element)value);
  }
};
template <class M>
struct SumScan : Scanned<M> {
  typedef typename Scanned<M>::Wide State;
  static MS_INSIDE State Nothing() { return 0; }
  static MS_INSIDE State Of(const Arrays<M>& a, Place p) { return Scanned<M>::Read(a.x, p.at); }
  static MS_INSIDE State Join(State a, State b) { return k_add(a, b); }
  static MS_INSIDE void Keep(const Arrays<M>& a, Place p, State s) {
    Scanned<M>::Write(a.y, p.at, s);
  }
};
template <class M>
struct ProdScan : SumScan<M> {
  typedef typename SumScan<M>::State State;
  static MS_INSIDE State Nothing() { return 1; }
  static MS_INSIDE State Join(State a, State b) { return k_mul(a, b); }
};
// y = sum + factor * (what is before).
template <class M, bool kFromSource>
struct LinearScan {
  typedef typename Scanned<M>::Wide Wide;
  struct State {
    Wide sum, factor;
  };
  static MS_INSIDE State Nothing() { return State{0, 1}; }
  static MS_INSIDE State Of(const Arrays<M>& a, Place p) {
    const bool first = p.before < 0;
    return State{Scanned<M>::Read(a.x, p.at),
                 first ? (Wide)0 : Scanned<M>::Read(a.factor, kFromSource ? p.before : p.at)};
  }
  static MS_INSIDE State Join(State a, State b) {
    return State{k_add(b.sum, k_mul(b.factor, a.sum)), k_mul(b.factor, a.factor)};
  }
  static MS_INSIDE void Keep(const Arrays<M>& a, Place p, State s) {
    Scanned<M>::Write(a.y, p.at, s.sum);
  }
};
// The extreme so far and where it was met last; a nan is more extreme than all.
template <class M, bool kLargest>
struct ExtremeScan {
  struct State {
    typename Scanned<M>::Element best;
    long long place;  // -1: of nothing
  };
  static MS_INSIDE State Nothing() { return State{0, -1}; }
  static MS_INSIDE State Of(const Arrays<M>& a, Place p) { return State{Load(a.x[p.at]), p.number}; }
  static MS_INSIDE State Join(State a, State b) {
    if (a.place < 0 || b.place < 0) return a.place < 0 ? b : a;
    const bool is_nan = b.best != b.best, was_nan = a.best != a.best;
    return is_nan || (!was_nan && (kLargest ? b.best >= a.best : b.best <= a.best)) ? b : a;
  }
  static MS_INSIDE void Keep(const Arrays<M>& a, Place p, State s) {
    a.y[p.at] = Stored<M>::Of(s.best);
    a.places[p.at] = s.place;
  }
};
// The logarithm of a sum of exponentials: the largest exponent, and the sum over its own.
template <class M>
struct LogScan {
  struct State {
    double top, sum;
  };
  static MS_INSIDE State Nothing() { return State{-__builtin_huge_val(), 0}; }
  static MS_INSIDE State Of(const Arrays<M>& a, Place p) {
    const double x = (double)Load(a.x[p.at]);
    return State{x, x == -__builtin_huge_val() ? 0.0 : 1.0};
  }
  static MS_INSIDE double Under(State s, double top) {  // infinities have no difference
    return s.top == top ? s.sum : s.sum * ::exp(s.top - top);
  }
  static MS_INSIDE State Join(State a, State b) {
    const double top = k_max(a.top, b.top);
    return State{top, Under(a, top) + Under(b, top)};
  }
  static MS_INSIDE void Keep(const Arrays<M>& a, Place p, State s) {
    Scanned<M>::Write(a.y, p.at, s.sum == 0 ? s.top : s.top + ::log(s.sum));
  }
};

struct Line {
  long long first, step, size;
  MS_INSIDE Place At(long long i) const {
    const long long at = first + i * step;
    return Place{at, i > 0 ? at - step : -1, i};
  }
};
MS_FUNCTION Line LineOf(long long l, bool reverse, const Numbers& n) {
  const long long first = l / n.inner * n.size * n.inner + l % n.inner;
  if (!reverse) return Line{first, n.inner, n.size};
  return Line{first + (n.size - 1) * n.inner, -n.inner, n.size};
}

template <class S, class M>
MS_FUNCTION void ScanByThreads(const Arrays<M>& a, bool exclusive, bool reverse, const Numbers& n) {
  const long long step = (long long)gridDim.x * 256;
  for (long long l = (long long)blockIdx.x * 256 + threadIdx.x; l < n.lines; l += step) {
    const Line line = LineOf(l, reverse, n);
    typename S::State state = S::Nothing();
    for (long long i = 0; i < n.size; ++i) {
      const typename S::State next = S::Join(state, S::Of(a, line.At(i)));
      S::Keep(a, line.At(i), exclusive ? state : next);
      state = next;
    }
  }
}
template <class S, class M>
MS_FUNCTION void ScanByBlocks(const Arrays<M>& a, bool exclusive, bool reverse, const Numbers& n) {
  typedef typename S::State State;
  __shared__ State shared[256];
  const int thread = threadIdx.x;
  for (long long l = blockIdx.x; l < n.lines; l += gridDim.x) {
    const Line line = LineOf(l, reverse, n);
    State before = S::Nothing();  // of all tiles before
    for (long long from = 0; from < n.size; from += 256) {
      const bool here = from + thread < n.size;
      const Place place = line.At(here ? from + thread : 0);
      State mine = here ? S::Of(a, place) : S::Nothing();
      for (int along = 1; along < 256; along *= 2) {
        __syncthreads();  // what was there has been read
        shared[thread] = mine;
        __syncthreads();
        if (thread >= along) mine = S::Join(shared[thread - along], mine);
      }
      __syncthreads();
      shared[thread] = mine;
      __syncthreads();
      const State above = thread > 0 ? S::Join(before, shared[thread - 1]) : before;
      if (here) S::Keep(a, place, exclusive ? above : S::Join(before, mine));
      before = S::Join(before, shared[255]);
    }
  }
}
