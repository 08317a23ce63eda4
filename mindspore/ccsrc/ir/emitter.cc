#include "ir/emitter.h"

#include <algorithm>

#include "ir/op.h"

namespace ms {
namespace {

const Attrs kNoAttrs;

Vars PromoteInputs(Emitter& emitter, const OpDef& op, Vars inputs) {
  if (op.promotion == Promotion::kNone || inputs.empty()) return inputs;
  Types types;
  for (const Var& v : inputs) {
    if (!v.type().is_tensor()) return inputs;  // Infer refuses it with a better message
    types.push_back(v.type());
  }
  Types promoted = PromotedTypes(op, types);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (types[i].dtype() != promoted[i].dtype()) {
      Term cast = CastTo(emitter.Wrap(inputs[i]), promoted[i].dtype());
      // Numbers among themselves stay numbers.
      inputs[i] = (promoted[i].weak() ? emitter.Call("Number", {cast}) : cast).var;
    }
  }
  return inputs;
}

}  // namespace

AttrsRef MakeAttrs(const OpDef& op, const NamedAttrs& named) {
  if (op.attributes.empty() && named.empty()) return nullptr;
  auto attrs = std::make_shared<Attrs>(op.attributes.size());
  for (size_t i = 0; i < op.attributes.size(); ++i) {
    const AttrDef& def = op.attributes[i];
    auto it = std::find_if(named.begin(), named.end(),
                           [&](const auto& n) { return n.first == def.name; });
    if (it != named.end()) {
      bool fits = def.kind == 0 || it->second.index() == def.kind ||
                  (def.optional && it->second.index() == 0);
      MS_ASSERT(fits);
      (*attrs)[i] = it->second;
    } else {
      if (def.required) ThrowBadAttr(op, def.name);
      (*attrs)[i] = def.fallback;
    }
  }
  for (const auto& [name, value] : named) {
    if (op.AttrIndex(name) < 0) ThrowBadAttr(op, name);
  }
  return attrs;
}

Terms Emitter::CallMany(std::string_view name, const Terms& inputs, const NamedAttrs& named) {
  const OpDef& op = Ops().Get(name);
  Vars vars;
  vars.reserve(inputs.size());
  for (const Term& t : inputs) vars.push_back(t.var);
  Terms terms;
  for (const Var& v : Emit(op, PromoteInputs(*this, op, std::move(vars)), MakeAttrs(op, named))) {
    terms.push_back(Wrap(v));
  }
  return terms;
}

Term Emitter::Call(std::string_view op, const Terms& inputs, const NamedAttrs& attrs) {
  return CallMany(op, inputs, attrs).at(0);
}

Term Emitter::Scalar(double value, DType dtype) {
  return Wrap(Constant(Tensor::Full(dtype, Shape{}, value), false));
}

Term Emitter::SizeScalar(Dim size, DType dtype, double divisor, bool inverse) {
  if (!size.symbolic()) {
    auto number = static_cast<double>(size.value());
    return Scalar(inverse ? divisor / number : number / divisor, dtype);
  }
  return Call(
      "SizeScalar", {},
      {{"size", size.code()}, {"dtype", dtype}, {"divisor", divisor}, {"inverse", inverse}});
}

Term Emitter::Full(double value, const Type& like) {
  if (like.is_box()) return Call("BoxZero", {});
  return Call("Fill", {},
              {{"dtype", like.dtype()}, {"shape", like.shape().ToCodes()}, {"value", value}});
}

// ---- GraphEmitter
Vars GraphEmitter::Emit(const OpDef& op, const Vars& inputs, AttrsRef attrs) {
  Vars used;
  used.reserve(inputs.size());
  Types types;
  types.reserve(inputs.size());
  for (const Var& v : inputs) {
    used.push_back(Use(graph_, v));
    types.push_back(v.type());
  }
  try {
    Types outputs = Infer(op, types, attrs ? *attrs : kNoAttrs);
    Node* node = graph_->AddApply(op, std::move(used), std::move(attrs), std::move(outputs), span);
    Vars result;
    for (uint32_t i = 0; i < node->outputs.size(); ++i) result.push_back({node, i});
    return result;
  } catch (Error& error) {
    throw std::move(error).WithSpan(span);
  }
}

Var GraphEmitter::Constant(Tensor value, bool weak) {
  return {graph_->AddConstant(std::move(value), weak), 0};
}

Var GraphEmitter::Use(Graph* graph, Var var) {
  if (var.node->graph == graph) return var;
  // Walk outwards to the graph that owns the value, then capture it inwards: no recursion.
  std::vector<Graph*> chain;
  for (Graph* g = graph; g != var.node->graph; g = g->parent) {
    if (!g) {
      // An object of Python that the front end does not look into kept it.
      Throw(ErrorKind::kUnknownValue,
            "a tensor of one branch or loop (graph '{}') is used outside of it (in '{}'); it was "
            "kept in "
            "an object that compiled code does not look into.",
            var.node->graph->name(), graph->name());
    }
    chain.push_back(g);
  }
  if (var.node->kind == NodeKind::kConstant) {
    return {graph->AddConstant(var.node->value, var.type().weak()), 0};
  }
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) var = {(*it)->Capture(var), 0};
  return var;
}

Var GraphEmitter::Partial(Graph* callee, const Vars& captures) {
  static const OpDef& op = Ops().Get("Partial");
  return Emit(op, captures, std::make_shared<const Attrs>(Attrs{callee}))[0];
}

Var GraphEmitter::Switch(Var condition, Var if_true, Var if_false) {
  static const OpDef& op = Ops().Get("Switch");
  return Emit(op, {condition, if_true, if_false}, nullptr)[0];
}

Vars GraphEmitter::CallFunction(Var function, const Vars& arguments) {
  static const OpDef& op = Ops().Get("Call");
  Vars inputs{function};
  inputs.insert(inputs.end(), arguments.begin(), arguments.end());
  return Emit(op, inputs, nullptr);
}

// ---- Term
namespace {

Term Binary(const char* op, const Term& a, const Term& b) { return a.emitter->Call(op, {a, b}); }
Term Like(const Term& a, double value) { return a.emitter->Scalar(value, a.dtype()); }

}  // namespace

Term operator+(const Term& a, const Term& b) { return Binary("Add", a, b); }
Term operator-(const Term& a, const Term& b) { return Binary("Sub", a, b); }
Term operator*(const Term& a, const Term& b) { return Binary("Mul", a, b); }
Term operator/(const Term& a, const Term& b) { return Binary("RealDiv", a, b); }
Term operator-(const Term& a) { return a.emitter->Call("Neg", {a}); }
Term operator+(const Term& a, double b) { return a + Like(a, b); }
Term operator-(const Term& a, double b) { return a - Like(a, b); }
Term operator-(double a, const Term& b) { return Like(b, a) - b; }
Term operator*(const Term& a, double b) { return a * Like(a, b); }
Term operator*(double a, const Term& b) { return b * Like(b, a); }
Term operator/(const Term& a, double b) { return a / Like(a, b); }
Term operator/(double a, const Term& b) { return Like(b, a) / b; }
Term operator/(const Term& a, Dim b) { return a / a.emitter->SizeScalar(b, a.dtype()); }

Term Reshape(const Term& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return x.emitter->Call("Reshape", {x}, {{"shape", shape.ToCodes()}});
}

Term CastTo(const Term& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return x.emitter->Call("Cast", {x}, {{"dtype", dtype}});
}

Term BroadcastTo(const Term& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return x.emitter->Call("BroadcastTo", {x}, {{"shape", shape.ToCodes()}});
}

Term ZerosLike(const Term& x) { return x.emitter->Full(0, x.type()); }

Term SumTo(const Term& x, const Shape& shape) {
  const Shape& from = x.shape();
  if (from == shape) return x;
  int lead = from.rank() - shape.rank();
  Ints axes;
  for (int i = 0; i < from.rank(); ++i) {
    if (i < lead || (shape.dim(i - lead).Is(1) && !from.dim(i).Is(1))) axes.push_back(i);
  }
  Term sum =
      axes.empty() ? x : x.emitter->Call("ReduceSum", {x}, {{"axis", axes}, {"keep_dims", true}});
  return Reshape(sum, shape);
}

}  // namespace ms
