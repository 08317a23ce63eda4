#include "ir/op.h"

#include <algorithm>

namespace ms {

std::string ToString(DTypeSet set) {
  std::vector<std::string_view> names;
  for (int i = 0; i < kDTypeCount; ++i) {
    if (Contains(set, static_cast<DType>(i))) names.push_back(Name(static_cast<DType>(i)));
  }
  return fmt::format("[{}]", fmt::join(names, ", "));
}

// ---- InferContext
void InferContext::Fail(ErrorKind kind, const std::string& what) const {
  throw Error(kind, fmt::format("For '{}', {}.", op_.name, what));
}

const std::string& InferContext::input_name(size_t i) const {
  return op_.inputs[std::min(i, op_.inputs.size() - 1)].name;
}

void InferContext::CheckRank(size_t i, int expected) const {
  Check(rank(i) == expected, "'{}' must have {} dimensions, but got {} with shape {}",
        input_name(i), expected, rank(i), shape(i));
}

void InferContext::CheckSameDType(size_t i, size_t j) const {
  CheckType(dtype(i) == dtype(j), "'{}' and '{}' must have the same dtype, but got {} and {}",
            input_name(i), input_name(j), Name(dtype(i)), Name(dtype(j)));
}

void InferContext::CheckSameShape(size_t i, size_t j) const {
  Check(SameSizes(shape(i), shape(j)), "'{}' and '{}' must have the same shape, but got {} and {}",
        input_name(i), input_name(j), shape(i), shape(j));
}

int InferContext::Axis(int64_t axis, int rank) const {
  Check(axis >= -rank && axis < rank, "the axis must be in [{}, {}), but got {}", -rank, rank,
        axis);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int> InferContext::Axes(const Ints& axes, int rank) const {
  std::vector<int> result;
  if (axes.empty()) {
    for (int i = 0; i < rank; ++i) result.push_back(i);
    return result;
  }
  for (int64_t axis : axes) {
    // A scalar may be reduced over its only, imaginary, axis.
    if (rank == 0 && (axis == 0 || axis == -1)) continue;
    result.push_back(Axis(axis, rank));
  }
  std::sort(result.begin(), result.end());
  Check(std::adjacent_find(result.begin(), result.end()) == result.end(),
        "the axes must not repeat, but got ({})", fmt::join(axes, ", "));
  return result;
}

Term GradContext::dout(size_t i) {
  if (tangents_[i]) return emitter_.Wrap(tangents_[i]);
  return emitter_.Full(0, node_.outputs[i]);
}

// ---- OpDef
int OpDef::AttrIndex(std::string_view attr) const {
  for (size_t i = 0; i < attributes.size(); ++i) {
    if (attributes[i].name == attr) return static_cast<int>(i);
  }
  return -1;
}

DTypeSet OpDef::InputTypes(size_t i) const { return inputs[std::min(i, inputs.size() - 1)].types; }

OpDef& OpDef::In(std::string input, DTypeSet types, std::string text) {
  inputs.push_back({std::move(input), types, std::move(text)});
  return *this;
}

OpDef& OpDef::AddAttr(AttrDef def) {
  MS_ASSERT(AttrIndex(def.name) < 0);
  attributes.push_back(std::move(def));
  return *this;
}

OpDef& OpDef::WithAttr(std::string attr, Attr fallback, std::string text) {
  size_t kind = fallback.index();
  return AddAttr({std::move(attr), std::move(fallback), false, kind, false, std::move(text)});
}

const AttrDef* OpDef::AttrWith(AxisRole role) const {
  auto found = std::find_if(attributes.begin(), attributes.end(),
                            [&](const AttrDef& attr) { return attr.role == role; });
  return found == attributes.end() ? nullptr : &*found;
}

OpDef& OpDef::Sizes(std::string_view attr) {
  int i = AttrIndex(attr);
  MS_ASSERT(i >= 0);
  attributes[static_cast<size_t>(i)].sizes = true;
  return *this;
}

AttrDef& OpDef::Declared(std::string_view attr, AxisRole role) {
  int i = AttrIndex(attr);
  MS_ASSERT(i >= 0);
  AttrDef& def = attributes[static_cast<size_t>(i)];
  def.role = role;
  return def;
}

OpDef& OpDef::Axes(std::string_view attr, bool empty_is_all) {
  Declared(attr, AxisRole::kAxes).empty_is_all = empty_is_all;
  return *this;
}

OpDef& OpDef::NewAxis(std::string_view attr) {
  Declared(attr, AxisRole::kNewAxis);
  return *this;
}

OpDef& OpDef::PerAxis(std::string_view attr, Ints idle) {
  Declared(attr, AxisRole::kPerAxis).idle = std::move(idle);
  return *this;
}

OpDef& OpDef::Format(std::string_view attr, std::initializer_list<std::string_view> image) {
  Declared(attr, AxisRole::kFormat);
  for (std::string_view name : image) Declared(name, AxisRole::kImage);
  return *this;
}

OpDef& OpDef::Filter(std::string_view attr, int filter) {
  Declared(attr, AxisRole::kFilter).filter = filter;
  return *this;
}

void OpDef::InferFromScalar() {
  infer = [](InferContext& c) {
    Shape shape = c.shape(0);
    bool weak = c.in(0).weak();
    std::vector<DType> dtypes{c.dtype(0)};
    for (size_t i = 1; i < c.size(); ++i) {
      if (c.op().promotion != Promotion::kNone) c.CheckSameDType(0, i);
      c.Check(Broadcast(shape, c.shape(i), &shape),
              "the shapes of its inputs must broadcast, but got {} and {}", c.shape(i - 1),
              c.shape(i));
      weak = weak && c.in(i).weak();
      dtypes.push_back(c.dtype(i));
    }
    return Types{Type(TraceScalar(c.op(), dtypes, c.attrs()).dtype(), shape, weak)};
  };
}

// ---- registry
OpDef& OpRegistry::Op(std::string name) {
  if (by_name_.contains(name)) Throw(ErrorKind::kInternal, "the op '{}' is declared twice", name);
  OpDef& op = storage_.emplace_back();
  op.name = std::move(name);
  by_name_.emplace(op.name, &op);
  return op;
}

const OpDef* OpRegistry::Find(std::string_view name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

const OpDef& OpRegistry::Get(std::string_view name) const {
  const OpDef* op = Find(name);
  if (!op) Throw(ErrorKind::kInternal, "there is no op '{}'", name);
  return *op;
}

std::vector<const OpDef*> OpRegistry::All() const {
  std::vector<const OpDef*> all;
  for (const OpDef& op : storage_) all.push_back(&op);
  std::sort(all.begin(), all.end(), [](auto* a, auto* b) { return a->name < b->name; });
  return all;
}

namespace {
void (*op_source)(OpRegistry&) = nullptr;
}  // namespace

void SetOpSource(void (*define_all)(OpRegistry&)) { op_source = define_all; }

const OpRegistry& Ops() {
  static const OpRegistry* registry = [] {
    auto* fresh = new OpRegistry;
    MS_ASSERT(op_source);
    op_source(*fresh);
    return fresh;
  }();
  return *registry;
}

// ---- checks and promotion
void ThrowBadAttr(const OpDef& op, std::string_view name) {
  Throw(ErrorKind::kInternal, "the declaration of '{}' has no attribute '{}' of that type", op.name,
        name);
}

Types PromotedTypes(const OpDef& op, const Types& inputs) {
  if (op.promotion == Promotion::kNone || inputs.empty()) return inputs;
  DType common = inputs[0].dtype();
  bool weak = inputs[0].weak();
  for (size_t i = 1; i < inputs.size(); ++i) {
    common = Promote(common, weak, inputs[i].dtype(), inputs[i].weak());
    weak = weak && inputs[i].weak();
  }
  if (op.promotion == Promotion::kFloating && !IsFloating(common) && !IsComplex(common)) {
    common = DType::kFloat32;
  }
  Types types;
  for (const Type& t : inputs) types.emplace_back(common, t.shape(), weak);
  return types;
}

namespace {

void CheckInputs(const OpDef& op, const Types& inputs) {
  size_t declared = op.inputs.size();
  bool enough = op.variadic ? inputs.size() >= declared : inputs.size() == declared;
  if (!enough) {
    ErrorKind kind = op.variadic ? ErrorKind::kValue : ErrorKind::kType;  // of a tuple's size
    Throw(kind, "For '{}', it takes {}{} input{}, but got {}.", op.name,
          op.variadic ? "at least " : "", declared, declared == 1 ? "" : "s", inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    DTypeSet set = op.InputTypes(i);
    if (!inputs[i].is_tensor() || !Contains(set, inputs[i].dtype())) {
      Throw(ErrorKind::kType, "For '{}', the dtype of '{}' must be one of {}, but got {}.", op.name,
            op.inputs[std::min(i, declared - 1)].name, ToString(set),
            inputs[i].is_tensor() ? std::string(Name(inputs[i].dtype())) : inputs[i].ToString());
    }
  }
}

// Attributes that are plain numbers refuse symbolic sizes.
void CheckAttributes(const OpDef& op, const Attrs& attrs) {
  for (size_t i = 0; i < attrs.size() && i < op.attributes.size(); ++i) {
    if (op.attributes[i].sizes || !HasSymbols(attrs[i])) continue;
    Throw(ErrorKind::kSymbolic, "For '{}', '{}' must be known when it is compiled, but got {}.",
          op.name, op.attributes[i].name, ToString(attrs[i]));
  }
}

}  // namespace

bool HasSymbols(const Attr& attr) {
  if (const auto* number = std::get_if<int64_t>(&attr)) return Dim::IsSymbolicCode(*number);
  const auto* list = std::get_if<Ints>(&attr);
  return list && std::any_of(list->begin(), list->end(), Dim::IsSymbolicCode);
}

bool HasSymbols(const Attrs& attrs) {
  return std::any_of(attrs.begin(), attrs.end(), [](const Attr& a) { return HasSymbols(a); });
}

Types Infer(const OpDef& op, const Types& inputs, const Attrs& attrs) {
  if (!op.structural) CheckInputs(op, inputs);
  CheckAttributes(op, attrs);
  InferContext context(op, inputs, attrs);
  try {
    return op.infer(context);
  } catch (const Error& error) {
    throw error.Of(op.name);
  }
}

}  // namespace ms
