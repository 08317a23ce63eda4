// How the stub runs kernels: block after block. Where a kernel has barriers, each thread of a block
// has a stack, and runs until the next barrier; all must come to the same one.
#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdlib>

#include "emulator.h"
#include "stub.h"

namespace stub {
namespace {

constexpr size_t kStack = 64 << 10;
constexpr unsigned kMostThreads = 1024, kWarp = 32;
enum class State { kReady, kAtWarp, kAtBlock, kDone };

struct Fiber {
  void* stack_pointer = nullptr;
  State state = State::kDone;
};
struct Scheduler {
  Fiber fibers[kMostThreads];
  char* stacks = nullptr;
  void* own = nullptr;  // the stack pointer of whoever schedules
  unsigned current = 0;
  const Emulated* kernel = nullptr;
  void** params = nullptr;
};
Scheduler scheduler;
Machine the_machine;

}  // namespace
}  // namespace stub

// Keeps the registers that a call must keep, and goes on where another stack was left.
extern "C" void stub_switch(void** save, void* to);
#if defined(__x86_64__)
asm(R"(
.text
.type stub_switch, @function
stub_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
)");
#else
#error "the stub of CUDA knows x86-64 only"
#endif

namespace stub {
namespace {

void Leave(State state) {
  if (!scheduler.kernel->barriers) {
    Refuse(kLaunchFailed, "kernel '" + scheduler.kernel->name + "' waits, and was not known to");
    std::abort();
  }
  Fiber& fiber = scheduler.fibers[scheduler.current];
  fiber.state = state;
  stub_switch(&fiber.stack_pointer, scheduler.own);
}

void Begin() {
  scheduler.kernel->run(scheduler.params);
  Leave(State::kDone);
  std::abort();  // a thread that has ended is not resumed
}

void Resume(unsigned t) {
  scheduler.current = t;
  the_machine.thread = {t, 0, 0};
  stub_switch(&scheduler.own, scheduler.fibers[t].stack_pointer);
}

void Prepare(unsigned t) {
  auto* top = reinterpret_cast<void**>(scheduler.stacks + (t + 1) * kStack);
  *--top = nullptr;  // as if called: the stack is aligned behind a return address
  *--top = reinterpret_cast<void*>(&Begin);
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  scheduler.fibers[t] = {top, State::kReady};
}

bool All(unsigned begin, unsigned end, State state) {
  for (unsigned t = begin; t < end; ++t) {
    if (scheduler.fibers[t].state != state) return false;
  }
  return true;
}
void Release(unsigned begin, unsigned end) {
  for (unsigned t = begin; t < end; ++t) scheduler.fibers[t].state = State::kReady;
}

// Until each thread of the warp has ended or waits for the block.
bool RunWarp(unsigned begin, unsigned end) {
  for (;;) {
    for (unsigned t = begin; t < end; ++t) {
      if (scheduler.fibers[t].state == State::kReady) Resume(t);
    }
    if (All(begin, end, State::kAtWarp))
      Release(begin, end);
    else
      break;
  }
  return All(begin, end, State::kAtBlock) || All(begin, end, State::kDone);
}

// False where threads wait for others that never come.
bool RunBlock(unsigned threads) {
  for (unsigned t = 0; t < threads; ++t) Prepare(t);
  for (;;) {
    for (unsigned t = 0; t < threads; t += kWarp) {
      if (!RunWarp(t, std::min(t + kWarp, threads))) return false;
    }
    if (All(0, threads, State::kDone)) return true;
    if (!All(0, threads, State::kAtBlock)) return false;
    Release(0, threads);
  }
}

void* OpenForKernel(const void* address) {
  auto number = reinterpret_cast<uint64_t>(address);
  if (!Holds(number, 1)) {
    Refuse(kLaunchFailed, "kernel '" + scheduler.kernel->name + "' is given no living block");
    return nullptr;
  }
  return Open(number);
}

}  // namespace

void Bind(void* library) {
  the_machine.wait = [](int whole) { Leave(whole ? State::kAtBlock : State::kAtWarp); };
  the_machine.open = OpenForKernel;
  auto bind = reinterpret_cast<void (*)(Machine*)>(dlsym(library, "emulated_bind"));
  if (bind) bind(&the_machine);
}

void RunGrid(const Emulated& kernel, unsigned x, unsigned y, unsigned threads, void** params) {
  if (!scheduler.stacks) {
    void* stacks = mmap(nullptr, kStack * kMostThreads, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) std::abort();
    scheduler.stacks = static_cast<char*>(stacks);
  }
  scheduler.kernel = &kernel;
  scheduler.params = params;
  the_machine.block_size = {threads, 1, 1};
  the_machine.grid_size = {x, y, 1};
  for (unsigned by = 0; by < y; ++by) {
    for (unsigned bx = 0; bx < x; ++bx) {
      the_machine.block = {bx, by, 0};
      if (kernel.barriers) {
        if (RunBlock(threads)) continue;
        Refuse(kLaunchFailed, "threads of kernel '" + kernel.name + "' wait at different barriers");
        return;
      }
      for (unsigned t = 0; t < threads; ++t) {
        the_machine.thread = {t, 0, 0};
        kernel.run(params);
      }
    }
  }
}

}  // namespace stub
