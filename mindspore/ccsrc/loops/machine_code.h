// The two sides of generated code: a device that writes programs as text, and an assembler outside
// of the core that takes a text and gives the addresses of its machine code, while the program goes
// on. Neither knows the other.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
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

// The device that writes the texts, as far as those who assemble them must know it.
class Generator {
 public:
  virtual ~Generator() = default;
  // What a text may use of the processor, and whether the processor has more than that.
  virtual std::string_view instruction_set() const = 0;
  virtual bool is_limited() const = 0;
  // For tests: code for every kernel, however little work it is, and no run without it.
  virtual void GenerateAlways(bool on) const = 0;
  // Code that tuning wants to try (loops/tunings.h); null where there is nothing to try now.
  virtual std::shared_ptr<MachineCode> NextTrial() const = 0;
};

// It lives as long as the process.
void SetGenerator(const Generator* generator);
// Null where no device writes texts.
const Generator* TextGenerator();

}  // namespace ms::loops
