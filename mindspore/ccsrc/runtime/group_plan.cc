#include "runtime/group_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "kernel/range_kernel.h"

namespace ms {
namespace {

using Kernels = std::vector<std::shared_ptr<const Kernel>>;

// Whether a step may be part of a chain: element i of its outputs is made of elements i of its
// inputs, and of single elements.
bool MayJoin(const Node& node, const Kernel* kernel) {
  if (node.op->view) return true;
  const auto* range = dynamic_cast<const RangeKernel*>(kernel);
  if (!range || range->size() <= 1 || node.inputs.size() + node.outputs.size() > kMaxChainPlaces)
    return false;
  auto full = [&](const Type& t) { return t.shape().size() == range->size(); };
  return std::all_of(
             node.inputs.begin(), node.inputs.end(),
             [&](const Var& v) { return full(v.type()) || v.type().shape().size() == 1; }) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), full);
}

class Grouping {
 public:
  Grouping(const Graph& graph, StepOrder* order, Kernels* kernels)
      : order_(*order), kernels_(*kernels) {
    Vars inputs = graph.inputs();
    for (auto [output, input] : graph.updates) {
      Var value = WithoutViews(graph.outputs()[static_cast<size_t>(output)]);
      old_.emplace(value, inputs[static_cast<size_t>(input)]);
    }
    plan_.group.assign(order_.nodes.size(), -1);
    plan_.chain.assign(order_.nodes.size(), -1);
  }

  GroupPlan Run() {
    for (auto [begin, end] : order_.updates) {
      for (size_t i = begin; i < end;) {
        size_t stop = i;
        while (stop < end && MayJoin(*order_.nodes[stop], kernels_[stop].get())) ++stop;
        if (stop > i) Group(i, stop);
        i = std::max(stop, i + 1);
      }
    }
    return std::move(plan_);
  }

 private:
  struct Chain {
    std::vector<size_t> steps;
    size_t launches = 0;
    size_t places = 0;
  };

  // Steps that touch the same value of more than one element are one chain. The new value of a
  // parameter touches the old one, in whose memory it may be.
  std::vector<Chain> FindChains(size_t begin, size_t end) const {
    std::vector<size_t> parent(end - begin);
    std::iota(parent.begin(), parent.end(), size_t{0});
    auto root = [&](size_t i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    std::unordered_map<Var, size_t, VarHash> toucher;
    for (size_t i = begin; i < end; ++i) {
      const Node& node = *order_.nodes[i];
      auto touch = [&](const Var& v) {
        if (v.type().shape().size() <= 1) return;
        auto [it, fresh] = toucher.try_emplace(WithoutViews(v), i - begin);
        if (!fresh) parent[root(i - begin)] = root(it->second);
      };
      for (const Var& v : node.inputs) touch(v);
      for (uint32_t o = 0; o < node.outputs.size(); ++o) {
        Var made{const_cast<Node*>(&node), o};
        touch(made);
        if (auto old = old_.find(made); old != old_.end()) touch(old->second);
      }
    }
    std::map<size_t, size_t> number;
    std::vector<Chain> chains;
    for (size_t i = begin; i < end; ++i) {
      auto [it, fresh] = number.try_emplace(root(i - begin), chains.size());
      if (fresh) chains.emplace_back();
      Chain& chain = chains[it->second];
      chain.steps.push_back(i);
      if (!kernels_[i]) continue;
      ++chain.launches;
      chain.places += order_.nodes[i]->inputs.size() + order_.nodes[i]->outputs.size();
    }
    return chains;
  }

  // Chains that are too long run launch by launch, after the others.
  void Group(size_t begin, size_t end) {
    std::vector<Chain> chains = FindChains(begin, end);
    auto fits = [](const Chain& c) { return c.places <= kMaxChainPlaces && c.launches > 0; };
    auto rest = std::stable_partition(chains.begin(), chains.end(), fits);
    size_t launches = 0;
    for (auto c = chains.begin(); c != rest; ++c) launches += c->launches;
    std::vector<const Node*> nodes;
    Kernels kernels;
    for (auto c = chains.begin(); c != chains.end(); ++c) {
      for (size_t step : c->steps) {
        if (launches > 1 && c < rest) {
          plan_.group[begin + nodes.size()] = groups_;
          plan_.chain[begin + nodes.size()] = chains_;
        }
        nodes.push_back(order_.nodes[step]);
        kernels.push_back(kernels_[step]);
      }
      ++chains_;
    }
    ++groups_;
    std::copy(nodes.begin(), nodes.end(),
              order_.nodes.begin() + static_cast<std::ptrdiff_t>(begin));
    std::move(kernels.begin(), kernels.end(),
              kernels_.begin() + static_cast<std::ptrdiff_t>(begin));
  }

  StepOrder& order_;
  Kernels& kernels_;
  std::unordered_map<Var, Var, VarHash> old_;  // by a parameter's new value
  GroupPlan plan_;
  int groups_ = 0;
  int chains_ = 0;
};

}  // namespace

Var WithoutViews(Var v) {
  while (v.node->op && v.node->op->view) v = v.node->inputs[0];
  return v;
}

GroupPlan GroupLaunches(const Graph& graph, StepOrder* order, Kernels* kernels) {
  return Grouping(graph, order, kernels).Run();
}

}  // namespace ms
