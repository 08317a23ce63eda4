// The watch that the processes of one job keep over each other, beside the transport of their data:
// who is dead, stopped, gone or in another collective is named to all, where without it they would
// wait for ever.
//
// Each rank has a thread and a TCP connection to a monitor in rank 0. The thread beats whatever the
// program does, so that deadlines count silence and not work. What collectives a rank enters is
// written to memory, and sent only when somebody waits long. The first thing that goes wrong is the
// verdict, which all ranks hear.
#pragma once

#include <pthread.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ms::cluster {

struct WatchOptions {
  std::chrono::milliseconds beat{1000};
  std::chrono::milliseconds silence{60'000};  // of a rank, until it is taken for lost
  std::chrono::milliseconds join{600'000};    // for all ranks to come
  std::chrono::milliseconds long_wait{500};   // in a collective, until it is told to the others
  std::function<void()> interrupt = [] {};    // called while Join waits; may throw
};

// What a call of two ranks has in both: who is waited for, by its number in the world.
struct Pair {
  int other = -1;
  int tag = 0;
  bool sends = false;

  // Whether that of the rank `other`, of the same group, is the one that this one of `rank` waits
  // for.
  bool Fits(int rank, const Pair& of_other) const {
    return of_other.other == rank && of_other.tag == tag && of_other.sends != sends;
  }
};

class Watch {
 public:
  static constexpr int kWorld = 0;  // the group of all ranks, which is always there

  // Opens a port of this machine for the ranks to come to, and says its address, which all hand to
  // Join: for rank 0, where the launcher has not chosen one.
  static std::string Listen(const std::string& host);
  // Waits for rank 0, not for the others. Rank 0 listens. Throws where that fails.
  static void Join(int rank, int size, const std::string& address,
                   const WatchOptions& options = {});
  // Null where this process is alone, has left, or is the child of a fork.
  static Watch* Current();
  // A farewell: the others do not take it for a death.
  static void Leave();

  // The members of a group, by their numbers in the world. All ranks number groups alike.
  void SetGroup(int group, std::vector<int> ranks);
  // Says what this thread is about to do: the `number`-th collective of the group, which `what`
  // names for all members alike, at `place` of the program. Throws if there is a verdict. Those
  // that the call itself does not compare with the others' are compared afterwards, `unchecked`.
  void Enter(int group, uint64_t number, std::string_view what, std::string_view place,
             bool unchecked = false);
  // The same of a call of two ranks, which is not among those that all members make.
  void EnterPair(int group, const Pair& pair, std::string_view what, std::string_view place);
  // From here on this thread enters for another one, which enters none meanwhile.
  static void ActFor(pthread_t thread);
  // This thread waits for a call that it has entered, and left: a device makes it. Ends with Exit.
  void Resume(int group, uint64_t number);
  // It is behind this thread; not `done`, where an exception ended it.
  void Exit(bool done = true);
  // To be called again and again while a collective waits: throws the verdict.
  void Check();
  // Tells the others that an exception ends this rank.
  void Raised(std::string_view text);

  int rank() const;
  int size() const;

  ~Watch();

 private:
  class Member;
  explicit Watch(std::unique_ptr<Member> member);

  std::unique_ptr<Member> member_;
};

}  // namespace ms::cluster
