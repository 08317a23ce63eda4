// The elements of windows side by side, and their sum back into the image: each is the gradient of
// the other.
#include "ops/all.h"
#include "ops/batch.h"
#include "ops/shard.h"
#include "ops/window.h"

namespace ms {
namespace {

using shard::operator+;

OpDef& Windows(OpDef& op) {
  return op.Internal()
      .WithAttr("kernel_size", Ints{1}, "An int, or one for each spatial dimension.")
      .WithAttr("strides", Ints{1}, "Likewise.")
      .WithAttr("dilation", Ints{1}, "Likewise.")
      .WithAttr("pad_mode", "pad", "'valid', 'same', or 'pad': zeros as pad says.")
      .WithAttr("pad", Ints{0}, "An int, or two for each spatial dimension.");
}

NamedAttrs WindowAttrs(const Node& node) {
  NamedAttrs attrs;
  for (const char* name : {"kernel_size", "strides", "dilation", "pad"}) {
    attrs.emplace_back(name, node.attr<Ints>(name));
  }
  attrs.emplace_back("pad_mode", node.attr<std::string>("pad_mode"));
  return attrs;
}

// Images and channels are apart from each other; windows are not.
std::string Shard(const ShardContext& c) {
  bool fold = c.op().AttrIndex("input_size") >= 0;
  shard::Names image{"n", "c"}, columns{"n", "c", "t", "l"};
  shard::Names sizes = shard::Axes((fold ? c.out(0).rank() : c.rank(0)) - 2, "s");
  image = image + sizes;
  shard::Rule rule;
  rule.In(fold ? columns : image).Out(fold ? image : columns);
  rule.Mark(sizes + shard::Names{"t", "l"}, "whole");
  shard::Names kept(sizes.size(), "_");
  if (fold) rule.Clause(fmt::format("input_size = n c {}", fmt::join(kept, " ")));
  return rule.Text();
}

}  // namespace

void DefineUnfold(OpRegistry& ops) {
  Windows(ops.Op("Unfold").In("x", kReal, "[N, C, H, W] or [N, C, D, H, W]."))
      .Doc("The elements of each window: [N, C, elements of a window, windows], row by row.")
      .Batch(batch::FirstAxis())
      .Shard(Shard)
      .Infer([](InferContext& c) { return c.Like(0, UnfoldOutput(c.op(), c.attrs(), c.shape(0))); })
      .Grad([](GradContext& g) {
        NamedAttrs attrs = WindowAttrs(g.node());
        attrs.emplace_back("input_size", g.in_type(0).shape().ToCodes());
        return g.Call("Fold", {g.dout()}, attrs);
      });
  Windows(ops.Op("Fold").In("x", kReal, "Shaped as the result of Unfold."))
      .Doc("Sums of the elements that windows have in common, where they lie in the image.")
      .RequiredAttr<Ints>("input_size", "Shape of the result.")
      .Sizes("input_size")
      .Batch(batch::FirstAxis(1, "input_size"))
      .Shard(Shard)
      .Infer([](InferContext& c) {
        Shape input = c.attr<Ints>("input_size");
        Shape columns = UnfoldOutput(c.op(), c.attrs(), input);
        c.Check(SameSizes(c.shape(0), columns),
                "'x' must have the shape {} of the windows of the result, but got {}", columns,
                c.shape(0));
        return c.Like(0, input);
      })
      .Grad([](GradContext& g) { return g.Call("Unfold", {g.dout()}, WindowAttrs(g.node())); });
}

}  // namespace ms
