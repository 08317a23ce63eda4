// The schedules whose innermost loop reads along what is reduced, or where nothing is.
#include "backends/cpu/codegen/nest_writer.h"

namespace ms::cpu {

void NestWriter::WriteElementwise() {
  int64_t blocks = (nest_.inner() + nest_.tuning.block - 1) / nest_.tuning.block;
  std::vector<int> outer = nest_.Outer(false);
  WritePhase(nest_.OuterSize(false) * blocks, [&](LlvmScope& task) {
    std::string block = kept_, size = SizeOf(static_cast<int>(nest_.sizes.size()) - 1);
    if (!outer.empty() && blocks == 1) {
      Decode(task, kept_, outer);
      block = "0";
    } else if (!outer.empty()) {
      std::string count = Param("blocks", blocks);
      block = task.Let(fmt::format("urem i64 {}, {}", kept_, count));
      Decode(task, task.Let(fmt::format("udiv i64 {}, {}", kept_, count)), outer);
    }
    std::string begin = "0", end = size;
    if (block != "0") {
      begin = task.Let(fmt::format("mul nsw i64 {}, {}", block, nest_.tuning.block));
      end = task.Let(fmt::format("add nsw i64 {}, {}", begin, nest_.tuning.block));
      std::string past = task.Let(fmt::format("icmp sgt i64 {}, {}", end, size));
      end = task.Let(fmt::format("select i1 {}, i64 {}, i64 {}", past, size, end));
    }
    VectorLoop(task, begin, end, [&](Lane& lane) { StoreOutputs(lane); });
  });
}

// One pass over pieces [begin, end) of the task's row: totals of the next stage, or outputs.
void NestWriter::WriteRowPass(LlvmScope& task, const std::string& begin, const std::string& end) {
  for (int v : ReductionsOf(pass_ + 1)) {
    DType type = TotalType(v);
    std::string total = task.Reserve(LlvmType(type, 1));
    totals_[v] = total;
    task.Do(
        fmt::format("store {} {}, ptr {}", LlvmType(type, 1), Identity(v, type, 1).name, total));
  }
  std::string size = SizeOf(static_cast<int>(nest_.sizes.size()) - 1);
  std::vector<int> outer = nest_.Outer(true);
  if (nest_.pieces() == 1) {
    for (int d : outer) at_[d] = "0";
    span_at_ = "0";
    WriteRowPiece(task, "0", size);
  } else {
    LlvmLoop loop(task, begin, end, "1");
    LlvmScope& piece = loop.body;
    piece_ = &piece;
    std::string first = "0", last = size, row = loop.index;
    span_at_ =
        piece.Let(fmt::format("mul nsw i64 {}, {}", loop.index, Param("span", nest_.piece_span())));
    if (nest_.row_pieces() > 1) {
      std::string number = loop.index;
      if (!outer.empty()) {
        std::string count = Param("row_pieces", nest_.row_pieces());
        number = piece.Let(fmt::format("urem i64 {}, {}", loop.index, count));
        row = piece.Let(fmt::format("udiv i64 {}, {}", loop.index, count));
      }
      first = piece.Let(fmt::format("mul nsw i64 {}, {}", number, nest_.piece));
      last = piece.Let(fmt::format("add nsw i64 {}, {}", first, nest_.piece));
      std::string past = piece.Let(fmt::format("icmp sgt i64 {}, {}", last, size));
      last = piece.Let(fmt::format("select i1 {}, i64 {}, i64 {}", past, size, last));
    }
    Decode(piece, row, outer);
    WriteRowPiece(piece, first, last);
    loop.Close();
    piece_ = task_;
  }
}

void NestWriter::WriteRowPiece(LlvmScope& piece, const std::string& begin, const std::string& end) {
  std::vector<int> reductions = ReductionsOf(pass_ + 1);
  std::map<int, LaneTotal> sums;
  for (int v : reductions) sums.emplace(v, LaneTotal(*this, piece, v));
  VectorLoop(piece, begin, end, [&](Lane& lane) {
    for (int v : reductions) sums.at(v).Take(*lane.scope, Operand(v, lane));
    if (pass_ + 1 == nest_.passes()) StoreOutputs(lane);
  });
  for (int v : reductions) {
    LlvmValue sum = Widen(piece, v, sums.at(v).Fold(piece));
    std::string wide = LlvmType(sum.type, 1);
    LlvmValue total = piece.Let(sum.type, 1, fmt::format("load {}, ptr {}", wide, totals_[v]));
    total = Combine(piece, v, total, sum);
    piece.Do(fmt::format("store {} {}, ptr {}", wide, total.name, totals_[v]));
  }
}

void NestWriter::WriteKeptOutputs(LlvmScope& task) {
  for (size_t o = 0; o < nest_.outputs.size(); ++o) {
    if (!nest_.outputs[o].kept) continue;
    int v = nest_.outputs[o].value;
    DType dtype = nest_.values[v].node.dtype;
    std::string type = LlvmMemoryType(dtype, 1);
    std::string stored = ToMemory(task, Flat(v), dtype);
    std::string place = At(task, type, Pointer("outputs", static_cast<int>(o)), kept_);
    task.Do(fmt::format("store {} {}, ptr {}", type, stored, place));
  }
}

void NestWriter::WriteRows() {
  WritePhase(nest_.kept_size(), [&](LlvmScope& task) {
    Decode(task, kept_, nest_.Outer(false));
    for (pass_ = 0; pass_ < nest_.passes(); ++pass_) {
      WriteRowPass(task, "0", Param("pieces", nest_.pieces()));
      for (int v : ReductionsOf(pass_ + 1)) {
        DType type = TotalType(v);
        LlvmValue total =
            task.Let(type, 1, fmt::format("load {}, ptr {}", LlvmType(type, 1), totals_[v]));
        task.known[v] = Finish(task, v, total);
      }
    }
    WriteKeptOutputs(task);
  });
}

// Combines what the chunks left of all stages up to `stage`.
void NestWriter::ReadRowPartials(LlvmScope& task, int stage) {
  for (int s = 1; s <= stage; ++s) {
    for (int v : ReductionsOf(s)) {
      DType type = TotalType(v);
      std::string text = LlvmType(type, 1), slot = task.Reserve(text);
      task.Do(fmt::format("store {} {}, ptr {}", text, Identity(v, type, 1).name, slot));
      LlvmLoop loop(task, "0", Param("chunks", nest_.chunks), "1");
      std::string place = PartialAt(loop.body, v, loop.index, 1);
      LlvmValue part = loop.body.Let(type, 1, fmt::format("load {}, ptr {}", text, place));
      LlvmValue total = loop.body.Let(type, 1, fmt::format("load {}, ptr {}", text, slot));
      total = Combine(loop.body, v, total, part);
      loop.body.Do(fmt::format("store {} {}, ptr {}", text, total.name, slot));
      loop.Close();
      LlvmValue sum = task.Let(type, 1, fmt::format("load {}, ptr {}", text, slot));
      task.known[v] = Finish(task, v, sum);
    }
  }
}

void NestWriter::WriteRowChunks() {
  for (pass_ = 0; pass_ < nest_.passes(); ++pass_) {
    WritePhase(nest_.kept_size() * nest_.chunks, [&](LlvmScope& task) {
      std::string chunks = Param("chunks", nest_.chunks), pieces = Param("pieces", nest_.pieces());
      std::string flat = kept_;
      kept_ = task.Let(fmt::format("udiv i64 {}, {}", flat, chunks));
      std::string chunk = task.Let(fmt::format("urem i64 {}, {}", flat, chunks));
      Decode(task, kept_, nest_.Outer(false));
      ReadRowPartials(task, pass_);
      auto cut = [&](const std::string& c) {
        std::string p = task.Let(fmt::format("mul nsw i64 {}, {}", pieces, c));
        return task.Let(fmt::format("udiv i64 {}, {}", p, chunks));
      };
      std::string next = task.Let(fmt::format("add nsw i64 {}, 1", chunk));
      WriteRowPass(task, cut(chunk), cut(next));
      for (int v : ReductionsOf(pass_ + 1)) {
        std::string text = LlvmType(TotalType(v), 1);
        std::string total = task.Let(fmt::format("load {}, ptr {}", text, totals_[v]));
        task.Do(fmt::format("store {} {}, ptr {}", text, total, PartialAt(task, v, chunk, 1)));
      }
    });
  }
  bool kept = std::any_of(nest_.outputs.begin(), nest_.outputs.end(),
                          [](const loops::NestOutput& o) { return o.kept; });
  if (!kept) return;
  WritePhase(nest_.kept_size(), [&](LlvmScope& task) {
    Decode(task, kept_, nest_.Outer(false));
    ReadRowPartials(task, nest_.stages);
    WriteKeptOutputs(task);
  });
}

}  // namespace ms::cpu
