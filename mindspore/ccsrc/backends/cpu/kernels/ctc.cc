// CTC in logarithms. The labels of a sequence, with a blank before, between and behind them, are
// its states: a step stays in a state, goes on to the next, or skips the blank between two labels
// that differ. Where repeated labels are not merged, a step stays only in blanks and may skip any
// of them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/ctc_loops.h"
#include "backends/cpu/kernels/loss_parts.h"
#include "kernel/ctc_sizes.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

struct Sizes : CtcSizes {
  using CtcSizes::CtcSizes;
  double cost_ns() const {
    return static_cast<double>(batch * steps) * (20 + 6 * static_cast<double>(states()));
  }
};

// Labels and lengths; checked on the calling thread.
struct Problem {
  Labels targets, steps, labels;
  // Of log_probs and what comes behind.
  Problem(const void* const* in, const DType* types)
      : targets(in[1], types[1]), steps(in[2], types[2]), labels(in[3], types[3]) {}

  void Check(const std::string& op, const Sizes& z) const {
    for (int64_t n = 0; n < z.batch; ++n) {
      CheckLength(op, "input_lengths", steps[n], z.steps);
      CheckLength(op, "target_lengths", labels[n], z.labels);
      for (int64_t i = 0; i < labels[n]; ++i) {
        int64_t label = targets[n * z.labels + i];
        if (label < 0 || label >= z.classes)
          Throw(ErrorKind::kValue, "For '{}', the labels must be in [0, {}), but got {}.", op,
                z.classes, label);
      }
    }
  }
  static void CheckLength(const std::string& op, const char* name, int64_t length, int64_t most) {
    if (length < 0 || length > most)
      Throw(ErrorKind::kValue, "For '{}', '{}' must be in [0, {}], but got {}.", op, name, most,
            length);
  }
};

// One sequence: the class of each state, and rows of numbers for them with two of -inf in front.
template <class T>
class Sequence {
 public:
  static constexpr T kLowest = -std::numeric_limits<T>::infinity();
  Sequence(const Sizes& z, const Problem& problem, int64_t n, const T* x, bool reversed)
      : steps(problem.steps[n]),
        states(2 * problem.labels[n] + 1),
        sizes_(z),
        x_(x + n * z.classes),
        classes_(static_cast<size_t>(states)),
        stay_(static_cast<size_t>(states)),
        skip_(static_cast<size_t>(states)),
        p_(static_cast<size_t>(states)),
        rows_(2 * static_cast<size_t>(states + 2), kLowest) {
    for (int64_t s = 0; s < states; ++s) {
      int64_t place = reversed ? states - 1 - s : s;
      classes_[at(s)] = place % 2 == 0 ? z.blank : problem.targets[n * z.labels + place / 2];
    }
    for (int64_t s = 0; s < states; ++s) {
      bool label = s % 2 == 1;
      bool free = label && s >= 2 && (!z.merge || classes_[at(s)] != classes_[at(s - 2)]);
      skip_[at(s)] = free ? T(0) : kLowest;
      stay_[at(s)] = label && !z.merge ? kLowest : T(0);
    }
  }

  const T* Probabilities(int64_t t) {
    const T* row = x_ + t * sizes_.batch * sizes_.classes;
    for (int64_t s = 0; s < states; ++s) p_[at(s)] = row[classes_[at(s)]];
    return p_.data();
  }
  // The row of the first step, and of the next one.
  const T* Begin(const T* p) {
    T* row = Row();
    std::fill(row, row + states, kLowest);
    for (int64_t s = 0; s < std::min<int64_t>(states, 2); ++s) row[s] = p[s];
    return row;
  }
  const T* Step(const T* p) {
    static const auto step = MS_PICK_ISA(CtcStep<T>);
    const T* before = Row();
    second_ = !second_;
    step(before, stay_.data(), skip_.data(), p, states, Row());
    return Row();
  }
  int64_t class_of(int64_t s) const { return classes_[at(s)]; }

  const int64_t steps, states;

 private:
  static size_t at(int64_t s) { return static_cast<size_t>(s); }
  T* Row() { return rows_.data() + 2 + (second_ ? states + 2 : 0); }

  const Sizes& sizes_;
  const T* x_;
  std::vector<int64_t> classes_;
  std::vector<T> stay_, skip_, p_, rows_;
  bool second_ = false;
};

template <class T>
T LogSum(T a, T b) {
  if (a != a || b != b) return a + b;
  T top = std::max(a, b);
  if (std::isinf(top)) return top;
  return top + std::log1p(std::exp(std::min(a, b) - top));
}

template <class T>
void Forward(const Sizes& z, const Problem& problem, const T* x, int64_t n, T* loss, T* alpha) {
  Sequence<T> sequence(z, problem, n, x, false);
  T* rows = alpha + n * z.steps * z.states();
  std::fill(rows, rows + z.steps * z.states(), Sequence<T>::kLowest);
  int64_t states = sequence.states;
  const T* last = nullptr;
  for (int64_t t = 0; t < sequence.steps; ++t) {
    const T* p = sequence.Probabilities(t);
    last = t == 0 ? sequence.Begin(p) : sequence.Step(p);
    std::copy(last, last + states, rows + t * z.states());
  }
  T log = last ? last[states - 1] : states == 1 ? T(0) : Sequence<T>::kLowest;
  if (last && states > 1) log = LogSum(log, last[states - 2]);
  loss[n] = z.zero_infinity && std::isinf(log) ? T(0) : -log;
}

// As if the logarithms were what a softmax is taken of: the probabilities less the shares of the
// states. Behind LogSoftmax that is the gradient, of which nothing is left to take away.
template <class T>
void Backward(const Sizes& z, const Problem& problem, const T* dy, const T* x, const T* losses,
              const T* alpha, int64_t n, T* dx) {
  static const auto shares_of = MS_PICK_ISA(CtcShares<T>);
  static const auto exponentials = MS_PICK_ISA(CtcExponentials<T>);
  Sequence<T> sequence(z, problem, n, x, true);  // from the end, states too
  int64_t states = sequence.states, steps = sequence.steps;
  const T* rows = alpha + n * z.steps * z.states();
  T log = -losses[n];
  if (steps > 0) {
    const T* end = rows + (steps - 1) * z.states();
    log = states > 1 ? std::max(end[states - 1], end[states - 2]) : end[0];
  }
  if (z.zero_infinity && std::isinf(log)) steps = 0;
  std::vector<T> turned(static_cast<size_t>(states)), shares(static_cast<size_t>(states));
  for (int64_t t = z.steps - 1; t >= 0; --t) {
    T* to = dx + (t * z.batch + n) * z.classes;
    if (t >= steps) {
      std::fill(to, to + z.classes, T(0));
      continue;
    }
    const T* p = sequence.Probabilities(t);
    const T* beta = t == steps - 1 ? sequence.Begin(p) : sequence.Step(p);
    const T* row = rows + t * z.states();
    std::reverse_copy(row, row + states, turned.begin());
    shares_of(turned.data(), beta, p, losses[n], states, shares.data());
    exponentials(x + (t * z.batch + n) * z.classes, dy[n], z.classes, to);
    for (int64_t s = 0; s < states; ++s)
      to[sequence.class_of(s)] -= shares[static_cast<size_t>(s)] * dy[n];
  }
}

KernelChoice MakeForward(const KernelRequest& r) {
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    Sizes z(r, 0);
    std::vector<DType> types{r.dtype(0), r.dtype(1), r.dtype(2), r.dtype(3)};
    return FunctionKernel(
        [=, name = r.op.name](const KernelArgs& a) {
          Problem problem(a.in, types.data());
          problem.Check(name, z);
          ParallelFor(z.batch, z.cost_ns() / static_cast<double>(std::max<int64_t>(z.batch, 1)),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t n = begin; n < end; ++n)
                          Forward<T>(z, problem, static_cast<const T*>(a.in[0]), n,
                                     static_cast<T*>(a.out[0]), static_cast<T*>(a.out[1]));
                      });
        },
        z.cost_ns());
  });
}

KernelChoice MakeBackward(const KernelRequest& r) {
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    Sizes z(r, 1);
    std::vector<DType> types{r.dtype(1), r.dtype(2), r.dtype(3), r.dtype(4)};
    return FunctionKernel(
        [=, name = r.op.name](const KernelArgs& a) {
          Problem problem(a.in + 1, types.data());
          problem.Check(name, z);
          auto in = [&](size_t i) { return static_cast<const T*>(a.in[i]); };
          ParallelFor(z.batch, z.cost_ns() / static_cast<double>(std::max<int64_t>(z.batch, 1)),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t n = begin; n < end; ++n)
                          Backward<T>(z, problem, in(0), in(1), in(5), in(6), n,
                                      static_cast<T*>(a.out[0]));
                      });
        },
        z.cost_ns());
  });
}

}  // namespace

void AddCtc(KernelTable& table) {
  table.For("CTCForward").Try("reference", MakeForward);
  table.For("CTCBackward").Try("reference", MakeBackward);
}

}  // namespace ms::cpu
