#include "driver/lower.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ir/var_map.h"
#include "kernel/node_kernels.h"
#include "kernel/refusal.h"

namespace ms {
namespace {

using Accepts = std::function<bool(const Node&)>;

const Attrs kNoAttrs;

const Attrs& AttrsOf(const Node& node) { return node.attrs ? *node.attrs : kNoAttrs; }

class Lowering {
 public:
  Lowering(Graph& graph, const Accepts& accepted)
      : graph_(graph), accepted_(accepted), emitter_(&graph) {}

  void Run() {
    std::vector<Node*> original = graph_.nodes();
    if (std::none_of(original.begin(), original.end(),
                     [this](const Node* node) { return MustExpand(*node); }))
      return;
    std::vector<Node*> pending;
    for (Node* node : original) {
      pending.push_back(node);
      while (!pending.empty()) {
        Node* next = pending.back();
        pending.pop_back();
        for (Var& v : next->inputs) v = Current(v);
        if (!MustExpand(*next)) {
          order_.push_back(next);
          continue;
        }
        size_t before = graph_.nodes().size();
        Expand(*next);
        const auto& nodes = graph_.nodes();
        pending.insert(pending.end(), nodes.rbegin(),
                       nodes.rend() - static_cast<std::ptrdiff_t>(before));
      }
    }
    if (!expanded_.empty()) Finish();
  }

 private:
  bool MustExpand(const Node& node) {
    if (node.kind != NodeKind::kApply || node.op->structural || node.op->view || !node.op->expand)
      return false;
    return !accepted_(node);
  }

  void Expand(Node& node) {
    emitter_.span = node.span;
    Terms inputs;
    for (const Var& v : node.inputs) inputs.push_back(emitter_.Wrap(v));
    try {
      ExpandContext context(emitter_, std::move(inputs), *node.op, AttrsOf(node));
      Terms outputs = node.op->expand(context);
      MS_ASSERT(outputs.size() == node.outputs.size());
      for (uint32_t i = 0; i < outputs.size(); ++i) replaced_[{&node, i}] = outputs[i].var;
    } catch (Error& error) {
      throw std::move(error).WithSpan(node.span);
    }
    expanded_.push_back(&node);
  }

  Var Current(Var v) const {
    while (Var to = replaced_.Get(v)) v = to;
    return v;
  }

  void Finish() {
    Vars outputs = graph_.outputs();
    for (Var& v : outputs) v = Current(v);
    graph_.SetOutputs(std::move(outputs));
    size_t kept = order_.size();
    order_.insert(order_.end(), expanded_.begin(), expanded_.end());
    graph_.Reorder(std::move(order_));
    std::vector<bool> keep(graph_.nodes().size(), true);
    std::fill(keep.begin() + static_cast<std::ptrdiff_t>(kept), keep.end(), false);
    graph_.Sweep(keep);
  }

  Graph& graph_;
  const Accepts& accepted_;
  GraphEmitter emitter_;
  std::vector<Node*> order_;
  std::vector<Node*> expanded_;
  VarMap<Var> replaced_;
};

}  // namespace

void LowerUnless(Module& module, const Accepts& accepted) {
  for (const auto& graph : module.graphs()) Lowering(*graph, accepted).Run();
}

void LowerForDevice(Module& module, const Backend& backend) {
  for (const auto& graph : module.graphs()) {
    NodeKernels kernels(backend);
    // Whether a kernel of the device takes the node as it is.
    Accepts accepted = [&](const Node& node) {
      if (!backend.kernels().Has(*node.op)) return false;
      try {
        kernels.Of(node);
        return true;
      } catch (const Refusal&) {
        return false;
      }
    };
    Lowering(*graph, accepted).Run();
  }
}

std::shared_ptr<Module> LowerAndAccelerate(Module& module, const Backend& backend,
                                           const PassOptions& options) {
  LowerForDevice(module, backend);
  std::shared_ptr<Module> part = Accelerate(module, options);
  if (options.fast) LowerForDevice(module, backend);
  if (part) LowerForDevice(*part, backend);
  return part;
}

void DumpPlan(const Program& program) {
  static const bool on = [] {
    const char* value = std::getenv("MS_DUMP");
    return value && std::strstr(value, "plan");
  }();
  if (on) std::fputs(Print(program).c_str(), stderr);
}

}  // namespace ms
