// A product of matrices takes the bias and the activation that follow; in inference, with few rows,
// it also gets its second matrix packed as the device wants it. Reshapes in between, of the kind
// that dense layers make for images and sequences, move behind.
#include <optional>

#include "ops/joined_activation.h"
#include "passes/applies.h"
#include "passes/fuse/fusable.h"
#include "passes/graph_rules.h"
#include "passes/passes.h"
#include "passes/steady.h"

namespace ms {
namespace {

class JoinMatMul {
 public:
  explicit JoinMatMul(const Layouts& layouts)
      : layouts_(layouts),
        rules_(Rules(), {}, {{"Joined", [this](Emitter& emit, const Terms& in, const Match& m) {
                                return Joined(emit, in, m);
                              }}}) {}

  bool Run(Graph* graph, VarSet steady) {
    graph_ = graph;
    steady_ = std::move(steady);
    nodes_.reset();
    return rules_.Apply(graph);
  }

 private:
  std::vector<GraphRule> Rules() {
    const std::string product = "p = MatMul(x, y)\n", sum = product + "s = Add{Reshape*(p), c}\n";
    std::vector<GraphRule> rules;
    for (const OpDef* op : Ops().All()) {
      if (op->joined.empty()) continue;
      rules.push_back(GraphRule(fmt::format("{}r = {}(Reshape*(s))", sum, op->name))
                          .When([this](const Match& m) { return IsBias(m) && Activates(m); })
                          .To("r = Joined(x, y, c)"));
      rules.push_back(GraphRule(fmt::format("{}r = {}(Reshape*(p))", product, op->name))
                          .When([this](const Match& m) { return Packed(m) && Activates(m); })
                          .To("r = Joined(x, y)"));
    }
    // With other elementwise work a bias costs nothing, and a group of one op fewer gains nothing.
    rules.push_back(
        GraphRule(sum)
            .When([this](const Match& m) { return IsBias(m) && (Packed(m) || !Fuses(&m.root())); })
            .To("s = Joined(x, y, c)"));
    rules.push_back(GraphRule(product)
                        .When([this](const Match& m) { return Packed(m) > 0; })
                        .To("p = Joined(x, y)"));
    return rules;
  }

  // ---- conditions
  template <class F>
  static auto Ask(const Match& m, F ask) {
    const Node& node = *m["p"].node;
    Types in{node.inputs[0].type(), node.inputs[1].type()};
    return ask(KernelRequest{*node.op, in, node.outputs, *node.attrs});
  }

  // Elements of the packed matrix; 0: it stays.
  int64_t Packed(const Match& m) const {
    bool steady = layouts_.packed_matrix && steady_.contains(m["y"]);
    return steady ? Ask(m, layouts_.packed_matrix) : 0;
  }

  bool TakesBias(const Match& m) const {
    return layouts_.takes_bias && Ask(m, [&](const KernelRequest& product) {
             return layouts_.takes_bias(product, Packed(m) > 0);
           });
  }

  static bool IsRow(const Shape& shape, int64_t columns) {
    return shape.rank() > 0 && shape.size() == columns && shape[shape.rank() - 1] == columns;
  }

  // One number for each column of the product.
  bool IsBias(const Match& m) const {
    int64_t columns = m["p"].type().shape()[1];
    const Node& add = *m["s"].node;
    const Type& rows = add.inputs[add.inputs[0] == m["c"]].type();
    return IsRow(m["c"].type().shape(), columns) && rows == add.outputs[0] &&
           rows.shape().dim(-1) == columns && TakesBias(m);
  }

  bool Activates(const Match& m) const {
    const JoinedActivation* activation = JoinedActivationOf(&m.root());
    return activation && layouts_.joins && layouts_.joins(activation->name) && TakesBias(m);
  }

  // Whether something that may be in a group reads the result.
  bool Fuses(const Node* node) {
    if (!nodes_) nodes_.emplace(*graph_);
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

  // ---- results
  Terms Joined(Emitter& emit, const Terms& in, const Match& m) const {
    const Node& node = *m["p"].node;
    bool across = node.attr<bool>("transpose_b");
    NamedAttrs attrs{{"transpose_a", node.attr<bool>("transpose_a")}, {"transpose_b", across}};
    if (const JoinedActivation* activation = JoinedActivationOf(&m.root()))
      attrs.emplace_back("activation", activation->name);
    Terms operands = in;
    const Shape& shape = node.outputs[0].shape();
    if (int64_t size = Packed(m)) {
      attrs.emplace_back("y_shape", in[1].shape().ToCodes());
      operands[1] =
          emit.Call("PackMatrix", {CastTo(emit.Wrap(BeforeCast(in[1].var)), DType::kFloat32)},
                    {{"transpose_b", across},
                     {"rows", shape[0]},
                     {"size", size},
                     {"dtype", node.outputs[0].dtype()}});
    }
    if (in.size() == 3 && !(in[2].shape() == Shape{shape[1]}))
      operands[2] = Row(emit, in[2], shape[1]);
    Term made = emit.Call(in.size() == 3 ? "MatMulBias" : "MatMulPacked", operands, attrs);
    const Shape& wanted = m.root().outputs[0].shape();
    return {made.shape() == wanted ? made : Reshape(made, wanted)};
  }

  // The bias as it was before it was reshaped, if that is a row, or reshaped to one.
  static Term Row(Emitter& emit, const Term& bias, int64_t columns) {
    const Node& node = *bias.var.node;
    bool again =
        node.op && node.op->name == "Reshape" && node.inputs[0].type().shape() == Shape{columns};
    return again ? emit.Wrap(node.inputs[0]) : Reshape(bias, Shape{columns});
  }

  const Layouts& layouts_;
  Graph* graph_ = nullptr;
  VarSet steady_;
  std::optional<FuseNodes> nodes_;  // of the graph as it was, when first asked for
  GraphRules rules_;
};

}  // namespace

bool JoinMatMulBias(Module& module, const Layouts& layouts,
                    const std::vector<uint32_t>& steady_inputs) {
  if (!layouts.takes_bias && !layouts.packed_matrix) return false;
  JoinMatMul join(layouts);
  bool changed = false;
  for (const auto& graph : module.graphs()) {
    if (!Applies(*graph, "MatMul")) continue;
    VarSet steady;
    if (graph.get() == module.main() && !steady_inputs.empty()) {
      steady = SteadyValuesOf(*graph, steady_inputs);
    }
    changed |= join.Run(graph.get(), std::move(steady));
  }
  return changed;
}

}  // namespace ms
