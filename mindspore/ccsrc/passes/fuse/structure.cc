#include "passes/fuse/structure.h"

#include "passes/fuse/sketch.h"

namespace ms {
namespace {

// Marks in front of the words of a structure.
enum Mark : uint64_t { kMember, kNeeded, kGlueNode, kNumberNode, kOutside };

uint64_t Word(uint64_t high, uint64_t low) { return high << 32 | low; }

bool SameValue(const Tensor& a, const Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || Equal(Attr(a), Attr(b)));
}

}  // namespace

bool NodeClasses::Is(const Class& known, const Node& node) const {
  if (known.op != node.op || known.inputs != node.inputs.size()) return false;
  if (known.outputs != node.outputs) return false;
  if (known.attrs != node.attrs && !(known.attrs && node.attrs && Equal(*known.attrs, *node.attrs)))
    return false;
  return SameValue(known.value, node.value);
}

uint64_t NodeClasses::Add(size_t hash, Class fresh) {
  classes_.push_back(std::move(fresh));
  by_hash_.emplace(hash, classes_.size() - 1);
  return classes_.size() - 1;
}

uint64_t NodeClasses::Of(const Node& node) {
  size_t hash = HashCombine(std::hash<const void*>()(node.op), node.attrs ? Hash(*node.attrs) : 0);
  for (const Type& type : node.outputs) hash = HashCombine(hash, type.Hash());
  if (node.value.defined()) hash = HashCombine(hash, Hash(Attr(node.value)));
  auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (Is(classes_[it->second], node)) return it->second;
  }
  return Add(hash, {node.op, node.inputs.size(), node.attrs, node.outputs, node.value});
}

uint64_t NodeClasses::Of(const Type& type) {
  size_t hash = type.Hash();
  auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Class& known = classes_[it->second];
    bool is_type = !known.op && !known.value.defined();
    if (is_type && known.outputs[0] == type) return it->second;
  }
  return Add(hash, {nullptr, 0, nullptr, {type}, {}});
}

KnownGroup& GroupTable::Find(const std::vector<Node*>& members) {
  Write(members);
  bool fresh = false;
  KnownGroup& group = known_.Get(structure_, &fresh);
  if (fresh) group.fits = Sketch(nodes_, members).Solve().empty();
  return group;
}

uint64_t GroupTable::ClassOf(const Node& node) {
  uint64_t& known = class_[node.id];
  if (known == 0) known = known_.classes().Of(node) + 1;
  return known;
}

void GroupTable::Number(Node* node) {
  structure_.nodes.push_back(node);
  number_[node->id] = static_cast<uint32_t>(structure_.nodes.size());
}

void GroupTable::Write(const std::vector<Node*>& members) {
  for (const Node* node : structure_.nodes) number_[node->id] = 0;
  structure_.nodes.clear();
  structure_.text.clear();
  for (Node* node : members) Number(node);
  members_ = members.size();
  auto is_member = [&](const Node* node) {
    uint32_t number = number_[node->id];
    return number != 0 && number <= members_;
  };
  for (const Node* node : members) {
    bool needed = nodes_.IsNeeded(node, is_member);
    structure_.text.push_back(Word(ClassOf(*node), needed ? kNeeded : kMember));
    for (const Var& v : node->inputs) WriteValue(v);
  }
}

// Glue is written down to what it reads, where it is met first. Of what is outside the group, every
// mention has its type.
void GroupTable::WriteValue(const Var& v) {
  Var next = v;
  while (true) {
    bool met = number_[next.node->id] != 0;
    if (!met) Number(next.node);
    uint32_t number = number_[next.node->id];
    structure_.text.push_back(Word(next.index, number));
    FuseKind kind = nodes_.kind(next.node);
    bool inside = kind == FuseKind::kGlue || kind == FuseKind::kNumber || number <= members_;
    if (!inside) structure_.text.push_back(Word(known_.classes().Of(next.type()), kOutside));
    if (met || !inside) return;
    structure_.text.push_back(
        Word(ClassOf(*next.node), kind == FuseKind::kGlue ? kGlueNode : kNumberNode));
    if (kind == FuseKind::kNumber) return;
    next = next.node->inputs[0];
  }
}

}  // namespace ms
