#include "runtime/storage_plan.h"

#include <algorithm>

namespace ms {

StoragePlan::StoragePlan(const Graph& graph, std::vector<const Node*> order, bool main)
    : graph_(graph), order_(std::move(order)), main_(main) {
  uint32_t slots = 0;
  first_slot_.reserve(graph.nodes().size());
  for (const Node* node : graph.nodes()) {
    first_slot_.push_back(slots);
    slots += static_cast<uint32_t>(node->outputs.size());
  }
  of_.assign(slots, -1);
  storages_.reserve(slots);
  merged_.reserve(slots);
  // Each needs what those before it found: who shares memory is asked once it is known where each
  // value lives, and until when.
  AddInputs();
  for (int t = 0; t < steps(); ++t) AddResults(*order_[static_cast<size_t>(t)], t);
  AddUses();
  if (main_) PlaceUpdates();
  for (int t = 0; t < steps(); ++t) ShareAtLastUse(*order_[static_cast<size_t>(t)], t);
  NumberCells();
}

int StoragePlan::Of(const Var& v) const {
  int storage = of_[first_slot_[v.node->id] + v.index];
  while (storage >= 0 && merged_[static_cast<size_t>(storage)] != storage)
    storage = merged_[static_cast<size_t>(storage)];
  return storage;
}

int StoragePlan::Add(Storage::Kind kind, const Var& v, int step) {
  int id = static_cast<int>(storages_.size());
  Storage storage;
  storage.kind = kind;
  storage.value = v;
  storage.first = storage.last = step;
  storages_.push_back(std::move(storage));
  merged_.push_back(id);
  taken_.push_back(false);
  Slot(v) = id;
  return id;
}

void StoragePlan::AddInputs() {
  uint32_t count = 0;
  for (const Var& v : graph_.inputs()) {
    int id = Add(main_ ? Storage::Kind::kInput : Storage::Kind::kCell, v, -1);
    storages_[static_cast<size_t>(id)].index = count++;
  }
}

void StoragePlan::AddResults(const Node& node, int step) {
  if (node.op->view) {
    const Var& source = node.inputs[0];
    if (Slot(source) < 0) Touch(source, Use::kRead, step);  // a constant
    Slot({const_cast<Node*>(&node), 0}) = Slot(source);
    return;
  }
  for (uint32_t i = 0; i < node.outputs.size(); ++i) {
    Var v{const_cast<Node*>(&node), i};
    int id = Add(IsLaunch(node) ? Storage::Kind::kArena : Storage::Kind::kCell, v, step);
    storages_[static_cast<size_t>(id)].launched = IsLaunch(node);
  }
}

void StoragePlan::Touch(const Var& v, Use use, int step) {
  if (Slot(v) < 0) {
    MS_ASSERT(v.node->kind == NodeKind::kConstant);
    int id = Add(Storage::Kind::kConstant, v, -1);
    storages_[static_cast<size_t>(id)].index = static_cast<uint32_t>(constants_.size());
    constants_.push_back(v.node->value);
  }
  Storage& storage = storages_[static_cast<size_t>(Slot(v))];
  storage.last = std::max(storage.last, step);
  storage.held |= use == Use::kHold;
}

void StoragePlan::AddUses() {
  for (int t = 0; t < steps(); ++t) {
    const Node& node = *order_[static_cast<size_t>(t)];
    if (node.op->view) continue;  // its users count
    VisitUses(node, [&](const Var& v, Use use) { Touch(v, use, t); });
  }
  for (const Var& v : graph_.outputs()) Touch(v, Use::kHold, steps());
  for (Storage& s : storages_) {
    if (s.kind == Storage::Kind::kArena && s.held) s.kind = Storage::Kind::kCell;
  }
}

// A parameter's new value goes straight into its memory where the old one is not needed any more.
void StoragePlan::PlaceUpdates() {
  for (auto [output, input] : graph_.updates) {
    int value = Of(graph_.outputs()[static_cast<size_t>(output)]);
    if (PlaceUpdate(value, static_cast<uint32_t>(input))) taken_[static_cast<size_t>(input)] = true;
  }
}

// The storage of an input has its number: inputs are added first.
bool StoragePlan::PlaceUpdate(int id, uint32_t input) {
  Storage& value = storages_[static_cast<size_t>(id)];
  int old_id = static_cast<int>(input);
  const Storage& old = storages_[static_cast<size_t>(old_id)];
  if (value.kind != Storage::Kind::kCell || !value.launched || value.update >= 0) return false;
  if (taken_[static_cast<size_t>(old_id)] || old.type().bytes() != value.type().bytes() ||
      old.last > value.first)
    return false;
  if (old.last == value.first) {
    const Node& node = *order_[static_cast<size_t>(value.first)];
    size_t uses = 0;
    bool allowed = false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (Of(node.inputs[i]) != old_id) continue;
      ++uses;
      for (size_t o = 0; o < node.outputs.size(); ++o) {
        if (Of({const_cast<Node*>(&node), static_cast<uint32_t>(o)}) == id)
          allowed = overwriting_.May(node, o, i);
      }
    }
    if (!allowed || (uses > 1 && !node.op->scalar)) return false;
  }
  if (old.held) {
    value.update = static_cast<int>(input);  // whether it is free is seen at run time
  } else {
    value.kind = Storage::Kind::kInput;
    value.index = input;
  }
  return true;
}

void StoragePlan::ShareAtLastUse(const Node& node, int step) {
  if (!IsLaunch(node)) return;
  for (size_t o = 0; o < node.outputs.size(); ++o) ShareOutput(node, o, step);
}

void StoragePlan::ShareOutput(const Node& node, size_t output, int step) {
  int to_id = Of({const_cast<Node*>(&node), static_cast<uint32_t>(output)});
  Storage& to = storages_[static_cast<size_t>(to_id)];
  bool free_choice =
      to.kind == Storage::Kind::kArena || (to.kind == Storage::Kind::kCell && to.update < 0);
  if (!free_choice || to.first != step || to.reuse >= 0 || to.type().bytes() == 0) return;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    int from_id = Of(node.inputs[i]);
    Storage& from = storages_[static_cast<size_t>(from_id)];
    if (from.last != step || taken_[static_cast<size_t>(from_id)] ||
        from.type().bytes() != to.type().bytes() || !overwriting_.May(node, output, i))
      continue;
    auto same = [&](const Var& v) { return Of(v) == from_id; };
    if (!node.op->scalar && std::count_if(node.inputs.begin(), node.inputs.end(), same) > 1)
      continue;
    if (from.kind == Storage::Kind::kArena) {
      from.last = std::max(from.last, to.last);
      from.held |= to.held;
      from.kind = to.kind;
      merged_[static_cast<size_t>(to_id)] = from_id;
      return;
    }
    if (from.kind == Storage::Kind::kCell && to.kind == Storage::Kind::kCell) {
      to.reuse = from_id;
      taken_[static_cast<size_t>(from_id)] = true;
      return;
    }
  }
}

void StoragePlan::NumberCells() {
  cells_ = static_cast<uint32_t>(graph_.inputs().size());
  for (size_t i = cells_; i < storages_.size(); ++i) {
    Storage& s = storages_[i];
    if (s.kind == Storage::Kind::kCell && merged_[i] == static_cast<int>(i)) s.index = cells_++;
  }
}

}  // namespace ms
