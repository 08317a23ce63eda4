// From a LoopBody to a TileProgram: instruction selection, then registers by linear scan.
#pragma once

#include <string>
#include <vector>

#include "backends/cpu/codegen/tile_program.h"

namespace ms::cpu {

inline constexpr size_t kScratchBytes = 48 * 1024;  // all registers of one thread
inline constexpr int kMaxSlots = 256;
inline constexpr int64_t kMaxTile = 2048;
inline constexpr int64_t kMinTile = 64;

class TileCompiler {
 public:
  TileCompiler(const loops::LoopBody& body, std::vector<loops::Access> accesses, Ints sizes,
               const VectorTable& table, TileProgram* program)
      : body_(body),
        accesses_(std::move(accesses)),
        sizes_(std::move(sizes)),
        table_(table),
        program_(*program) {}

  std::string Compile();

 private:
  using Place = TileProgram::Place;
  using Instruction = TileProgram::Instruction;

  // Where a node's value is. Several nodes may share one.
  struct Value {
    Place place = Place::kRegister;
    int index = 0;
    DType dtype = DType::kFloat32;  // as stored there: never a half type in a register used by ops
    bool uniform = false;
    int last_use = -1;  // step
  };

  bool SelectNode(int n);
  bool SelectInput(int n);
  bool SelectCast(int n);
  bool SelectOp(int n);
  bool StoreOutput(int o);
  int Constant(const ScalarNode& node);
  int NewValue(Place place, int index, DType dtype, bool uniform);
  int NewRegister(DType dtype, bool uniform) {
    return NewValue(Place::kRegister, -1, dtype, uniform);
  }
  bool EmitCast(int from, int to);
  bool Emit(VectorFn fn, int out, const std::vector<int>& args, double cost);
  bool Refuse(std::string why);
  void AssignRegisters();
  bool AssignSlots();
  bool OnlyStored(int n) const;

  const loops::LoopBody& body_;
  std::vector<loops::Access> accesses_;
  Ints sizes_;
  const VectorTable& table_;
  TileProgram& program_;
  std::vector<Value> values_;
  std::vector<int> value_of_;  // node -> value
  std::vector<int> uses_;      // node -> number of nodes that read it
  int registers_ = 0;
  std::string refusal_;
};

}  // namespace ms::cpu
