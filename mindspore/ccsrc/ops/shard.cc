#include "ops/shard.h"

#include <algorithm>

#include "ops/axes.h"

namespace ms::shard {

Names Axes(int rank, const std::string& prefix) {
  Names names;
  for (int i = 0; i < rank; ++i) names.push_back(fmt::format("{}{}", prefix, i));
  return names;
}

Names Ones(int rank) { return Names(static_cast<size_t>(rank), "1"); }

Names operator+(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Names Part(const Names& names, int from, int to) {
  return Names(names.begin() + from, names.begin() + std::max(from, to));
}

Rule& Rule::Add(std::vector<std::string>* to, const Names& names) {
  to->push_back(fmt::format("{}", fmt::join(names, " ")));
  return *this;
}

Rule& Rule::Mark(const Names& factors, const std::string& mark) {
  return factors.empty() ? *this : Clause(fmt::format("{} {}", fmt::join(factors, " "), mark));
}

Rule& Rule::Clause(const std::string& text) {
  clauses_.push_back(text);
  return *this;
}

std::string Rule::Text() const {
  std::string text = fmt::format("{} -> {}", fmt::join(operands_, ", "), fmt::join(results_, ", "));
  return clauses_.empty() ? text : fmt::format("{}; {}", text, fmt::join(clauses_, ", "));
}

// ---- for any op ---------------------------------------------------------------------------------
std::string Whole(const ShardContext& c) {
  Rule rule;
  Names all;
  for (size_t i = 0; i < c.size(); ++i) {
    Names names = Axes(c.rank(i), fmt::format("x{}_", i));
    rule.In(names);
    all = all + names;
  }
  for (size_t i = 0; i < c.outputs().size(); ++i) {
    Names names = Axes(c.out(i).rank(), fmt::format("y{}_", i));
    rule.Out(names);
    all = all + names;
  }
  return rule.Mark(all, "whole").Text();
}

ShardFn Shaped(const char* attr, const char* clauses) {
  return [=](const ShardContext& c) {
    Rule rule;
    for (size_t i = 0; i < c.size(); ++i) rule.In(Ones(c.rank(i)));
    return rule.Out({"..."}).Clause(fmt::format("{} = ...{}", attr, clauses)).Text();
  };
}

namespace {

// Where the op works.
std::vector<int> AxesOf(const ShardContext& c, bool empty_is_all) {
  const AttrDef* attr = c.op().AttrWith(AxisRole::kAxes);
  const Attr& given = c.attrs()[static_cast<size_t>(c.op().AttrIndex(attr->name))];
  Ints axes;
  if (const auto* axis = std::get_if<int64_t>(&given)) {
    axes = {*axis};
  } else if (const auto* list = std::get_if<Ints>(&given)) {
    axes = *list;
  }
  if (axes.empty() && !(empty_is_all && attr->empty_is_all)) return {};
  return SortedAxes(axes, c.rank(0));
}

}  // namespace

std::string Along(const ShardContext& c) {
  Names names = Axes(c.rank(0));
  std::vector<int> axes = AxesOf(c, true);
  Names marked;
  for (int axis : axes) marked.push_back(names[static_cast<size_t>(axis)]);
  Rule rule;
  for (size_t i = 0; i < c.size(); ++i) rule.In(names);
  for (size_t i = 0; i < c.outputs().size(); ++i) {
    Names out;
    for (int axis = 0; axis < c.rank(0); ++axis) {
      bool along = std::find(axes.begin(), axes.end(), axis) != axes.end();
      bool reduced = c.out(i).rank() < c.rank(0);
      if (!along || !reduced) out.push_back(names[static_cast<size_t>(axis)]);
      // keep_dims
      if (along && !reduced && !c.out(i).dim(axis).Same(c.dim(0, axis))) out.back() = "1";
    }
    rule.Out(out);
  }
  return rule.Mark(marked, "whole").Text();
}

ShardFn Reduction(const char* mark) {
  return [=](const ShardContext& c) {
    int rank = c.rank(0);
    bool skips = c.op().AttrIndex("skip_mode") >= 0 && c.attr<bool>("skip_mode");
    std::vector<int> axes = AxesOf(c, !skips);
    Names names = Axes(rank), out, marked;
    for (int i = 0; i < rank; ++i) {
      const std::string& name = names[static_cast<size_t>(i)];
      if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
        out.push_back(name);
      } else {
        marked.push_back(name);
        if (c.attr<bool>("keep_dims")) out.emplace_back("1");
      }
    }
    std::string kind = mark;
    if (kind == "sum" && IsBool(c.dtype(0))) kind = "max";
    if (kind == "mean" && !IsFloating(c.dtype(0)) && !IsComplex(c.dtype(0))) kind = "whole";
    return Rule().In(names).Out(out).Mark(marked, kind).Text();
  };
}

std::string Loss(const ShardContext& c) {
  const auto& reduction = c.attr<std::string>("reduction");
  if (reduction == "none") return ElementwiseShard(c);
  Rule rule;
  if (reduction != "batchmean") {
    for (size_t i = 0; i < c.size(); ++i) rule.In({"..."});
    return rule.Out({}).Mark({"..."}, reduction).Text();
  }
  Names names = Axes(c.rank(0));
  for (size_t i = 0; i < c.size(); ++i) rule.In(names);
  rule.Out({}).Mark(Part(names, 0, std::min(1, c.rank(0))), "mean");
  return rule.Mark(Part(names, 1, c.rank(0)), "sum").Text();
}

// ---- products and convolutions ------------------------------------------------------------------
std::string Product(const ShardContext& c) {
  auto matrix = [&](const char* transposed, const char* rows, const char* columns) {
    bool swaps = c.attr<bool>(transposed);
    return Names{"...", swaps ? columns : rows, swaps ? rows : columns};
  };
  return Rule()
      .In(matrix("transpose_a", "m", "k"))
      .In(matrix("transpose_b", "k", "n"))
      .Out({"...", "m", "n"})
      .Mark({"k"}, "sum")
      .Text();
}

// A sum of parts would add the bias, and go through the activation, more than once.
std::string ProductBias(const ShardContext& c) {
  bool packed = c.rank(1) == 1;
  bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  Rule rule;
  rule.In(ta ? Names{"k", "m"} : Names{"m", "k"});
  rule.In(packed ? Names{"p"} : tb ? Names{"n", "k"} : Names{"k", "n"});
  if (c.size() == 3) rule.In({"n"});
  rule.Out({"m", "n"});
  if (packed) return rule.Mark({"p", "k", "n"}, "whole").Text();
  bool plain = c.size() == 2 && c.attr<std::string>("activation").empty();
  return rule.Mark({"k"}, plain ? "sum" : "whole").Text();
}

std::string BiasAdd(const ShardContext& c) {
  Names names = Axes(c.rank(0));
  bool last = c.attr<std::string>("data_format") == "NHWC";
  return Rule().In(names).In({last ? names.back() : names[1]}).Out(names).Text();
}

std::string ChannelSlope(const ShardContext& c) {
  Names names = Axes(c.rank(0));
  bool one = c.dim(1, 0).Is(1) || c.rank(0) < 2;
  return Rule().In(names).In({one ? "1" : names[1]}).Out(names).Text();
}

namespace {

// The spatial dimensions of images, windows in them, and the kernel.
const Names kSpace{"d", "h", "w"}, kWindows{"z", "y", "x"}, kKernel{"q", "r", "s"};

Names Spatial(const ShardContext& c, const Names& names) { return Part(names, 5 - c.rank(0), 3); }

Names Image(const ShardContext& c, const std::string& channels, const Names& spatial = kSpace) {
  Names sizes = Spatial(c, spatial);
  bool last = c.attr<std::string>("data_format") == "NHWC";
  return last ? Names{"n"} + sizes + Names{channels} : Names{"n", channels} + sizes;
}

// Of an attribute with the shape of images whose spatial sizes no rule changes.
const Names kKept{"_", "_", "_"};

// The names of a convolution of images x and y with a weight.
struct ConvNames {
  Names x, y, weight;
  Names whole, spatial;
  bool grouped;
  std::string output;  // its channels

  ConvNames(const ShardContext& c, bool packed) {
    grouped = c.attr<int64_t>("group") > 1;
    output = grouped ? "g*o" : "o";
    x = Image(c, grouped ? "g*c" : "c");
    y = Image(c, output);
    bool last = c.attr<std::string>("data_format") == "NHWC" &&
                c.attr<std::string>("weight_format") != "OIHW";
    spatial = Spatial(c, kSpace);
    Names kernel = Spatial(c, kKernel);
    weight = packed ? Names{"p"}
             : last ? Names{output} + kernel + Names{"c"}
                    : Names{output, "c"} + kernel;
    whole = packed ? Names{"p"} : kernel;
  }

  // Windows of one element that do not overlap: no part needs its neighbours.
  static bool Pointwise(const ShardContext& c, const Shape& x, const Shape& y) {
    auto ones = [&](const char* attr) {
      const auto& values = c.attr<Ints>(attr);
      return std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 1; });
    };
    int first = c.attr<std::string>("data_format") == "NHWC" ? 1 : 2;
    bool same = true;
    for (int i = first; i < first + x.rank() - 2; ++i) same = same && x.dim(i).Same(y.dim(i));
    return ones("stride") && ones("kernel_size") && same;
  }

  Rule& Finish(Rule* rule, bool pointwise) const {
    if (!pointwise) rule->Mark(spatial, "halo");
    rule->Mark(whole, "whole").Clause("out_channel = " + output);
    return grouped ? rule->Clause("group = g") : *rule;
  }
};

}  // namespace

std::string Convolution(const ShardContext& c) {
  ConvNames names(c, false);
  Rule rule;
  rule.In(names.x).In(names.weight).Out(names.y).Mark({"c"}, "sum");
  return names.Finish(&rule, ConvNames::Pointwise(c, c.shape(0), c.out(0))).Text();
}

std::string ConvolutionInput(const ShardContext& c) {
  ConvNames names(c, false);
  bool pointwise = ConvNames::Pointwise(c, c.out(0), c.shape(0));
  Names sizes = pointwise ? names.x : Image(c, names.grouped ? "g*c" : "c", kKept);
  Rule rule;
  rule.In(names.y).In(names.weight).Out(names.x).Mark({"o"}, "sum");
  rule.Clause(fmt::format("input_size = {}", fmt::join(sizes, " ")));
  return names.Finish(&rule, pointwise).Text();
}

std::string ConvolutionFilter(const ShardContext& c) {
  ConvNames names(c, false);
  Names sizes = names.weight;
  bool pointwise = ConvNames::Pointwise(c, c.shape(1), c.shape(0));
  Rule rule;
  rule.In(names.y).In(names.x).Out(names.weight).Mark({"n"}, "sum");
  if (pointwise) rule.Mark(names.spatial, "sum");
  rule.Clause(fmt::format("filter_size = {}", fmt::join(sizes, " ")));
  return names.Finish(&rule, pointwise).Text();
}

std::string ConvolutionBias(const ShardContext& c) {
  bool packed = c.rank(1) == 1;
  ConvNames names(c, packed);
  Rule rule;
  rule.In(names.x).In(names.weight).In({names.output});
  if (c.size() == 4) rule.In(names.y);
  rule.Out(names.y).Mark(packed ? Names{"c", "o"} : Names{"c"}, "whole");
  if (packed && names.grouped) rule.Mark({"g"}, "whole");
  return names.Finish(&rule, ConvNames::Pointwise(c, c.shape(0), c.out(0))).Text();
}

ShardFn Windows(const char* mark) {
  return [=](const ShardContext& c) {
    bool halo = std::string_view(mark) == "halo";
    Names image = Image(c, "c"), out = halo ? image : Image(c, "c", kWindows);
    Rule rule;
    for (size_t i = 0; i < c.size(); ++i) rule.In(image);
    for (size_t i = 0; i < c.outputs().size(); ++i) rule.Out(out);
    rule.Mark(Spatial(c, kSpace), mark);
    if (!halo) rule.Mark(Spatial(c, kWindows), mark);
    if (c.op().AttrIndex("input_size") >= 0)
      rule.Clause(fmt::format("input_size = {}", fmt::join(Image(c, "c", kKept), " ")));
    return rule.Text();
  };
}

// ---- normalisation ------------------------------------------------------------------------------
ShardFn Channels(const char* mark) {
  return [=](const ShardContext& c) {
    int rank = c.rank(0);
    Names names = Axes(rank);
    bool last = rank == 4 && c.attr<std::string>("data_format") == "NHWC";
    std::string channels = last ? names.back() : names[1];
    Rule rule;
    for (size_t i = 0; i < c.size(); ++i) rule.In(c.rank(i) > 1 ? names : Names{channels});
    for (size_t i = 0; i < c.outputs().size(); ++i)
      rule.Out(c.out(i).rank() > 1 ? names : Names{channels});
    std::erase(names, channels);
    std::string kind = mark;
    if (kind == "sum" && c.attr<bool>("is_training")) kind = "whole";
    return kind.empty() ? rule.Text() : rule.Mark(names, kind).Text();
  };
}

namespace {

struct RowNames {
  Names x, statistics, parameters, rows, before;

  RowNames(const ShardContext& c, size_t input) {
    int rank = c.rank(input);
    int norm = Wrap(c.attr<int64_t>("begin_norm_axis"), rank);
    int params = Wrap(c.attr<int64_t>("begin_params_axis"), rank);
    x = Axes(rank);
    rows = Part(x, norm, rank);
    parameters = Part(x, params, rank);
    statistics = Part(x, 0, norm) + Ones(rank - norm);
    before = Part(x, 0, std::min(norm, params));
  }
};

}  // namespace

std::string LayerNorm(const ShardContext& c) {
  RowNames n(c, 0);
  return Rule()
      .In(n.x)
      .In(n.parameters)
      .In(n.parameters)
      .Out(n.x)
      .Out(n.statistics)
      .Out(n.statistics)
      .Mark(n.rows, "whole")
      .Text();
}

std::string LayerNormGrad(const ShardContext& c) {
  RowNames n(c, 1);
  return Rule()
      .In(n.x)
      .In(n.x)
      .In(n.statistics)
      .In(n.statistics)
      .In(n.parameters)
      .Out(n.x)
      .Out(n.parameters)
      .Out(n.parameters)
      .Mark(n.before, "sum")
      .Mark(n.rows, "whole")
      .Text();
}

}  // namespace ms::shard
