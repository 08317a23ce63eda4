// Sharding rules of single ops: what moves, joins, reads and writes elements, losses over classes,
// attention and recurrent layers.
#include <algorithm>

#include "ops/axes.h"
#include "ops/shard.h"
#include "ops/slicing.h"

namespace ms::shard {

// ---- elements that move -------------------------------------------------------------------------
std::string Transpose(const ShardContext& c) {
  Names names = Axes(c.rank(0)), out;
  for (int64_t p : c.attr<Ints>("perm"))
    out.push_back(names[static_cast<size_t>(Wrap(p, c.rank(0)))]);
  return Rule().In(names).Out(out).Text();
}

// An axis that is repeated is the inner factor of the result.
std::string Tile(const ShardContext& c) {
  int rank = c.out(0).rank(), lead = rank - c.rank(0);
  Dims times = c.dims_attr("dims");
  Names names = Axes(rank), out, sizes;
  for (int i = 0; i < rank; ++i) {
    int t = i - rank + static_cast<int>(times.size());
    bool repeats = t >= 0 && !times[static_cast<size_t>(t)].Is(1);
    const std::string& name = names[static_cast<size_t>(i)];
    std::string time = fmt::format("t{}", i);
    out.push_back(i < lead ? (repeats ? time : "1") : repeats ? time + "*" + name : name);
    if (t >= 0) sizes.push_back(repeats ? time : "_");
  }
  return Rule()
      .In(Part(names, lead, rank))
      .Out(out)
      .Clause(fmt::format("dims = {}", fmt::join(sizes, " ")))
      .Text();
}

namespace {

// Axes of input 0 and output 0 of one rank: those that change are whole on both sides.
struct Changed {
  Names in, out, whole;

  template <class F>
  Changed(int rank, F changes) {
    for (int i = 0; i < rank; ++i) {
      std::string name = fmt::format("a{}", i), other = fmt::format("b{}", i);
      in.push_back(name);
      out.push_back(changes(i) ? other : name);
      if (changes(i)) whole = whole + Names{name, other};
    }
  }
  Rule Make() const { return Rule().In(in).Out(out).Mark(whole, "whole"); }
};

}  // namespace

std::string Padding(const ShardContext& c) {
  Dims paddings = c.dims_attr("paddings");
  auto pads = [&](int i) {
    auto at = 2 * static_cast<size_t>(i);
    return !paddings[at].Is(0) || !paddings[at + 1].Is(0);
  };
  return Changed(c.rank(0), pads).Make().Text();
}

std::string Slice(const ShardContext& c) {
  auto cuts = [&](int i) { return !c.out(0).dim(i).Same(c.dim(0, i)); };
  Changed names(c.rank(0), cuts);
  Names sizes = names.out;
  for (int i = 0; i < c.rank(0); ++i) {
    if (cuts(i)) sizes[static_cast<size_t>(i)] = "_";
  }
  Rule rule = names.Make();
  if (!sizes.empty()) rule.Clause(fmt::format("size = {}", fmt::join(sizes, " ")));
  return rule.Text();
}

// StridedSlice, its gradient, whose input is the slice, and the assignment to a slice. An end
// beyond a part is the end of the part: the attributes stay as they are.
std::string StridedSlice(const ShardContext& c) {
  bool grad = c.op().AttrIndex("shape") >= 0;
  const Shape& shape = grad ? c.out(0) : c.shape(0);
  SliceSpec spec = ResolveSlice(c.op(), c.attrs(), shape);
  Names names = Axes(shape.rank()), slice, whole;
  std::vector<bool> full(names.size(), false);
  for (size_t k = 0; k < spec.axes.size(); ++k) {
    if (spec.axes[k] < 0) {
      slice.emplace_back("1");
      continue;
    }
    auto axis = static_cast<size_t>(spec.axes[k]);
    full[axis] = spec.step[axis] == 1 && spec.size[axis].Same(shape.dim(spec.axes[k]));
    slice.push_back(full[axis] ? names[axis] : fmt::format("b{}", k));
    if (!full[axis]) whole.push_back(slice.back());
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (!full[i]) whole.push_back(names[i]);
  }
  Rule rule;
  if (grad) {
    rule.In(slice).Out(names);
    rule.Clause(fmt::format("shape = {}", fmt::join(names, " ")));
  } else if (c.size() == 2) {
    rule.In(names).In(slice).Out(names);
  } else {
    rule.In(names).Out(slice);
  }
  return rule.Mark(whole, "whole").Text();
}

std::string Concat(const ShardContext& c) {
  int rank = c.rank(0), axis = Wrap(c.attr<int64_t>("axis"), rank);
  Names names = Axes(rank), whole{names[static_cast<size_t>(axis)]};
  Rule rule;
  for (size_t i = 0; i < c.size(); ++i) {
    Names in = names;
    whole.push_back(in[static_cast<size_t>(axis)] = fmt::format("x{}", i));
    rule.In(in);
  }
  return rule.Out(names).Mark(whole, "whole").Text();
}

std::string Stack(const ShardContext& c) {
  int rank = c.rank(0), axis = Wrap(c.attr<int64_t>("axis"), rank + 1);
  Names names = Axes(rank), out = names;
  out.insert(out.begin() + axis, "s");
  Rule rule;
  for (size_t i = 0; i < c.size(); ++i) rule.In(names);
  return rule.Out(out).Mark({"s"}, "whole").Text();
}

std::string Pieces(const ShardContext& c) {
  int rank = c.rank(0);
  int axis = Wrap(c.attr<int64_t>(c.op().AttrWith(AxisRole::kAxes)->name), rank);
  Names names = Axes(rank), whole{names[static_cast<size_t>(axis)]};
  Rule rule;
  rule.In(names);
  for (size_t i = 0; i < c.outputs().size(); ++i) {
    Names out = names;
    if (c.out(i).rank() < rank) {
      out.erase(out.begin() + axis);
    } else {
      whole.push_back(out[static_cast<size_t>(axis)] = fmt::format("y{}", i));
    }
    rule.Out(out);
  }
  return rule.Mark(whole, "whole").Text();
}

// ---- elements at positions ----------------------------------------------------------------------
namespace {

struct GatherNames {
  Names params, indices, result, read;

  GatherNames(const ShardContext& c, int rank) {
    int axis = Wrap(c.attr<int64_t>("axis"), rank);
    int shared = Wrap(c.attr<int64_t>("batch_dims"), c.rank(1));
    params = Axes(rank);
    params[static_cast<size_t>(axis)] = "v";
    read = Axes(c.rank(1) - shared, "i");
    indices = Part(params, 0, shared) + read;
    result = Part(params, 0, axis) + read + Part(params, axis + 1, rank);
  }
};

}  // namespace

std::string Gather(const ShardContext& c) {
  GatherNames n(c, c.rank(0));
  return Rule().In(n.params).In(n.indices).Out(n.result).Mark({"v"}, "indexed by 1").Text();
}

std::string GatherGrad(const ShardContext& c) {
  GatherNames n(c, c.out(0).rank());
  return Rule()
      .In(n.result)
      .In(n.indices)
      .Out(n.params)
      .Mark({"v"}, "indexed by 1")
      .Mark(n.read, "sum")
      .Clause(fmt::format("shape = {}", fmt::join(n.params, " ")))
      .Text();
}

namespace {

// Indices of the rank of what they point into: other axes than `axis` are shared where they are
// equally long, so that a part has both.
struct ElementNames {
  Names x, index, whole;
  std::string along;

  ElementNames(const ShardContext& c, const char* attr) {
    int rank = c.rank(0);
    x = index = Axes(rank);
    if (rank == 0) return;
    int axis = Wrap(c.attr<int64_t>(attr), rank);
    for (int i = 0; i < rank; ++i) {
      if (i != axis && c.dim(0, i).Same(c.dim(1, i))) continue;
      auto at = static_cast<size_t>(i);
      index[at] = fmt::format("i{}", i);
      if (i != axis) whole = whole + Names{x[at], index[at]};
    }
    along = x[static_cast<size_t>(axis)];
  }
};

}  // namespace

std::string GatherElements(const ShardContext& c) {
  ElementNames n(c, "dim");
  Rule rule;
  rule.In(n.x).In(n.index).Out(n.index).Mark(n.whole, "whole");
  return n.along.empty() ? rule.Text() : rule.Mark({n.along}, "indexed by 1").Text();
}

std::string ScatterElements(const ShardContext& c) {
  ElementNames n(c, "axis");
  Rule rule;
  rule.In(n.x).In(n.index).In(n.index).Out(n.x).Mark(n.whole, "whole");
  if (n.along.empty()) return rule.Text();
  int axis = Wrap(c.attr<int64_t>("axis"), c.rank(0));
  return rule.Mark({n.along, n.index[static_cast<size_t>(axis)]}, "whole").Text();
}

namespace {

// Coordinates along the last axis of the indices; what they point at is a slice.
struct CoordinateNames {
  Names x, indices, slices, rows, pointed;

  CoordinateNames(int rank, const Shape& index) {
    int depth = static_cast<int>(index.back());
    rows = Axes(index.rank() - 1, "i");
    pointed = Axes(depth, "v");
    Names slice = Axes(rank - depth);
    x = pointed + slice;
    slices = rows + slice;
    indices = rows + Names{"k"};
  }
};

}  // namespace

// A cut along one coordinate must leave rows out by that coordinate alone.
std::string GatherNd(const ShardContext& c) {
  CoordinateNames n(c.rank(0), c.shape(1));
  return Rule().In(n.x).In(n.indices).Out(n.slices).Mark(n.pointed + Names{"k"}, "whole").Text();
}

std::string ScatterNd(const ShardContext& c) {
  CoordinateNames n(c.out(0).rank(), c.shape(0));
  Names sizes = n.x;
  for (size_t i = 0; i < n.pointed.size(); ++i) sizes[i] = "_";
  return Rule()
      .In(n.indices)
      .In(n.slices)
      .Out(n.x)
      .Mark(n.rows, IsBool(c.dtype(1)) ? "max" : "sum")
      .Mark(n.pointed + Names{"k"}, "whole")
      .Clause(fmt::format("shape = {}", fmt::join(sizes, " ")))
      .Text();
}

// Parts of the updates would each bring the elements that are written into.
std::string ScatterInto(const ShardContext& c) {
  CoordinateNames n(c.rank(0), c.shape(1));
  return Rule()
      .In(n.x)
      .In(n.indices)
      .In(n.slices)
      .Out(n.x)
      .Mark(n.rows + n.pointed + Names{"k"}, "whole")
      .Text();
}

std::string ScatterFirst(const ShardContext& c) {
  Names rows = Axes(c.rank(1), "i"), slice = Axes(c.rank(0) - 1), x = Names{"v"} + slice;
  return Rule()
      .In(x)
      .In(rows)
      .In(rows + slice)
      .Out(x)
      .Mark({"v"}, "indexed by 1")
      .Mark(rows, "whole")
      .Text();
}

std::string UpdateRows(const ShardContext& c) {
  Names rows = Axes(c.rank(6), "i"), slice = Axes(c.rank(0) - 1), x = Names{"v"} + slice;
  Rule rule;
  rule.In(x).In(rows + slice).In(Ones(c.rank(2))).In(x).In(Ones(c.rank(4))).In(x).In(rows);
  for (int i = 0; i < 3; ++i) rule.Out(x);
  return rule.Mark({"v"}, "indexed by 6").Mark(rows, "whole").Text();
}

ShardFn Segments(const char* mark) {
  return [mark](const ShardContext& c) {
    Names rows = Axes(c.rank(1), "i"), slice = Axes(c.rank(0) - c.rank(1));
    return Rule()
        .In(rows + slice)
        .In(rows)
        .Out(Names{"v"} + slice)
        .Mark(rows, mark)
        // Rows of other parts count as zeros, which is nothing to a sum alone.
        .Mark({"v"}, mark == std::string_view("sum") ? "indexed by 1" : "whole")
        .Clause("num_segments = v")
        .Text();
  };
}

std::string OneHot(const ShardContext& c) {
  int rank = c.rank(0), axis = Wrap(c.attr<int64_t>("axis"), rank + 1);
  Names names = Axes(rank), out = names;
  out.insert(out.begin() + axis, "v");
  return Rule()
      .In(names)
      .In(Ones(c.rank(1)))
      .In(Ones(c.rank(2)))
      .Out(out)
      .Mark({"v"}, "indexed by 0")
      .Clause("depth = v")
      .Text();
}

// ---- losses over classes ------------------------------------------------------------------------
// A mean is weighed by the sum of weights, which is the other result.
std::string Likelihood(const ShardContext& c) {
  const auto& reduction = c.attr<std::string>("reduction");
  Rule rule;
  rule.In({"n", "c"}).In({"n"}).In({"c"});
  rule.Out(reduction == "none" ? Names{"n"} : Names{}).Out({});
  return rule.Mark({"n"}, reduction == "mean" ? "mean by 1" : "sum").Mark({"c"}, "whole").Text();
}

ShardFn LikelihoodGrad(bool logits) {
  return [=](const ShardContext& c) {
    Rule rule;
    rule.In(c.attr<std::string>("reduction") == "none" ? Names{"n"} : Names{});
    if (logits) rule.In({"n", "c"});
    return rule.In({"n"}).In({"c"}).In({}).Out({"n", "c"}).Mark({"c"}, "whole").Text();
  };
}

// ---- attention ----------------------------------------------------------------------------------
namespace {

// Inputs query, key, value, mask, random key. What a causal mask hides depends on where a query and
// a key stand.
Rule AttentionInputs(const ShardContext& c) {
  const Shape& mask = c.shape(3);
  Names scores{"q", "k"}, names;
  for (int i = std::max(0, 2 - mask.rank()); i < 2; ++i) {
    bool spreads = mask.dim(i - 2).Is(1);
    names.push_back(spreads ? "1" : scores[static_cast<size_t>(i)]);
  }
  if (mask.rank() > 2) names.insert(names.begin(), "...");
  Rule rule;
  rule.In({"...", "q", "d"}).In({"...", "k", "d"}).In({"...", "k", "e"}).In(names).In({"r"});
  return rule;
}

std::string Finish(const ShardContext& c, Rule& rule) {
  if (c.attr<double>("keep_prob") < 1) rule.Clause("seeded");
  return rule.Text();
}

}  // namespace

std::string Attention(const ShardContext& c) {
  Rule rule = AttentionInputs(c);
  rule.Out({"...", "q", "e"}).Out({"...", "q"}).Out({"...", "q"});
  rule.Mark({"d", "k", "e", "r"}, "whole");
  if (c.attr<bool>("causal")) rule.Mark({"q"}, "whole");
  return Finish(c, rule);
}

// The probabilities are made again from sums that are whole, so that keys and queries may be cut.
std::string AttentionGrad(const ShardContext& c) {
  Rule rule = AttentionInputs(c);
  for (int i = 0; i < 3; ++i) rule.In({"...", "q"});
  for (int i = 0; i < 2; ++i) rule.In({"...", "q", "e"});
  rule.Out({"...", "q", "d"}).Out({"...", "k", "d"}).Out({"...", "k", "e"});
  rule.Mark({"d", "e", "r"}, "whole");
  rule.Mark({"q", "k"}, c.attr<bool>("causal") ? "whole" : "sum");
  return Finish(c, rule);
}

// ---- recurrent layers ---------------------------------------------------------------------------
// Sequences are apart from each other; the size of the batch is that of `lengths`.
std::string Recurrence(const ShardContext& c) {
  Rule rule;
  Names whole;
  bool batch_first = c.attr<bool>("batch_first");
  auto names = [&](const Shape& shape, bool weight, const std::string& name) {
    Names result = Axes(shape.rank(), name);
    bool batched = !weight && (shape.rank() > 1 || name == "lengths");
    size_t at = shape.rank() == 3 && !batch_first ? 1 : 0;
    if (batched) result[at] = "n";
    for (size_t i = 0; i < result.size(); ++i) {
      if (!batched || i != at) whole.push_back(result[i]);
    }
    return result;
  };
  for (size_t i = 0; i < c.size(); ++i) {
    const std::string& input = c.input_name(i);
    rule.In(names(c.shape(i), input == "weight" || input == "bias", input));
  }
  for (size_t i = 0; i < c.outputs().size(); ++i)
    rule.Out(names(c.out(i), false, fmt::format("y{}_", i)));
  return rule.Mark(whole, "whole").Text();
}

}  // namespace ms::shard
