// Softmax and losses over classes, which have kernels of their own, and elementwise losses, which
// are compositions that fuse with what is around them.
#include "ops/all.h"
#include "ops/batch.h"
#include "ops/elementwise_loss.h"
#include "ops/shard.h"

namespace ms {
namespace {

// ---- softmax ------------------------------------------------------------------------------------
// The axis
// of a node whose attribute was checked by infer.
int64_t SoftmaxAxis(const OpDef& op, const Attrs& attrs) {
  const Attr& axis = attrs[static_cast<size_t>(op.AttrIndex("axis"))];
  const Ints* list = std::get_if<Ints>(&axis);
  return list ? (*list)[0] : std::get<int64_t>(axis);
}

Type InferSoftmax(InferContext& c) {
  const Attr& axis = c.attrs()[static_cast<size_t>(c.op().AttrIndex("axis"))];
  if (const Ints* list = std::get_if<Ints>(&axis)) {
    c.Check(list->size() == 1, "'axis' must be one integer, but got ({})", fmt::join(*list, ", "));
  }
  c.Check(c.rank(0) >= 1, "'{}' must have at least one dimension, but got shape {}",
          c.input_name(0), c.shape(0));
  c.Axis(SoftmaxAxis(c.op(), c.attrs()), c.rank(0));
  return c.Like(0, c.shape(0));
}

Type InferSoftmaxGrad(InferContext& c) {
  c.CheckSameDType(0, 1);
  c.CheckSameShape(0, 1);
  return InferSoftmax(c);
}

Term SumAlong(const Term& x, int64_t axis) {
  return x.emitter->Call("ReduceSum", {x}, {{"axis", Ints{axis}}, {"keep_dims", true}});
}

Term CallAlong(GradContext& g, const char* op, const Term& y, const Term& dy) {
  return g.Call(op, {y, dy}, {{"axis", SoftmaxAxis(*g.node().op, *g.node().attrs)}});
}

void DefineSoftmax(OpRegistry& ops) {
  ops.Op("Softmax")
      .Doc("exp(x) along an axis, divided by its sum.")
      .In("input", kFloating, "At least rank 1.")
      .WithAttr("axis", Ints{-1}, "The axis that sums to one.")
      .Axes("axis")
      .Shard(shard::Along)
      .Infer(InferSoftmax)
      .Grad([](GradContext& g) { return CallAlong(g, "SoftmaxGrad", g.out(), g.dout()); });
  ops.Op("SoftmaxGrad")
      .Internal()
      .Doc("Gradient of Softmax from its output: y (dy - sum(y dy)).")
      .In("y", kFloating, "Output of Softmax.")
      .In("dy", kFloating, "Shaped as y.")
      .WithAttr("axis", -1, "The axis that sums to one.")
      .Axes("axis")
      .Shard(shard::Along)
      .Infer(InferSoftmaxGrad)
      .Grad([](GradContext& g) {
        int64_t axis = g.attr<int64_t>("axis");
        Term y = g.in(0), dy = g.in(1), u = g.dout();
        Term to_y = u * (dy - SumAlong(dy * y, axis)) - dy * SumAlong(u * y, axis);
        return Terms{to_y, CallAlong(g, "SoftmaxGrad", y, u)};
      });
  ops.Op("LogSoftmax")
      .Doc("Logarithm of softmax along an axis.")
      .In("logits", kFloating, "At least rank 1.")
      .WithAttr("axis", -1, "The axis whose exponentials sum to one.")
      .Axes("axis")
      .Shard(shard::Along)
      .Infer(InferSoftmax)
      .Grad([](GradContext& g) { return CallAlong(g, "LogSoftmaxGrad", g.out(), g.dout()); })
      .Python("log_softmax(logits, axis=-1)");
  ops.Op("LogSoftmaxGrad")
      .Internal()
      .Doc("Gradient of LogSoftmax from its output: dy - exp(y) sum(dy).")
      .In("y", kFloating, "Output of LogSoftmax.")
      .In("dy", kFloating, "Shaped as y.")
      .WithAttr("axis", -1, "The axis whose exponentials sum to one.")
      .Axes("axis")
      .Shard(shard::Along)
      .Infer(InferSoftmaxGrad)
      .Grad([](GradContext& g) {
        int64_t axis = g.attr<int64_t>("axis");
        Term p = g.Call("Exp", {g.in(0)});
        Term u = g.dout();
        return Terms{-(u * p * SumAlong(g.in(1), axis)), u - SumAlong(u * p, axis)};
      });
}

// ---- cross entropy
void CheckLabels(const InferContext& c) {
  c.CheckRank(0, 2);
  c.CheckRank(1, 1);
  c.Check(c.dim(0, 0) == c.dim(1, 0),
          "'{}' and '{}' must have the same batch size, but got {} and {}", c.input_name(0),
          c.input_name(1), c.dim(0, 0), c.dim(1, 0));
  c.Check(c.dim(0, 1) > 0, "'{}' must have at least one class, but got shape {}", c.input_name(0),
          c.shape(0));
}

// dlogits = softmax(logits) sum(labels) - labels.
Terms DenseCrossEntropyGrad(GradContext& g) {
  Shape column{g.in_type(0).shape().dim(0), 1};
  Terms grads(2);
  auto add = [&](size_t i, const Term& t) { grads[i] = grads[i] ? grads[i] + t : t; };
  if (g.has_dout(0)) {
    Term d = Reshape(g.dout(0), column);
    if (g.needs(0)) add(0, g.out(1) * d);
    if (g.needs(1)) add(1, -(g.Call("LogSoftmax", {g.in(0)}) * d));
  }
  if (g.has_dout(1)) {
    Term p = g.Call("Softmax", {g.in(0)});
    Term u = g.dout(1);
    if (g.needs(0)) add(0, g.Call("SoftmaxGrad", {p, u}) * SumAlong(g.in(1), 1));
    if (g.needs(1)) add(1, SumAlong(u * p, 1) - u);
  }
  return grads;
}

Term SparseCrossEntropyGrad(GradContext& g) {
  if (!g.attr<bool>("is_grad")) {
    return g.Call("SparseSoftmaxCrossEntropyWithLogits", {g.in(0), g.in(1)}, {{"is_grad", true}}) *
           g.dout();
  }
  Term p = g.Call("Softmax", {g.in(0)});
  return g.Call("SoftmaxGrad", {p, g.dout()}) / p.shape().dim(0);
}

void DefineCrossEntropy(OpRegistry& ops) {
  ops.Op("SoftmaxCrossEntropyWithLogits")
      .Doc(
          "Cross entropy of each row's softmax against a row of probabilities, and the gradient of "
          "the logits.")
      .In("logits", kFloating, "[batch, classes].")
      .In("labels", kFloating, "[batch, classes].")
      .Batch(batch::FirstAxis())
      .Shard("n c, n c -> n, n c; c whole")
      .Infer([](InferContext& c) {
        c.CheckRank(0, 2);
        c.CheckSameShape(0, 1);
        c.CheckSameDType(0, 1);
        c.Check(c.dim(0, 1) > 0, "'logits' must have at least one class, but got shape {}",
                c.shape(0));
        return Types{c.Like(0, {c.dim(0, 0)}), c.Like(0, c.shape(0))};
      })
      .Grad(DenseCrossEntropyGrad);
  ops.Op("SparseSoftmaxCrossEntropyWithLogits")
      .Doc("Mean cross entropy of each row's softmax against a class, or its gradient.")
      .In("logits", kFloating, "[batch, classes].")
      .In("labels", kIndex, "[batch], classes in [0, classes).")
      .WithAttr("is_grad", false, "Return the gradient of the logits instead.")
      .Batch(batch::SparseCrossEntropy)
      .Shard([](const ShardContext& c) {  // the gradient is divided by the size of the batch
        return c.attr<bool>("is_grad") ? "n c, n -> n c; n c whole" : "n c, n -> ; n mean, c whole";
      })
      .Infer([](InferContext& c) {
        CheckLabels(c);
        return c.Like(0, c.attr<bool>("is_grad") ? c.shape(0) : Shape{});
      })
      .Grad(SparseCrossEntropyGrad);
}

// ---- negative log likelihood
void CheckLikelihood(const InferContext& c, size_t logits, size_t weight) {
  CheckReduction(c);
  c.CheckRank(weight, 1);
  c.Check(c.dim(weight, 0) == c.dim(logits, 1),
          "'weight' must have one element per class, but got {} for {}", c.dim(weight, 0),
          c.dim(logits, 1));
  c.CheckSameDType(logits, weight);
}

NamedAttrs LikelihoodAttrs(GradContext& g) {
  return {{"reduction", g.attr<std::string>("reduction")},
          {"ignore_index", g.attr<int64_t>("ignore_index")}};
}

// NLLLoss of x against the labels, an input that the weights follow, with a mean over the total
// that is an input: that of the whole where the rows are a part.
Term LossOver(GradContext& g, const Term& x, size_t labels, size_t total) {
  NamedAttrs attrs = LikelihoodAttrs(g);
  bool mean = g.attr<std::string>("reduction") == "mean";
  if (mean) attrs[0].second = std::string("sum");
  Term loss = g.CallMany("NLLLoss", {x, g.in(labels), g.in(labels + 1)}, attrs)[0];
  return mean ? loss / g.in(total) : loss;
}

// total = sum of the weights of the labels; loss is divided by it for 'mean'.
Terms LikelihoodGrad(GradContext& g) {
  Terms grads(3);
  if (g.needs(0)) {
    NamedAttrs attrs = LikelihoodAttrs(g);
    attrs.emplace_back("classes", g.in_type(0).shape().dim(1).code());
    grads[0] = g.Call("NLLLossGrad", {g.dout(), g.in(1), g.in(2), g.out(1)}, attrs);
  }
  return grads;
}

void DefineLikelihood(OpRegistry& ops) {
  ops.Op("NLLLoss")
      .Doc(
          "Negative log likelihood: minus the weighted log probability of each row's class, and "
          "the sum of weights.")
      .In("logits", kFloating, "[batch, classes] log probabilities.")
      .In("labels", kIndex, "[batch], classes in [0, classes) or ignore_index.")
      .In("weight", kFloating, "[classes].")
      .WithAttr("reduction", "mean", "'none', 'mean' (over the weights) or 'sum'.")
      .WithAttr("ignore_index", -100, "Rows of this label do not count.")
      .Batch(batch::Likelihood)
      .Shard(shard::Likelihood)
      .Infer([](InferContext& c) {
        CheckLabels(c);
        CheckLikelihood(c, 0, 2);
        bool none = c.attr<std::string>("reduction") == "none";
        return Types{c.Like(0, none ? Shape{c.dim(0, 0)} : Shape{}), c.Like(0, Shape{})};
      })
      .Grad(LikelihoodGrad);
  ops.Op("NLLLossGrad")
      .Internal()
      .Doc("Gradient of NLLLoss with respect to the log probabilities.")
      .In("dloss", kFloating, "Shaped as the loss.")
      .In("labels", kIndex, "[batch].")
      .In("weight", kFloating, "[classes].")
      .In("total_weight", kFloating, "Output 1 of NLLLoss.")
      .WithAttr("reduction", "mean", "As in NLLLoss.")
      .WithAttr("ignore_index", -100, "As in NLLLoss.")
      .RequiredAttr<int64_t>("classes", "The number of classes.")
      .Sizes("classes")
      .Batch(batch::LikelihoodGrad)
      .Shard(shard::LikelihoodGrad(false))
      .Infer([](InferContext& c) {
        CheckReduction(c);
        c.CheckRank(1, 1);
        c.CheckRank(2, 1);
        c.CheckRank(3, 0);
        c.CheckSameDType(0, 2);
        c.CheckSameDType(0, 3);
        bool none = c.attr<std::string>("reduction") == "none";
        Shape loss = none ? c.shape(1) : Shape{};
        c.Check(SameSizes(c.shape(0), loss), "'dloss' must have shape {}, but got {}", loss,
                c.shape(0));
        Dim classes = c.dim_attr("classes");
        c.Check(c.dim(2, 0) == classes,
                "'weight' must have one element per class, but got {} for {}", c.dim(2, 0),
                classes);
        return c.Like(0, {c.dim(1, 0), classes});
      })
      .Grad([](GradContext& g) { return LossOver(g, g.dout(), 1, 3); });
}

// ---- cross entropy of logits ------------------------------------------------------------------
// With respect to the logits: each row's softmax times the row's weight, less that weight at its
// class.
Terms LogitsGrad(GradContext& g) {
  Terms grads(3);
  if (g.needs(0)) {
    grads[0] = g.Call("CrossEntropyGrad", {g.dout(), g.in(0), g.in(1), g.in(2), g.out(1)},
                      LikelihoodAttrs(g));
  }
  return grads;
}

// With u the tangent of the gradient and t = u - sum(p u) along rows: dloss gets the loss that t
// would have as log probabilities, the logits what softmax makes of u.
Terms LogitsSecondGrad(GradContext& g) {
  Term p = g.Call("Softmax", {g.in(1)}), u = g.dout();
  Terms grads(5);
  if (g.needs(0)) {
    Term t = u - SumAlong(p * u, 1);
    grads[0] = LossOver(g, t, 2, 4);
  }
  if (g.needs(1)) {
    NamedAttrs attrs = LikelihoodAttrs(g);
    attrs.emplace_back("classes", g.in_type(1).shape().dim(1).code());
    Term at_class = g.Call("NLLLossGrad", {g.in(0), g.in(2), g.in(3), g.in(4)}, attrs);
    grads[1] = -(SumAlong(at_class, 1) * g.Call("SoftmaxGrad", {p, u}));
  }
  return grads;
}

NamedAttrs LikelihoodAttrs(ExpandContext& c) {
  return {{"reduction", c.attr<std::string>("reduction")},
          {"ignore_index", c.attr<int64_t>("ignore_index")}};
}

OpDef& WithLikelihoodAttrs(OpDef& op) {
  return op.WithAttr("reduction", "mean", "As in NLLLoss.")
      .WithAttr("ignore_index", -100, "As in NLLLoss.");
}

void DefineLogitsLoss(OpRegistry& ops) {
  WithLikelihoodAttrs(ops.Op("CrossEntropy")
                          .Internal()
                          .In("logits", kFloating, "[batch, classes].")
                          .In("labels", kIndex, "[batch], classes in [0, classes) or ignore_index.")
                          .In("weight", kFloating, "[classes]."))
      .Doc("NLLLoss of the logarithm of the softmax of each row, and the sum of weights.")
      .Shard(shard::Likelihood)
      .Infer([](InferContext& c) {
        CheckLabels(c);
        CheckLikelihood(c, 0, 2);
        bool none = c.attr<std::string>("reduction") == "none";
        return Types{c.Like(0, none ? Shape{c.dim(0, 0)} : Shape{}), c.Like(0, Shape{})};
      })
      .Expand([](ExpandContext& c) {
        Term logs = c.Call("LogSoftmax", {c.in(0)});
        return c.emitter().CallMany("NLLLoss", {logs, c.in(1), c.in(2)}, LikelihoodAttrs(c));
      })
      .Grad(LogitsGrad);
  WithLikelihoodAttrs(ops.Op("CrossEntropyGrad")
                          .Internal()
                          .In("dloss", kFloating, "Shaped as the loss.")
                          .In("logits", kFloating, "[batch, classes].")
                          .In("labels", kIndex, "[batch].")
                          .In("weight", kFloating, "[classes].")
                          .In("total_weight", kFloating, "Output 1 of CrossEntropy."))
      .Doc("Gradient of CrossEntropy with respect to the logits.")
      .Shard(shard::LikelihoodGrad(true))
      .Infer([](InferContext& c) {
        c.CheckRank(1, 2);
        c.CheckRank(2, 1);
        CheckLikelihood(c, 1, 3);
        c.CheckRank(4, 0);
        c.CheckSameDType(1, 0);
        c.CheckSameDType(1, 4);
        c.Check(c.dim(1, 0) == c.dim(2, 0),
                "'logits' and 'labels' must have the same batch size, but got {} and {}",
                c.dim(1, 0), c.dim(2, 0));
        bool none = c.attr<std::string>("reduction") == "none";
        Shape loss = none ? c.shape(2) : Shape{};
        c.Check(SameSizes(c.shape(0), loss), "'dloss' must have shape {}, but got {}", loss,
                c.shape(0));
        return c.in(1);
      })
      .Expand([](ExpandContext& c) {
        Term logits = c.in(1);
        NamedAttrs attrs = LikelihoodAttrs(c);
        attrs.emplace_back("classes", logits.shape().dim(1).code());
        Term at_class = c.Call("NLLLossGrad", {c.in(0), c.in(2), c.in(3), c.in(4)}, attrs);
        return c.Call("LogSoftmaxGrad", {c.Call("LogSoftmax", {logits}), at_class});
      })
      .Grad(LogitsSecondGrad);
}

}  // namespace

void DefineLoss(OpRegistry& ops) {
  DefineSoftmax(ops);
  DefineCrossEntropy(ops);
  DefineLikelihood(ops);
  DefineLogitsLoss(ops);
  DefineElementwiseLoss(ops);
}

}  // namespace ms
