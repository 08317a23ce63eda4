// The machine that runs plans: a stack of frames on the heap, so that calls nest as deep as memory
// allows and a loop of tail calls stays in one frame. A machine serves one thread at a time;
// nothing else of a program changes.
#pragma once

#include <span>
#include <vector>

#include "kernel/ledger.h"
#include "runtime/frame.h"
#include "runtime/recordings.h"

namespace ms {

class Machine {
 public:
  explicit Machine(const Program& program);
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

  Frame* NewFrame(const Plan& plan, SpanId span = 0);
  void FreeFrame(Frame* frame);
  void Trim();

  const Program& program_;
  Memory& memory_;
  Stream& stream_;
  Ledger* const ledger_;  // of the memory; null: it keeps none
  const LedgerRun* run_ = nullptr;
  std::vector<Frame*> stack_;
  std::vector<Cell> arguments_;  // on their way into or out of a frame
  std::vector<FramePool> pools_;
  std::unique_ptr<Recordings> recordings_;  // null: the device makes none
  bool deep_ = false;  // some pool holds more frames than are kept between runs
  std::span<const Tensor> inputs_;
  std::vector<int> holders_;  // of watched inputs when the run began
  RandomState* random_ = nullptr;
  uint32_t calls_per_look_ = 1, calls_to_look_ = 1;
  int64_t looked_ = 0, polled_ = 0;
};

// A machine of a program for the time of one call; it survives errors.
class MachineLease {
 public:
  explicit MachineLease(const Program& program)
      : program_(program), machine_(program.TakeMachine()) {}
  ~MachineLease() { program_.GiveMachine(std::move(machine_)); }
  MachineLease(const MachineLease&) = delete;
  Machine* operator->() const { return machine_.get(); }

 private:
  const Program& program_;
  std::unique_ptr<Machine> machine_;
};

// Asked now and then during a run; throws to stop it (a signal has come, say).
void SetInterruptPoll(void (*poll)());
void PollInterrupt();

// Contents of boxes.
std::vector<Cell> OpenBox(const Cell& box, std::span<const Type> types, Memory& memory);
Cell AddBoxes(const Cell& a, const Cell& b, const Backend& backend, const LedgerRun& run);

}  // namespace ms
