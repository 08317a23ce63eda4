// What a stream is given, kept to be launched again and again. What may run beside each other runs
// in an order that nobody expects, and in another one the next time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string_view>

#include "stub.h"

namespace stub {
namespace {

struct Executable {
  std::vector<Work> orders[2];
  size_t launches = 0;
};
struct State {
  Handles<Graph> graphs;
  Handles<Executable> executables;
  std::set<std::thread::id> strict;  // threads that capture, and not in the relaxed mode
};
State& The() {
  static auto* state = new State;
  return *state;
}

// All of the graph, each behind what it follows. `next` picks among those that may be next.
template <class F>
std::vector<Work> InOrder(const Graph& graph, F next) {
  std::vector<size_t> waits(graph.size());
  std::vector<std::vector<size_t>> followers(graph.size());
  std::vector<size_t> ready;
  for (const auto& one : graph) {
    waits[one->place] = one->after.size();
    if (one->after.empty()) ready.push_back(one->place);
    for (const Kept* earlier : one->after) followers[earlier->place].push_back(one->place);
  }
  std::vector<Work> order;
  while (!ready.empty()) {
    auto it = ready.begin() + static_cast<std::ptrdiff_t>(next(ready));
    size_t place = *it;
    ready.erase(it);
    order.push_back(graph[place]->work);
    for (size_t follower : followers[place]) {
      if (--waits[follower] == 0) ready.push_back(follower);
    }
  }
  return order;
}

Executable Instantiate(const Graph& graph) {
  using Places = std::vector<size_t>;
  std::minstd_rand numbers(static_cast<unsigned>(graph.size()));
  return {{InOrder(graph,
                   [](const Places& ready) {
                     return std::max_element(ready.begin(), ready.end()) - ready.begin();
                   }),
           InOrder(graph, [&](const Places& ready) { return numbers() % ready.size(); })}};
}

}  // namespace

int NotCaptured(const char* entry, void* stream) {
  if (!Of(stream).captures) return kSuccess;
  Of(stream).broken = true;
  return Refuse(kCaptureUnsupported,
                fmt::format("{} is called with a stream that is captured", entry));
}
int NotStrict(const char* entry) {
  if (!The().strict.contains(std::this_thread::get_id())) return kSuccess;
  return Refuse(kCaptureUnsupported, fmt::format("{} is called while a stream is captured", entry));
}

}  // namespace stub

using namespace stub;  // NOLINT: entries are C

STUB_ENTRY cuStreamBeginCapture_v2(void* stream, int mode) {
  Guard guard(TheMutex());
  if (int result = Ready("cuStreamBeginCapture", stream)) return result;
  if (int result = NotCaptured("cuStreamBeginCapture", stream)) return result;
  if (mode < 0 || mode > 2) return Refuse(kInvalidValue, "cuStreamBeginCapture: no mode");
  Stream& s = Of(stream);
  s.captures = true;
  s.broken = false;
  s.last.clear();
  s.thread = std::this_thread::get_id();
  if (mode != 2) The().strict.insert(s.thread);
  return kSuccess;
}
STUB_ENTRY cuStreamGetCaptureInfo_v3(void* stream, int* status, unsigned long long* id,
                                     void** graph, void*** nodes, void** edges, size_t* count) {
  Guard guard(TheMutex());
  if (int result = Ready("cuStreamGetCaptureInfo", stream)) return result;
  if (!status) return Refuse(kInvalidValue, "cuStreamGetCaptureInfo: no place for the status");
  if (id || graph || edges)
    return Refuse(kInvalidValue, "cuStreamGetCaptureInfo: results that the stub does not know");
  Stream& s = Of(stream);
  *status = s.broken ? 2 : s.captures ? 1 : 0;
  if (*status != 1) return kSuccess;
  if (nodes) *nodes = reinterpret_cast<void**>(s.last.data());
  if (count) *count = s.last.size();
  return kSuccess;
}
STUB_ENTRY cuStreamUpdateCaptureDependencies_v2(void* stream, void** nodes, const void* edges,
                                                size_t count, unsigned flags) {
  Guard guard(TheMutex());
  const char* entry = "cuStreamUpdateCaptureDependencies";
  if (int result = Ready(entry, stream)) return result;
  Stream& s = Of(stream);
  if (!s.captures) return Refuse(kIllegalState, fmt::format("{} without a capture", entry));
  if (flags > 1 || edges || (count && !nodes))
    return Refuse(kInvalidValue, fmt::format("{}: what the stub does not know", entry));
  std::vector<Kept*> given;
  for (size_t i = 0; i < count; ++i) {
    auto it = std::find_if(s.kept.begin(), s.kept.end(),
                           [&](const auto& one) { return one.get() == nodes[i]; });
    if (it == s.kept.end())
      return Refuse(kInvalidHandle, fmt::format("{}: no node of this capture", entry));
    if (std::find(given.begin(), given.end(), it->get()) != given.end())
      return Refuse(kInvalidValue, fmt::format("{}: a node twice", entry));
    given.push_back(it->get());
  }
  const char* forks = std::getenv("MS_CUDA_STUB_FORKS");  // "no": a driver that refuses them
  if (forks && std::string_view(forks) == "no") return kInvalidValue;
  Count("forks");
  if (flags == 0) given.insert(given.end(), s.last.begin(), s.last.end());
  s.last = std::move(given);
  return kSuccess;
}
STUB_ENTRY cuStreamEndCapture(void* stream, void** graph) {
  Guard guard(TheMutex());
  if (int result = Ready("cuStreamEndCapture", stream)) return result;
  Stream& s = Of(stream);
  if (!s.captures) return Refuse(kInvalidValue, "cuStreamEndCapture: the stream is not captured");
  if (s.thread != std::this_thread::get_id())
    return Refuse(kCaptureWrongThread, "cuStreamEndCapture: another thread began it");
  s.captures = false;
  The().strict.erase(s.thread);
  Graph kept = std::exchange(s.kept, {});
  if (s.broken) return *graph = nullptr, kCaptureInvalidated;
  Count("captures");
  return *graph = The().graphs.Add(std::move(kept)), kSuccess;
}
STUB_ENTRY cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  Guard guard(TheMutex());
  if (int result = Ready("cuGraphInstantiate")) return result;
  if (!The().graphs.Has(graph)) return Refuse(kInvalidHandle, "cuGraphInstantiate: no graph");
  if (flags) return Refuse(kInvalidValue, "cuGraphInstantiate: flags that the stub does not know");
  return *executable = The().executables.Add(Instantiate(*static_cast<Graph*>(graph))), kSuccess;
}
STUB_ENTRY cuGraphLaunch(void* executable, void* stream) {
  Guard guard(TheMutex());
  if (int result = Ready("cuGraphLaunch", stream)) return result;
  if (int result = NotCaptured("cuGraphLaunch", stream)) return result;
  if (!The().executables.Has(executable)) return Refuse(kInvalidHandle, "cuGraphLaunch: no graph");
  Count("launches");
  Count("replays");
  auto& one = *static_cast<Executable*>(executable);
  for (const Work& work : one.orders[one.launches++ % 2]) Of(stream).Give(work);
  return kSuccess;
}
STUB_ENTRY cuGraphDestroy(void* graph) {
  Guard guard(TheMutex());
  if (!The().graphs.Has(graph)) return Refuse(kInvalidHandle, "cuGraphDestroy: no graph");
  return The().graphs.Remove(graph), kSuccess;
}
STUB_ENTRY cuGraphExecDestroy(void* executable) {
  Guard guard(TheMutex());
  if (!The().executables.Has(executable))
    return Refuse(kInvalidHandle, "cuGraphExecDestroy: no graph");
  return The().executables.Remove(executable), kSuccess;
}
