// Random ops: each run takes the next offset of the generator, and element i depends on nothing but
// the key and i. Where several processes train one network, i counts on from the samples of those
// before.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "backends/cpu/cpu.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/random_stream.h"
#include "backends/cpu/strided_copy.h"
#include "kernel/kernel.h"
#include "kernel/parallel.h"
#include "kernel/sample_part.h"

namespace ms::cpu {

MS_DECLARE_ISA(void UniformGroup(const RandomKey& key, int64_t group, float* out);
               void NormalGroup(const RandomKey& key, int64_t group, float* out);
               void DropoutGroup(const RandomKey& key, int64_t group, uint64_t threshold,
                                 float scale, const float* x, float* y, float* mask);)

namespace {

constexpr double kGroupNs = 60;

// body(group, first element, count) for groups of `per_group` elements.
template <class F>
void ForGroups(int64_t size, int64_t per_group, double extra_ns, F&& body) {
  ParallelFor((size + per_group - 1) / per_group, kGroupNs + extra_ns,
              [&](int64_t begin, int64_t end) {
                for (int64_t g = begin; g < end; ++g)
                  body(g, g * per_group, std::min(per_group, size - g * per_group));
              });
}

// body(group, first word, first element, count) for elements that begin somewhere in the stream.
template <class F>
void ForWords(int64_t size, int64_t start, double extra_ns, F&& body) {
  int64_t first_group = start / kWordsPerGroup;
  int64_t groups = (start + size + kWordsPerGroup - 1) / kWordsPerGroup - first_group;
  ParallelFor(groups, kGroupNs + extra_ns, [&](int64_t begin, int64_t end) {
    for (int64_t g = first_group + begin; g < first_group + end; ++g) {
      int64_t from = std::max(g * kWordsPerGroup, start);
      int64_t to = std::min((g + 1) * kWordsPerGroup, start + size);
      body(g, from - g * kWordsPerGroup, from - start, to - from);
    }
  });
}

using GroupFn = void (*)(const RandomKey&, int64_t, float*);

KernelChoice MakeFloats(const KernelRequest& r, GroupFn fill) {
  int64_t size = r.out[0].shape().size();
  Seeds seeds(r, "seed", "seed2");
  return FunctionKernel(
      [=](const KernelArgs& a) {
        RandomKey key = seeds.Next(a.random);
        float* y = static_cast<float*>(a.out[0]);
        ForGroups(size, kWordsPerGroup, 40, [&](int64_t g, int64_t first, int64_t n) {
          if (n == kWordsPerGroup) return fill(key, g, y + first);
          float last[kWordsPerGroup];
          fill(key, g, last);
          std::copy(last, last + n, y + first);
        });
      },
      1.5 * static_cast<double>(size));
}

template <class T>
void FillIntegers(const KernelArgs& a, const RandomKey& key, int64_t size) {
  T low = *static_cast<const T*>(a.in[0]), high = *static_cast<const T*>(a.in[1]);
  if (low >= high) {
    Throw(ErrorKind::kValue,
          "For 'UniformInt', 'minval' must be less than 'maxval', but got {} and {}.", low, high);
  }
  uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  T* y = static_cast<T*>(a.out[0]);
  static const auto fill = MS_PICK_ISA(RandomWords);
  ForGroups(size, 32, 60, [&](int64_t g, int64_t first, int64_t n) {
    if (range >> 32 != 0) {
      Wide wide(key);
      for (int64_t i = first; i < first + n; ++i)
        y[i] = static_cast<T>(static_cast<uint64_t>(low) + wide.Below(i, range));
      return;
    }
    // The same product of 64 by 32 bits in two halves.
    uint32_t words[kWordsPerGroup];
    fill(key, g, words);
    for (int64_t i = 0; i < n; ++i) {
      uint64_t carry = words[i + 32] * range >> 32;
      y[first + i] =
          static_cast<T>(static_cast<uint64_t>(low) + ((words[i] * range + carry) >> 32));
    }
  });
}

KernelChoice MakeIntegers(const KernelRequest& r) {
  int64_t size = r.out[0].shape().size();
  bool narrow = r.dtype(0) == DType::kInt32;
  Seeds seeds(r, "seed", "seed2");
  return FunctionKernel(
      [=](const KernelArgs& a) {
        RandomKey key = seeds.Next(a.random);
        if (narrow)
          FillIntegers<int32_t>(a, key, size);
        else
          FillIntegers<int64_t>(a, key, size);
      },
      4.0 * static_cast<double>(size));
}

// Fisher and Yates.
template <class T>
void Permute(const RandomKey& key, int64_t n, T* y) {
  std::iota(y, y + n, T(0));
  Wide wide(key);
  for (int64_t i = 0; i + 1 < n; ++i) {
    std::swap(y[i], y[i + static_cast<int64_t>(wide.Below(i, static_cast<uint64_t>(n - i)))]);
  }
}

KernelChoice MakePermutation(const KernelRequest& r) {
  int64_t n = r.attr<int64_t>("n");
  bool narrow = r.out[0].dtype() == DType::kInt32;
  Seeds seeds(r, "seed", "seed2");
  return FunctionKernel(
      [=](const KernelArgs& a) {
        RandomKey key = seeds.Next(a.random);
        if (narrow)
          Permute(key, n, static_cast<int32_t*>(a.out[0]));
        else
          Permute(key, n, static_cast<int64_t*>(a.out[0]));
      },
      8.0 * static_cast<double>(n));
}

// ---- dropout
// Words below this are taken.
uint64_t Threshold(double probability) {
  return static_cast<uint64_t>(std::llround(probability * 4294967296.0));
}

void DropFloats(const KernelArgs& a, const RandomKey& key, const Shape& shape, double keep) {
  static const auto drop = MS_PICK_ISA(DropoutGroup);
  const float* x = static_cast<const float*>(a.in[0]);
  float *y = static_cast<float*>(a.out[0]), *mask = static_cast<float*>(a.out[1]);
  auto scale = static_cast<float>(1 / keep);
  uint64_t threshold = DropoutThreshold(keep);
  ForWords(shape.size(), FirstElement(shape), 30,
           [&](int64_t g, int64_t word, int64_t first, int64_t n) {
             if (n == kWordsPerGroup)
               return drop(key, g, threshold, scale, x + first, y + first, mask + first);
             float in[kWordsPerGroup] = {}, out[kWordsPerGroup], kept[kWordsPerGroup];
             std::copy(x + first, x + first + n, in + word);
             drop(key, g, threshold, scale, in, out, kept);
             std::copy(out + word, out + word + n, y + first);
             std::copy(kept + word, kept + word + n, mask + first);
           });
}

template <class T>
void DropElements(const KernelArgs& a, const RandomKey& key, const Shape& shape, double keep) {
  using C = ComputeType<T>;
  static const auto words_of = MS_PICK_ISA(RandomWords);
  const T* x = static_cast<const T*>(a.in[0]);
  T *y = static_cast<T*>(a.out[0]), *mask = static_cast<T*>(a.out[1]);
  uint64_t threshold = DropoutThreshold(keep);
  ForWords(shape.size(), FirstElement(shape), 100,
           [&](int64_t g, int64_t word, int64_t first, int64_t n) {
             uint32_t words[kWordsPerGroup];
             words_of(key, g, words);
             for (int64_t i = 0; i < n; ++i) {
               bool kept = words[word + i] < threshold;
               y[first + i] =
                   kept ? T(static_cast<C>(x[first + i]) * static_cast<C>(1 / keep)) : T(C(0));
               mask[first + i] = T(C(kept ? 1 : 0));
             }
           });
}

KernelChoice MakeDropout(const KernelRequest& r) {
  Shape shape = r.shape(0);
  Seeds seeds(r, "Seed0", "Seed1");
  double keep = r.attr<double>("keep_prob");
  double cost = 1.2 * static_cast<double>(shape.size());
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (!IsFloating(kDTypeOf<T>)) {
      return No("needs a float type, got {}", Name(kDTypeOf<T>));
    } else {
      return FunctionKernel(
          [=](const KernelArgs& a) {
            RandomKey key = seeds.Next(a.random);
            if constexpr (std::is_same_v<T, float>)
              DropFloats(a, key, shape, keep);
            else
              DropElements<T>(a, key, shape, keep);
          },
          cost);
    }
  });
}

KernelChoice MakeDropoutGrad(const KernelRequest& r) {
  int64_t size = r.shape(0).size();
  double scale = 1 / r.attr<double>("keep_prob");
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (!IsFloating(kDTypeOf<T>)) {
      return No("needs a float type, got {}", Name(kDTypeOf<T>));
    } else {
      return FunctionKernel(
          [=](const KernelArgs& a) {
            using C = ComputeType<T>;
            const T *dy = static_cast<const T*>(a.in[0]), *mask = static_cast<const T*>(a.in[1]);
            T* dx = static_cast<T*>(a.out[0]);
            ParallelFor(size, 0.3, [&](int64_t begin, int64_t end) {
#pragma GCC ivdep
              for (int64_t i = begin; i < end; ++i) {
                dx[i] = T(static_cast<C>(dy[i]) * static_cast<C>(mask[i]) * static_cast<C>(scale));
              }
            });
          },
          0.3 * static_cast<double>(size));
    }
  });
}

// ---- sampling
// The elements of a float tensor as doubles.
std::vector<double> Doubles(const void* in, DType dtype, int64_t n) {
  std::vector<double> out(static_cast<size_t>(n));
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (IsFloating(kDTypeOf<T>)) {
      for (int64_t i = 0; i < n; ++i)
        out[static_cast<size_t>(i)] = static_cast<ComputeType<T>>(static_cast<const T*>(in)[i]);
    }
  });
  return out;
}

KernelChoice MakeBernoulli(const KernelRequest& r) {
  Shape shape = r.shape(0);
  int64_t size = shape.size(), probabilities = r.shape(1).size();
  Seeds seeds(r, "seed", "seed2");
  auto words_of = MS_PICK_ISA(RandomWords);
  Tensor zero = Tensor::Full(r.dtype(0), Shape{}, 0), one = Tensor::Full(r.dtype(0), Shape{}, 1);
  size_t item = ItemSize(r.dtype(0));
  return FunctionKernel(
      [=, dtype = r.dtype(1)](const KernelArgs& a) {
        RandomKey key = seeds.Next(a.random);
        std::vector<double> p = Doubles(a.in[1], dtype, probabilities);
        for (double v : p) {
          if (!(v >= 0 && v <= 1))
            Throw(ErrorKind::kValue, "For 'Bernoulli', 'p' must be in [0, 1], but got {}.", v);
        }
        auto draw = [&](int64_t g, int64_t word, int64_t first, int64_t n) {
          uint32_t words[kWordsPerGroup];
          words_of(key, g, words);
          for (int64_t i = 0; i < n; ++i) {
            double chance = p[probabilities == 1 ? 0 : static_cast<size_t>(first + i)];
            const Tensor& value = words[word + i] < Threshold(chance) ? one : zero;
            std::memcpy(static_cast<char*>(a.out[0]) + static_cast<size_t>(first + i) * item,
                        value.raw(), item);
          }
        };
        ForWords(size, FirstElement(shape), 150, draw);
      },
      4.0 * static_cast<double>(size));
}

// Running sums, by 256 stretches: a block of a GPU's threads shares them like this, and has the
// same bits.
std::vector<double> RunningSums(const std::vector<double>& weights) {
  std::vector<double> sums;
  size_t stretch = (weights.size() + 255) / 256;
  double before = 0, sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (i % stretch == 0) before += std::exchange(sum, 0);
    sums.push_back(before + (sum += weights[i]));
  }
  return sums;
}

// With replacement: the inverse of the running sum. Without: the smallest of exponential waiting
// times, whose rates are the weights.
void SampleRow(const std::vector<double>& weights, int64_t row, int64_t samples, bool replacement,
               Wide& wide, int64_t* out) {
  auto k = static_cast<int64_t>(weights.size());
  int64_t positive = 0, needed = replacement ? 1 : samples;
  for (double w : weights) {
    if (!(w >= 0) || std::isinf(w))
      Throw(ErrorKind::kValue,
            "For 'Multinomial', the weights must be finite and not negative, but got {}.", w);
    positive += w > 0;
  }
  if (positive < needed) {
    Throw(ErrorKind::kValue,
          "For 'Multinomial', a row must have at least {} positive weights, but got {}.", needed,
          positive);
  }
  if (replacement) {
    std::vector<double> sums = RunningSums(weights);
    for (int64_t i = 0; i < samples; ++i) {
      auto it =
          std::upper_bound(sums.begin(), sums.end(), wide.Uniform(row * samples + i) * sums.back());
      auto at = std::min<int64_t>(it - sums.begin(), k - 1);
      while (weights[static_cast<size_t>(at)] == 0)
        --at;  // only where rounding met the end of the sum
      out[i] = at;
    }
    return;
  }
  std::vector<std::pair<double, int64_t>> times;
  for (int64_t i = 0; i < k; ++i) {
    double w = weights[static_cast<size_t>(i)];
    if (w > 0) times.emplace_back(-std::log(wide.Uniform(row * k + i)) / w, i);
  }
  std::partial_sort(times.begin(), times.begin() + samples, times.end());
  for (int64_t i = 0; i < samples; ++i) out[i] = times[static_cast<size_t>(i)].second;
}

KernelChoice MakeMultinomial(const KernelRequest& r) {
  int64_t k = r.shape(0).back(), rows = r.shape(0).size() / k,
          samples = r.attr<int64_t>("num_samples");
  bool replacement = r.attr<bool>("replacement"), narrow = r.out[0].dtype() == DType::kInt32;
  Seeds seeds(r, "seed", "seed2");
  return FunctionKernel(
      [=, dtype = r.dtype(0)](const KernelArgs& a) {
        Wide wide(seeds.Next(a.random));
        std::vector<int64_t> picked(static_cast<size_t>(samples));
        for (int64_t row = 0; row < rows; ++row) {
          const char* from =
              static_cast<const char*>(a.in[0]) + static_cast<size_t>(row * k) * ItemSize(dtype);
          SampleRow(Doubles(from, dtype, k), row, samples, replacement, wide, picked.data());
          for (int64_t i = 0; i < samples; ++i) {
            int64_t at = picked[static_cast<size_t>(i)];
            if (narrow)
              static_cast<int32_t*>(a.out[0])[row * samples + i] = static_cast<int32_t>(at);
            else
              static_cast<int64_t*>(a.out[0])[row * samples + i] = at;
          }
        }
      },
      20.0 * static_cast<double>(rows * (k + samples)));
}

KernelChoice MakeOffset(const KernelRequest&) {
  return FunctionKernel(
      [](const KernelArgs& a) {
        *static_cast<int64_t*>(a.out[0]) = static_cast<int64_t>(a.random->offset());
      },
      1.0);
}

KernelChoice MakeSetOffset(const KernelRequest&) {
  return FunctionKernel(
      [](const KernelArgs& a) {
        auto before = static_cast<int64_t>(a.random->offset());
        a.random->Set(a.random->seed(), *static_cast<const uint64_t*>(a.in[0]));
        *static_cast<int64_t*>(a.out[0]) = before;
      },
      1.0);
}

// What a Dropout in this place would draw with.
KernelChoice MakeDropoutKey(const KernelRequest& r) {
  Seeds seeds(r, "Seed0", "Seed1");
  return FunctionKernel(
      [seeds](const KernelArgs& a) {
        RandomKey key = seeds.Next(a.random);
        auto* out = static_cast<uint64_t*>(a.out[0]);
        out[0] = key.seed;
        out[1] = key.offset;
      },
      1.0);
}

template <class T>
void FillDropoutMask(const KernelArgs& a, const Shape& shape, double keep) {
  const auto* key = static_cast<const uint64_t*>(a.in[0]);
  uint64_t threshold = DropoutThreshold(keep);
  static const auto fill = MS_PICK_ISA(RandomWords);
  auto draw = [&](int64_t g, int64_t word, int64_t first, int64_t n) {
    uint32_t words[kWordsPerGroup];
    fill({key[0], key[1]}, g, words);
    T* y = static_cast<T*>(a.out[0]) + first;
    for (int64_t i = 0; i < n; ++i)
      y[i] = words[word + i] < threshold ? static_cast<T>(1 / keep) : T(0);
  };
  ForWords(shape.size(), FirstElement(shape), 30, draw);
}

KernelChoice MakeDropoutMask(const KernelRequest& r) {
  Shape shape = r.out[0].shape();
  double keep = r.attr<double>("keep_prob");
  bool wide = r.out[0].dtype() == DType::kFloat64;
  return FunctionKernel(
      [=](const KernelArgs& a) {
        wide ? FillDropoutMask<double>(a, shape, keep) : FillDropoutMask<float>(a, shape, keep);
      },
      1.2 * static_cast<double>(shape.size()));
}

}  // namespace

uint64_t DropoutThreshold(double keep_prob) { return std::max<uint64_t>(Threshold(keep_prob), 1); }

void AddRandom(KernelTable& table) {
  AddRejected(table);
  table.For("RandomOffset").Try("reference", MakeOffset);
  table.For("SetRandomOffset").Try("reference", MakeSetOffset);
  table.For("StandardNormal").Try("vector", [](const KernelRequest& r) {
    return MakeFloats(r, MS_PICK_ISA(NormalGroup));
  });
  table.For("UniformReal").Try("vector", [](const KernelRequest& r) {
    return MakeFloats(r, MS_PICK_ISA(UniformGroup));
  });
  table.For("UniformInt").Try("reference", MakeIntegers);
  table.For("RandomPermutation").Try("reference", MakePermutation);
  table.For("Dropout").Try("vector", MakeDropout);
  table.For("DropoutGrad").Try("reference", MakeDropoutGrad);
  table.For("DropoutKey").Try("reference", MakeDropoutKey);
  table.For("DropoutMask").Try("vector", MakeDropoutMask);
  table.For("Bernoulli").Try("reference", MakeBernoulli);
  table.For("Multinomial").Try("reference", MakeMultinomial);
}

}  // namespace ms::cpu
