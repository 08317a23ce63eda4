// Machine code of LLVM text, made elsewhere (by Python's llvmlite) while the program goes on.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace ms::loops {

// The code of one text; equal texts share it.
class MachineCode {
 public:
  enum class State : uint8_t { kPending, kReady, kFailed };

  MachineCode(std::string text, size_t phases) : text_(std::move(text)), phases_(phases) {}
  const std::string& text() const { return text_; }
  size_t phases() const { return phases_; }

  State state() const { return state_.load(std::memory_order_acquire); }
  // Of a ready code: the address of phase `i`.
  const void* phase(size_t i) const { return entries_[i]; }
  const std::string& failure() const { return failure_; }  // of a failed one
  // Returns when the code is no longer pending. Only the assembler calls it: see AwaitCode.
  void Wait() const;

  // By the assembler, once: the code stays valid for the rest of the process.
  void Give(std::vector<const void*> entries);
  void Fail(std::string why);

 private:
  void Settle(State state);

  const std::string text_;
  const size_t phases_;
  std::vector<const void*> entries_;
  std::string failure_;
  std::atomic<State> state_{State::kPending};
};

class Assembler {
 public:
  virtual ~Assembler() = default;
  // Returns at once; some thread calls Give or Fail later.
  virtual void Submit(std::shared_ptr<MachineCode> code) = 0;
  // Waits, having let go of what its threads may need.
  virtual void Await(const MachineCode& code) = 0;
};

// Null: there is none, and kernels are interpreted.
void SetAssembler(std::shared_ptr<Assembler> assembler);
bool HasAssembler();
// The code of a text, submitted to the assembler when it is new; null without one.
std::shared_ptr<MachineCode> CodeOf(const std::string& text, size_t phases);
// Returns when the code is ready or has failed.
void AwaitCode(const MachineCode& code);

}  // namespace ms::loops
