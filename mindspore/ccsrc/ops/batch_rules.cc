// Batching rules of single ops: products, convolutions, normalisation, indexing and slices.
#include "ops/axes.h"
#include "ops/batch.h"

namespace ms::batch {
namespace {

// 0, 1, ... of an index dtype, shaped [size, 1, ..., 1] of the given rank.
Term ItemNumbers(BatchContext& b, DType dtype, int rank) {
  Term ones = b.emitter().Full(1, Type(dtype, {b.size()}));
  Ints dims{b.size()};
  dims.resize(static_cast<size_t>(rank), 1);
  return Reshape(b.Call("CumSum", {ones}, {{"axis", int64_t{0}}, {"exclusive", true}}), dims);
}

// The axis `from` of x moved to `to`.
Term MoveAxis(BatchContext& b, const Term& x, int from, int to) {
  Ints perm;
  for (int i = 0; i < x.shape().rank(); ++i) {
    if (i != from) perm.push_back(i);
  }
  perm.insert(perm.begin() + to, from);
  return b.Call("Transpose", {x}, {{"perm", perm}});
}

// Axes `axis` and `axis` + 1 as one, and one as two.
Term JoinAxes(const Term& x, int axis) {
  Ints dims = x.shape().ToCodes();
  dims[static_cast<size_t>(axis)] = x.shape().Elements(axis, axis + 2).code();
  dims.erase(dims.begin() + axis + 1);
  return Reshape(x, dims);
}
Term SplitAxis(const Term& x, int axis, int64_t first) {
  Ints dims = x.shape().ToCodes();
  dims[static_cast<size_t>(axis)] = (x.shape().dim(axis) / Dim(first)).code();
  dims.insert(dims.begin() + axis, first);
  return Reshape(x, dims);
}

}  // namespace

// ---- products and convolutions
Terms Product(BatchContext& b) {
  bool ta = b.attr<bool>("transpose_a"), tb = b.attr<bool>("transpose_b");
  if (b.rank(0) == 2 && b.rank(1) == 2 && !b.batched(1) && !ta) {  // the items are more rows
    Term z = b.Call("MatMul", {JoinAxes(b.in(0), 0), b.in(1)}, {{"transpose_b", tb}});
    return {SplitAxis(z, 0, b.size())};
  }
  int rank = b.out_type().shape().rank();
  return {b.Call("BatchMatMul",
                 {AlignItems(b.in(0), b.batched(0), b.rank(0), rank),
                  AlignItems(b.in(1), b.batched(1), b.rank(1), rank)},
                 {{"transpose_a", ta}, {"transpose_b", tb}})};
}

namespace {

int ChannelAxis(const BatchContext& b) {
  return b.attr<std::string>("data_format") == "NHWC" ? 3 : 1;
}

// [items, batch, ..., channels, ...] as [batch, ..., items * channels, ...], and back.
Term ItemsToChannels(BatchContext& b, const Term& x, int axis) {
  return JoinAxes(MoveAxis(b, x, 0, axis), axis);
}
Term ChannelsToItems(BatchContext& b, const Term& x, int axis) {
  return MoveAxis(b, SplitAxis(x, axis, b.size()), axis, 0);
}

NamedAttrs GroupAttrs(const BatchContext& b) {
  int64_t size = Dim(b.size()).value();
  return {{"group", b.attr<int64_t>("group") * size},
          {"out_channel", b.attr<int64_t>("out_channel") * size}};
}

}  // namespace

// A convolution and its gradient for the input. With filters of their own, items are groups of
// channels.
Terms Convolution(BatchContext& b) {
  bool input_grad = b.node().op->AttrIndex("input_size") >= 0;
  if (!b.batched(1)) return FirstAxis(1, input_grad ? "input_size" : nullptr)(b);
  int axis = ChannelAxis(b);
  NamedAttrs attrs = GroupAttrs(b);
  if (input_grad) {
    Ints sizes = b.attr<Ints>("input_size");
    sizes[static_cast<size_t>(axis)] *= Dim(b.size()).value();
    attrs.emplace_back("input_size", sizes);
  }
  Terms made = b.Again({ItemsToChannels(b, b.Spread(0), axis), JoinAxes(b.in(1), 0)}, attrs);
  return {ChannelsToItems(b, made[0], axis)};
}

Terms ConvolutionFilter(BatchContext& b) {
  int axis = ChannelAxis(b);
  Ints sizes = b.attr<Ints>("filter_size");
  sizes[0] *= Dim(b.size()).value();
  NamedAttrs attrs = GroupAttrs(b);
  attrs.emplace_back("filter_size", sizes);
  Terms made = b.Again(
      {ItemsToChannels(b, b.Spread(0), axis), ItemsToChannels(b, b.Spread(1), axis)}, attrs);
  return {SplitAxis(made[0], 0, b.size())};
}

// ---- normalisation
namespace {

NamedAttrs LayerAxes(const BatchContext& b, size_t x) {
  int rank = b.rank(x);
  return {{"begin_norm_axis", int64_t{Wrap(b.attr<int64_t>("begin_norm_axis"), rank) + 1}},
          {"begin_params_axis", int64_t{Wrap(b.attr<int64_t>("begin_params_axis"), rank) + 1}}};
}

Term Times(const BatchContext& b, const Term& x, size_t parameter, int rank) {
  return x * CastTo(AlignItems(b.in(parameter), b.batched(parameter), b.rank(parameter), rank),
                    x.dtype());
}

}  // namespace

// Parameters of their own are applied behind the op.
Terms LayerNorm(BatchContext& b) {
  NamedAttrs axes = LayerAxes(b, 0);
  if (!b.batched(1) && !b.batched(2)) return b.Again({b.Spread(0), b.in(1), b.in(2)}, axes);
  Term one = b.emitter().Full(1, b.in_type(1));
  Term zero = b.emitter().Full(0, b.in_type(2));
  Terms made = b.Again({b.Spread(0), one, zero}, axes);
  int rank = b.rank(0);
  Term beta = CastTo(AlignItems(b.in(2), b.batched(2), b.rank(2), rank), made[0].dtype());
  made[0] = Times(b, made[0], 1, rank) + beta;
  return made;
}

// dx is that of the op; the gradients of the parameters are sums over each item by itself.
Terms LayerNormGrad(BatchContext& b) {
  int rank = b.rank(1);
  DType type = b.in_type(2).dtype();
  Term dy = CastTo(b.Spread(0), type);
  Term r = b.Call("Rsqrt", {b.Spread(2) + b.attr<double>("epsilon")});
  Term h = (CastTo(b.Spread(1), type) - b.Spread(3)) * r;
  Term one = b.emitter().Full(1, b.in_type(4));
  Term scaled = CastTo(Times(b, dy, 4, rank), b.in_type(0).dtype());
  Terms made = b.Again({scaled, b.Spread(1), b.Spread(2), b.Spread(3), one}, LayerAxes(b, 1));
  const Shape& parameter = b.in_type(4).shape();
  auto reduce = [&](const Term& t) {
    Ints kept{b.size()};
    kept.resize(static_cast<size_t>(1 + rank - parameter.rank()), 1);
    kept.insert(kept.end(), parameter.codes().begin(), parameter.codes().end());
    Term sum = SumTo(t, kept);
    return CastTo(Reshape(sum, parameter.Insert(0, b.size())), b.in_type(4).dtype());
  };
  return {made[0], reduce(dy * h), reduce(dy)};
}

// Batch normalisation: the channels of all items are channels of one batch.
Terms ChannelNorm(BatchContext& b) {
  size_t images = b.node().op->name == "BatchNormGrad" ? 2 : 1;
  int rank = b.rank(0);
  int axis = rank == 4 ? ChannelAxis(b) : 1;
  Terms inputs;
  for (size_t i = 0; i < b.inputs(); ++i) {
    inputs.push_back(i < images ? ItemsToChannels(b, b.Spread(i), axis) : JoinAxes(b.Spread(i), 0));
  }
  Terms made = b.Again(inputs);
  made[0] = ChannelsToItems(b, made[0], axis);
  for (size_t i = 1; i < made.size(); ++i) made[i] = SplitAxis(made[i], 0, b.size());
  return made;
}

// ---- indexing
Terms Gather(BatchContext& b) {
  int axis = Wrap(b.attr<int64_t>("axis"), b.rank(0));
  int shared = Wrap(b.attr<int64_t>("batch_dims"), b.rank(1));
  if (b.batched(0) && !b.batched(1) && shared == 0)
    return b.Again({b.in(0), b.in(1)}, {{"axis", int64_t{axis + 1}}});
  if (!b.batched(0) && shared == 0) {  // the new axis comes out where the indices begin
    Terms made = b.Again({b.in(0), b.in(1)}, {{"axis", int64_t{axis}}});
    return {axis == 0 ? made[0] : MoveAxis(b, made[0], axis, 0)};
  }
  return b.Again({b.Spread(0), b.Spread(1)},
                 {{"axis", int64_t{axis + 1}}, {"batch_dims", int64_t{shared + 1}}});
}

Terms GatherGrad(BatchContext& b) {
  Ints shape = b.attr<Ints>("shape");
  int axis = Wrap(b.attr<int64_t>("axis"), static_cast<int>(shape.size()));
  int shared = Wrap(b.attr<int64_t>("batch_dims"), b.rank(1));
  shape.insert(shape.begin(), b.size());
  NamedAttrs attrs{{"axis", int64_t{axis + 1}}, {"shape", shape}};
  if (!b.batched(1) && shared == 0) return b.Again({b.in(0), b.in(1)}, attrs);
  attrs.emplace_back("batch_dims", int64_t{shared + 1});
  return b.Again({b.Spread(0), b.Spread(1)}, attrs);
}

BatchFn Coordinates(size_t indices, const char* shape_attr) {
  return [=](BatchContext& b) {
    Terms inputs;
    for (size_t i = 0; i < b.inputs(); ++i) inputs.push_back(b.Spread(i));
    Term& index = inputs[indices];
    const Shape& shape = index.shape();
    Term number = BroadcastTo(ItemNumbers(b, index.dtype(), shape.rank()), shape.With(-1, 1));
    index = b.Call("Concat", {number, index}, {{"axis", int64_t{-1}}});
    if (!shape_attr) return b.Again(inputs);
    Ints whole = b.attr<Ints>(shape_attr);
    whole.insert(whole.begin(), b.size());
    return b.Again(inputs, {{shape_attr, whole}});
  };
}

// Segments of item i come behind those of the items before it; what is left out stays so.
Terms SegmentSum(BatchContext& b) {
  Term ids = b.Spread(1);
  int64_t segments = b.attr<int64_t>("num_segments");
  Term first = ItemNumbers(b, ids.dtype(), ids.shape().rank()) * static_cast<double>(segments);
  Term zero = b.emitter().Scalar(0, ids.dtype());
  Term inside = b.Call("LogicalAnd", {b.Call("GreaterEqual", {ids, zero}),
                                      b.Call("Less", {ids, zero + static_cast<double>(segments)})});
  Term moved = b.Call("Select", {inside, ids + first, zero - 1});
  Term sums =
      b.Again({b.Spread(0), moved}, {{"num_segments", segments * Dim(b.size()).value()}})[0];
  return {SplitAxis(sums, 0, b.size())};
}

// ---- losses
namespace {

// x at the class of each row, which becomes the last axis.
Term AtClass(BatchContext& b, const Term& x, const Term& labels) {
  Term index = Reshape(labels, labels.shape().Insert(labels.shape().rank(), 1));
  Term picked = b.Call("GatherD", {x, index}, {{"dim", int64_t{x.shape().rank() - 1}}});
  return Reshape(picked, labels.shape());
}

Term OneAtClass(BatchContext& b, const Term& labels, int64_t classes, DType dtype) {
  Term one = b.emitter().Scalar(1, dtype), zero = b.emitter().Scalar(0, dtype);
  return b.Call("OneHot", {labels, one, zero}, {{"depth", classes}});
}

Term SumRows(BatchContext& b, const Term& x) {
  return b.Call("ReduceSum", {x}, {{"axis", Ints{1}}});
}

// Labels with 0 in place of those that are ignored, and the weights of the rows.
std::pair<Term, Term> RowWeights(BatchContext& b, size_t labels, size_t weight, int64_t classes) {
  Term label = b.Spread(labels);
  Term ignored =
      b.emitter().Scalar(static_cast<double>(b.attr<int64_t>("ignore_index")), label.dtype());
  Term zero = b.emitter().Scalar(0, label.dtype());
  Term counts = b.Call("NotEqual", {label, ignored});
  label = b.Call("Select", {counts, label, zero});
  const Shape& rows = label.shape();
  Term weights = b.Spread(weight);
  weights = Reshape(weights, Dims{Dim(b.size()), 1, classes});
  weights = BroadcastTo(weights, Dims{Dim(b.size()), rows.dim(1), classes});
  Term of_row = AtClass(b, weights, label);
  return {label, b.Call("Select", {counts, of_row, b.emitter().Scalar(0, of_row.dtype())})};
}

}  // namespace

Terms SparseCrossEntropy(BatchContext& b) {
  Term logits = b.Spread(0), labels = b.Spread(1);
  double rows = static_cast<double>(b.in_type(0).shape()[0]);
  if (!b.attr<bool>("is_grad"))
    return {-(SumRows(b, AtClass(b, b.Call("LogSoftmax", {logits}), labels)) / rows)};
  Term wanted = OneAtClass(b, labels, b.in_type(0).shape()[1], logits.dtype());
  return {(b.Call("Softmax", {logits}) - wanted) / rows};
}

Terms Likelihood(BatchContext& b) {
  auto [labels, weights] = RowWeights(b, 1, 2, b.in_type(0).shape()[1]);
  Term loss = -(AtClass(b, b.Spread(0), labels) * weights);
  Term total = SumRows(b, weights);
  const std::string& reduction = b.attr<std::string>("reduction");
  if (reduction == "none") return {loss, total};
  Term sum = SumRows(b, loss);
  return {reduction == "mean" ? sum / total : sum, total};
}

Terms LikelihoodGrad(BatchContext& b) {
  int64_t classes = b.attr<int64_t>("classes");
  auto [labels, weights] = RowWeights(b, 1, 2, classes);
  const std::string& reduction = b.attr<std::string>("reduction");
  Term d = b.Spread(0);
  if (reduction == "mean") d = d / b.Spread(3);
  if (reduction != "none") d = Reshape(d, {b.size(), 1});
  Term rows = -(d * weights);
  Term wanted = OneAtClass(b, labels, classes, rows.dtype());
  return {wanted * Reshape(rows, rows.shape().Insert(2, 1))};
}

// The slope of each channel against x, whose channels are axis 1 of an item.
Terms ChannelSlope(BatchContext& b) {
  Term x = b.Spread(0);
  Ints dims(static_cast<size_t>(x.shape().rank()), 1);
  dims[0] = b.batched(1) ? b.size() : 1;
  if (b.rank(0) >= 2) dims[2] = b.in_type(1).shape().size();
  Term positive = b.Call("Greater", {x, b.emitter().Scalar(0, x.dtype())});
  return {b.Call("Select", {positive, x, x * Reshape(b.in(1), dims)})};
}

// ---- slices
Terms StridedSlice(BatchContext& b) {
  NamedAttrs attrs;
  const std::pair<const char*, int64_t> fronts[] = {
      {"begin", 0}, {"end", b.size()}, {"strides", 1}};
  for (const auto& [name, front] : fronts) {
    Ints values = b.attr<Ints>(name);
    values.insert(values.begin(), front);
    attrs.emplace_back(name, values);
  }
  for (const char* mask :
       {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
    attrs.emplace_back(mask, b.attr<int64_t>(mask) << 1);
  }
  if (b.node().op->AttrIndex("shape") >= 0) {
    Ints shape = b.attr<Ints>("shape");
    shape.insert(shape.begin(), b.size());
    attrs.emplace_back("shape", shape);
  }
  Terms inputs;
  for (size_t i = 0; i < b.inputs(); ++i) inputs.push_back(b.Spread(i));
  return b.Again(inputs, attrs);
}

}  // namespace ms::batch
