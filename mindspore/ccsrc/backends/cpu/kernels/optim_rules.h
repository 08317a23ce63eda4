// Optimiser updates, element by element. A rule reads and writes s[]: the elements of the
// Parameters that it updates, then the gradient. Included into the namespace
// of a copy (MS_ISA): vectors for float32 in optim_isa.cc, every other type in optim.cc.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/kernels/optim.h"
#include "base/dtype.h"

namespace ms::cpu::MS_ISA {

// Scalars come in the order of the table in optim.cc.
template <class C>
struct MomentumRule {
  static constexpr int kFull = 3, kUpdated = 2;  // variable, accumulation | gradient
  C lr, momentum, scale;
  bool nesterov;
  explicit MomentumRule(const double* k)
      : lr(C(k[0])), momentum(C(k[1])), scale(C(k[2])), nesterov(k[3] != 0) {}
  void operator()(C* s) const {
    C g = s[2] * scale;
    s[1] = s[1] * momentum + g;
    s[0] -= lr * (nesterov ? g + s[1] * momentum : s[1]);
  }
};

template <class C>
struct SgdRule {
  static constexpr int kFull = 4, kUpdated = 3;  // parameters, accum, stat | gradient
  C lr, momentum, fresh, decay;
  bool nesterov;
  explicit SgdRule(const double* k)
      : lr(C(k[0])), momentum(C(k[1])), fresh(C(1 - k[2])), decay(C(k[3])), nesterov(k[4] != 0) {}
  void operator()(C* s) const {
    C g = s[3] + decay * s[0];
    C velocity = s[2] > 0 ? g : s[1] * momentum + fresh * g;
    C step = nesterov ? g + velocity * momentum : velocity;
    bool moves = momentum != 0;
    s[0] -= lr * (moves ? step : g);
    s[1] = moves ? velocity : s[1];
    s[2] = moves ? C(0) : s[2];
  }
};

// The same where `stat` is zero everywhere and there is momentum.
template <class C>
struct MovingSgdRule {
  static constexpr int kFull = 3, kUpdated = 2;  // parameters, accum | gradient
  SgdRule<C> all;
  void operator()(C* s) const {
    C g = s[2] + all.decay * s[0];
    s[1] = s[1] * all.momentum + all.fresh * g;
    s[0] -= all.lr * (all.nesterov ? g + s[1] * all.momentum : s[1]);
  }
};

// The same without momentum.
template <class C>
struct StillSgdRule {
  static constexpr int kFull = 2, kUpdated = 1;  // parameters | gradient
  SgdRule<C> all;
  void operator()(C* s) const { s[0] -= all.lr * (s[1] + all.decay * s[0]); }
};

template <class C>
struct AdamRule {
  static constexpr int kFull = 4, kUpdated = 3;  // var, m, v | gradient
  C lr, b1, b2, rest1, rest2, epsilon;
  bool nesterov;
  // beta1_power, beta2_power, lr, beta1, beta2, epsilon, use_nesterov
  explicit AdamRule(const double* k)
      : lr(C(k[2] * std::sqrt(1 - k[1]) / (1 - k[0]))),
        b1(C(k[3])),
        b2(C(k[4])),
        rest1(C(1 - k[3])),
        rest2(C(1 - k[4])),
        epsilon(C(k[5])),
        nesterov(k[6] != 0) {}
  void operator()(C* s) const {
    C g = s[3];
    s[1] += rest1 * (g - s[1]);
    s[2] += rest2 * (g * g - s[2]);
    C direction = nesterov ? b1 * s[1] + rest1 * g : s[1];
    s[0] -= lr * direction / (std::sqrt(s[2]) + epsilon);
  }
};

template <class C>
struct AdamWeightDecayRule {
  static constexpr int kFull = 4, kUpdated = 3;  // var, m, v | gradient
  C lr, rest1, rest2, epsilon, decay;
  explicit AdamWeightDecayRule(const double* k)
      : lr(C(k[0])), rest1(C(1 - k[1])), rest2(C(1 - k[2])), epsilon(C(k[3])), decay(C(k[4])) {}
  void operator()(C* s) const {
    C g = s[3];
    s[1] += rest1 * (g - s[1]);
    s[2] += rest2 * (g * g - s[2]);
    s[0] -= lr * (s[1] / (std::sqrt(s[2]) + epsilon) + decay * s[0]);
  }
};

template <class C>
struct AdaMaxRule {
  static constexpr int kFull = 4, kUpdated = 3;  // var, m, v | gradient
  C lr, rest1, b2, epsilon;
  // beta1_power, lr, beta1, beta2, epsilon
  explicit AdaMaxRule(const double* k)
      : lr(C(k[1] / (1 - k[0]))), rest1(C(1 - k[2])), b2(C(k[3])), epsilon(C(k[4])) {}
  void operator()(C* s) const {
    s[1] += rest1 * (s[3] - s[1]);
    C old = b2 * s[2], size = std::fabs(s[3]);
    s[2] = old > size ? old : size;
    s[0] -= lr * s[1] / (s[2] + epsilon);
  }
};

template <class C>
struct RmsPropRule {
  static constexpr int kFull = 4, kUpdated = 3;  // var, mean_square, moment | gradient
  C lr, rest, momentum, epsilon;
  explicit RmsPropRule(const double* k)
      : lr(C(k[0])), rest(C(1 - k[1])), momentum(C(k[2])), epsilon(C(k[3])) {}
  void operator()(C* s) const {
    s[1] += rest * (s[3] * s[3] - s[1]);
    s[2] = momentum * s[2] + lr * s[3] / std::sqrt(s[1] + epsilon);
    s[0] -= s[2];
  }
};

template <class C>
struct CenteredRmsPropRule {
  static constexpr int kFull = 5,
                       kUpdated = 4;  // var, mean_gradient, mean_square, moment | gradient
  C lr, rest, momentum, epsilon;
  explicit CenteredRmsPropRule(const double* k)
      : lr(C(k[0])), rest(C(1 - k[1])), momentum(C(k[2])), epsilon(C(k[3])) {}
  void operator()(C* s) const {
    s[1] += rest * (s[4] - s[1]);
    s[2] += rest * (s[4] * s[4] - s[2]);
    s[3] = momentum * s[3] + lr * s[4] / std::sqrt(s[2] - s[1] * s[1] + epsilon);
    s[0] -= s[3];
  }
};

template <class C>
struct AdagradRule {
  static constexpr int kFull = 3, kUpdated = 2;  // var, accum | gradient
  C lr, grows, epsilon;
  explicit AdagradRule(const double* k) : lr(C(k[0])), grows(C(k[1])), epsilon(C(k[2])) {}
  void operator()(C* s) const {
    s[1] += grows * s[2] * s[2];
    s[0] -= lr * s[2] / (std::sqrt(s[1]) + epsilon);
  }
};

template <class C>
struct AdadeltaRule {
  static constexpr int kFull = 4, kUpdated = 3;  // var, accum, accum_update | gradient
  C lr, rest, epsilon;
  explicit AdadeltaRule(const double* k) : lr(C(k[0])), rest(C(1 - k[1])), epsilon(C(k[2])) {}
  void operator()(C* s) const {
    s[1] += rest * (s[3] * s[3] - s[1]);
    C step = std::sqrt(s[2] + epsilon) / std::sqrt(s[1] + epsilon) * s[3];
    s[2] += rest * (step * step - s[2]);
    s[0] -= lr * step;
  }
};

template <class C>
struct FtrlRule {
  static constexpr int kFull = 4, kUpdated = 3;  // var, accum, linear | gradient
  C lr, l1, l2, power;
  explicit FtrlRule(const double* k) : lr(C(k[0])), l1(C(k[1])), l2(C(k[2])), power(C(k[3])) {}
  void operator()(C* s) const {
    C accum = s[1] + s[3] * s[3];
    C now = std::pow(accum, -power), before = std::pow(s[1], -power);
    s[2] += s[3] - (now - before) / lr * s[0];
    C clipped = s[2] > 0 ? l1 : -l1;
    s[0] = std::fabs(s[2]) > l1 ? (clipped - s[2]) / (now / lr + 2 * l2) : C(0);
    s[1] = accum;
  }
};

template <class C>
struct DescentRule {
  static constexpr int kFull = 2, kUpdated = 1;  // var | delta
  C alpha;
  explicit DescentRule(const double* k) : alpha(C(k[0])) {}
  void operator()(C* s) const { s[0] -= alpha * s[1]; }
};

// One pass: kScaled and kDecays say what the gradient meets on its way. Outputs may be the inputs
// they update: an element depends on elements at its own index only.
template <class T, bool kScaled, bool kDecays, class Rule>
void RunLoop(const Rule& given, const OnTheWay& way, const void* const* in, void* const* out,
             int64_t begin, int64_t end) {
  using C = ComputeType<T>;
  constexpr int kGradient = Rule::kFull - 1;
  const Rule rule = given;
  const C before = C(way.before), decay = C(way.decay), after = C(way.after);
  const T* from[Rule::kFull];
  T* to[Rule::kUpdated];
  for (int k = 0; k < Rule::kFull; ++k) from[k] = static_cast<const T*>(in[k]);
  for (int k = 0; k < Rule::kUpdated; ++k) to[k] = static_cast<T*>(out[k]);
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    C s[Rule::kFull];
    for (int k = 0; k < Rule::kFull; ++k) s[k] = static_cast<C>(from[k][i]);
    if constexpr (kScaled) s[kGradient] = s[kGradient] * before;
    if constexpr (kDecays) s[kGradient] = s[kGradient] + s[0] * decay;
    if constexpr (kScaled) s[kGradient] = s[kGradient] * after;
    rule(s);
    for (int k = 0; k < Rule::kUpdated; ++k) to[k][i] = static_cast<T>(s[k]);
  }
}

// What one loop of a rule needs besides the rule.
template <class T>
struct Update {
  const OnTheWay* way;
  const void* const* in;
  void* const* out;
  int64_t begin, end;

  template <class Rule>
  void Run(const Rule& rule) const {
    const OnTheWay& known = way ? *way : OnTheWay{};
    if constexpr (std::is_same_v<T, float>) {
      if (way && way->decays) return RunLoop<T, true, true>(rule, known, in, out, begin, end);
      if (way) return RunLoop<T, true, false>(rule, known, in, out, begin, end);
    }
    RunLoop<T, false, false>(rule, known, in, out, begin, end);
  }
};

// Memory is what an update waits for, so SGD touches no array that it leaves as it is: the velocity
// and `stat`, updated in place, where there is no momentum; `stat` once it is zero, which it is
// after the first update.
template <class T>
void RunSgd(const double* k, const Update<T>& all) {
  using C = ComputeType<T>;
  const SgdRule<C> rule(k);
  bool in_place = all.in[1] == all.out[1] && all.in[2] == all.out[2];
  if (!in_place) return all.Run(rule);
  if (rule.momentum == 0) {
    const void* in[] = {all.in[0], all.in[3]};
    return Update<T>{all.way, in, all.out, all.begin, all.end}.Run(StillSgdRule<C>{rule});
  }
  constexpr int64_t kBlock = 512;
  const void* in[] = {all.in[0], all.in[1], all.in[3]};
  const T* stat = static_cast<const T*>(all.in[2]);
  for (int64_t i = all.begin; i < all.end; i += kBlock) {
    int64_t stop = i + kBlock < all.end ? i + kBlock : all.end;
    int fresh = 0;
    for (int64_t j = i; j < stop; ++j) fresh |= static_cast<C>(stat[j]) != 0;
    if (fresh)
      Update<T>{all.way, all.in, all.out, i, stop}.Run(rule);
    else
      Update<T>{all.way, in, all.out, i, stop}.Run(MovingSgdRule<C>{rule});
  }
}

template <class T>
void RunUpdate(UpdateKind kind, const double* k, const OnTheWay* way, const void* const* in,
               void* const* out, int64_t begin, int64_t end) {
  using C = ComputeType<T>;
  const Update<T> update{way, in, out, begin, end};
  switch (kind) {
    case UpdateKind::kMomentum:
      return update.Run(MomentumRule<C>(k));
    case UpdateKind::kSgd:
      return RunSgd<T>(k, update);
    case UpdateKind::kAdam:
      return update.Run(AdamRule<C>(k));
    case UpdateKind::kAdamWeightDecay:
      return update.Run(AdamWeightDecayRule<C>(k));
    case UpdateKind::kAdaMax:
      return update.Run(AdaMaxRule<C>(k));
    case UpdateKind::kRmsProp:
      return update.Run(RmsPropRule<C>(k));
    case UpdateKind::kCenteredRmsProp:
      return update.Run(CenteredRmsPropRule<C>(k));
    case UpdateKind::kAdagrad:
      return update.Run(AdagradRule<C>(k));
    case UpdateKind::kAdadelta:
      return update.Run(AdadeltaRule<C>(k));
    case UpdateKind::kFtrl:
      return update.Run(FtrlRule<C>(k));
    case UpdateKind::kDescent:
      return update.Run(DescentRule<C>(k));
  }
}

}  // namespace ms::cpu::MS_ISA
