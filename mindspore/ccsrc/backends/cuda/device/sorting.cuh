// Rows of keys in order. A key is an unsigned number, in the order of what is sorted, with the
// place that it came from below: no two keys of a row are equal, and equal elements stay in their
// order. Two sorted runs are merged by counting: a key goes as far behind its neighbours of one run
// as there are smaller keys in the other one.
struct WideKey {
  uint64_t order;
  uint32_t at;
};
MS_FUNCTION bool Before(uint64_t a, uint64_t b) { return a < b; }
MS_FUNCTION bool Before(WideKey a, WideKey b) {
  return a.order != b.order ? a.order < b.order : a.at < b.at;
}
MS_FUNCTION uint64_t MakeKey(uint32_t order, uint32_t at) { return (uint64_t)order << 32 | at; }
MS_FUNCTION WideKey MakeKey(uint64_t order, uint32_t at) { return WideKey{order, at}; }
MS_FUNCTION uint32_t Origin(uint64_t key) { return (uint32_t)key; }
MS_FUNCTION uint32_t Origin(WideKey key) { return key.at; }

// Elements as unsigned numbers: a nan is above all, zeros are equal.
template <class T>
struct OrderOf {
  static constexpr bool kWide = sizeof(T) == 8, kSigned = (T)-1 < (T)0;
  static MS_INSIDE uint32_t Number(T x, uint32_t) {
    return (uint32_t)x ^ (kSigned ? 0x80000000u : 0u);
  }
  static MS_INSIDE uint64_t Number(T x, uint64_t) { return (uint64_t)x ^ (kSigned ? 1ull << 63 : 0); }
};
template <>
struct OrderOf<float> {
  static constexpr bool kWide = false;
  static MS_INSIDE uint32_t Number(float x, uint32_t) {
    const uint32_t bits = (uint32_t)FloatToBits(x + 0.0f);  // -0 becomes 0
    return x != x ? ~0u : bits >> 31 ? ~bits : bits | 0x80000000u;
  }
};
template <>
struct OrderOf<double> {
  static constexpr bool kWide = true;
  static MS_INSIDE uint64_t Number(double x, uint64_t) {
    const uint64_t bits = __builtin_bit_cast(uint64_t, x + 0.0);
    return x != x ? ~0ull : bits >> 63 ? ~bits : bits | 1ull << 63;
  }
};

// How many keys of a run come before one.
template <class Key>
MS_FUNCTION long long CountBefore(const Key* run, long long count, Key key) {
  long long low = 0;
  while (low < count) {
    const long long middle = low + (count - low) / 2;
    if (Before(run[middle], key))
      low = middle + 1;
    else
      count = middle;
  }
  return low;
}
// Where key i of a row goes when runs of `width` are merged by twos.
template <class Key>
MS_FUNCTION long long MergedPlace(const Key* row, long long size, long long width, long long i) {
  const long long run = i / width, pair = run / 2 * 2 * width;
  long long first = (run ^ 1) * width, end = first + width;
  if (first > size) first = size;
  if (end > size) end = size;
  return pair + i % width + CountBefore(row + first, end - first, row[i]);
}

const int kTile = 1024;  // keys that a block sorts, four of each thread
// Sorts `count` keys of shared memory.
template <class Key>
MS_FUNCTION void SortTile(Key* tile, int count) {
  for (int width = 1; width < count; width *= 2) {
    Key mine[kTile / 256];
    int to[kTile / 256];
    __syncthreads();
    for (int j = 0; j < kTile / 256; ++j) {
      const int i = (int)threadIdx.x + 256 * j;
      if (i >= count) continue;
      mine[j] = tile[i];
      to[j] = (int)MergedPlace(tile, count, width, i);
    }
    __syncthreads();
    for (int j = 0; j < kTile / 256; ++j) {
      if ((int)threadIdx.x + 256 * j < count) tile[to[j]] = mine[j];
    }
  }
  __syncthreads();
}
// Sorts each tile of each row; key(row, i) is key i of it.
template <class Key, class F>
MS_FUNCTION void SortTiles(Key* keys, long long rows, long long size, F key) {
  __shared__ Key tile[kTile];
  const long long tiles = (size + kTile - 1) / kTile;
  for (long long block = blockIdx.x; block < rows * tiles; block += gridDim.x) {
    const long long row = block / tiles, first = block % tiles * kTile;
    const int count = (int)(size - first < kTile ? size - first : kTile);
    for (int i = threadIdx.x; i < count; i += 256) tile[i] = key(row, first + i);
    SortTile(tile, count);
    for (int i = threadIdx.x; i < count; i += 256) keys[row * size + first + i] = tile[i];
    __syncthreads();
  }
}
template <class Key>
MS_FUNCTION void MergeRuns(const Key* from, Key* to, long long rows, long long size,
                           long long width) {
  const long long step = (long long)gridDim.x * 256;
  for (long long e = (long long)blockIdx.x * 256 + threadIdx.x; e < rows * size; e += step) {
    const long long row = e / size, i = e % size;
    to[row * size + MergedPlace(from + row * size, size, width, i)] = from[e];
  }
}
