// Attention and its gradient, as the stub's libcudnn has them: the scores of all rows at once.
#include <algorithm>
#include <cmath>
#include <limits>

#include "dnn_values.h"

namespace stub::dnn {
namespace {

// What is done to the scores, from the tensor of one name to that of another.
struct Scored {
  std::vector<Step> steps;
  int64_t from = 0, to = 0;
};

Step BandOf(const Desc& d) {
  Tensor x = d.Part(3000)->AsTensor(), other = d.Part(3005)->AsTensor(),
         y = d.Part(3006)->AsTensor();
  auto run = [=](Values& values) {
    Array out = values.Get(x);
    double instead = values.Get(other).at[0];
    ForAll(out.sizes, [&](size_t e, const std::vector<int64_t>& at) {
      if (at[2] < at[3]) out.at[e] = instead;
    });
    values.Give(y, std::move(out));
  };
  return {run, {x, other, y}};
}

Scored ScoredOf(const Desc& d, int first) {
  Scored scored;
  if (!d.Has(first)) return scored;
  scored.from = d.Get<int64_t>(first + 1);
  scored.to = d.Get<int64_t>(first + 2);
  for (const Desc* step : d.Part(first)->steps)
    scored.steps.push_back(step->kind == kBand ? BandOf(*step) : StepOf(*step));
  return scored;
}

// Of one head: a row of `a` times one of `b`.
double Product(const Array& a, int64_t head, int64_t i, const Array& b, int64_t j) {
  int64_t width = a.sizes[3];
  const double* x = a.at.data() + (head * a.sizes[2] + i) * width;
  const double* y = b.at.data() + (head * b.sizes[2] + j) * width;
  double sum = 0;
  for (int64_t d = 0; d < width; ++d) sum += x[d] * y[d];
  return sum;
}
void AddTo(Array* to, int64_t head, int64_t i, const Array& from, int64_t j, double factor) {
  int64_t width = from.sizes[3];
  double* x = to->at.data() + (head * to->sizes[2] + i) * width;
  const double* y = from.at.data() + (head * from.sizes[2] + j) * width;
  for (int64_t d = 0; d < width; ++d) x[d] += factor * y[d];
}

// body(head, query, key, number among the scores)
void ForScores(const std::vector<int64_t>& sizes,
               const std::function<void(int64_t, int64_t, int64_t, size_t)>& body) {
  ForAll(sizes, [&](size_t e, const std::vector<int64_t>& at) {
    body(at[0] * sizes[1] + at[1], at[2], at[3], e);
  });
}

Array ScoresOf(Values& values, const Scored& scored, const Tensor& q, const Tensor& k,
               double scale) {
  const Array &query = values.Get(q), &key = values.Get(k);
  Array scores({q.sizes[0], q.sizes[1], q.sizes[2], k.sizes[2]});
  ForScores(scores.sizes, [&](int64_t head, int64_t i, int64_t j, size_t e) {
    scores.at[e] = static_cast<float>(scale * Product(query, head, i, key, j));
  });
  if (scored.steps.empty()) return scores;
  values.Put(scored.from, std::move(scores));
  for (const Step& step : scored.steps) step.run(values);
  return values.Get(scored.to);
}

Step ForwardOf(const Desc& d) {
  Tensor q = d.Part(2800)->AsTensor(), k = d.Part(2801)->AsTensor(), v = d.Part(2802)->AsTensor(),
         o = d.Part(2803)->AsTensor(), f = d.Part(2805)->AsTensor();
  const Desc& softmax = *d.Part(2814);
  Tensor s = softmax.Part(3102)->AsTensor(), p = softmax.Part(3104)->AsTensor();
  auto run = [=, scored = ScoredOf(d, 2811)](Values& values) {
    Array scores = ScoresOf(values, scored, q, k, values.Get(f).at[0]);
    const Array& value = values.Get(v);
    Array out(o.sizes), sums(s.sizes), powers(p.sizes);
    int64_t keys = k.sizes[2];
    for (int64_t row = 0; row < Elements(s.sizes); ++row) {
      const double* begin = scores.at.data() + row * keys;
      double most = *std::max_element(begin, begin + keys), sum = 0;
      for (int64_t j = 0; j < keys; ++j) sum += std::exp(begin[j] - most);
      int64_t head = row / q.sizes[2], i = row % q.sizes[2];
      for (int64_t j = 0; j < keys; ++j)
        AddTo(&out, head, i, value, j, std::exp(begin[j] - most) / sum);
      powers.at[static_cast<size_t>(row)] = sum;
      sums.at[static_cast<size_t>(row)] = static_cast<float>(most + std::log(sum));
    }
    values.Give(o, std::move(out));
    values.Give(s, std::move(sums));
    values.Give(p, std::move(powers));
  };
  Step step{run, {q, k, v, o, f, s, p}};
  for (const Step& inner : ScoredOf(d, 2811).steps)
    step.tensors.insert(step.tensors.end(), inner.tensors.begin(), inner.tensors.end());
  return step;
}

Step BackwardOf(const Desc& d) {
  auto tensor = [&](int attribute) { return d.Part(attribute)->AsTensor(); };
  Tensor q = tensor(2851), k = tensor(2852), v = tensor(2853), o = tensor(2854), s = tensor(2855),
         f = tensor(2856), dq = tensor(2859), dk = tensor(2860), dv = tensor(2861),
         dout = tensor(2862);
  auto run = [=, scored = ScoredOf(d, 2867)](Values& values) {
    double scale = values.Get(f).at[0];
    Array scores = ScoresOf(values, scored, q, k, scale);
    const Array &query = values.Get(q), &key = values.Get(k), &value = values.Get(v);
    const Array &out = values.Get(o), &sums = values.Get(s), &tangent = values.Get(dout);
    Array to_query(dq.sizes), to_key(dk.sizes), to_value(dv.sizes);
    ForScores(scores.sizes, [&](int64_t head, int64_t i, int64_t j, size_t e) {
      double p = std::exp(scores.at[e] - sums.at[static_cast<size_t>(head * q.sizes[2] + i)]);
      double delta = Product(out, head, i, tangent, i);
      double ds = p * (Product(tangent, head, i, value, j) - delta) * scale;
      AddTo(&to_query, head, i, key, j, ds);
      AddTo(&to_key, head, j, query, i, ds);
      AddTo(&to_value, head, j, tangent, i, p);
    });
    values.Give(dq, std::move(to_query));
    values.Give(dk, std::move(to_key));
    values.Give(dv, std::move(to_value));
  };
  Step step{run, {q, k, v, o, s, f, dq, dk, dv, dout}};
  for (const Step& inner : ScoredOf(d, 2867).steps)
    step.tensors.insert(step.tensors.end(), inner.tensors.begin(), inner.tensors.end());
  return step;
}

}  // namespace

Step AttentionOf(const Desc& d) { return d.kind == kAttention ? ForwardOf(d) : BackwardOf(d); }

int CheckAttention(const Desc& d) {
  bool forward = d.kind == kAttention;
  int first = forward ? 2800 : 2851, scores = forward ? 2811 : 2867;
  for (int i = 0; i < 4; ++i)
    if (!d.Part(first + i)) return Wrong("a part of attention is not finalized");
  Tensor q = d.Part(first)->AsTensor(), k = d.Part(first + 1)->AsTensor(),
         v = d.Part(first + 2)->AsTensor(), o = d.Part(first + 3)->AsTensor();
  auto alike = [&](const Tensor& a, const Tensor& b) {
    return a.sizes.size() == 4 && b.sizes.size() == 4 && a.sizes[0] == b.sizes[0] &&
           a.sizes[1] == b.sizes[1];
  };
  bool fits = alike(q, k) && alike(k, v) && alike(v, o) && q.sizes[3] == k.sizes[3] &&
              k.sizes[2] == v.sizes[2] && o.sizes[2] == q.sizes[2] && o.sizes[3] == v.sizes[3];
  if (!fits) return Wrong("the sizes of attention");
  if (d.Has(scores) != (d.Has(scores + 1) && d.Has(scores + 2)) ||
      (d.Has(scores) && !d.Part(scores)))
    return Wrong("what is done to scores");
  if (forward && !d.Part(2814)) return Wrong("a softmax that is not finalized");
  if (!forward) {
    const std::pair<int, Tensor> gradients[] = {{2859, q}, {2860, k}, {2861, v}, {2862, o}};
    for (const auto& [attribute, of] : gradients) {
      if (!d.Part(attribute) || d.Part(attribute)->AsTensor().sizes != of.sizes)
        return Wrong("the sizes of a gradient of attention");
    }
  }
  return 0;
}

}  // namespace stub::dnn
