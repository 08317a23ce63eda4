// Inference. A convolution whose weight is the same from call to call becomes a Conv2DBias: what
// follows and gives each channel a factor and a summand (normalisation by stored statistics,
// biases, scales) is folded into weight and bias, an addition and an activation become its
// epilogue, and the weight is packed. What all this computes from Parameters alone is taken out of
// main later (SplitSteadyPart).
#include <algorithm>
#include <unordered_map>

#include "ir/rewrite.h"
#include "ops/joined_activation.h"
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
  std::vector<Node*> affine;  // BatchNormInference, Add and Mul with a steady operand, in order
  Var addend;                 // an image
  const JoinedActivation* activation = nullptr;
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
    Chain chain;
    chain.convolution = node;
    chain.result = {node, 0};
    TakeAffine(chain);
    TakeAddition(chain);
    TakeActivation(chain);
    chains_[chain.result.node] = chain;
  }

  void TakeAffine(Chain& chain) const {
    for (Node* next = readers_.Only(chain.result); next && Folds(chain, *next);
         next = readers_.Only(chain.result)) {
      chain.affine.push_back(next);
      chain.result = {next, 0};
    }
  }

  // Whether the node gives each channel of the result so far a steady factor or summand.
  bool Folds(const Chain& chain, const Node& node) const {
    if (Is(&node, "BatchNormInference")) return NormFolds(chain, node);
    bool adds = Is(&node, "Add");
    if ((!adds && !Is(&node, "Mul")) || node.outputs[0] != chain.result.type()) return false;
    Var other = Other(node, chain.result);
    if (!IsSteady(other) || other.type().dtype() != chain.result.type().dtype()) return false;
    const Shape& shape = other.type().shape();
    if (!adds && shape.size() == 1) return true;
    int64_t channels = chain.result.type().shape()[3];
    return shape.rank() > 0 && shape.size() == channels && shape[shape.rank() - 1] == channels;
  }

  bool NormFolds(const Chain& chain, const Node& norm) const {
    if (norm.inputs[0] != chain.result || norm.attr<std::string>("data_format") != "NHWC") {
      return false;
    }
    return std::all_of(norm.inputs.begin() + 1, norm.inputs.end(), [&](const Var& v) {
      return IsSteady(v) && v.type().dtype() == DType::kFloat32;
    });
  }

  static Var Other(const Node& node, const Var& v) { return node.inputs[node.inputs[0] == v]; }

  // The other operand of the only reader, if that adds something to the result.
  Var Addend(const Chain& chain) const {
    Node* add = readers_.Only(chain.result);
    if (!Is(add, "Add") || taken_.contains(add) || add->outputs[0] != chain.result.type()) {
      return {};
    }
    return Other(*add, chain.result);
  }

  void TakeAddition(Chain& chain) {
    Var other = Addend(chain);
    if (!other || other == chain.result || other.type() != chain.result.type()) return;
    chain.addend = other;
    chain.result = {readers_.Only(chain.result), 0};
    taken_[chain.result.node] = true;
  }

  // Of the others a joined one takes longer than a kernel of its own, which reads and writes the
  // image again: 3 products of 1x1, 51 MB each: 36.8 ms, with SiLU 49.2, with SiLU apart 43.9.
  void TakeActivation(Chain& chain) const {
    Node* next = readers_.Only(chain.result);
    const JoinedActivation* found = JoinedActivationOf(next);
    if (!found || !found->cheap || !layouts_.joins || !layouts_.joins(found->name)) return;
    chain.activation = found;
    chain.result = {next, 0};
  }

  // What the affine steps make of x: x * factor + bias, each in Float32 once two are joined; null
  // where there is none.
  struct Affine {
    Term factor, bias;
    void Multiply(const Term& by) {
      factor = factor ? factor * by : by;
      if (bias) bias = CastTo(bias, DType::kFloat32) * by;
    }
  };

  void FoldNorm(const Node& norm, Affine* all) {
    auto in = [&](size_t i) { return Wrap(rewriter_.Current(norm.inputs[i])); };
    Term inverse = rewriter_.emitter().Call("Rsqrt", {in(4) + norm.attr<double>("epsilon")});
    Term factor = in(1) * inverse;
    Term mean = all->bias ? in(3) - CastTo(all->bias, DType::kFloat32) : in(3);
    all->factor = all->factor ? all->factor * factor : factor;
    all->bias = in(2) - mean * factor;
  }

  void FoldOperand(const Node& node, const Var& operand, Affine* all) {
    bool one = node.op->name == "Mul" && operand.type().shape().size() == 1;
    int64_t channels = node.outputs[0].shape()[3];
    Term value = Reshape(Wrap(rewriter_.Current(operand)), one ? Shape{} : Shape{channels});
    if (node.op->name == "Mul") {
      all->Multiply(CastTo(value, DType::kFloat32));
    } else {
      all->bias =
          all->bias ? CastTo(all->bias, DType::kFloat32) + CastTo(value, DType::kFloat32) : value;
    }
  }

  // Weight, in Float32, and bias with the affine steps in them.
  std::pair<Term, Term> Fold(const Chain& chain) {
    const Node& node = *chain.convolution;
    DType dtype = node.outputs[0].dtype();
    int64_t channels = node.outputs[0].shape()[3];
    Term weight = CastTo(Wrap(rewriter_.Current(BeforeCast(node.inputs[1]))), DType::kFloat32);
    Affine all;
    Var before{chain.convolution, 0};
    for (Node* step : chain.affine) {
      if (Is(step, "BatchNormInference")) {
        FoldNorm(*step, &all);
      } else {
        FoldOperand(*step, Other(*step, before), &all);
      }
      before = {step, 0};
    }
    if (all.factor) {
      bool one = all.factor.shape().rank() == 0;
      weight = weight * (one ? all.factor : Reshape(all.factor, {channels, 1, 1, 1}));
    }
    if (!all.bias) return {weight, rewriter_.emitter().Full(0, Type(dtype, Shape{channels}))};
    return {weight, CastTo(all.bias, dtype)};
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
    attrs.emplace_back("activation", std::string(chain.activation ? chain.activation->name : ""));
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
