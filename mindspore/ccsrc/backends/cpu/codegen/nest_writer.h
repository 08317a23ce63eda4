// The writer of one nest's LLVM text: what all schedules share. Only for nest_*.cc.
#pragma once

#include <algorithm>
#include <functional>
#include <map>

#include "backends/cpu/codegen/nest_text.h"

namespace ms::cpu {

// Where in the innermost loop code is being written.
struct Lane {
  LlvmScope* scope;
  std::string index;  // of the first lane along the innermost axis (rows: absolute)
  std::string local;  // the same, from the beginning of the piece or tile
  std::string mask;   // of a remainder; empty: all lanes
};

class NestWriter;

// What the lanes of an innermost loop have added up.
class LaneTotal {
 public:
  LaneTotal(NestWriter& writer, LlvmScope& scope, int v);
  void Take(LlvmScope& scope, const LlvmValue& x);
  LlvmValue Fold(LlvmScope& scope) const;

 private:
  NestWriter& writer_;
  int v_;
  DType type_;
  int lanes_;
  bool apart_;  // of extremes, nans are noted apart: one comparison less to wait for
  std::string total_, nans_;
};

class NestWriter {
 public:
  NestWriter(const ScheduledNest& nest, const LlvmTarget& target, const VectorTable& table,
             NestText* result);
  std::string Run();

 private:
  friend class LaneTotal;
  using Body = std::function<void(Lane&)>;

  // ---- nest_text.cc: functions, parameters, loops, values
  void WritePhase(int64_t tasks, const std::function<void(LlvmScope&)>& write);
  std::string Param(const std::string& name, int64_t value);
  std::string SizeOf(int axis) { return Param(fmt::format("size{}", axis), nest_.sizes[axis]); }
  // Splits a flat index into those of `axes`, the last one fastest.
  void Decode(LlvmScope& scope, std::string flat, const std::vector<int>& axes);
  std::string OffsetIn(LlvmScope& scope, const std::string& name, const Ints& strides,
                       int64_t offset);
  std::string Pointer(const std::string& array, int index);
  std::string At(LlvmScope& scope, const std::string& type, const std::string& pointer,
                 const std::string& index) {
    return scope.Let(fmt::format("getelementptr {}, ptr {}, i64 {}", type, pointer, index));
  }
  void VectorLoop(LlvmScope& outer, const std::string& begin, const std::string& end,
                  const Body& body);
  void MaskedLoop(LlvmScope& outer, const std::string& begin, const std::string& first,
                  const std::string& count, const Body& body);
  std::string PlusBegin(LlvmScope& scope, const std::string& begin, const std::string& local);
  std::string MaskOf(LlvmScope& scope, const std::string& count);

  LlvmValue Value(int v, Lane& lane);
  LlvmValue Compute(int v, LlvmScope& scope, const std::function<LlvmValue(int)>& operand);
  LlvmValue Flat(int v);  // a scalar, in the outermost scope that knows it
  LlvmValue Load(int v, Lane& lane);
  void PrefetchAfter(LlvmScope& scope, const std::string& pointer);
  LlvmValue LoadFrom(Lane& lane, const std::string& pointer, DType type, bool padded);
  void StoreTo(Lane& lane, const std::string& pointer, const LlvmValue& value, DType type,
               bool padded);
  void StoreOutputs(Lane& lane);
  std::string ScratchPointer(LlvmScope& scope, int64_t bytes_at);

  // ---- nest_reduce.cc: totals
  DType LaneType(int v) const { return RegisterType(nest_.values[v].node.dtype); }
  DType TotalType(int v) const;
  LlvmValue Identity(int v, DType type, int lanes) const;
  LlvmValue Combine(LlvmScope& scope, int v, const LlvmValue& total, const LlvmValue& x);
  LlvmValue Fold(LlvmScope& scope, int v, LlvmValue lanes);
  LlvmValue Widen(LlvmScope& scope, int v, const LlvmValue& x);
  LlvmValue Finish(LlvmScope& scope, int v, const LlvmValue& total);
  LlvmValue Operand(int v, Lane& lane);  // what a reduction takes in: remainders masked
  std::vector<int> ReductionsOf(int stage) const;

  // ---- nest_rows.cc
  void WriteElementwise();
  void WriteRows();
  void WriteRowChunks();
  void WriteRowPass(LlvmScope& task, const std::string& begin, const std::string& end);
  void WriteRowPiece(LlvmScope& piece, const std::string& begin, const std::string& end);
  void WriteKeptOutputs(LlvmScope& task);
  void ReadRowPartials(LlvmScope& task, int stage);

  // ---- nest_columns.cc
  void WriteColumns();
  void WriteColumnChunks();
  void BeginColumns(LlvmScope& task, std::string flat);
  void WriteColumnPass(LlvmScope& task, const std::string& begin, const std::string& end);
  void WriteRowBlocks(LlvmScope& task, const std::string& begin, const std::string& end,
                      int64_t block);
  bool KeptAlongRows(int key) const;
  void FinishColumns(LlvmScope& task, int stage);
  void WriteKeptColumns(LlvmScope& task);
  // The arrays of a tile: totals of a reduction (in chunks: those of one chunk), results of one, or
  // what follows from results and is the same for all rows.
  std::string ColumnTotals(LlvmScope& scope, int v, const std::string& chunk);
  std::string ColumnArray(LlvmScope& scope, int v);
  bool IsHoisted(int v) const;

  // The place of a chunk's total, or array of totals, in the workspace.
  std::string PartialAt(LlvmScope& scope, int v, const std::string& chunk, int64_t width);
  int SlotOf(int v) const;  // among the reductions

  const ScheduledNest& nest_;
  NestText& result_;
  LlvmModule module_;
  int lanes_ = 1;
  std::string functions_text_;

  // Of the function being written.
  LlvmScope* entry_ = nullptr;                 // in front of all tasks
  LlvmScope* task_ = nullptr;                  // one task
  LlvmScope* piece_ = nullptr;                 // one row of the innermost axis, or a piece of it
  std::vector<std::string> at_;                // index on each axis but the innermost
  std::map<std::string, std::string> params_;  // name -> SSA name in the entry
  std::map<std::string, std::string> pointers_;
  std::map<std::string, size_t> param_index_;
  std::map<int, std::string> totals_;  // memory of the totals of a pass
  std::string kept_;         // flat index of the task on the kept axes (columns: the outer ones)
  std::string chunk_;        // of the task
  std::string tile_;         // columns: flat index of the tile on the outer kept axes and tiles
  std::string begin_, end_;  // columns: those of the tile
  std::string span_at_;      // rows: where the piece begins in the row's buffers
  int pass_ = 0;
  std::map<int, int> first_pass_;  // of buffered values: the pass that writes them
  bool finishing_ = false;         // columns: results are being made, not read
};

}  // namespace ms::cpu
