#include "runtime/machine.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <utility>

#include "base/clock.h"
#include "ir/users_span.h"
#include "kernel/joint_sums.h"
#include "kernel/launch.h"
#include "kernel/threads.h"
#include "runtime/profile.h"
#include "tensor/memory_limit.h"

namespace ms {
namespace {

constexpr size_t kDeepest = 1000000;
constexpr uint32_t kCallsPerLook = 64;  // at the clock, at most
constexpr int64_t kPollNs = 50'000'000;

std::atomic<void (*)()> interrupt_poll{nullptr};

// The operands of a launch: "x: Float32[2, 3], indices: Int64[4]".
std::string OperandsText(const Plan& plan, size_t index) {
  const LaunchInfo& info = plan.infos[index];
  const std::vector<InputDef>& inputs = info.place.op->inputs;
  std::string text;
  for (size_t i = 0; i < plan.launches[index].out - plan.launches[index].in; ++i) {
    if (i > 0) text += ", ";
    if (!inputs.empty()) text += inputs[std::min(i, inputs.size() - 1)].name + ": ";
    text += plan.types[info.types + i].ToString();
  }
  return text;
}

// An error of the user's names the operands, on a line of its own.
[[noreturn]] void RethrowWithOperands(const Plan& plan, size_t index) {
  try {
    throw;
  } catch (const Error& error) {
    std::string text = error.message(), operands = OperandsText(plan, index);
    if (!operands.empty()) text += "\n  " + operands;
    throw Error(error.kind(), std::move(text)).WithSpan(error.span());
  }
}

// There is too little memory for a frame: which lines of the program it is for.
Error WithPeak(const Error& error, const Plan& plan) {
  if (error.kind() != ErrorKind::kMemory || !plan.main) return error;
  constexpr size_t kMost = 5;
  std::map<std::string, size_t> by_line;
  for (auto [span, bytes] : plan.program->memory().peak) {
    if (span) by_line[ShortSpan(UsersSpan(span))] += bytes;
  }
  std::vector<std::pair<size_t, std::string>> largest;
  for (const auto& [line, bytes] : by_line) {
    if (20 * bytes >= 1 << 20) largest.emplace_back(bytes, line);  // 0.1 MB, as it is printed
  }
  std::sort(largest.rbegin(), largest.rend());
  std::string text = error.message();
  for (size_t i = 0; i < std::min(largest.size(), kMost); ++i) {
    text += fmt::format("{} {} at {}", i ? "," : "\n  At its peak it would hold",
                        Megabytes(largest[i].first), largest[i].second);
  }
  return Error(error.kind(), std::move(text)).WithSpan(error.span());
}

// Graphs of gradients (grad/closure.cc) keep each round of a loop and each call of a recursion.
Error TooDeep(const Plan& plan) {
  bool gradient = plan.name.starts_with("▶") || plan.name.starts_with("◀");
  return Error(
      ErrorKind::kRuntime,
      gradient
          ? fmt::format("For 'grad', a compiled loop or recursion must make at most {} calls that "
                        "its gradient "
                        "keeps (one for each round, and one for each branch in it), but got more.",
                        kDeepest)
          : fmt::format("For 'jit', the calls must nest at most {} deep, but got more: does the "
                        "recursion end?",
                        kDeepest));
}

}  // namespace

void SetInterruptPoll(void (*poll)()) { interrupt_poll.store(poll); }
void PollInterrupt() {
  if (auto* poll = interrupt_poll.load(std::memory_order_relaxed)) poll();
}

Machine::Machine(const Program& program)
    : program_(program),
      memory_(program.backend().memory()),
      stream_(program.backend().stream()),
      ledger_(dynamic_cast<Ledger*>(&memory_)),
      pools_(program.plans().size()),
      recordings_(Recordings::For(program.backend())) {}

// ---- entering and leaving
void Machine::RunMain(std::span<const Tensor> inputs, std::vector<RtValue>* outputs,
                      RandomState* random) {
  const Plan& plan = program_.main();
  SumScope sums;
  LedgerRun run(ledger_);
  run_ = &run;
  if (ledger_ && ledger_->lacks()) {
    for (const Tensor& input : inputs) ledger_->Require(input.raw(), input.bytes());
  }
  inputs_ = inputs;
  random_ = random;
  if (!plan.watched_inputs.empty()) {
    holders_.resize(inputs.size());
    for (uint32_t i : plan.watched_inputs) holders_[i] = inputs[i].buffer()->references();
  }
  try {
    Frame* frame = NewFrame(plan);
    stack_.push_back(frame);
    for (uint32_t i = 0; i < inputs.size(); ++i) Patch(*frame, i, inputs[i].raw());
    Execute();
    Collect(plan, outputs);
  } catch (...) {
    Unwind();
    throw;
  }
}

void Machine::RunClosure(const Closure& closure, std::span<const RtValue> arguments,
                         std::vector<RtValue>* outputs, RandomState* random) {
  SumScope sums;
  LedgerRun run(ledger_);
  run_ = &run;
  random_ = random;
  try {
    arguments_ = closure.captures();
    for (const RtValue& value : arguments) arguments_.push_back(ToCell(value));
    if (ledger_ && ledger_->lacks()) RequireAll(*ledger_, arguments_);
    Frame* frame = NewFrame(closure.plan());
    stack_.push_back(frame);
    Enter(*frame);
    Execute();
    Collect(closure.plan(), outputs);
  } catch (...) {
    Unwind();
    throw;
  }
}

void Machine::Collect(const Plan& plan, std::vector<RtValue>* outputs) {
  outputs->resize(arguments_.size());
  for (size_t i = 0; i < arguments_.size(); ++i) {
    (*outputs)[i] = ToValue(std::move(arguments_[i]), plan.output_types[i]);
  }
  arguments_.clear();
  if (deep_) Trim();
}

void Machine::Unwind() {
  AbandonSums();  // they would write into what is freed now
  for (Frame* frame : stack_) FreeFrame(frame);
  stack_.clear();
  arguments_.clear();
  if (deep_) Trim();
}

// ---- frames
void Machine::Trim() {
  for (FramePool& pool : pools_) {
    if (pool.deep()) pool.Clear();
  }
  deep_ = false;
}

Frame* Machine::NewFrame(const Plan& plan, SpanId span) {
  if (stack_.size() >= kDeepest) throw TooDeep(plan).WithSpan(span);
  bool own = plan.program == &program_;
  Frame* frame = own ? pools_[plan.index].Take(plan) : NewLoneFrame(plan);
  deep_ |= own && pools_[plan.index].deep();
  try {
    TakeArenas(*frame);
  } catch (const Error& error) {
    FreeFrame(frame);
    throw WithPeak(error, plan);
  } catch (...) {
    FreeFrame(frame);
    throw;
  }
  frame->pc = plan.code.data();
  return frame;
}

void Machine::FreeFrame(Frame* frame) {
  const Plan& plan = *frame->plan;
  GiveArenas(*frame);
  if (plan.program == &program_)
    pools_[plan.index].Give(frame);
  else
    DeleteLoneFrame(frame);
}

// ---- values
inline bool Machine::Condition(const Frame& frame, uint32_t pointer) const {
  return memory_.Read<bool>(frame.pointers[pointer]);
}

inline Cell Machine::Take(Frame& frame, Operand operand) const {
  switch (operand.kind) {
    case Operand::Kind::kCopy:
      return frame.cells[operand.index];
    case Operand::Kind::kMove:
      return std::move(frame.cells[operand.index]);
    case Operand::Kind::kConstant:
      return ToCell(frame.plan->constants[operand.index]);
    case Operand::Kind::kInput:
      break;
  }
  return ToCell(inputs_[operand.index]);
}

inline void Machine::TakeAll(Frame& frame, Range operands) {
  const Operand* all = frame.plan->operands.data();
  for (uint32_t i = operands.begin; i < operands.end; ++i)
    arguments_.push_back(Take(frame, all[i]));
}

inline void Machine::Patch(Frame& frame, uint32_t cell, void* data) {
  const Plan& plan = *frame.plan;
  for (uint32_t i = plan.patch_begin[cell]; i < plan.patch_begin[cell + 1]; ++i)
    frame.pointers[plan.patches[i]] = data;
}

inline void Machine::Put(Frame& frame, uint32_t cell, Cell value) const {
  if (cell == kNoCell) return;
  Patch(frame, cell, value.data);
  frame.cells[cell] = std::move(value);
}

inline void Machine::Drop(Frame& frame, Range drops) {
  const uint32_t* cells = frame.plan->cell_lists.data();
  for (uint32_t i = drops.begin; i < drops.end; ++i) {
    Cell& cell = frame.cells[cells[i]];
    if (cell.buffer || cell.object) cell = {};
  }
}

inline void Machine::Enter(Frame& frame) {
  for (uint32_t i = 0; i < arguments_.size(); ++i) Put(frame, i, std::move(arguments_[i]));
  arguments_.clear();
}

// ---- instructions
void Machine::Execute() {
  AdoptThreads();
  WatchProcessors();
  Frame* frame = stack_.back();
  while (frame) {
    const Instruction& code = *frame->pc++;
    switch (code.op) {
      case OpCode::kRun:
        RunSegment(*frame, code);
        break;
      case OpCode::kCall:
        frame = Call(*frame, code);
        break;
      case OpCode::kReturn:
        frame = Return(*frame, code);
        break;
      default:
        RunFunctionOp(*frame, code);
        break;
    }
  }
}

void Machine::RunSegment(Frame& frame, const Instruction& code) {
  const Plan& plan = *frame.plan;
  if (code.poll) PollInterrupt();
  for (uint32_t i = code.allocations.begin; i < code.allocations.end; ++i)
    Allocate(frame, plan.allocations[i]);
  uint32_t at = code.launches.begin;
  try {
    if (ProfileOn()) {
      for (; at != code.launches.end; ++at) RunProfiled(frame, at);
    } else if (recordings_ && plan.program == &program_) {
      recordings_->Run(frame, code, random_, &at);
    } else {
      for (; at != code.launches.end; ++at) RunLaunch(frame, at);
    }
  } catch (const Error& error) {
    if (error.late()) throw;  // of another launch
    RethrowWithOperands(plan, at);
  }
  Drop(frame, code.drops);
}

inline void Machine::RunLaunch(const Frame& frame, uint32_t index) {
  const PlannedLaunch& launch = frame.plan->launches[index];
  Launch(*launch.kernel,
         {frame.pointers + launch.in, frame.pointers + launch.out, frame.arena + launch.workspace,
          random_, &stream_, &frame.plan->infos[index].place});
}

void Machine::RunProfiled(const Frame& frame, uint32_t index) {
  RunRecorded(frame.plan->infos[index].place, stream_, memory_, [&] { RunLaunch(frame, index); });
}

void Machine::Allocate(Frame& frame, const Allocation& allocation) {
  if (allocation.update >= 0) {
    const Tensor& input = inputs_[static_cast<size_t>(allocation.update)];
    if (input.buffer()->references() <= holders_[static_cast<size_t>(allocation.update)]) {
      return Put(frame, allocation.cell, ToCell(input));
    }
  } else if (allocation.reuse >= 0) {
    Cell& old = frame.cells[allocation.reuse];
    if (old.buffer.unique() && !old.buffer->foreign()) {
      run_->Makes(old.buffer->data(), allocation.bytes);
      return Put(frame, allocation.cell, std::move(old));
    }
  }
  Cell fresh{Buffer::Allocate(allocation.bytes, memory_), {}, nullptr};
  fresh.data = fresh.buffer->data();
  run_->Takes(fresh.data, allocation.bytes, allocation.line);
  if (allocation.update >= 0 && !memory_.on_host()) {
    // The old value is there should the kernel be left out.
    const Tensor& input = inputs_[static_cast<size_t>(allocation.update)];
    memory_.Copy(fresh.data, input.raw(), input.bytes());
  } else {
    run_->Makes(fresh.data, allocation.bytes);
  }
  Put(frame, allocation.cell, std::move(fresh));
}

// After each call where they take long; rarely where even the look would count.
void Machine::LookAtClock() {
  int64_t now = CoarseNow();
  calls_per_look_ = now == looked_ ? std::min(2 * calls_per_look_, kCallsPerLook) : 1;
  calls_to_look_ = calls_per_look_;
  looked_ = now;
  if (now - polled_ < kPollNs) return;
  polled_ = now;
  PollInterrupt();
}

Frame* Machine::Call(Frame& frame, const Instruction& code) {
  if (--calls_to_look_ == 0) LookAtClock();
  const CallTarget& target = frame.plan->targets[code.target];
  bool second = target.condition != CallTarget::kNone && !Condition(frame, target.condition);
  const CallLeaf& leaf = target.leaves[second];
  const Plan* callee = leaf.plan;
  if (!callee) {
    Cell function = Take(frame, leaf.closure);
    const auto& closure = static_cast<const Closure&>(*function.object.get());
    callee = &closure.plan();
    for (const Cell& capture : closure.captures()) arguments_.push_back(capture);
  }
  TakeAll(frame, leaf.operands);
  Drop(frame, code.drops);
  Frame* next = &frame;
  if (!code.tail) {
    next = NewFrame(*callee, code.span);
    stack_.push_back(next);
  } else if (callee == frame.plan) {
    frame.pc = callee->code.data();
  } else {
    stack_.pop_back();
    FreeFrame(&frame);
    next = NewFrame(*callee, code.span);
    stack_.push_back(next);
  }
  Enter(*next);
  return next;
}

Frame* Machine::Return(Frame& frame, const Instruction& code) {
  TakeAll(frame, code.operands);
  stack_.pop_back();
  FreeFrame(&frame);
  if (stack_.empty()) return nullptr;
  Frame& caller = *stack_.back();
  const Instruction& call = caller.pc[-1];
  const uint32_t* cells = caller.plan->cell_lists.data() + call.results.begin;
  for (uint32_t i = 0; i < arguments_.size(); ++i) Put(caller, cells[i], std::move(arguments_[i]));
  arguments_.clear();
  return &caller;
}

void Machine::RunFunctionOp(Frame& frame, const Instruction& code) {
  const Plan& plan = *frame.plan;
  const uint32_t* results = plan.cell_lists.data() + code.results.begin;
  const Operand* operands = plan.operands.data() + code.operands.begin;
  std::span<const Type> types(plan.types.data() + code.types.begin, code.types.size());
  Cell result;
  switch (code.op) {
    case OpCode::kPartial:
      TakeAll(frame, code.operands);
      result.object = ObjectRef(new Closure(plan.program->shared_from_this(), code.plan,
                                            {std::make_move_iterator(arguments_.begin()),
                                             std::make_move_iterator(arguments_.end())}));
      break;
    case OpCode::kSwitch: {
      bool first = Condition(frame, code.condition);
      result = Take(frame, operands[first ? 0 : 1]);
      break;
    }
    case OpCode::kBoxMake:
      TakeAll(frame, code.operands);
      result.object = ObjectRef(new Box(
          {std::make_move_iterator(arguments_.begin()), std::make_move_iterator(arguments_.end())},
          {types.begin(), types.end()}));
      break;
    case OpCode::kBoxGet: {
      std::vector<Cell> parts = OpenBox(Take(frame, operands[0]), types, memory_);
      for (size_t i = 0; i < parts.size(); ++i) Put(frame, results[i], std::move(parts[i]));
      Drop(frame, code.drops);
      return;
    }
    case OpCode::kBoxAdd:
      result =
          AddBoxes(Take(frame, operands[0]), Take(frame, operands[1]), program_.backend(), *run_);
      break;
    default:
      break;  // BoxZero: null
  }
  arguments_.clear();
  Put(frame, results[0], std::move(result));
  Drop(frame, code.drops);
}

// ---- Program
Program::Program(const Backend& backend, std::string name)
    : backend_(backend), name_(std::move(name)) {}
Program::~Program() = default;

std::unique_ptr<Machine> Program::TakeMachine() const {
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Machine> machine = std::move(idle_.back());
      idle_.pop_back();
      return machine;
    }
  }
  return std::make_unique<Machine>(*this);
}

void Program::GiveMachine(std::unique_ptr<Machine> machine) const {
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(machine));
}

}  // namespace ms
