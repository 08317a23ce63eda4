// Batch normalisation over pixels takes the ReLU that follows, and the addition of a shortcut
// between the two; so do the gradients, which read the image twice less.
#include <unordered_map>

#include "ir/rewrite.h"
#include "passes/applies.h"
#include "passes/passes.h"
#include "passes/readers.h"

namespace ms {
namespace {

bool Is(const Node& node, std::string_view op) {
  return node.kind == NodeKind::kApply && node.op->name == op;
}

// A normalisation that is to be joined with what follows.
struct Plan {
  Node* relu = nullptr;
  Node* add = nullptr;  // perhaps null
  Var residual;         // of add
  bool six = false;
};

class JoinNorm {
 public:
  explicit JoinNorm(Graph* graph) : rewriter_(graph), readers_(*graph) {}

  bool Run() {
    for (Node* node : rewriter_.graph()->nodes()) {
      if (Is(*node, "BatchNorm")) Consider(*node);
    }
    rewriter_.Walk([&](Node& node) {
      if (auto plan = plans_.find(&node); plan != plans_.end()) {
        Join(node, plan->second);
      } else if (auto norm = parts_.find(&node); norm != parts_.end()) {
        if (node.op->name != "Add") rewriter_.Replace({&node, 0}, {norm->second, 0});
        rewriter_.Drop(node);
      } else if (Is(node, "BatchNormGrad")) {
        JoinGrad(node);
      }
    });
    return rewriter_.changed();
  }

 private:
  // One float type, channels last.
  static bool Fits(const Node& norm) {
    DType dtype = norm.inputs[0].type().dtype();
    if (dtype != DType::kFloat32 && dtype != DType::kFloat64) return false;
    for (const Var& v : norm.inputs) {
      if (v.type().dtype() != dtype || v.type().shape().symbolic()) return false;
    }
    int rank = norm.inputs[0].type().shape().rank();
    return rank == 2 || (rank == 4 && norm.attr<std::string>("data_format") == "NHWC");
  }

  void Consider(Node& norm) {
    if (!Fits(norm)) return;
    Var y{&norm, 0};
    Plan plan;
    Node* reader = readers_.Only(y);
    if (!reader) {
      plan.relu = Relu6Reader(norm);
      plan.six = true;
    } else if (Is(*reader, "ReLU") || Is(*reader, "ReLU6")) {
      plan.relu = reader;
      plan.six = reader->op->name == "ReLU6";
    } else if (Is(*reader, "Add") && reader->outputs[0] == norm.outputs[0]) {
      plan.add = reader;
      plan.residual = reader->inputs[reader->inputs[0] == y ? 1 : 0];
      plan.relu = readers_.Only({reader, 0});
      bool ready = plan.residual.node->id < norm.id && plan.residual != y &&
                   plan.residual.type() == norm.outputs[0];
      if (!ready || !plan.relu || !Is(*plan.relu, "ReLU") || parts_.contains(reader)) return;
    }
    if (!plan.relu) return;
    plans_[&norm] = plan;
    for (Node* part : {plan.add, plan.relu}) {
      if (part) parts_[part] = nullptr;
    }
  }

  // The gradient of ReLU6 reads what comes before it, and must be joined too.
  Node* Relu6Reader(Node& norm) const {
    auto readers = readers_[{&norm, 0}];
    if (readers.size() != 2) return nullptr;
    Node* relu = nullptr;
    Node* grad = nullptr;
    for (Node* reader : readers) {
      if (reader && Is(*reader, "ReLU6")) relu = reader;
      if (reader && Is(*reader, "ReLU6Grad") && reader->inputs[1] == Var{&norm, 0}) grad = reader;
    }
    if (!relu || !grad) return nullptr;
    Node* norm_grad = readers_.Only({grad, 0});
    bool joined = norm_grad && Is(*norm_grad, "BatchNormGrad") &&
                  norm_grad->inputs[0].node == grad && IsGradOf(*norm_grad, norm);
    return joined ? relu : nullptr;
  }

  static bool IsGradOf(const Node& grad, const Node& norm) {
    return grad.inputs[1] == norm.inputs[0] && grad.inputs[2] == norm.inputs[1] &&
           grad.inputs[3].node == &norm && grad.inputs[4].node == &norm &&
           grad.inputs[3].index == 3 && grad.inputs[4].index == 4 && grad.attr<bool>("is_training");
  }

  Terms Wrap(const Vars& vars) {
    Terms terms;
    for (const Var& v : vars) terms.push_back(rewriter_.emitter().Wrap(v));
    return terms;
  }

  void Join(Node& norm, const Plan& plan) {
    Vars inputs = norm.inputs;
    NamedAttrs attrs{{"epsilon", norm.attr<double>("epsilon")},
                     {"momentum", norm.attr<double>("momentum")},
                     {"data_format", norm.attr<std::string>("data_format")}};
    if (plan.add) {
      inputs.push_back(rewriter_.Current(plan.residual));
    } else {
      attrs.emplace_back("activation", std::string(plan.six ? "relu6" : "relu"));
    }
    Terms made = rewriter_.emitter().CallMany(plan.add ? "BatchNormAddRelu" : "BatchNormRelu",
                                              Wrap(inputs), attrs);
    Node* joined = made[0].var.node;
    for (uint32_t i = 1; i < made.size(); ++i) rewriter_.Replace({&norm, i}, made[i].var);
    // What still reads the value before the activation is the gradient that will be joined.
    if (plan.six) before_[joined] = {&norm, 0};
    for (Node* part : {plan.add, plan.relu}) {
      if (part) parts_[part] = joined;
    }
    if (!plan.six || readers_.Only({&norm, 0})) rewriter_.Drop(norm);
  }

  void JoinGrad(Node& grad) {
    Node* slope = grad.inputs[0].node;
    Node* norm = grad.inputs[3].node;  // by now the joined op
    bool add = Is(*norm, "BatchNormAddRelu");
    if (!add && !Is(*norm, "BatchNormRelu")) return;
    if (!IsGradOf(grad, *norm)) return;
    NamedAttrs attrs{{"epsilon", norm->attr<double>("epsilon")},
                     {"data_format", norm->attr<std::string>("data_format")}};
    auto before = before_.find(norm);
    bool fits = before != before_.end()
                    ? Is(*slope, "ReLU6Grad") && slope->inputs[1] == before->second
                    : Is(*slope, "ReluGrad") && slope->inputs[1] == Var{norm, 0};
    if (!fits || slope->inputs[0].type() != slope->outputs[0]) return;
    Var dy = slope->inputs[0];
    Terms made;
    if (add) {
      if (!IsFirstReader(*slope, grad)) return;
      made = rewriter_.emitter().CallMany(
          "BatchNormAddReluGrad",
          Wrap({dy, {norm, 0}, norm->inputs[0], norm->inputs[1], {norm, 3}, {norm, 4}}), attrs);
      rewriter_.Replace({slope, 0}, made[3].var);
    } else {
      if (!readers_.Only({slope, 0})) return;
      attrs.emplace_back("activation", norm->attr<std::string>("activation"));
      made = rewriter_.emitter().CallMany(
          "BatchNormReluGrad",
          Wrap({dy, norm->inputs[0], norm->inputs[1], norm->inputs[2], {norm, 3}, {norm, 4}}),
          attrs);
    }
    for (uint32_t i = 0; i < 3; ++i) rewriter_.Replace({&grad, i}, made[i].var);
    rewriter_.Drop(grad);
  }

  bool IsFirstReader(Node& slope, const Node& grad) const {
    for (const Node* reader : readers_[{&slope, 0}]) {
      if (reader && reader->id < grad.id) return false;
    }
    return true;
  }

  Rewriter rewriter_;
  Readers readers_;
  std::unordered_map<const Node*, Plan> plans_;
  std::unordered_map<const Node*, Node*> parts_;  // what becomes part of which joined op
  std::unordered_map<const Node*, Var> before_;   // of ReLU6: the value that its gradient reads
};

}  // namespace

bool JoinNormRelu(Module& module) {
  bool changed = false;
  for (const auto& graph : module.graphs()) {
    if (Applies(*graph, "BatchNorm")) changed |= JoinNorm(graph.get()).Run();
  }
  return changed;
}

}  // namespace ms
