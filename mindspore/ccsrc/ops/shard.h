// Sharding rules that several ops share, for `.Shard(...)` in the declarations: functions of types
// and attributes that write the text of a rule (ir/shard_rule.h). Elementwise ops and views need
// none, theirs are derived.
#pragma once

#include <string>
#include <vector>

#include "ir/shard_rule.h"

namespace ms::shard {

// Names of dimensions, in order.
using Names = std::vector<std::string>;
Names Axes(int rank, const std::string& prefix = "a");
Names Ones(int rank);
Names operator+(Names a, const Names& b);
Names Part(const Names& names, int from, int to);

// Writes the text of a rule part by part.
class Rule {
 public:
  Rule& In(const Names& names) { return Add(&operands_, names); }
  Rule& Out(const Names& names) { return Add(&results_, names); }
  Rule& Mark(const Names& factors, const std::string& mark);  // nothing where there are no factors
  Rule& Clause(const std::string& text);
  std::string Text() const;

 private:
  Rule& Add(std::vector<std::string>* to, const Names& names);
  std::vector<std::string> operands_, results_, clauses_;
};

// Nothing may be cut: every dimension is a whole factor of its own.
std::string Whole(const ShardContext& c);
// Made from attributes alone: the sizes stand in `attr`.
ShardFn Shaped(const char* attr, const char* clauses = "");
// Inputs and results of one rank; the axes along which the op works (OpDef::Axes) are whole, and
// results of a lower rank do not have them.
std::string Along(const ShardContext& c);
// A reduction along axes, whose parts join by `mark`.
ShardFn Reduction(const char* mark);
// Losses of elements with an attribute 'reduction'.
std::string Loss(const ShardContext& c);
// "... m k, ... k n -> ... m n" with transpositions; with `bias` through an activation.
std::string Product(const ShardContext& c);
std::string ProductBias(const ShardContext& c);

std::string BiasAdd(const ShardContext& c);
std::string Convolution(const ShardContext& c);
std::string ConvolutionInput(const ShardContext& c);
std::string ConvolutionFilter(const ShardContext& c);
std::string ConvolutionBias(const ShardContext& c);
std::string ChannelSlope(const ShardContext& c);  // x, a weight for each channel or for all
// Images through windows; `mark` of height and width.
ShardFn Windows(const char* mark = "halo");
// Statistics of each channel: what all axes but the channels' are marked with.
ShardFn Channels(const char* mark);
std::string LayerNorm(const ShardContext& c);
std::string LayerNormGrad(const ShardContext& c);

std::string Transpose(const ShardContext& c);
std::string Tile(const ShardContext& c);
std::string Padding(const ShardContext& c);
std::string Slice(const ShardContext& c);
std::string StridedSlice(const ShardContext& c);
std::string Concat(const ShardContext& c);
std::string Stack(const ShardContext& c);
// Several results without, or with another size of, the axis along which the op works.
std::string Pieces(const ShardContext& c);

std::string Gather(const ShardContext& c);
std::string GatherGrad(const ShardContext& c);
std::string GatherElements(const ShardContext& c);
std::string GatherNd(const ShardContext& c);
std::string OneHot(const ShardContext& c);
std::string ScatterNd(const ShardContext& c);
std::string ScatterInto(const ShardContext& c);      // x, coordinates, updates
std::string ScatterElements(const ShardContext& c);  // x, positions along an axis, updates
std::string ScatterFirst(const ShardContext& c);     // x, positions on the first axis, updates
// Slices joined by segments; parts of the slices join by `mark`.
ShardFn Segments(const char* mark);
std::string UpdateRows(const ShardContext& c);  // SGDRows

// Negative log likelihoods: results are per row, or reduced.
std::string Likelihood(const ShardContext& c);
ShardFn LikelihoodGrad(bool logits);
std::string Attention(const ShardContext& c);
std::string AttentionGrad(const ShardContext& c);
std::string Recurrence(const ShardContext& c);

}  // namespace ms::shard
