#include "backends/cpu/collectives/mpi_transport.h"

#include <sched.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstring>

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

class MpiTransport : public Transport {
 public:
  MpiTransport(const std::string& library, bool windows) : mpi_(library), windows_(windows) {
    int there = 0, level = 0;
    mpi_.Do("tell whether it runs", mpi_.Initialized, &there);
    if (!there) {
      mpi_.Do("start", mpi_.Init_thread, static_cast<int*>(nullptr), static_cast<char***>(nullptr),
              mpi_.serialized, &level);
      started_ = true;
    }
    mpi_.Do("report errors", mpi_.Comm_set_errhandler, mpi_.world, mpi_.errors_return);
    mpi_.Do("tell the rank", mpi_.Comm_rank, mpi_.world, &rank_);
    mpi_.Do("tell the size", mpi_.Comm_size, mpi_.world, &size_);
    MpiHandle local = 0;
    mpi_.Do("find the host's processes", mpi_.Comm_split_type, mpi_.world, mpi_.shared, rank_,
            mpi_.no_info, &local);
    mpi_.Do("tell the local rank", mpi_.Comm_rank, local, &local_rank_);
    mpi_.Do("tell the local size", mpi_.Comm_size, local, &local_size_);
    crowded_ = local_size_ > Cores();
    FindHosts(local);
  }

  std::string Describe() const override { return mpi_.version; }
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
    MpiHandle comm = NewComm(name, ranks);
    bool here = OnOneHost(ranks);
    auto group =
        std::make_unique<MpiGroup>(mpi_, comm, std::move(name), ranks, in_group, crowded_, !here);
    return Delayed(Agreed(*group, here && windows_) ? InWindow(std::move(group), comm)
                                                    : std::move(group));
  }

  // Windows and communicators go with MPI: to free them one by one all members would have to meet.
  void Finish() override {
    int over = 0;
    mpi_.Do("tell whether it has ended", mpi_.Finalized, &over);
    if (started_ && !over) mpi_.Do("end", mpi_.Finalize);
  }

 private:
  // The world's number of the first process of each rank's host.
  void FindHosts(MpiHandle local) {
    std::vector<int> ranks(static_cast<size_t>(size_));
    for (int r = 0; r < size_; ++r) ranks[static_cast<size_t>(r)] = r;
    MpiGroup world(mpi_, mpi_.world, "world", ranks, rank_, crowded_);
    MpiGroup here(mpi_, local, "host", std::vector<int>(static_cast<size_t>(local_size_)),
                  local_rank_, crowded_);
    int first = rank_;
    here.Broadcast({}, &first, sizeof(first), 0);
    hosts_.resize(static_cast<size_t>(size_));
    std::vector<int64_t> bytes(hosts_.size(), sizeof(int));
    world.AllGather({}, &first, hosts_.data(), bytes);
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

  MpiHandle NewComm(const std::string& name, const std::vector<int>& ranks) {
    MpiHandle everybody = 0, chosen = 0, comm = 0;
    mpi_.Do("tell the world's group", mpi_.Comm_group, mpi_.world, &everybody);
    mpi_.Do("choose members", mpi_.Group_incl, everybody, static_cast<int>(ranks.size()),
            ranks.data(), &chosen);
    int tag = static_cast<int>(std::hash<std::string>()(name) % 30000);
    mpi_.Do("make a group", mpi_.Comm_create_group, mpi_.world, chosen, tag, &comm);
    mpi_.Do("report errors", mpi_.Comm_set_errhandler, comm, mpi_.errors_return);
    mpi_.Do("free a group", mpi_.Group_free, &chosen);
    mpi_.Do("free a group", mpi_.Group_free, &everybody);
    return comm;
  }

  std::unique_ptr<Group> InWindow(std::unique_ptr<MpiGroup> group, MpiHandle comm) {
    char* mine = nullptr;
    MpiHandle window = 0;
    mpi_.Do("share memory", mpi_.Win_allocate_shared, WindowGroup::Bytes(), 1, mpi_.no_info, comm,
            static_cast<void*>(&mine), &window);
    std::memset(mine, 0, static_cast<size_t>(WindowGroup::Bytes()));
    std::vector<char*> segments;
    for (int r = 0; r < group->size(); ++r) {
      intptr_t bytes = 0;
      int unit = 0;
      char* segment = nullptr;
      mpi_.Do("tell shared memory", mpi_.Win_shared_query, window, r, &bytes, &unit,
              static_cast<void*>(&segment));
      segments.push_back(segment);
    }
    group->Barrier({});  // all have cleared theirs
    return std::make_unique<WindowGroup>(std::move(group), std::move(segments), crowded_);
  }

  Mpi mpi_;
  bool windows_, started_ = false, crowded_ = false;
  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
  std::vector<int> hosts_;
};

}  // namespace

std::unique_ptr<Transport> StartMpi(const std::string& library, bool windows) {
  return std::make_unique<MpiTransport>(library, windows);
}

}  // namespace ms::cpu
