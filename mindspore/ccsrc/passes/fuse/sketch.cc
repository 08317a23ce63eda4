#include "passes/fuse/sketch.h"

#include <algorithm>

#include "ops/axes.h"

namespace ms {
namespace {

constexpr int64_t kLongestRow = 1 << 16;  // rows are kept in cache while they are reduced

bool Contains(const Atoms& atoms, int atom) {
  return std::find(atoms.begin(), atoms.end(), atom) != atoms.end();
}

bool Within(const Atoms& part, const Atoms& whole) {
  return std::all_of(part.begin(), part.end(), [&](int a) { return Contains(whole, a); });
}

bool Repeats(Atoms atoms) {
  std::sort(atoms.begin(), atoms.end());
  return std::adjacent_find(atoms.begin(), atoms.end()) != atoms.end();
}

}  // namespace

Sketch::Sketch(const FuseNodes& nodes, std::vector<Node*> members)
    : nodes_(nodes), members_(std::move(members)) {
  for (size_t i = 0; i < members_.size(); ++i) place_[members_[i]] = i;
}

std::string Sketch::Solve() {
  for (const Node* node : members_) {
    if (std::string refusal = AddMember(*node); !refusal.empty()) return refusal;
  }
  FindOutputs();
  std::string refusal = FindSpace();
  if (refusal.empty()) refusal = CheckReductions();
  if (refusal.empty()) refusal = Order();
  if (refusal.empty()) refusal = CheckValues();
  return refusal.empty() ? CheckForm() : refusal;
}

std::string Sketch::AddMember(const Node& node) {
  std::vector<AtomAxes> in(node.inputs.size());
  int stage = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    if (std::string refusal = AddUse(node.inputs[i], &in[i], &stage); !refusal.empty())
      return refusal;
  }
  AtomAxes out;
  if (nodes_.IsReduction(&node)) {
    AddReduction(node, in[0], &out);
    ++stage;
  } else if (!AddElementwise(node, in, &out)) {
    return "axes do not go together";
  }
  axes_.push_back(std::move(out));
  uses_.push_back(std::move(in));
  stages_.push_back(stage);
  return "";
}

// The axes of an input: those of the member it comes from, seen through the glue between; an input
// from outside has axes of its own at every use.
std::string Sketch::AddUse(const Var& input, AtomAxes* axes, int* stage) {
  auto source = place_.find(nodes_.Source(input).node);
  if (source == place_.end()) {
    *axes = index_.Fresh(input.type().shape());
    return "";
  }
  *stage = std::max(*stage, stages_[source->second]);
  std::vector<const Node*> chain;
  for (const Node* n = input.node; n != source->first; n = n->inputs[0].node) chain.push_back(n);
  *axes = axes_[source->second];
  for (auto glue = chain.rbegin(); glue != chain.rend(); ++glue) {
    AtomAxes next = index_.Fresh((*glue)->outputs[0].shape());
    if (!UnifyGlue(**glue, *axes, next)) return "a value is rearranged";
    *axes = std::move(next);
  }
  return "";
}

bool Sketch::UnifyGlue(const Node& glue, const AtomAxes& in, const AtomAxes& out) {
  static const OpDef* const transpose = &Ops().Get("Transpose");
  static const OpDef* const broadcast = &Ops().Get("BroadcastTo");
  if (glue.op->view) return index_.Unify(index_.Flat(in), index_.Flat(out));
  if (glue.op == transpose) {
    const Ints& perm = glue.attr<Ints>("perm");
    for (size_t i = 0; i < out.size(); ++i) {
      int from = Wrap(perm[i], static_cast<int>(in.size()));
      if (!index_.Unify(in[static_cast<size_t>(from)], out[i])) return false;
    }
    return true;
  }
  if (glue.op != broadcast) return false;  // a part of a value
  size_t missing = out.size() - in.size();
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].empty() && !index_.Unify(in[i], out[i + missing])) return false;
  }
  return true;
}

bool Sketch::AddElementwise(const Node& node, const std::vector<AtomAxes>& in, AtomAxes* out) {
  *out = index_.Fresh(node.outputs[0].shape());
  for (const AtomAxes& axes : in) {
    size_t missing = out->size() - axes.size();
    for (size_t i = 0; i < axes.size(); ++i) {
      if (!axes[i].empty() && !index_.Unify(axes[i], (*out)[i + missing])) return false;
    }
  }
  return true;
}

void Sketch::AddReduction(const Node& node, const AtomAxes& in, AtomAxes* out) {
  std::vector<int> axes =
      SortedAxes(AxisList(*node.op, *node.attrs, "axis"), static_cast<int>(in.size()));
  Atoms reduced;
  size_t next = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    bool reduces = next < axes.size() && static_cast<size_t>(axes[next]) == i;
    next += reduces;
    if (reduces) reduced.insert(reduced.end(), in[i].begin(), in[i].end());
    if (!reduces) out->push_back(in[i]);
    if (reduces && node.attr<bool>("keep_dims")) out->emplace_back();
  }
  reductions_.push_back(std::move(reduced));
  reduced_whole_.push_back(index_.Flat(in));
}

void Sketch::FindOutputs() {
  for (Node* member : members_) {
    if (nodes_.IsNeeded(member, [&](const Node* user) { return Has(user); }))
      outputs_.push_back({member, 0});
  }
}

// The space is walked by the value with the most elements.
std::string Sketch::FindSpace() {
  int64_t largest = 0;
  auto consider = [&](const Atoms& atoms) {
    int64_t size = index_.size(atoms);
    if (size <= largest) return;
    largest = size;
    space_ = atoms;
  };
  for (const AtomAxes& axes : axes_) consider(index_.Flat(axes));
  for (const Atoms& whole : reduced_whole_) consider(index_.Resolved(whole));
  // Parts that share no axis run together too: what is as large as the space walks it in its order.
  auto join = [&](const Atoms& atoms) {
    bool other = index_.size(atoms) == largest && !Within(atoms, index_.Resolved(space_));
    return !other || index_.Unify(atoms, space_);
  };
  for (const AtomAxes& axes : axes_) {
    if (!join(index_.Flat(axes))) return "values have different axes";
  }
  for (const Atoms& whole : reduced_whole_) {
    if (!join(index_.Resolved(whole))) return "values have different axes";
  }
  space_ = index_.Resolved(space_);
  if (Repeats(space_)) return "a value meets its own transpose";
  return space_.size() <= static_cast<size_t>(kMaxRank) ? "" : "the space has too many axes";
}

std::string Sketch::CheckReductions() {
  for (size_t i = 0; i < reductions_.size(); ++i) {
    reductions_[i] = index_.Resolved(reductions_[i]);
    std::sort(reductions_[i].begin(), reductions_[i].end());
    if (reductions_[i] != reductions_[0]) return "reductions over different axes";
    Atoms whole = index_.Resolved(reduced_whole_[i]);
    if (whole.size() != space_.size() || !Within(space_, whole)) return "a reduction of a part";
  }
  return "";
}

bool Sketch::IsReduced(int atom) const {
  return !reductions_.empty() && Contains(reductions_[0], atom);
}

// Outputs are written in the order of the space.
std::string Sketch::Order() {
  for (const Var& v : outputs_) {
    Atoms atoms = AxesOf(v.node);
    if (atoms.size() != space_.size()) continue;
    space_ = atoms;
    break;
  }
  for (const Var& v : outputs_) {
    Atoms atoms = AxesOf(v.node), wanted;
    bool full = atoms.size() == space_.size();
    for (int a : space_) {
      if (full || !IsReduced(a)) wanted.push_back(a);
    }
    if (!full && reductions_.empty()) return "an output is smaller than the space";
    if (atoms != wanted) return "an output has another order";
  }
  return "";
}

std::string Sketch::CheckValues() const {
  for (const Node* member : members_) {
    Atoms atoms = AxesOf(member);
    if (Repeats(atoms) || !Within(atoms, space_)) return "a value does not fit";
    bool kept = !reductions_.empty() &&
                std::none_of(atoms.begin(), atoms.end(), [&](int a) { return IsReduced(a); });
    bool whole = atoms.size() == space_.size();
    // It would be computed again and again.
    if (!whole && !kept && !atoms.empty()) return "a value is repeated";
  }
  return "";
}

std::string Sketch::CheckForm() const {
  if (reductions_.empty()) return "";
  std::string kinds;
  int64_t row = 1;
  for (int a : space_) {
    char kind = IsReduced(a) ? 'R' : 'K';
    if (kinds.empty() || kinds.back() != kind) kinds += kind;
    if (IsReduced(a)) row *= index_.size(a);
  }
  if (kinds == "KR") return row <= kLongestRow ? "" : "the rows are too long";
  if (kinds != "R" && kinds != "RK" && kinds != "RKR") return "the reduced axes are scattered";
  // All elements are read before the first result is there: what uses it in full reads them again,
  // as it would in a kernel of its own.
  for (size_t i = 0; i < members_.size(); ++i) {
    bool full = AxesOf(members_[i]).size() == space_.size();
    if (stages_[i] > 1 || (stages_[i] > 0 && full)) return "a result is used before it is there";
  }
  return "";
}

Atoms Sketch::AxesOf(const Node* member) const { return index_.Flat(axes_[place_.at(member)]); }

Atoms Sketch::AxesOfInput(const Node* member, size_t i) const {
  return index_.Flat(uses_[place_.at(member)][i]);
}

Shape Sketch::SpaceShape() const {
  Ints sizes;
  for (int a : space_) sizes.push_back(index_.size(a));
  return Shape(sizes);
}

}  // namespace ms
