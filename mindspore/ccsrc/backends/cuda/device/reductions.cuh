// Reductions: what a thread takes of elements, and how the threads of a block join it. All orders
// are fixed: the same sizes give the same bits.
template <class T>
struct TotalOf {
  typedef T type;
};
template <>
struct TotalOf<float> {
  typedef double type;  // a total of many parts loses nothing that float could show
};

template <class T>
struct Sum {
  typedef typename TotalOf<T>::type Total;
  Total total = 0;
  T part = 0;
  int taken = 0;
  MS_INSIDE void Take(T x) {
    part = k_add(part, x);
    if (++taken < 128) return;
    total = k_add(total, (Total)part);
    part = 0;
    taken = 0;
  }
  MS_INSIDE Total Result() { return k_add(total, (Total)part); }
  static MS_INSIDE Total Nothing() { return 0; }
  static MS_INSIDE Total Join(Total a, Total b) { return k_add(a, b); }
};
template <class T>
struct Prod {
  typedef typename TotalOf<T>::type Total;
  Total total = 1;
  MS_INSIDE void Take(T x) { total = k_mul(total, (Total)x); }
  MS_INSIDE Total Result() { return total; }
  static MS_INSIDE Total Nothing() { return 1; }
  static MS_INSIDE Total Join(Total a, Total b) { return k_mul(a, b); }
};
// The number below all others, or above.
template <class T>
MS_INSIDE T Least(bool least) {
  const bool sign = (T)-1 < (T)0;
  uint64_t top = 1ull << (sizeof(T) * 8 - 1);
  if (sign) return least ? (T)(0 - top) : (T)(top - 1);
  return least ? (T)0 : (T)~(T)0;
}
template <>
MS_INSIDE float Least<float>(bool least) {
  return least ? -(float)__builtin_huge_val() : (float)__builtin_huge_val();
}
template <>
MS_INSIDE double Least<double>(bool least) {
  return least ? -__builtin_huge_val() : __builtin_huge_val();
}
template <class T>
struct Max {
  typedef T Total;
  T total = Least<T>(true);
  MS_INSIDE void Take(T x) { total = Join(total, x); }
  MS_INSIDE T Result() { return total; }
  static MS_INSIDE T Nothing() { return Least<T>(true); }
  static MS_INSIDE T Join(T a, T b) { return b > a || b != b ? b : a; }  // a nan wins
};
template <class T>
struct Min {
  typedef T Total;
  T total = Least<T>(false);
  MS_INSIDE void Take(T x) { total = Join(total, x); }
  MS_INSIDE T Result() { return total; }
  static MS_INSIDE T Nothing() { return Least<T>(false); }
  static MS_INSIDE T Join(T a, T b) { return b < a || b != b ? b : a; }
};

// A block of 256 threads holds groups of kAcross x kAlong threads: `kAlong` of them share what is
// reduced, for each of `kAcross` neighbours that are kept. Returns the group's total to all of it.
template <class R, int kAcross, int kAlong>
MS_FUNCTION typename R::Total JoinGroup(typename R::Total mine) {
  typedef typename R::Total Total;
  __shared__ Total shared[kAcross == 1 && kAlong == 32 ? 1 : kAcross == 1 ? 8 : 256];
  const int thread = threadIdx.x;
  if (kAcross == 1) {
    for (int step = 16; step > 0; step >>= 1)
      mine = R::Join(mine, __shfl_xor_sync(0xffffffffu, mine, step));
    if (kAlong == 32) return mine;
    __syncthreads();  // earlier totals have been read
    if (thread % 32 == 0) shared[thread / 32] = mine;
    __syncthreads();
    Total total = shared[0];
    for (int warp = 1; warp < 8; ++warp) total = R::Join(total, shared[warp]);
    return total;
  }
  __syncthreads();
  shared[thread] = mine;
  __syncthreads();
  for (int along = kAlong / 2; along > 0; along >>= 1) {
    if (thread < along * kAcross)
      shared[thread] = R::Join(shared[thread], shared[thread + along * kAcross]);
    __syncthreads();
  }
  return shared[thread % kAcross];
}
