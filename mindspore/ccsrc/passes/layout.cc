// Layouts. Convolutions run quickest on images whose channels lie next to each other. Each one that
// the device wants so becomes its channels-last form with a Transpose before and after; whatever
// follows and can work on either form (elementwise ops, normalisation, pooling, joins, reductions)
// takes the Transpose to its other side, where it meets the next one and both vanish. Only the ends
// of such a region are converted. Weights stay as they are: kernels read them in their plain
// layout.
#include <algorithm>
#include <array>

#include "ir/rewrite.h"
#include "passes/passes.h"

namespace ms {
namespace {

// Where axis i of the channels-last form comes from, and where axis i of the plain form goes.
constexpr std::array<int64_t, 4> kFrom{0, 2, 3, 1};
constexpr std::array<int64_t, 4> kTo{0, 3, 1, 2};

bool IsImage(const Type& type) {
  return type.is_tensor() && type.shape().rank() == 4 && !type.shape().symbolic();
}

Shape LastShape(const Shape& s) { return Shape{s[0], s[2], s[3], s[1]}; }

// Whether both forms have their elements in the same order.
bool SameOrder(const Shape& s) { return s[1] == 1 || s[2] * s[3] == 1 || s.size() == 0; }

// Entries for four axes, `each` for one.
Ints Permuted(const Ints& values, size_t each = 1) {
  Ints result;
  for (int64_t from : kFrom) {
    for (size_t j = 0; j < each; ++j)
      result.push_back(values[static_cast<size_t>(from) * each + j]);
  }
  return result;
}

// Numbers that are spread over a shape: they cost nothing to make once more in the other form.
bool Spreads(const Node& node) {
  static const OpDef* const fill = &Ops().Get("Fill");
  static const OpDef* const broadcast = &Ops().Get("BroadcastTo");
  return node.op && (node.op == fill || node.op == broadcast);
}

// One element of the results for each of the inputs, in the same order.
bool IsElementwise(const OpDef& op) {
  static const OpDef* const sum = &Ops().Get("AddN");
  return op.scalar || &op == sum;
}

class LayoutPass {
 public:
  LayoutPass(Graph* graph, const Layouts& layouts) : rewriter_(graph), layouts_(layouts) {}

  bool Run() {
    rewriter_.Walk([&](Node& node) {
      if (node.kind == NodeKind::kApply && !node.op->structural &&
          node.op->effect == Effect::kNone && Visit(node)) {
        rewriter_.Drop(node);
      }
    });
    return rewriter_.changed();
  }

 private:
  Term Wrap(const Var& v) { return rewriter_.emitter().Wrap(v); }
  Term Call(std::string_view op, const Terms& in, const NamedAttrs& attrs) {
    return rewriter_.emitter().Call(op, in, attrs);
  }

  // ---- values
  // The channels-last form that is there already or costs nothing; null where there is none.
  Var Cheap(const Var& v) {
    if (auto it = last_.find(v); it != last_.end()) return it->second;
    const Shape& shape = v.type().shape();
    Term made;
    if (SameOrder(shape)) {
      made = Reshape(Wrap(v), LastShape(shape));
    } else if (Spreads(*v.node)) {
      Terms inputs;
      for (const Var& in : v.node->inputs) {
        Var last = IsImage(in.type()) ? Cheap(in) : Var{};
        if (!last) return {};
        inputs.push_back(Wrap(last));
      }
      made = Call(v.node->op->name, inputs, AttrsOf(*v.node));
    } else {
      return {};
    }
    return last_[v] = made.var;
  }

  Var Last(const Var& v) {
    if (Var made = Cheap(v)) return made;
    return last_[v] =
               Call("Transpose", {Wrap(v)}, {{"perm", Ints(kFrom.begin(), kFrom.end())}}).var;
  }

  // `from` is now made in the channels-last form.
  void Define(const Var& from, const Term& last) {
    Term plain = SameOrder(from.type().shape())
                     ? Reshape(last, from.type().shape())
                     : Call("Transpose", {last}, {{"perm", Ints(kTo.begin(), kTo.end())}});
    rewriter_.Replace(from, plain.var);
    last_[plain.var] = last.var;
  }

  // Whether conversions that come with the node are worth it: at least as much is at hand as has to
  // be converted.
  bool Pays(const Vars& images) {
    size_t ready = 0, missing = 0;
    bool carried = false;
    for (const Var& v : images) {
      bool known = last_.contains(v);
      carried |= known && !SameOrder(v.type().shape());
      (known || Cheap(v) ? ready : missing) += v.type().bytes();
    }
    return carried && ready >= missing;
  }

  // ---- attributes
  static const Attr& Given(const Node& node, const AttrDef& attr) {
    return (*node.attrs)[static_cast<size_t>(&attr - node.op->attributes.data())];
  }

  // The attributes in the channels-last form.
  static NamedAttrs AttrsOf(const Node& node) {
    NamedAttrs attrs;
    for (const AttrDef& attr : node.op->attributes) {
      attrs.emplace_back(attr.name, InLastForm(attr, Given(node, attr)));
    }
    return attrs;
  }

  static Attr InLastForm(const AttrDef& attr, const Attr& given) {
    const auto* list = std::get_if<Ints>(&given);
    const auto* axis = std::get_if<int64_t>(&given);
    switch (attr.role) {
      case AxisRole::kFormat:
        return std::string("NHWC");
      case AxisRole::kFilter:
        return std::string("OIHW");
      case AxisRole::kImage:
        return list && list->size() == 4 ? Permuted(*list) : given;
      case AxisRole::kPerAxis:
        return Permuted(*list, attr.idle.size());
      case AxisRole::kAxes:
        if (axis) return Moved(*axis);
        if (list) return Moved(*list);
        return given;
      default:
        return given;
    }
  }

  static int64_t Moved(int64_t axis) {
    return kTo[static_cast<size_t>(axis < 0 ? axis + 4 : axis)];
  }
  static Ints Moved(Ints axes) {
    for (int64_t& axis : axes) axis = Moved(axis);
    std::sort(axes.begin(), axes.end());
    return axes;
  }

  // ---- nodes
  bool Visit(Node& node) {
    const OpDef& op = *node.op;
    if (op.AttrWith(AxisRole::kFormat)) return VisitFormatted(node);
    if (IsElementwise(op)) return VisitElementwise(node);
    if (Spreads(node)) return false;  // made where it is used
    if (const AttrDef* attr = op.AttrWith(AxisRole::kAxes)) return VisitAlong(node, *attr);
    return op.AttrWith(AxisRole::kPerAxis) && VisitPerAxis(node);
  }

  // The images among inputs and outputs are those of rank 4, but for the filters. What has filters
  // goes where the device wants it, the rest where the images are.
  bool VisitFormatted(Node& node) {
    const auto* format =
        std::get_if<std::string>(&Given(node, *node.op->AttrWith(AxisRole::kFormat)));
    if (!format || *format != "NCHW") return false;
    const AttrDef* filters = node.op->AttrWith(AxisRole::kFilter);
    int filter = filters ? filters->filter : -1;
    Types types;
    Vars images;
    for (const Var& v : node.inputs) {
      bool is_filter = static_cast<int>(types.size()) == filter;
      types.push_back(v.type());
      if (filters && !IsImage(v.type())) return false;
      if (IsImage(v.type()) && !is_filter) images.push_back(v);
    }
    bool wanted = filters ? layouts_.channels_last({*node.op, types, node.outputs, *node.attrs})
                          : Pays(images);
    if (!wanted) return false;
    Terms inputs;
    for (const Var& v : node.inputs) {
      bool is_filter = static_cast<int>(inputs.size()) == filter;
      inputs.push_back(Wrap(IsImage(v.type()) && !is_filter ? Last(v) : v));
    }
    return Rebuild(node, inputs, filter - static_cast<int>(node.inputs.size()));
  }

  // `filter`: which output is not an image.
  bool Rebuild(Node& node, const Terms& inputs, int filter = -1) {
    Terms results = rewriter_.emitter().CallMany(node.op->name, inputs, AttrsOf(node));
    for (uint32_t i = 0; i < results.size(); ++i) {
      Var from{&node, i};
      if (IsImage(from.type()) && static_cast<int>(i) != filter) {
        Define(from, results[i]);
      } else {
        MS_ASSERT(results[i].shape() == from.type().shape());
        rewriter_.Replace(from, results[i].var);
      }
    }
    return true;
  }

  // An operand of a broadcast to an image: in four dimensions.
  Var Aligned(const Var& v) {
    int rank = v.type().shape().rank();
    if (rank == 0 || rank == 4) return v;
    Dims dims(static_cast<size_t>(4 - rank), 1);
    for (const Dim& d : v.type().shape().dims()) dims.push_back(d);
    return Reshape(Wrap(v), dims).var;
  }

  bool VisitElementwise(Node& node) {
    if (node.outputs.size() != 1 || !IsImage(node.outputs[0])) return false;
    Vars images;
    for (const Var& v : node.inputs) {
      if (!v.type().is_tensor() || v.type().shape().symbolic()) return false;
      if (v.type().shape().rank() == 4) images.push_back(v);
    }
    if (!Pays(images)) return false;
    Terms inputs;
    for (const Var& v : node.inputs) {
      Var aligned = Aligned(v);
      inputs.push_back(Wrap(IsImage(aligned.type()) ? Last(aligned) : aligned));
    }
    return Rebuild(node, inputs);
  }

  // All operands are images whose axes are alike.
  bool RebuildImages(Node& node) {
    if (!Pays(node.inputs)) return false;
    Terms inputs;
    for (const Var& v : node.inputs) inputs.push_back(Wrap(Last(v)));
    return Rebuild(node, inputs);
  }

  static bool AllImages(const Node& node) {
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [](const Var& v) { return IsImage(v.type()); });
  }

  bool VisitPerAxis(Node& node) {
    auto fits = [&](const AttrDef& attr) {
      return attr.role != AxisRole::kPerAxis ||
             std::get<Ints>(Given(node, attr)).size() == 4 * attr.idle.size();
    };
    const auto& attrs = node.op->attributes;
    return AllImages(node) && std::all_of(attrs.begin(), attrs.end(), fits) && RebuildImages(node);
  }

  // Where axes go, the order of those that stay must not change.
  bool VisitAlong(Node& node, const AttrDef& attr) {
    if (!AllImages(node)) return false;
    const Attr& given = Given(node, attr);
    Ints axes;
    if (const auto* axis = std::get_if<int64_t>(&given)) axes = {*axis};
    if (const auto* list = std::get_if<Ints>(&given)) axes = *list;
    bool kept[4];
    std::fill(kept, kept + 4, !axes.empty());
    for (int64_t axis : axes) kept[axis < 0 ? axis + 4 : axis] = false;
    bool drops = std::any_of(node.outputs.begin(), node.outputs.end(),
                             [](const Type& type) { return !IsImage(type); });
    if (drops && kept[1] && (kept[2] || kept[3])) return false;
    return RebuildImages(node);
  }

  Rewriter rewriter_;
  const Layouts& layouts_;
  std::unordered_map<Var, Var, VarHash> last_;  // channels-last forms of plain values
};

bool HasConvolution(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node* node) {
    return node->op && node->op->AttrWith(AxisRole::kFilter);
  });
}

}  // namespace

bool PlaceChannelsLast(Module& module, const Layouts& layouts) {
  if (!layouts.channels_last) return false;
  bool changed = false;
  for (const auto& graph : module.graphs()) {
    if (HasConvolution(*graph)) changed |= LayoutPass(graph.get(), layouts).Run();
  }
  return changed;
}

}  // namespace ms
