// Tables over the values of one graph, found by number where a hash table would miss the cache at
// every step. They hold as long as nodes keep their ids: nodes may be added, not dropped or moved.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"

namespace ms {

template <class T>
class VarMap {
 public:
  // Null where nothing was put.
  const T* Find(const Var& v) const {
    uint32_t id = v.node->id;
    return id < first_.size() && first_[id] ? &items_[first_[id] - 1 + v.index] : nullptr;
  }
  // What there is, or T().
  T Get(const Var& v) const {
    const T* found = Find(v);
    return found ? *found : T();
  }
  // What there is, or a new T(); so have the other outputs of the node then.
  T& operator[](const Var& v) {
    uint32_t id = v.node->id;
    if (id >= first_.size()) first_.resize(v.node->graph->nodes().size());
    if (!first_[id]) {
      first_[id] = static_cast<uint32_t>(items_.size()) + 1;
      items_.resize(items_.size() + v.node->outputs.size());
    }
    return items_[first_[id] - 1 + v.index];
  }
  bool empty() const { return items_.empty(); }
  // Of all outputs of the nodes of which one has been put, node by node.
  std::vector<T>& items() { return items_; }

 private:
  std::vector<uint32_t> first_;  // by node id: 1 + where its outputs start, or 0
  std::vector<T> items_;
};

class VarSet {
 public:
  bool contains(const Var& v) const { return holds_.Get(v) != 0; }
  void insert(const Var& v) { holds_[v] = 1; }
  void erase(const Var& v) { holds_[v] = 0; }
  bool empty() const { return holds_.empty(); }  // nothing was ever inserted

 private:
  VarMap<uint8_t> holds_;
};

}  // namespace ms
