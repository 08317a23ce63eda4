#include "runtime/value.h"

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
