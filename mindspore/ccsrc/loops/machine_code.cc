#include "loops/machine_code.h"

#include <unordered_map>

#include "base/mutex.h"

namespace ms::loops {
namespace {

struct Registry {
  Mutex mutex;
  std::shared_ptr<Assembler> assembler;
  const Generator* generator = nullptr;
  // Never dropped: code cannot be unloaded while some kernel may run it, and texts repeat.
  std::unordered_map<std::string, std::shared_ptr<MachineCode>> codes;
};

Registry& Known() {
  static auto* registry = new Registry;  // outlives the interpreter's threads
  return *registry;
}

}  // namespace

void MachineCode::Wait() const { state_.wait(State::kPending, std::memory_order_acquire); }

void MachineCode::Settle(State state) {
  state_.store(state, std::memory_order_release);
  state_.notify_all();
}

void MachineCode::Give(std::vector<const void*> entries) {
  entries_ = std::move(entries);
  Settle(State::kReady);
}

void MachineCode::Fail(std::string why) {
  failure_ = std::move(why);
  Settle(State::kFailed);
}

void SetAssembler(std::shared_ptr<Assembler> assembler) {
  Registry& known = Known();
  std::lock_guard lock(known.mutex);
  known.assembler = std::move(assembler);
}

bool HasAssembler() {
  Registry& known = Known();
  std::lock_guard lock(known.mutex);
  return known.assembler != nullptr;
}

std::shared_ptr<MachineCode> CodeOf(const std::string& text, size_t phases) {
  Registry& known = Known();
  std::shared_ptr<Assembler> assembler;
  std::shared_ptr<MachineCode> code;
  {
    std::lock_guard lock(known.mutex);
    if (!known.assembler) return nullptr;
    auto [it, fresh] = known.codes.try_emplace(text);
    if (!fresh) return it->second;
    code = it->second = std::make_shared<MachineCode>(text, phases);
    assembler = known.assembler;
  }
  assembler->Submit(code);  // without the lock: it may take the GIL
  return code;
}

void AwaitCode(const MachineCode& code) {
  std::shared_ptr<Assembler> assembler;
  {
    std::lock_guard lock(Known().mutex);
    assembler = Known().assembler;
  }
  if (code.state() != MachineCode::State::kPending) return;
  assembler ? assembler->Await(code) : code.Wait();
}

void SetGenerator(const Generator* generator) {
  std::lock_guard lock(Known().mutex);
  Known().generator = generator;
}

const Generator* TextGenerator() {
  std::lock_guard lock(Known().mutex);
  return Known().generator;
}

}  // namespace ms::loops
