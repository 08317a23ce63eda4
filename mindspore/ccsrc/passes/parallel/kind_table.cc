#include "passes/parallel/kind_table.h"

namespace ms::parallel {

bool KindTable::NodeKey::operator==(const NodeKey& b) const {
  bool same = op == b.op && types == b.types && trained == b.trained && data == b.data &&
              times == b.times && pins == b.pins;
  if (!same || attrs == b.attrs) return same;
  return attrs && b.attrs && Equal(*attrs, *b.attrs);
}

size_t KindTable::KeyHash::operator()(const NodeKey& key) const {
  size_t facts = static_cast<size_t>(key.trained) + 2 * static_cast<size_t>(key.data);
  size_t hash = HashCombine(std::hash<const void*>()(key.op), facts);
  if (key.attrs) hash = HashCombine(hash, Hash(*key.attrs));
  for (int t : key.types) hash = HashCombine(hash, static_cast<size_t>(t));
  return HashCombine(hash, std::hash<double>()(key.times));
}

int KindTable::NumberOf(const Type& type) {
  auto [place, fresh] = numbers_.try_emplace(type, static_cast<int>(types_.size()));
  if (fresh) types_.push_back(type);
  return place->second;
}

const Kind* KindTable::Keep(std::unique_ptr<Kind> kind) {
  kind->id = static_cast<int>(kinds_.size());
  kinds_.push_back(std::move(kind));
  return kinds_.back().get();
}

const Kind* KindTable::OfValue(const Type& type, const ValueKind::Facts& facts) {
  ValueKey key(NumberOf(type), facts.pin ? facts.pin->ToString(mesh_) : "", facts.copies,
               facts.shared, facts.trained);
  const Kind*& kind = of_values_[key];
  if (!kind) kind = Keep(std::make_unique<ValueKind>(type, facts));
  return kind;
}

const Kind* KindTable::OfNode(const Node& node, const NodeFacts& facts, const NodePins* pins) {
  NodeKey key{node.op,
              node.attrs.get(),
              {},
              facts.trained,
              facts.data,
              facts.times,
              pins ? pins->ToString(mesh_) : ""};
  for (const Var& v : node.inputs) key.types.push_back(NumberOf(v.type()));
  const Kind*& kind = of_nodes_[key];
  if (kind) return kind;
  auto made = std::make_unique<ComputeKind>(node, facts, device_);
  if (pins) made->Pin(node, *pins, mesh_);
  return kind = KeepAlike(key, std::move(made));
}

// One kind for nodes of equal choices, as slices of one size from different places.
const Kind* KindTable::KeepAlike(const NodeKey& key, std::unique_ptr<ComputeKind> made) {
  NodeKey rest = key;
  rest.attrs = nullptr;
  std::vector<const ComputeKind*>& all = alike_[std::move(rest)];
  for (const ComputeKind* kind : all) {
    if (kind->SameChoices(*made)) return kind;
  }
  all.push_back(made.get());
  return Keep(std::move(made));
}

}  // namespace ms::parallel
