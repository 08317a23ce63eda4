// Elementwise bodies as short lists of vector loops over tiles that stay in the first-level cache:
// no code is generated. One op is a body of few nodes, a fused group one of many, with several
// outputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/codegen/broadcast_walk.h"
#include "backends/cpu/isa/vector_table.h"
#include "ir/type.h"
#include "loops/graph_body.h"

namespace ms::cpu {

// Immutable once compiled; any number of threads may run it, on ranges of their own.
class TileProgram {
 public:
  // `accesses`: where each input's elements are along the axes of `sizes`; all outputs are dense.
  std::string Compile(const loops::LoopBody& body, std::vector<loops::Access> accesses, Ints sizes,
                      const VectorTable& table);
  // `inputs` broadcast to `shape`, which all outputs have; their dtypes are those of the kInput
  // nodes. Returns why the body cannot be run with this table; empty when it can.
  std::string Compile(const loops::LoopBody& body, const Types& inputs, const Shape& shape,
                      const VectorTable& table);

  // Elements [begin, end) of all outputs.
  void Run(const void* const* in, void* const* out, int64_t begin, int64_t end) const;

  int64_t size() const { return size_; }
  double ns_per_element() const { return ns_per_element_; }
  // One instruction on the inputs as they lie: nothing passes through scratch memory.
  bool direct() const { return steps_.size() <= 1 && expansions_.empty(); }
  // Whether the memory of output `o` may be that of input `i`, which has the same shape and element
  // size.
  bool MayOverwrite(int o, int i) const;

 private:
  friend class TileCompiler;

  enum class Place : uint8_t { kInput, kOutput, kRegister };
  struct Slot {
    Place place;
    int index;     // of the input or output; of the register in scratch memory
    int64_t step;  // bytes from one element of the loop to the next tile's; 0 for registers
  };
  struct Instruction {
    VectorFn fn;
    int out;  // slots
    int args[3];
  };
  // What happens once per Run: constants and one-element inputs fill a register.
  struct Fill {
    int slot;
    int input;  // -1: `value`
    FillFn fill;
    alignas(16) char value[16];
  };
  // What happens first in every tile: a smaller input is repeated into a register.
  struct Expansion {
    int slot;
    int input;
    size_t item;
    FillFn fill;
    BroadcastWalk walk;
  };

  std::vector<Slot> slots_;
  std::vector<Fill> fills_;
  std::vector<Instruction> once_;  // on values that are the same for all elements
  std::vector<Expansion> expansions_;
  std::vector<Instruction> steps_;
  int64_t size_ = 0;
  int64_t tile_ = 0;
  size_t register_bytes_ = 0;
  double ns_per_element_ = 0;
};

}  // namespace ms::cpu
