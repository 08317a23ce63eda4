// OpDef: everything the framework knows about an op, declared once in ops/*.cc by chained calls.
// Python names, checks, gradients, kernels, docs and tests are derived from it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ir/emitter.h"
#include "ir/graph.h"
#include "ir/op_contexts.h"
#include "ir/scalar.h"

namespace ms {

// ---- sets of element types
using DTypeSet = uint32_t;
constexpr DTypeSet One(DType t) { return 1u << static_cast<int>(t); }
inline constexpr DTypeSet kBoolean = One(DType::kBool);
inline constexpr DTypeSet kSignedInt =
    One(DType::kInt8) | One(DType::kInt16) | One(DType::kInt32) | One(DType::kInt64);
inline constexpr DTypeSet kUnsignedInt =
    One(DType::kUInt8) | One(DType::kUInt16) | One(DType::kUInt32) | One(DType::kUInt64);
inline constexpr DTypeSet kInteger = kSignedInt | kUnsignedInt;
inline constexpr DTypeSet kFloating =
    One(DType::kFloat16) | One(DType::kBFloat16) | One(DType::kFloat32) | One(DType::kFloat64);
inline constexpr DTypeSet kComplex = One(DType::kComplex64) | One(DType::kComplex128);
inline constexpr DTypeSet kReal = kInteger | kFloating;
inline constexpr DTypeSet kNumber = kReal | kComplex;
inline constexpr DTypeSet kAny = kNumber | kBoolean;
inline constexpr DTypeSet kIndex = One(DType::kInt32) | One(DType::kInt64);
constexpr bool Contains(DTypeSet set, DType t) { return (set & One(t)) != 0; }
std::string ToString(DTypeSet set);

using InferFn = std::function<Types(InferContext&)>;
// What the value behind a view becomes when the view does: one op on (base, value), or on the value
// alone where the view has all elements.
struct Put {
  const char* op = nullptr;  // null: elements of the view lie in one place, so it takes no value
  NamedAttrs attrs{};
  bool whole = false;
};
// An application whose output `index` shows elements of its first input.
struct ViewStep {
  const OpDef& op;
  const Attrs& attrs;
  const Shape& base;
  const Shape& view;
  uint32_t index;
  template <class T>
  const T& attr(std::string_view name) const;
};
using PutFn = Put (*)(const ViewStep&);

using GradFn = std::function<Terms(GradContext&)>;  // one Term per input; empty Term or short list:
                                                    // no gradient
using ExpandFn = std::function<Terms(ExpandContext&)>;
// Outputs of all items, each with the new axis or the same for all; nothing where the rule does not
// cover the case. Without a rule, one is derived (ops/batch.h).
using BatchFn = std::function<Terms(BatchContext&)>;

// Which dimensions of inputs and outputs may be cut into parts that run apart, and how the parts
// join: a text in the notation of ir/shard_rule.h.
class ShardContext;
using ShardFn = std::function<std::string(const ShardContext&)>;

// ---- the declaration
struct InputDef {
  std::string name;
  DTypeSet types = kAny;
  std::string doc;
};

// What an attribute says of axes: what moves axes, or adds one, rewrites it by that.
enum class AxisRole : uint8_t {
  kNone,
  kAxes,     // the op works along these axes of all its inputs, and treats the others alike
  kNewAxis,  // where the results have an axis that the inputs lack
  kPerAxis,  // as many entries for each axis as AttrDef::idle has
  kFormat,   // which axis of the images has the channels: "NCHW" or "NHWC"
  kImage,    // one entry for each axis of an image if there are four, something else if not
  kFilter,   // the layout of the filters, where it is not that of the images: "OIHW"
};

// The kind of an attribute is that of its default, or `kind` where it is required.
struct AttrDef {
  std::string name;
  Attr fallback;  // monostate with required == false: None is the default
  bool required = false;
  size_t kind =
      0;  // index in the variant Attr that values must have (monostate: any, None allowed)
  bool optional = false;  // None is accepted beside `kind`
  std::string doc;
  bool sizes = false;  // may hold symbolic sizes
  AxisRole role = AxisRole::kNone;
  bool empty_is_all = true;  // kAxes: no axis means all of them
  Ints idle{};               // kPerAxis: entries of an axis that stays as it is; -1: its size
  int filter = -1;           // kFilter: which operand, results counted behind inputs
};

// An activation that a product of matrices or a convolution may end with, instead of the op.
struct JoinedActivation {
  std::string name;        // the attribute 'activation' of such an op
  std::string attr = "";   // of this op ...
  std::string value = "";  // ... which must be so
  bool cheap = false;      // a few instructions: behind a convolution it costs nothing
};

enum class Promotion : uint8_t {
  kNone,
  kCommon,    // inputs are cast to their common type first (x + y)
  kFloating,  // likewise, integers and booleans become the default float (true division, exp of an
              // integer)
  kCompare,   // as kCommon; a number that the common type does not hold is beyond all that it holds
};

enum PythonKind : uint32_t { kFunction = 1, kMethod = 2 };

struct PythonFace {
  std::string signature;  // "matmul(input, other)": parameters are inputs, then attributes, in
                          // declared order
  uint32_t kinds = kFunction;
};

enum class Effect : uint8_t { kNone, kRandom, kIo, kComm };

struct OpDef {
  std::string name;
  std::string doc;
  std::vector<InputDef> inputs;
  bool variadic = false;  // the last input takes any number (at least one) of tensors
  std::vector<AttrDef> attributes;
  std::vector<PythonFace> faces;
  // Primitive classes: "ReduceSum(keep_dims=False)(x, axis=())" says which arguments the
  // constructor takes and which the call; empty: constructor = attributes, call = inputs. Extra
  // entries are aliases ("TensorAdd").
  std::vector<std::string> classes;
  InferFn infer;
  GradFn grad;
  ScalarBody scalar;
  ExpandFn expand;
  BatchFn batch;
  ShardFn shard;
  PutFn put = nullptr;  // outputs show elements of input 0: what is written to them, it shows
  Promotion promotion = Promotion::kNone;
  Effect effect = Effect::kNone;
  bool structural = false;   // control flow: inputs of any kind, checked by infer alone
  bool view = false;         // output 0 is input 0 with another shape: no kernel
  bool elementwise = false;  // without a scalar body: element i of the outputs is made of elements
                             // i of the inputs that have as many, and of single elements
  std::vector<std::pair<int, int>>
      updates;  // (output, input): output is the new value of a Parameter
  std::vector<std::pair<int, int>>
      in_place;           // (output, input): the kernel may write over the input
  bool divides = false;   // integers by the second input, which may be zero
  bool refuses = false;   // values of its inputs may be such that it cannot be computed
  bool internal = false;  // made by passes and compositions of ours alone: no public name
  int returned = -1;      // outputs that a Python call returns, first ones first; -1: all
  std::vector<JoinedActivation> joined;

  int AttrIndex(std::string_view attr) const;    // -1: no such attribute
  const AttrDef* AttrWith(AxisRole role) const;  // the first; null: no such attribute
  DTypeSet InputTypes(size_t i) const;           // honours variadic

  // Chained setters.
  OpDef& Doc(std::string text) {
    doc = std::move(text);
    return *this;
  }
  OpDef& In(std::string name, DTypeSet types = kAny, std::string doc = "");
  OpDef& Variadic() {
    variadic = true;
    return *this;
  }
  OpDef& WithAttr(std::string name, Attr fallback,
                  std::string doc = "");  // optional: has a default
  template <class T>
  OpDef& WithAttr(std::string name, T fallback, std::string doc = "") {
    if constexpr (std::is_same_v<T, int>)
      return WithAttr(std::move(name), Attr(int64_t{fallback}), std::move(doc));
    else if constexpr (std::is_same_v<T, const char*>)
      return WithAttr(std::move(name), Attr(std::string(fallback)), std::move(doc));
    else
      return WithAttr(std::move(name), Attr(std::move(fallback)), std::move(doc));
  }
  template <class T>  // no default
  OpDef& RequiredAttr(std::string name, std::string doc = "") {
    return AddAttr({std::move(name), {}, true, Attr(T{}).index(), false, std::move(doc)});
  }
  template <class T>  // None is the default
  OpDef& OptionalAttr(std::string name, std::string doc = "") {
    return AddAttr({std::move(name), {}, false, Attr(T{}).index(), true, std::move(doc)});
  }
  OpDef& AddAttr(AttrDef def);
  // The attribute may hold symbolic sizes, and the functions of the declaration read it as Dim.
  OpDef& Sizes(std::string_view attr);
  // What attributes say of axes (AxisRole). The batching rule follows from the first three.
  OpDef& Axes(std::string_view attr, bool empty_is_all = true);
  OpDef& NewAxis(std::string_view attr);
  OpDef& PerAxis(std::string_view attr, Ints idle);
  // `attr` is the format of all operands of rank 4; the attributes `image` follow it.
  OpDef& Format(std::string_view attr, std::initializer_list<std::string_view> image = {});
  // ... of all but operand `filter`, whose layout is `attr`.
  OpDef& Filter(std::string_view attr, int filter);
  template <class F>
  OpDef& Infer(F f);  // F: InferContext& -> Type or Types
  template <class F>
  OpDef& Grad(F f);  // F: GradContext& -> Term or Terms
  // F: Expr... -> Expr, or ScalarTrace& -> Expr where attributes are read. Declares inference
  // (broadcast, promote) unless Infer was called; the inputs must be declared before.
  template <class F>
  OpDef& Scalar(F f);
  template <class F>
  OpDef& Expand(F f);
  OpDef& Batch(BatchFn f) {
    batch = std::move(f);
    return *this;
  }
  OpDef& Promote(Promotion p = Promotion::kCommon) {
    promotion = p;
    return *this;
  }
  OpDef& Python(std::string signature, uint32_t kinds = kFunction) {
    faces.push_back({std::move(signature), kinds});
    return *this;
  }
  OpDef& Class(std::string signature) {
    classes.push_back(std::move(signature));
    return *this;
  }
  // The same rule in all cases, or a function of types and attributes. Elementwise ops and views
  // need none: theirs are derived.
  OpDef& Shard(std::string rule) {
    return Shard([rule = std::move(rule)](const ShardContext&) { return rule; });
  }
  OpDef& Shard(ShardFn f) {
    shard = std::move(f);
    return *this;
  }
  OpDef& Shows(PutFn fn) {
    put = fn;
    return *this;
  }
  OpDef& View() {
    view = true;
    return *this;
  }
  OpDef& Elementwise() {
    elementwise = true;
    return *this;
  }
  OpDef& Divides() {
    divides = true;
    return *this;
  }
  OpDef& Refuses() {
    refuses = true;
    return *this;
  }
  OpDef& Internal() {
    internal = true;
    return *this;
  }
  OpDef& Structural() {
    structural = true;
    return *this;
  }
  OpDef& Joins(JoinedActivation activation) {
    joined.push_back(std::move(activation));
    return *this;
  }
  OpDef& Returns(int n) {
    returned = n;
    return *this;
  }
  OpDef& HasEffect(Effect e) {
    effect = e;
    return *this;
  }
  OpDef& Updates(int output, int input) {
    updates.emplace_back(output, input);
    return InPlace(output, input);
  }
  OpDef& InPlace(int output, int input) {
    in_place.emplace_back(output, input);
    return *this;
  }

 private:
  AttrDef& Declared(std::string_view attr, AxisRole role);
  void InferFromScalar();
};

class OpRegistry {
 public:
  OpDef& Op(std::string name);  // throws when the name is taken
  const OpDef* Find(std::string_view name) const;
  const OpDef& Get(std::string_view name) const;  // throws InternalError when missing
  std::vector<const OpDef*> All() const;          // by name

 private:
  std::deque<OpDef> storage_;
  std::unordered_map<std::string_view, OpDef*> by_name_;
};

// The registry of all ops, filled on first use by the function set here (ops/all.cc).
const OpRegistry& Ops();
void SetOpSource(void (*define_all)(OpRegistry&));

// Whether a symbolic size is among the attributes.
bool HasSymbols(const Attr& attr);
bool HasSymbols(const Attrs& attrs);

// The scalar graph of an elementwise op for given input types.
ScalarGraph TraceScalar(const OpDef& op, const std::vector<DType>& inputs, const Attrs& attrs);
// The types after op.promotion; equal to `inputs` where nothing changes.
Types PromotedTypes(const OpDef& op, const Types& inputs);

// ---- inline parts
[[noreturn]] void ThrowBadAttr(const OpDef& op, std::string_view name);

template <class T>
const T& AttrOf(const OpDef& op, const Attrs& attrs, std::string_view name) {
  int i = op.AttrIndex(name);
  if (i < 0 || static_cast<size_t>(i) >= attrs.size()) ThrowBadAttr(op, name);
  const T* value = std::get_if<T>(&attrs[i]);
  if (!value) ThrowBadAttr(op, name);
  return *value;
}

template <class T>
const T& InferContext::attr(std::string_view name) const {
  return AttrOf<T>(op_, attrs_, name);
}
template <class T>
const T& ExpandContext::attr(std::string_view name) const {
  return AttrOf<T>(op_, attrs_, name);
}
template <class T>
const T& ViewStep::attr(std::string_view name) const {
  return AttrOf<T>(op, attrs, name);
}
template <class T>
const T& ScalarTrace::attr(std::string_view name) const {
  return AttrOf<T>(op_, *attrs_, name);
}
template <class T>
const T& Node::attr(std::string_view attr_name) const {
  if (!attrs) ThrowBadAttr(*op, attr_name);
  return AttrOf<T>(*op, *attrs, attr_name);
}
inline bool InferContext::is_none(std::string_view name) const {
  int i = op_.AttrIndex(name);
  return i < 0 || std::holds_alternative<std::monostate>(attrs_[i]);
}

template <class F>
OpDef& OpDef::Infer(F f) {
  if constexpr (std::is_same_v<std::invoke_result_t<F, InferContext&>, Type>) {
    infer = [f](InferContext& c) { return Types{f(c)}; };
  } else {
    infer = f;
  }
  return *this;
}

template <class F>
OpDef& OpDef::Grad(F f) {
  if constexpr (std::is_same_v<std::invoke_result_t<F, GradContext&>, Term>) {
    grad = [f](GradContext& g) { return Terms{f(g)}; };
  } else {
    grad = f;
  }
  return *this;
}

template <class F>
OpDef& OpDef::Expand(F f) {
  if constexpr (std::is_same_v<std::invoke_result_t<F, ExpandContext&>, Term>) {
    expand = [f](ExpandContext& c) { return Terms{f(c)}; };
  } else {
    expand = f;
  }
  return *this;
}

template <class F>
OpDef& OpDef::Scalar(F f) {
  if constexpr (std::is_invocable_v<F, ScalarTrace&>)
    scalar = f;
  else if constexpr (std::is_invocable_v<F, Expr>)
    scalar = [f](ScalarTrace& t) { return f(t.in(0)); };
  else if constexpr (std::is_invocable_v<F, Expr, Expr>)
    scalar = [f](ScalarTrace& t) { return f(t.in(0), t.in(1)); };
  else
    scalar = [f](ScalarTrace& t) { return f(t.in(0), t.in(1), t.in(2)); };
  if (!infer) InferFromScalar();
  return *this;
}

}  // namespace ms
