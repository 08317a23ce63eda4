// What a program that is cut over processes does between its ops (passes/parallel/lower.h makes it
// of a plan). Together these processes compute what one would, and the gradients say so: they are
// not those of the user's AllReduce, in which each process has a program of its own.
//
// Along an axis of processes a value is cut, the same in all, or a part of a sum; a value that is
// the same in all and is used by what is cut is entered. The gradient of what is cut is cut, of
// what is the same the same; that of a part of a sum is entered, and that of what is entered is a
// part of a sum. So the ops come in pairs, each the gradient of the other:
//
//   ShardEnter    same -> entered     ShardSum      part -> same
//   ShardGather   cut -> entered      ShardScatter  part -> cut
//   ShardGather   cut -> same         ShardSlice    same -> cut
//   ShardExchange cut -> cut          itself
//
// They have no effects, so that a gradient that nobody asks for goes; `number` tells those of one
// program apart, so that equal ones stay as many in all processes. Once all gradients are made,
// they become ops of ops/comm.cc (passes/parallel/lower.cc), which have, and stay.
#include "ops/sharded.h"

#include <algorithm>
#include <numeric>

#include "ops/shard.h"

namespace ms {
namespace {

OpDef& InGroup(OpDef& op) {
  return op.Internal()
      .In("x", kAny, "What this process has.")
      .RequiredAttr<std::string>("group", "The name of the processes.")
      .RequiredAttr<int64_t>("members", "How many they are.")
      .RequiredAttr<int64_t>("rank", "Which of them this is.")
      .WithAttr("number", 0, "Another one for each place of the program.")
      .Shard(shard::Whole);
}

OpDef& AlongDim(OpDef& op) {
  return InGroup(op)
      .RequiredAttr<int64_t>("dim", "The dimension that is cut.")
      .RequiredAttr<Ints>("counts", "The sizes of the pieces, one for each process.");
}

template <class Context>
NamedAttrs GroupOf(const Context& c) {
  return {{"group", c.template attr<std::string>("group")},
          {"members", c.template attr<int64_t>("members")}};
}

NamedAttrs Again(const GradContext& g) {
  NamedAttrs attrs = GroupOf(g);
  attrs.emplace_back("rank", g.attr<int64_t>("rank"));
  attrs.emplace_back("number", g.attr<int64_t>("number"));
  return attrs;
}

NamedAttrs AgainAlong(const GradContext& g) {
  NamedAttrs attrs = Again(g);
  attrs.emplace_back("dim", g.attr<int64_t>("dim"));
  attrs.emplace_back("counts", g.attr<Ints>("counts"));
  return attrs;
}

void CheckMembers(InferContext& c) {
  int64_t members = c.attr<int64_t>("members"), rank = c.attr<int64_t>("rank");
  c.Check(rank >= 0 && rank < members, "'rank' must be in [0, {}), but got {}", members, rank);
}

int64_t Sum(const Ints& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

// The dimension, which must be as long as `size` says.
int CheckDim(InferContext& c, bool whole) {
  CheckMembers(c);
  int64_t dim = c.attr<int64_t>("dim");
  c.Check(dim >= 0 && dim < c.rank(0), "'dim' must be in [0, {}), but got {}", c.rank(0), dim);
  const Ints& counts = c.attr<Ints>("counts");
  bool fits = static_cast<int64_t>(counts.size()) == c.attr<int64_t>("members") &&
              std::all_of(counts.begin(), counts.end(), [](int64_t n) { return n >= 0; });
  c.Check(fits, "'counts' must have a size for each of the {} processes, but got ({})",
          c.attr<int64_t>("members"), fmt::join(counts, ", "));
  auto rank = static_cast<size_t>(c.attr<int64_t>("rank"));
  int64_t wanted = whole ? Sum(counts) : counts[rank];
  c.Check(c.dim(0, static_cast<int>(dim)) == Dim(wanted),
          "dimension {} of 'x' must be {}, but got {}", dim, wanted, c.shape(0));
  return static_cast<int>(dim);
}

Type Piece(InferContext& c) {
  int dim = CheckDim(c, true);
  auto rank = static_cast<size_t>(c.attr<int64_t>("rank"));
  return c.Like(0, c.shape(0).With(dim, c.attr<Ints>("counts")[rank]));
}

Type Whole(InferContext& c) {
  int dim = CheckDim(c, false);
  return c.Like(0, c.shape(0).With(dim, Sum(c.attr<Ints>("counts"))));
}

Type Same(InferContext& c) {
  CheckMembers(c);
  return c.in(0);
}

// ---- made of ops that communicate ---------------------------------------------------------------
// A dimension to the front, and from there to its place.
Ints ToFront(int dim, int rank) {
  Ints perm{dim};
  for (int i = 0; i < rank; ++i) {
    if (i != dim) perm.push_back(i);
  }
  return perm;
}

Ints Inverse(const Ints& perm) {
  Ints inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return inverse;
}

// The op over rows, along any dimension. What stands before it may be all ones.
Term AlongRows(ExpandContext& c, const char* op, NamedAttrs attrs) {
  auto dim = static_cast<int>(c.attr<int64_t>("dim"));
  attrs.emplace_back("counts", c.attr<Ints>("counts"));
  attrs.emplace_back("rank", c.attr<int64_t>("rank"));
  NamedAttrs group = GroupOf(c);
  attrs.insert(attrs.end(), group.begin(), group.end());
  Term x = c.in(0);
  int rank = x.shape().rank();
  if (x.shape().Product(0, dim) == 1) {
    Term rows = dim == 0 ? x : Reshape(x, x.shape().Part(dim, rank));
    Term made = c.Call(op, {rows}, attrs);
    return dim == 0 ? made : Reshape(made, x.shape().With(dim, made.shape().dim(0)));
  }
  Ints perm = ToFront(dim, rank);
  Term made = c.Call(op, {c.Call("Transpose", {x}, {{"perm", perm}})}, attrs);
  return c.Call("Transpose", {made}, {{"perm", Inverse(perm)}});
}

Term SliceBox(ExpandContext& c, const Term& x, const Ints& begin, const Ints& size) {
  if (size == x.shape().ToInts()) return x;
  return c.Call("Slice", {x}, {{"begin", begin}, {"size", size}});
}

// Offset and size of each dimension, for one process.
struct Place {
  Ints offset, size;
};

std::vector<Place> PlacesOf(const Ints& code, int rank) {
  std::vector<Place> places(code.size() / static_cast<size_t>(2 * rank));
  size_t at = 0;
  for (Place& place : places) {
    for (int i = 0; i < rank; ++i) {
      place.offset.push_back(code[at++]);
      place.size.push_back(code[at++]);
    }
  }
  return places;
}

int64_t Elements(const Place& place) {
  return std::accumulate(place.size.begin(), place.size.end(), int64_t{1}, std::multiplies<>());
}

struct Arrived {
  Place place;
  Term value;
};

// Pieces that fill a box as a grid does, joined dimension by dimension.
Term Assemble(ExpandContext& c, std::vector<Arrived> pieces, size_t dim) {
  if (pieces.size() == 1) return pieces[0].value;
  std::stable_sort(pieces.begin(), pieces.end(), [dim](const Arrived& a, const Arrived& b) {
    return a.place.offset[dim] < b.place.offset[dim];
  });
  Terms joined;
  for (size_t i = 0; i < pieces.size();) {
    size_t end = i + 1;
    while (end < pieces.size() && pieces[end].place.offset[dim] == pieces[i].place.offset[dim])
      ++end;
    auto at = [&](size_t k) { return pieces.begin() + static_cast<std::ptrdiff_t>(k); };
    joined.push_back(Assemble(c, {at(i), at(end)}, dim + 1));
    i = end;
  }
  if (joined.size() == 1) return joined[0];
  return c.Call("Concat", joined, {{"axis", static_cast<int64_t>(dim)}});
}

Term ExpandExchange(ExpandContext& c) {
  Term x = c.in(0);
  int rank = x.shape().rank();
  Terms parts;
  Ints sends, receives;
  for (const Place& place : PlacesOf(c.attr<Ints>("sends"), rank)) {
    sends.push_back(Elements(place));
    if (sends.back() > 0)
      parts.push_back(Reshape(SliceBox(c, x, place.offset, place.size), {Dim(sends.back())}));
  }
  std::vector<Place> places = PlacesOf(c.attr<Ints>("receives"), rank);
  for (const Place& place : places) receives.push_back(Elements(place));
  Term row = parts.empty()       ? c.emitter().Full(0, {x.dtype(), Shape{int64_t{0}}})
             : parts.size() == 1 ? parts[0]
                                 : c.Call("Concat", parts);
  Term all =
      c.Call("Exchange", {row},
             {{"group", c.attr<std::string>("group")}, {"sends", sends}, {"receives", receives}});
  std::vector<Arrived> pieces;
  int64_t at = 0;
  for (size_t i = 0; i < places.size(); at += receives[i++]) {
    if (receives[i] == 0) continue;
    Term piece = SliceBox(c, all, {at}, {receives[i]});
    pieces.push_back({places[i], Reshape(piece, Shape(places[i].size))});
  }
  if (pieces.empty()) return Reshape(all, Shape(c.attr<Ints>("shape")));
  return Assemble(c, std::move(pieces), 0);
}

// The tangent goes, in equal shares, to the processes that have the extreme.
Term ExtremeGrad(GradContext& g) {
  Term hit = CastTo(g.Call("Equal", {g.in(0), g.out()}), g.out_type().dtype());
  NamedAttrs attrs = Again(g);
  attrs.emplace_back("op", std::string("sum"));
  return hit * (g.dout() / g.Call("ShardSum", {hit}, attrs));
}

void DefineSums(OpRegistry& ops) {
  InGroup(ops.Op("ShardEnter"))
      .Doc("Its input, the same in all processes, where they go apart.")
      .Infer(Same)
      .Grad([](GradContext& g) { return g.Call("ShardSum", {g.dout()}, Again(g)); })
      .Expand([](ExpandContext& c) { return c.in(0); });
  InGroup(ops.Op("ShardSum"))
      .WithAttr("op", "sum", "'sum', 'max' or 'min'.")
      .Doc("What the parts that the processes have are together.")
      .Infer([](InferContext& c) {
        const auto& op = c.attr<std::string>("op");
        c.Check(op == "sum" || op == "max" || op == "min",
                "'op' must be 'sum', 'max' or 'min', but got '{}'", op);
        return Same(c);
      })
      .Grad([](GradContext& g) {
        if (g.attr<std::string>("op") != "sum") return ExtremeGrad(g);
        return g.Call("ShardEnter", {g.dout()}, Again(g));
      })
      .Expand([](ExpandContext& c) {
        NamedAttrs attrs = GroupOf(c);
        // A sum of truths is whether any is true.
        const auto& op = c.attr<std::string>("op");
        bool any = op == "sum" && IsBool(c.in(0).dtype());
        attrs.emplace_back("op", any ? std::string("max") : op);
        return c.Call("AllReduce", {c.in(0)}, attrs);
      });
}

void DefineCuts(OpRegistry& ops) {
  AlongDim(ops.Op("ShardGather"))
      .WithAttr("entered", false, "Whether what is cut uses the result.")
      .Doc("The pieces of all processes, along a dimension.")
      .Infer(Whole)
      .Grad([](GradContext& g) {
        const char* op = g.attr<bool>("entered") ? "ShardScatter" : "ShardSlice";
        return g.Call(op, {g.dout()}, AgainAlong(g));
      })
      .Expand([](ExpandContext& c) { return AlongRows(c, "AllGather", {}); });
  AlongDim(ops.Op("ShardScatter"))
      .Doc("This process's piece of the sum of the parts that all have.")
      .Infer(Piece)
      .Grad([](GradContext& g) {
        NamedAttrs attrs = AgainAlong(g);
        attrs.emplace_back("entered", true);
        return g.Call("ShardGather", {g.dout()}, attrs);
      })
      .Expand([](ExpandContext& c) {
        // A sum of truths is whether any is true.
        const char* op = IsBool(c.in(0).dtype()) ? "max" : "sum";
        return AlongRows(c, "ReduceScatter", {{"op", std::string(op)}});
      });
  AlongDim(ops.Op("ShardSlice"))
      .Doc("This process's piece of what all have.")
      .Infer(Piece)
      .Grad([](GradContext& g) { return g.Call("ShardGather", {g.dout()}, AgainAlong(g)); })
      .Expand([](ExpandContext& c) {
        auto dim = static_cast<size_t>(c.attr<int64_t>("dim"));
        auto rank = c.attr<int64_t>("rank");
        const Ints& counts = c.attr<Ints>("counts");
        Ints size = c.in(0).shape().ToInts(), begin(size.size(), 0);
        begin[dim] = std::accumulate(counts.begin(), counts.begin() + rank, int64_t{0});
        size[dim] = counts[static_cast<size_t>(rank)];
        return SliceBox(c, c.in(0), begin, size);
      });
}

void DefineMoves(OpRegistry& ops) {
  InGroup(ops.Op("ShardExchange"))
      .RequiredAttr<Ints>("sends", "Offset and size of each dimension of x, for each process.")
      .RequiredAttr<Ints>("receives", "The same, of the result.")
      .RequiredAttr<Ints>("shape", "Of the result.")
      .RequiredAttr<Ints>("back_sends", "What the gradient sends.")
      .RequiredAttr<Ints>("back_receives", "What the gradient receives.")
      .Doc("Boxes of x go to the others, whose boxes make up the result.")
      .Infer([](InferContext& c) {
        CheckMembers(c);
        auto codes = static_cast<size_t>(2 * c.rank(0) * c.attr<int64_t>("members"));
        for (const char* name : {"sends", "receives", "back_sends", "back_receives"}) {
          c.Check(c.attr<Ints>(name).size() == codes, "'{}' must have {} entries, but got {}", name,
                  codes, c.attr<Ints>(name).size());
        }
        const Ints& shape = c.attr<Ints>("shape");
        c.Check(static_cast<int>(shape.size()) == c.rank(0) && c.rank(0) > 0,
                "'shape' must have as many sizes as 'x', at least 1, but got ({})",
                fmt::join(shape, ", "));
        return c.Like(0, Shape(shape));
      })
      .Grad([](GradContext& g) {
        NamedAttrs attrs = Again(g);
        attrs.emplace_back("sends", g.attr<Ints>("back_sends"));
        attrs.emplace_back("receives", g.attr<Ints>("back_receives"));
        attrs.emplace_back("back_sends", g.attr<Ints>("sends"));
        attrs.emplace_back("back_receives", g.attr<Ints>("receives"));
        attrs.emplace_back("shape", g.in_type(0).shape().ToInts());
        return g.Call("ShardExchange", {g.dout()}, attrs);
      })
      .Expand(ExpandExchange);
}

// Hidden until gradients are made: what one process could see in them, another could not, and they
// would not drop the same nodes.
void DefineNumbers(OpRegistry& ops) {
  ops.Op("ShardNumber")
      .Internal()
      .Doc("A number that each process has another one of.")
      .RequiredAttr<DType>("dtype", "Its type.")
      .RequiredAttr<double>("value", "This process's.")
      .Shard(" -> ")
      .Infer([](InferContext& c) { return Type(c.attr<DType>("dtype"), Shape{}); })
      .Expand([](ExpandContext& c) {
        return c.emitter().Scalar(c.attr<double>("value"), c.attr<DType>("dtype"));
      });
}

// Of a pipeline of stages (passes/parallel/stages.h). No views: as such they would be folded away.
void DefineStages(OpRegistry& ops) {
  ops.Op("StageMark")
      .Internal()
      .In("x", kAny, "Any shape.")
      .Doc("Its input, which belongs to one of the parts of a batch that go through the stages.")
      .RequiredAttr<int64_t>("part", "Which of the parts.")
      .WithAttr("back", false, "Whether it belongs to the backward pass.")
      .Shard("... -> ...")
      .Infer([](InferContext& c) { return c.in(0); })
      .Batch([](BatchContext& b) { return b.Again({b.in(0)}); })
      .Grad([](GradContext& g) {
        return g.Call("StageMark", {g.dout()},
                      {{"part", g.attr<int64_t>("part")}, {"back", !g.attr<bool>("back")}});
      })
      .Expand([](ExpandContext& c) { return c.in(0); });
  ops.Op("StageMove")
      .Internal()
      .In("x", kAny, "What the source has.")
      .Doc("Its input, which another stage of the pipeline uses.")
      .RequiredAttr<int64_t>("source", "The stage that has it.")
      .RequiredAttr<int64_t>("target", "The stage that uses it.")
      .Shard(shard::Whole)
      .Infer([](InferContext& c) { return c.in(0); })
      .Grad([](GradContext& g) {
        return g.Call(
            "StageMove", {g.dout()},
            {{"source", g.attr<int64_t>("target")}, {"target", g.attr<int64_t>("source")}});
      })
      .Expand([](ExpandContext& c) { return c.in(0); });
}

void DefineHints(OpRegistry& ops) {
  ops.Op("ShardHint")
      .Internal()
      .In("x", kAny, "Any shape.")
      .Doc("Its input, of which the program says how it is to be cut.")
      .WithAttr("layout", "", "Axes of the mesh for each dimension: \"[dp, -]\".")
      .WithAttr("strategy", "", "Of the op that makes or reads it.")
      .Infer([](InferContext& c) { return c.in(0); })
      .Batch([](BatchContext& b) { return Terms{b.in(0)}; })
      .Grad([](GradContext& g) { return g.dout(); })
      .View();
}

}  // namespace

void DefineSharded(OpRegistry& ops) {
  DefineSums(ops);
  DefineCuts(ops);
  DefineMoves(ops);
  DefineNumbers(ops);
  DefineStages(ops);
  DefineHints(ops);
}

}  // namespace ms
