// What lies in a slice of a tensor, and around it something else. Numbers: elements, axes, then of
// each axis the size, and the slice's begin, step and size; the innermost axis comes first.
struct Numbers {
  long long at[34];
};

// Around the slice are the elements of x, or zeros where that is null.
template <class U>
MS_FUNCTION void PutSlice(const U* slice, const U* x, U* out, const Numbers& n) {
  const long long step = (long long)gridDim.x * 256;
  for (long long e = (long long)blockIdx.x * 256 + threadIdx.x; e < n.at[0]; e += step) {
    long long rest = e, place = 0, along = 1;
    bool inside = true;
    for (int axis = 0; axis < n.at[1]; ++axis) {
      const long long* a = n.at + 2 + 4 * axis;
      const long long way = rest % a[0] - a[1], k = way / a[2];
      inside = inside && way % a[2] == 0 && k >= 0 && k < a[3];
      place += k * along;
      along *= a[3];
      rest /= a[0];
    }
    out[e] = inside ? slice[place] : x ? x[e] : U();
  }
}
