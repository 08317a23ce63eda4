// What processes do together (ops/comm.cc), by the groups of kernel/collectives.h.
#include <cstring>
#include <functional>

#include "backends/cpu/cpu.h"
#include "kernel/joint_sums.h"

namespace ms::cpu {
namespace {

// Others are waited for: the GIL is worth releasing.
constexpr double kWaits = 1e6;
constexpr size_t kShownRows = 16;

struct Place {
  Group& group;
  Exchange call;
  const KernelArgs& args;
};

// What runs in the group that is named by the attribute when the kernel runs.
KernelChoice InGroup(const KernelRequest& r, std::string what,
                     std::function<void(const Place&)> run) {
  auto name = r.attr<std::string>("group");
  return FunctionKernel(
      [name, what = std::move(what), run = std::move(run)](const KernelArgs& args) {
        std::shared_ptr<Group> group = FindGroup(name);
        run({*group, {what, args.place ? args.place->span : 0}, args});
      },
      kWaits);
}

// The same, of a call with one other member.
KernelChoice WithOther(const KernelRequest& r, std::string what, const char* other, bool sends,
                       std::function<void(const Place&)> run) {
  auto rank = static_cast<int>(r.attr<int64_t>(other)),
       tag = static_cast<int>(r.attr<int64_t>("tag"));
  return InGroup(r, std::move(what), [rank, tag, sends, run = std::move(run)](const Place& place) {
    AnnouncedPair announced(place.group, place.call, rank, tag, sends);
    run(place);
  });
}

// The same, of a call that all members make.
KernelChoice OfAll(const KernelRequest& r, std::string what,
                   std::function<void(const Place&)> run) {
  return InGroup(r, std::move(what), [run = std::move(run)](const Place& place) {
    Announced announced(place.group, place.call);
    run(place);
  });
}

std::string What(const KernelRequest& r, const std::string& detail = "") {
  std::string type = r.in.empty() ? r.out[0].ToString() : r.in[0].ToString();
  return detail.empty() ? fmt::format("{} {}", r.op.name, type)
                        : fmt::format("{} {} {}", r.op.name, detail, type);
}

int64_t Bytes(const Type& type) {
  return type.shape().size() * static_cast<int64_t>(ItemSize(type.dtype()));
}

// How many rows each member has, where they may differ: members that disagree would take each
// other's bytes for their own.
std::string Rows(const KernelRequest& r) {
  const Ints& counts = r.attr<Ints>("counts");
  if (counts.empty()) return "";
  if (counts.size() <= kShownRows) return fmt::format(" in rows {}", fmt::join(counts, ", "));
  uint64_t hash = 0;
  for (int64_t n : counts) hash = (hash ^ static_cast<uint64_t>(n)) * 0x100000001b3;
  return fmt::format(" in rows of {} members, #{:x}", counts.size(), hash);
}

// Elements of each member: of the rows in `counts`, or of as many for all.
std::vector<int64_t> Elements(const KernelRequest& r, const Type& part, int64_t item = 1) {
  std::vector<int64_t> result;
  int64_t row = part.shape().Product(1, part.shape().rank());
  for (int64_t rows : r.attr<Ints>("counts")) result.push_back(rows * row * item);
  if (result.empty())
    result.assign(static_cast<size_t>(r.attr<int64_t>("members")), part.shape().size() * item);
  return result;
}

KernelChoice AllReduce(const KernelRequest& r) {
  const auto& op = r.attr<std::string>("op");
  return OfAll(
      r, What(r, op),
      [n = r.shape(0).size(), dtype = r.dtype(0), how = ReductionFromName(op)](const Place& p) {
        p.group.AllReduce(p.call, p.args.in[0], p.args.out[0], n, dtype, how);
      });
}

void CopyIfApart(const void* from, void* to, int64_t bytes) {
  if (from != to && bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

KernelChoice BeginSum(const KernelRequest& r) {
  auto sum = std::make_shared<JointSum>();
  sum->group = r.attr<std::string>("group");
  sum->counts = r.attr<Ints>("counts");
  for (int64_t dtype : r.attr<Ints>("dtypes")) sum->dtypes.push_back(static_cast<DType>(dtype));
  sum->beside = r.attr<bool>("beside");
  auto run = [sum = std::shared_ptr<const JointSum>(std::move(sum)),
              index = static_cast<size_t>(r.attr<int64_t>("index")),
              bytes = Bytes(r.in[0])](const KernelArgs& args) {
    CopyIfApart(args.in[0], args.out[0], bytes);
    StartSum(sum, index, args.out[0], args.place ? args.place->span : 0);
  };
  return FunctionKernel(std::move(run), static_cast<double>(Bytes(r.in[0])) / 16);
}

KernelChoice EndSums(const KernelRequest& r) {
  std::vector<int64_t> bytes;
  for (const Type& type : r.in) bytes.push_back(Bytes(type));
  auto run = [bytes = std::move(bytes),
              group = r.attr<std::string>("group")](const KernelArgs& args) {
    AwaitSums(group);
    for (size_t i = 0; i < bytes.size(); ++i) CopyIfApart(args.in[i], args.out[i], bytes[i]);
  };
  return FunctionKernel(std::move(run), kWaits);
}

KernelChoice ReduceScatter(const KernelRequest& r) {
  const auto& op = r.attr<std::string>("op");
  return OfAll(r, What(r, op) + Rows(r),
               [counts = Elements(r, r.out[0]), dtype = r.dtype(0),
                how = ReductionFromName(op)](const Place& p) {
                 p.group.ReduceScatter(p.call, p.args.in[0], p.args.out[0], counts, dtype, how);
               });
}

KernelChoice AllGather(const KernelRequest& r) {
  // Members may have different numbers of rows: the result is what all have in common.
  auto item = static_cast<int64_t>(ItemSize(r.dtype(0)));
  return OfAll(r, fmt::format("AllGather {}{}", r.out[0], Rows(r)),
               [bytes = Elements(r, r.in[0], item)](const Place& p) {
                 p.group.AllGather(p.call, p.args.in[0], p.args.out[0], bytes);
               });
}

KernelChoice Broadcast(const KernelRequest& r) {
  int64_t root = r.attr<int64_t>("root");
  return OfAll(r, What(r, fmt::format("from rank {}", root)),
               [root = static_cast<int>(root), bytes = Bytes(r.in[0])](const Place& p) {
                 if (p.args.out[0] != p.args.in[0])
                   std::memcpy(p.args.out[0], p.args.in[0], static_cast<size_t>(bytes));
                 p.group.Broadcast(p.call, p.args.out[0], bytes, root);
               });
}

KernelChoice ExchangeParts(const KernelRequest& r) {
  auto item = static_cast<int64_t>(ItemSize(r.dtype(0)));
  auto bytes = [item](Ints counts) {
    for (int64_t& n : counts) n *= item;
    return counts;
  };
  return OfAll(r, fmt::format("Exchange {}", Name(r.dtype(0))),
               [sends = bytes(r.attr<Ints>("sends")),
                receives = bytes(r.attr<Ints>("receives"))](const Place& p) {
                 p.group.AllToAll(p.call, p.args.in[0], sends, p.args.out[0], receives);
               });
}

KernelChoice Send(const KernelRequest& r) {
  auto to = static_cast<int>(r.attr<int64_t>("target"));
  auto tag = static_cast<int>(r.attr<int64_t>("tag"));
  return WithOther(r, fmt::format("{} to rank {}, tag {}", What(r), to, tag), "target", true,
                   [to, tag, bytes = Bytes(r.in[0]), dtype = r.dtype(0)](const Place& p) {
                     p.group.Send(p.call, p.args.in[0], bytes, dtype, to, tag);
                     *static_cast<float*>(p.args.out[0]) = 0;
                   });
}

KernelChoice Receive(const KernelRequest& r) {
  auto from = static_cast<int>(r.attr<int64_t>("source"));
  auto tag = static_cast<int>(r.attr<int64_t>("tag"));
  return WithOther(r, fmt::format("{} from rank {}, tag {}", What(r), from, tag), "source", false,
                   [from, tag, bytes = Bytes(r.out[0]), dtype = r.out[0].dtype()](const Place& p) {
                     p.group.Receive(p.call, p.args.out[0], bytes, dtype, from, tag);
                   });
}

KernelChoice Barrier(const KernelRequest& r) {
  return OfAll(r, "Barrier", [](const Place& p) {
    p.group.Barrier(p.call);
    *static_cast<float*>(p.args.out[0]) = 0;
  });
}

}  // namespace

void AddComm(KernelTable& table) {
  table.For("AllReduce").Try("group", AllReduce);
  table.For("StartSum").Try("joint", BeginSum);
  table.For("AwaitSums").Try("joint", EndSums);
  table.For("ReduceScatter").Try("group", ReduceScatter);
  table.For("AllGather").Try("group", AllGather);
  table.For("Broadcast").Try("group", Broadcast);
  table.For("Exchange").Try("group", ExchangeParts);
  table.For("Send").Try("group", Send);
  table.For("Receive").Try("group", Receive);
  table.For("Barrier").Try("group", Barrier);
}

}  // namespace ms::cpu
