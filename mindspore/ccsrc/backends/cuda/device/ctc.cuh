// CTC in logarithms, as on the host. The labels of a sequence, with a blank before, between and
// behind them, are its states: a step stays in a state, goes on to the next, or skips the blank
// between two labels that differ. Where repeated labels are not merged, a step stays only in blanks
// and may skip any of them.
struct Numbers {
  long long tickets[3];  // of labels, of how many steps count, and of how many labels
  long long steps, batch, classes, labels, blank, merge, zero_infinity;
  MS_INSIDE long long states() const { return 2 * labels + 1; }
};
MS_FUNCTION unsigned Own(unsigned found, const Numbers& n) {
  for (long long ticket : n.tickets) {
    if (found == (unsigned)ticket) return found;
  }
  return 0;
}

// One sequence. What is out of range is reported, and read as 0.
template <class R, class L>
struct Sequence {
  const R* x;  // [steps, batch, classes]
  const L* targets;
  Fault* fault;
  const Numbers& n;
  long long number, steps, states;

  template <class S, class C>
  MS_INSIDE Sequence(Fault* faults, const R* probabilities, const L* labels, const S* step_counts,
                     const C* label_counts, long long sequence, const Numbers& numbers)
      : x(probabilities), targets(labels + sequence * numbers.labels), fault(faults), n(numbers),
        number(sequence) {
    steps = CheckedPosition(fault, (unsigned)n.tickets[1], step_counts[number], 0, n.steps + 1, 0);
    states = 1 + 2 * CheckedPosition(fault, (unsigned)n.tickets[2], label_counts[number], 0,
                                     n.labels + 1, 0);
  }
  MS_INSIDE long long ClassOf(long long state) const {
    if (state % 2 == 0) return n.blank;
    return CheckedPosition(fault, (unsigned)n.tickets[0], targets[state / 2], 0, n.classes, 0);
  }
  MS_INSIDE R Probability(long long t, long long state) const {
    return x[(t * n.batch + number) * n.classes + ClassOf(state)];
  }
  // Of arrays [batch, steps, states].
  MS_INSIDE long long RowOf(long long t) const { return (number * n.steps + t) * n.states(); }
};

// The sum of what leads to a state of the next step, itself `back` states behind its neighbour:
// 1, or -1 where the recursion runs from the end.
template <class R, class L>
MS_FUNCTION R NextOf(const Sequence<R, L>& q, const R* before, long long state, int back) {
  const R lowest = Least<R>(true);
  const long long nearer = state - back, farther = nearer - back;
  const bool label = state % 2 == 1, has_nearer = nearer >= 0 && nearer < q.states;
  const bool has_farther = label && farther >= 0 && farther < q.states;
  const bool skips = has_farther && (!q.n.merge || q.ClassOf(state) != q.ClassOf(farther));
  const R a = label && !q.n.merge ? lowest : before[state];
  const R b = has_nearer ? before[nearer] : lowest, c = skips ? before[farther] : lowest;
  R top = a > b ? a : b;
  top = top > c ? top : c;
  const R level = top == lowest ? 0 : top;  // all three are -inf: so is the sum
  const R sum = k_exp(a - level) + k_exp(b - level) + k_exp(c - level);
  return sum == 0 ? lowest : level + k_log(sum);
}
// A block has a sequence. Rows of all its steps, forward or from the end; -inf elsewhere.
template <class R, class L>
MS_FUNCTION void Recur(const Sequence<R, L>& q, R* rows, bool from_end) {
  const Numbers& n = q.n;
  for (long long i = 0; i < n.steps; ++i) {
    const bool counts = i < q.steps;
    const long long t = counts && from_end ? q.steps - 1 - i : i;
    const R *before = i == 0 ? rows : rows + q.RowOf(from_end ? t + 1 : t - 1);
    for (long long s = threadIdx.x; s < n.states(); s += 256) {
      R value = Least<R>(true);
      if (counts && s < q.states) {
        const long long passed = from_end ? q.states - 1 - s : s;
        if (i > 0)
          value = NextOf(q, before, s, from_end ? -1 : 1) + q.Probability(t, s);
        else if (passed < 2)
          value = q.Probability(t, s);
      }
      rows[q.RowOf(t) + s] = value;
    }
    __syncthreads();
  }
}

template <class R>
MS_FUNCTION bool IsInfinite(R x) {
  return k_abs(x) == Least<R>(false);
}
template <class R>
MS_FUNCTION R LogSum(R a, R b) {
  if (a != a || b != b) return a + b;
  const R top = a < b ? b : a;
  return IsInfinite(top) ? top : top + k_log1p(k_exp((a < b ? a : b) - top));
}
template <class R, class L, class S, class C>
MS_FUNCTION void Forward(Fault* fault, const R* x, const L* targets, const S* step_counts,
                         const C* label_counts, R* loss, R* alpha, const Numbers& n) {
  for (long long i = blockIdx.x; i < n.batch; i += gridDim.x) {
    const Sequence<R, L> q(fault, x, targets, step_counts, label_counts, i, n);
    for (long long s = threadIdx.x; s < q.states; s += 256) q.ClassOf(s);  // all are checked
    Recur(q, alpha, false);
    if (threadIdx.x != 0) continue;
    const R* end = alpha + q.RowOf(q.steps - 1) + q.states - 1;
    R log = q.steps > 0 ? *end : q.states == 1 ? 0 : Least<R>(true);
    if (q.steps > 0 && q.states > 1) log = LogSum(log, end[-1]);
    loss[i] = n.zero_infinity && IsInfinite(log) ? 0 : -log;
  }
}

template <class R, class L, class S, class C>
MS_FUNCTION void FromEnd(Fault* fault, const R* x, const L* targets, const S* step_counts,
                         const C* label_counts, R* beta, const Numbers& n) {
  for (long long i = blockIdx.x; i < n.batch; i += gridDim.x)
    Recur(Sequence<R, L>(fault, x, targets, step_counts, label_counts, i, n), beta, true);
}
// Whether a step of a sequence has a gradient.
template <class R, class L>
MS_FUNCTION bool Counts(const Sequence<R, L>& q, long long t, R loss, const R* alpha) {
  if (t >= q.steps) return false;
  const R* end = alpha + q.RowOf(q.steps - 1) + q.states - 1;
  const R log = q.states > 1 && *end < end[-1] ? end[-1] : *end;
  return !(q.n.zero_infinity && IsInfinite(log));
}
// The gradient as if the logarithms were what a softmax is taken of: the probabilities, less the
// shares of the states. First the former, element by element.
template <class R, class L, class S, class C>
MS_FUNCTION void PutProbabilities(Fault* fault, const R* dy, const R* x, const L* targets,
                                  const S* step_counts, const C* label_counts, const R* loss,
                                  const R* alpha, R* dx, const Numbers& n) {
  ForAll(n.steps * n.batch * n.classes, [&](long long e) {
    const long long row = e / n.classes, i = row % n.batch;
    const Sequence<R, L> q(fault, x, targets, step_counts, label_counts, i, n);
    dx[e] = Counts(q, row / n.batch, loss[i], alpha) ? k_exp(x[e]) * dy[i] : 0;
  });
}
// Then the latter. The last state of a class has a thread, which takes away those of all others.
template <class R, class L, class S, class C>
MS_FUNCTION void TakeShares(Fault* fault, const R* dy, const R* x, const L* targets,
                            const S* step_counts, const C* label_counts, const R* loss,
                            const R* alpha, const R* beta, R* dx, const Numbers& n) {
  const R lowest = Least<R>(true);
  ForAll(n.batch * n.steps * n.states(), [&](long long e) {
    const long long state = e % n.states(), t = e / n.states() % n.steps;
    const Sequence<R, L> q(fault, x, targets, step_counts, label_counts, e / n.states() / n.steps,
                           n);
    if (state >= q.states || !Counts(q, t, loss[q.number], alpha)) return;
    const long long own = q.ClassOf(state);
    for (long long s = q.states - 1; s > state; --s) {
      if (q.ClassOf(s) == own) return;
    }
    const R p = q.Probability(t, state);
    R* to = dx + (t * n.batch + q.number) * n.classes + own;
    R value = *to;
    for (long long s = state; s >= 0; --s) {
      const R a = alpha[q.RowOf(t) + s], b = beta[q.RowOf(t) + s];
      if (a == lowest || b == lowest || q.ClassOf(s) != own) continue;
      value -= k_exp(a + b - p + loss[q.number]) * dy[q.number];
    }
    *to = value;
  });
}
