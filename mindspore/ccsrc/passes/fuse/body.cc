#include "passes/fuse/body.h"

#include <algorithm>
#include <numeric>

#include "ops/fused.h"
#include "ops/strided_view.h"

namespace ms {
namespace {

class BodyMaker {
 public:
  BodyMaker(const Sketch& sketch, Module* module)
      : sketch_(sketch), emitter_(module->NewGraph("fused")), space_(sketch.SpaceShape()) {}

  MadeBody Run() {
    for (const Node* member : sketch_.members()) {
      emitter_.span = member->span;
      if (!Add(*member)) return {};
    }
    Vars outputs;
    for (const Var& v : sketch_.outputs()) outputs.push_back(Output(v));
    emitter_.graph()->SetOutputs(outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!(outputs[i].type() == sketch_.outputs()[i].type())) return {};
    }
    FusedBody analysed;
    if (!AnalyzeFused(*emitter_.graph(), &analysed).empty()) return {};
    return {emitter_.graph(), std::move(inputs_)};
  }

 private:
  bool Add(const Node& member) {
    if (IsAssignment(*member.op)) return made_[&member] = Assigned(member), true;
    bool reduction = sketch_.nodes().IsReduction(&member);
    Vars inputs;
    for (size_t i = 0; i < member.inputs.size(); ++i) {
      Var v = Input(member, i);
      if (reduction) v = Spread(v);
      inputs.push_back(v);
    }
    AttrsRef attrs = reduction ? ReductionAttrs(member) : member.attrs;
    made_[&member] = emitter_.Emit(*member.op, inputs, std::move(attrs))[0];
    return true;
  }

  // The old value is only read where something is added to it.
  Var Assigned(const Node& member) {
    static const OpDef &set = Ops().Get("Assign"), &add = Ops().Get("AssignAdd");
    Term value = CastTo(emitter_.Wrap(Input(member, 1)), member.outputs[0].dtype());
    if (member.op == &set) return value.var;
    Term old = emitter_.Wrap(Input(member, 0));
    return emitter_.Call(member.op == &add ? "Add" : "Sub", {old, value}).var;
  }

  // Over the reduced axes of the space, which stay with size 1.
  AttrsRef ReductionAttrs(const Node& member) {
    Ints axes;
    for (size_t i = 0; i < sketch_.space().size(); ++i) {
      if (sketch_.IsReduced(sketch_.space()[i])) axes.push_back(static_cast<int64_t>(i));
    }
    return MakeAttrs(*member.op, {{"axis", axes}, {"keep_dims", true}});
  }

  Var Spread(const Var& v) {
    return v.type().shape() == space_ ? v : BroadcastTo(emitter_.Wrap(v), space_).var;
  }

  Var Input(const Node& member, size_t i) {
    const Var& v = member.inputs[i];
    Var source = sketch_.nodes().Source(v);
    if (auto it = made_.find(source.node); it != made_.end()) return it->second;
    if (sketch_.nodes().kind(source.node) == FuseKind::kNumber) return Number(source);
    Atoms axes = sketch_.AxesOfInput(&member, i);
    for (const auto& [known, atoms, value] : leaves_) {
      if (known == v && atoms == axes) return value;
    }
    Var value = Aligned(Leaf(v), axes);
    leaves_.push_back({v, axes, value});
    return value;
  }

  Var Number(const Var& v) {
    if (v.node->kind == NodeKind::kConstant)
      return emitter_.Constant(v.node->value.Reshaped(Shape{}), v.type().weak());
    return emitter_.Scalar(v.node->attr<double>("value"), v.type().dtype()).var;
  }

  // The input inside of the body: read through as much of the glue as strides can say.
  Var Leaf(const Var& v) {
    std::vector<const Node*> chain;
    Var source = v;
    for (; sketch_.nodes().kind(source.node) == FuseKind::kGlue; source = source.node->inputs[0])
      chain.push_back(source.node);
    StridedView view = StridedView::Dense(source.type().shape());
    size_t from = chain.size();
    for (size_t i = chain.size(); i-- > 0;) {
      if (view.Apply(*chain[i])) continue;
      view = StridedView::Dense(chain[i]->outputs[0].shape());
      source = {const_cast<Node*>(chain[i]), 0};
      from = i;
    }
    Var value = Parameter(source);
    for (size_t i = from; i-- > 0;)
      value = emitter_.Emit(*chain[i]->op, {value}, chain[i]->attrs)[0];
    return value;
  }

  Var Parameter(const Var& source) {
    auto it = std::find(inputs_.begin(), inputs_.end(), source);
    auto place = static_cast<size_t>(it - inputs_.begin());
    if (it == inputs_.end()) {
      inputs_.push_back(source);
      emitter_.graph()->AddParameter(source.type(), fmt::format("x{}", place));
    }
    return {emitter_.graph()->parameters()[place], 0};
  }

  // A value whose axes, one after the other, are `axes`, laid along the space.
  Var Aligned(Var value, const Atoms& axes) {
    const Atoms& space = sketch_.space();
    auto place = [&](int atom) { return std::find(space.begin(), space.end(), atom); };
    Ints sizes, perm(axes.size());
    for (int a : axes) sizes.push_back(sketch_.index().size(a));
    std::iota(perm.begin(), perm.end(), 0);
    std::stable_sort(perm.begin(), perm.end(), [&](int64_t a, int64_t b) {
      return place(axes[static_cast<size_t>(a)]) < place(axes[static_cast<size_t>(b)]);
    });
    if (!std::is_sorted(perm.begin(), perm.end())) {
      value = Reshape(emitter_.Wrap(value), Shape(sizes)).var;
      value = emitter_.Call("Transpose", {emitter_.Wrap(value)}, {{"perm", perm}}).var;
    }
    Ints aligned;
    for (size_t i = 0; i < space.size(); ++i) {
      bool own = std::find(axes.begin(), axes.end(), space[i]) != axes.end();
      if (own || !aligned.empty()) aligned.push_back(own ? space_[static_cast<int>(i)] : 1);
    }
    return Reshape(emitter_.Wrap(value), Shape(aligned)).var;
  }

  // In full, and in the shape that the graph knows.
  Var Output(const Var& v) {
    Atoms axes = sketch_.AxesOf(v.node);
    Ints wanted;
    for (size_t i = 0; i < sketch_.space().size(); ++i) {
      int atom = sketch_.space()[i];
      bool own = std::find(axes.begin(), axes.end(), atom) != axes.end();
      wanted.push_back(own ? space_[static_cast<int>(i)] : 1);
    }
    Term value = emitter_.Wrap(made_.at(v.node));
    if (value.shape().size() != Shape(wanted).size()) value = BroadcastTo(value, Shape(wanted));
    return Reshape(value, v.type().shape()).var;
  }

  struct LeafUse {
    Var input;
    Atoms axes;
    Var value;
  };

  const Sketch& sketch_;
  GraphEmitter emitter_;
  Shape space_;
  Vars inputs_;
  std::unordered_map<const Node*, Var> made_;
  std::vector<LeafUse> leaves_;
};

}  // namespace

MadeBody MakeBody(const Sketch& sketch, Module* module) {
  try {
    return BodyMaker(sketch, module).Run();
  } catch (const Error&) {
    return {};  // an op that refuses the shapes of the space
  }
}

}  // namespace ms
