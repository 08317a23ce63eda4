// The one way to apply an op. GraphEmitter appends a typed node; the eager emitter
// (runtime/eager.h) runs it too. Gradients and expansions are written against Term, so both modes
// share them.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include "ir/graph.h"

namespace ms {

using NamedAttrs = std::vector<std::pair<std::string_view, Attr>>;

class Emitter;

// A Var and the emitter that made it, with operators: what rules compute with. Empty: no value
// (zero tangent).
struct Term {
  Emitter* emitter = nullptr;
  Var var;

  explicit operator bool() const { return static_cast<bool>(var); }
  const Type& type() const { return var.type(); }
  DType dtype() const { return type().dtype(); }
  const Shape& shape() const { return type().shape(); }
};
using Terms = std::vector<Term>;

class Emitter {
 public:
  virtual ~Emitter() = default;
  // Checks, infers and applies. `attrs` may be null where the op has none; else complete, in
  // declared order.
  virtual Vars Emit(const OpDef& op, const Vars& inputs, AttrsRef attrs) = 0;
  virtual Var Constant(Tensor value, bool weak) = 0;

  // By name, unmentioned attributes at their defaults. Call is for ops with one output.
  Term Call(std::string_view op, const Terms& inputs, const NamedAttrs& attrs = {});
  Terms CallMany(std::string_view op, const Terms& inputs, const NamedAttrs& attrs = {});
  Term Scalar(double value, DType dtype);  // a 0-d constant
  // A 0-d value made of a size: size / divisor, or divisor / size. A constant where it is known.
  Term SizeScalar(Dim size, DType dtype, double divisor = 1, bool inverse = false);
  Term Full(double value, const Type& like);  // op Fill: no memory until it is needed
  Term Wrap(Var var) { return {this, var}; }

  SpanId span = 0;  // given to the nodes that are made
};

class GraphEmitter : public Emitter {
 public:
  explicit GraphEmitter(Graph* graph) : graph_(graph) {}
  Vars Emit(const OpDef& op, const Vars& inputs, AttrsRef attrs) override;
  Var Constant(Tensor value, bool weak) override;
  Graph* graph() const { return graph_; }

  // A Var of this graph for a Var of this or an enclosing graph: constants are repeated, other
  // values captured.
  static Var Use(Graph* graph, Var var);

  // Function values.
  Var Partial(Graph* callee, const Vars& captures);
  Var Switch(Var condition, Var if_true, Var if_false);
  Vars CallFunction(Var function, const Vars& arguments);

 private:
  Graph* graph_;
};

// Computes output types; throws ms::Error when the op refuses.
Types Infer(const OpDef& op, const Types& inputs, const Attrs& attrs);
// Attributes in declared order from names; throws for unknown or missing ones.
AttrsRef MakeAttrs(const OpDef& op, const NamedAttrs& named);

Term operator+(const Term& a, const Term& b);
Term operator-(const Term& a, const Term& b);
Term operator*(const Term& a, const Term& b);
Term operator/(const Term& a, const Term& b);
Term operator-(const Term& a);
Term operator+(const Term& a, double b);
Term operator-(const Term& a, double b);
Term operator-(double a, const Term& b);
Term operator*(const Term& a, double b);
Term operator*(double a, const Term& b);
Term operator/(const Term& a, double b);
Term operator/(double a, const Term& b);
Term operator/(const Term& a, Dim b);

// Helpers that many rules want.
Term SumTo(const Term& x, const Shape& shape);  // undoes broadcasting: sums x down to `shape`
Term Reshape(const Term& x, const Shape& shape);
Term CastTo(const Term& x, DType dtype);
Term BroadcastTo(const Term& x, const Shape& shape);
Term ZerosLike(const Term& x);

}  // namespace ms
