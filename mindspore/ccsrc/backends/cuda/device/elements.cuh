// Elements that depend on where they are: a thread has an element of the result.
struct Numbers {
  long long count;      // elements of the result
  long long around[2];  // what is around a tensor, as it lies in memory; or two doubles
  long long first;      // element that the origin of all axes comes from
  long long axes;
  struct {  // of the result, and of what is mapped to it from `before` on
    long long size, inside, before, stride;
  } at[8];
};

template <class F>
MS_FUNCTION void ForElements(const Numbers& n, F body) {
  const long long step = (long long)gridDim.x * 256;
  for (long long e = (long long)blockIdx.x * 256 + threadIdx.x; e < n.count; e += step) body(e);
}
template <class U>
struct FromWords {
  static MS_INSIDE U Of(const long long* words) { return (U)words[0]; }
};
template <>
struct FromWords<Unit16> {
  static MS_INSIDE Unit16 Of(const long long* words) {
    return Unit16{{(uint64_t)words[0], (uint64_t)words[1]}};
  }
};

// Where place i, which is outside of [0, size), comes from; -1: from nowhere.
struct Constant {
  static MS_INSIDE long long Of(long long, long long) { return -1; }
};
struct Edge {
  static MS_INSIDE long long Of(long long i, long long size) { return i < 0 ? 0 : size - 1; }
};
struct Circular {
  static MS_INSIDE long long Of(long long i, long long size) {
    return (i % size + size) % size;
  }
};
struct Reflect {
  static MS_INSIDE long long Of(long long i, long long size) {
    return i < 0 ? -i : 2 * (size - 1) - i;
  }
};
struct Symmetric {
  static MS_INSIDE long long Of(long long i, long long size) {
    return i < 0 ? -i - 1 : 2 * size - 1 - i;
  }
};
template <class Outside, class U>
MS_FUNCTION void MapAxes(const U* x, U* out, const Numbers& n) {
  ForElements(n, [&](long long e) {
    long long rest = e, from = n.first;
    bool is_there = true;
    for (int k = 0; k < n.axes; ++k) {
      const auto& axis = n.at[k];
      long long i = rest % axis.size - axis.before;
      if (i < 0 || i >= axis.inside) i = Outside::Of(i, axis.inside);
      is_there = is_there && i >= 0;
      from += i * axis.stride;
      rest /= axis.size;
    }
    out[e] = is_there ? x[from] : FromWords<U>::Of(n.around);
  });
}

// The gradient of a mapping: what came from an element is added in the order of its places. Of each
// axis `inside` says where in the table the first place of each element is, `before` where the
// places are, and `stride` is that of what is added.
template <class M>
MS_FUNCTION void AddPlaces(const M* dy, const long long* table, M* dx, const Numbers& n) {
  ForElements(n, [&](long long e) {
    long long rest = e, first[8], end[8], at[8];
    for (int k = 0; k < n.axes; ++k) {
      const long long* begin = table + n.at[k].inside + rest % n.at[k].size;
      first[k] = at[k] = begin[0];
      end[k] = begin[1];
      rest /= n.at[k].size;
    }
    decltype(Load(M())) sum = 0;
    for (int k = 0; k < n.axes;) {
      long long from = 0;
      for (int i = 0; i < n.axes; ++i) from += table[n.at[i].before + at[i]] * n.at[i].stride;
      sum = k_add(sum, Load(dy[from]));
      for (k = 0; k < n.axes && ++at[k] == end[k]; ++k) at[k] = first[k];
    }
    dx[e] = Stored<M>::Of(sum);
  });
}

// Of matrices with the sizes of the axes: those on or below a diagonal, or on or above it.
template <class U>
MS_FUNCTION void Triangle(const U* x, U* out, bool lower, long long diagonal, const Numbers& n) {
  ForElements(n, [&](long long e) {
    const long long column = e % n.at[0].size, row = e / n.at[0].size % n.at[1].size;
    const bool kept = lower ? column - row <= diagonal : column - row >= diagonal;
    out[e] = kept ? x[e] : U();
  });
}
// On the main diagonal x, or the same everywhere where that is null.
template <class U>
MS_FUNCTION void Diagonal(const U* x, U* out, const Numbers& n) {
  ForElements(n, [&](long long e) {
    const long long row = e / n.at[0].size;
    const bool is_on = e % n.at[0].size == row;
    out[e] = !is_on ? U() : x ? x[row] : FromWords<U>::Of(n.around);
  });
}
template <class U, class I>
MS_FUNCTION void OneHot(const I* indices, const U* on, const U* off, U* out, const Numbers& n) {
  const long long inner = n.at[0].size, depth = n.at[1].size;
  ForElements(n, [&](long long e) {
    const long long at = (long long)indices[e / (inner * depth) * inner + e % inner];
    out[e] = at == e / inner % depth ? on[0] : off[0];
  });
}
template <class M>
MS_FUNCTION void Progress(M* out, double start, double step, const Numbers& n) {
  typedef decltype(Load(M())) R;
  ForElements(n, [&](long long e) {
    out[e] = Stored<M>::Of(CastTo<R>::Of(start + (double)e * step));
  });
}
// Between two numbers, both of which are met.
template <class M>
MS_FUNCTION void Between(const M* start, const M* stop, M* out, const Numbers& n) {
  const double first = (double)Load(start[0]), last = (double)Load(stop[0]);
  Progress(out, first, n.count > 1 ? (last - first) / (double)(n.count - 1) : 0.0, n);
  ForElements(n, [&](long long e) {
    if (e == n.count - 1 && e > 0) out[e] = stop[0];
  });
}
