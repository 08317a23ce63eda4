// What rank 0 does for all: hears the ranks, compares what they do, and gives the verdict.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cluster/socket.h"
#include "cluster/watch.h"

namespace ms::cluster {

// The letters of frames, and what follows each.
namespace frame {
constexpr char kHello = 'H';  // greeting, word, rank, size, process, host
constexpr char kWelcome = 'W';
constexpr char kRefused = 'N';  // why
constexpr char kBeat = 'B';     // both ways; from a rank: the collective that it entered last
constexpr char kGroup = 'G';    // group, count, ranks
constexpr char kSteps =
    'S';  // whether several threads enter; counts of groups, of new steps, of open ones; and those
constexpr char kTrail = 'T';      // group, count, and so many marks of its Trail: calls, sum
constexpr char kRaised = 'R';     // text
constexpr char kFarewell = 'F';   // count of groups, and the number of each that comes next
constexpr char kGone = 'Y';       // the farewell was heard
constexpr char kAttention = 'A';  // whether somebody waits long
constexpr char kVerdict = 'V';    // text
constexpr std::string_view kGreeting = "mindspore watch 3";
}  // namespace frame

// What those can do who have lost one without which they cannot go on.
constexpr std::string_view kWhatNow =
    ". Nobody can go on without it: save what is needed, and end. `msrun --max_restarts=3` starts "
    "all again, and `Model.resume` takes up the last checkpoint";

int64_t NowInMilliseconds();
constexpr int64_t kPairBeats = 5;  // that one waits for a rank that has left, which may have sent
// A thread that leaves all signals to those of the program.
std::thread StartQuietThread(std::function<void()> work);
// Wakes a poll of another thread.
class Bell {
 public:
  Bell();
  void Ring();
  void Hush();
  int fd() const { return socket_.fd(); }

 private:
  Socket socket_;
};

struct Step {
  uint64_t number = 0;
  std::string what, place;

  std::string Text() const;
};

std::string RankHasLeft(const std::string& name, int waits, const Step& step);

class Monitor {
 public:
  Monitor(Socket listening, Address address, int size, const WatchOptions& options);
  // Tells the others that rank 0 is gone, and ends.
  ~Monitor();

 private:
  struct Waiting {
    int group;
    Step step;
    Pair pair;
  };
  struct Member {
    Channel channel;
    bool joined = false, left = false;
    bool several_threads = false;  // enter collectives
    uint64_t process = 0;
    std::string host, last;
    int64_t heard = 0;
    std::map<int, uint64_t> next;                  // of each group, the number that comes next
    std::map<int, std::map<uint64_t, Step>> past;  // of each group, the last ones
    std::vector<Waiting> waiting;                  // long
  };
  struct Trails {  // of the ranks of a group
    struct Mark {
      uint64_t sum;
      int rank;   // who told it first
      int heard;  // ranks that have told it
    };
    std::map<uint64_t, Mark> marks;  // by the number of calls
    uint64_t alike = 0;              // of two ranks at least, so many calls were
  };
  struct Guest {  // has not said who it is
    Channel channel;
    int64_t since = 0;
    bool refused = false;
  };

  void Loop();
  bool IsNeeded(int64_t now);
  void Wait();
  void Accept(int64_t now);
  void HearGuests(int64_t now);
  bool Admit(Guest& guest, Unpacker hello, int64_t now);  // whether it became a member
  std::string WhyNot(Unpacker& hello, uint64_t* rank);
  void HearMember(int rank, int64_t now);
  void Handle(int rank, Unpacker frame);
  void HandleSteps(Member& member, Unpacker& frame);
  void HandleGroup(Unpacker& frame);
  void HandleTrail(int rank, Unpacker& frame);
  bool WasStopped(int64_t now) const;
  void Judge(int64_t now);
  void JudgeWait(int rank, int group, const Step& step);
  void JudgePairs(int64_t now);
  void JudgeCircles(int64_t now);
  int WaitsFor(int rank, int64_t now) const;  // one that cannot come; -1: none is known
  bool IsMember(int group, int rank) const;
  void GiveVerdict(std::string text);
  std::string HasBeenSilent(int rank) const;
  void Tell(const Packer& frame);
  std::string Name(int rank) const;

  Socket listening_;
  Address address_;
  WatchOptions options_;
  int64_t started_, looked_, beaten_ = 0, stopped_ = 0;
  int64_t woke_ = 0;  // when this rank went on after it had been stopped for long
  std::vector<Member> members_;
  std::vector<Guest> guests_;
  std::map<int, std::vector<int>> groups_;
  std::map<int, Trails> trails_;  // of each group
  std::optional<std::string> verdict_;
  std::string circle_;  // of ranks that wait for each other
  int64_t circle_since_ = 0;
  std::string in_vain_;  // a wait for one rank, which has left
  int64_t in_vain_since_ = 0;
  bool attention_ = false;
  Bell bell_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace ms::cluster
