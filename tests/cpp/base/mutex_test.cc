// Forks while other threads hold locks.
#include "base/mutex.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <thread>
#include <vector>

namespace ms {
namespace {

// What the child of a fork returns; it is ended where it hangs.
int InChild(int (*work)()) {
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Mutex first, second;
int one = 0, other = 0;  // are equal where no lock is held

TEST(Mutex, AChildOfAForkFindsAllFreeAndWhole) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&stop] {
      while (!stop) {
        std::lock_guard outer(first);
        ++one;
        std::lock_guard inner(second);
        std::this_thread::yield();
        ++other;
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(InChild([] {
                std::lock_guard outer(first), inner(second);
                return one == other ? 0 : 1;
              }),
              0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(one, other);
}

TEST(Mutex, WhoHoldsOneMayFork) {
  std::lock_guard held(first);
  EXPECT_EQ(InChild([] {
              first.unlock();
              std::lock_guard again(first), also(second);
              return 0;
            }),
            0);
  std::thread([] { EXPECT_FALSE(first.try_lock()); }).join();
}

TEST(Mutex, TheyComeAndGo) {
  std::vector<std::unique_ptr<Mutex>> some;
  for (int i = 0; i < 5; ++i) some.push_back(std::make_unique<Mutex>());
  for (size_t gone : {2, 0, 2}) some.erase(some.begin() + static_cast<int64_t>(gone));
  EXPECT_EQ(InChild([] { return 0; }), 0);
  for (auto& mutex : some) std::lock_guard lock(*mutex);
}

TEST(Once, IsDoneOnceByManyThreads) {
  Once once;
  int done = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { once.Do([&] { ++done; }); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace ms
