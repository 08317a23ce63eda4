// Inference. A convolution whose weight is the same from call to call becomes a Conv2DBias: the
// normalisation by stored statistics that follows is folded into weight and bias, the bias, an
// addition and an activation become its epilogue, and the weight is packed. What all this computes
// from Parameters alone is taken out of main later (SplitSteadyPart).
#include <algorithm>
#include <unordered_map>

#include "ir/rewrite.h"
#include "passes/applies.h"
#include "passes/passes.h"
#include "passes/readers.h"
#include "passes/steady.h"

namespace ms {
namespace {

bool Is(const Node* node, std::string_view op) {
  return node && node->kind == NodeKind::kApply && node->op->name == op;
}

// Types whose weights devices pack.
bool Packs(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kBFloat16; }

// A convolution and the nodes that become part of it; the last of them is where it will be.
struct Chain {
  Node* convolution = nullptr;
  Node* norm = nullptr;
  Var bias;    // [channels] elements in some shape, of an addition; only without norm
  Var addend;  // an image
  std::string activation;
  Var result;
};

class Preparation {
 public:
  Preparation(Graph* graph, const Layouts& layouts, const std::vector<uint32_t>& inputs)
      : rewriter_(graph),
        layouts_(layouts),
        steady_(SteadyValuesOf(*graph, inputs)),
        readers_(*graph) {}

  bool Run() {
    for (Node* node : rewriter_.graph()->nodes()) {
      if (Is(node, "Conv2D")) Consider(node);
    }
    rewriter_.Walk([&](Node& node) {
      auto it = chains_.find(&node);
      if (it == chains_.end() || !Make(it->second)) return;
      rewriter_.Drop(node);
    });
    return rewriter_.changed();
  }

 private:
  bool IsSteady(const Var& v) const { return steady_.contains(v); }
  Term Wrap(const Var& v) { return rewriter_.emitter().Wrap(v); }

  void Consider(Node* node) {
    bool fits = node->attr<std::string>("data_format") == "NHWC" &&
                node->attr<std::string>("weight_format") == "OIHW" &&
                Packs(node->outputs[0].dtype()) && IsSteady(node->inputs[1]);
    if (!fits) return;
    Chain chain{node, nullptr, {}, {}, "", {node, 0}};
    TakeNorm(chain);
    if (!chain.norm) TakeBias(chain);
    TakeAddition(chain);
    TakeActivation(chain);
    chains_[chain.result.node] = chain;
  }

  void TakeNorm(Chain& chain) const {
    Node* norm = readers_.Only(chain.result);
    if (!Is(norm, "BatchNormInference") || norm->inputs[0] != chain.result ||
        norm->attr<std::string>("data_format") != "NHWC") {
      return;
    }
    for (size_t i = 1; i < norm->inputs.size(); ++i) {
      const Var& v = norm->inputs[i];
      if (!IsSteady(v) || v.type().dtype() != DType::kFloat32) return;
    }
    chain.norm = norm;
    chain.result = {norm, 0};
  }

  // The other operand of the only reader, if that adds something to the result.
  Var Addend(const Chain& chain) const {
    Node* add = readers_.Only(chain.result);
    if (!Is(add, "Add") || taken_.contains(add) || add->outputs[0] != chain.result.type()) {
      return {};
    }
    return add->inputs[add->inputs[0] == chain.result ? 1 : 0];
  }

  void TakeBias(Chain& chain) const {
    Var other = Addend(chain);
    if (!other || !IsSteady(other)) return;
    const Shape& shape = other.type().shape();
    int64_t channels = chain.result.type().shape()[3];
    if (shape.rank() < 1 || shape.size() != channels || shape[shape.rank() - 1] != channels) return;
    chain.bias = other;
    chain.result = {readers_.Only(chain.result), 0};
  }

  void TakeAddition(Chain& chain) {
    Var other = Addend(chain);
    if (!other || other == chain.result || other.type() != chain.result.type()) return;
    chain.addend = other;
    chain.result = {readers_.Only(chain.result), 0};
    taken_[chain.result.node] = true;
  }

  void TakeActivation(Chain& chain) const {
    Node* next = readers_.Only(chain.result);
    if (!Is(next, "ReLU") && !Is(next, "ReLU6")) return;
    chain.activation = next->op->name == "ReLU" ? "relu" : "relu6";
    chain.result = {next, 0};
  }

  // Weight, in Float32, and bias with the normalisation in them.
  std::pair<Term, Term> Fold(const Chain& chain) {
    const Node& node = *chain.convolution;
    DType dtype = node.outputs[0].dtype();
    Term weight = CastTo(Wrap(rewriter_.Current(BeforeCast(node.inputs[1]))), DType::kFloat32);
    int64_t channels = node.outputs[0].shape()[3];
    Type per_channel(dtype, Shape{channels});
    if (chain.norm) {
      auto in = [&](size_t i) { return Wrap(rewriter_.Current(chain.norm->inputs[i])); };
      Term inverse =
          rewriter_.emitter().Call("Rsqrt", {in(4) + chain.norm->attr<double>("epsilon")});
      Term factor = in(1) * inverse;
      return {weight * Reshape(factor, {channels, 1, 1, 1}), CastTo(in(2) - in(3) * factor, dtype)};
    }
    if (chain.bias) return {weight, Reshape(Wrap(rewriter_.Current(chain.bias)), {channels})};
    return {weight, rewriter_.emitter().Full(0, per_channel)};
  }

  NamedAttrs ConvAttrs(const Node& node) const {
    NamedAttrs attrs;
    for (size_t i = 0; i < node.op->attributes.size(); ++i) {
      attrs.emplace_back(node.op->attributes[i].name, (*node.attrs)[i]);
    }
    return attrs;
  }

  bool Make(const Chain& chain) {
    const Node& node = *chain.convolution;
    NamedAttrs attrs = ConvAttrs(node);
    attrs.emplace_back("activation", chain.activation);
    int64_t channels = node.outputs[0].shape()[3];
    const OpDef& op = Ops().Get(chain.addend ? "Conv2DBiasAdd" : "Conv2DBias");
    Types in{node.inputs[0].type(), node.inputs[1].type(),
             Type(node.outputs[0].dtype(), Shape{channels})};
    if (chain.addend) in.push_back(node.outputs[0]);
    int64_t size = layouts_.packed_size({op, in, node.outputs, *MakeAttrs(op, attrs)});
    if (size == 0) return false;

    auto [weight, bias] = Fold(chain);
    NamedAttrs pack = attrs;
    pack.emplace_back("input_size", node.inputs[0].type().shape().ToCodes());
    pack.emplace_back("adds", static_cast<bool>(chain.addend));
    pack.emplace_back("size", size);
    pack.emplace_back("dtype", node.outputs[0].dtype());
    Terms operands{Wrap(rewriter_.Current(node.inputs[0])),
                   rewriter_.emitter().Call("PackWeight", {weight}, pack), bias};
    if (chain.addend) operands.push_back(Wrap(rewriter_.Current(chain.addend)));
    for (auto& [name, value] : attrs) {
      if (name == "weight_format") value = std::string("packed");
    }
    attrs.emplace_back("filter_size", node.inputs[1].type().shape().ToCodes());
    Term result = rewriter_.emitter().Call(op.name, operands, attrs);
    rewriter_.Replace(chain.result, result.var);
    return true;
  }

  Rewriter rewriter_;
  const Layouts& layouts_;
  VarSet steady_;
  Readers readers_;
  std::unordered_map<const Node*, Chain> chains_;  // by the node that is replaced
  std::unordered_map<const Node*, bool> taken_;    // additions
};

}  // namespace

bool PrepareConvolutions(Module& module, const Layouts& layouts,
                         const std::vector<uint32_t>& steady_inputs) {
  if (!layouts.packed_size || steady_inputs.empty()) return false;
  if (!Applies(*module.main(), "Conv2D")) return false;
  return Preparation(module.main(), layouts, steady_inputs).Run();
}

}  // namespace ms
