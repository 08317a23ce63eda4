// A whole and the parts it is cut into along an axis: in each of its rows they lie one behind the
// other. Numbers: rows, elements of a row of the whole, parts, where each begins in a row, and where
// the last one ends.
struct Numbers {
  long long at[20];
};

struct PlaceInPart {
  int part;
  long long at;     // in the part
  long long whole;  // in the whole
};

MS_FUNCTION PlaceInPart PlaceOf(long long e, const Numbers& n) {
  const long long *begin = n.at + 3, width = begin[n.at[2]] - begin[0];
  const long long row = e / width, column = begin[0] + e % width;
  int k = 0;
  while (column >= begin[k + 1]) ++k;
  return {k, row * (begin[k + 1] - begin[k]) + column - begin[k], row * n.at[1] + column};
}

MS_FUNCTION long long ElementsOf(const Numbers& n) {
  return n.at[0] * (n.at[3 + n.at[2]] - n.at[3]);
}

template <class U>
MS_FUNCTION void Join(const U* const* parts, U* whole, const Numbers& n) {
  const long long step = (long long)gridDim.x * 256, count = ElementsOf(n);
  for (long long e = (long long)blockIdx.x * 256 + threadIdx.x; e < count; e += step) {
    const PlaceInPart p = PlaceOf(e, n);
    whole[p.whole] = parts[p.part][p.at];
  }
}

template <class U>
MS_FUNCTION void Cut(U* const* parts, const U* whole, const Numbers& n) {
  const long long step = (long long)gridDim.x * 256, count = ElementsOf(n);
  for (long long e = (long long)blockIdx.x * 256 + threadIdx.x; e < count; e += step) {
    const PlaceInPart p = PlaceOf(e, n);
    parts[p.part][p.at] = whole[p.whole];
  }
}
