// What a compiled graph is at run time: launches whose arguments are places in one table of
// pointers, and the control instructions between them. A plan is immutable and shared by threads;
// what a call changes lies in its Frame.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "kernel/kernel.h"
#include "runtime/value.h"

namespace ms {

class Machine;

struct Range {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t size() const { return end - begin; }
};

// Inputs lie at pointers[in...], outputs at pointers[out...], the workspace at that offset in the
// arena.
struct PlannedLaunch {
  const Kernel* kernel;
  uint32_t in;
  uint32_t out;
  size_t workspace;
};

// The cold half of a launch: for errors and profiles.
struct LaunchInfo {
  LaunchPlace place;
  uint32_t outputs;
  uint32_t types = 0;  // where those of its inputs and outputs begin in Plan::types
};

// Where a control instruction gets a value: a cell of the frame (left empty by kMove, at its last
// use), a constant, or what the caller of the main graph brought.
struct Operand {
  enum class Kind : uint8_t { kCopy, kMove, kConstant, kInput };
  Kind kind = Kind::kCopy;
  uint32_t index = 0;
};

// A cell's memory, taken when the segment that fills it begins.
struct Allocation {
  uint32_t cell;
  size_t bytes;
  int32_t reuse =
      -1;  // a cell whose memory is taken over if nobody else holds it; it is not read afterwards
  int32_t update = -1;  // main graph: likewise the input that the caller lets us overwrite
  SpanId line = 0;      // that makes what is in it
};

// One function that a Call may run: a known plan (operands: captures, then arguments) or a closure
// (arguments only).
struct CallLeaf {
  const Plan* plan = nullptr;
  Operand closure;
  Range operands;
};

// Without a condition, the first leaf; else the first where pointers[condition] is true.
struct CallTarget {
  static constexpr uint32_t kNone = ~0u;
  uint32_t condition = kNone;
  CallLeaf leaves[2];
};

enum class OpCode : uint8_t {
  kRun,
  kPartial,
  kSwitch,
  kCall,
  kBoxMake,
  kBoxGet,
  kBoxAdd,
  kBoxZero,
  kReturn
};

inline constexpr uint32_t kNoCell = ~0u;

struct Instruction {
  OpCode op;
  bool tail = false;           // kCall: the frame is not needed afterwards
  bool poll = false;           // kRun: ask first whether the user wants to interrupt
  uint32_t condition = 0;      // kSwitch
  uint32_t target = 0;         // kCall
  const Plan* plan = nullptr;  // kPartial
  Range operands;
  Range results;  // cells, or kNoCell
  Range types;    // kBoxMake: of the operands; kBoxGet: of the results
  Range launches;
  Range allocations;
  Range drops;  // cells not needed any more
  SpanId span = 0;
};

struct Plan {
  std::string name;
  const Program* program = nullptr;
  uint32_t index = 0;  // in its program
  bool main = false;
  bool random = false;  // some launch draws random numbers
  Types input_types;
  Types output_types;

  std::vector<Instruction> code;
  std::vector<PlannedLaunch> launches;
  std::vector<LaunchInfo> infos;
  std::vector<Operand> operands;
  std::vector<uint32_t> cell_lists;  // results and drops
  std::vector<Type> types;
  std::vector<CallTarget> targets;
  std::vector<Allocation> allocations;
  std::vector<uint32_t> watched_inputs;                // main: those of Allocation::update
  std::vector<Tensor> constants;                       // in the device's memory
  std::vector<std::shared_ptr<const Kernel>> kernels;  // keeps them alive

  // The table of pointers of a fresh frame, and which of its places show each cell (cell i:
  // patches[patch_begin[i]...]).
  uint32_t pointer_count = 0;
  std::vector<std::pair<uint32_t, size_t>> arena_pointers;
  std::vector<std::pair<uint32_t, uint32_t>> constant_pointers;
  uint32_t cell_count = 0;  // the first are the inputs
  std::vector<uint32_t> patch_begin;
  std::vector<uint32_t> patches;
  size_t arena_bytes = 0;
  // A small arena on the host lies in front of each frame: its size there. Another one is taken for
  // each run, where the plan has any.
  size_t arena_in_frame = 0;
  bool arena_apart = false;
  // What waits outside of the device's memory.
  std::vector<std::pair<uint32_t, size_t>> spill_pointers;
  size_t spill_bytes = 0;
};

// Memory of one run, known before it: in bytes.
struct MemoryReport {
  size_t parameters = 0;    // inputs of the main graph and constants
  size_t feature_maps = 0;  // values in the arena at the peak
  size_t workspace = 0;     // the largest of a kernel
  size_t outputs = 0;       // new memory that a run returns
  size_t arena = 0;         // what is taken for feature maps and workspace, gaps included
  size_t spilled = 0;       // moved out and in again by each run, to stay within a limit
  std::vector<std::pair<SpanId, size_t>> peak;  // by source line at the peak, largest first
};

// The plans of a module, and frames to run them with.
class Program : public std::enable_shared_from_this<Program> {
 public:
  Program(const Backend& backend, std::string name);
  ~Program();

  const Backend& backend() const { return backend_; }
  const Plan& main() const { return *plans_.front(); }
  const std::vector<std::unique_ptr<Plan>>& plans() const { return plans_; }
  const MemoryReport& memory() const { return memory_; }
  bool random() const { return random_; }  // a run may draw random numbers

  // Per-call state: one machine per running thread, kept for the next call.
  std::unique_ptr<Machine> TakeMachine() const;
  void GiveMachine(std::unique_ptr<Machine> machine) const;

 private:
  friend class ProgramBuilder;
  const Backend& backend_;
  std::string name_;
  std::vector<std::unique_ptr<Plan>> plans_;  // the main one is first
  MemoryReport memory_;
  bool random_ = false;
  mutable Mutex mutex_;
  mutable std::vector<std::unique_ptr<Machine>> idle_;
};

// Plans the module's graphs for the backend; every op must have a kernel there. The module is not
// needed afterwards. A run of the main graph takes at most `limit` bytes of the device's memory,
// its inputs and results included: what does not fit is spilled. Other graphs of the module, which
// it calls, are not counted. 0: no limit.
std::shared_ptr<const Program> BuildProgram(const Module& module, const Backend& backend,
                                            size_t limit = 0);

// Text of a program's plans: launches, offsets, instructions. For dumps and for replay tests.
std::string Print(const Program& program);

}  // namespace ms
