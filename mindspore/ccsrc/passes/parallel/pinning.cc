// What pins of the user leave of the ways to compute a node.
#include "passes/parallel/strategy.h"

namespace ms::parallel {

// Each axis by itself: an option must cut every pinned operand as its layout says. Then a choice of
// all axes is looked for.
class Pinning {
 public:
  Pinning(const ComputeKind& kind, const Node& node, const NodePins& pins, const Mesh& mesh)
      : kind_(kind), node_(node), pins_(pins), mesh_(mesh) {}

  // False where the pins need not be obeyed, and cannot.
  bool Run() {
    options.assign(static_cast<size_t>(mesh_.count()), {kAlike});
    for (int axis = 0; axis < mesh_.count(); ++axis) {
      if (mesh_.size(axis) == 1) continue;
      std::vector<int8_t>& left = options[static_cast<size_t>(axis)];
      left = Fitting(axis);
      if (left.empty() && !pins_.strict) return false;
      if (left.empty()) Refuse(axis);
    }
    if (FindStart(0)) return true;
    if (!pins_.strict) return false;
    Fail(
        "a dimension must have an element for each of its pieces, and products of dimensions "
        "equal ones");
  }

  std::vector<std::vector<int8_t>> options;  // by axis
  Choice start = AllAlike();

 private:
  std::vector<int8_t> Fitting(int axis) const {
    std::vector<int8_t> exact, joined;
    for (int8_t option : kind_.options_) {
      Choice choice = AllAlike();
      choice[static_cast<size_t>(axis)] = option;
      if (!OperandsFit(choice, axis)) continue;
      bool same = true, may = true;
      for (size_t i = 0; i < pins_.outputs.size(); ++i) {
        if (!pins_.outputs[i]) continue;
        Layout made = kind_.Result(mesh_, choice, i).layout;
        bool fits = made.dim_of(axis) == pins_.outputs[i]->dim_of(axis);
        bool part = made.partial(axis) != Partial::kNone;
        same &= fits && !part;
        may &= fits || part;
      }
      if (same) exact.push_back(option);
      if (may) joined.push_back(option);
    }
    if (!exact.empty()) return exact;
    if (joined.empty() && WantsExtreme(axis)) return {kAlike};
    return joined;
  }

  bool OperandsFit(const Choice& choice, int axis) const {
    for (size_t i = 0; i < pins_.inputs.size(); ++i) {
      if (!pins_.inputs[i]) continue;
      Layout read = kind_.Operand(mesh_, choice, i).layout;
      bool fits = read.dim_of(axis) == pins_.inputs[i]->dim_of(axis) &&
                  read.partial(axis) == Partial::kNone;
      if (!fits) return false;
    }
    return true;
  }

  // The factor that the pin of an operand cuts along the axis; -1: none.
  int FactorOf(size_t operand, int axis) const {
    int dim = pins_.inputs[operand] ? pins_.inputs[operand]->dim_of(axis) : -1;
    if (dim < 0 || !kind_.rule_) return -1;
    const ShardDim& factors = kind_.rule_->operands[operand][static_cast<size_t>(dim)];
    return factors.empty() ? -1 : factors[0];
  }
  // A maximum that has a gradient is computed whole, though it may be pinned.
  bool WantsExtreme(int axis) const {
    for (size_t i = 0; i < pins_.inputs.size(); ++i) {
      int f = FactorOf(i, axis);
      if (f < 0) continue;
      ShardMark mark = kind_.rule_->factors[static_cast<size_t>(f)].mark;
      if (mark == ShardMark::kMax || mark == ShardMark::kMin) return kind_.facts_.trained;
    }
    return false;
  }

  bool FindStart(int axis) {
    std::vector<int64_t> cuts;
    if (!kind_.Cuts(mesh_, start, &cuts)) return false;
    if (axis == mesh_.count()) return true;
    for (int8_t option : options[static_cast<size_t>(axis)]) {
      start[static_cast<size_t>(axis)] = option;
      if (FindStart(axis + 1)) return true;
    }
    start[static_cast<size_t>(axis)] = kAlike;
    return false;
  }

  [[noreturn]] void Refuse(int axis) const {
    const std::string& name = mesh_.axes[static_cast<size_t>(axis)].name;
    for (size_t i = 0; i < pins_.inputs.size(); ++i) {
      int dim = pins_.inputs[i] ? pins_.inputs[i]->dim_of(axis) : -1;
      if (dim < 0) continue;
      int f = FactorOf(i, axis);
      bool may = f >= 0 && kind_.MayCut(kind_.rule_->factors[static_cast<size_t>(f)]);
      if (!may)
        Fail(
            fmt::format("dimension {} of input {} must not be cut, as the op cannot be computed "
                        "from its pieces",
                        dim, i));
    }
    Fail(fmt::format(
        "along the axis '{}' all inputs and outputs must be cut where they belong together", name));
  }
  [[noreturn]] void Fail(const std::string& what) const {
    throw Error(ErrorKind::kValue, fmt::format("{}, {}, but got layouts of {}.", ForNode(node_),
                                               what, pins_.ToString(mesh_)))
        .WithSpan(node_.span);
  }

  const ComputeKind& kind_;
  const Node& node_;
  const NodePins& pins_;
  const Mesh& mesh_;
};

void ComputeKind::Pin(const Node& node, const NodePins& pins, const Mesh& mesh) {
  Pinning pinning(*this, node, pins, mesh);
  if (!pinning.Run()) return;
  pinned_ = std::move(pinning.options);
  start_ = pinning.start;
}

}  // namespace ms::parallel
