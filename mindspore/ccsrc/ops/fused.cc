// The declaration of Fused, and the analysis of its bodies. See fused.h for what is legal.
#include "ops/fused.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "ops/all.h"
#include "ops/axes.h"
#include "ops/strided_view.h"

namespace ms {
namespace {

using Kind = FusedValue::Kind;

// The shape with ones in front, for comparing axes from the right.
int64_t SizeAt(const Shape& shape, int rank, int axis) {
  int own = axis - (rank - shape.rank());
  return own < 0 ? 1 : shape[own];
}

struct Ops5 {
  std::array<const OpDef*, 5> all{&Ops().Get("ReduceSum"), &Ops().Get("ReduceMean"),
                                  &Ops().Get("ReduceMax"), &Ops().Get("ReduceMin"),
                                  &Ops().Get("ReduceProd")};
  const OpDef* fill = &Ops().Get("Fill");
  const OpDef* broadcast = &Ops().Get("BroadcastTo");
  const OpDef* identity = &Ops().Get("Identity");
  const OpDef* fused = &Ops().Get("Fused");
};
const Ops5& Known() {
  static const Ops5 ops;
  return ops;
}

class Analysis {
 public:
  Analysis(const Graph& graph, FusedBody* body) : graph_(graph), body_(*body) {}

  std::string Run() {
    body_ = {};
    Vars inputs = graph_.inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].type().is_tensor()) return "an input is no tensor";
      views_[inputs[i]] = {static_cast<int>(i), StridedView::Dense(inputs[i].type().shape())};
    }
    for (const Node* node : graph_.nodes()) {
      std::string refusal = node->kind == NodeKind::kParameter ? "" : Visit(*node);
      if (!refusal.empty()) return refusal;
    }
    for (const Var& v : graph_.outputs()) {
      if (int value = ValueOf(v); value < 0) return "an output has no value";
    }
    return Finish();
  }

 private:
  struct View {
    int input;
    StridedView view;
  };

  std::string Visit(const Node& node) {
    if (node.kind == NodeKind::kConstant) return VisitConstant(node);
    const OpDef& op = *node.op;
    if (&op == Known().fill) {
      AddConstant(node, node.attr<double>("value"));
      return "";
    }
    if (op.scalar) return VisitElementwise(node);
    if (IsFusableReduction(op)) return VisitReduce(node);
    if (node.inputs.size() != 1)
      return fmt::format("the op '{}' cannot be part of a body", op.name);
    if (auto it = views_.find(node.inputs[0]); it != views_.end()) {
      View view = it->second;
      if (!view.view.Apply(node)) return fmt::format("the op '{}' is no view of an input", op.name);
      views_[{const_cast<Node*>(&node), 0}] = view;
      return "";
    }
    return VisitComputedView(node);
  }

  std::string VisitConstant(const Node& node) {
    const Tensor& value = node.value;
    if (value.size() != 1 || IsComplex(value.dtype()))
      return fmt::format("the constant {} is not a number", value.ToString());
    double number = value.Item();
    if (IsInteger(value.dtype()) && std::abs(number) >= 0x1p53)
      return fmt::format("the constant {} is not exact as a double", value.ToString());
    AddConstant(node, number);
    return "";
  }

  void AddConstant(const Node& node, double number) {
    FusedValue value;
    value.kind = Kind::kConstant;
    value.node = &node;
    value.number = number;
    Add({const_cast<Node*>(&node), 0}, std::move(value));
  }

  // Identity and BroadcastTo keep the value; other views end the computation.
  std::string VisitComputedView(const Node& node) {
    const OpDef& op = *node.op;
    if (!op.view && &op != Known().broadcast)
      return fmt::format("the op '{}' cannot be part of a body", op.name);
    Var out{const_cast<Node*>(&node), 0};
    auto it = value_of_.find(node.inputs[0]);
    if (it == value_of_.end() || ended_.contains(node.inputs[0]))
      return fmt::format("'{}' views what is no computed value", op.name);
    value_of_[out] = it->second;
    if (&op == Known().broadcast || &op == Known().identity)
      shapes_.push_back(out.type().shape());
    else
      ended_[out] = node.inputs[0].type().shape();
    return "";
  }

  std::string VisitElementwise(const Node& node) {
    FusedValue value;
    value.kind = Kind::kElementwise;
    value.node = &node;
    Shape joined;
    for (const Var& v : node.inputs) {
      int arg = ValueOf(v);
      if (arg < 0 || ended_.contains(v))
        return fmt::format("an input of '{}' is no value of the body", node.op->name);
      value.args.push_back(arg);
      value.stage = std::max(value.stage, body_.values[static_cast<size_t>(arg)].stage);
      Widen(joined, v.type().shape());
    }
    if (!(joined == node.outputs[0].shape()))
      return fmt::format("'{}' broadcasts by a rule of its own", node.op->name);
    Add({const_cast<Node*>(&node), 0}, std::move(value));
    return "";
  }

  std::string VisitReduce(const Node& node) {
    const Shape& shape = node.inputs[0].type().shape();
    if (!node.attr<bool>("keep_dims")) return "a reduction drops its axes";
    if (node.op == Known().all[0] && node.attr<bool>("skip_mode")) return "a reduction is skipped";
    FusedValue value;
    value.kind = Kind::kReduce;
    value.node = &node;
    value.args = {ValueOf(node.inputs[0])};
    if (value.args[0] < 0 || ended_.contains(node.inputs[0])) return "a reduction has no value";
    value.stage = body_.values[static_cast<size_t>(value.args[0])].stage + 1;
    body_.stages = std::max(body_.stages, value.stage);
    std::vector<int> axes = SortedAxes(AxisList(*node.op, *node.attrs, "axis"), shape.rank());
    std::erase_if(axes, [&](int a) { return shape[a] == 1; });
    for (int& a : axes) a -= shape.rank();
    if (axes.empty()) return "a reduction has one element";
    if (axes_.empty()) axes_ = axes;
    if (axes != axes_) return "two reductions reduce different axes";
    if (!full_) full_ = shape;
    if (!(*full_ == shape)) return "two reductions have different shapes";
    Add({const_cast<Node*>(&node), 0}, std::move(value));
    return "";
  }

  // The value of a Var; for a view of an input, made at its first use. -1: there is none.
  int ValueOf(const Var& v) {
    if (auto it = value_of_.find(v); it != value_of_.end()) return it->second;
    auto it = views_.find(v);
    if (it == views_.end()) return -1;
    FusedValue value;
    value.input = it->second.input;
    value.offset = it->second.view.offset;
    int index = Add(v, std::move(value));
    view_of_[index] = &it->second.view;
    return index;
  }

  int Add(const Var& v, FusedValue value) {
    value.dtype = v.type().dtype();
    shapes_.push_back(v.type().shape());
    int index = static_cast<int>(body_.values.size());
    extents_.push_back(v.type().shape());
    body_.values.push_back(std::move(value));
    value_of_[v] = index;
    return index;
  }

  // Broadcasts `shape` into `space`; false where the two do not go together.
  static bool Widen(Shape& space, const Shape& shape) {
    int rank = std::max(space.rank(), shape.rank());
    Ints sizes;
    for (int i = 0; i < rank; ++i) {
      int64_t a = SizeAt(space, rank, i), b = SizeAt(shape, rank, i);
      if (a != b && a != 1 && b != 1) return false;
      sizes.push_back(a == 1 ? b : a);
    }
    space = Shape(sizes);
    return true;
  }

  std::string Finish() {
    for (const Shape& s : shapes_) {
      if (s.symbolic()) return "a size is not known";
      if (!Widen(space_, s)) return fmt::format("{} does not fit into {}", s, space_);
    }
    if (space_.empty()) return "the space is empty";
    if (full_ && full_->size() != space_.size()) return "a reduction reads less than the space";
    Classify();
    if (std::string refusal = FindOutputs(); !refusal.empty()) return refusal;
    MergeAxes();
    return FindForm();
  }

  bool IsReduced(int axis) const {
    return std::find(axes_.begin(), axes_.end(), axis - space_.rank()) != axes_.end();
  }

  // Which values are uniform, and which the same along the reduced axes.
  void Classify() {
    for (size_t i = 0; i < body_.values.size(); ++i) {
      FusedValue& value = body_.values[i];
      auto view = view_of_.find(static_cast<int>(i));
      value.uniform = value.kind == Kind::kConstant || extents_[i].size() == 1;
      value.kept = !axes_.empty();
      for (int a = 0; a < space_.rank(); ++a) {
        bool varies = view == view_of_.end() ? SizeAt(extents_[i], space_.rank(), a) != 1
                                             : StrideAt(*view->second, a) != 0;
        if (IsReduced(a) && varies && !value.uniform) value.kept = false;
      }
      if (value.kind != Kind::kElementwise) continue;
      auto all = [&](bool FusedValue::* flag) {
        return std::all_of(value.args.begin(), value.args.end(),
                           [&](int a) { return body_.values[static_cast<size_t>(a)].*flag; });
      };
      value.uniform = value.uniform || all(&FusedValue::uniform);
      value.kept = value.kept || (!axes_.empty() && all(&FusedValue::kept));
    }
  }

  std::string FindOutputs() {
    for (const Var& v : graph_.outputs()) {
      auto end = ended_.find(v);
      const Shape& shape = end == ended_.end() ? v.type().shape() : end->second;
      bool full = true, kept = !axes_.empty();
      for (int a = 0; a < space_.rank(); ++a) {
        int64_t size = SizeAt(shape, space_.rank(), a);
        full = full && size == space_[a];
        kept = kept && size == (IsReduced(a) ? 1 : space_[a]);
      }
      if (!full && !kept) return fmt::format("an output has the shape {}", shape);
      int value = value_of_.at(v);
      if (kept && !body_.values[static_cast<size_t>(value)].kept) return "an output is not kept";
      body_.outputs.push_back({value, kept});
    }
    return "";
  }

  // Stride of a leaf along an axis of the space.
  int64_t StrideAt(const StridedView& view, int axis) const {
    int own = axis - (space_.rank() - static_cast<int>(view.sizes.size()));
    return own < 0 || view.sizes[static_cast<size_t>(own)] == 1
               ? 0
               : view.strides[static_cast<size_t>(own)];
  }

  void MergeAxes() {
    for (int a = 0; a < space_.rank(); ++a) {
      int64_t size = space_[a];
      if (size == 1) continue;
      bool merge = !body_.sizes.empty() && body_.reduced.back() == IsReduced(a);
      for (auto& [index, view] : view_of_) {
        const Ints& strides = body_.values[static_cast<size_t>(index)].strides;
        merge = merge && strides.back() == StrideAt(*view, a) * size;
      }
      if (merge) {
        body_.sizes.back() *= size;
      } else {
        body_.sizes.push_back(size);
        body_.reduced.push_back(IsReduced(a));
      }
      for (auto& [index, view] : view_of_) {
        Ints& strides = body_.values[static_cast<size_t>(index)].strides;
        if (merge) strides.pop_back();
        strides.push_back(StrideAt(*view, a));
      }
    }
    if (!body_.sizes.empty()) return;
    body_.sizes = {1};
    body_.reduced = {false};
    for (auto& [index, view] : view_of_) body_.values[static_cast<size_t>(index)].strides = {0};
  }

  std::string FindForm() {
    using Form = FusedBody::Form;
    std::string kinds;
    for (bool reduced : body_.reduced) {
      char kind = reduced ? 'R' : 'K';
      if (kinds.empty() || kinds.back() != kind) kinds += kind;
    }
    static const std::pair<const char*, Form> kForms[] = {{"K", Form::kElementwise},
                                                          {"R", Form::kFull},
                                                          {"KR", Form::kRows},
                                                          {"RK", Form::kColumns},
                                                          {"RKR", Form::kChannels}};
    for (auto [text, form] : kForms) {
      body_.form = form;
      if (kinds == text) return "";
    }
    return fmt::format("the reduced axes lie as {}", kinds);
  }

  const Graph& graph_;
  FusedBody& body_;
  std::unordered_map<Var, View, VarHash> views_;  // of inputs
  std::unordered_map<Var, int, VarHash> value_of_;
  std::unordered_map<Var, Shape, VarHash> ended_;  // output views: the shape of what they view
  std::unordered_map<int, const StridedView*> view_of_;  // of kInput values
  std::vector<Shape> extents_;                           // by value
  std::vector<Shape> shapes_;                            // all that must fit into the space
  Shape space_;
  std::vector<int> axes_;      // reduced ones, counted from the end
  std::optional<Shape> full_;  // what is reduced
};

}  // namespace

int64_t FusedBody::size() const {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

int64_t FusedBody::reduced_size() const {
  int64_t n = 1;
  for (size_t i = 0; i < sizes.size(); ++i) n *= reduced[i] ? sizes[i] : 1;
  return n;
}

std::string AnalyzeFused(const Graph& body, FusedBody* result) {
  return Analysis(body, result).Run();
}

bool IsFused(const Node& node) { return node.op && node.op == Known().fused; }
Graph* FusedGraph(const Node& node) { return node.attr<Graph*>("body"); }

bool IsFusableReduction(const OpDef& op) {
  const auto& all = Known().all;
  return std::find(all.begin(), all.end(), &op) != all.end();
}

bool FusedMayOverwrite(const FusedBody& body, size_t out, size_t in) {
  if (body.form != FusedBody::Form::kElementwise) return false;
  for (const FusedValue& value : body.values) {
    if (value.kind != Kind::kInput || value.input != static_cast<int>(in)) continue;
    int64_t dense = 1;
    for (size_t a = body.sizes.size(); a-- > 0; dense *= body.sizes[a]) {
      if (value.strides[a] != dense) return false;
    }
    if (value.offset != 0) return false;
  }
  return out < body.outputs.size();
}

bool IsAligned(const FusedBody& body, const Types& inputs) {
  if (body.form != FusedBody::Form::kElementwise || body.sizes.size() != 1) return false;
  return std::all_of(body.values.begin(), body.values.end(), [&](const FusedValue& value) {
    if (value.kind != FusedValue::Kind::kInput) return true;
    int64_t size = inputs[static_cast<size_t>(value.input)].shape().size();
    return value.offset == 0 && (size == 1 || (size == body.sizes[0] && value.strides[0] == 1));
  });
}

Types InferBody(InferContext& c) {
  const Graph* body = c.attr<Graph*>("body");
  c.CheckType(body->captures().empty() && c.size() == body->parameters().size(),
              "the body '{}' takes {} inputs, but got {}", body->name(), body->parameters().size(),
              c.size());
  for (size_t i = 0; i < c.size(); ++i) {
    const Type& expected = body->parameters()[i]->outputs[0];
    c.CheckType(c.in(i).Strong() == expected.Strong(), "input {} of '{}' must be {}, but got {}", i,
                body->name(), expected, c.in(i));
  }
  return body->OutputTypes();
}

void DefineFused(OpRegistry& ops) {
  ops.Op("Fused")
      .Doc("A group of elementwise ops and reductions as one step.")
      .In("inputs", kAny, "The parameters of the body.")
      .Variadic()
      .RequiredAttr<Graph*>("body", "What is computed: a straight graph without captures.")
      .Infer(InferBody);
}

}  // namespace ms
