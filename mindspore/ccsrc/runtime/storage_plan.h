// Where each value of a graph lives: in the arena, in memory of its own (a cell), with the caller,
// or as a constant; and which values share memory, because one is a view of the other, or is
// written over it at its last use.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/uses.h"
#include "ops/overwrite.h"

namespace ms {

struct Storage {
  enum class Kind : uint8_t {
    kArena,
    kCell,   // memory or object of its own, counted
    kInput,  // main graph: what the caller brought
    kConstant,
  };
  Kind kind = Kind::kArena;
  uint32_t index = 0;     // of the cell, input or constant
  Var value;              // the first one in it
  int first = 0;          // step that makes it; -1: before the first step
  int last = 0;           // last step that needs it
  bool held = false;      // something may hold it beyond a step
  bool launched = false;  // filled by a launch, so we choose where
  int reuse = -1;         // kCell: storage whose memory is taken over if it is free by then
  int update = -1;  // kCell: input of the main graph to be written, if nobody else holds it by then

  const Type& type() const { return value.type(); }
};

// Whether a kernel runs for the node: not for views and what is control flow.
inline bool IsLaunch(const Node& node) { return !node.op->structural && !node.op->view; }

class StoragePlan {
 public:
  StoragePlan(const Graph& graph, std::vector<const Node*> order, bool main);

  const std::vector<const Node*>& order() const { return order_; }
  int steps() const { return static_cast<int>(order_.size()); }  // returning is step number steps()
  const std::vector<Storage>& storages() const { return storages_; }
  // -1: the value is not needed.
  int Of(const Var& v) const;
  const Storage& Get(const Var& v) const { return storages_[static_cast<size_t>(Of(v))]; }
  // False: the storage became part of another one.
  bool IsRoot(size_t storage) const { return merged_[storage] == static_cast<int>(storage); }
  uint32_t cells() const { return cells_; }
  const std::vector<Tensor>& constants() const { return constants_; }

 private:
  int& Slot(const Var& v) { return of_[first_slot_[v.node->id] + v.index]; }
  int Add(Storage::Kind kind, const Var& v, int step);
  void AddInputs();
  void AddResults(const Node& node, int step);
  void AddUses();
  void Touch(const Var& v, Use use, int step);
  void PlaceUpdates();
  bool PlaceUpdate(int storage, uint32_t input);
  void ShareAtLastUse(const Node& node, int step);
  void ShareOutput(const Node& node, size_t output, int step);
  void NumberCells();

  const Graph& graph_;
  std::vector<const Node*> order_;
  bool main_;
  std::vector<uint32_t> first_slot_;  // by node id
  std::vector<int> of_;               // storage by slot
  std::vector<int> merged_;           // storage it became, or itself
  std::vector<Storage> storages_;
  std::vector<bool> taken_;  // its memory goes on as another value
  std::vector<Tensor> constants_;
  Overwriting overwriting_;
  uint32_t cells_ = 0;
};

}  // namespace ms
