// Values of a running program: tensors, closures (a graph's plan and what it captured) and boxes
// (tangents of closures). Inside frames a value is a Cell, three words whose type the plan knows;
// RtValue is the form that callers see.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "ir/type.h"
#include "tensor/tensor.h"

namespace ms {

class Ledger;
class Program;
struct Plan;

// Base of closures and boxes: reference-counted; a chain of any length is freed without recursion.
class RtObject {
 public:
  virtual ~RtObject() = default;

 private:
  friend class ObjectRef;
  static void Free(RtObject* object);
  std::atomic<int> references_{1};
  RtObject* next_free_ = nullptr;
};

class ObjectRef {
 public:
  ObjectRef() = default;
  explicit ObjectRef(RtObject* owned) : object_(owned) {}
  ObjectRef(const ObjectRef& other) : object_(other.object_) {
    if (object_) object_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  ObjectRef(ObjectRef&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ObjectRef& operator=(ObjectRef other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~ObjectRef() {
    if (object_ && object_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      RtObject::Free(object_);
    }
  }
  RtObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  RtObject* object_ = nullptr;
};

// A tensor's elements and the buffer that owns them, or an object; all null: a box that is zero.
struct Cell {
  BufferRef buffer;
  ObjectRef object;
  void* data = nullptr;
};

class Closure : public RtObject {
 public:
  Closure(std::shared_ptr<const Program> program, const Plan* plan, std::vector<Cell> captures)
      : program_(std::move(program)), plan_(plan), captures_(std::move(captures)) {}
  const std::shared_ptr<const Program>& program() const { return program_; }
  const Plan& plan() const { return *plan_; }
  const std::vector<Cell>& captures() const { return captures_; }

 private:
  std::shared_ptr<const Program>
      program_;  // keeps the plan alive when the closure outlives its run
  const Plan* plan_;
  std::vector<Cell> captures_;
};

class Box : public RtObject {
 public:
  Box(std::vector<Cell> cells, Types types) : cells_(std::move(cells)), types_(std::move(types)) {}
  const std::vector<Cell>& cells() const { return cells_; }
  const Types& types() const { return types_; }

 private:
  std::vector<Cell> cells_;
  Types types_;
};

// A value with its kind: what a run takes and gives. Default: the box that is zero.
class RtValue {
 public:
  RtValue() = default;
  RtValue(Tensor tensor) : tensor_(std::move(tensor)) {}  // NOLINT: a tensor is a value
  explicit RtValue(ObjectRef object) : object_(std::move(object)) {}

  bool is_tensor() const { return tensor_.defined(); }
  bool is_closure() const { return closure() != nullptr; }
  bool is_box() const { return !is_tensor() && !is_closure(); }
  const Tensor& tensor() const { return tensor_; }
  const Closure* closure() const { return dynamic_cast<const Closure*>(object_.get()); }
  const Box* box() const { return dynamic_cast<const Box*>(object_.get()); }
  const ObjectRef& object() const { return object_; }

 private:
  Tensor tensor_;
  ObjectRef object_;
};

// Throws where a value among these, or that they hold, was left out.
void RequireAll(const Ledger& ledger, const std::vector<Cell>& cells);

Cell ToCell(const RtValue& value);
Cell ToCell(const Tensor& tensor);
RtValue ToValue(Cell cell, const Type& type);
Tensor ToTensor(Cell cell, const Type& type);

}  // namespace ms
