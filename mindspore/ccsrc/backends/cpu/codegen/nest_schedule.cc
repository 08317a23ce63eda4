#include "backends/cpu/codegen/nest_schedule.h"

#include <algorithm>
#include <set>

#include "loops/scalar_costs.h"

namespace ms::cpu {
namespace {

// Follows what each pass computes, and marks what an earlier pass computed too and what would cost
// more to compute again than to read back: functions, and long ways of cheap ops.
class BufferFinder {
 public:
  explicit BufferFinder(ScheduledNest* nest) : nest_(*nest) {}

  void Run() {
    for (int pass = 0; pass < nest_.passes(); ++pass) {
      std::set<int> now;
      for (size_t v = 0; v < nest_.values.size(); ++v) {
        const loops::NestValue& value = nest_.values[v];
        if (value.reduction != loops::Reduction::kNone && value.stage == pass + 1)
          Visit(value.node.args[0], now);
      }
      if (pass + 1 == nest_.passes()) {
        for (const loops::NestOutput& o : nest_.outputs) {
          if (!o.kept) Visit(o.value, now);
        }
      }
      seen_.insert(now.begin(), now.end());
    }
  }

 private:
  static constexpr int kWay = 4;  // cheap ops that are quicker than a store and a load

  void Visit(int v, std::set<int>& now) {
    const loops::NestValue& value = nest_.values[static_cast<size_t>(v)];
    if (Ends(value) || now.contains(v)) return;
    if (seen_.contains(v) && value.heavy && Again(v, kWay + 1) > kWay) {
      nest_.buffered.push_back(v);
      buffered_.insert(v);
    }
    if (buffered_.contains(v)) return;
    now.insert(v);
    for (int arg : value.node.args) {
      if (arg >= 0) Visit(arg, now);
    }
  }

  static bool Ends(const loops::NestValue& value) {
    return value.flat || value.reduction != loops::Reduction::kNone ||
           value.node.op == ScalarOp::kInput;
  }

  // Ops to compute a value from inputs, buffers and functions; counts to `most`. A function itself
  // is worth a buffer always.
  int Again(int v, int most) const {
    const loops::NestValue& value = nest_.values[static_cast<size_t>(v)];
    if (Ends(value) || buffered_.contains(v)) return 0;
    if (loops::IsHeavy(value.node.op)) return most;
    int count = 1;
    for (int arg : value.node.args) {
      if (arg < 0 || count >= most) continue;
      const loops::NestValue& a = nest_.values[static_cast<size_t>(arg)];
      bool function = !Ends(a) && loops::IsHeavy(a.node.op);  // will be buffered in its turn
      count += function ? 0 : Again(arg, most - count);
    }
    return count;
  }

  ScheduledNest& nest_;
  std::set<int> seen_;
  std::set<int> buffered_;
};

// What measurements found best for most bodies. The code takes longer to make, so that small work
// does without.
void ChooseTuning(ScheduledNest* nest) {
  constexpr int64_t kMuch = 1 << 16;  // elements
  if (nest->size() < kMuch) return;
  bool functions =
      std::any_of(nest->values.begin(), nest->values.end(), [](const loops::NestValue& v) {
        return !v.flat && loops::IsHeavy(v.node.op) && v.reduction == loops::Reduction::kNone;
      });
  bool elementwise = nest->schedule == ScheduledNest::Schedule::kElementwise;
  bool columns = nest->schedule == ScheduledNest::Schedule::kColumns;
  if (elementwise && functions) nest->tuning.unroll = 2;
  if (columns && !functions && nest->OuterSize(true) >= 64) nest->tuning.rows = 4;
}

// Enough tasks for many threads, but chunks of some size.
void ChooseSchedule(const FusedBody& body, ScheduledNest* nest) {
  constexpr int64_t kTasks = 64;
  constexpr int64_t kSmall = 1 << 17;  // elements that one thread may as well take
  if (body.form == FusedBody::Form::kElementwise) return;
  bool rows = body.reduced.back();
  nest->schedule = rows ? ScheduledNest::Schedule::kRows : ScheduledNest::Schedule::kColumns;
  int64_t tasks = rows ? nest->kept_size() : nest->OuterSize(false) * nest->tiles();
  int64_t most = rows ? nest->pieces() : nest->OuterSize(true) / 16;
  if (tasks < kTasks / 2 && nest->size() > kSmall && most > 1)
    nest->chunks = std::clamp<int64_t>(kTasks / tasks, 2, most);
  bool buffers =
      rows && nest->chunks == 1 && nest->pieces() * nest->piece_span() <= ScheduledNest::kBuffer;
  if (buffers) BufferFinder(nest).Run();
}

}  // namespace

int64_t ScheduledNest::piece_span() const { return (std::min(inner(), piece) + 63) / 64 * 64; }
int64_t ScheduledNest::pieces() const { return OuterSize(true) * row_pieces(); }

ScheduledNest Retuned(const ScheduledNest& nest, const Tuning& tuning) {
  ScheduledNest result = nest;
  result.tuning = tuning;
  if (!tuning.buffers) result.buffered.clear();
  return result;
}

std::string ScheduleNest(const FusedBody& body, int vector_bytes, ScheduledNest* nest) {
  *nest = {};
  nest->piece = 32 * vector_bytes;  // 128 additions in each lane of floats
  std::string refusal = loops::MakeNest(body, nest);
  if (!refusal.empty()) return refusal;
  ChooseSchedule(body, nest);
  ChooseTuning(nest);
  // Short vectors would be all remainder: tiles of the interpreter span several rows.
  if (nest->inner() < 8 && nest->size() > 64)
    return fmt::format("the innermost axis has only {} elements", nest->inner());
  return "";
}

}  // namespace ms::cpu
