// Ranks as forked processes, for tests of the watch.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/error.h"
#include "cluster/socket.h"
#include "cluster/watch.h"

namespace ms::cluster {

// Patient, but for what a test waits for.
inline WatchOptions Quick() {
  WatchOptions options;
  options.beat = std::chrono::milliseconds(100);
  options.long_wait = std::chrono::milliseconds(100);
  return options;
}

// A process that does some work and writes what it has to say; it is killed if a test forgets it.
class Rank {
 public:
  template <class Work>
  explicit Rank(Work work) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    process_ = fork();
    if (process_ == 0) {
      alarm(60);
      std::string said;
      try {
        work();
      } catch (const Error& error) {
        said = error.what();
      }
      (void)!write(ends[1], said.data(), said.size());
      Watch::Leave();
      _exit(said.empty() ? 0 : 1);
    }
    close(ends[1]);
    said_ = ends[0];
  }
  Rank(const Rank&) = delete;
  ~Rank() {
    kill(process_, SIGKILL);
    if (!ended_) waitpid(process_, nullptr, 0);
    close(said_);
  }

  void Signal(int number) { kill(process_, number); }
  std::string FirstSaid() {
    char bytes[4096];
    ssize_t got = read(said_, bytes, sizeof bytes);
    return std::string(bytes, got > 0 ? got : 0);
  }
  std::string Said() {
    std::string said;
    for (std::string more; !(more = FirstSaid()).empty();) said += more;
    int status = 0;
    waitpid(process_, &status, 0);
    ended_ = true;
    return WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL ? said + " [by a signal]" : said;
  }

 private:
  pid_t process_;
  int said_;
  bool ended_ = false;
};

// A port that is free now, and a word.
inline std::string FreeAddress() {
  Address address{"127.0.0.1", "0", ""};
  Socket socket = Listen(address);
  return fmt::format("127.0.0.1:{}/word", PortOf(socket));
}

inline void Wait(int group, uint64_t number, const char* what, const char* place) {
  Watch::Current()->Enter(group, number, what, place);
  while (true) {
    Watch::Current()->Check();
    usleep(1000);
  }
}

template <class Work>
Rank Start(int rank, int size, const std::string& at, Work work) {
  return Rank([=] {
    Watch::Join(rank, size, at, Quick());
    work();
  });
}

}  // namespace ms::cluster
