// libcudnn, as the stub has it: descriptors are checked as the real one checks them, and what their
// graphs say is computed by plain loops, in doubles.
#include "dnn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "numbers.h"
#include "stub.h"

namespace stub::dnn {

int handle_mark;

namespace {

// What each kind of descriptor may have: the type of each attribute (DOUBLE stands for FLOAT, too),
// and whether it must be there.
struct Fact {
  int type;
  bool needed = true;
};
const std::map<int, std::map<int, Fact>>& Facts() {
  static const std::map<int, Fact> alpha_beta{{0, {5}},  {1, {5}},  {2, {15}},
                                              {3, {15}}, {4, {15}}, {5, {15}}};
  static const auto* facts = [] {
    auto* all = new std::map<int, std::map<int, Fact>>{
        {kPointwise, {{0, {14}}, {1, {1}}, {2, {10, false}}}},
        {kConvolution,
         {{100, {1}}, {101, {7}}, {102, {3}}, {103, {3}}, {104, {3}}, {105, {3}}, {106, {3}}}},
        {kHeuristics, {{200, {8}}, {201, {15}}}},
        {kPlan, {{400, {0}}, {401, {15}}}},
        {kStep, {{750, {15}}, {751, {15}}, {752, {15, false}}, {753, {15}}}},
        {kGraph, {{800, {0, false}}, {801, {15}}}},
        {kTensor, {{900, {3}}, {901, {1}}, {902, {3}}, {903, {3}}, {906, {3}}, {907, {2, false}}, {908, {2, false}}}},
        {kPack, {{1000, {3}}, {1001, {6}}, {1003, {6}}}},
        {kBand, {{3000, {15}}, {3005, {15}}, {3006, {15}}, {3007, {14}}}},
        {kSoftmax, {{3100, {15}}, {3101, {15}}, {3102, {15}}, {3104, {15}}}},
        {kEngine, {}},
        {kConfig, {}}};
    for (int attribute : {2800, 2801, 2802, 2803, 2805, 2814})
      (*all)[kAttention][attribute] = {15};
    for (int attribute : {2851, 2852, 2853, 2854, 2855, 2856, 2859, 2860, 2861, 2862})
      (*all)[kAttentionGrad][attribute] = {15};
    for (auto [kind, first] : {std::pair{kAttention, 2811}, {kAttentionGrad, 2867}}) {
      (*all)[kind][first] = {15, false};
      for (int i = 1; i < 3; ++i) (*all)[kind][first + i] = {3, false};
    }
    for (auto [kind, first] : {std::pair{kForward, 700}, {kData, 706}, {kFilter, 712}}) {
      for (auto [i, fact] : alpha_beta) (*all)[kind][first + i] = fact;
    }
    return all;
  }();
  return *facts;
}

size_t BytesOf(int type) {
  if (type == 2) return 1;
  return type == 0 || type == 3 || type == 5 || type == 6 || type == 15 ? 8 : 4;
}

std::string& LastError() {
  static std::string text;
  return text;
}

}  // namespace

Handles<Desc>& Descs() {
  static auto* all = new Handles<Desc>;
  return *all;
}
int Wrong(const std::string& what) {
  LastError() = what;
  return Refuse(kBadParam, "cuDNN: " + what);
}
int NotHere(const std::string& what) {
  LastError() = what;
  return kNotSupported;
}

Desc* Desc::Part(int attribute, int64_t i) const {
  auto* part = All<Desc*>(attribute)[static_cast<size_t>(i)];
  return Descs().Has(part) && part->final ? part : nullptr;
}

Tensor Desc::AsTensor() const {
  Tensor t;
  t.type = Get<int>(901) == 9 ? 14 : Get<int>(901);
  t.alignment = Get<int64_t>(900);
  t.name = Get<int64_t>(906);
  t.sizes = All<int64_t>(902);
  t.strides = All<int64_t>(903);
  t.between = Has(907) && Get<bool>(907);
  t.on_host = Has(908) && Get<bool>(908);
  return t;
}

namespace {

int FinalizeTensor(const Desc& d) {
  Tensor t = d.AsTensor();
  bool fits = t.sizes.size() == t.strides.size() && t.sizes.size() >= 3;
  for (size_t i = 0; fits && i < t.sizes.size(); ++i) fits = t.sizes[i] > 0 && t.strides[i] > 0;
  if (!fits) return Wrong("a tensor's sizes or strides");
  if (t.alignment % static_cast<int64_t>(SizeOf(t.type))) return Wrong("a tensor's alignment");
  return 0;
}

int FinalizeWindows(const Desc& d) {
  auto rank = static_cast<size_t>(d.Get<int64_t>(106));
  for (int attribute : {102, 103, 104, 105}) {
    if (d.All<int64_t>(attribute).size() != rank) return Wrong("a convolution's rank");
  }
  if (d.Get<int>(101) != 1) return Wrong("the stub knows cross-correlation alone");
  return 0;
}

int FinalizeConvolution(const Desc& d) {
  int first = d.first();
  for (int i = 2; i < 6; ++i) {
    if (!d.Part(first + i)) return Wrong("a convolution's part is not finalized");
  }
  double alpha = d.Scalar(first), beta = d.Scalar(first + 1);
  if (alpha != 1 || beta != 0) return Wrong("the stub knows alpha 1 and beta 0 alone");
  return CheckConvolution(ConvolutionOf(d));
}

int FinalizeStep(const Desc& d) {
  if (!d.Part(750) || !d.Part(751) || !d.Part(753)) return Wrong("a step's part");
  int mode = d.Part(750)->Get<int>(0);
  if (mode != 0 && mode != 100) return Wrong("a function that the stub does not know");
  if ((mode == 0) != d.Has(752)) return Wrong("a step's second tensor");
  Tensor x = d.Part(751)->AsTensor(), y = d.Part(753)->AsTensor();
  bool fits = x.sizes == y.sizes;
  if (d.Has(752)) {
    if (!d.Part(752)) return Wrong("a step's second tensor");
    Tensor b = d.Part(752)->AsTensor();
    fits &= b.sizes.size() == y.sizes.size();
    for (size_t i = 0; fits && i < b.sizes.size(); ++i)
      fits = b.sizes[i] == 1 || b.sizes[i] == y.sizes[i];
  }
  return fits ? 0 : Wrong("the sizes of a step over elements");
}

int FinalizeGraph(Desc& d) {
  if (d.Has(800) && d.Get<void*>(800) != &handle_mark) return Wrong("a graph's handle");
  for (size_t i = 0; i < d.All<Desc*>(801).size(); ++i) {
    Desc* step = d.Part(801, static_cast<int64_t>(i));
    if (!step) return Wrong("a graph's step is not finalized");
    d.steps.push_back(step);
  }
  if (d.Has(800)) Record(d);  // not one inside a step
  return 0;
}

int FinalizePlan(Desc& d) {
  Desc* config = d.Part(401);
  if (!config || !config->graph) return Wrong("a plan's configuration");
  if (d.Get<void*>(400) != &handle_mark) return Wrong("a plan's handle");
  d.graph = config->graph;
  d.engine = config->engine;
  if (!Descs().Has(d.graph)) return Wrong("a plan's graph has gone");
  const Desc& first = *d.graph->steps[0];
  if (first.kind == kAttention || first.kind == kAttentionGrad) {
    bool half = SizeOf(first.Part(first.kind == kAttention ? 2800 : 2851)->AsTensor().type) == 2;
    if (d.engine != 0 || !half) return NotHere("the engine knows attention of halves alone");
    return Chip() < 80 ? NotHere("the engine needs compute capability 8.0") : 0;
  }
  if (!first.first()) return Wrong("a graph begins with a convolution or attention");
  bool tensor_core = d.engine == 0;
  if (!tensor_core && d.graph->steps.size() > 1)
    return NotHere("the engine computes a convolution alone");
  Tensor y = first.Part(first.first() + 5)->AsTensor();
  if (tensor_core && y.alignment < 16) return NotHere("the engine needs 16 bytes of alignment");
  if (d.engine != 2 && y.type == 1) return NotHere("the engine knows no doubles");
  if (Chip() < 80 && y.type == 14) return NotHere("the GPU has no BFloat16");
  return 0;
}

int FinalizeKind(Desc& d) {
  switch (d.kind) {
    case kTensor:
      return FinalizeTensor(d);
    case kConvolution:
      return FinalizeWindows(d);
    case kForward:
    case kData:
    case kFilter:
      return FinalizeConvolution(d);
    case kStep:
      return FinalizeStep(d);
    case kAttention:
    case kAttentionGrad:
      return CheckAttention(d);
    case kBand:
      return d.Get<int>(3007) == 303 ? 0 : Wrong("the stub knows a lower triangle alone");
    case kGraph:
      return FinalizeGraph(d);
    case kHeuristics:
      return d.Part(201) && d.Part(201)->kind == kGraph && d.Part(201)->Has(800) ? 0 : Wrong("a graph is not finalized");
    case kPlan:
      return FinalizePlan(d);
    case kPack:
      return d.All<int64_t>(1000).size() == d.All<void*>(1001).size() ? 0 : Wrong("a pack's sizes");
    default:
      return 0;
  }
}

// What the heuristics put first: quick, by chance order, plain.
int64_t Rank(const Desc& heuristics, int64_t wanted, void* out) {
  std::vector<int> engines = heuristics.Get<int>(200) == 2 ? std::vector{2} : std::vector{0, 1, 2};
  auto count = static_cast<int64_t>(engines.size());
  for (int64_t i = 0; i < std::min(count, wanted); ++i) {
    Desc* config = static_cast<Desc**>(out)[i];
    if (!Descs().Has(config) || config->kind != kConfig) return -1;
    config->graph = heuristics.Part(201);
    config->engine = engines[static_cast<size_t>(i)];
    config->final = true;
  }
  return wanted ? std::min(count, wanted) : count;
}

std::vector<int> NotesOf(const Desc& engine) {
  bool forward = engine.graph->steps[0]->kind == kForward;
  if (engine.engine == 0) return {0};
  if (engine.engine == 1 && !forward) return {4};
  return {};
}

}  // namespace
}  // namespace stub::dnn

using namespace stub;       // NOLINT: this file is about nothing else
using namespace stub::dnn;  // NOLINT

STUB_ENTRY cudnnCreate(void** handle) { return *handle = &handle_mark, 0; }
STUB_ENTRY cudnnSetStream(void* handle, void* stream) {
  std::lock_guard lock(TheMutex());
  if (handle != &handle_mark || !Streams().Has(stream)) return Wrong("cudnnSetStream: a handle");
  return TheStream() = static_cast<Stream*>(stream), 0;
}
extern "C" __attribute__((visibility("default"))) size_t cudnnGetVersion() {
  return static_cast<size_t>(Said("CUDNN", 92800));
}
extern "C" __attribute__((visibility("default"))) size_t cudnnGetCudartVersion() {
  return static_cast<size_t>(Said("CUDNN_CUDA", Said("DRIVER", 13000) / 1000 * 1000));
}
extern "C" __attribute__((visibility("default"))) void cudnnGetLastErrorString(char* text,
                                                                               size_t size) {
  std::lock_guard lock(TheMutex());
  std::snprintf(text, size, "%s", LastError().c_str());
}
STUB_ENTRY cudnnBackendCreateDescriptor(int kind, void** descriptor) {
  std::lock_guard lock(TheMutex());
  if (!Facts().contains(kind)) return Wrong(fmt::format("no descriptor of kind {}", kind));
  Desc made;
  made.kind = kind;
  return *descriptor = Descs().Add(made), 0;
}
STUB_ENTRY cudnnBackendDestroyDescriptor(void* descriptor) {
  std::lock_guard lock(TheMutex());
  if (!Descs().Has(descriptor)) return Wrong("cudnnBackendDestroyDescriptor: no descriptor");
  return Descs().Remove(descriptor), 0;
}
STUB_ENTRY cudnnBackendSetAttribute(void* descriptor, int attribute, int type, int64_t count,
                                    const void* values) {
  std::lock_guard lock(TheMutex());
  if (!Descs().Has(descriptor)) return Wrong("cudnnBackendSetAttribute: no descriptor");
  auto& d = *static_cast<Desc*>(descriptor);
  if (d.final) return Wrong("an attribute of what is finalized");
  const auto& facts = Facts().at(d.kind);
  auto fact = facts.find(attribute);
  bool fits = fact != facts.end() && count >= 1 &&
              (fact->second.type == type || (fact->second.type == 5 && type == 4));
  if (!fits)
    return Wrong(fmt::format("attribute {} of type {} for kind {}", attribute, type, d.kind));
  const char* bytes = static_cast<const char*>(values);
  d.attributes[attribute] = {type, {bytes, bytes + BytesOf(type) * static_cast<size_t>(count)}};
  return 0;
}
STUB_ENTRY cudnnBackendFinalize(void* descriptor) {
  std::lock_guard lock(TheMutex());
  if (!Descs().Has(descriptor)) return Wrong("cudnnBackendFinalize: no descriptor");
  auto& d = *static_cast<Desc*>(descriptor);
  if (d.final) return Wrong("a descriptor is finalized twice");
  for (auto [attribute, fact] : Facts().at(d.kind)) {
    if (fact.needed && !d.Has(attribute))
      return Wrong(fmt::format("attribute {} of kind {} is missing", attribute, d.kind));
  }
  if (int result = FinalizeKind(d)) return result;
  return d.final = true, 0;
}
STUB_ENTRY cudnnBackendGetAttribute(void* descriptor, int attribute, int type, int64_t wanted,
                                    int64_t* count, void* out) {
  std::lock_guard lock(TheMutex());
  if (!Descs().Has(descriptor)) return Wrong("cudnnBackendGetAttribute: no descriptor");
  auto& d = *static_cast<Desc*>(descriptor);
  if (!d.final) return Wrong("an attribute is read before it is finalized");
  if (d.kind == kHeuristics && attribute == 202 && type == 15) {
    *count = Rank(d, wanted, out);
    return *count < 0 ? Wrong("results are no configurations") : 0;
  }
  if (d.kind == kConfig && attribute == 300 && type == 15 && wanted == 1) {
    Desc* engine = *static_cast<Desc**>(out);
    if (!Descs().Has(engine) || engine->kind != kEngine) return Wrong("no engine to be filled");
    engine->graph = d.graph;
    engine->engine = d.engine;
    engine->final = true;
    return *count = 1, 0;
  }
  if (d.kind == kEngine && attribute == 1303 && type == 11) {
    std::vector<int> notes = NotesOf(d);
    std::copy(notes.begin(), notes.end(), static_cast<int*>(out));
    return *count = static_cast<int64_t>(notes.size()), 0;
  }
  if (d.kind == kPlan && attribute == 402 && type == 3 && wanted == 1) {
    *static_cast<int64_t*>(out) = WorkspaceOf(d.engine);
    return *count = 1, 0;
  }
  return Wrong(fmt::format("attribute {} of kind {} is read as {}", attribute, d.kind, type));
}
