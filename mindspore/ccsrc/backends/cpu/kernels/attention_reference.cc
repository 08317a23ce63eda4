// Attention for every float type, plainly, one query at a time: what the blocks are tested against,
// and float64's own.
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/kernels/attention_loops.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

// The operands of one head, computed with in C.
template <class T, class C>
class Head {
 public:
  Head(const AttentionSizes& s, const KernelArgs& args, int64_t head)
      : s_(s),
        query_(static_cast<const T*>(args.in[0]) + head * s.queries * s.depth),
        key_(static_cast<const T*>(args.in[1]) + head * s.keys * s.depth),
        value_(static_cast<const T*>(args.in[2]) + head * s.keys * s.value_depth),
        mask_(static_cast<const char*>(args.in[3]) +
              s.MaskOffset(head) * static_cast<int64_t>(s.hides ? 1 : sizeof(T))),
        dropout_(DropoutOf(s, args.in[4], head)) {}

  bool Hidden(int64_t i, int64_t j) const {
    return s_.hides && mask_[i * s_.mask_row + j * s_.mask_column] != 0;
  }
  C Score(int64_t i, int64_t j) const {
    if (Hidden(i, j)) return static_cast<C>(s_.fill);
    C sum = 0;
    for (int64_t c = 0; c < s_.depth; ++c) sum += Query(i, c) * Key(j, c);
    sum *= static_cast<C>(s_.scale);
    if (s_.adds) {
      sum +=
          static_cast<C>(reinterpret_cast<const T*>(mask_)[i * s_.mask_row + j * s_.mask_column]);
    }
    return sum;
  }
  // What dropout multiplies a probability by.
  C Weight(int64_t i, int64_t j) const {
    if (s_.keep == 1) return 1;
    int64_t element = dropout_.first + i * s_.keys + j;
    uint32_t words[kWordsPerGroup];
    base::RandomWords(dropout_.key, element / kWordsPerGroup, words);
    return words[element % kWordsPerGroup] <= dropout_.last ? static_cast<C>(1 / s_.keep) : C(0);
  }
  C Query(int64_t i, int64_t c) const { return static_cast<C>(query_[i * s_.depth + c]); }
  C Key(int64_t j, int64_t c) const { return static_cast<C>(key_[j * s_.depth + c]); }
  C Value(int64_t j, int64_t c) const { return static_cast<C>(value_[j * s_.value_depth + c]); }

 private:
  const AttentionSizes& s_;
  const T *query_, *key_, *value_;
  const char* mask_;
  AttentionDropout dropout_;
};

template <class T, class C>
void Row(const AttentionSizes& s, const Head<T, C>& head, int64_t i, std::vector<C>& p, T* out,
         C* row_largest, C* log_sum) {
  int64_t seen = s.Seen(i);
  C largest = -std::numeric_limits<C>::infinity(), sum = 0;
  for (int64_t j = 0; j < seen; ++j) {
    p[static_cast<size_t>(j)] = head.Score(i, j);
    largest = std::max(largest, p[static_cast<size_t>(j)]);
  }
  C shift = std::isinf(largest) && largest < 0 ? C(0) : largest;
  for (int64_t j = 0; j < seen; ++j) {
    C& e = p[static_cast<size_t>(j)];
    e = std::exp(e - shift);
    sum += e;
    e *= head.Weight(i, j);
  }
  for (int64_t c = 0; c < s.value_depth; ++c) {
    C total = 0;
    for (int64_t j = 0; j < seen; ++j) total += p[static_cast<size_t>(j)] * head.Value(j, c);
    out[c] = static_cast<T>(seen == 0 ? C(0) : total / sum);
  }
  *row_largest = largest;
  *log_sum = std::log(sum);
}

template <class C>
struct Gradients {
  std::vector<C> query, key, value;
};

template <class T, class C>
void AddRowGradients(const AttentionSizes& s, const Head<T, C>& head, int64_t i, C largest,
                     C log_sum, C delta, const T* dout, Gradients<C>* sums) {
  for (int64_t j = 0; j < s.Seen(i); ++j) {
    C p = std::exp(head.Score(i, j) - largest - log_sum), w = head.Weight(i, j), product = 0;
    C* dvalue = sums->value.data() + j * s.value_depth;
    for (int64_t c = 0; c < s.value_depth; ++c) {
      product += static_cast<C>(dout[c]) * head.Value(j, c);
      dvalue[c] += p * w * static_cast<C>(dout[c]);
    }
    if (head.Hidden(i, j)) continue;
    C ds = p * (product * w - delta) * static_cast<C>(s.scale);
    for (int64_t c = 0; c < s.depth; ++c) {
      sums->query[static_cast<size_t>(i * s.depth + c)] += ds * head.Key(j, c);
      sums->key[static_cast<size_t>(j * s.depth + c)] += ds * head.Query(i, c);
    }
  }
}

template <class T, class C>
void HeadGradients(const AttentionSizes& s, const KernelArgs& args, int64_t h) {
  Head<T, C> head(s, args, h);
  Gradients<C> sums;
  sums.query.assign(static_cast<size_t>(s.queries * s.depth), 0);
  sums.key.assign(static_cast<size_t>(s.keys * s.depth), 0);
  sums.value.assign(static_cast<size_t>(s.keys * s.value_depth), 0);
  for (int64_t i = 0; i < s.queries; ++i) {
    int64_t row = h * s.queries + i;
    auto of_row = [&](int input) { return static_cast<const C*>(args.in[input])[row]; };
    AddRowGradients(s, head, i, of_row(5), of_row(6), of_row(7),
                    static_cast<const T*>(args.in[8]) + row * s.value_depth, &sums);
  }
  auto write = [&](int output, const std::vector<C>& from) {
    T* to = static_cast<T*>(args.out[output]) + h * static_cast<int64_t>(from.size());
    for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<T>(from[i]);
  };
  write(0, sums.query);
  write(1, sums.key);
  write(2, sums.value);
}

template <class F>
KernelChoice ForFloats(const KernelRequest& r, F&& make) {
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (!IsFloating(kDTypeOf<T>)) {
      return No("needs a float type, got {}", Name(kDTypeOf<T>));
    } else {
      return make(TypeTag<T>());
    }
  });
}

}  // namespace

KernelChoice ReferenceAttention(const KernelRequest& r) {
  return ForFloats(r, [&]<class T>(TypeTag<T>) -> KernelChoice {
    using C = ComputeType<T>;
    AttentionSizes s(r);
    return FunctionKernel(
        [s](const KernelArgs& args) {
          ParallelFor(s.heads * s.queries, static_cast<double>(s.keys * (s.depth + s.value_depth)),
                      [&](int64_t begin, int64_t end) {
                        std::vector<C> p(static_cast<size_t>(s.keys));
                        for (int64_t row = begin; row < end; ++row) {
                          Head<T, C> head(s, args, row / s.queries);
                          Row(s, head, row % s.queries, p,
                              static_cast<T*>(args.out[0]) + row * s.value_depth,
                              static_cast<C*>(args.out[1]) + row,
                              static_cast<C*>(args.out[2]) + row);
                        }
                      });
        },
        s.Work());
  });
}

KernelChoice ReferenceAttentionGrad(const KernelRequest& r) {
  return ForFloats(r, [&]<class T>(TypeTag<T>) -> KernelChoice {
    using C = ComputeType<T>;
    AttentionSizes s(r);
    return FunctionKernel(
        [s](const KernelArgs& args) {
          ParallelFor(s.heads, 2.5 * s.Work() / static_cast<double>(std::max<int64_t>(s.heads, 1)),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t h = begin; h < end; ++h) HeadGradients<T, C>(s, args, h);
                      });
        },
        2.5 * s.Work());
  });
}

}  // namespace ms::cpu
