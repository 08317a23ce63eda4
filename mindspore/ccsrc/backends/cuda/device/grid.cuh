// Images at positions that a grid holds, and the gradients of that. What points give back to an
// image is sorted by its element first, so that points which meet there are added in their order.
// kernels/grid.cc says the rule in constants: kAxes, kNearest, kCorners, kPadding and kSlopes.
struct Numbers {
  long long width;  // of sorted runs
  long long images, channels, points, plane;
  long long sizes[3];  // of an image along x, y and z
};
const int kTaps = kNearest ? 1 : 1 << kAxes;  // elements around a point

// Between which two elements a coordinate is, -1 for those outside, with which weights, and how the
// weight of the second one changes with the coordinate; that of the first one does the opposite.
template <class R>
struct Between {
  long long at[2];
  R weights[2], slope;
};

// Thrown back into [low, high] as often as it takes.
template <class R>
MS_FUNCTION void Reflect(R low, R high, R* at, R* slope) {
  const R span = high - low;
  if (!(span > 0)) {
    *at = *slope = 0;
    return;
  }
  const R beyond = *at - low, distance = k_abs(beyond), turns = k_floor(distance / span);
  const R rest = distance - turns * span;
  const bool even = turns - 2 * k_floor(turns / 2) == 0;
  *at = (even ? rest : span - rest) + low;
  if (even != (beyond >= 0)) *slope = -*slope;
}

template <class R>
MS_FUNCTION Between<R> BetweenOf(R coordinate, long long elements) {
  const R size = (R)elements, last = size - 1, moved = coordinate + 1;
  R slope = (kCorners ? last : size) / 2, at = kCorners ? moved * slope : (moved * size - 1) / 2;
  if (kPadding == kReflection)
    Reflect<R>(kCorners ? (R)0 : (R)-0.5, kCorners ? last : size - (R)0.5, &at, &slope);
  if (kPadding != kZeros) {
    if (!(at > 0 && at < last)) slope = 0;
    at = at < last ? at : last;  // a nan, too
    at = at > 0 ? at : 0;
  }
  const R low = kNearest ? k_rint(at) : k_floor(at);
  const bool near = low >= -1 && low <= last;
  const R share = near ? at - low : 0;  // without, a nan would spread from afar
  const long long i = near ? (long long)low : -2;
  Between<R> b;
  b.weights[0] = kNearest ? 1 : 1 - share;
  b.weights[1] = share;
  b.slope = slope;
  b.at[0] = i >= 0 && i < elements ? i : -1;
  b.at[1] = i >= -1 && i + 1 < elements ? i + 1 : -1;
  return b;
}

template <class R>
struct Point {
  Between<R> along[kAxes];

  template <class M>
  MS_INSIDE Point(const M* coordinates, const Numbers& n) {
    for (int a = 0; a < kAxes; ++a) along[a] = BetweenOf<R>(Load(coordinates[a]), n.sizes[a]);
  }
  // Bit a of a tap: the second of the two elements along axis a. -1: it is outside.
  MS_INSIDE long long Element(int tap, const Numbers& n) const {
    long long element = 0;
    for (int a = kAxes - 1; a >= 0; --a) {
      const long long i = along[a].at[tap >> a & 1];
      if (i < 0) return -1;
      element = element * n.sizes[a] + i;
    }
    return element;
  }
  // Differentiated by the coordinates that are bits of `slopes`.
  MS_INSIDE R Weight(int tap, unsigned slopes) const {
    R weight = 1;
    for (int a = 0; a < kAxes; ++a) {
      const bool second = tap >> a & 1, slope = slopes >> a & 1;
      weight *= slope ? along[a].slope : along[a].weights[second];
      if (slope && !second) weight = -weight;
    }
    return weight;
  }
};

template <class M, class R>
MS_FUNCTION void Sample(const M* x, const M* grid, M* y, const Numbers& n) {
  ForAll(n.images * n.channels * n.points, [&](long long e) {
    const long long plane = e / n.points, image = plane / n.channels;
    const Point<R> point(grid + (image * n.points + e % n.points) * kAxes, n);
    R sum = 0;
    for (int tap = 0; tap < kTaps; ++tap) {
      const long long at = point.Element(tap, n);
      if (at >= 0) sum += point.Weight(tap, kSlopes) * Load(x[plane * n.plane + at]);
    }
    y[e] = Stored<M>::Of(sum);
  });
}

// The taps of all points of an image, by the elements that they are.
template <class M, class R>
MS_FUNCTION void SortTaps(const M* grid, uint64_t* keys, const Numbers& n) {
  SortTiles(keys, n.images, n.points * kTaps, [&](long long image, long long i) {
    const Point<R> point(grid + (image * n.points + i / kTaps) * kAxes, n);
    return MakeKey((uint32_t)point.Element((int)(i % kTaps), n), (uint32_t)i);
  });
}
// A thread has an element of the images, and all taps that are it.
template <class M, class R>
MS_FUNCTION void AddTaps(const uint64_t* keys, const M* dy, const M* grid, M* dx,
                         const Numbers& n) {
  const long long taps = n.points * kTaps;
  ForAll(n.images * n.channels * n.plane, [&](long long e) {
    const long long plane = e / n.plane, image = plane / n.channels;
    const uint32_t element = (uint32_t)(e % n.plane);
    const uint64_t* own = keys + image * taps;
    R sum = 0;
    for (long long j = CountBefore(own, taps, MakeKey(element, 0)); j < taps; ++j) {
      if ((uint32_t)(own[j] >> 32) != element) break;
      const long long i = Origin(own[j]) / kTaps;
      const Point<R> point(grid + (image * n.points + i) * kAxes, n);
      const R weight = point.Weight((int)(Origin(own[j]) % kTaps), kSlopes);
      sum += weight * Load(dy[plane * n.points + i]);
    }
    dx[e] = Stored<M>::Of(sum);
  });
}

// The gradient of the positions: a thread has a point, and all channels of it. Along a coordinate by
// which the samples are differentiated already they do not change.
template <class M, class R>
MS_FUNCTION void MovePoints(const M* dy, const M* x, const M* grid, M* dgrid, const Numbers& n) {
  ForAll(n.images * n.points, [&](long long e) {
    const long long first = e / n.points * n.channels;
    const Point<R> point(grid + e * kAxes, n);
    R sums[kAxes] = {};
    for (int tap = 0; tap < kTaps; ++tap) {
      const long long at = point.Element(tap, n);
      R sum = 0;
      for (long long c = first; c < first + n.channels && at >= 0; ++c)
        sum += Load(dy[c * n.points + e % n.points]) * Load(x[c * n.plane + at]);
      for (int a = 0; a < kAxes; ++a) sums[a] += point.Weight(tap, kSlopes | 1u << a) * sum;
    }
    for (int a = 0; a < kAxes; ++a)
      dgrid[e * kAxes + a] = Stored<M>::Of(kSlopes >> a & 1 ? (R)0 : sums[a]);
  });
}
