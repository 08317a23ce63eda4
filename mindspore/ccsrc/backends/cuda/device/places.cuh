// Rows of a table that are read or written at places which are numbers of a tensor. What is written
// is sorted by its place first, so that rows which meet do so in their order: the same bits each
// time. A place that is out of range is reported, and read as the first one.
struct Numbers {
  long long width;   // of sorted runs
  long long rows;    // that are read or written
  long long inner;   // elements of a row
  long long slices;  // rows of the table
  // Rows in blocks of `count`, each with `size` slices, and each `outer` times.
  long long outer, count, size;
  long long low;   // of a place: 0, -size or, where those below zero are left out, the least number
  long long axis;  // that is indexed, of AlongAxis
  long long axes;
  struct {
    long long size, stride, count;
    long long ticket;
  } at[8];
};

// Whether what was found wrong is what this launch found.
MS_FUNCTION unsigned Own(unsigned found, const Numbers& n) {
  for (int k = 0; k < n.axes; ++k) {
    if (found == (unsigned)n.at[k].ticket) return found;
  }
  return 0;
}

// The slice of row r: its coordinates lie in a row of the index. -1: it is left out.
struct ByCoordinates {
  template <class I>
  static MS_INSIDE long long Of(Fault* fault, const I* index, long long r, const Numbers& n) {
    long long slice = r / n.count * n.size;
    for (int k = 0; k < n.axes; ++k) {
      const auto& axis = n.at[k];
      const long long at = index[r * n.axes + k];
      if (at < 0 && n.low < -axis.size) return -1;
      slice += CheckedPosition(fault, (unsigned)axis.ticket, at, n.low, axis.size, r) * axis.stride;
    }
    return slice;
  }
};
// The place of element r: its own coordinates, but for that along an axis.
struct AlongAxis {
  template <class I>
  static MS_INSIDE long long Of(Fault* fault, const I* index, long long r, const Numbers& n) {
    long long rest = r, place = 0;
    for (int k = (int)n.axes - 1; k >= 0; --k) {
      const auto& axis = n.at[k];
      long long at = rest % axis.count;
      if (k == n.axis)
        at = CheckedPosition(fault, (unsigned)axis.ticket, index[r], -axis.size, axis.size, r);
      place += at * axis.stride;
      rest /= axis.count;
    }
    return place;
  }
};

template <class Place, class U, class I>
MS_FUNCTION void ReadRows(Fault* fault, const U* table, const I* index, U* out, const Numbers& n) {
  const long long step = (long long)gridDim.x * 256;
  for (long long e = (long long)blockIdx.x * 256 + threadIdx.x; e < n.rows * n.inner; e += step) {
    out[e] = table[Place::Of(fault, index, e / n.inner, n) * n.inner + e % n.inner];
  }
}

// What is left out comes last.
template <class Place, class I>
MS_FUNCTION void SortPlaces(Fault* fault, const I* index, uint64_t* keys, const Numbers& n) {
  SortTiles(keys, 1, n.rows, [=](long long, long long r) {
    return MakeKey((uint32_t)Place::Of(fault, index, r, n), (uint32_t)r);
  });
}

template <class U>
MS_FUNCTION void FillTable(U* out, U value, const Numbers& n) {
  const long long step = (long long)gridDim.x * 256, count = n.slices * n.outer * n.inner;
  for (long long e = (long long)blockIdx.x * 256 + threadIdx.x; e < count; e += step)
    out[e] = value;
}

#define MS_CHANGE(Name, value)            \
  struct Name {                           \
    template <class R>                    \
    static MS_INSIDE R Of(R y, R x) {     \
      return value;                       \
    }                                     \
  };
MS_CHANGE(Set, x)
MS_CHANGE(Plus, k_add(y, x))
MS_CHANGE(Minus, k_sub(y, x))
MS_CHANGE(Times, k_mul(y, x))
MS_CHANGE(Over, k_div(y, x))
MS_CHANGE(WholeOver, k_trunc_div(y, x))
MS_CHANGE(Larger, k_max(x, y))
MS_CHANGE(Smaller, k_min(x, y))

// Integers are not divided by zero.
template <class M>
MS_FUNCTION void RefuseZeros(Fault* fault, const M* x, unsigned ticket, const Numbers& n) {
  const long long step = (long long)gridDim.x * 256, count = n.rows * n.outer * n.inner;
  for (long long e = (long long)blockIdx.x * 256 + threadIdx.x; e < count; e += step) {
    if (x[e] == 0) Report(fault, ticket, 0, e);
  }
}

// A thread has an element of a place, and all that is written there.
template <class Change, class M>
MS_FUNCTION void WriteRows(const uint64_t* keys, const M* x, M* out, const Numbers& n) {
  const long long step = (long long)gridDim.x * 256, count = n.rows * n.outer * n.inner;
  for (long long e = (long long)blockIdx.x * 256 + threadIdx.x; e < count; e += step) {
    const long long i = e % n.inner, o = e / n.inner % n.outer;
    long long j = e / n.inner / n.outer;
    const uint32_t slice = (uint32_t)(keys[j] >> 32);
    if (slice == ~0u || (j > 0 && (uint32_t)(keys[j - 1] >> 32) == slice)) continue;
    M* to = out + ((slice / n.size * n.outer + o) * n.size + slice % n.size) * n.inner + i;
    auto value = Load(*to);
    for (; j < n.rows && (uint32_t)(keys[j] >> 32) == slice; ++j) {
      const long long r = Origin(keys[j]);
      const long long from = (r / n.count * n.outer + o) * n.count + r % n.count;
      value = Change::Of(value, Load(x[from * n.inner + i]));
    }
    *to = Stored<M>::Of(value);
  }
}
