#include "kernel/update_group.h"

#include <algorithm>

#include "ir/uses.h"
#include "kernel/node_kernels.h"
#include "kernel/update_chain.h"
#include "ops/update_group.h"

namespace ms {
namespace {

constexpr double kTicksPerNs = 16;
constexpr int64_t kGrain = 64;  // elements: where a chain may be cut between threads
// Elements that pass through a whole chain before the next ones: few enough that all arrays of a
// chain, and those of the next chunk, stay in the cache.
constexpr int64_t kChunk = 512;
constexpr size_t kScratchBytes = 64 << 10;

// Where an input or output of a launch is: an input or output of the group, or, for a value that
// only its chain sees, a slot of scratch memory, which holds it a chunk at a time.
struct Place {
  enum class Kind : uint8_t { kIn, kOut, kScratch };
  Kind kind;
  bool streams;  // read, and of the chain's size in memory
  uint32_t index;
  uint32_t item;  // bytes of an element
};

struct Member {
  std::shared_ptr<const RangeKernel> kernel;
  const OpDef* op;
  size_t in, out;  // where its inputs and outputs begin among the places of its chain
};

struct Chain {
  std::vector<Member> members;
  std::vector<Place> places;
  int64_t size = 0;
  int64_t ticks = 0;  // work per element
  int64_t start = 0;  // ticks of the chains before
  int64_t chunk = 0;
  std::vector<size_t> offsets;  // in scratch memory, by slot
};

class UpdateGroup : public Kernel {
 public:
  void Add(Chain chain, double cost_ns) {
    chain.start = ticks_;
    ticks_ += chain.size * chain.ticks;
    cost_ns_ += cost_ns;
    chains_.push_back(std::move(chain));
  }
  void Run(const KernelArgs& args) const override;
  std::string Contents() const override;

 private:
  static void RunChain(const Chain& chain, const KernelArgs& args, int64_t begin, int64_t end);

  std::vector<Chain> chains_;
  int64_t ticks_ = 0;
};

std::string UpdateGroup::Contents() const {
  size_t launches = 0;
  std::string names;
  for (const Chain& chain : chains_) {
    launches += chain.members.size();
    for (const Member& m : chain.members) names += (names.empty() ? "" : ", ") + m.op->name;
  }
  return fmt::format("a group of {} launches in {} chains: {}", launches, chains_.size(), names);
}

void UpdateGroup::Run(const KernelArgs& args) const {
  // Where the thread whose work begins at a tick begins in a chain; where the one before it ends.
  auto element = [](const Chain& chain, int64_t tick) -> int64_t {
    if (tick <= chain.start) return 0;
    int64_t i = (tick - chain.start) / chain.ticks;
    return i >= chain.size ? chain.size : i / kGrain * kGrain;
  };
  ParallelFor(ticks_, 1 / kTicksPerNs, [&](int64_t begin, int64_t end) {
    auto chain = std::upper_bound(chains_.begin(), chains_.end(), begin,
                                  [](int64_t tick, const Chain& c) { return tick < c.start; });
    for (--chain; chain != chains_.end() && chain->start < end; ++chain) {
      int64_t from = element(*chain, begin), to = element(*chain, end);
      if (from < to) RunChain(*chain, args, from, to);
    }
  });
}

// The arrays that a chain reads, each once.
class Streams {
 public:
  Streams(const Chain& chain, void* const* table) {
    for (size_t p = 0; p < chain.places.size(); ++p) {
      if (!chain.places[p].streams) continue;
      const auto* array = static_cast<const char*>(table[p]);
      bool known = std::any_of(arrays_, arrays_ + count_, [&](auto& a) { return a.at == array; });
      if (!known) arrays_[count_++] = {array, chain.places[p].item};
    }
  }

  // Asks for elements that will be read soon. One step after the other would wait for its own
  // array, while memory answers many requests at the same time.
  void Prefetch(int64_t begin, int64_t end) const {
    constexpr int64_t kLine = 64;
    for (const Array* a = arrays_; a != arrays_ + count_; ++a) {
      for (int64_t at = begin * a->item; at < end * a->item; at += kLine)
        __builtin_prefetch(a->at + at, 0, 2);
    }
  }

 private:
  struct Array {
    const char* at;
    int64_t item;
  };
  Array arrays_[kMaxChainPlaces];
  size_t count_ = 0;
};

void UpdateGroup::RunChain(const Chain& chain, const KernelArgs& args, int64_t begin, int64_t end) {
  alignas(64) char scratch[kScratchBytes];
  void* table[kMaxChainPlaces];
  for (size_t p = 0; p < chain.places.size(); ++p) {
    const Place& place = chain.places[p];
    if (place.kind == Place::Kind::kIn) table[p] = const_cast<void*>(args.in[place.index]);
    if (place.kind == Place::Kind::kOut) table[p] = args.out[place.index];
  }
  auto run = [&](int64_t from, int64_t to) {
    for (const Member& m : chain.members)
      m.kernel->RunRange({table + m.in, table + m.out}, from, to);
  };
  if (chain.members.size() == 1 && chain.offsets.empty()) return run(begin, end);
  Streams streams(chain, table);
  for (int64_t at = begin; at < end; at += chain.chunk) {
    for (size_t p = 0; p < chain.places.size(); ++p) {
      const Place& place = chain.places[p];
      if (place.kind != Place::Kind::kScratch) continue;
      // So that element `at` lies where the slot begins.
      auto address = reinterpret_cast<uintptr_t>(scratch + chain.offsets[place.index]);
      table[p] = reinterpret_cast<void*>(address - static_cast<uintptr_t>(at) * place.item);
    }
    int64_t stop = std::min(end, at + chain.chunk);
    streams.Prefetch(stop, std::min(end, stop + chain.chunk));
    run(at, stop);
  }
}

// Kernels and places of the chains of a body.
class Maker {
 public:
  Maker(const Graph& body, const Backend& backend) : kernels_(backend) {
    for (uint32_t i = 0; i < body.parameters().size(); ++i)
      places_[{body.parameters()[i], 0}] = {Place::Kind::kIn, false, i, 0};
    for (uint32_t i = 0; i < body.outputs().size(); ++i)
      places_[WithoutViews(body.outputs()[i])] = {Place::Kind::kOut, false, i, 0};
  }

  // "" or why it cannot be.
  std::string Add(const std::vector<const Node*>& nodes, UpdateGroup* group) {
    std::vector<ChainStep> steps;
    for (const Node* node : nodes) {
      if (node->op->view) continue;
      auto kernel = std::dynamic_pointer_cast<const RangeKernel>(kernels_.Of(*node));
      if (!kernel) return fmt::format("the kernel of '{}' does not run in parts", node->op->name);
      steps.push_back({node, std::move(kernel), node->inputs, OutputsOf(*node)});
    }
    auto inside = [&](const Var& v) { return !places_.contains(WithoutViews(v)); };
    JoinSteps(&steps, inside);
    Chain chain;
    std::unordered_map<Var, uint32_t, VarHash> slots;
    std::vector<size_t> items;  // by slot: bytes of an element
    auto place = [&](const Var& shown, bool read) {
      Var v = WithoutViews(shown);
      auto item = static_cast<uint32_t>(ItemSize(v.type().dtype()));
      auto known = places_.find(v);
      if (known != places_.end()) {
        bool streams = read && v.type().shape().size() > 1;
        chain.places.push_back({known->second.kind, streams, known->second.index, item});
        return;
      }
      auto [slot, fresh] = slots.try_emplace(v, static_cast<uint32_t>(items.size()));
      if (fresh) items.push_back(item);
      chain.places.push_back({Place::Kind::kScratch, false, slot->second, item});
    };
    double cost = 0;
    for (ChainStep& step : steps) {
      size_t in = chain.places.size();
      for (const Var& v : step.inputs) place(v, true);
      size_t out = chain.places.size();
      for (const Var& v : step.outputs) place(v, false);
      chain.size = step.kernel->size();
      auto ticks = static_cast<int64_t>(step.kernel->ns_per_element() * kTicksPerNs);
      chain.ticks += std::max<int64_t>(1, ticks);
      cost += step.kernel->cost_ns();
      chain.members.push_back({std::move(step.kernel), step.node->op, in, out});
    }
    if (chain.places.size() > kMaxChainPlaces) return "a chain is too long";
    LayOutScratch(items, &chain);
    group->Add(std::move(chain), cost);
    return "";
  }

 private:
  static void LayOutScratch(const std::vector<size_t>& items, Chain* chain) {
    size_t per_element = 0, offset = 0;
    for (size_t item : items) per_element += item;
    chain->chunk = kChunk;
    if (per_element > 0) {
      int64_t most = static_cast<int64_t>(kScratchBytes / per_element) / kGrain * kGrain;
      chain->chunk = std::min(kChunk, most);
    }
    MS_ASSERT(chain->chunk > 0);
    for (size_t item : items) {
      chain->offsets.push_back(offset);
      offset += item * static_cast<size_t>(chain->chunk);
    }
  }

  NodeKernels kernels_;
  std::unordered_map<Var, Place, VarHash> places_;  // of what lies in memory
};

}  // namespace

KernelChoice MakeUpdateGroup(const KernelRequest& request, const Backend& backend) {
  const Graph& body = *request.attr<Graph*>("body");
  auto group = std::make_unique<UpdateGroup>();
  Maker maker(body, backend);
  std::vector<const Node*> nodes;
  for (const Node* node : body.nodes()) {
    if (node->kind == NodeKind::kApply) nodes.push_back(node);
  }
  auto next = nodes.begin();
  for (int64_t size : request.attr<Ints>("chains")) {
    std::string refusal = maker.Add({next, next + size}, group.get());
    if (!refusal.empty()) return No("{}", refusal);
    next += size;
  }
  return group;
}

}  // namespace ms
