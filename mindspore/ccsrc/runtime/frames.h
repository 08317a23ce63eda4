// The machine that runs plans: a stack of frames on the heap, so that calls nest as deep as memory
// allows and a loop of tail calls stays in one frame. A machine serves one thread at a time;
// nothing else of a program changes.
#pragma once

#include <span>
#include <vector>

#include "runtime/plan.h"

namespace ms {

// One activation of a plan.
struct Frame {
  const Plan* plan = nullptr;
  const Instruction* pc = nullptr;
  void** pointers = nullptr;
  Cell* cells = nullptr;
  char* arena = nullptr;
  BufferRef large_arena;  // taken for each run from the shared ones
  BufferRef spill;        // likewise, of the memory that takes what does not fit
};

class Machine {
 public:
  explicit Machine(const Program& program);
  ~Machine();
  Machine(const Machine&) = delete;

  // `inputs` in the order of the main graph's inputs. Where a Parameter's new value was written
  // over the old, the output shares the input's buffer.
  void RunMain(std::span<const Tensor> inputs, std::vector<RtValue>* outputs, RandomState* random);
  // A function of another program may come with the arguments or captures, which keep that alive.
  void RunClosure(const Closure& closure, std::span<const RtValue> arguments,
                  std::vector<RtValue>* outputs, RandomState* random);

 private:
  void Execute();
  void Collect(const Plan& plan, std::vector<RtValue>* outputs);
  void Unwind();

  void RunSegment(Frame& frame, const Instruction& code);
  void RunLaunch(const Frame& frame, uint32_t index);
  void RunProfiled(const Frame& frame, uint32_t index);
  void Allocate(Frame& frame, const Allocation& allocation);
  void LookAtClock();
  Frame* Call(Frame& frame, const Instruction& code);
  Frame* Return(Frame& frame, const Instruction& code);
  void RunFunctionOp(Frame& frame, const Instruction& code);

  bool Condition(const Frame& frame, uint32_t pointer) const;
  Cell Take(Frame& frame, Operand operand) const;
  void TakeAll(Frame& frame, Range operands);
  void Put(Frame& frame, uint32_t cell, Cell value) const;
  static void Patch(Frame& frame, uint32_t cell, void* data);
  static void Drop(Frame& frame, Range drops);
  void Enter(Frame& frame);

  // Frames of one plan that are not in use. Those of a program's own plans lie side by side in
  // blocks: a deep recursion makes many, and gives them back at its end.
  struct FramePool {
    std::vector<Frame*> free;
    std::vector<char*> blocks;
    size_t frames = 0;  // in all blocks
    char* at = nullptr;
    char* end = nullptr;
  };

  Frame* NewFrame(const Plan& plan, SpanId span = 0);
  void FreeFrame(Frame* frame);
  char* TakeBlock(FramePool& pool, size_t bytes);
  static Frame* MakeFrame(const Plan& plan, char* block);
  static size_t FrameBytes(const Plan& plan);
  static void DestroyFrame(Frame* frame);
  void Trim();
  static void Clear(FramePool& pool);
  static void SetArena(Frame& frame, char* arena);
  static void TakeArenas(Frame& frame);

  const Program& program_;
  Memory& memory_;
  Stream& stream_;
  std::vector<Frame*> stack_;
  std::vector<Cell> arguments_;  // on their way into or out of a frame
  std::vector<FramePool> pools_;
  bool deep_ = false;  // some pool holds more frames than are kept between runs
  std::span<const Tensor> inputs_;
  std::vector<int> holders_;  // of watched inputs when the run began
  RandomState* random_ = nullptr;
  uint32_t calls_per_look_ = 1, calls_to_look_ = 1;
  int64_t looked_ = 0, polled_ = 0;
};

// Asked now and then during a run; throws to stop it (a signal has come, say).
void SetInterruptPoll(void (*poll)());
void PollInterrupt();

// Contents of boxes.
std::vector<Cell> OpenBox(const Cell& box, std::span<const Type> types, Memory& memory);
Cell AddBoxes(const Cell& a, const Cell& b, const Backend& backend);

}  // namespace ms
