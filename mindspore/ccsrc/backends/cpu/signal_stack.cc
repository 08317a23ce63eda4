#include "backends/cpu/signal_stack.h"

#include <omp.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "kernel/threads.h"

namespace ms::cpu {
namespace {

// A handler of Python's only sets a flag; a debugger's or profiler's walks the stack.
constexpr size_t kBytes = 64 << 10;

class SignalStack {
 public:
  SignalStack() {
    stack_t old{};
    if (sigaltstack(nullptr, &old) != 0 || !(old.ss_flags & SS_DISABLE)) return;
    // The registers of the widest vectors are part of a frame: the constant alone may not do.
    size_t bytes = std::max(kBytes, 2 * static_cast<size_t>(SIGSTKSZ));
    memory_ = std::make_unique<char[]>(bytes);
    stack_t stack{};
    stack.ss_sp = memory_.get();
    stack.ss_size = bytes;
    if (sigaltstack(&stack, nullptr) != 0) memory_.reset();
  }

  ~SignalStack() {
    stack_t now{};
    if (!memory_ || sigaltstack(nullptr, &now) != 0 || now.ss_sp != memory_.get()) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }

  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::unique_ptr<char[]> memory_;
};

void ShelterThisThread() { thread_local SignalStack stack; }

}  // namespace

void ShelterSignals() {
  ShelterThisThread();
  if (omp_in_parallel()) return;
  thread_local std::pair<int, int> sheltered{1, 0};  // how many, and whether they are still there
  std::pair<int, int> team{omp_get_max_threads(), TimesEnded()};
  if (team.first > 1 && team != sheltered) {
#pragma omp parallel
    {
      ShelterThisThread();
#pragma omp barrier  // each thread comes, and none takes another's part
    }
    sheltered = team;
  }
}

}  // namespace ms::cpu
