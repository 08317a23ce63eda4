// What a nest costs, and how it reads.
#include <fmt/format.h>

#include <algorithm>

#include "backends/cpu/codegen/nest_schedule.h"
#include "backends/cpu/codegen/scalar_times.h"
#include "loops/scalar_costs.h"

namespace ms::cpu {
namespace {

std::string Loops(const ScheduledNest& nest) {
  switch (nest.schedule) {
    case ScheduledNest::Schedule::kElementwise:
      return fmt::format("parallel over {} rows and blocks of {}, vectors inside",
                         nest.OuterSize(false), nest.tuning.block);
    case ScheduledNest::Schedule::kRows:
      return fmt::format(
          "parallel over {} rows x {} chunks, {} passes over {} pieces of {}, vectors inside",
          nest.kept_size(), nest.chunks, nest.passes(), nest.pieces(),
          std::min(nest.inner(), nest.piece));
    case ScheduledNest::Schedule::kColumns:
      return fmt::format(
          "parallel over {} tiles of {} columns x {} chunks, {} passes over {} rows, vectors "
          "inside",
          nest.OuterSize(false) * nest.tiles(), std::min(nest.inner(), nest.tuning.tile),
          nest.chunks, nest.passes(), nest.OuterSize(true));
  }
  return "";
}

}  // namespace

NestCost CostOf(const ScheduledNest& nest) {
  NestCost total;
  for (const loops::NestValue& value : nest.values) {
    if (value.reduction != loops::Reduction::kNone) {
      total.flops += 1;
      total.ns += 0.05;
      continue;
    }
    if (value.flat) continue;
    int arg = value.node.args[value.node.op == ScalarOp::kSelect ? 1 : 0];
    DType operand = arg < 0 ? value.node.dtype : nest.values[static_cast<size_t>(arg)].node.dtype;
    total.flops += loops::FlopsOf(value.node.op, operand);
    total.ns += TimeOf(value.node.op, operand).code_ns;
    if (value.node.op == ScalarOp::kInput)
      total.ns += 0.025 * static_cast<double>(ItemSize(value.node.dtype));
  }
  for (const loops::NestOutput& o : nest.outputs)
    total.ns += o.kept ? 0
                       : 0.025 * static_cast<double>(ItemSize(
                                     nest.values[static_cast<size_t>(o.value)].node.dtype));
  return {total.flops * static_cast<double>(nest.size()),
          total.ns * static_cast<double>(nest.size())};
}

std::string Print(const ScheduledNest& nest) {
  std::string schedule = Loops(nest);
  if (!(nest.tuning == Tuning{})) schedule += fmt::format("\n  tuned: {}", Print(nest.tuning));
  return loops::Print(nest, schedule, nest.buffered);
}

}  // namespace ms::cpu
