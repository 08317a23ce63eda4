// Ranks as forked processes: what each hears when another ends, stops or goes astray.
#include "cluster/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/error.h"
#include "cluster/forked_rank.h"
#include "cluster/socket.h"

namespace ms::cluster {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

TEST(Watch, AKilledRankIsNamedToThoseWhoWaitAndThoseWhoComeLater) {
  std::string at = FreeAddress();
  Rank zero = Start(0, 3, at, [] { Wait(0, 1, "AllReduce", "net.py:14"); });
  Rank one = Start(1, 3, at, [] {
    try {
      Wait(0, 1, "AllReduce", "net.py:14");
    } catch (const Error&) {
    }
    Watch::Current()->Enter(0, 2, "Barrier", "net.py:20");
  });
  Rank two = Start(2, 3, at, [] {
    usleep(300'000);
    raise(SIGKILL);
  });
  EXPECT_EQ(two.Said(), "");
  EXPECT_THAT(zero.Said(), AllOf(HasSubstr("rank 2 (host "), HasSubstr("died"),
                                 HasSubstr("This is rank 0, in AllReduce at net.py:14")));
  EXPECT_THAT(one.Said(), HasSubstr("rank 2 (host "));
}

TEST(Watch, TheDeathOfRank0IsHeardByTheOthers) {
  std::string at = FreeAddress();
  Rank zero = Start(0, 3, at, [] {
    usleep(300'000);
    raise(SIGKILL);
  });
  Rank one = Start(1, 3, at, [] { Wait(0, 1, "AllReduce", "net.py:14"); });
  Rank two = Start(2, 3, at, [] { Wait(0, 1, "AllReduce", "net.py:14"); });
  EXPECT_THAT(one.Said(), HasSubstr("rank 0 died"));
  EXPECT_THAT(two.Said(), HasSubstr("rank 0 died"));
}

TEST(Watch, WhereADeadRankWasIsSaid) {
  std::string at = FreeAddress();
  Rank zero = Start(0, 2, at, [] { Wait(0, 1, "Barrier", "net.py:1"); });
  Rank one = Start(1, 2, at, [] {
    Watch::Current()->Enter(0, 1, "Barrier", "net.py:7");
    usleep(500'000);
    raise(SIGKILL);
  });
  EXPECT_THAT(zero.Said(), HasSubstr("it was last in Barrier at net.py:7"));
}

TEST(Watch, TwoCollectivesOfOneNumberAreBothNamed) {
  std::string at = FreeAddress();
  auto rank = [&](int number, const char* what, const char* place) {
    return Start(number, 3, at, [=] {
      Watch::Current()->Enter(0, 0, "Barrier", "net.py:1");
      Watch::Current()->Exit();
      Wait(0, 1, what, place);
    });
  };
  Rank zero = rank(0, "AllReduce sum Float32[2]", "net.py:14");
  Rank one = rank(1, "AllReduce sum Float32[2]", "net.py:14");
  Rank two = rank(2, "Broadcast Float32[2]", "net.py:20");
  for (Rank* each : {&zero, &one, &two}) {
    EXPECT_THAT(each->Said(), AllOf(HasSubstr("in AllReduce sum Float32[2] at net.py:14"),
                                    HasSubstr("in Broadcast Float32[2] at net.py:20")));
  }
}

TEST(Watch, RanksThatWaitForEachOtherInDifferentGroupsAreNamed) {
  std::string at = FreeAddress();
  auto rank = [&](int number, int group, const char* what, const char* place) {
    return Start(number, 3, at, [=] {
      Watch::Current()->SetGroup(7, {0, 1});
      Wait(group, 0, what, place);
    });
  };
  Rank zero = rank(0, 7, "AllReduce in 'pair'", "net.py:14");
  Rank one = rank(1, 0, "Barrier", "net.py:20");
  Rank two = rank(2, 0, "Barrier", "net.py:20");
  for (Rank* each : {&zero, &one, &two}) {
    EXPECT_THAT(each->Said(), AllOf(HasSubstr("rank 0 waits in AllReduce in 'pair' at net.py:14"),
                                    HasSubstr("rank 1 waits in Barrier at net.py:20")));
  }
}

TEST(Watch, WhoHasSeveralThreadsMayWaitInTwoGroups) {
  std::string at = FreeAddress();
  auto enter = [](int group, uint64_t number) {
    Watch::Current()->Enter(group, number, "Barrier", "net.py:14");
    Watch::Current()->Exit();
  };
  auto rank = [&](int number, int first, int then) {
    return Start(number, 2, at, [=] {
      Watch::Current()->SetGroup(7, {0, 1});
      std::thread([&] { enter(first, 0), enter(then, 0); }).join();
      Watch::Current()->Enter(first, 1, "Barrier", "net.py:14");
      for (int i = 0; i < 2000; ++i, usleep(1000)) Watch::Current()->Check();
      Watch::Current()->Exit();
      std::thread([&] { enter(then, 1); }).join();
    });
  };
  Rank zero = rank(0, 7, 0), one = rank(1, 0, 7);
  EXPECT_EQ(zero.Said(), "");
  EXPECT_EQ(one.Said(), "");
}

TEST(Watch, ARankThatRanAheadIsComparedByWhatItDid) {
  std::string at = FreeAddress();
  Rank zero = Start(0, 2, at, [] { Wait(0, 1, "AllReduce", "net.py:14"); });
  Rank one = Start(1, 2, at, [] {
    Watch::Current()->Enter(0, 1, "Broadcast", "net.py:20");  // its root need not wait
    Watch::Current()->Exit();
    Wait(0, 2, "AllReduce", "net.py:14");
  });
  EXPECT_THAT(zero.Said(), HasSubstr("in Broadcast at net.py:20"));
  EXPECT_THAT(one.Said(), HasSubstr("in Broadcast at net.py:20"));
}

TEST(Watch, AFarewellIsNoDeathButWhoWaitsForItHears) {
  std::string at = FreeAddress();
  auto rank = [&](int number) {
    return Start(number, 3, at, [] {
      Watch::Current()->SetGroup(5, {0, 2});
      // Rank 1 is not in this group, so that nobody waits for it.
      Watch::Current()->Enter(5, 0, "Barrier", "net.py:3");
      for (int i = 0; i < 1000; ++i, usleep(1000)) Watch::Current()->Check();
      Watch::Current()->Exit();
      Wait(0, 0, "AllReduce", "net.py:14");
    });
  };
  Rank zero = rank(0), two = rank(2);
  Rank one = Start(1, 3, at, [] {});
  EXPECT_EQ(one.Said(), "");
  EXPECT_THAT(zero.Said(), AllOf(HasSubstr("rank 1 (host "), HasSubstr("has ended its program")));
  EXPECT_THAT(two.Said(), HasSubstr("waits for it in AllReduce at net.py:14"));
}

TEST(Watch, WhoHasDoneItsPartMayLeave) {
  std::string at = FreeAddress();
  Rank zero = Start(0, 2, at, [] {
    Watch::Current()->Enter(0, 0, "Broadcast", "net.py:3");
    for (int i = 0; i < 1000; ++i, usleep(1000)) Watch::Current()->Check();
    Watch::Current()->Exit();
  });
  Rank one = Start(1, 2, at, [] {
    Watch::Current()->Enter(0, 0, "Broadcast", "net.py:3");
    Watch::Current()->Exit();
  });
  EXPECT_EQ(one.Said(), "");
  EXPECT_EQ(zero.Said(), "");
}

TEST(Watch, WhoLeavesInTheMiddleOfItsPartIsWaitedForInVain) {
  for (bool says_so : {true, false}) {
    std::string at = FreeAddress();
    Rank zero = Start(0, 2, at, [] { Wait(0, 0, "AllReduce", "net.py:3"); });
    Rank one = Start(1, 2, at, [=] {
      Watch::Current()->Enter(0, 0, "AllReduce", "net.py:3");
      if (says_so) Watch::Current()->Exit(/*done=*/false);
    });
    EXPECT_THAT(zero.Said(), HasSubstr("has ended its program"));
  }
}

TEST(Watch, WhoComesToAJobThatHasFailedHearsSo) {
  std::string at = FreeAddress();
  Rank zero = Start(0, 3, at, [] { Wait(0, 0, "AllReduce", "net.py:3"); });
  Rank one = Start(1, 3, at, [] { raise(SIGKILL); });
  EXPECT_THAT(zero.FirstSaid(), HasSubstr("rank 1 (host "));
  usleep(500'000);  // by now its program is at its end
  Rank two = Start(2, 3, at, [] { Wait(0, 0, "AllReduce", "net.py:3"); });
  EXPECT_THAT(two.Said(), HasSubstr("rank 1 (host "));
}

TEST(Watch, Rank0StaysUntilAllHaveCome) {
  std::string at = FreeAddress();
  Rank zero = Start(0, 2, at, [] {});
  usleep(1'000'000);
  Rank one = Start(1, 2, at, [] { Wait(0, 0, "AllReduce", "net.py:14"); });
  EXPECT_EQ(zero.Said(), "");
  EXPECT_THAT(one.Said(), HasSubstr("rank 0 has ended its program"));
}

TEST(Watch, Rank0MayLeaveFirstButIsNotWaitedFor) {
  std::string at = FreeAddress();
  Rank zero = Start(0, 2, at, [] { usleep(500'000); });
  Rank one = Start(1, 2, at, [] {
    for (int i = 0; i < 1500; ++i, usleep(1000)) Watch::Current()->Check();
    Wait(0, 0, "AllReduce", "net.py:14");
  });
  EXPECT_EQ(zero.Said(), "");
  EXPECT_THAT(one.Said(), HasSubstr("rank 0 has ended its program, and rank 1 waits for it in "
                                    "AllReduce at net.py:14"));
}

TEST(Watch, AnExceptionIsToldByItsFirstLine) {
  std::string at = FreeAddress();
  Rank zero = Start(0, 2, at, [] { Wait(0, 0, "AllReduce", "net.py:14"); });
  Rank one = Start(1, 2, at, [] { Watch::Current()->Raised("ValueError: bad\nmore"); });
  EXPECT_EQ(one.Said(), "");
  EXPECT_THAT(zero.Said(), AllOf(HasSubstr("ended with an exception: ValueError: bad"),
                                 testing::Not(HasSubstr("more"))));
}

TEST(Watch, AStoppedRankIsSilentAndAWorkingOneIsNot) {
  std::string at = FreeAddress();
  auto join = [at](int rank) {
    WatchOptions options = Quick();
    options.silence = milliseconds(2000);
    Watch::Join(rank, 3, at, options);
  };
  Rank zero([&] {
    join(0);
    Wait(0, 0, "AllReduce", "net.py:14");
  });
  Rank one([&] {  // works longer than a rank may be silent
    join(1);
    volatile uint64_t sum = 0;
    for (auto end = std::chrono::steady_clock::now() + milliseconds(4000);
         std::chrono::steady_clock::now() < end;)
      sum = sum + 1;
    Wait(0, 0, "AllReduce", "net.py:14");
  });
  Rank two([&] {
    join(2);
    usleep(300'000);
    raise(SIGSTOP);
    Wait(0, 0, "AllReduce", "net.py:14");
  });
  EXPECT_THAT(zero.Said(), AllOf(HasSubstr("rank 2 (host "), HasSubstr("silent for 2 s")));
  EXPECT_THAT(one.Said(), HasSubstr("rank 2 (host "));
  two.Signal(SIGCONT);
  EXPECT_THAT(two.Said(), HasSubstr("rank 2 (host "));
}

TEST(Watch, AStoppedRank0IsSilentToTheOthers) {
  std::string at = FreeAddress();
  Rank zero = Start(0, 2, at, [] {
    usleep(300'000);
    raise(SIGSTOP);
  });
  Rank one([&] {
    WatchOptions options = Quick();
    options.silence = milliseconds(1500);
    Watch::Join(1, 2, at, options);
    Wait(0, 0, "AllReduce", "net.py:14");
  });
  EXPECT_THAT(one.Said(), HasSubstr("rank 0 has been silent for 1.5 s"));
}

// Rank 2 ends because rank 0 is silent, which is not to be told as a death of its own.
TEST(Watch, WhatRank0FindsWhenItGoesOnIsItsOwnDoing) {
  std::string at = FreeAddress();
  auto join = [at](int rank, int silence) {
    WatchOptions options = Quick();
    options.silence = milliseconds(silence);
    Watch::Join(rank, 3, at, options);
  };
  Rank zero([&] {
    join(0, 500);
    usleep(300'000);
    raise(SIGSTOP);
    Wait(0, 0, "AllReduce", "net.py:14");
  });
  Rank one([&] {  // has more patience
    join(1, 60'000);
    Wait(0, 0, "AllReduce", "net.py:14");
  });
  Rank two([&] {
    join(2, 60'000);
    usleep(1'500'000);
    raise(SIGKILL);
  });
  EXPECT_EQ(two.Said(), "");
  zero.Signal(SIGCONT);
  EXPECT_THAT(one.Said(), AllOf(HasSubstr("rank 0 (host "), HasSubstr("silent for 0.5 s")));
}

TEST(Watch, ARankThatNeverComesIsNamed) {
  std::string at = FreeAddress();
  Rank zero([&] {
    WatchOptions options = Quick();
    options.join = milliseconds(500);
    Watch::Join(0, 2, at, options);
    Wait(0, 0, "AllReduce", "net.py:14");
  });
  EXPECT_THAT(zero.Said(), HasSubstr("rank 1 has not come within 0.5 s"));
}

TEST(Watch, AForkedChildNeitherBeatsNorKeepsItsParentAlive) {
  std::string at = FreeAddress();
  auto* child = static_cast<std::atomic<pid_t>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  Rank zero = Start(0, 2, at, [] { Wait(0, 0, "AllReduce", "net.py:14"); });
  Rank one = Start(1, 2, at, [child] {
    if (pid_t forked = fork(); forked != 0) {
      *child = forked;
      usleep(300'000);
      raise(SIGKILL);
    }
    alarm(50);
    while (Watch::Current() == nullptr) pause();
  });
  EXPECT_THAT(zero.Said(), HasSubstr("rank 1 (host "));
  EXPECT_EQ(kill(*child, SIGKILL), 0) << "the child has ended";
}

std::string ErrorOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Watch, AddressesThatAreNoneAreRefused) {
  for (const char* text :
       {"", "host", ":80", "host:", "host:x", "host:70000", "host:-1", "host:1 "})
    EXPECT_THAT(ErrorOf([&] { Address::Parse(text); }), HasSubstr("must be like")) << text;
  Address six = Address::Parse("[::1]:80/word");
  EXPECT_EQ(six.host, "::1");
  EXPECT_EQ(six.Text(), "[::1]:80");
  EXPECT_EQ(six.word, "word");
}

TEST(Watch, WhoFindsNobodySaysWhere) {
  WatchOptions options = Quick();
  options.join = milliseconds(300);
  std::string at = FreeAddress();
  EXPECT_THAT(ErrorOf([&] { Watch::Join(1, 2, at, options); }),
              AllOf(HasSubstr("rank 1 cannot join rank 0 at 127.0.0.1:"), HasSubstr("refused")));
  EXPECT_THAT(ErrorOf([&] { Watch::Join(1, 2, "no-such-host.invalid:80", options); }),
              HasSubstr("the host 'no-such-host.invalid' is not found"));
  EXPECT_THAT(ErrorOf([&] { Watch::Join(2, 2, at, options); }), HasSubstr("in [0, 2)"));
}

TEST(Watch, ATakenPortAndAnotherJobAreNamed) {
  Socket taken = Listen({"127.0.0.1", "0", ""});
  std::string at = fmt::format("127.0.0.1:{}/a", PortOf(taken));
  EXPECT_THAT(ErrorOf([&] { Watch::Join(0, 2, at, Quick()); }),
              AllOf(HasSubstr("rank 0 cannot listen at"), HasSubstr("in use")));
  taken.Close();
  Rank zero = Start(0, 2, at, [] { sleep(50); });
  std::string other = at.substr(0, at.size() - 1) + "b";
  EXPECT_THAT(ErrorOf([&] { Watch::Join(1, 2, other, Quick()); }), HasSubstr("another job"));
  EXPECT_THAT(ErrorOf([&] { Watch::Join(1, 3, at, Quick()); }), HasSubstr("counts 3 ranks"));
}

// Listens, and says to whoever comes what no rank 0 says.
class Stranger {
 public:
  Stranger() : listening_(Listen({"127.0.0.1", "0", ""})) {
    thread_ = std::thread([this] {
      int fd;
      while ((fd = accept(listening_.fd(), nullptr, nullptr)) < 0) usleep(1000);
      (void)!write(fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
      usleep(300'000);
      close(fd);
    });
  }
  ~Stranger() { thread_.join(); }
  std::string at() const { return fmt::format("127.0.0.1:{}", PortOf(listening_)); }

 private:
  Socket listening_;
  std::thread thread_;
};

TEST(Watch, WhatAnswersMustBeRank0) {
  Stranger stranger;
  EXPECT_THAT(ErrorOf([&] { Watch::Join(1, 2, stranger.at(), Quick()); }),
              HasSubstr("does not answer as rank 0 does"));
}

TEST(Watch, WhoSendsNonsenseIsLeftOut) {
  std::string at = FreeAddress(), problem;
  Rank zero = Start(0, 2, at, [] { Wait(0, 0, "AllReduce", "net.py:14"); });
  bool found;
  std::vector<Socket> strangers;
  for (std::string_view bytes : {"GET / HTTP/1.1\r\n\r\n", "\xff\xff\xff\x7f", "", "\0\0\0\0\0"}) {
    Socket socket;
    for (int i = 0; !socket && i < 500; ++i, usleep(10'000))
      socket = Connect(Address::Parse(at), 1000, &problem, &found);
    ASSERT_TRUE(socket);
    (void)!write(socket.fd(), bytes.data(), bytes.size());
    strangers.push_back(std::move(socket));
  }
  Rank one = Start(1, 2, at, [] { Watch::Current()->Raised("Done"); });
  EXPECT_EQ(one.Said(), "");
  EXPECT_THAT(zero.Said(), HasSubstr("exception: Done"));
}

TEST(Watch, AProcessMayLeaveAndJoinAnotherJob) {
  for (int i = 0; i < 2; ++i) {
    std::string at = Watch::Listen("127.0.0.1");
    Watch::Join(0, 1, at, Quick());
    ASSERT_NE(Watch::Current(), nullptr);
    EXPECT_THAT(ErrorOf([&] { Watch::Join(0, 1, at, Quick()); }), HasSubstr("already"));
    Watch::Current()->Enter(0, i, "Barrier", "");
    Watch::Current()->Check();
    Watch::Current()->Exit();
    Watch::Current()->Exit();
    Watch::Leave();
    EXPECT_EQ(Watch::Current(), nullptr);
  }
  Watch::Leave();
}

TEST(Watch, PackedValuesComeBackAndShortOnesAreSeen) {
  std::string bytes = std::move(Packer('X').Number(~uint64_t{0}).Text("some\0text")).Frame();
  Unpacker frame(bytes.substr(4));
  EXPECT_EQ(frame.type(), 'X');
  EXPECT_EQ(frame.Number(), ~uint64_t{0});
  EXPECT_EQ(frame.Text(), "some");
  EXPECT_TRUE(frame.good());
  EXPECT_EQ(frame.Text(), "");
  EXPECT_FALSE(frame.good());
  Unpacker lies(std::move(Packer('X').Number(1000)).Frame().substr(4));
  EXPECT_EQ(lies.Text(), "");
  EXPECT_FALSE(lies.good());
}

}  // namespace
}  // namespace ms::cluster
