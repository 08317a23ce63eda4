// Kernels that read at positions which are numbers of a tensor. A position out of range is reported,
// and read as the first one.
struct Numbers {
  long long at[8];
};

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

// The label of a row; -1 of one that does not count. Numbers: ticket, rows, classes, the label of
// rows that do not count.
template <class I>
MS_FUNCTION long long LabelOf(Fault* fault, const I* labels, long long row, const Numbers& n) {
  if (labels[row] == n.at[3]) return -1;
  return CheckedPosition(fault, (unsigned)n.at[0], labels[row], 0, n.at[2], row);
}
// The negative logarithm of each row's class times the weight of the class, and that weight, in
// double.
template <class M, class I>
MS_FUNCTION void LossOfRows(Fault* fault, const M* logs, const I* labels, const M* weights,
                            double* losses, M* each, Numbers n) {
  const long long rows = n.at[1], classes = n.at[2];
  const long long step = (long long)gridDim.x * 256;
  for (long long r = (long long)blockIdx.x * 256 + threadIdx.x; r < rows; r += step) {
    const long long label = LabelOf(fault, labels, r, n);
    const double weight = label < 0 ? 0 : (double)Load(weights[label]);
    const double loss = label < 0 ? 0 : -weight * (double)Load(logs[r * classes + label]);
    losses[r] = loss;
    losses[rows + r] = weight;
    if (each) each[r] = Stored<M>::Of((decltype(Load(M())))loss);
  }
}
// Their sum or mean, and the sum of the weights, by one block.
template <class M>
MS_FUNCTION void LossOfAll(const double* losses, bool mean, M* out, M* weight, Numbers n) {
  typedef decltype(Load(M())) R;
  Sum<double> loss, all;
  for (long long r = threadIdx.x; r < n.at[1]; r += 256) {
    loss.Take(losses[r]);
    all.Take(losses[n.at[1] + r]);
  }
  const double sum = JoinGroup<Sum<double>, 1, 256>(loss.Result());
  const double total = JoinGroup<Sum<double>, 1, 256>(all.Result());
  if (threadIdx.x != 0) return;
  if (out) out[0] = Stored<M>::Of((R)(mean ? sum / total : sum));
  weight[0] = Stored<M>::Of((R)total);
}
// The tangents of the logarithms. `total` is null where no mean is taken; `each`: every row has a
// tangent of its own.
template <class M, class I>
MS_FUNCTION void LossGradient(Fault* fault, const M* dloss, const I* labels, const M* weights,
                              const M* total, bool each, M* out, Numbers n) {
  typedef decltype(Load(M())) R;
  const long long classes = n.at[2], step = (long long)gridDim.x * 256;
  for (long long e = (long long)blockIdx.x * 256 + threadIdx.x; e < n.at[1] * classes; e += step) {
    const long long r = e / classes;
    const long long label = LabelOf(fault, labels, r, n);
    R value = 0;
    if (e % classes == label) {
      value = Load(dloss[each ? r : 0]);
      if (total) value = value / Load(total[0]);
      value = -value * Load(weights[label]);
    }
    out[e] = Stored<M>::Of(value);
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
