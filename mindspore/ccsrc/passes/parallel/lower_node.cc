// One node in pieces. Operands come in the layouts that the cuts of the factors give; what a result
// lacks of a cut is a part of a sum, or of an extreme.
#include <algorithm>

#include "passes/parallel/lower_graph.h"

namespace ms::parallel {
namespace {

bool Holds(const ShardOperand& operand, int factor) {
  return std::any_of(operand.begin(), operand.end(), [factor](const ShardDim& dim) {
    return std::find(dim.begin(), dim.end(), factor) != dim.end();
  });
}

// Ops of the mark `indexed` that leave positions below zero out; the others refuse them.
bool LeavesOut(const OpDef& op) { return op.name == "OneHot" || op.name == "UnsortedSegmentSum"; }

// The next dimension that has a factor.
size_t NextOf(const ShardOperand& operand, size_t from) {
  while (from < operand.size() && operand[from].empty()) ++from;
  return from;
}

Partial PartialOf(ShardMark mark) {
  return mark == ShardMark::kMax   ? Partial::kMax
         : mark == ShardMark::kMin ? Partial::kMin
                                   : Partial::kSum;
}

}  // namespace

NodeLowering::NodeLowering(GraphLowering& graph, const Node& node, const NodePlan& plan,
                           ShardRule rule)
    : graph_(graph), node_(node), plan_(plan), rule_(std::move(rule)) {}

bool NodeLowering::Run() {
  if (!FindCuts()) return false;
  if (rule_.seeded && node_.op->name == "Dropout" && FactorsFit(rule_.operands)) {
    Drop();
    return true;
  }
  if (!CanBeCut()) return false;
  Vars inputs = Inputs();
  Vars made = Emit(inputs);
  Vars results;
  Places places;
  for (size_t i = 0; i < made.size(); ++i) {
    graph_.made_[{const_cast<Node*>(&node_), static_cast<uint32_t>(i)}] = made[i];
    results.push_back(Finish(i, made[i], made));
    Layout layout = LayoutOf(rule_.results[i]);
    for (size_t f = 0; f < cuts_.size(); ++f) {
      if (Holds(rule_.results[i], static_cast<int>(f))) continue;
      for (int axis : cuts_[f].axes) layout = layout.With(axis, PartialOf(rule_.factors[f].mark));
    }
    for (int axis : Passed()) layout = layout.With(axis, Partial::kSum);
    places.push_back({layout, nullptr});
  }
  graph_.Set(node_, results, places);
  return true;
}

// The mask of one process, drawn whole, and its piece.
void NodeLowering::Drop() {
  Emitter& e = graph_.emitter_;
  const Type& whole = node_.outputs[0];
  Layout layout = LayoutOf(rule_.operands[0]);
  double keep = node_.attr<double>("keep_prob");
  Term ones = e.Full(1, whole);
  Var drawn = e.Emit(*node_.op, {ones.var}, node_.attrs)[1];
  Var mask = graph_.mover_.Bring(drawn, whole, Everywhere(whole), {layout, nullptr});
  Term x = e.Wrap(graph_.At(node_.inputs[0], {layout, nullptr}));
  Term y = e.Call("DropoutGrad", {x, e.Wrap(mask)}, {{"keep_prob", keep}});
  graph_.Set(node_, {y.var, mask}, {{layout, nullptr}, {layout, nullptr}});
}

// Axes along which a part of a sum goes through as it is: the plan says so of what is linear.
AxisList NodeLowering::Passed() const {
  AxisList axes;
  if (plan_.inputs.size() != 1 || plan_.outputs.size() != 1) return axes;
  const Layout& given = graph_.Get(node_.inputs[0]).place.layout;
  for (size_t axis = 0; axis < plan_.factor_of_axis.size(); ++axis) {
    auto a = static_cast<int>(axis);
    if (plan_.factor_of_axis[axis] < 0 && plan_.inputs[0].partial(a) == Partial::kSum &&
        plan_.outputs[0].partial(a) == Partial::kSum && given.partial(a) == Partial::kSum)
      axes.push_back(a);
  }
  return axes;
}

// ---- what is cut --------------------------------------------------------------------------------
bool NodeLowering::FindCuts() {
  const Processes& processes = graph_.program_.processes();
  const Mesh& mesh = processes.mesh();
  cuts_.resize(rule_.factors.size());
  for (size_t axis = 0; axis < plan_.factor_of_axis.size(); ++axis) {
    int factor = plan_.factor_of_axis[axis];
    if (factor < 0) continue;
    if (static_cast<size_t>(factor) >= cuts_.size()) return false;
    cuts_[static_cast<size_t>(factor)].axes.push_back(static_cast<int>(axis));
  }
  for (size_t f = 0; f < cuts_.size(); ++f) {
    if (cuts_[f].axes.empty()) continue;
    cuts_[f].axes = OrderOf(static_cast<int>(f));
    if (rule_.factors[f].size.symbolic()) return false;
    Extent piece{0, rule_.factors[f].size.value()};
    for (int axis : cuts_[f].axes)
      piece = Piece(piece, mesh.size(axis), mesh.Coordinate(processes.rank(), axis));
    cuts_[f].offset = piece.offset;
    cuts_[f].size = piece.size;
  }
  return true;
}

// As the layouts of the plan have it.
AxisList NodeLowering::OrderOf(int factor) const {
  const AxisList& axes = cuts_[static_cast<size_t>(factor)].axes;
  auto search = [&](const std::vector<ShardOperand>& operands, const std::vector<Layout>& layouts) {
    for (size_t i = 0; i < operands.size() && i < layouts.size(); ++i) {
      for (size_t d = 0; d < operands[i].size(); ++d) {
        if (operands[i][d].empty() || operands[i][d][0] != factor) continue;
        AxisList found = layouts[i].axes_of(static_cast<int>(d));
        bool same =
            found.size() == axes.size() &&
            std::all_of(found.begin(), found.end(), [&](int a) { return axes.contains(a); });
        if (same) return found;
      }
    }
    return AxisList();
  };
  AxisList found = search(rule_.operands, plan_.inputs);
  if (found.empty()) found = search(rule_.results, plan_.outputs);
  return found.empty() ? axes : found;
}

// The answer is the same in all processes: it goes by the cuts, never by this one's piece.
bool NodeLowering::CanBeCut() const {
  if (rule_.seeded) return false;  // the numbers of one process: drawn whole
  for (size_t f = 0; f < cuts_.size(); ++f) {
    if (!cuts_[f].axes.empty() && !CanBeCut(rule_.factors[f], static_cast<int>(f))) return false;
  }
  return FactorsFit(rule_.operands) && FactorsFit(rule_.results);
}

bool NodeLowering::Contracted(int factor) const {
  return std::any_of(rule_.results.begin(), rule_.results.end(),
                     [factor](const ShardOperand& result) { return !Holds(result, factor); });
}

bool NodeLowering::CanBeCut(const ShardFactor& factor, int f) const {
  if (!factor.splits() || factor.mark == ShardMark::kHalo) return false;
  bool contracted = Contracted(f);
  // Of nothing, elementwise ops make nothing; others may refuse it.
  bool takes_nothing = node_.op->scalar || node_.op->elementwise || node_.op->view;
  if ((contracted || !takes_nothing) && HasEmptyPiece(f)) return false;
  switch (factor.mark) {
    case ShardMark::kMax:
    case ShardMark::kMin: {
      // Elements of other pieces that are as large would share the gradient.
      const Type& type = node_.outputs[0];
      bool smooth = IsFloating(type.dtype()) || IsComplex(type.dtype());
      return !(contracted && graph_.differentiated_ && smooth);
    }
    case ShardMark::kMean: {
      if (factor.by < 0) return true;
      int reduction = node_.op->AttrIndex("reduction");
      return reduction >= 0 && node_.attr<std::string>("reduction") == "mean";
    }
    case ShardMark::kIndexed:
      if (LeavesOut(*node_.op)) return true;
      return std::none_of(rule_.results.begin(), rule_.results.end(),
                          [f](const ShardOperand& result) { return Holds(result, f); }) &&
             MaskFits(f);
    case ShardMark::kNone:
      // A result without elements may lack it.
      return !contracted;
    default:
      return true;
  }
}

// Pieces of a product of factors are those of its dimension only where they are all of one size.
bool NodeLowering::FactorsFit(const std::vector<ShardOperand>& operands) const {
  const Mesh& mesh = graph_.program_.processes().mesh();
  for (const ShardOperand& operand : operands) {
    for (const ShardDim& dim : operand) {
      for (size_t i = 0; i < dim.size(); ++i) {
        const Cut& cut = cuts_[static_cast<size_t>(dim[i])];
        if (cut.axes.empty()) continue;
        if (i > 0) return false;
        int64_t pieces = 1, rest = 1;
        for (int axis : cut.axes) pieces *= mesh.size(axis);
        for (size_t k = 1; k < dim.size(); ++k)
          rest *= rule_.factors[static_cast<size_t>(dim[k])].size.value();
        if (rest != 1 && rule_.factors[static_cast<size_t>(dim[0])].size.value() % pieces != 0)
          return false;
      }
    }
  }
  return true;
}

bool NodeLowering::HasEmptyPiece(int factor) const {
  const Mesh& mesh = graph_.program_.processes().mesh();
  std::vector<int64_t> sizes{rule_.factors[static_cast<size_t>(factor)].size.value()};
  for (int axis : cuts_[static_cast<size_t>(factor)].axes) {
    std::vector<int64_t> next;  // those that differ
    for (int64_t size : sizes) {
      for (int64_t i = 0; i < mesh.size(axis); ++i) {
        int64_t piece = Piece({0, size}, mesh.size(axis), i).size;
        if (piece == 0) return true;
        if (std::find(next.begin(), next.end(), piece) == next.end()) next.push_back(piece);
      }
    }
    sizes = std::move(next);
  }
  return false;
}

Layout NodeLowering::LayoutOf(const ShardOperand& operand) const {
  Layout layout = Layout::Replicated(static_cast<int>(operand.size()));
  for (size_t d = 0; d < operand.size(); ++d) {
    for (int factor : operand[d]) {
      for (int axis : cuts_[static_cast<size_t>(factor)].axes)
        layout = layout.Cut(static_cast<int>(d), axis);
    }
  }
  return layout;
}

int64_t NodeLowering::SizeOf(const ShardDim& dim) const {
  int64_t size = 1;
  for (int f : dim) {
    const Cut& cut = cuts_[static_cast<size_t>(f)];
    size *= cut.axes.empty() ? rule_.factors[static_cast<size_t>(f)].size.value() : cut.size;
  }
  return size;
}

bool NodeLowering::IsCut(const ShardDim& dim) const {
  return std::any_of(dim.begin(), dim.end(),
                     [&](int f) { return !cuts_[static_cast<size_t>(f)].axes.empty(); });
}

// A factor that is not cut may have another size on each side: windows over images.
Shape NodeLowering::LocalShape(size_t result) const {
  Ints sizes = node_.outputs[result].shape().ToInts();
  const ShardOperand& dims = rule_.results[result];
  for (size_t d = 0; d < dims.size(); ++d) {
    if (IsCut(dims[d])) sizes[d] = SizeOf(dims[d]);
  }
  return Shape(sizes);
}

// ---- operands -----------------------------------------------------------------------------------
// Along these axes the processes go apart, and all have this operand.
AxisMask NodeLowering::Entered(const Var& input, const Layout& layout) const {
  AxisMask mask = 0;
  if (!input.type().is_tensor()) return mask;
  for (const Cut& cut : cuts_) {
    for (int axis : cut.axes) {
      if (layout.replicated(axis)) mask |= AxisMask{1} << axis;
    }
  }
  return mask;
}

Vars NodeLowering::Inputs() {
  Vars inputs;
  for (size_t i = 0; i < node_.inputs.size(); ++i) {
    const Var& input = node_.inputs[i];
    if (node_.op->view && i > 0) {  // waited for, wherever it is
      inputs.push_back(graph_.Get(input).var);
      continue;
    }
    Layout layout = LayoutOf(rule_.operands[i]);
    for (int axis : Passed()) layout = layout.With(axis, Partial::kSum);
    inputs.push_back(graph_.At(input, {layout, nullptr}, Entered(input, layout)));
  }
  LocalPositions(&inputs);
  return inputs;
}

AttrsRef NodeLowering::LocalAttrs() const {
  bool changes = !rule_.sizes.empty();
  for (size_t f = 0; f < cuts_.size(); ++f) {
    const ShardFactor& factor = rule_.factors[f];
    changes |= !cuts_[f].axes.empty() && factor.mark == ShardMark::kMean && factor.by >= 0;
  }
  if (!changes) return node_.attrs;
  Attrs attrs = *node_.attrs;
  auto slot = [&](std::string_view name) -> Attr& {
    return attrs[static_cast<size_t>(node_.op->AttrIndex(name))];
  };
  for (const ShardSizes& sizes : rule_.sizes) {
    Attr& attr = slot(sizes.attr);
    auto* number = std::get_if<int64_t>(&attr);
    auto* list = std::get_if<Ints>(&attr);
    for (size_t i = 0; i < sizes.entries.size(); ++i) {
      if (!sizes.entries[i] || !IsCut(*sizes.entries[i])) continue;
      if (number && i == 0) *number = SizeOf(*sizes.entries[i]);
      if (list && i < list->size()) (*list)[i] = SizeOf(*sizes.entries[i]);
    }
  }
  for (size_t f = 0; f < cuts_.size(); ++f) {
    const ShardFactor& factor = rule_.factors[f];
    if (!cuts_[f].axes.empty() && factor.mark == ShardMark::kMean && factor.by >= 0)
      slot("reduction") = std::string("sum");  // divided by all weights in the end
  }
  return std::make_shared<const Attrs>(std::move(attrs));
}

// ---- positions ----------------------------------------------------------------------------------
// Whether the dimensions of the positions that a result has are in their order.
bool NodeLowering::MaskFits(int factor) const {
  auto by = static_cast<size_t>(rule_.factors[static_cast<size_t>(factor)].by);
  for (const ShardOperand& result : rule_.results) {
    const ShardOperand& positions = rule_.operands[by];
    size_t next = NextOf(positions, 0);
    for (const ShardDim& dim : result) {
      if (next < positions.size() && positions[next] == dim) next = NextOf(positions, next + 1);
    }
    if (next < positions.size()) return false;
  }
  return true;
}

Term NodeLowering::Number(int64_t value, DType dtype) const {
  return graph_.emitter_.Call("ShardNumber", {},
                              {{"dtype", dtype}, {"value", static_cast<double>(value)}});
}

void NodeLowering::LocalPositions(Vars* inputs) {
  Emitter& e = graph_.emitter_;
  for (size_t f = 0; f < cuts_.size(); ++f) {
    const ShardFactor& factor = rule_.factors[f];
    if (cuts_[f].axes.empty() || factor.mark != ShardMark::kIndexed) continue;
    Var& position = (*inputs)[static_cast<size_t>(factor.by)];
    // In a type that holds all positions, and -1.
    DType dtype = position.type().dtype();
    if (IsUnsigned(dtype) || ItemSize(dtype) < 4)
      dtype = ItemSize(dtype) < 4 ? DType::kInt32 : DType::kInt64;
    Term index = CastTo(e.Wrap(position), dtype);
    Term first = Number(cuts_[f].offset, dtype);
    Term last = Number(cuts_[f].offset + cuts_[f].size, dtype);
    auto constant = [&](int64_t value) { return e.Scalar(static_cast<double>(value), dtype); };
    auto both = [&](const Term& a, const Term& b) { return e.Call("LogicalAnd", {a, b}); };
    auto within = [&](const Term& x, const Term& from, const Term& to) {
      return both(e.Call("GreaterEqual", {x, from}), e.Call("Less", {x, to}));
    };
    if (LeavesOut(*node_.op)) {
      Term inside = within(index, first, last);
      Term none = BroadcastTo(constant(-1), index.shape());
      position = e.Call("Select", {inside, index - first, none}).var;
      continue;
    }
    int64_t all = factor.size.value();
    Term negative = e.Call("Less", {index, constant(0)});
    Term from_start = e.Call("Select", {negative, index + constant(all), index});
    Term inside = within(from_start, first, last);
    // What is in no piece stays, and is refused.
    Term valid = within(from_start, constant(0), constant(all));
    Term others = e.Call("Select", {valid, BroadcastTo(constant(0), index.shape()), index});
    position = e.Call("Select", {inside, from_start - first, others}).var;
    inside_.push_back({static_cast<int>(f), inside});
  }
}

// ---- results ------------------------------------------------------------------------------------
Vars NodeLowering::Emit(const Vars& inputs) {
  GraphEmitter& emitter = graph_.emitter_;
  bool reshapes = node_.op->view && inputs.size() == 1 &&
                  !(node_.inputs[0].type().shape() == node_.outputs[0].shape());
  if (reshapes)  // an axis of a piece may be of size 1, which Squeeze would take
    return {emitter.Call("Reshape", {emitter.Wrap(inputs[0])}, {{"shape", LocalShape(0).ToInts()}})
                .var};
  Vars made = emitter.Emit(*node_.op, inputs, LocalAttrs());
  if (node_.op->view && made.size() == 1)  // the same, of one that changes no shape as a whole
    made[0] = Reshape(emitter.Wrap(made[0]), LocalShape(0)).var;
  for (size_t i = 0; i < made.size(); ++i) {
    if (!made[i].type().is_tensor() || made[i].type().shape() == LocalShape(i)) continue;
    Throw(ErrorKind::kInternal, "For '{}', result {} of a piece must be {}, but got {}.",
          node_.op->name, i, LocalShape(i), made[i].type());
  }
  return made;
}

Var NodeLowering::Finish(size_t result, Var value, const Vars& results) {
  Emitter& e = graph_.emitter_;
  Term y = e.Wrap(value);
  for (const Inside& inside : inside_) {
    const ShardOperand& positions =
        rule_.operands[static_cast<size_t>(rule_.factors[static_cast<size_t>(inside.factor)].by)];
    Ints shape;
    size_t next = NextOf(positions, 0);
    for (const ShardDim& dim : rule_.results[result]) {
      bool has = next < positions.size() && positions[next] == dim;
      shape.push_back(has ? inside.mask.shape()[static_cast<int>(next)] : 1);
      if (has) next = NextOf(positions, next + 1);
    }
    Term mask = BroadcastTo(Reshape(inside.mask, Shape(shape)), y.shape());
    y = e.Call("Select", {mask, y, ZerosLike(y)});
  }
  for (size_t f = 0; f < cuts_.size(); ++f) {
    const ShardFactor& factor = rule_.factors[f];
    bool mean = !cuts_[f].axes.empty() && factor.mark == ShardMark::kMean &&
                !Holds(rule_.results[result], static_cast<int>(f));
    if (!mean || static_cast<int>(result) == factor.by) continue;
    if (factor.by < 0) {
      double share = static_cast<double>(cuts_[f].size) / static_cast<double>(factor.size.value());
      y = y * e.Call("ShardNumber", {}, {{"dtype", y.dtype()}, {"value", share}});
    } else {
      Term weight = e.Call("StopGradient", {e.Wrap(results[static_cast<size_t>(factor.by)])});
      NamedAttrs attrs = graph_.program_.processes().Along(cuts_[f].axes).attrs;
      y = y / CastTo(e.Call("ShardSum", {weight}, attrs), y.dtype());
    }
  }
  return y.var;
}

}  // namespace ms::parallel
