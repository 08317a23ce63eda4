// What declarations say of axes: each attribute that counts them has a role, or stands here with
// the reason why none fits.
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "ops/all.h"

namespace ms {
namespace {

const OpRegistry& AllOps() {
  SetOpSource(DefineAllOps);
  return Ops();
}

const std::map<std::string, std::string> kExceptions{
    {"FFT.axes", "the last one may be halved, whose size decides which way"},
    {"Gather.axis", "of the first input alone; the result has those of the indices there"},
    {"Gather.batch_dims", "a count of leading axes"},
    {"GatherGrad.axis", "as in Gather"},
    {"GatherGrad.batch_dims", "as in Gather"},
    {"LayerNorm.begin_norm_axis", "all axes from there on"},
    {"LayerNorm.begin_params_axis", "all axes from there on"},
    {"LayerNormGrad.begin_norm_axis", "all axes from there on"},
    {"LayerNormGrad.begin_params_axis", "all axes from there on"},
    {"ShardGather.dim", "made when layouts are known already"},
    {"ShardScatter.dim", "as in ShardGather"},
    {"ShardSlice.dim", "as in ShardGather"},
    {"Squeeze.axis", "which axes go when none is given, their sizes tell"},
    {"Transpose.perm", "each axis goes to another place"},
    {"Vmap.in_axes", "of functions"},
    {"Vmap.out_axes", "of functions"},
};

TEST(Axes, EveryAttributeThatCountsThemHasARole) {
  const std::regex counts("(.*_)?(axis|axes|dim|dims|perm|paddings|data_format)");
  std::map<std::string, std::string> unused = kExceptions;
  for (const OpDef* op : AllOps().All()) {
    for (const AttrDef& attr : op->attributes) {
      bool flag = attr.kind == Attr(true).index();  // keep_dims
      const auto* layout = std::get_if<std::string>(&attr.fallback);
      bool volumes = layout && *layout == "NCDHW";  // have one layout
      if (flag || volumes || !std::regex_match(attr.name, counts) || attr.role != AxisRole::kNone)
        continue;
      std::string name = op->name + "." + attr.name;
      EXPECT_EQ(unused.erase(name), 1u)
          << name << " needs .Axes, .NewAxis, .PerAxis or .Format, or a reason above";
    }
  }
  for (const auto& [name, reason] : unused) ADD_FAILURE() << name << " needs no exception";
}

TEST(Axes, RolesFitTheirAttributes) {
  for (const OpDef* op : AllOps().All()) {
    for (const AttrDef& attr : op->attributes) {
      auto holds = [&](auto kind) { return attr.kind == Attr(kind).index(); };
      std::string name = op->name + "." + attr.name;
      switch (attr.role) {
        case AxisRole::kNone:
          break;
        case AxisRole::kAxes:
          EXPECT_TRUE(holds(int64_t{}) || holds(Ints{})) << name;
          break;
        case AxisRole::kNewAxis:
          EXPECT_TRUE(holds(int64_t{})) << name;
          break;
        case AxisRole::kPerAxis:
          EXPECT_FALSE(attr.idle.empty()) << name;
          [[fallthrough]];
        case AxisRole::kImage:
          EXPECT_TRUE(holds(Ints{})) << name;
          break;
        case AxisRole::kFilter:
          EXPECT_GE(attr.filter, 0) << name;
          [[fallthrough]];
        case AxisRole::kFormat:
          EXPECT_TRUE(holds(std::string{})) << name;
          break;
      }
    }
  }
}

}  // namespace
}  // namespace ms
