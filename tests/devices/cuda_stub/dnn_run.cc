// How the stub's libcudnn computes.
#include <fmt/format.h>

#include <functional>

#include "dnn.h"
#include "numbers.h"

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

// The numbers of a tensor, dense.
struct Array {
  std::vector<int64_t> sizes;
  std::vector<double> at;
};

int64_t Elements(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}
// body(number in row-major order, index)
void ForAll(const std::vector<int64_t>& sizes,
            const std::function<void(size_t, const std::vector<int64_t>&)>& body) {
  std::vector<int64_t> index(sizes.size());
  auto count = static_cast<size_t>(Elements(sizes));
  for (size_t e = 0; e < count; ++e) {
    body(e, index);
    for (size_t i = sizes.size(); i-- > 0;) {
      if (++index[i] < sizes[i]) break;
      index[i] = 0;
    }
  }
}
int64_t Offset(const std::vector<int64_t>& index, const std::vector<int64_t>& strides) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
  return offset;
}
size_t Extent(const Tensor& t) {
  int64_t last = 0;
  for (size_t i = 0; i < t.sizes.size(); ++i) last += (t.sizes[i] - 1) * t.strides[i];
  return static_cast<size_t>(last + 1) * SizeOf(t.type);
}

Array Read(const Tensor& t, uint64_t address, bool coarse) {
  Array array{t.sizes, std::vector<double>(static_cast<size_t>(Elements(t.sizes)))};
  const char* memory = static_cast<const char*>(Open(address));
  ForAll(t.sizes, [&](size_t e, const std::vector<int64_t>& index) {
    double value =
        Get(memory + Offset(index, t.strides) * static_cast<int64_t>(SizeOf(t.type)), t.type);
    // As a tensor core has it: ten bits behind the point.
    if (coarse && t.type == 0)
      value = BitsToFloat((FloatToBits(static_cast<float>(value)) + 0x1000) & ~0x1fff);
    array.at[e] = value;
  });
  return array;
}
void Write(const Tensor& t, uint64_t address, const Array& array) {
  char* memory = static_cast<char*>(Open(address));
  ForAll(t.sizes, [&](size_t e, const std::vector<int64_t>& index) {
    Put(memory + Offset(index, t.strides) * static_cast<int64_t>(SizeOf(t.type)), t.type,
        array.at[e]);
  });
}

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

struct Step {
  bool convolves = false;
  Convolution convolution;
  int mode = 0;
  Tensor x, b, y;
};

class Run {
 public:
  std::vector<Step> steps;
  std::map<int64_t, uint64_t> addresses;
  bool coarse = false;

  void operator()() {
    values_.clear();
    for (const Step& step : steps) step.convolves ? Convolve(step.convolution) : Walk(step);
  }

 private:
  const Array& Value(const Tensor& t) {
    auto it = values_.find(t.name);
    if (it != values_.end()) return it->second;
    return values_[t.name] = Read(t, addresses.at(t.name), coarse);
  }
  void Give(const Tensor& t, Array array) {
    if (!t.between) Write(t, addresses.at(t.name), array);
    values_[t.name] = std::move(array);
  }

  void Convolve(const Convolution& c) {
    bool forward = c.kind == kForward, data = c.kind == kData;
    const Tensor& target = forward ? c.y : data ? c.x : c.w;
    Array out{target.sizes, std::vector<double>(static_cast<size_t>(Elements(target.sizes)))};
    const Array& first = Value(forward || !data ? c.x : c.w);
    const Array& second = Value(forward ? c.w : c.y);
    ForProducts(c, [&](size_t x, size_t w, size_t y) {
      if (forward)
        out.at[y] += first.at[x] * second.at[w];
      else if (data)
        out.at[x] += first.at[w] * second.at[y];
      else
        out.at[w] += first.at[x] * second.at[y];
    });
    Give(target, std::move(out));
  }

  void Walk(const Step& step) {
    Array out = Value(step.x);
    if (step.mode == 100) {
      for (double& v : out.at) v = v > 0 || v != v ? v : 0;
    } else {
      const Array& b = Value(step.b);
      std::vector<int64_t> strides(b.sizes.size());
      int64_t dense = 1;
      for (size_t i = strides.size(); i-- > 0; dense *= b.sizes[i])
        strides[i] = b.sizes[i] == 1 ? 0 : dense;
      ForAll(out.sizes, [&](size_t e, const std::vector<int64_t>& index) {
        out.at[e] += b.at[static_cast<size_t>(Offset(index, strides))];
      });
    }
    Give(step.y, std::move(out));
  }

  std::map<int64_t, Array> values_;
};

// The tensors of all steps must have addresses that hold them, unless they lie between steps.
int CheckTensor(const Tensor& t, const std::map<int64_t, uint64_t>& addresses) {
  if (t.between) return 0;
  auto it = addresses.find(t.name);
  if (it == addresses.end()) return Wrong(fmt::format("tensor {} has no address", t.name));
  if (!Holds(it->second, Extent(t))) return Wrong("a tensor goes beyond a block");
  if (it->second % static_cast<uint64_t>(t.alignment)) return Wrong("a tensor is not aligned");
  return 0;
}

int AddStep(const Desc& d, Run& run) {
  Step step;
  std::vector<Tensor> tensors;
  if (d.first()) {
    step.convolves = true;
    step.convolution = ConvolutionOf(d);
    tensors = {step.convolution.x, step.convolution.w, step.convolution.y};
  } else {
    step.mode = d.Part(750)->Get<int>(0);
    step.x = d.Part(751)->AsTensor();
    step.y = d.Part(753)->AsTensor();
    tensors = {step.x, step.y};
    if (step.mode == 0) tensors.push_back(step.b = d.Part(752)->AsTensor());
  }
  for (const Tensor& t : tensors) {
    if (int result = CheckTensor(t, run.addresses)) return result;
  }
  run.steps.push_back(std::move(step));
  return 0;
}

}  // namespace
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
  run.coarse = p.engine == 0;
  std::vector<int64_t> names = v.All<int64_t>(1000);
  std::vector<uint64_t> addresses = v.All<uint64_t>(1001);
  for (size_t i = 0; i < names.size(); ++i) run.addresses[names[i]] = addresses[i];
  auto bytes = static_cast<size_t>(WorkspaceOf(p.engine));
  if (bytes && !Holds(v.Get<uint64_t>(1003), bytes)) return Wrong("too little workspace");
  for (Desc* step : p.graph->steps) {
    if (!Descs().Has(step)) return Wrong("a step of a graph has gone");
    if (int result = AddStep(*step, run)) return result;
  }
  Count(fmt::format("dnn engine {}", p.engine));
  TheStream()->Launch(run);
  return 0;
}
