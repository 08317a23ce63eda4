#include "ops/batch.h"

#include <span>

#include "ops/axes.h"

namespace ms {

Term SpreadItems(const Term& x, int64_t size) { return BroadcastTo(x, x.shape().Insert(0, size)); }

Term AlignItems(const Term& x, bool batched, int item_rank, int rank) {
  if (!batched || item_rank == rank) return x;
  Ints dims = x.shape().ToCodes();
  dims.insert(dims.begin() + 1, static_cast<size_t>(rank - item_rank), 1);
  return Reshape(x, dims);
}

Term BatchContext::Spread(size_t i) const {
  return batched_[i] ? inputs_[i] : SpreadItems(inputs_[i], size_);
}

Terms BatchContext::Again(const Terms& in, const NamedAttrs& changed) {
  Vars vars;
  for (const Term& t : in) vars.push_back(t.var);
  AttrsRef attrs = node_.attrs;
  if (!changed.empty()) {
    auto copy = std::make_shared<Attrs>(*attrs);
    for (const auto& [name, value] : changed) {
      (*copy)[static_cast<size_t>(node_.op->AttrIndex(name))] = value;
    }
    attrs = std::move(copy);
  }
  Terms result;
  for (const Var& v : emitter_.Emit(*node_.op, vars, attrs)) result.push_back(emitter_.Wrap(v));
  return result;
}

namespace {

Terms SpreadAll(const BatchContext& b) {
  Terms inputs;
  for (size_t i = 0; i < b.inputs(); ++i) inputs.push_back(b.Spread(i));
  return inputs;
}

// Broadcasting aligns ranks from the right; the new axis stays in front of all.
Terms BatchScalar(BatchContext& b) {
  int rank = b.out_type().shape().rank();
  Terms inputs;
  for (size_t i = 0; i < b.inputs(); ++i) {
    inputs.push_back(AlignItems(b.in(i), b.batched(i), b.rank(i), rank));
  }
  return b.Again(inputs);
}

Terms BatchView(BatchContext& b) {
  bool same = b.node().op->attributes.empty() && b.out_type().shape() == b.in_type(0).shape();
  if (same || !b.batched(0)) return b.Again({b.in(0)});
  return {Reshape(b.in(0), b.out_type().shape().Insert(0, b.size()))};
}

// A view with more inputs waits for them all.
Terms BatchDepend(BatchContext& b) {
  Terms inputs;
  for (size_t i = 0; i < b.inputs(); ++i) inputs.push_back(b.in(i));
  return b.Again(inputs);
}

// The op in terms of others, each of which is batched.
Terms BatchExpansion(BatchContext& b) {
  Graph item(nullptr, "item");
  GraphEmitter emitter(&item);
  std::unordered_map<Var, Term, VarHash> made;
  std::unordered_map<Var, bool, VarHash> batched;
  Terms inputs;
  for (size_t i = 0; i < b.inputs(); ++i) {
    Var v{item.AddParameter(b.in_type(i), "x"), 0};
    inputs.push_back(emitter.Wrap(v));
    made.emplace(v, b.in(i));
    batched.emplace(v, b.batched(i));
  }
  static const Attrs kNone;
  const Attrs& attrs = b.node().attrs ? *b.node().attrs : kNone;
  ExpandContext context(emitter, inputs, *b.node().op, attrs);
  Terms outputs = b.node().op->expand(context);
  for (const Node* node : item.nodes()) {
    if (node->kind == NodeKind::kParameter) continue;
    Var first{const_cast<Node*>(node), 0};
    if (node->kind == NodeKind::kConstant) {
      made.emplace(first, b.emitter().Wrap(b.emitter().Constant(node->value, first.type().weak())));
      batched.emplace(first, false);
      continue;
    }
    Terms from;
    std::vector<bool> flags;
    bool any = false;
    for (const Var& v : node->inputs) {
      from.push_back(made.at(v));
      flags.push_back(batched.at(v));
      any |= flags.back();
    }
    BatchContext inner(b.emitter(), *node, from, flags, b.size());
    Terms to = any ? BatchNode(inner) : inner.Again(from);
    for (uint32_t i = 0; i < to.size(); ++i) {
      made.emplace(Var{first.node, i}, to[i]);
      batched.emplace(Var{first.node, i}, any);
    }
  }
  Terms result;
  for (const Term& t : outputs) result.push_back(made.at(t.var));
  return result;
}

// One application for each item.
Terms BatchByItems(BatchContext& b) {
  std::vector<Terms> items(b.inputs());
  for (size_t i = 0; i < b.inputs(); ++i) {
    if (b.batched(i)) items[i] = b.emitter().CallMany("Unstack", {b.in(i)});
  }
  std::vector<Terms> outputs(b.node().outputs.size());
  auto size = static_cast<size_t>(Dim(b.size()).value());
  for (size_t k = 0; k < size; ++k) {
    Terms inputs;
    for (size_t i = 0; i < b.inputs(); ++i) inputs.push_back(b.batched(i) ? items[i][k] : b.in(i));
    Terms made = b.Again(inputs);
    for (size_t j = 0; j < outputs.size(); ++j) outputs[j].push_back(made[j]);
  }
  Terms result;
  for (const Terms& parts : outputs) result.push_back(b.Call("Stack", parts));
  return result;
}

Terms Derived(BatchContext& b) {
  const OpDef& op = *b.node().op;
  if (op.batch) {
    if (Terms made = op.batch(b); !made.empty()) return made;
  }
  if (op.scalar) return BatchScalar(b);
  if (op.view) return b.inputs() == 1 ? BatchView(b) : BatchDepend(b);
  if (!op.batch) {
    if (Terms made = batch::ByAxes(b); !made.empty()) return made;
  }
  if (op.expand) return BatchExpansion(b);
  return BatchByItems(b);
}

}  // namespace

Terms BatchNode(BatchContext& b) {
  Terms made = Derived(b);
  for (size_t i = 0; i < made.size(); ++i) {
    const Type& item = b.out_type(i);
    made[i] = CastTo(made[i], item.dtype());
    if (made[i].shape() == item.shape()) made[i] = SpreadItems(made[i], b.size());
    MS_ASSERT(made[i].shape() == item.shape().Insert(0, b.size()));
  }
  return made;
}

namespace batch {

namespace {

// Inputs of equal rank along one axis, or several: the attribute moves by one.
Terms AlongAxes(BatchContext& b, const AttrDef& attr) {
  int rank = b.rank(0);
  const Attr& given = (*b.node().attrs)[static_cast<size_t>(b.node().op->AttrIndex(attr.name))];
  Terms inputs = SpreadAll(b);
  if (const auto* axis = std::get_if<int64_t>(&given)) {
    if (rank == 0) return {};
    return b.Again(inputs, {{attr.name, int64_t{Wrap(*axis, rank) + 1}}});
  }
  Ints axes = std::holds_alternative<Ints>(given) ? std::get<Ints>(given) : Ints{};
  if (axes.empty() && !attr.empty_is_all) return b.Again(inputs);
  if (rank == 0) {  // the only axis beside the new one is made
    for (Term& t : inputs) t = Reshape(t, {b.size(), 1});
    Terms made = b.Again(inputs, {{attr.name, Ints{1}}});
    for (Term& t : made) t = Reshape(t, {b.size()});
    return made;
  }
  Ints moved;
  for (int axis : SortedAxes(axes, rank)) moved.push_back(axis + 1);
  return b.Again(inputs, {{attr.name, moved}});
}

// The entries of the new axis go in front. Attributes name the axes of the result, or of the input
// where it has more.
Terms WithEntries(BatchContext& b) {
  NamedAttrs changed;
  int rank = b.rank(0);
  for (const AttrDef& attr : b.node().op->attributes) {
    if (attr.role != AxisRole::kPerAxis) continue;
    auto entries = [&](int axes) {
      Ints values;
      for (int i = 0; i < axes; ++i)
        values.insert(values.end(), attr.idle.begin(), attr.idle.end());
      return values;
    };
    const Ints& values = b.attr<Ints>(attr.name);
    int named = static_cast<int>(values.size() / attr.idle.size());
    rank = std::max(named, b.rank(0));
    Ints more = entries(1 + rank - named);
    for (int64_t& v : std::span(more).first(attr.idle.size())) v = v == -1 ? b.size() : v;
    more.insert(more.end(), values.begin(), values.end());
    changed.emplace_back(attr.name, more);
  }
  return b.Again({AlignItems(b.Spread(0), true, b.rank(0), rank)}, changed);
}

}  // namespace

Terms ByAxes(BatchContext& b) {
  const OpDef& op = *b.node().op;
  if (const AttrDef* attr = op.AttrWith(AxisRole::kAxes)) return AlongAxes(b, *attr);
  if (const AttrDef* attr = op.AttrWith(AxisRole::kNewAxis)) {
    int64_t axis = b.attr<int64_t>(attr->name);
    return b.Again(SpreadAll(b), {{attr->name, axis < 0 ? axis : axis + 1}});
  }
  return op.AttrWith(AxisRole::kPerAxis) ? WithEntries(b) : Terms{};
}

Terms Leading(BatchContext& b) { return b.Again(SpreadAll(b)); }

BatchFn FirstAxis(size_t shared, const char* size_attr) {
  return [=](BatchContext& b) -> Terms {
    Terms inputs;
    for (size_t i = 0; i < b.inputs(); ++i) {
      if (i >= shared) {
        if (b.batched(i)) return {};
        inputs.push_back(b.in(i));
        continue;
      }
      const Shape& item = b.in_type(i).shape();
      if (item.rank() == 0) return {};
      inputs.push_back(Reshape(b.Spread(i), item.With(0, item.dim(0) * Dim(b.size()))));
    }
    NamedAttrs changed;
    if (size_attr) {
      Ints sizes = b.attr<Ints>(size_attr);
      sizes[0] = (Dim(sizes[0]) * Dim(b.size())).code();
      changed.emplace_back(size_attr, sizes);
    }
    Terms made = b.Again(inputs, changed);
    for (size_t i = 0; i < made.size(); ++i)
      made[i] = Reshape(made[i], b.out_type(i).shape().Insert(0, b.size()));
    return made;
  };
}

BatchFn Shaped(const char* attr) {
  return [=](BatchContext& b) -> Terms {
    Terms inputs;
    for (size_t i = 0; i < b.inputs(); ++i) {
      if (b.batched(i)) return {};
      inputs.push_back(b.in(i));
    }
    Ints shape = b.attr<Ints>(attr);
    shape.insert(shape.begin(), b.size());
    return b.Again(inputs, {{attr, shape}});
  };
}

}  // namespace batch
}  // namespace ms
