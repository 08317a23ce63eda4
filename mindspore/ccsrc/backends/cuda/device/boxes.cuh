// Boxes that stay, and means of features inside of boxes.
struct Numbers {
  long long at[16];
};

// ---- boxes that stay: 256 of each list are settled at a time, then those behind are compared with
// them. Numbers: lists, boxes of each, the first of the 256, the bits of the threshold.
template <class R>
struct Corners {
  R left, top, right, bottom, area;
  MS_INSIDE explicit Corners(const R* box)
      : left(box[0]), top(box[1]), right(box[2]), bottom(box[3]) {
    area = (right - left) * (bottom - top);
  }
  static MS_INSIDE R Less(R a, R b) { return b < a ? b : a; }
  static MS_INSIDE R More(R a, R b) { return a < b ? b : a; }
  // Whether more of their union is common to both than a share.
  MS_INSIDE bool Meets(const Corners& other, R share) const {
    const R width = Less(right, other.right) - More(left, other.left);
    const R height = Less(bottom, other.bottom) - More(top, other.top);
    const R common = More(width, 0) * More(height, 0);
    return common / (area + other.area - common) > share;
  }
};

// A block has a list.
template <class R>
MS_FUNCTION void SettleBoxes(const R* boxes, Bool* keep, const Numbers& n) {
  __shared__ bool stays[256];
  const R share = (R)__builtin_bit_cast(double, n.at[3]);
  const long long count = n.at[1], first = n.at[2];
  const int many = (int)(count - first < 256 ? count - first : 256), own = threadIdx.x;
  for (long long list = blockIdx.x; list < n.at[0]; list += gridDim.x) {
    const R* own_list = boxes + 4 * (list * count + first);
    Bool* flags = keep + list * count + first;
    const Corners<R> box(own_list + 4 * (own < many ? own : 0));
    stays[own] = own < many && (first == 0 || Load(flags[own]));
    for (int i = 0; i < many; ++i) {
      __syncthreads();  // the flag of box i is settled
      if (own > i && stays[own] && stays[i] && Corners<R>(own_list + 4 * i).Meets(box, share))
        stays[own] = false;
    }
    if (own < many) flags[own] = Stored<Bool>::Of(stays[own]);
  }
}
// A thread has a box behind them.
template <class R>
MS_FUNCTION void DropBoxes(const R* boxes, Bool* keep, const Numbers& n) {
  const R share = (R)__builtin_bit_cast(double, n.at[3]);
  const long long count = n.at[1], first = n.at[2], behind = count - first - 256;
  ForAll(n.at[0] * behind, [&](long long e) {
    const long long begin = e / behind * count + first, at = begin + 256 + e % behind;
    const Corners<R> box(boxes + 4 * at);
    bool stays = first == 0 || Load(keep[at]);
    for (long long i = begin; stays && i < begin + 256; ++i)
      stays = !(Load(keep[i]) && Corners<R>(boxes + 4 * i).Meets(box, share));
    keep[at] = Stored<Bool>::Of(stays);
  });
}

// ---- means inside of boxes
// Numbers: ticket of images, images, channels, height, width, boxes, rows and columns that each
// becomes, the bits of the scale, points in each direction (0: as many as elements lie there),
// whether the second corner is a part, ticket of boxes that are too large, most points of a result.
MS_FUNCTION unsigned Own(unsigned found, const Numbers& n) {
  return found == (unsigned)n.at[0] || found == (unsigned)n.at[11] ? found : 0;
}

// A point of one axis between two elements; without weight where it is off the image.
template <class R>
struct Point {
  long long low, high;
  R low_weight, high_weight;
  MS_INSIDE bool is_inside() const { return low_weight + high_weight > 0; }
  MS_INSIDE R WeightOf(long long i) const {
    return (i == low ? low_weight : 0) + (i == high ? high_weight : 0);
  }
};

// The points of one axis of a box: `each` of them for a result.
template <class R>
struct Points {
  R begin, step;
  long long each, results, size;
  MS_INSIDE Points(R first, R length, long long count, long long samples, long long elements)
      : begin(first), step(length / (R)count), each(samples), results(count), size(elements) {}
  // As many as elements lie there, if those are not too many.
  MS_INSIDE bool Spread(long long most) {
    each = 0;
    if (step > (R)most) return false;
    if (step > 0) each = step > 1 ? (long long)step : 1;
    return true;
  }
  MS_INSIDE Point<R> Of(long long result, long long sample) const {
    const R share = ((R)sample + (R)0.5) / (R)each;
    R at = begin + ((R)result + share) * step;
    Point<R> p = {0, 0, 0, 0};
    if (size == 0 || !(at >= -1 && at <= (R)size)) return p;
    const R last = (R)(size - 1);
    at = at < 0 ? 0 : at > last ? last : at;
    p.low = (long long)at;
    p.high = p.low + 1 < size ? p.low + 1 : size - 1;
    p.high_weight = at - (R)p.low;
    p.low_weight = 1 - p.high_weight;
    return p;
  }
  // body(result, weight) for the points that take of element i: those less than one from it.
  template <class F>
  MS_INSIDE void ForPointsAt(long long i, F body) const {
    const R dense = (R)each / step, first = ((R)(i - 1) - begin) * dense - (R)1.5;
    const R last = ((R)(i + 1) - begin) * dense + (R)0.5;
    long long point = 0, end = results * each;
    if (dense > 0) {  // from the first corner to the second
      if (!(first < (R)end && last >= 0)) return;
      if (first > 0) point = (long long)first;
      if (last < (R)(end - 1)) end = (long long)last + 1;
    }
    for (; point < end; ++point) {
      const R weight = Of(point / each, point % each).WeightOf(i);
      if (weight > 0) body(point / each, weight);
    }
  }
};

template <class R>
struct Region {
  long long image;
  Points<R> y, x;

  // A box without the end is at least one element wide and high; one with it is what it is.
  template <class M>
  static MS_INSIDE Region Of(Fault* fault, const M* rois, long long box, const Numbers& n) {
    R roi[5];
    for (int i = 0; i < 5; ++i) roi[i] = Load(rois[5 * box + i]);
    const bool known = roi[0] >= 0 && roi[0] < (R)n.at[1];
    if (!known) Report(fault, (unsigned)n.at[0], (long long)roi[0], box);
    const R scale = (R)__builtin_bit_cast(double, n.at[8]), end = n.at[10] ? scale : 0;
    const R left = roi[1] * scale, top = roi[2] * scale;
    R w = roi[3] * scale + end - left, h = roi[4] * scale + end - top;
    if (!n.at[10]) w = w < 1 ? 1 : w, h = h < 1 ? 1 : h;
    Region r = {known ? (long long)roi[0] : 0, Points<R>(top, h, n.at[6], n.at[9], n.at[3]),
                Points<R>(left, w, n.at[7], n.at[9], n.at[4])};
    if (n.at[9] <= 0 && !(r.y.Spread(n.at[12]) & r.x.Spread(n.at[12])))
      Report(fault, (unsigned)n.at[11], n.at[12], box);
    return r;
  }
  MS_INSIDE R share() const {
    const long long points = y.each * x.each;
    return 1 / (R)(points > 1 ? points : 1);
  }
};

template <class M, class R>
MS_FUNCTION void MeanOfRegions(Fault* fault, const M* x, const M* rois, M* y, const Numbers& n) {
  const long long width = n.at[4], rows = n.at[6], columns = n.at[7];
  ForAll(n.at[5] * n.at[2] * rows * columns, [&](long long e) {
    const long long j = e % columns, i = e / columns % rows, plane = e / columns / rows;
    const Region<R> region = Region<R>::Of(fault, rois, plane / n.at[2], n);
    const M* image = x + (region.image * n.at[2] + plane % n.at[2]) * n.at[3] * width;
    R sum = 0;
    for (long long a = 0; a < region.y.each; ++a) {
      const Point<R> row = region.y.Of(i, a);
      if (!row.is_inside()) continue;
      const M *low = image + row.low * width, *high = image + row.high * width;
      for (long long b = 0; b < region.x.each; ++b) {
        const Point<R> p = region.x.Of(j, b);
        if (!p.is_inside()) continue;
        sum += row.low_weight * (p.low_weight * Load(low[p.low]) +
                                 p.high_weight * Load(low[p.high])) +
               row.high_weight * (p.low_weight * Load(high[p.low]) +
                                  p.high_weight * Load(high[p.high]));
      }
    }
    y[e] = Stored<M>::Of(sum * region.share());
  });
}
// A thread has an element of the features, and all boxes with points near it.
template <class M, class R>
MS_FUNCTION void GradOfRegions(Fault* fault, const M* dy, const M* rois, M* dx, const Numbers& n) {
  const long long width = n.at[4], height = n.at[3], rows = n.at[6], columns = n.at[7];
  ForAll(n.at[1] * n.at[2] * height * width, [&](long long e) {
    const long long plane = e / width / height;
    R sum = 0;
    for (long long box = 0; box < n.at[5]; ++box) {
      const Region<R> region = Region<R>::Of(fault, rois, box, n);
      if (region.image != plane / n.at[2]) continue;
      const M* from = dy + (box * n.at[2] + plane % n.at[2]) * rows * columns;
      region.y.ForPointsAt(e / width % height, [&](long long i, R row) {
        region.x.ForPointsAt(e % width, [&](long long j, R column) {
          sum += Load(from[i * columns + j]) * region.share() * row * column;
        });
      });
    }
    dx[e] = Stored<M>::Of(sum);
  });
}
