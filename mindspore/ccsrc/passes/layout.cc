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

Ints Permuted(const Ints& values) {
  Ints result;
  size_t each = values.size() / 4;
  for (int64_t from : kFrom) {
    for (size_t j = 0; j < each; ++j)
      result.push_back(values[static_cast<size_t>(from) * each + j]);
  }
  return result;
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
    } else if (v.node->kind == NodeKind::kApply && v.node->op->name == "Fill") {
      made =
          Call("Fill", {},
               {{"dtype", v.node->attr<DType>("dtype")},
                {"shape", LastShape(shape).ToCodes()},
                {"value", (*v.node->attrs)[static_cast<size_t>(v.node->op->AttrIndex("value"))]}});
    } else if (v.node->kind == NodeKind::kApply && v.node->op->name == "BroadcastTo" &&
               IsImage(v.node->inputs[0].type())) {
      Var small = Cheap(v.node->inputs[0]);
      if (!small) return {};
      made = BroadcastTo(Wrap(small), LastShape(shape));
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

  // ---- nodes
  bool Visit(Node& node) {
    const std::string& name = node.op->name;
    if (name == "Conv2D" || name == "Conv2DBackpropInput" || name == "Conv2DBackpropFilter") {
      return VisitConvolution(node);
    }
    if (node.op->AttrIndex("data_format") >= 0) return VisitFormatted(node);
    if (node.op->scalar || name == "AddN") return VisitElementwise(node);
    if (name == "Concat" || name == "Split") return VisitAxis(node, "axis");
    if (name == "SplitV") return VisitAxis(node, "split_dim");
    if (name == "Slice") return VisitLists(node, {"begin", "size"});
    if (name == "Pad") return VisitLists(node, {"paddings"});
    if (name == "BroadcastTo") return false;  // made where it is used
    if (name.starts_with("Reduce") && node.op->AttrIndex("keep_dims") >= 0)
      return VisitReduce(node);
    return false;
  }

  // The node's attributes in the channels-last form, with some of them replaced.
  NamedAttrs AttrsOf(const Node& node, const NamedAttrs& changed) {
    NamedAttrs attrs;
    for (size_t i = 0; i < node.op->attributes.size(); ++i) {
      std::string_view name = node.op->attributes[i].name;
      auto it = std::find_if(changed.begin(), changed.end(),
                             [&](const auto& c) { return c.first == name; });
      attrs.emplace_back(name, it != changed.end() ? it->second : (*node.attrs)[i]);
    }
    return attrs;
  }

  // Four numbers follow the axes; what an image's size is, too.
  NamedAttrs FormatAttrs(const Node& node) {
    NamedAttrs changed{{"data_format", std::string("NHWC")}};
    for (const char* name : {"kernel_size", "stride", "strides", "dilation", "input_size"}) {
      int i = node.op->AttrIndex(name);
      if (i < 0) continue;
      const auto* values = std::get_if<Ints>(&(*node.attrs)[static_cast<size_t>(i)]);
      if (values && values->size() == 4) changed.emplace_back(name, Permuted(*values));
    }
    return changed;
  }

  bool VisitConvolution(Node& node) {
    if (node.attr<std::string>("data_format") != "NCHW") return false;
    Types in;
    for (const Var& v : node.inputs) {
      in.push_back(v.type());
      if (!IsImage(v.type())) return false;
    }
    if (!layouts_.channels_last({*node.op, in, node.outputs, *node.attrs})) return false;
    NamedAttrs changed = FormatAttrs(node);
    changed.emplace_back("weight_format", std::string("OIHW"));
    bool filter = node.op->name == "Conv2DBackpropFilter";
    Var second = filter ? Last(node.inputs[1]) : node.inputs[1];
    Term result =
        Call(node.op->name, {Wrap(Last(node.inputs[0])), Wrap(second)}, AttrsOf(node, changed));
    if (filter) {
      rewriter_.Replace({&node, 0}, result.var);
    } else {
      Define({&node, 0}, result);
    }
    return true;
  }

  // The images among inputs or outputs are those of rank 4.
  bool VisitFormatted(Node& node) {
    const auto* format = std::get_if<std::string>(
        &(*node.attrs)[static_cast<size_t>(node.op->AttrIndex("data_format"))]);
    if (!format || *format != "NCHW") return false;
    Vars images;
    for (const Var& v : node.inputs) {
      if (IsImage(v.type())) images.push_back(v);
    }
    if (!Pays(images)) return false;
    Terms inputs;
    for (const Var& v : node.inputs) inputs.push_back(Wrap(IsImage(v.type()) ? Last(v) : v));
    return Rebuild(node, inputs, FormatAttrs(node));
  }

  bool Rebuild(Node& node, const Terms& inputs, const NamedAttrs& changed) {
    Terms results = rewriter_.emitter().CallMany(node.op->name, inputs, AttrsOf(node, changed));
    for (uint32_t i = 0; i < results.size(); ++i) {
      Var from{&node, i};
      if (IsImage(from.type())) {
        Define(from, results[i]);
      } else {
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
    return Rebuild(node, inputs, {});
  }

  bool VisitAxis(Node& node, const char* attr) {
    if (!AllImages(node) || !Pays(node.inputs)) return false;
    Terms inputs;
    for (const Var& v : node.inputs) inputs.push_back(Wrap(Last(v)));
    int64_t axis = node.attr<int64_t>(attr);
    return Rebuild(node, inputs, {{attr, kTo[static_cast<size_t>(axis < 0 ? axis + 4 : axis)]}});
  }

  bool VisitLists(Node& node, std::initializer_list<const char*> names) {
    if (!AllImages(node) || !Pays(node.inputs)) return false;
    NamedAttrs changed;
    for (const char* name : names) changed.emplace_back(name, Permuted(node.attr<Ints>(name)));
    return Rebuild(node, {Wrap(Last(node.inputs[0]))}, changed);
  }

  static bool AllImages(const Node& node) {
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [](const Var& v) { return IsImage(v.type()); });
  }

  // Where axes go, the order of those that stay must not change.
  bool VisitReduce(Node& node) {
    if (node.inputs.size() != 1 || node.outputs.size() != 1 || !AllImages(node)) return false;
    if (!Pays(node.inputs)) return false;
    const auto* axes =
        std::get_if<Ints>(&(*node.attrs)[static_cast<size_t>(node.op->AttrIndex("axis"))]);
    bool kept[4] = {};
    Ints moved;
    if (axes && !axes->empty()) {
      std::fill(kept, kept + 4, true);
      for (int64_t axis : *axes) {
        size_t i = static_cast<size_t>(axis < 0 ? axis + 4 : axis);
        kept[i] = false;
        moved.push_back(kTo[i]);
      }
    }
    bool keep_dims = node.attr<bool>("keep_dims");
    if (!keep_dims && kept[1] && (kept[2] || kept[3])) return false;
    std::sort(moved.begin(), moved.end());
    return Rebuild(node, {Wrap(Last(node.inputs[0]))}, {{"axis", moved}});
  }

  Rewriter rewriter_;
  const Layouts& layouts_;
  std::unordered_map<Var, Var, VarHash> last_;  // channels-last forms of plain values
};

bool HasConvolution(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node* node) {
    return node->kind == NodeKind::kApply && node->op->name.starts_with("Conv2D");
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
