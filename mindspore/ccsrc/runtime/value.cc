#include "runtime/value.h"

#include <unordered_set>

#include "kernel/ledger.h"

namespace ms {
namespace {

// Objects of this thread whose last reference is gone and whose destructor has not run yet.
struct FreeList {
  RtObject* head = nullptr;
  bool draining = false;
};
thread_local FreeList free_list;

}  // namespace

// Destroying an object may release others, which then only join the list: no recursion.
void RtObject::Free(RtObject* object) {
  object->next_free_ = free_list.head;
  free_list.head = object;
  if (free_list.draining) return;
  free_list.draining = true;
  while (RtObject* next = free_list.head) {
    free_list.head = next->next_free_;
    delete next;
  }
  free_list.draining = false;
}

void RequireAll(const Ledger& ledger, const std::vector<Cell>& cells) {
  std::vector<const std::vector<Cell>*> pending{&cells};
  std::unordered_set<const RtObject*> seen;
  while (!pending.empty()) {
    const std::vector<Cell>& next = *pending.back();
    pending.pop_back();
    for (const Cell& cell : next) {
      if (cell.buffer) ledger.Require(cell.data, 1);
      const RtObject* object = cell.object.get();
      if (!object || !seen.insert(object).second) continue;
      if (const auto* box = dynamic_cast<const Box*>(object)) pending.push_back(&box->cells());
      if (const auto* closure = dynamic_cast<const Closure*>(object))
        pending.push_back(&closure->captures());
    }
  }
}

Cell ToCell(const Tensor& tensor) { return {tensor.buffer(), {}, tensor.raw()}; }

Cell ToCell(const RtValue& value) {
  if (value.is_tensor()) return ToCell(value.tensor());
  return {{}, value.object(), nullptr};
}

Tensor ToTensor(Cell cell, const Type& type) {
  size_t offset =
      static_cast<size_t>(static_cast<char*>(cell.data) - static_cast<char*>(cell.buffer->data()));
  return Tensor(type.dtype(), type.shape(), std::move(cell.buffer), offset);
}

RtValue ToValue(Cell cell, const Type& type) {
  if (type.is_tensor()) return ToTensor(std::move(cell), type);
  return RtValue(std::move(cell.object));
}

}  // namespace ms
