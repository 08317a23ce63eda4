// Kernels that read at positions which are numbers of a tensor. A position out of range is reported,
// and read as the first one.
struct Numbers {
  long long at[8];
};
struct alignas(16) Unit16 {
  uint64_t at[2];
};

// A position in [low, size), those below zero counted from the end.
MS_FUNCTION long long CheckedPosition(Fault* fault, unsigned ticket, long long position,
                                      long long low, long long size, long long place) {
  if (position < low || position >= size) {
    Report(fault, ticket, position, place);
    return 0;
  }
  return position < 0 ? position + size : position;
}

// Numbers: ticket, elements of the result, then the sizes outer, size, positions, inner: the input
// is [batch, outer, size, inner], the positions are [batch, positions].
template <class T, class I>
MS_FUNCTION void Gather(Fault* fault, const T* in, const I* positions, T* out, Numbers n) {
  const long long outer = n.at[2], size = n.at[3], count = n.at[4], inner = n.at[5];
  const long long step = (long long)gridDim.x * 256;
  for (long long e = (long long)blockIdx.x * 256 + threadIdx.x; e < n.at[1]; e += step) {
    const long long i = e % inner, row = e / inner, j = row % count, block = row / count;
    const long long place = block / outer * count + j;
    const long long at =
        CheckedPosition(fault, (unsigned)n.at[0], positions[place], -size, size, place);
    out[e] = in[(block * size + at) * inner + i];
  }
}

// The cross entropy of each row's softmax against a class. A warp has a row. Numbers: ticket, rows,
// classes. `losses` are of the rows, in double.
template <class M, class R, class I>
MS_FUNCTION void ClassRow(Fault* fault, const M* x, const I* labels, double* losses, M* gradient,
                          Numbers n) {
  const long long rows = n.at[1], classes = n.at[2];
  const long long row = (long long)blockIdx.x * 8 + threadIdx.x / 32;
  const int along = threadIdx.x % 32;
  const bool here = row < rows;
  const M* own = x + (here ? row : 0) * classes;
  Max<R> most;
  for (long long i = along; here && i < classes; i += 32) most.Take(Load(own[i]));
  const R top = JoinGroup<Max<R>, 1, 32>(most.Result());
  Sum<R> sum;
  for (long long i = along; here && i < classes; i += 32) sum.Take(k_exp(k_sub(Load(own[i]), top)));
  const typename Sum<R>::Total total = JoinGroup<Sum<R>, 1, 32>(sum.Result());
  if (!here) return;
  const long long label =
      CheckedPosition(fault, (unsigned)n.at[0], labels[row], 0, classes, row);
  if (losses) {
    if (along == 0) losses[row] = ::log((double)total) - ((double)Load(own[label]) - (double)top);
    return;
  }
  for (long long i = along; i < classes; i += 32) {
    const double share = (double)k_exp(k_sub(Load(own[i]), top)) / (double)total;
    gradient[row * classes + i] = Stored<M>::Of((R)((share - (i == label)) / (double)rows));
  }
}
// Their mean, by one block.
template <class M, class R>
MS_FUNCTION void MeanOfRows(const double* losses, M* out, Numbers n) {
  Sum<double> sum;
  for (long long i = threadIdx.x; i < n.at[1]; i += 256) sum.Take(losses[i]);
  const double total = JoinGroup<Sum<double>, 1, 256>(sum.Result());
  if (threadIdx.x == 0) out[0] = Stored<M>::Of((R)(total / (double)n.at[1]));
}
