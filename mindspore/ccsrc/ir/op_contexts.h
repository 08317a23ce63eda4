// What the functions of a declaration (ir/op.h) are given: the types, values and attributes of an
// application, and how they say what comes of it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ir/attr.h"
#include "ir/emitter.h"
#include "ir/graph.h"
#include "ir/type.h"

namespace ms {

struct OpDef;

class InferContext {
 public:
  InferContext(const OpDef& op, const Types& inputs, const Attrs& attrs)
      : op_(op), inputs_(inputs), attrs_(attrs) {}

  const OpDef& op() const { return op_; }
  size_t size() const { return inputs_.size(); }
  const Type& in(size_t i) const { return inputs_[i]; }
  const Shape& shape(size_t i) const { return inputs_[i].shape(); }
  int rank(size_t i) const { return inputs_[i].shape().rank(); }
  DType dtype(size_t i) const { return inputs_[i].dtype(); }
  const Types& inputs() const { return inputs_; }
  const Attrs& attrs() const { return attrs_; }
  template <class T>
  const T& attr(std::string_view name) const;
  bool is_none(std::string_view name) const;
  // Sizes that may be symbolic, of an attribute that may hold such (OpDef::Sizes).
  Dim dim_attr(std::string_view name) const { return Dim::FromCode(attr<int64_t>(name)); }
  Dims dims_attr(std::string_view name) const { return DimsFromCodes(attr<Ints>(name)); }
  Dim dim(size_t i, int axis) const { return shape(i).dim(axis); }

  // `For '<op>', <what must hold>.` as ValueError / TypeError.
  template <class... Args>
  void Check(bool ok, fmt::format_string<Args...> format, Args&&... args) const {
    if (!ok) Fail(ErrorKind::kValue, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void CheckType(bool ok, fmt::format_string<Args...> format, Args&&... args) const {
    if (!ok) Fail(ErrorKind::kType, fmt::format(format, std::forward<Args>(args)...));
  }
  [[noreturn]] void Fail(ErrorKind kind, const std::string& what) const;

  // Checks that cover most ops; the messages name the inputs as declared.
  void CheckRank(size_t i, int rank) const;
  void CheckSameDType(size_t i, size_t j) const;
  void CheckSameShape(size_t i, size_t j) const;
  // `axis` in [0, rank); ValueError outside [-rank, rank).
  int Axis(int64_t axis, int rank) const;
  // Sorted, distinct axes; an empty list means all of them.
  std::vector<int> Axes(const Ints& axes, int rank) const;
  Type Like(size_t i, const Shape& shape) const { return Type(dtype(i), shape); }
  const std::string& input_name(size_t i) const;

 private:
  const OpDef& op_;
  const Types& inputs_;
  const Attrs& attrs_;
};

// What a gradient rule sees of its node. It may read inputs, outputs, attributes and tangents of
// outputs; reading out(i) or in(i) is what makes a value be saved for the backward pass, so read
// only what is needed.
class GradContext {
 public:
  using Lookup = std::function<Var(const Var&)>;
  // `needed[i]`: somebody asks for the tangent of input i.
  GradContext(Emitter& emitter, const Node& node, Vars tangents, Lookup use,
              std::vector<bool> needed)
      : emitter_(emitter),
        node_(node),
        tangents_(std::move(tangents)),
        use_(std::move(use)),
        needed_(std::move(needed)) {}

  const Node& node() const { return node_; }
  size_t inputs() const { return node_.inputs.size(); }
  size_t outputs() const { return node_.outputs.size(); }
  Term in(size_t i) { return emitter_.Wrap(use_(node_.inputs[i])); }
  Term out(size_t i = 0) {
    return emitter_.Wrap(use_(Var{const_cast<Node*>(&node_), static_cast<uint32_t>(i)}));
  }
  // Types are free to read.
  const Type& in_type(size_t i) const { return node_.inputs[i].type(); }
  const Type& out_type(size_t i = 0) const { return node_.outputs[i]; }
  // False where the tangent of input i is of no use to anybody: costly rules skip it (return an
  // empty Term).
  bool needs(size_t i) const { return needed_[i]; }
  bool has_dout(size_t i = 0) const { return static_cast<bool>(tangents_[i]); }
  Term dout(size_t i = 0);  // materialised zeros where no tangent arrived
  template <class T>
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }
  Term Call(std::string_view op, const Terms& in, const NamedAttrs& attrs = {}) {
    return emitter_.Call(op, in, attrs);
  }
  Terms CallMany(std::string_view op, const Terms& in, const NamedAttrs& attrs = {}) {
    return emitter_.CallMany(op, in, attrs);
  }
  Emitter& emitter() { return emitter_; }

 private:
  Emitter& emitter_;
  const Node& node_;
  Vars tangents_;
  Lookup use_;
  std::vector<bool> needed_;
};

class ExpandContext {
 public:
  ExpandContext(Emitter& emitter, Terms inputs, const OpDef& op, const Attrs& attrs)
      : emitter_(emitter), inputs_(std::move(inputs)), op_(op), attrs_(attrs) {}
  Term in(size_t i) const { return inputs_[i]; }
  const Terms& inputs() const { return inputs_; }
  template <class T>
  const T& attr(std::string_view name) const;
  Term Call(std::string_view op, const Terms& in, const NamedAttrs& attrs = {}) {
    return emitter_.Call(op, in, attrs);
  }
  Emitter& emitter() { return emitter_; }

 private:
  Emitter& emitter_;
  Terms inputs_;
  const OpDef& op_;
  const Attrs& attrs_;
};

// What a batching rule sees: the node of one item, and the inputs of all items. An input that
// differs between items has them along a new first axis.
class BatchContext {
 public:
  BatchContext(Emitter& emitter, const Node& node, Terms inputs, std::vector<bool> batched,
               int64_t size)
      : emitter_(emitter),
        node_(node),
        inputs_(std::move(inputs)),
        batched_(std::move(batched)),
        size_(size) {}

  const Node& node() const { return node_; }
  int64_t size() const { return size_; }  // how many items
  size_t inputs() const { return inputs_.size(); }
  bool batched(size_t i) const { return batched_[i]; }
  Term in(size_t i) const { return inputs_[i]; }
  Term Spread(size_t i) const;  // with the new axis in any case
  // Types of one item.
  const Type& in_type(size_t i) const { return node_.inputs[i].type(); }
  const Type& out_type(size_t i = 0) const { return node_.outputs[i]; }
  int rank(size_t i) const { return in_type(i).shape().rank(); }
  template <class T>
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }
  Term Call(std::string_view op, const Terms& in, const NamedAttrs& attrs = {}) {
    return emitter_.Call(op, in, attrs);
  }
  // The op itself, with some attributes changed.
  Terms Again(const Terms& in, const NamedAttrs& changed = {});
  Emitter& emitter() { return emitter_; }

 private:
  Emitter& emitter_;
  const Node& node_;
  Terms inputs_;
  std::vector<bool> batched_;
  int64_t size_;
};

}  // namespace ms
