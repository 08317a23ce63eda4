// Reductions in LLVM text: what they begin with, one step, and the result of a total. Sums and
// products of floats go from float lanes to totals in double, as in the eager kernels.
#include <limits>

#include "backends/cpu/codegen/nest_writer.h"

namespace ms::cpu {

using loops::Reduction;

namespace {

bool IsReal(DType t) { return t == DType::kFloat32 || t == DType::kFloat64; }

double Extreme(DType type, bool largest) {
  double result = 0;
  VisitDType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_arithmetic_v<T>) {
      using Limits = std::numeric_limits<T>;
      T low = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
      T high = Limits::has_infinity ? Limits::infinity() : Limits::max();
      result = static_cast<double>(largest ? high : low);
    }
  });
  return result;
}

// Integer limits are not all exact as doubles.
std::string ExtremeText(DType type, bool largest, int lanes) {
  if (type == DType::kInt64 || type == DType::kUInt64) {
    const char* text = type == DType::kUInt64 ? (largest ? "-1" : "0")
                       : largest              ? "9223372036854775807"
                                              : "-9223372036854775808";
    return lanes == 1 ? text : fmt::format("splat (i64 {})", text);
  }
  return LlvmConstant(Extreme(type, largest), type, lanes);
}

}  // namespace

DType NestWriter::TotalType(int v) const {
  Reduction how = nest_.values[v].reduction;
  bool extreme = how == Reduction::kMax || how == Reduction::kMin;
  DType lane = LaneType(v);
  return IsReal(lane) && !extreme ? DType::kFloat64 : lane;
}

LlvmValue NestWriter::Identity(int v, DType type, int lanes) const {
  switch (nest_.values[v].reduction) {
    case Reduction::kMax:
      return {ExtremeText(type, false, lanes), type, lanes};
    case Reduction::kMin:
      return {ExtremeText(type, true, lanes), type, lanes};
    case Reduction::kProd:
      return {LlvmConstant(1, type, lanes), type, lanes};
    default:
      return {LlvmConstant(0, type, lanes), type, lanes};
  }
}

LlvmValue NestWriter::Combine(LlvmScope& scope, int v, const LlvmValue& total, const LlvmValue& x) {
  DType t = total.type;
  std::string type = LlvmType(t, total.lanes);
  auto two = [&](const char* op) {
    return scope.Let(t, total.lanes, fmt::format("{} {} {}, {}", op, type, total.name, x.name));
  };
  Reduction how = nest_.values[v].reduction;
  if (how == Reduction::kSum || how == Reduction::kMean) return two(IsReal(t) ? "fadd" : "add");
  if (how == Reduction::kProd) return two(IsReal(t) ? "fmul" : "mul");
  bool largest = how == Reduction::kMax;
  const char* better = IsReal(t)     ? (largest ? "fcmp ogt" : "fcmp olt")
                       : IsSigned(t) ? (largest ? "icmp sgt" : "icmp slt")
                                     : (largest ? "icmp ugt" : "icmp ult");
  std::string flags = LlvmType(DType::kBool, total.lanes);
  std::string take = scope.Let(fmt::format("{} {} {}, {}", better, type, x.name, total.name));
  if (IsReal(t)) {  // a nan is taken when it comes and never left
    std::string nan = scope.Let(fmt::format("fcmp uno {} {}, {}", type, x.name, x.name));
    take = scope.Let(fmt::format("or {} {}, {}", flags, take, nan));
  }
  return scope.Let(
      t, total.lanes,
      fmt::format("select {} {}, {} {}, {} {}", flags, take, type, x.name, type, total.name));
}

// Lanes combined pairwise, halves with halves.
LlvmValue NestWriter::Fold(LlvmScope& scope, int v, LlvmValue lanes) {
  while (lanes.lanes > 1) {
    int half = lanes.lanes / 2;
    std::string type = LlvmType(lanes.type, lanes.lanes);
    std::string low, high;
    for (int i = 0; i < half; ++i) {
      low += fmt::format("{}i32 {}", i ? ", " : "", i);
      high += fmt::format("{}i32 {}", i ? ", " : "", i + half);
    }
    auto part = [&](const std::string& which) {
      std::string shuffled = scope.Let(fmt::format(
          "shufflevector {} {}, {} poison, <{} x i32> <{}>", type, lanes.name, type, half, which));
      if (half > 1) return LlvmValue{shuffled, lanes.type, half};
      return scope.Let(
          lanes.type, 1,
          fmt::format("extractelement <1 x {}> {}, i64 0", LlvmType(lanes.type, 1), shuffled));
    };
    LlvmValue a = part(low), b = part(high);
    lanes = Combine(scope, v, a, b);
  }
  return lanes;
}

LaneTotal::LaneTotal(NestWriter& writer, LlvmScope& scope, int v)
    : writer_(writer), v_(v), type_(writer.LaneType(v)), lanes_(writer.lanes_) {
  Reduction how = writer.nest_.values[v].reduction;
  apart_ = IsReal(type_) && (how == Reduction::kMax || how == Reduction::kMin);
  std::string type = LlvmType(type_, lanes_), flags = LlvmType(DType::kBool, lanes_);
  total_ = scope.Reserve(type);
  scope.Do(
      fmt::format("store {} {}, ptr {}", type, writer.Identity(v, type_, lanes_).name, total_));
  if (!apart_) return;
  nans_ = scope.Reserve(flags);
  scope.Do(fmt::format("store {} zeroinitializer, ptr {}", flags, nans_));
}

void LaneTotal::Take(LlvmScope& scope, const LlvmValue& x) {
  std::string type = LlvmType(type_, lanes_), flags = LlvmType(DType::kBool, lanes_);
  LlvmValue total = scope.Let(type_, lanes_, fmt::format("load {}, ptr {}", type, total_));
  if (apart_) {
    bool largest = writer_.nest_.values[v_].reduction == Reduction::kMax;
    std::string take = scope.Let(
        fmt::format("fcmp {} {} {}, {}", largest ? "ogt" : "olt", type, x.name, total.name));
    total.name = scope.Let(
        fmt::format("select {} {}, {} {}, {} {}", flags, take, type, x.name, type, total.name));
    std::string nan = scope.Let(fmt::format("fcmp uno {} {}, {}", type, x.name, x.name));
    std::string seen = scope.Let(fmt::format("load {}, ptr {}", flags, nans_));
    seen = scope.Let(fmt::format("or {} {}, {}", flags, seen, nan));
    scope.Do(fmt::format("store {} {}, ptr {}", flags, seen, nans_));
  } else {
    total = writer_.Combine(scope, v_, total, x);
  }
  scope.Do(fmt::format("store {} {}, ptr {}", type, total.name, total_));
}

LlvmValue LaneTotal::Fold(LlvmScope& scope) const {
  std::string type = LlvmType(type_, lanes_), flags = LlvmType(DType::kBool, lanes_);
  LlvmValue lanes = scope.Let(type_, lanes_, fmt::format("load {}, ptr {}", type, total_));
  LlvmValue folded = writer_.Fold(scope, v_, lanes);
  if (!apart_) return folded;
  std::string seen = scope.Let(fmt::format("load {}, ptr {}", flags, nans_));
  seen = scope.Let(fmt::format("bitcast {} {} to i{}", flags, seen, lanes_));
  std::string any = scope.Let(fmt::format("icmp ne i{} {}, 0", lanes_, seen));
  std::string element = LlvmType(type_, 1);
  folded.name =
      scope.Let(fmt::format("select i1 {}, {} {}, {} {}", any, element,
                            LlvmConstant(__builtin_nan(""), type_, 1), element, folded.name));
  return folded;
}

LlvmValue NestWriter::Widen(LlvmScope& scope, int v, const LlvmValue& x) {
  DType to = TotalType(v);
  if (x.type == to) return x;
  return scope.Let(
      to, x.lanes,
      fmt::format("fpext {} {} to {}", LlvmType(x.type, x.lanes), x.name, LlvmType(to, x.lanes)));
}

LlvmValue NestWriter::Finish(LlvmScope& scope, int v, const LlvmValue& total) {
  const loops::NestValue& value = nest_.values[v];
  LlvmValue result = total;
  std::string type = LlvmType(total.type, total.lanes);
  if (value.reduction == Reduction::kMean) {
    LlvmValue count =
        entry_->Let(DType::kFloat64, 1,
                    fmt::format("sitofp i64 {} to double", Param("reduced", nest_.reduced_size())));
    count = scope.Splat(count, total.lanes);
    result = scope.Let(total.type, total.lanes,
                       fmt::format("fdiv {} {}, {}", type, total.name, count.name));
  }
  DType lane = LaneType(v);
  if (result.type != lane) {
    result = scope.Let(
        lane, total.lanes,
        fmt::format("fptrunc {} {} to {}", type, result.name, LlvmType(lane, total.lanes)));
  }
  if (value.node.dtype == lane) return result;
  return WriteCast(scope, result, lane, value.node.dtype);
}

LlvmValue NestWriter::Operand(int v, Lane& lane) {
  LlvmValue x = Value(nest_.values[v].node.args[0], lane);
  if (lane.mask.empty()) return x;
  std::string type = LlvmType(x.type, lanes_);
  return lane.scope->Let(x.type, lanes_,
                         fmt::format("select <{} x i1> {}, {} {}, {} {}", lanes_, lane.mask, type,
                                     x.name, type, Identity(v, x.type, lanes_).name));
}

std::vector<int> NestWriter::ReductionsOf(int stage) const {
  std::vector<int> found;
  for (size_t v = 0; v < nest_.values.size(); ++v) {
    if (nest_.values[v].reduction != Reduction::kNone && nest_.values[v].stage == stage)
      found.push_back(static_cast<int>(v));
  }
  return found;
}

int NestWriter::SlotOf(int v) const {
  int slot = 0;
  for (int i = 0; i < v; ++i) slot += nest_.values[i].reduction != Reduction::kNone ? 1 : 0;
  return slot;
}

std::string NestWriter::PartialAt(LlvmScope& scope, int v, const std::string& chunk,
                                  int64_t width) {
  bool rows = nest_.schedule == ScheduledNest::Schedule::kRows;
  int64_t units = rows ? nest_.kept_size() : nest_.OuterSize(false) * nest_.tiles();
  std::string unit = rows ? kept_ : tile_;
  std::string index =
      scope.Let(fmt::format("mul nsw i64 {}, {}", Param("units", units), SlotOf(v)));
  index = scope.Let(fmt::format("add nsw i64 {}, {}", index, unit));
  index = scope.Let(fmt::format("mul nsw i64 {}, {}", index, Param("chunks", nest_.chunks)));
  index = scope.Let(fmt::format("add nsw i64 {}, {}", index, chunk));
  index = scope.Let(fmt::format("mul nsw i64 {}, {}", index, width));
  size_t slots = static_cast<size_t>(SlotOf(static_cast<int>(nest_.values.size())));
  result_.workspace_bytes = slots * static_cast<size_t>(units * nest_.chunks * width) * 8;
  return At(scope, "i64", "%workspace", index);
}

}  // namespace ms::cpu
