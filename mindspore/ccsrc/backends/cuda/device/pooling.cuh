// Windows over images and volumes. A thread has an element of what is written: gradients gather
// what the windows around an element send to it, so that nothing is added by chance order. Index is
// int, or long long for arrays that need it (kernels/pooling.cc).
struct Numbers {
  // Elements, channels, channels last, mean over whole windows, divisor, adaptive, two unused; then
  // for depth, height and width: size, windows, kernel, stride, dilation, pad, end of the padding,
  // unused.
  long long at[32];
};

struct Along {
  Index size, out, kernel, stride, dilation, pad, end;
  bool adaptive;
  MS_INSIDE Index Share(Index i) const { return (Index)((long long)i * size / out); }
  MS_INSIDE Index First(Index i) const {
    return adaptive ? Share(i) : i * stride - pad;
  }
  // Elements of window i: position k of it is First(i) + k * Step(). Some may be outside.
  MS_INSIDE Index Count(Index i) const {
    if (!adaptive) return kernel;
    return (Index)(((long long)(i + 1) * size + out - 1) / out) - First(i);
  }
  MS_INSIDE Index Step() const { return adaptive ? 1 : dilation; }
  MS_INSIDE bool Has(Index i, Index position) const {
    const Index from = position - First(i), step = Step();
    return from >= 0 && from % step == 0 && from / step < Count(i);
  }
  // The window whose element `tap` is at a position; -1: there is none.
  MS_INSIDE Index WindowOf(Index position, Index tap) const {
    const Index from = position + pad - tap * dilation;
    return from >= 0 && from % stride == 0 && from / stride < out ? from / stride : -1;
  }
  // All windows that have a position are among these.
  MS_INSIDE Index Lowest(Index position) const {
    if (adaptive) {
      const Index near = (Index)((long long)position * out / size);
      return near > 0 ? near - 1 : 0;
    }
    const Index from = position + pad - (kernel - 1) * dilation;
    return from <= 0 ? 0 : (from + stride - 1) / stride;
  }
  MS_INSIDE Index Highest(Index position) const {
    const Index last = adaptive ? (Index)((long long)(position + 1) * out / size) + 1
                                : (position + pad) / stride;
    return last < out ? last : out - 1;
  }
  // By how much a mean over window i is divided.
  MS_INSIDE Index Divisor(Index i, bool whole) const {
    if (adaptive) return Count(i);
    const Index first = First(i), last = first + kernel;
    if (whole) return (last < end ? last : end) - first;
    const Index inside = (last < size ? last : size) - (first > 0 ? first : 0);
    return inside > 1 ? inside : 1;
  }
};
MS_FUNCTION Along AlongOf(const Numbers& n, int dimension) {
  const long long* at = n.at + 8 + 8 * dimension;
  return Along{(Index)at[0], (Index)at[1], (Index)at[2], (Index)at[3],
               (Index)at[4], (Index)at[5], (Index)at[6], n.at[5] != 0};
}

// Where an element of an image is.
struct Place {
  Index image, channel, d, h, w;
};
MS_FUNCTION Place PlaceOf(const Numbers& n, Index e, Index depth, Index height, Index width) {
  Place p;
  const Index channels = (Index)n.at[1];
  if (n.at[2]) p.channel = e % channels, e /= channels;
  p.w = e % width, e /= width;
  p.h = e % height, e /= height;
  p.d = e % depth, e /= depth;
  if (!n.at[2]) p.channel = e % channels, e /= channels;
  p.image = e;
  return p;
}
// Of the same image and channel, in an array with these sizes.
MS_FUNCTION Index AddressOf(const Numbers& n, const Place& p, Index d, Index h, Index w,
                            Index depth, Index height, Index width) {
  const Index channels = (Index)n.at[1];
  if (n.at[2])
    return (((p.image * depth + d) * height + h) * width + w) * channels + p.channel;
  return (((p.image * channels + p.channel) * depth + d) * height + h) * width + w;
}

struct Boxes {
  Along d, h, w;
  MS_INSIDE explicit Boxes(const Numbers& n)
      : d(AlongOf(n, 0)), h(AlongOf(n, 1)), w(AlongOf(n, 2)) {}
  MS_INSIDE Place In(const Numbers& n, Index e) const {
    return PlaceOf(n, e, d.size, h.size, w.size);
  }
  MS_INSIDE Place Out(const Numbers& n, Index e) const {
    return PlaceOf(n, e, d.out, h.out, w.out);
  }
  MS_INSIDE Index InAddress(const Numbers& n, const Place& p, Index i, Index j, Index k) const {
    return AddressOf(n, p, i, j, k, d.size, h.size, w.size);
  }
  MS_INSIDE Index OutAddress(const Numbers& n, const Place& p, Index i, Index j, Index k) const {
    return AddressOf(n, p, i, j, k, d.out, h.out, w.out);
  }
};

template <class F>
MS_FUNCTION void ForElements(const Numbers& n, F body) {
  const Index step = (Index)gridDim.x * 256, end = (Index)n.at[0];
  for (Index e = (Index)blockIdx.x * 256 + (Index)threadIdx.x; e < end; e += step) body(e);
}

// body(d, h, w) for the elements of window (i, j, k) that are inside.
template <class F>
MS_FUNCTION void ForWindow(const Boxes& b, Index i, Index j, Index k, F body) {
  for (Index l = 0; l < b.d.Count(i); ++l) {
    const Index d = b.d.First(i) + l * b.d.Step();
    if (d < 0 || d >= b.d.size) continue;
    for (Index m = 0; m < b.h.Count(j); ++m) {
      const Index h = b.h.First(j) + m * b.h.Step();
      if (h < 0 || h >= b.h.size) continue;
      for (Index o = 0; o < b.w.Count(k); ++o) {
        const Index w = b.w.First(k) + o * b.w.Step();
        if (w >= 0 && w < b.w.size) body(d, h, w);
      }
    }
  }
}

// The first maximum of a window, a nan before all: its value and its position in the image, -1
// where the window has no element.
template <class R>
struct Largest {
  R value;
  Index position;
};
template <class M, class R>
MS_FUNCTION Largest<R> LargestOf(const M* x, const Numbers& n, const Boxes& b, const Place& p,
                                 Index i, Index j, Index k) {
  Largest<R> found = {Least<R>(true), -1};
  ForWindow(b, i, j, k, [&](Index d, Index h, Index w) {
    const R value = Load(x[b.InAddress(n, p, d, h, w)]);
    const bool more = value > found.value || (value != value && found.value == found.value);
    if (!more && found.position >= 0) return;
    found.value = value;
    found.position = (d * b.h.size + h) * b.w.size + w;
  });
  return found;
}

template <class M, class R>
MS_FUNCTION void MaxPool(const M* x, M* y, int32_t* positions, Numbers n) {
  const Boxes b(n);
  ForElements(n, [=](Index e) {
    const Place p = b.Out(n, e);
    const Largest<R> found = LargestOf<M, R>(x, n, b, p, p.d, p.h, p.w);
    y[e] = Stored<M>::Of(found.value);
    if (positions) positions[e] = (int32_t)found.position;
  });
}
// What another array has where x has its maxima.
template <class M, class R>
MS_FUNCTION void AtMaxima(const M* x, const M* values, M* y, Numbers n) {
  const Boxes b(n);
  ForElements(n, [=](Index e) {
    const Place p = b.Out(n, e);
    const Index at = LargestOf<M, R>(x, n, b, p, p.d, p.h, p.w).position;
    const Index row = at / b.w.size;
    y[e] = at < 0 ? Stored<M>::Of((R)0)
                  : values[b.InAddress(n, p, row / b.h.size, row % b.h.size, at % b.w.size)];
  });
}

// body(address in the output, i, j, k) for the windows that have element p of the input.
template <class F>
MS_FUNCTION void ForWindowsAt(const Numbers& n, const Boxes& b, const Place& p, F body) {
  for (Index i = b.d.Lowest(p.d); i <= b.d.Highest(p.d); ++i) {
    if (!b.d.Has(i, p.d)) continue;
    for (Index j = b.h.Lowest(p.h); j <= b.h.Highest(p.h); ++j) {
      if (!b.h.Has(j, p.h)) continue;
      for (Index k = b.w.Lowest(p.w); k <= b.w.Highest(p.w); ++k) {
        if (b.w.Has(k, p.w)) body(b.OutAddress(n, p, i, j, k), i, j, k);
      }
    }
  }
}

template <class M, class R>
MS_FUNCTION void MaxPoolGrad(const M* x, const M* dy, M* dx, Numbers n) {
  const Boxes b(n);
  ForElements(n, [=](Index e) {
    const Place p = b.In(n, e);
    const Index own = (p.d * b.h.size + p.h) * b.w.size + p.w;
    R sum = 0;
    ForWindowsAt(n, b, p, [&](Index at, Index i, Index j, Index k) {
      if (LargestOf<M, R>(x, n, b, p, i, j, k).position == own) sum = k_add(sum, Load(dy[at]));
    });
    dx[e] = Stored<M>::Of(sum);
  });
}

template <class R>
MS_FUNCTION R DivisorOf(const Numbers& n, const Boxes& b, Index i, Index j, Index k) {
  if (n.at[4]) return (R)n.at[4];
  const bool whole = n.at[3] != 0;
  return (R)(b.d.Divisor(i, whole) * b.h.Divisor(j, whole) * b.w.Divisor(k, whole));
}
template <class M, class R>
MS_FUNCTION void AvgPool(const M* x, M* y, Numbers n) {
  const Boxes b(n);
  ForElements(n, [=](Index e) {
    const Place p = b.Out(n, e);
    R sum = 0;
    ForWindow(b, p.d, p.h, p.w, [&](Index d, Index h, Index w) {
      sum = k_add(sum, Load(x[b.InAddress(n, p, d, h, w)]));
    });
    y[e] = Stored<M>::Of((R)(sum / DivisorOf<R>(n, b, p.d, p.h, p.w)));
  });
}
template <class M, class R>
MS_FUNCTION void AvgPoolGrad(const M* dy, M* dx, Numbers n) {
  const Boxes b(n);
  ForElements(n, [=](Index e) {
    const Place p = b.In(n, e);
    R sum = 0;
    ForWindowsAt(n, b, p, [&](Index at, Index i, Index j, Index k) {
      sum = k_add(sum, (R)(Load(dy[at]) / DivisorOf<R>(n, b, i, j, k)));
    });
    dx[e] = Stored<M>::Of(sum);
  });
}

// The elements of windows side by side, [image, channel, tap, window]: zeros in the padding.
template <class M, class R>
MS_FUNCTION void Unfold(const M* x, M* y, const Numbers& n) {
  const Boxes b(n);
  ForElements(n, [&](Index to) {
    Index e = to;
    const Index k = e % b.w.out, j = e / b.w.out % b.h.out;
    e /= b.w.out * b.h.out;
    const Index i = e % b.d.out;
    e /= b.d.out;
    const Index w = b.w.First(k) + e % b.w.kernel * b.w.dilation;
    e /= b.w.kernel;
    const Index h = b.h.First(j) + e % b.h.kernel * b.h.dilation;
    e /= b.h.kernel;
    const Index d = b.d.First(i) + e % b.d.kernel * b.d.dilation;
    e /= b.d.kernel;
    const bool inside =
        d >= 0 && d < b.d.size && h >= 0 && h < b.h.size && w >= 0 && w < b.w.size;
    y[to] = inside ? x[((e * b.d.size + d) * b.h.size + h) * b.w.size + w] : M();
  });
}
// Their sum back in the image: a tap meets an element in one window at most.
template <class M, class R>
MS_FUNCTION void Fold(const M* y, M* x, const Numbers& n) {
  const Boxes b(n);
  ForElements(n, [&](Index e) {
    const Index w = e % b.w.size, h = e / b.w.size % b.h.size;
    const Index d = e / (b.w.size * b.h.size) % b.d.size;
    const Index plane = e / (b.w.size * b.h.size * b.d.size);
    R sum = 0;
    for (Index l = 0; l < b.d.kernel; ++l) {
      const Index i = b.d.WindowOf(d, l);
      for (Index m = 0; m < b.h.kernel && i >= 0; ++m) {
        const Index j = b.h.WindowOf(h, m);
        for (Index o = 0; o < b.w.kernel && j >= 0; ++o) {
          const Index k = b.w.WindowOf(w, o);
          if (k < 0) continue;
          const Index tap = ((plane * b.d.kernel + l) * b.h.kernel + m) * b.w.kernel + o;
          sum = k_add(sum, Load(y[((tap * b.d.out + i) * b.h.out + j) * b.w.out + k]));
        }
      }
    }
    x[e] = Stored<M>::Of(sum);
  });
}
