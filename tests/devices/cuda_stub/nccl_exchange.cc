// What ranks of a communicator tell each other, and what each makes of it; see nccl.h.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "nccl.h"
#include "numbers.h"

namespace stub {
namespace {

constexpr size_t kItems[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};  // by ncclDataType_t
constexpr const char* kNames[] = {"ncclAllReduce", "ncclReduceScatter", "ncclAllGather",
                                  "ncclBroadcast", "ncclReduce",        "ncclSend",
                                  "ncclRecv"};

// ---- numbers

template <class T>
void FoldIntegers(char* at, const char* next, size_t count, int reduction) {
  for (size_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, at + i * sizeof(T), sizeof(T));
    std::memcpy(&b, next + i * sizeof(T), sizeof(T));
    auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    T result = reduction == 0   ? static_cast<T>(x + y)
               : reduction == 1 ? static_cast<T>(x * y)
               : reduction == 2 ? std::max(a, b)
                                : std::min(a, b);
    std::memcpy(at + i * sizeof(T), &result, sizeof(T));
  }
}

void FoldFloats(char* at, const char* next, size_t count, int type, int reduction) {
  int code = type == 6 ? 2 : type == 7 ? 0 : type == 8 ? 1 : 14;  // of numbers.h
  for (size_t i = 0; i < count; ++i, at += kItems[type], next += kItems[type]) {
    double a = Get(at, code), b = Get(next, code);
    double result = reduction == 0   ? a + b
                    : reduction == 1 ? a * b
                    : reduction == 2 ? (a > b || a != a ? a : b)
                                     : (a < b || a != a ? a : b);
    Put(at, code, result);
  }
}

void Fold(char* at, const char* next, size_t count, int type, int reduction) {
  switch (type) {
    case 0:
      return FoldIntegers<int8_t>(at, next, count, reduction);
    case 1:
      return FoldIntegers<uint8_t>(at, next, count, reduction);
    case 2:
      return FoldIntegers<int32_t>(at, next, count, reduction);
    case 3:
      return FoldIntegers<uint32_t>(at, next, count, reduction);
    case 4:
      return FoldIntegers<int64_t>(at, next, count, reduction);
    case 5:
      return FoldIntegers<uint64_t>(at, next, count, reduction);
    default:
      return FoldFloats(at, next, count, type, reduction);
  }
}

// ---- what ranks tell each other

struct Told {
  Given given;
  std::string bytes;
};
using Unit = std::vector<Told>;

bool Sends(const Given& given, const CommState& comm) {
  if (given.call == Call::kRecv) return false;
  return given.call != Call::kBroadcast || given.other == comm.rank;
}

std::string TextOf(const CommState& comm, const std::vector<Given>& calls) {
  std::string text;
  for (const Given& given : calls) {
    uint64_t parts = given.call == Call::kReduceScatter ? static_cast<uint64_t>(comm.size) : 1;
    uint64_t bytes = Sends(given, comm) ? parts * given.bytes() : 0;
    text.append(reinterpret_cast<const char*>(&given), sizeof(given));
    text.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
    if (bytes) text.append(static_cast<const char*>(Open(given.in)), bytes);
  }
  return text;
}

Unit UnitOf(const std::string& text) {
  Unit unit;
  for (size_t at = 0; at < text.size();) {
    Told told;
    uint64_t bytes = 0;
    std::memcpy(&told.given, &text[at], sizeof(told.given));
    std::memcpy(&bytes, &text[at + sizeof(told.given)], sizeof(bytes));
    at += sizeof(told.given) + sizeof(bytes);
    told.bytes = text.substr(at, bytes);
    at += bytes;
    unit.push_back(std::move(told));
  }
  return unit;
}

std::string PlaceOf(const CommState& comm, uint64_t unit, int rank) {
  return fmt::format("{}/{}.{}", comm.folder, unit, rank);
}

std::string Text(const Given& g) {
  return fmt::format("{} of {} numbers of type {}, reduction {}, root {}",
                     kNames[static_cast<int>(g.call)], g.count, g.type, g.reduction, g.other);
}

bool Alike(const Given& a, const Given& b) {
  return a.call == b.call && a.count == b.count && a.type == b.type &&
         a.reduction == b.reduction && a.other == b.other;
}

// ---- calls of all ranks

bool Fits(const std::vector<Unit>& units, size_t i, const CommState& comm) {
  const Given& mine = units[static_cast<size_t>(comm.rank)][i].given;
  for (size_t rank = 0; rank < units.size(); ++rank) {
    if (i < units[rank].size() && Alike(units[rank][i].given, mine)) continue;
    Refuse(5, fmt::format("rank {} makes {}, rank {} {}", comm.rank, Text(mine), rank,
                          i < units[rank].size() ? Text(units[rank][i].given) : "nothing"));
    return false;
  }
  return true;
}

void RunOfAll(const std::vector<Unit>& units, size_t i, const CommState& comm) {
  const Given& mine = units[static_cast<size_t>(comm.rank)][i].given;
  size_t bytes = mine.bytes(), first = 0;
  switch (mine.call) {
    case Call::kAllGather:
      for (size_t rank = 0; rank < units.size(); ++rank)
        std::memcpy(Open(mine.out + rank * bytes), units[rank][i].bytes.data(), bytes);
      return;
    case Call::kBroadcast:
      std::memcpy(Open(mine.out), units[static_cast<size_t>(mine.other)][i].bytes.data(), bytes);
      return;
    case Call::kReduceScatter:
      first = static_cast<size_t>(comm.rank) * bytes;
      break;
    default:
      break;
  }
  if (mine.call == Call::kReduce && mine.other != comm.rank) return;
  std::string sum = units[0][i].bytes.substr(first, bytes);
  for (size_t rank = 1; rank < units.size(); ++rank)
    Fold(sum.data(), units[rank][i].bytes.data() + first, mine.count, mine.type, mine.reduction);
  std::memcpy(Open(mine.out), sum.data(), bytes);
}

// ---- from one to another

// What is sent for the i-th call; null: nothing that fits.
const Told* SentFor(const std::vector<Unit>& units, size_t i, const CommState& comm) {
  const Unit& own = units[static_cast<size_t>(comm.rank)];
  const Given& mine = own[i].given;
  size_t before = 0;
  for (size_t k = 0; k < i; ++k)
    before += own[k].given.call == Call::kRecv && own[k].given.other == mine.other;
  for (const Told& told : units[static_cast<size_t>(mine.other)]) {
    if (told.given.call != Call::kSend || told.given.other != comm.rank || before--) continue;
    if (told.given.count == mine.count && told.given.type == mine.type) return &told;
    Refuse(5, fmt::format("rank {} makes {}, rank {} {}", comm.rank, Text(mine), mine.other,
                          Text(told.given)));
    return nullptr;
  }
  Refuse(5, fmt::format("rank {} makes {}, and rank {} sends nothing", comm.rank, Text(mine),
                        mine.other));
  return nullptr;
}

bool AllFit(const std::vector<Unit>& units, const CommState& comm) {
  const Unit& own = units[static_cast<size_t>(comm.rank)];
  for (size_t i = 0; i < own.size(); ++i) {
    Call call = own[i].given.call;
    if (call == Call::kRecv ? !SentFor(units, i, comm) : call != Call::kSend && !Fits(units, i, comm))
      return false;
  }
  return true;
}

// One run of a unit of work. What does not fit waits for ever, as it may on a GPU.
struct Run {
  std::optional<uint64_t> number;
  std::vector<Unit> units;  // of all ranks, once they are here
};

bool IsReady(CommState& comm, const std::vector<Given>& calls, Run& run) {
  if (comm.aborted || !run.units.empty()) return true;
  if (comm.stuck) return false;
  if (!run.number) {
    run.number = comm.units++;
    WriteFile(PlaceOf(comm, *run.number, comm.rank), TextOf(comm, calls));
  }
  for (int rank = 0; rank < comm.size; ++rank) {
    if (!Exists(PlaceOf(comm, *run.number, rank))) return false;
  }
  std::vector<Unit> units;
  for (int rank = 0; rank < comm.size; ++rank)
    units.push_back(UnitOf(ReadFile(PlaceOf(comm, *run.number, rank))));
  comm.stuck = !AllFit(units, comm);
  if (!comm.stuck) run.units = std::move(units);
  return !comm.stuck;
}

void Make(const CommState& comm, const std::vector<Given>& calls, Run& run) {
  if (comm.aborted) return;
  // All are here: they have read what came before.
  if (*run.number > 0) unlink(PlaceOf(comm, *run.number - 1, comm.rank).c_str());
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].call == Call::kRecv) {
      const std::string& bytes = SentFor(run.units, i, comm)->bytes;
      std::memcpy(Open(calls[i].out), bytes.data(), bytes.size());
    } else if (calls[i].call != Call::kSend) {
      RunOfAll(run.units, i, comm);
    }
  }
  run = {};
}

}  // namespace

size_t Given::bytes() const { return count * kItems[type]; }

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

void WriteFile(const std::string& path, const std::string& text) {
  std::string draft = path + ".draft";
  {
    std::ofstream file(draft, std::ios::binary);
    file << text;
  }
  std::rename(draft.c_str(), path.c_str());
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Work Exchange(std::shared_ptr<CommState> comm, std::vector<Given> calls) {
  // Work that is recorded runs many times, one after the other.
  auto run = std::make_shared<Run>();
  return {[=] { Make(*comm, calls, *run); }, [=] { return IsReady(*comm, calls, *run); }};
}

}  // namespace stub
