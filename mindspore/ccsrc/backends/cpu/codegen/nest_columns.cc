// The schedule whose innermost loop runs along kept columns: totals stand in arrays of one tile.
#include <algorithm>

#include "backends/cpu/codegen/nest_writer.h"

namespace ms::cpu {

// A kept value that is made of totals: computed once for the tile, not for each row.
bool NestWriter::IsHoisted(int v) const {
  const loops::NestValue& value = nest_.values[v];
  return nest_.schedule == ScheduledNest::Schedule::kColumns && value.kept && !value.flat &&
         value.stage > 0 && value.reduction == loops::Reduction::kNone;
}

std::string NestWriter::ColumnArray(LlvmScope& scope, int v) {
  int64_t bytes = nest_.tuning.tile * 8;
  result_.scratch_bytes =
      std::max(result_.scratch_bytes, nest_.values.size() * static_cast<size_t>(2 * bytes));
  return At(scope, "i8", "%scratch", std::to_string((2 * v + 1) * bytes));
}

std::string NestWriter::ColumnTotals(LlvmScope& scope, int v, const std::string& chunk) {
  if (nest_.chunks > 1) return PartialAt(scope, v, chunk, nest_.tuning.tile);
  ColumnArray(scope, v);
  return At(scope, "i8", "%scratch", std::to_string(2 * v * nest_.tuning.tile * 8));
}

// The task's tile, from its flat index.
void NestWriter::BeginColumns(LlvmScope& task, std::string flat) {
  tile_ = flat;
  std::string number = flat, size = SizeOf(static_cast<int>(nest_.sizes.size()) - 1);
  std::vector<int> outer = nest_.Outer(false);
  kept_ = "0";
  if (!outer.empty()) {
    std::string tiles = Param("tiles", nest_.tiles());
    number = task.Let(fmt::format("urem i64 {}, {}", flat, tiles));
    kept_ = task.Let(fmt::format("udiv i64 {}, {}", flat, tiles));
    Decode(task, kept_, outer);
  }
  begin_ = task.Let(fmt::format("mul nsw i64 {}, {}", number, nest_.tuning.tile));
  std::string end = task.Let(fmt::format("add nsw i64 {}, {}", begin_, nest_.tuning.tile));
  std::string past = task.Let(fmt::format("icmp sgt i64 {}, {}", end, size));
  end_ = task.Let(fmt::format("select i1 {}, i64 {}, i64 {}", past, size, end));
}

void NestWriter::WriteColumnPass(LlvmScope& task, const std::string& begin,
                                 const std::string& end) {
  std::vector<int> reductions = ReductionsOf(pass_ + 1);
  for (int v : reductions) totals_[v] = ColumnTotals(task, v, chunk_);
  if (!reductions.empty()) {
    VectorLoop(task, begin_, end_, [&](Lane& lane) {
      for (int v : reductions) {
        DType type = TotalType(v);
        std::string place = At(*lane.scope, LlvmType(type, 1), totals_[v], lane.local);
        StoreTo(lane, place, Identity(v, type, lanes_), type, true);
      }
    });
  }
  std::string blocks = begin;
  if (nest_.tuning.rows > 1) {
    std::string count = task.Let(fmt::format("sub nsw i64 {}, {}", end, begin));
    std::string rest = task.Let(fmt::format("urem i64 {}, {}", count, nest_.tuning.rows));
    blocks = task.Let(fmt::format("sub nsw i64 {}, {}", end, rest));
    WriteRowBlocks(task, begin, blocks, nest_.tuning.rows);
  }
  WriteRowBlocks(task, blocks, end, 1);
}

// Rows [begin, end), some at a time: their elements are added in order, while the totals stay in
// registers.
void NestWriter::WriteRowBlocks(LlvmScope& task, const std::string& begin, const std::string& end,
                                int64_t block) {
  std::vector<int> reductions = ReductionsOf(pass_ + 1);
  auto place = [&](Lane& lane, int v) {
    return At(*lane.scope, LlvmType(TotalType(v), 1), totals_[v], lane.local);
  };
  struct Row {
    std::vector<std::string> at;
    std::unordered_map<int, LlvmValue> known;
  };
  std::vector<Row> rows(static_cast<size_t>(block));
  LlvmLoop loop(task, begin, end, std::to_string(block));
  piece_ = &loop.body;
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string row =
        i == 0 ? loop.index : loop.body.Let(fmt::format("add nsw i64 {}, {}", loop.index, i));
    Decode(loop.body, row, nest_.Outer(true));
    rows[i].at = at_;
  }
  VectorLoop(loop.body, begin_, end_, [&](Lane& lane) {
    std::map<int, LlvmValue> totals;
    for (int v : reductions) totals[v] = LoadFrom(lane, place(lane, v), TotalType(v), true);
    for (Row& row : rows) {
      at_ = row.at;
      loop.body.known.swap(row.known);
      std::erase_if(lane.scope->known,
                    [&](const auto& item) { return !KeptAlongRows(item.first); });
      for (int v : reductions) {
        LlvmValue x = Widen(*lane.scope, v, Operand(v, lane));
        totals[v] = Combine(*lane.scope, v, totals[v], x);
      }
      if (pass_ + 1 == nest_.passes()) StoreOutputs(lane);
      loop.body.known.swap(row.known);
    }
    for (int v : reductions) StoreTo(lane, place(lane, v), totals[v], TotalType(v), true);
  });
  loop.Close();
  piece_ = task_;
}

// Of what a vector loop knows: whether it is the same in another row.
bool NestWriter::KeptAlongRows(int key) const {
  return key < static_cast<int>(nest_.values.size()) && nest_.values[static_cast<size_t>(key)].kept;
}

// From totals to the results of a stage, and to the kept values that follow from them.
void NestWriter::FinishColumns(LlvmScope& task, int stage) {
  std::vector<int> reductions = ReductionsOf(stage);
  std::map<int, std::vector<std::string>> sources;
  if (nest_.chunks == 1) {
    for (int v : reductions) sources[v] = {ColumnTotals(task, v, "0")};
  }
  finishing_ = true;
  VectorLoop(task, begin_, end_, [&](Lane& lane) {
    for (int v : reductions) {
      LlvmScope& scope = *lane.scope;
      DType type = TotalType(v);
      std::string element = LlvmType(type, 1);
      LlvmValue total;
      if (nest_.chunks == 1) {
        total = LoadFrom(lane, At(scope, element, sources[v][0], lane.local), type, true);
      } else {
        std::string wide = LlvmType(type, lanes_), slot = scope.Reserve(wide);
        scope.Do(fmt::format("store {} {}, ptr {}", wide, Identity(v, type, lanes_).name, slot));
        LlvmLoop loop(scope, "0", Param("chunks", nest_.chunks), "1");
        Lane inside{&loop.body, lane.index, lane.local, ""};
        std::string array = PartialAt(loop.body, v, loop.index, nest_.tuning.tile);
        LlvmValue part = LoadFrom(inside, At(loop.body, element, array, lane.local), type, true);
        LlvmValue sum = loop.body.Let(type, lanes_, fmt::format("load {}, ptr {}", wide, slot));
        sum = Combine(loop.body, v, sum, part);
        loop.body.Do(fmt::format("store {} {}, ptr {}", wide, sum.name, slot));
        loop.Close();
        total = scope.Let(type, lanes_, fmt::format("load {}, ptr {}", wide, slot));
      }
      LlvmValue result = Finish(scope, v, total);
      scope.known[v] = result;
      StoreTo(lane, At(scope, LlvmMemoryType(result.type, 1), ColumnArray(*task_, v), lane.local),
              result, result.type, true);
    }
    for (size_t i = 0; i < nest_.values.size(); ++i) {
      int v = static_cast<int>(i);
      if (!IsHoisted(v) || nest_.values[i].stage != stage) continue;
      LlvmValue result = Value(v, lane);
      StoreTo(lane,
              At(*lane.scope, LlvmMemoryType(result.type, 1), ColumnArray(*task_, v), lane.local),
              result, result.type, true);
    }
  });
  finishing_ = false;
}

void NestWriter::WriteKeptColumns(LlvmScope& task) {
  Ints strides(nest_.sizes.size(), 0);
  int64_t stride = nest_.inner();
  std::vector<int> outer = nest_.Outer(false);
  for (size_t i = outer.size(); i-- > 0; stride *= nest_.sizes[outer[i]])
    strides[outer[i]] = stride;
  VectorLoop(task, begin_, end_, [&](Lane& lane) {
    for (size_t o = 0; o < nest_.outputs.size(); ++o) {
      if (!nest_.outputs[o].kept) continue;
      int v = nest_.outputs[o].value;
      DType dtype = nest_.values[v].node.dtype;
      std::string element = LlvmMemoryType(dtype, 1);
      LlvmScope& scope = *lane.scope;
      std::string place = At(scope, element, Pointer("outputs", static_cast<int>(o)),
                             OffsetIn(scope, "kept", strides, 0));
      StoreTo(lane, At(scope, element, place, lane.index), Value(v, lane), dtype, false);
    }
  });
}

void NestWriter::WriteColumns() {
  bool kept = std::any_of(nest_.outputs.begin(), nest_.outputs.end(),
                          [](const loops::NestOutput& o) { return o.kept; });
  WritePhase(nest_.OuterSize(false) * nest_.tiles(), [&](LlvmScope& task) {
    BeginColumns(task, kept_);
    for (pass_ = 0; pass_ < nest_.passes(); ++pass_) {
      WriteColumnPass(task, "0", Param("rows", nest_.OuterSize(true)));
      FinishColumns(task, pass_ + 1);
    }
    if (kept) WriteKeptColumns(task);
  });
}

void NestWriter::WriteColumnChunks() {
  bool kept = std::any_of(nest_.outputs.begin(), nest_.outputs.end(),
                          [](const loops::NestOutput& o) { return o.kept; });
  int64_t tiles = nest_.OuterSize(false) * nest_.tiles();
  for (pass_ = 0; pass_ < nest_.passes(); ++pass_) {
    WritePhase(tiles * nest_.chunks, [&](LlvmScope& task) {
      std::string chunks = Param("chunks", nest_.chunks);
      std::string rows = Param("rows", nest_.OuterSize(true)), flat = kept_;
      chunk_ = task.Let(fmt::format("urem i64 {}, {}", flat, chunks));
      BeginColumns(task, task.Let(fmt::format("udiv i64 {}, {}", flat, chunks)));
      for (int stage = 1; stage <= pass_; ++stage) FinishColumns(task, stage);
      auto cut = [&](const std::string& c) {
        std::string r = task.Let(fmt::format("mul nsw i64 {}, {}", rows, c));
        return task.Let(fmt::format("udiv i64 {}, {}", r, chunks));
      };
      std::string next = task.Let(fmt::format("add nsw i64 {}, 1", chunk_));
      WriteColumnPass(task, cut(chunk_), cut(next));
    });
  }
  if (!kept) return;
  WritePhase(tiles, [&](LlvmScope& task) {
    BeginColumns(task, kept_);
    for (int stage = 1; stage <= nest_.stages; ++stage) FinishColumns(task, stage);
    WriteKeptColumns(task);
  });
}

}  // namespace ms::cpu
