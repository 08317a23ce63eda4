// How the stub's libcudnn computes.
#include <fmt/format.h>

#include <set>

#include "dnn_values.h"

namespace stub::dnn {

Stream*& TheStream() {
  static Stream* stream = nullptr;
  return stream;
}

int64_t WorkspaceOf(int engine) { return engine == 0 ? 4096 : engine == 1 ? 0 : 512; }

Convolution ConvolutionOf(const Desc& step) {
  int first = step.first();
  auto tensor = [&](int i) { return step.Part(first + i)->AsTensor(); };
  const Desc& windows = *step.Part(first + 2);
  return {step.kind,
          tensor(4),
          tensor(3),
          tensor(5),
          windows.All<int64_t>(103),
          windows.All<int64_t>(102),
          windows.All<int64_t>(105),
          windows.All<int64_t>(104)};
}

int CheckConvolution(const Convolution& c) {
  size_t rank = c.strides.size();
  if (c.x.sizes.size() != rank + 2 || c.w.sizes.size() != rank + 2 || c.y.sizes.size() != rank + 2)
    return Wrong("the dimensions of a convolution");
  bool fits = c.x.sizes[0] == c.y.sizes[0] && c.w.sizes[0] == c.y.sizes[1] &&
              c.x.sizes[1] % c.w.sizes[1] == 0 && c.x.type == c.w.type;
  for (size_t i = 0; fits && i < rank; ++i) {
    int64_t span = (c.w.sizes[i + 2] - 1) * c.dilations[i] + 1;
    int64_t padded = c.x.sizes[i + 2] + c.before[i] + c.after[i];
    fits = c.y.sizes[i + 2] == (padded - span) / c.strides[i] + 1;
  }
  return fits ? 0 : Wrong("the sizes of a convolution");
}

namespace {

// Calls body(element of x, of w, of y) for each product.
void ForProducts(const Convolution& c, const std::function<void(size_t, size_t, size_t)>& body) {
  int64_t per_group = c.w.sizes[1], groups = c.x.sizes[1] / per_group;
  int64_t outs = c.w.sizes[0] / groups, rank = static_cast<int64_t>(c.strides.size());
  std::vector<int64_t> taps(c.w.sizes.begin() + 2, c.w.sizes.end());
  int64_t tap_count = Elements(taps);
  int64_t volume = 1;
  for (int64_t i = 0; i < rank; ++i) volume *= c.x.sizes[static_cast<size_t>(i) + 2];
  ForAll(c.y.sizes, [&](size_t y, const std::vector<int64_t>& at) {
    int64_t group = at[1] / outs;
    ForAll(taps, [&](size_t tap, const std::vector<int64_t>& k) {
      int64_t place = 0;
      for (size_t i = 0; i < static_cast<size_t>(rank); ++i) {
        int64_t p = at[i + 2] * c.strides[i] + k[i] * c.dilations[i] - c.before[i];
        if (p < 0 || p >= c.x.sizes[i + 2]) return;
        place = place * c.x.sizes[i + 2] + p;
      }
      for (int64_t channel = 0; channel < per_group; ++channel) {
        int64_t x = (at[0] * c.x.sizes[1] + group * per_group + channel) * volume + place;
        int64_t w = (at[1] * per_group + channel) * tap_count + static_cast<int64_t>(tap);
        body(static_cast<size_t>(x), static_cast<size_t>(w), y);
      }
    });
  });
}

Step ConvolutionStep(const Desc& d) {
  auto run = [c = ConvolutionOf(d)](Values& values) {
    bool forward = c.kind == kForward, data = c.kind == kData;
    const Tensor& target = forward ? c.y : data ? c.x : c.w;
    Array out(target.sizes);
    const Array& first = values.Get(forward || !data ? c.x : c.w);
    const Array& second = values.Get(forward ? c.w : c.y);
    ForProducts(c, [&](size_t x, size_t w, size_t y) {
      if (forward)
        out.at[y] += first.at[x] * second.at[w];
      else if (data)
        out.at[x] += first.at[w] * second.at[y];
      else
        out.at[w] += first.at[x] * second.at[y];
    });
    values.Give(target, std::move(out));
  };
  Convolution c = ConvolutionOf(d);
  return {run, {c.x, c.w, c.y}};
}

// The tensors of all steps must have addresses that hold them, unless they lie between steps.
int CheckTensor(const Tensor& t, const Values& values) {
  if (t.between) return 0;
  bool known = t.on_host ? values.numbers.contains(t.name) : values.addresses.contains(t.name);
  if (!known) return Wrong(fmt::format("tensor {} has no address", t.name));
  if (t.on_host) return 0;
  uint64_t address = values.addresses.at(t.name);
  if (!Holds(address, Extent(t))) return Wrong("a tensor goes beyond a block");
  if (address % static_cast<uint64_t>(t.alignment)) return Wrong("a tensor is not aligned");
  return 0;
}

struct Run {
  std::vector<Step> steps;
  Values values;

  void operator()() {
    values.Forget();
    for (const Step& step : steps) step.run(values);
  }
};

// Which of the names stand for numbers on the host: those are read now.
void Address(const std::vector<Step>& steps, const std::vector<int64_t>& names,
             const std::vector<uint64_t>& addresses, Values& values) {
  std::set<int64_t> on_host;
  for (const Step& step : steps) {
    for (const Tensor& t : step.tensors)
      if (t.on_host) on_host.insert(t.name);
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (on_host.contains(names[i]))
      values.numbers[names[i]] = *reinterpret_cast<const float*>(addresses[i]);
    else
      values.addresses[names[i]] = addresses[i];
  }
}

}  // namespace

Step StepOf(const Desc& d) {
  if (d.first()) return ConvolutionStep(d);
  if (d.kind == kAttention || d.kind == kAttentionGrad) return AttentionOf(d);
  Tensor x = d.Part(751)->AsTensor(), y = d.Part(753)->AsTensor();
  if (d.Part(750)->Get<int>(0) == 100) {
    auto run = [=](Values& values) {
      Array out = values.Get(x);
      for (double& v : out.at) v = v > 0 || v != v ? v : 0;
      values.Give(y, std::move(out));
    };
    return {run, {x, y}};
  }
  Tensor b = d.Part(752)->AsTensor();
  auto run = [=](Values& values) {
    Array out = values.Get(x);
    const Array& added = values.Get(b);
    std::vector<int64_t> strides(added.sizes.size());
    int64_t dense = 1;
    for (size_t i = strides.size(); i-- > 0; dense *= added.sizes[i])
      strides[i] = added.sizes[i] == 1 ? 0 : dense;
    ForAll(out.sizes, [&](size_t e, const std::vector<int64_t>& index) {
      out.at[e] += added.at[static_cast<size_t>(Offset(index, strides))];
    });
    values.Give(y, std::move(out));
  };
  return {run, {x, b, y}};
}

}  // namespace stub::dnn

using namespace stub;       // NOLINT: this file is about nothing else
using namespace stub::dnn;  // NOLINT

STUB_ENTRY cudnnBackendExecute(void* handle, void* plan, void* pack) {
  std::lock_guard lock(TheMutex());
  if (handle != &handle_mark || !TheStream()) return Wrong("cudnnBackendExecute: a handle");
  if (!Descs().Has(plan) || !Descs().Has(pack)) return Wrong("cudnnBackendExecute: a descriptor");
  auto &p = *static_cast<Desc*>(plan), &v = *static_cast<Desc*>(pack);
  if (!p.final || p.kind != kPlan || !v.final || v.kind != kPack || !Descs().Has(p.graph))
    return Wrong("cudnnBackendExecute: a plan and a pack");
  Run run;
  bool convolves = p.graph->steps[0]->first() != 0;
  run.values.coarse = convolves && p.engine == 0;
  auto bytes = static_cast<size_t>(WorkspaceOf(p.engine));
  if (bytes && !Holds(v.Get<uint64_t>(1003), bytes)) return Wrong("too little workspace");
  for (Desc* step : p.graph->steps) {
    if (!Descs().Has(step)) return Wrong("a step of a graph has gone");
    run.steps.push_back(StepOf(*step));
  }
  Address(run.steps, v.All<int64_t>(1000), v.All<uint64_t>(1001), run.values);
  for (const Step& step : run.steps) {
    for (const Tensor& t : step.tensors)
      if (int result = CheckTensor(t, run.values)) return result;
  }
  Count(convolves ? fmt::format("dnn engine {}", p.engine) : "dnn attention");
  TheStream()->Launch(run);
  return 0;
}
