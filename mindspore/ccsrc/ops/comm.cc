// What processes do together. The public primitives and functions are made of these in Python
// (ops/_collectives.py), which knows the groups: here a group is its name, how many are in it
// and which of them this process is.
#include <algorithm>
#include <numeric>

#include "ops/all.h"
#include "ops/joint_sums.h"
#include "ops/pairs.h"
#include "ops/shard.h"

namespace ms {
namespace {

const char* const kGroup = "The name of the processes.";
const char* const kMembers = "How many they are.";

NamedAttrs GroupOf(GradContext& g) {
  return {{"group", g.attr<std::string>("group")}, {"members", g.attr<int64_t>("members")}};
}

NamedAttrs With(NamedAttrs attrs, const NamedAttrs& more) {
  attrs.insert(attrs.end(), more.begin(), more.end());
  return attrs;
}

void CheckRank(InferContext& c, const char* attr) {
  int64_t rank = c.attr<int64_t>(attr), members = c.attr<int64_t>("members");
  c.Check(rank >= 0 && rank < members, "'{}' must be in [0, {}), but got {}", attr, members, rank);
}

void CheckReduction(InferContext& c) {
  const auto& op = c.attr<std::string>("op");
  c.Check(op == "sum" || op == "prod" || op == "max" || op == "min",
          "'op' must be 'sum', 'prod', 'max' or 'min', but got '{}'", op);
  c.CheckType(op == "sum" || op == "prod" || !IsComplex(c.dtype(0)),
              "'op' must be 'sum' or 'prod' for complex numbers, but got '{}'", op);
}

// Rows of each member: those that are told, or as many for all.
Dim Rows(InferContext& c) {
  const Ints& counts = c.attr<Ints>("counts");
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

Type Gathered(InferContext& c) {
  c.Check(c.rank(0) > 0, "the input must have at least 1 dimension, but got a scalar");
  Dims dims = c.shape(0).dims();
  const Ints& counts = c.attr<Ints>("counts");
  if (counts.empty()) {
    dims[0] *= Dim(c.attr<int64_t>("members"));
    return c.Like(0, dims);
  }
  CheckRank(c, "rank");
  int64_t mine = counts[static_cast<size_t>(c.attr<int64_t>("rank"))];
  c.Check(dims[0] == Dim(mine), "the input must have the {} rows of this rank, but got {}", mine,
          dims[0]);
  dims[0] = Rows(c);
  return c.Like(0, dims);
}

Type Scattered(InferContext& c) {
  c.Check(c.rank(0) > 0, "the input must have at least 1 dimension, but got a scalar");
  CheckReduction(c);
  Dims dims = c.shape(0).dims();
  const Ints& counts = c.attr<Ints>("counts");
  if (counts.empty()) {
    Dim members(c.attr<int64_t>("members"));
    c.Check(dims[0] % members == Dim(0),
            "the first dimension must be a multiple of the number of processes, {}, but got {}",
            members, dims[0]);
    dims[0] = dims[0] / members;
    return c.Like(0, dims);
  }
  CheckRank(c, "rank");
  Dim all = Rows(c);
  c.Check(dims[0] == all, "the parts must have all {} rows together, but got {}", dims[0], all);
  dims[0] = counts[static_cast<size_t>(c.attr<int64_t>("rank"))];
  return c.Like(0, dims);
}

// A sum's tangents add up in all processes, as each has a part in all results. An extreme comes
// from those that have it.
Term AllReduceGrad(GradContext& g) {
  const auto& op = g.attr<std::string>("op");
  if (op == "prod") {
    Throw(ErrorKind::kValue,
          "For 'AllReduce', 'op' must be 'sum', 'max' or 'min' for a gradient, but got 'prod'.");
  }
  Term all = g.Call("AllReduce", {g.dout()}, With(GroupOf(g), {{"op", std::string("sum")}}));
  if (op == "sum") return all;
  Term has_it = g.Call("Equal", {g.in(0), g.out()});
  return g.Call("Select", {has_it, all, ZerosLike(all)});
}

Term ReduceScatterGrad(GradContext& g) {
  if (g.attr<std::string>("op") != "sum") {
    Throw(ErrorKind::kValue,
          "For 'ReduceScatter', 'op' must be 'sum' for a gradient, but got '{}'.",
          g.attr<std::string>("op"));
  }
  return g.Call(
      "AllGather", {g.dout()},
      With(GroupOf(g), {{"counts", g.attr<Ints>("counts")}, {"rank", g.attr<int64_t>("rank")}}));
}

// All have used what one has. The others' own values went nowhere, but they take part.
Term BroadcastGrad(GradContext& g) {
  Term all = g.Call("AllReduce", {g.dout()}, With(GroupOf(g), {{"op", std::string("sum")}}));
  if (g.attr<int64_t>("root") == g.attr<int64_t>("rank")) return all;
  return g.Call("Depend", {ZerosLike(all), all});
}

void DefineSums(OpRegistry& ops) {
  ops.Op("AllReduce")
      .Internal()
      .Doc("Sums, products or extremes of tensors of all processes, element by element.")
      .In("x", kAny, "Of one shape and type in all processes.")
      .RequiredAttr<std::string>("group", kGroup)
      .RequiredAttr<int64_t>("members", kMembers)
      .WithAttr("op", "sum", "'sum', 'prod', 'max' or 'min'.")
      .HasEffect(Effect::kComm)
      .InPlace(0, 0)
      .Shard(shard::Whole)
      .Infer([](InferContext& c) {
        CheckReduction(c);
        return c.in(0);
      })
      .Batch([](BatchContext& b) { return b.Again({b.Spread(0)}); })
      .Grad(AllReduceGrad);
  ops.Op("ReduceScatter")
      .Internal()
      .Doc("This process's rows of the sum over all processes.")
      .In("x", kAny, "Of one shape and type in all processes.")
      .RequiredAttr<std::string>("group", kGroup)
      .RequiredAttr<int64_t>("members", kMembers)
      .WithAttr("op", "sum", "'sum', 'prod', 'max' or 'min'.")
      .WithAttr("counts", Ints{}, "Rows of each process; none: all have as many.")
      .WithAttr("rank", 0, "Which process this is.")
      .HasEffect(Effect::kComm)
      .Shard(shard::Whole)
      .Infer(Scattered)
      .Grad(ReduceScatterGrad);
}

void DefineMoves(OpRegistry& ops) {
  ops.Op("AllGather")
      .Internal()
      .Doc("The rows of all processes, in the order of ranks.")
      .In("x", kAny, "Of one type in all processes, and one shape but for its rows.")
      .RequiredAttr<std::string>("group", kGroup)
      .RequiredAttr<int64_t>("members", kMembers)
      .WithAttr("counts", Ints{}, "Rows of each process; none: all have as many.")
      .WithAttr("rank", 0, "Which process this is.")
      .HasEffect(Effect::kComm)
      .Shard(shard::Whole)
      .Infer(Gathered)
      .Grad([](GradContext& g) {
        return g.Call("ReduceScatter", {g.dout()},
                      With(GroupOf(g), {{"counts", g.attr<Ints>("counts")},
                                        {"rank", g.attr<int64_t>("rank")}}));
      });
  ops.Op("Broadcast")
      .Internal()
      .Doc("The tensor of one process, in all.")
      .In("x", kAny, "Of one shape and type in all processes.")
      .RequiredAttr<std::string>("group", kGroup)
      .RequiredAttr<int64_t>("members", kMembers)
      .RequiredAttr<int64_t>("root", "Whose tensor it is.")
      .RequiredAttr<int64_t>("rank", "Which process this is.")
      .HasEffect(Effect::kComm)
      .InPlace(0, 0)
      .Shard(shard::Whole)
      .Infer([](InferContext& c) {
        CheckRank(c, "root");
        CheckRank(c, "rank");
        return c.in(0);
      })
      .Batch([](BatchContext& b) { return b.Again({b.Spread(0)}); })
      .Grad(BroadcastGrad);
  ops.Op("Exchange")
      .Internal()
      .Doc("Parts of a row of elements go to the others, whose parts come here.")
      .In("x", kAny, "One dimension: the parts for each process, in the order of ranks.")
      .RequiredAttr<std::string>("group", kGroup)
      .RequiredAttr<Ints>("sends", "Elements for each process.")
      .RequiredAttr<Ints>("receives", "Elements from each process.")
      .HasEffect(Effect::kComm)
      .Shard(shard::Whole)
      .Infer([](InferContext& c) {
        c.CheckRank(0, 1);
        const Ints& sends = c.attr<Ints>("sends");
        const Ints& receives = c.attr<Ints>("receives");
        auto sum = [](const Ints& n) { return std::accumulate(n.begin(), n.end(), int64_t{0}); };
        auto bad = [](const Ints& n) {
          return std::any_of(n.begin(), n.end(), [](int64_t i) { return i < 0; });
        };
        c.Check(sends.size() == receives.size() && !bad(sends) && !bad(receives),
                "'sends' and 'receives' must have a number of at least 0 for each process, but got "
                "({}) and ({})",
                fmt::join(sends, ", "), fmt::join(receives, ", "));
        c.Check(c.dim(0, 0) == Dim(sum(sends)),
                "the parts must have all {} elements together, but got {}", c.dim(0, 0),
                sum(sends));
        return c.Like(0, {Dim(sum(receives))});
      })
      .Grad([](GradContext& g) {
        return g.Call("Exchange", {g.dout()},
                      {{"group", g.attr<std::string>("group")},
                       {"sends", g.attr<Ints>("receives")},
                       {"receives", g.attr<Ints>("sends")}});
      });
}

// An AllReduce in two halves, of several tensors: passes/start_sums.cc.
void DefineJointSums(OpRegistry& ops) {
  ops.Op("StartSum")
      .Internal()
      .Doc("Begins the sum over all processes of one of several tensors; AwaitSums ends it.")
      .In("x", kAny, "Of one shape and type in all processes.")
      .RequiredAttr<std::string>("group", kGroup)
      .RequiredAttr<int64_t>("index", "Which of the tensors it is.")
      .RequiredAttr<Ints>("counts", "Elements of all of them.")
      .RequiredAttr<Ints>("dtypes", "Their types, by number.")
      .WithAttr("beside", false, "Whether other groups' calls may stand before AwaitSums.")
      .HasEffect(Effect::kComm)
      .InPlace(0, 0)
      .Shard(shard::Whole)
      .Infer([](InferContext& c) {
        int64_t index = c.attr<int64_t>("index");
        const Ints& counts = c.attr<Ints>("counts");
        const Ints& dtypes = c.attr<Ints>("dtypes");
        c.Check(counts.size() == dtypes.size(), "'dtypes' must have {} entries, but got {}",
                counts.size(), dtypes.size());
        c.Check(index >= 0 && index < static_cast<int64_t>(counts.size()),
                "'index' must be in [0, {}), but got {}", counts.size(), index);
        auto i = static_cast<size_t>(index);
        c.Check(c.shape(0).size() == counts[i], "the tensor must have {} elements, but got {}",
                counts[i], c.in(0));
        return c.in(0);
      });
  ops.Op("AwaitSums")
      .Internal()
      .Doc("Waits for the sums that StartSum has begun.")
      .In("x", kAny, "What StartSum gave, of all tensors.")
      .Variadic()
      .RequiredAttr<std::string>("group", kGroup)
      .HasEffect(Effect::kComm)
      .Shard(shard::Whole)
      .Infer([](InferContext& c) { return c.inputs(); });
}

void DefinePairs(OpRegistry& ops) {
  ops.Op("Send")
      .Internal()
      .Doc("A tensor to another process; gives a zero that says that it is on its way.")
      .In("x", kAny, "Any shape.")
      .RequiredAttr<std::string>("group", kGroup)
      .RequiredAttr<int64_t>("target", "Who gets it.")
      .WithAttr("tag", 0, "What the other one receives it by.")
      .HasEffect(Effect::kComm)
      .Shard(shard::Whole)
      .Infer([](InferContext&) { return Type(DType::kFloat32, Shape{}); })
      // What the other one's loss says of it comes back.
      .Grad([](GradContext& g) {
        Term back = g.Call("Receive", {},
                           {{"group", g.attr<std::string>("group")},
                            {"source", g.attr<int64_t>("target")},
                            {"tag", g.attr<int64_t>("tag")},
                            {"shape", g.in_type(0).shape().ToCodes()},
                            {"dtype", g.in_type(0).dtype()}});
        return Terms{back};
      });
  ops.Op("Receive")
      .Internal()
      .Doc("A tensor from another process.")
      .RequiredAttr<std::string>("group", kGroup)
      .RequiredAttr<int64_t>("source", "Who sends it.")
      .WithAttr("tag", 0, "What the other one sends it by.")
      .RequiredAttr<Ints>("shape", "Its sizes.")
      .Sizes("shape")
      .RequiredAttr<DType>("dtype", "Its type.")
      .HasEffect(Effect::kComm)
      .Shard(shard::Shaped("shape"))
      .Infer(
          [](InferContext& c) { return Type(c.attr<DType>("dtype"), Shape(c.dims_attr("shape"))); })
      .Grad([](GradContext& g) {
        g.Call("Send", {g.dout(0)},
               {{"group", g.attr<std::string>("group")},
                {"target", g.attr<int64_t>("source")},
                {"tag", g.attr<int64_t>("tag")}});
        return Terms{};
      });
  ops.Op("Barrier")
      .Internal()
      .Doc("Waits for all processes; gives a zero.")
      .RequiredAttr<std::string>("group", kGroup)
      .HasEffect(Effect::kComm)
      .Shard(shard::Whole)
      .Infer([](InferContext&) { return Type(DType::kFloat32, Shape{}); });
}

}  // namespace

bool IsAwaitSums(const Node& node) {
  static const OpDef& await = Ops().Get("AwaitSums");
  return node.op == &await;
}

bool DependsOnOthers(const OpDef& op) {
  static const OpDef& receive = Ops().Get("Receive");
  return &op == &receive;
}

void DefineComm(OpRegistry& ops) {
  DefineSums(ops);
  DefineJointSums(ops);
  DefineMoves(ops);
  DefinePairs(ops);
}

}  // namespace ms
