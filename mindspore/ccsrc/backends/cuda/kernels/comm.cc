// What processes do together (ops/comm.cc), each with a GPU: by NCCL, in the order of the stream.
// Messages from one to another stay the host's: NCCL knows no tags, and has who sends wait. So do
// barriers, which are about the programs. MS_CUDA_NCCL=0 leaves all of it to the host.
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>

#include "backends/cuda/communicator.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"
#include "backends/cuda/libraries.h"

namespace ms::cuda {
namespace {

// What is added up, as NCCL has it: so many of its numbers are an element.
struct Numbers {
  int type;
  int64_t each = 1;
};
std::optional<Numbers> NumbersOf(DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return Numbers{comm::kUint8};
    case DType::kInt8:
      return Numbers{comm::kInt8};
    case DType::kInt32:
      return Numbers{comm::kInt32};
    case DType::kUInt32:
      return Numbers{comm::kUint32};
    case DType::kInt64:
      return Numbers{comm::kInt64};
    case DType::kUInt64:
      return Numbers{comm::kUint64};
    case DType::kFloat16:
      return Numbers{comm::kFloat16};
    case DType::kBFloat16:
      return Numbers{comm::kBrain16};
    case DType::kFloat32:
      return Numbers{comm::kFloat32};
    case DType::kFloat64:
      return Numbers{comm::kFloat64};
    case DType::kComplex64:
      return Numbers{comm::kFloat32, 2};
    case DType::kComplex128:
      return Numbers{comm::kFloat64, 2};
    default:
      return std::nullopt;
  }
}

// How elements are reduced; `refusal`: why NCCL does not.
struct Folding {
  Numbers numbers{};
  int how = 0;
  std::string refusal;
};
Folding FoldingOf(DType dtype, const std::string& op) {
  std::optional<Numbers> numbers = NumbersOf(dtype);
  if (!numbers) return {{}, 0, fmt::format("NCCL has no {}", Name(dtype))};
  if (numbers->each != 1 && op != "sum")
    return {{}, 0, fmt::format("NCCL has no products of {}", Name(dtype))};
  Reduction reduction = ReductionFromName(op);
  bool truths = dtype == DType::kBool;  // two trues are not two: or, and
  switch (reduction) {
    case Reduction::kSum:
      return {*numbers, truths ? comm::kMax : comm::kSum, ""};
    case Reduction::kProd:
      return {*numbers, truths ? comm::kMin : comm::kProd, ""};
    case Reduction::kMax:
      return {*numbers, comm::kMax, ""};
    case Reduction::kMin:
      return {*numbers, comm::kMin, ""};
  }
  return {};
}

struct Place {
  Communicator::Batch& batch;
  StreamHandle stream;
  const Group& group;
  const KernelArgs& args;
};

int64_t Bytes(const Type& type) { return static_cast<int64_t>(type.bytes()); }
const char* At(const void* data, int64_t bytes) { return static_cast<const char*>(data) + bytes; }
char* At(void* data, int64_t bytes) { return static_cast<char*>(data) + bytes; }
size_t Count(int64_t n) { return static_cast<size_t>(n); }

std::string What(const KernelRequest& r, const std::string& detail = "") {
  const Type& type = r.in[0];
  return detail.empty() ? fmt::format("{} {}", r.op.name, type)
                        : fmt::format("{} {} {}", r.op.name, detail, type);
}

// Rows of each member, where they may differ, as what the members are compared by.
std::string Rows(const KernelRequest& r) {
  const Ints& counts = r.attr<Ints>("counts");
  return counts.empty() ? "" : fmt::format(" in rows {}", fmt::join(counts, ", "));
}

// Elements of each member; empty: all have as many.
std::vector<int64_t> Parts(const KernelRequest& r, const Type& part) {
  std::vector<int64_t> result;
  int64_t row = part.shape().Product(1, part.shape().rank());
  for (int64_t rows : r.attr<Ints>("counts")) result.push_back(rows * row);
  return result;
}

// A call of all members; where this process is alone, its bytes go from the first input to the
// first output. `several`: of NCCL.
KernelChoice OfAll(const KernelRequest& r, std::string what, bool several,
                   std::function<void(const Place&)> give) {
  int64_t bytes = r.in.size() == 1 ? std::min(Bytes(r.in[0]), Bytes(r.out[0])) : 0;
  return FunctionKernel(
      [name = r.attr<std::string>("group"), what = std::move(what), several, bytes,
       give = std::move(give)](const KernelArgs& args) {
        std::shared_ptr<Group> group = FindGroup(name);
        LaunchPlace place = args.place ? *args.place : LaunchPlace{};
        StreamHandle stream = StreamOf(args).handle();
        if (group->size() == 1) return TheMemory().CopyInRun(args.out[0], args.in[0], Count(bytes));
        auto communicator = Communicator::Of(group, place.span);
        GiveJointly({communicator, what, place}, stream, [&] {
          Communicator::Batch batch(*communicator, several);
          give({batch, stream, *group, args});
          batch.End();
        });
      },
      2000);
}

KernelChoice AllReduce(const KernelRequest& r) {
  const auto& op = r.attr<std::string>("op");
  Folding f = FoldingOf(r.dtype(0), op);
  if (!f.refusal.empty()) return No("{}", f.refusal);
  return OfAll(r, What(r, op), false,
               [f, count = Count(r.shape(0).size() * f.numbers.each)](const Place& p) {
                 if (count == 0) return;
                 p.batch.Add(TheComm().AllReduce(p.args.in[0], p.args.out[0], count, f.numbers.type,
                                                 f.how, p.batch.handle(), p.stream),
                             "ncclAllReduce");
               });
}

// The members' parts, of as many elements or of the numbers in `parts`.
KernelChoice ReduceScatter(const KernelRequest& r) {
  const auto& op = r.attr<std::string>("op");
  Folding f = FoldingOf(r.dtype(0), op);
  if (!f.refusal.empty()) return No("{}", f.refusal);
  auto item = static_cast<int64_t>(ItemSize(r.dtype(0)));
  std::vector<int64_t> parts = Parts(r, r.out[0]);
  bool several = !parts.empty();
  auto give = [f, item, parts,
               count = Count(r.out[0].shape().size() * f.numbers.each)](const Place& p) {
    if (parts.empty() && count) {
      p.batch.Add(TheComm().ReduceScatter(p.args.in[0], p.args.out[0], count, f.numbers.type, f.how,
                                          p.batch.handle(), p.stream),
                  "ncclReduceScatter");
    }
    int64_t at = 0;
    for (int member = 0; member < static_cast<int>(parts.size()); ++member) {
      int64_t elements = parts[Count(member)];
      void* out = member == p.group.rank() ? p.args.out[0] : nullptr;
      if (elements) {
        p.batch.Add(
            TheComm().Reduce(At(p.args.in[0], at * item), out, Count(elements * f.numbers.each),
                             f.numbers.type, f.how, member, p.batch.handle(), p.stream),
            "ncclReduce");
      }
      at += elements;
    }
  };
  return OfAll(r, What(r, op) + Rows(r), several, give);
}

KernelChoice AllGather(const KernelRequest& r) {
  auto item = static_cast<int64_t>(ItemSize(r.dtype(0)));
  std::vector<int64_t> parts = Parts(r, r.in[0]);
  bool several = !parts.empty();
  auto give = [item, parts, bytes = Count(Bytes(r.in[0]))](const Place& p) {
    if (parts.empty() && bytes) {
      p.batch.Add(TheComm().AllGather(p.args.in[0], p.args.out[0], bytes, comm::kUint8,
                                      p.batch.handle(), p.stream),
                  "ncclAllGather");
    }
    int64_t at = 0;
    for (int member = 0; member < static_cast<int>(parts.size()); ++member) {
      int64_t part = parts[Count(member)] * item;
      void* out = At(p.args.out[0], at);
      const void* in = member == p.group.rank() ? p.args.in[0] : out;  // the root's is read
      if (part) {
        p.batch.Add(TheComm().Broadcast(in, out, Count(part), comm::kUint8, member,
                                        p.batch.handle(), p.stream),
                    "ncclBroadcast");
      }
      at += part;
    }
  };
  return OfAll(r, fmt::format("AllGather {}{}", r.out[0], Rows(r)), several, give);
}

KernelChoice Broadcast(const KernelRequest& r) {
  auto root = static_cast<int>(r.attr<int64_t>("root"));
  return OfAll(r, What(r, fmt::format("from rank {}", root)), false,
               [root, bytes = Count(Bytes(r.in[0]))](const Place& p) {
                 if (bytes == 0) return;
                 p.batch.Add(TheComm().Broadcast(p.args.in[0], p.args.out[0], bytes, comm::kUint8,
                                                 root, p.batch.handle(), p.stream),
                             "ncclBroadcast");
               });
}

KernelChoice ExchangeParts(const KernelRequest& r) {
  auto give = [sends = r.attr<Ints>("sends"), receives = r.attr<Ints>("receives"),
               item = static_cast<int64_t>(ItemSize(r.dtype(0)))](const Place& p) {
    int64_t from = 0, to = 0;
    for (int member = 0; member < static_cast<int>(sends.size()); ++member) {
      int64_t sent = sends[Count(member)] * item, received = receives[Count(member)] * item;
      if (sent) {
        p.batch.Add(TheComm().Send(At(p.args.in[0], from), Count(sent), comm::kUint8, member,
                                   p.batch.handle(), p.stream),
                    "ncclSend");
      }
      if (received) {
        p.batch.Add(TheComm().Recv(At(p.args.out[0], to), Count(received), comm::kUint8, member,
                                   p.batch.handle(), p.stream),
                    "ncclRecv");
      }
      from += sent;
      to += received;
    }
  };
  return OfAll(r, fmt::format("Exchange {}", Name(r.dtype(0))), true, give);
}

// ---- sums of several tensors (kernel/joint_sums.h): begun by keeping them, and made all at once

KernelChoice BeginSum(const KernelRequest& r) {
  return FunctionKernel(
      [bytes = Count(Bytes(r.in[0]))](const KernelArgs& args) {
        TheMemory().CopyInRun(args.out[0], args.in[0], bytes);
      },
      2000);
}

struct Summand {
  DType dtype;
  int64_t elements;
  Folding folding;
};

// What NCCL has no numbers for.
void SumOnHost(const Summand& s, Group& group, const Exchange& call, const void* in, void* out) {
  Announced announced(group, call);
  size_t bytes = Count(s.elements) * ItemSize(s.dtype);
  BufferRef held = Buffer::Allocate(bytes);
  TheMemory().Fetch(held->data(), in, bytes);
  group.AllReduce(call, held->data(), held->data(), s.elements, s.dtype, Reduction::kSum);
  TheMemory().Store(out, held->data(), bytes);
}

KernelChoice EndSums(const KernelRequest& r) {
  std::vector<Summand> summands;
  for (const Type& type : r.in)
    summands.push_back({type.dtype(), type.shape().size(), FoldingOf(type.dtype(), "sum")});
  std::map<std::string, int64_t> elements;  // by dtype: what must be alike in all ranks
  for (const Summand& s : summands) elements[std::string(Name(s.dtype))] += s.elements;
  std::string what = fmt::format("AllReduce sum of {} tensors", summands.size());
  for (const auto& [dtype, count] : elements) what += fmt::format(", {}[{}]", dtype, count);
  auto run = [name = r.attr<std::string>("group"), summands = std::move(summands),
              what = std::move(what)](const KernelArgs& args) {
    std::shared_ptr<Group> group = FindGroup(name);
    LaunchPlace place = args.place ? *args.place : LaunchPlace{};
    StreamHandle stream = StreamOf(args).handle();
    if (group->size() == 1) {
      for (size_t i = 0; i < summands.size(); ++i) {
        const Summand& s = summands[i];
        TheMemory().CopyInRun(args.out[i], args.in[i], Count(s.elements) * ItemSize(s.dtype));
      }
      return;
    }
    auto communicator = Communicator::Of(group, place.span);
    GiveJointly({communicator, what, place}, stream, [&] {
      Communicator::Batch batch(*communicator, true);
      for (size_t i = 0; i < summands.size(); ++i) {
        const auto& [dtype, count, f] = summands[i];
        if (count == 0 || !f.refusal.empty()) continue;
        batch.Add(TheComm().AllReduce(args.in[i], args.out[i], Count(count * f.numbers.each),
                                      f.numbers.type, f.how, batch.handle(), stream),
                  "ncclAllReduce");
      }
      batch.End();
    });
    for (size_t i = 0; i < summands.size(); ++i) {
      if (summands[i].folding.refusal.empty() || summands[i].elements == 0) continue;
      SumOnHost(summands[i], *group, {what, place.span}, args.in[i], args.out[i]);
    }
  };
  return FunctionKernel(std::move(run), 2000);
}

}  // namespace

void AddComm(KernelTable& table) {
  const char* wanted = std::getenv("MS_CUDA_NCCL");
  if (wanted && std::string_view(wanted) == "0") return;
  table.For("AllReduce").Try("NCCL", AllReduce);
  table.For("ReduceScatter").Try("NCCL", ReduceScatter);
  table.For("AllGather").Try("NCCL", AllGather);
  table.For("Broadcast").Try("NCCL", Broadcast);
  table.For("Exchange").Try("NCCL", ExchangeParts);
  table.For("StartSum").Try("NCCL", BeginSum);
  table.For("AwaitSums").Try("NCCL", EndSums);
}

}  // namespace ms::cuda
