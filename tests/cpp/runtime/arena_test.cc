// Memory that runs take, and give back, while others do.
#include "runtime/arena.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tensor/memory_limit.h"

namespace ms {
namespace {

constexpr size_t kBytes = 1 << 16;

// While other threads run graphs, and spill.
TEST(Arena, AForkedChildMayTakeOne) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> busy;
  for (Memory* memory : {&HostMemory(), &HostMemory(), &SpillFile()}) {
    busy.emplace_back([&stop, memory] {
      while (!stop) GiveArena(TakeArena(kBytes, nullptr, *memory));
    });
  }
  for (int i = 0; i < 100; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      TakeArena(kBytes, nullptr, HostMemory());
      TakeArena(2 * kBytes, nullptr, SpillFile());
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  for (std::thread& thread : busy) thread.join();
  FreeIdleArenas();
}

// What lies idle is not in use: it goes before anybody is told that there is not enough.
TEST(Arena, IdleOnesMakeRoom) {
  constexpr size_t kLarge = size_t{64} << 20;
  FreeIdleArenas();
  size_t free = MemoryLimit() - HostMemory().stats().live;
  GiveArena(TakeArena(kLarge, nullptr, HostMemory()));
  EXPECT_NO_THROW(RequireMemory(free - kLarge / 2));
  EXPECT_THROW(RequireMemory(free + kLarge), Error);
}

}  // namespace
}  // namespace ms
