// Rows along an axis, in order, and where their extremes are. Row r of an array [outer, size,
// inner] begins at FirstOf(r), and its elements are `inner` apart.
struct Numbers {
  long long rows, size, inner, kept, width;  // kept: elements of a row of the results
};
MS_FUNCTION long long FirstOf(long long row, long long size, long long inner) {
  return row / inner * size * inner + row % inner;
}

template <class Key, class Order, class M>
MS_FUNCTION void SortElements(const M* x, Key* keys, bool descending, Numbers n) {
  typedef OrderOf<decltype(Load(M()))> Of;
  SortTiles(keys, n.rows, n.size, [=](long long row, long long i) {
    const Order order = Of::Number(Load(x[FirstOf(row, n.size, n.inner) + i * n.inner]), Order());
    return MakeKey((Order)(descending ? ~order : order), (uint32_t)i);
  });
}
// The first elements of each sorted row, and where they were.
template <class Key, class M>
MS_FUNCTION void TakeSorted(const Key* keys, const M* x, M* values, int32_t* places, Numbers n) {
  const long long step = (long long)gridDim.x * 256, count = n.rows * n.kept;
  for (long long e = (long long)blockIdx.x * 256 + threadIdx.x; e < count; e += step) {
    const long long i = e / n.inner % n.kept;
    const long long row = e / (n.inner * n.kept) * n.inner + e % n.inner;
    const uint32_t at = Origin(keys[row * n.size + i]);
    values[e] = x[FirstOf(row, n.size, n.inner) + at * n.inner];
    places[e] = (int32_t)at;
  }
}

// The first one of the largest, or smallest, elements; a nan is more extreme than all.
template <class Order, class M>
struct Extreme {
  Order best = 0;
  long long at = -1;
  MS_INSIDE void Take(M element, long long i, bool largest) {
    const auto x = Load(element);
    Order order = OrderOf<decltype(Load(M()))>::Number(x, Order());
    if (!largest && x == x) order = (Order)~order;
    if (at >= 0 && order <= best) return;
    best = order;
    at = i;
  }
};
// A thread has a row, or a block has.
template <class Order, class M, class I>
MS_FUNCTION void FindByThreads(const M* x, I* places, M* values, bool largest, Numbers n) {
  const long long step = (long long)gridDim.x * 256;
  for (long long row = (long long)blockIdx.x * 256 + threadIdx.x; row < n.rows; row += step) {
    const M* first = x + FirstOf(row, n.size, n.inner);
    Extreme<Order, M> extreme;
    for (long long i = 0; i < n.size; ++i) extreme.Take(first[i * n.inner], i, largest);
    places[row] = (I)extreme.at;
    if (values) values[row] = first[extreme.at * n.inner];
  }
}
template <class Order, class M, class I>
MS_FUNCTION void FindByBlocks(const M* x, I* places, M* values, bool largest, Numbers n) {
  for (long long row = blockIdx.x; row < n.rows; row += gridDim.x) {
    const M* first = x + FirstOf(row, n.size, n.inner);
    Extreme<Order, M> mine;
    for (long long i = threadIdx.x; i < n.size; i += 256) mine.Take(first[i * n.inner], i, largest);
    const Order best = JoinGroup<Max<Order>, 1, 256>(mine.best);
    const bool is_best = mine.at >= 0 && mine.best == best;
    const long long at = JoinGroup<Min<int64_t>, 1, 256>(is_best ? mine.at : n.size);
    if (threadIdx.x != 0) continue;
    places[row] = (I)at;
    if (values) values[row] = first[at * n.inner];
  }
}

// How many elements of a sorted row are below a value, or not above it. Rows of the values have
// `kept` elements, and there is one sorted row for each of them or for all.
template <class M, class I>
MS_FUNCTION void CountBelow(const M* sorted, const M* values, I* out, bool one_row, bool right,
                            Numbers n) {
  const long long step = (long long)gridDim.x * 256, count = n.rows * n.kept;
  for (long long e = (long long)blockIdx.x * 256 + threadIdx.x; e < count; e += step) {
    const M* row = sorted + (one_row ? 0 : e / n.kept * n.size);
    const auto value = Load(values[e]);
    long long low = 0, high = n.size;
    while (low < high) {
      const long long middle = low + (high - low) / 2;
      const auto here = Load(row[middle]);
      if (right ? !(here > value) : !(here >= value))  // a nan is above all
        low = middle + 1;
      else
        high = middle;
    }
    out[e] = (I)low;
  }
}
