// What a nest costs, and how it reads.
#include <fmt/format.h>

#include <algorithm>

#include "loops/loop_nest.h"
#include "loops/scalar_costs.h"

namespace ms::loops {
namespace {

const char* const kOpNames[] = {
    "input",       "constant",  "cast",      "add",       "sub",        "mul",     "div",
    "floor_div",   "floor_mod", "trunc_div", "trunc_mod", "pow",        "atan2",   "min",
    "max",         "neg",       "abs",       "sign",      "floor",      "ceil",    "rint",
    "trunc",       "exp",       "expm1",     "log",       "log1p",      "sqrt",    "rsqrt",
    "sin",         "cos",       "tan",       "asin",      "acos",       "atan",    "sinh",
    "cosh",        "asinh",     "acosh",     "atanh",     "tanh",       "erf",     "erfc",
    "sigmoid",     "lgamma",    "digamma",   "less",      "less_equal", "greater", "greater_equal",
    "equal",       "not_equal", "and",       "or",        "xor",        "not",     "shift_left",
    "shift_right", "select",    "is_nan",    "is_inf",    "is_finite",  "real",    "imag",
    "conj"};
static_assert(std::size(kOpNames) == kScalarOpCount);
const char* const kReductionNames[] = {"", "sum", "mean", "max", "min", "prod"};

std::string Describe(const LoopNest& nest, int v) {
  const NestValue& value = nest.values[static_cast<size_t>(v)];
  const ScalarNode& node = value.node;
  if (value.reduction != Reduction::kNone) {
    return fmt::format("{}(%{})", kReductionNames[static_cast<int>(value.reduction)], node.args[0]);
  }
  if (node.op == ScalarOp::kConstant) return fmt::format("{}", node.value);
  if (node.op == ScalarOp::kInput) {
    const NestLeaf& leaf = nest.leaves[static_cast<size_t>(node.input)];
    return fmt::format("in{}[{} + i * ({})]", leaf.input, leaf.offset,
                       fmt::join(leaf.strides, ", "));
  }
  std::string args;
  for (int arg : node.args) {
    if (arg >= 0) args += fmt::format("{}%{}", args.empty() ? "" : ", ", arg);
  }
  return fmt::format("{}({})", kOpNames[static_cast<int>(node.op)], args);
}

std::string Loops(const LoopNest& nest) {
  switch (nest.schedule) {
    case LoopNest::Schedule::kElementwise:
      return fmt::format("parallel over {} rows and blocks of {}, vectors inside",
                         nest.OuterSize(false), nest.tuning.block);
    case LoopNest::Schedule::kRows:
      return fmt::format(
          "parallel over {} rows x {} chunks, {} passes over {} pieces of {}, vectors inside",
          nest.kept_size(), nest.chunks, nest.passes(), nest.pieces(),
          std::min(nest.inner(), nest.piece));
    case LoopNest::Schedule::kColumns:
      return fmt::format(
          "parallel over {} tiles of {} columns x {} chunks, {} passes over {} rows, vectors "
          "inside",
          nest.OuterSize(false) * nest.tiles(), std::min(nest.inner(), nest.tuning.tile),
          nest.chunks, nest.passes(), nest.OuterSize(true));
  }
  return "";
}

}  // namespace

NestCost CostOf(const LoopNest& nest) {
  NestCost total;
  for (const NestValue& value : nest.values) {
    if (value.reduction != Reduction::kNone) {
      total.flops += 1;
      total.ns += 0.05;
      continue;
    }
    if (value.flat) continue;
    int arg = value.node.args[value.node.op == ScalarOp::kSelect ? 1 : 0];
    DType operand = arg < 0 ? value.node.dtype : nest.values[static_cast<size_t>(arg)].node.dtype;
    ScalarCost one = CostOf(value.node.op, operand);
    total.flops += one.flops;
    total.ns += one.code_ns;
    if (value.node.op == ScalarOp::kInput)
      total.ns += 0.025 * static_cast<double>(ItemSize(value.node.dtype));
  }
  for (const NestOutput& o : nest.outputs)
    total.ns += o.kept ? 0
                       : 0.025 * static_cast<double>(ItemSize(
                                     nest.values[static_cast<size_t>(o.value)].node.dtype));
  return {total.flops * static_cast<double>(nest.size()),
          total.ns * static_cast<double>(nest.size())};
}

std::string Print(const LoopNest& nest) {
  std::string axes;
  for (size_t d = 0; d < nest.sizes.size(); ++d)
    axes += fmt::format("{}{}{}", d ? ", " : "", nest.sizes[d], nest.reduced[d] ? " reduced" : "");
  std::string text = fmt::format("space [{}]: {}\n", axes, Loops(nest));
  if (!(nest.tuning == Tuning{})) text += fmt::format("  tuned: {}\n", Print(nest.tuning));
  for (size_t v = 0; v < nest.values.size(); ++v) {
    const NestValue& value = nest.values[v];
    bool buffered = std::find(nest.buffered.begin(), nest.buffered.end(), static_cast<int>(v)) !=
                    nest.buffered.end();
    text += fmt::format("  %{}: {} = {}{}{}{}\n", v, Name(value.node.dtype),
                        Describe(nest, static_cast<int>(v)),
                        value.stage > 0 ? fmt::format("  stage {}", value.stage) : "",
                        value.uniform ? "  uniform"
                        : value.kept  ? "  kept"
                                      : "",
                        buffered ? "  buffered" : "");
  }
  for (size_t o = 0; o < nest.outputs.size(); ++o)
    text += fmt::format("  out{} = %{}{}\n", o, nest.outputs[o].value,
                        nest.outputs[o].kept ? "  kept" : "");
  return text;
}

}  // namespace ms::loops
