// The sharding rules of ops as facts: what tests hold them to, and what planners read.
#include <pybind11/stl.h>

#include "ir/shard_rule.h"
#include "python/convert.h"
#include "python/dtype_object.h"
#include "python/module.h"
#include "python/tensor_object.h"

namespace ms::python {
namespace py = pybind11;
namespace {

// Of a tensor, a number, or (dtype, shape).
Type TypeOf(const OpDef& op, py::handle object) {
  if (IsTensor(object.ptr())) {
    const TensorObject* tensor = AsTensor(object.ptr());
    return {tensor->dtype(), tensor->shape()};
  }
  Number number;
  if (NumberFromObject(object.ptr(), &number)) return {number.dtype, {}, true};
  DType dtype;
  if (py::isinstance<py::tuple>(object) && py::len(object) == 2 &&
      DTypeFromObject(object[py::int_(0)].ptr(), &dtype)) {
    return {dtype, Shape(object[py::int_(1)].cast<Ints>())};
  }
  Throw(ErrorKind::kType,
        "For '{}', an input must be a tensor, a number or (dtype, shape), but got {}.", op.name,
        TypeName(object.ptr()));
}

Attrs AttrsFrom(const OpDef& op, const py::dict& given) {
  for (auto [name, value] : given) {
    if (op.AttrIndex(name.cast<std::string>()) < 0)
      Throw(ErrorKind::kType, "For '{}', there is no attribute '{}'.", op.name,
            name.cast<std::string>());
  }
  Attrs attrs;
  for (const AttrDef& def : op.attributes) {
    if (given.contains(def.name)) {
      attrs.push_back(AttrFromObject(op, def, given[def.name.c_str()].ptr()));
      continue;
    }
    if (def.required) Throw(ErrorKind::kType, "For '{}', '{}' is missing.", op.name, def.name);
    attrs.push_back(def.fallback);
  }
  return attrs;
}

py::list NamesOf(const ShardRule& rule, const ShardDim& dim) {
  py::list names;
  for (int f : dim) names.append(rule.factors[static_cast<size_t>(f)].name);
  return names;
}

py::list NamesOf(const ShardRule& rule, const std::vector<ShardOperand>& operands) {
  py::list all;
  for (const ShardOperand& operand : operands) {
    py::list dims;
    for (const ShardDim& dim : operand) dims.append(NamesOf(rule, dim));
    all.append(dims);
  }
  return all;
}

py::dict Described(const ShardRule& rule) {
  py::dict result, factors, sizes;
  for (const ShardFactor& f : rule.factors) {
    py::dict facts;
    facts["size"] = f.size.value();
    facts["mark"] = Name(f.mark);
    facts["by"] = f.by < 0 ? py::object(py::none()) : py::int_(f.by);
    facts["splits"] = f.splits();
    factors[py::str(f.name)] = facts;
  }
  for (const ShardSizes& s : rule.sizes) {
    py::list entries;
    for (const auto& dim : s.entries)
      entries.append(dim ? py::object(NamesOf(rule, *dim)) : py::object(py::none()));
    sizes[py::str(s.attr)] = entries;
  }
  result["factors"] = factors;
  result["operands"] = NamesOf(rule, rule.operands);
  result["results"] = NamesOf(rule, rule.results);
  result["sizes"] = sizes;
  result["seeded"] = rule.seeded;
  return result;
}

py::object RuleOf(const std::string& name, const py::list& inputs, const py::dict& given) {
  const OpDef* op = Ops().Find(name);
  if (!op) Throw(ErrorKind::kName, "there is no op '{}'", name);
  Types types;
  for (py::handle input : inputs) types.push_back(TypeOf(*op, input));
  std::optional<ShardRule> rule =
      ShardRuleOf(*op, PromotedTypes(*op, types), AttrsFrom(*op, given));
  return rule ? py::object(Described(*rule)) : py::object(py::none());
}

}  // namespace

void BindShardRules(py::module_& m) {
  m.def("shard_rule", &RuleOf, py::arg("op"), py::arg("inputs"), py::arg("attrs") = py::dict(),
        "The sharding rule of an op for inputs (tensors, numbers or (dtype, shape)) and "
        "attributes, or None: the factors with size, mark, what it goes by and whether they may be "
        "cut; "
        "for each operand and result the factors of its dimensions; the attributes that hold "
        "sizes of a part; whether the op is seeded by parts.");
}

}  // namespace ms::python
