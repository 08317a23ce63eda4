// A product of matrices takes the bias and the activation that follow; in inference, with few rows,
// it also gets its second matrix packed as the device wants it. Reshapes in between, of the kind
// that dense layers make for images and sequences, move behind.
#include <optional>
#include <unordered_map>

#include "ir/rewrite.h"
#include "ops/joined_activation.h"
#include "passes/applies.h"
#include "passes/fuse/fusable.h"
#include "passes/passes.h"
#include "passes/readers.h"
#include "passes/steady.h"

namespace ms {
namespace {

struct Known {
  const OpDef* matmul = Ops().Find("MatMul");
  const OpDef* add = Ops().Find("Add");
  const OpDef* reshape = Ops().Find("Reshape");
};
const Known& Names() {
  static const Known known;
  return known;
}

bool Is(const Node* node, const OpDef* op) { return node && node->op && node->op == op; }

// A product and the nodes that become part of it; the last of them is where it will be.
struct Chain {
  Node* product = nullptr;
  Var bias;
  const JoinedActivation* activation = nullptr;
  Var result;
  int64_t packed = 0;  // elements of the packed matrix; 0: it stays
};

class JoinMatMul {
 public:
  JoinMatMul(Graph* graph, const Layouts& layouts, VarSet steady)
      : rewriter_(graph), layouts_(layouts), steady_(std::move(steady)), readers_(*graph) {}

  bool Run() {
    for (Node* node : rewriter_.graph()->nodes()) {
      if (Is(node, Names().matmul)) Consider(node);
    }
    if (chains_.empty()) return false;
    rewriter_.Walk([&](Node& node) {
      auto it = chains_.find(&node);
      if (it != chains_.end()) Make(it->second);
    });
    return true;
  }

 private:
  Term Now(const Var& v) { return rewriter_.emitter().Wrap(rewriter_.Current(v)); }

  void Consider(Node* node) {
    Types in{node->inputs[0].type(), node->inputs[1].type()};
    KernelRequest asked{*node->op, in, node->outputs, *node->attrs};
    Chain chain{node, {}, nullptr, {node, 0}};
    bool joins = layouts_.takes_bias && layouts_.takes_bias(asked);
    if (joins) {
      TakeBias(chain);
      TakeActivation(chain);
    }
    if (layouts_.packed_matrix && steady_.contains(node->inputs[1])) {
      chain.packed = layouts_.packed_matrix(asked);
    }
    if (!chain.bias && !chain.packed) return;
    // With other elementwise work a bias costs nothing, and a group of one op fewer gains nothing.
    if (!chain.packed && !chain.activation && Fuses(chain.result.node)) return;
    chains_[chain.result.node] = chain;
  }

  // Whether something that may be in a group reads the result.
  bool Fuses(const Node* node) {
    if (!nodes_) nodes_.emplace(*rewriter_.graph());
    std::vector<const Node*> pending{node};
    while (!pending.empty()) {
      const Node* next = pending.back();
      pending.pop_back();
      for (const Node* user : nodes_->users(next)) {
        if (nodes_->kind(user) == FuseKind::kCompute) return true;
        if (nodes_->kind(user) == FuseKind::kGlue) pending.push_back(user);
      }
    }
    return false;
  }

  // What the value is after the reshapes that keep its columns, each read by the next alone.
  Var Reshaped(Var v, int64_t columns) const {
    for (Node* next = readers_.Only(v); Is(next, Names().reshape); next = readers_.Only(v)) {
      const Shape& shape = next->outputs[0].shape();
      if (shape.rank() == 0 || shape[shape.rank() - 1] != columns) break;
      v = {next, 0};
    }
    return v;
  }

  void TakeBias(Chain& chain) const {
    int64_t columns = chain.product->outputs[0].shape()[1];
    Var v = Reshaped(chain.result, columns);
    Node* add = readers_.Only(v);
    if (!Is(add, Names().add) || add->outputs[0] != v.type()) return;
    Var bias = add->inputs[add->inputs[0] == v ? 1 : 0];
    auto fits = [&](const Shape& shape) {
      return shape.rank() > 0 && shape.size() == columns && shape[shape.rank() - 1] == columns;
    };
    if (!fits(bias.type().shape())) return;
    while (Is(bias.node, Names().reshape) && fits(bias.node->inputs[0].type().shape())) {
      bias = bias.node->inputs[0];
    }
    chain.bias = bias;
    chain.result = {add, 0};
  }

  void TakeActivation(Chain& chain) const {
    Var v = Reshaped(chain.result, chain.product->outputs[0].shape()[1]);
    Node* next = readers_.Only(v);
    const JoinedActivation* found = JoinedActivationOf(next);
    if (!found || !layouts_.joins || !layouts_.joins(found->name)) return;
    chain.activation = found;
    chain.result = {next, 0};
  }

  void Make(const Chain& chain) {
    const Node& node = *chain.product;
    GraphEmitter& emit = rewriter_.emitter();
    bool across = node.attr<bool>("transpose_b");
    NamedAttrs attrs{{"transpose_a", node.attr<bool>("transpose_a")}, {"transpose_b", across}};
    if (chain.activation) attrs.emplace_back("activation", std::string(chain.activation->name));
    Terms operands{Now(node.inputs[0]), Now(node.inputs[1])};
    if (chain.packed) {
      attrs.emplace_back("y_shape", node.inputs[1].type().shape().ToCodes());
      operands[1] =
          emit.Call("PackMatrix", {CastTo(Now(BeforeCast(node.inputs[1])), DType::kFloat32)},
                    {{"transpose_b", across},
                     {"rows", node.outputs[0].shape()[0]},
                     {"size", chain.packed},
                     {"dtype", node.outputs[0].dtype()}});
    }
    if (chain.bias) {
      Shape columns{node.outputs[0].shape()[1]};
      Term bias = Now(chain.bias);
      operands.push_back(bias.shape() == columns ? bias : Reshape(bias, columns));
    }
    Term made = emit.Call(chain.bias ? "MatMulBias" : "MatMulPacked", operands, attrs);
    const Shape& wanted = chain.result.type().shape();
    if (!(made.shape() == wanted)) made = Reshape(made, wanted);
    rewriter_.Replace(chain.result, made.var);
    rewriter_.Drop(*chain.result.node);
  }

  Rewriter rewriter_;
  const Layouts& layouts_;
  VarSet steady_;
  Readers readers_;
  std::optional<FuseNodes> nodes_;                 // of the graph as it was, when first asked for
  std::unordered_map<const Node*, Chain> chains_;  // by the node that is replaced
};

}  // namespace

bool JoinMatMulBias(Module& module, const Layouts& layouts,
                    const std::vector<uint32_t>& steady_inputs) {
  if (!layouts.takes_bias && !layouts.packed_matrix) return false;
  bool changed = false;
  for (const auto& graph : module.graphs()) {
    if (!Applies(*graph, "MatMul")) continue;
    VarSet steady;
    if (graph.get() == module.main() && !steady_inputs.empty()) {
      steady = SteadyValuesOf(*graph, steady_inputs);
    }
    changed |= JoinMatMul(graph.get(), layouts, std::move(steady)).Run();
  }
  return changed;
}

}  // namespace ms
