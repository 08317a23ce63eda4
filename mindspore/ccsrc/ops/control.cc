// Control flow and autodiff as ops on function values. Partial makes a function from a graph,
// Switch picks one, Call applies one. Vjp asks for the pair (value, backward closure), Jvp for
// (value, tangent), Vmap for the function of many items; passes expand them. A Box is the tangent
// of a function value: the tangents of its captures, or zero; only Partial's gradient opens it.
#include "ops/control.h"

#include "ops/all.h"
#include "ops/shard.h"

namespace ms {

Types TangentTypes(const Types& types) {
  Types tangents;
  for (const Type& t : types) {
    if (t.has_tangent()) tangents.push_back(t.Tangent());
  }
  return tangents;
}

Type VjpType(const FunctionType& f) {
  Types back_results{Type::Box()};
  for (const Type& t : TangentTypes(f.parameters)) back_results.push_back(t);
  Types results = f.results;
  results.push_back(Type::Function(TangentTypes(f.results), std::move(back_results)));
  return Type::Function(f.parameters, std::move(results));
}

Type JvpType(const Type& type) {
  if (!type.is_function()) return type;
  auto doubled = [](const Types& types) {
    Types result;
    for (const Type& t : types) result.push_back(JvpType(t));
    for (const Type& t : types) {
      if (t.is_tensor() && t.has_tangent()) result.push_back(t.Tangent());
    }
    return result;
  };
  return Type::Function(doubled(type.function().parameters), doubled(type.function().results));
}

Type BatchedType(const Type& type, int64_t size) {
  MS_ASSERT(type.is_tensor());
  return Type(type.dtype(), type.shape().Insert(0, size));
}

Type CustomBackwardType(const FunctionType& f) {
  Types parameters = f.parameters;
  parameters.insert(parameters.end(), f.results.begin(), f.results.end());
  for (const Type& t : TangentTypes(f.results)) parameters.push_back(t);
  return Type::Function(std::move(parameters), TangentTypes(f.parameters));
}

// Per type: -1 for a Box; else dtype, rank, sizes.
Ints EncodeTangentTypes(const Types& types) {
  Ints code;
  for (const Type& t : types) {
    if (t.is_box()) {
      code.push_back(-1);
      continue;
    }
    MS_ASSERT(t.is_tensor());
    code.push_back(static_cast<int64_t>(t.dtype()));
    code.push_back(t.shape().rank());
    code.insert(code.end(), t.shape().codes().begin(), t.shape().codes().end());
  }
  return code;
}

Types DecodeTangentTypes(const Ints& code) {
  Types types;
  for (size_t i = 0; i < code.size();) {
    if (code[i] == -1) {
      types.push_back(Type::Box());
      ++i;
      continue;
    }
    bool valid = code[i] >= 0 && code[i] < kDTypeCount && i + 1 < code.size() && code[i + 1] >= 0 &&
                 code[i + 1] <= kMaxRank && i + 2 + static_cast<size_t>(code[i + 1]) <= code.size();
    if (!valid) Throw(ErrorKind::kValue, "the list of types is damaged at position {}", i);
    size_t rank = static_cast<size_t>(code[i + 1]);
    types.emplace_back(static_cast<DType>(code[i]), Shape(std::span(code).subspan(i + 2, rank)));
    i += 2 + rank;
  }
  return types;
}

namespace {

Types InferPartial(InferContext& c) {
  const Graph* callee = c.attr<Graph*>("graph");
  size_t captures = callee->captures().size();
  c.CheckType(c.size() == captures, "the graph '{}' captures {} values, but got {}", callee->name(),
              captures, c.size());
  for (size_t i = 0; i < captures; ++i) {
    const Type& expected = callee->captures()[i]->outputs[0];
    c.CheckType(c.in(i) == expected, "capture {} of '{}' must be {}, but got {}", i, callee->name(),
                expected, c.in(i));
  }
  Types parameters;
  for (const Node* p : callee->parameters()) parameters.push_back(p->outputs[0]);
  return {Type::Function(std::move(parameters), callee->OutputTypes())};
}

Types InferSwitch(InferContext& c) {
  c.CheckType(c.size() == 3, "it takes 3 inputs, but got {}", c.size());
  bool scalar = c.in(0).is_tensor() && IsBool(c.dtype(0)) && c.shape(0).rank() == 0;
  c.CheckType(scalar, "the condition must be Bool[], but got {}", c.in(0));
  c.CheckType(!c.in(1).is_tensor(), "both choices must be functions or boxes, but got {}", c.in(1));
  c.CheckType(c.in(1) == c.in(2), "both choices must have the same type, but got {} and {}",
              c.in(1), c.in(2));
  return {c.in(1)};
}

Types InferCall(InferContext& c) {
  c.CheckType(c.size() >= 1 && c.in(0).is_function(),
              "the first input must be a function, but got {}",
              c.size() ? c.in(0).ToString() : "nothing");
  const FunctionType& f = c.in(0).function();
  c.CheckType(c.size() - 1 == f.parameters.size(), "the function takes {} arguments, but got {}",
              f.parameters.size(), c.size() - 1);
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    const Type &given = c.in(i + 1), &wanted = f.parameters[i];
    if (given == wanted) continue;
    // Open sizes that are equal in every run, for all that is known here.
    bool open = given.is_tensor() && wanted.is_tensor() && given.dtype() == wanted.dtype() &&
                (given.shape().symbolic() || wanted.shape().symbolic());
    c.Fail(open ? ErrorKind::kSymbolic : ErrorKind::kType,
           fmt::format("argument {} must be {}, but got {}", i, wanted, given));
  }
  return f.results;
}

// f: x -> y and back: (x, y, dy) -> dx, with no tangents for what has none.
Types InferCustomGrad(InferContext& c) {
  c.CheckType(c.size() == 2 && c.in(0).is_function() && c.in(1).is_function(),
              "it takes two functions");
  Type back = CustomBackwardType(c.in(0).function());
  c.CheckType(c.in(1) == back, "the backward function must be {}, but got {}", back, c.in(1));
  return {c.in(0)};
}

void DefineFunctions(OpRegistry& ops) {
  ops.Op("Partial")
      .Doc("A function value: a graph together with the values of its captures.")
      .In("captures")
      .Variadic()
      .Structural()
      .RequiredAttr<Graph*>("graph",
                            "The graph; its remaining parameters are those of the function.")
      .Infer(InferPartial)
      .Grad([](GradContext& g) {
        Types types;
        for (const Var& v : g.node().inputs) types.push_back(v.type());
        Terms parts =
            g.CallMany("BoxGet", {g.dout(0)}, {{"types", EncodeTangentTypes(TangentTypes(types))}});
        Terms result;
        size_t next = 0;
        for (const Type& t : types) result.push_back(t.has_tangent() ? parts[next++] : Term{});
        return result;
      });
  ops.Op("Switch")
      .Doc("The second input where the condition holds, else the third; functions or boxes.")
      .In("condition")
      .In("if_true")
      .In("if_false")
      .Structural()
      .Infer(InferSwitch)
      .Grad([](GradContext& g) {
        Term zero = g.Call("BoxZero", {});
        return Terms{{},
                     g.Call("Switch", {g.in(0), g.dout(0), zero}),
                     g.Call("Switch", {g.in(0), zero, g.dout(0)})};
      });
  // Its gradient calls the backward closure that Vjp of the callee returns; see grad/closure.cc.
  ops.Op("Call")
      .Doc("Applies a function value.")
      .In("function")
      .In("arguments")
      .Variadic()
      .Structural()
      .Infer(InferCall);
}

Type InferVmap(InferContext& c) {
  c.CheckType(c.size() == 1 && c.in(0).is_function(), "it takes one function");
  int64_t size = c.attr<int64_t>("size");
  const FunctionType& f = c.in(0).function();
  c.Check(Dim(size) >= 1, "'size' must be positive, but got {}", size);
  auto batched = [&](const char* name, const Types& types) {
    const Ints& axes = c.attr<Ints>(name);
    c.Check(axes.size() == types.size(), "'{}' must have {} items, but got {}", name, types.size(),
            axes.size());
    Types result;
    for (size_t i = 0; i < axes.size(); ++i) {
      c.CheckType(types[i].is_tensor(), "the function must take and return tensors, but got {}",
                  c.in(0));
      c.Check(axes[i] == 0 || axes[i] == -1, "'{}' must be 0, or -1 for none, but got {}", name,
              axes[i]);
      result.push_back(axes[i] == 0 ? BatchedType(types[i], size) : types[i]);
    }
    return result;
  };
  return Type::Function(batched("in_axes", f.parameters), batched("out_axes", f.results));
}

// Functions of functions: each stands for code that passes/expand_*.cc make.
void DefineTransforms(OpRegistry& ops) {
  ops.Op("Vjp")
      .Doc(
          "The function that returns what f returns and, last, the closure that maps output to "
          "input tangents.")
      .In("f")
      .Structural()
      .Infer([](InferContext& c) {
        c.CheckType(c.size() == 1 && c.in(0).is_function(), "it takes one function");
        return VjpType(c.in(0).function());
      });
  ops.Op("Jvp")
      .Doc(
          "The function that takes f's arguments and their tangents and returns f's results and "
          "their tangents.")
      .In("f")
      .Structural()
      .Infer([](InferContext& c) {
        c.CheckType(c.size() == 1 && c.in(0).is_function(), "it takes one function");
        return JvpType(c.in(0));
      });
  ops.Op("Vmap")
      .Doc("The function that applies f to each of `size` items, which lie along axis 0.")
      .In("f")
      .Structural()
      .RequiredAttr<Ints>("in_axes", "For each parameter: 0, or -1 where all items share it.")
      .RequiredAttr<Ints>("out_axes",
                          "For each result: 0, or -1 where it is the same for all items.")
      .WithAttr<int64_t>("written", 0, "How many of the last results are new values of Parameters.")
      .RequiredAttr<int64_t>("size", "How many items there are.")
      .Sizes("size")
      .Infer(InferVmap);
  // A gradient treats it as one step whose rule is `back`; values captured by f or back are
  // constants to it. The gradient pass, and then DropCustomGradients, take it away.
  ops.Op("CustomGrad")
      .Doc("The function f, with a backward function of its own: back(x..., y..., dy...) -> dx....")
      .In("f")
      .In("back")
      .Structural()
      .Infer(InferCustomGrad)
      .Grad([](GradContext&) { return Terms{}; });
}

void DefineBoxes(OpRegistry& ops) {
  ops.Op("BoxMake")
      .Doc("The tangent of a function value, from the tangents of its captures.")
      .In("tangents")
      .Variadic()
      .Structural()
      .Infer([](InferContext& c) {
        for (const Type& t : c.inputs())
          c.CheckType(t.has_tangent() && !t.is_function(), "{} is not a tangent", t);
        return Type::Box();
      })
      .Grad([](GradContext& g) {
        Types types;
        for (const Var& v : g.node().inputs) types.push_back(v.type());
        return g.CallMany("BoxGet", {g.dout(0)}, {{"types", EncodeTangentTypes(types)}});
      });
  ops.Op("BoxGet")
      .Doc("What a box holds; zeros of the given types where it is zero.")
      .In("box")
      .Structural()
      .RequiredAttr<Ints>("types", "Encoded types of the contents.")
      .Sizes("types")
      .Infer([](InferContext& c) {
        c.CheckType(c.size() == 1 && c.in(0).is_box(), "it takes one box");
        return DecodeTangentTypes(c.attr<Ints>("types"));
      })
      .Grad([](GradContext& g) {
        Terms tangents;
        for (size_t i = 0; i < g.outputs(); ++i) tangents.push_back(g.dout(i));
        return g.Call("BoxMake", tangents);
      });
  ops.Op("BoxZero")
      .Doc("The zero tangent of a function value.")
      .Structural()
      .Infer([](InferContext&) { return Type::Box(); });
  ops.Op("BoxAdd")
      .Doc("Sum of two tangents of function values.")
      .In("a")
      .In("b")
      .Structural()
      .Infer([](InferContext& c) {
        c.CheckType(c.size() == 2 && c.in(0).is_box() && c.in(1).is_box(), "it takes two boxes");
        return Type::Box();
      })
      .Grad([](GradContext& g) { return Terms{g.dout(0), g.dout(0)}; });
}

void DefineHost(OpRegistry& ops) {
  // Tensors leave the graph here: like a conversion to NumPy, it has no gradient.
  ops.Op("HostCall")
      .Internal()
      .Doc("Calls a function of the program around the graph while it runs.")
      .In("arguments")
      .Variadic()
      .RequiredAttr<int64_t>("function", "The number it was registered under.")
      .RequiredAttr<Ints>("types", "Encoded types of the results: dtype, rank, sizes of each.")
      .Sizes("types")
      .HasEffect(Effect::kIo)
      .Shard(shard::Whole)
      .Infer([](InferContext& c) {
        Types types = DecodeTangentTypes(c.attr<Ints>("types"));
        for (const Type& t : types) c.CheckType(t.is_tensor(), "results must be tensors");
        return types;
      })
      .Grad([](GradContext& g) { return Terms(g.node().inputs.size()); });
}

}  // namespace

void DefineControl(OpRegistry& ops) {
  DefineFunctions(ops);
  DefineTransforms(ops);
  DefineBoxes(ops);
  DefineHost(ops);
}

}  // namespace ms
