#include "backends/cpu/collectives/mpi_transport.h"

#include <sched.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "backends/cpu/collectives/delayed_group.h"
#include "backends/cpu/collectives/window_group.h"
#include "base/error.h"

namespace ms::cpu {
namespace {

int Cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

// Whether windows of all members fit into what the host shares between processes. A page beyond
// that would be a bus error when it is touched.
bool SharedMemoryHas(int64_t bytes) {
  struct statvfs facts;
  if (statvfs("/dev/shm", &facts)) return false;
  return static_cast<int64_t>(facts.f_bavail) * static_cast<int64_t>(facts.f_frsize) > 2 * bytes;
}

// A communicator of some processes, and what its members share of their memory, if anything.
// To free one all members would have to meet: so it is kept for the next group of the same.
struct Link {
  int64_t number = -1;  // among those of its ranks
  uint32_t life = 0;    // the groups that had it before
  MpiHandle comm = 0;
  std::vector<char*> segments;
};

class Links {
 public:
  // The oldest one that nobody uses; with a negative number where there is none.
  Link Oldest(const std::vector<int>& ranks) {
    std::lock_guard lock(mutex_);
    std::map<int64_t, Link>& links = free_[ranks];
    return links.empty() ? Link{} : links.begin()->second;
  }
  void Take(const std::vector<int>& ranks, int64_t number) {
    std::lock_guard lock(mutex_);
    free_[ranks].erase(number);
  }
  int64_t NextNumber(const std::vector<int>& ranks) {
    std::lock_guard lock(mutex_);
    return made_[ranks]++;
  }
  void Return(const std::vector<int>& ranks, Link link) {
    std::lock_guard lock(mutex_);
    ++link.life;
    free_[ranks].emplace(link.number, std::move(link));
  }

 private:
  Mutex mutex_;
  std::map<std::vector<int>, std::map<int64_t, Link>> free_;
  std::map<std::vector<int>, int64_t> made_;
};

// Comes back when the last group goes that has it.
std::shared_ptr<const Link> Used(std::shared_ptr<Links> links, std::vector<int> ranks, Link link) {
  return {new Link(std::move(link)),
          [links = std::move(links), ranks = std::move(ranks)](const Link* last) {
            links->Return(ranks, *last);
            delete last;
          }};
}

// What a member says when a group is made, and what the first of them answers all.
struct Offer {
  uint64_t group;  // name and ranks
  int64_t link;    // that it has for them; none: -1
};
struct Answer {
  int64_t link;       // that all have
  int32_t different;  // the rank of one who names other ranks; none: -1
};

class MpiTransport : public Transport {
 public:
  MpiTransport(const std::string& library, bool windows)
      : mpi_(std::make_shared<Mpi>(library)), windows_(windows) {
    Start();
    mpi_->Do("report errors", mpi_->Comm_set_errhandler, mpi_->world, mpi_->errors_return);
    mpi_->Do("tell the rank", mpi_->Comm_rank, mpi_->world, &rank_);
    mpi_->Do("tell the size", mpi_->Comm_size, mpi_->world, &size_);
    MpiHandle local = 0;
    mpi_->Do("find the host's processes", mpi_->Comm_split_type, mpi_->world, mpi_->shared, rank_,
             mpi_->no_info, &local);
    mpi_->Do("tell the local rank", mpi_->Comm_rank, local, &local_rank_);
    mpi_->Do("tell the local size", mpi_->Comm_size, local, &local_size_);
    crowded_ = local_size_ > Cores();
    FindHosts(local);
  }

  std::string Describe() const override { return mpi_->version; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }
  int local_size() const override { return local_size_; }

  std::unique_ptr<Group> NewGroup(std::string name, std::vector<int> ranks) override {
    auto me = std::find(ranks.begin(), ranks.end(), rank_);
    if (me == ranks.end())
      Throw(ErrorKind::kValue, "the group '{}' must have this rank, {}, among its own", name,
            rank_);
    int in_group = static_cast<int>(me - ranks.begin());
    Link link = Meet(name, ranks);
    bool here = OnOneHost(ranks), is_new = link.number < 0;
    if (is_new) {
      link.number = links_->NextNumber(ranks);
      link.comm = NewComm(name, ranks);
    }
    auto group = std::make_unique<MpiGroup>(mpi_, link.comm, std::move(name), ranks, in_group,
                                            crowded_, !here, link.life);
    if (is_new && Agreed(*group, here && windows_)) link.segments = Share(*group, link.comm);
    group->Hold(Used(links_, ranks, link));
    if (link.segments.empty()) return Delayed(std::move(group));
    std::memset(link.segments[static_cast<size_t>(in_group)], 0,
                static_cast<size_t>(WindowGroup::Bytes()));
    group->Barrier({});  // all have cleared theirs
    return Delayed(std::make_unique<WindowGroup>(std::move(group), link.segments, crowded_));
  }

  // Windows and communicators go with MPI.
  void Finish() override {
    int over = 0;
    mpi_->Do("tell whether it has ended", mpi_->Finalized, &over);
    if (started_ && !over) mpi_->End();
  }

 private:
  void Start() {
    int there = 0, level = 0;
    mpi_->Do("tell whether it runs", mpi_->Initialized, &there);
    if (there) return;
    mpi_->Do("start", mpi_->Init_thread, static_cast<int*>(nullptr), static_cast<char***>(nullptr),
             mpi_->serialized, &level);
    started_ = true;
    if (level >= mpi_->serialized) return;
    Throw(ErrorKind::kRuntime,
          "For 'init', the MPI library must let threads take turns (MPI_THREAD_SERIALIZED), but {} "
          "does not.",
          mpi_->version);
  }

  // The world's number of the first process of each rank's host.
  void FindHosts(MpiHandle local) {
    std::vector<int> ranks(static_cast<size_t>(size_));
    for (int r = 0; r < size_; ++r) ranks[static_cast<size_t>(r)] = r;
    everybody_ = std::make_unique<MpiGroup>(mpi_, mpi_->world, "world", ranks, rank_, crowded_);
    MpiGroup here(mpi_, local, "host", std::vector<int>(static_cast<size_t>(local_size_)),
                  local_rank_, crowded_);
    int first = rank_;
    here.Broadcast({}, &first, sizeof(first), 0);
    hosts_.resize(static_cast<size_t>(size_));
    std::vector<int64_t> bytes(hosts_.size(), sizeof(int));
    everybody_->AllGather({}, &first, hosts_.data(), bytes);
  }

  bool OnOneHost(const std::vector<int>& ranks) const {
    return std::all_of(ranks.begin(), ranks.end(), [&](int r) {
      return hosts_[static_cast<size_t>(r)] == hosts_[static_cast<size_t>(ranks[0])];
    });
  }

  bool Agreed(MpiGroup& group, bool mine) {
    mine = mine && SharedMemoryHas(WindowGroup::Bytes() * group.size());
    bool all = false;
    group.AllReduce({}, &mine, &all, 1, DType::kBool, Reduction::kMin);
    return all;
  }

  // Waits, watched, until all members are here: MPI's own waiting would end for nothing. They come
  // to the first of them. What they all have for a group of these ranks, if anything.
  Link Meet(const std::string& name, const std::vector<int>& ranks) {
    std::string text = fmt::format("{} {}", name, fmt::join(ranks, ","));
    Link mine = links_->Oldest(ranks);
    const Offer offer{std::hash<std::string>()(text), mine.number};
    Answer answer{mine.number, -1};
    std::string what =
        fmt::format("create_group '{}' with the ranks [{}]", name, fmt::join(ranks, ", "));
    int first = *std::min_element(ranks.begin(), ranks.end());
    if (rank_ == first) {
      for (int r : ranks) {
        if (r == rank_) continue;
        Offer theirs{};
        Ask(what, name, r, &theirs);
        if (theirs.group != offer.group) answer.different = r;
        if (theirs.link != offer.link) answer.link = -1;
      }
      for (int r : ranks) {
        if (r != rank_) Tell(what, name, r, answer);
      }
    } else {
      Tell(what, name, first, offer);
      Ask(what, name, first, &answer);
    }
    if (answer.different >= 0) {
      Throw(ErrorKind::kValue,
            "For 'create_group', all members of '{}' must name the same ranks in the same order, "
            "but rank {} names others than rank {}; this one, {}, names [{}].",
            name, answer.different, first, rank_, fmt::join(ranks, ", "));
    }
    if (answer.link < 0) return {};
    links_->Take(ranks, answer.link);
    return mine;
  }

  static int TagOf(const std::string& name) {
    return static_cast<int>(std::hash<std::string>()(name) % 30000);
  }

  template <class T>
  void Tell(const std::string& what, const std::string& name, int to, const T& text) {
    Exchange call{what};
    AnnouncedPair announced(*everybody_, call, to, TagOf(name), true);
    everybody_->Send(call, &text, sizeof text, DType::kUInt8, to, TagOf(name));
  }

  template <class T>
  void Ask(const std::string& what, const std::string& name, int from, T* text) {
    Exchange call{what};
    AnnouncedPair announced(*everybody_, call, from, TagOf(name), false);
    everybody_->Receive(call, text, sizeof *text, DType::kUInt8, from, TagOf(name));
  }

  MpiHandle NewComm(const std::string& name, const std::vector<int>& ranks) {
    MpiHandle everybody = 0, chosen = 0, comm = 0;
    mpi_->Do("tell the world's group", mpi_->Comm_group, mpi_->world, &everybody);
    mpi_->Do("choose members", mpi_->Group_incl, everybody, static_cast<int>(ranks.size()),
             ranks.data(), &chosen);
    mpi_->Do("make a group", mpi_->Comm_create_group, mpi_->world, chosen, TagOf(name), &comm);
    mpi_->Do("report errors", mpi_->Comm_set_errhandler, comm, mpi_->errors_return);
    mpi_->Do("free a group", mpi_->Group_free, &chosen);
    mpi_->Do("free a group", mpi_->Group_free, &everybody);
    return comm;
  }

  std::vector<char*> Share(const MpiGroup& group, MpiHandle comm) {
    char* mine = nullptr;
    MpiHandle window = 0;
    mpi_->Do("share memory", mpi_->Win_allocate_shared, WindowGroup::Bytes(), 1, mpi_->no_info,
             comm, static_cast<void*>(&mine), &window);
    std::vector<char*> segments;
    for (int r = 0; r < group.size(); ++r) {
      intptr_t bytes = 0;
      int unit = 0;
      char* segment = nullptr;
      mpi_->Do("tell shared memory", mpi_->Win_shared_query, window, r, &bytes, &unit,
               static_cast<void*>(&segment));
      segments.push_back(segment);
    }
    return segments;
  }

  std::shared_ptr<Mpi> mpi_;
  std::shared_ptr<Links> links_ = std::make_shared<Links>();
  std::unique_ptr<MpiGroup> everybody_;  // with a communicator that no group of the program has
  bool windows_, started_ = false, crowded_ = false;
  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
  std::vector<int> hosts_;
};

}  // namespace

std::unique_ptr<Transport> StartMpi(const std::string& library, bool windows) {
  return std::make_unique<MpiTransport>(library, windows);
}

}  // namespace ms::cpu
