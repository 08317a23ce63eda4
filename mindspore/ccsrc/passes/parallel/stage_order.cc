#include "passes/parallel/stage_order.h"

#include <algorithm>

#include "ir/control.h"

namespace ms::parallel {
namespace {

bool Is(const Node* node, const char* name) {
  return node->kind == NodeKind::kApply && node->op->name == name;
}

}  // namespace

StageOrder::StageOrder(const Graph& main, const std::vector<int64_t>& inputs,
                       const ParallelOptions& options, const StagePlan& plan,
                       const std::vector<StageMemory>& memory)
    : main_(main),
      stages_(StagesOf(main, inputs, true)),
      parts_(main.nodes().size(), kNone),
      back_(main.nodes().size(), false) {
  FindParts();
  Choose(options, plan.costs, memory);
  Schedule();
}

// A mark says of what is made of its result which part of the batch it belongs to; its gradient,
// that the backward pass of the part has begun. Marks inside of a part say nothing new.
void StageOrder::FindParts() {
  for (const Node* node : main_.nodes()) {
    if (node->kind != NodeKind::kApply) continue;
    int64_t part = kNone;
    bool back = false;
    for (const Var& v : node->inputs) {
      int64_t other = parts_[v.node->id];
      if (other != kNone) part = part == kNone || part == other ? other : kSeveral;
      back = back || back_[v.node->id];
    }
    if (Is(node, "StageMark")) {
      joined_ = joined_ || (node->attr<bool>("back") && !back && part == kSeveral);
      if (part == kNone || part == kSeveral) part = node->attr<int64_t>("part");
      back = back || node->attr<bool>("back");
    }
    parts_[node->id] = part;
    back_[node->id] = back;
    report_.parts = std::max(report_.parts, part + 1);
  }
}

// By costs that all processes have: they must come to the same list.
void StageOrder::Choose(const ParallelOptions& options, const StageCosts& costs,
                        const std::vector<StageMemory>& memory) {
  report_.transfer = costs.transfer;
  auto& all = report_.schedules;
  int64_t limit = options.plan.memory_limit;
  all = RankSchedules(costs, memory, static_cast<int>(report_.parts), limit);
  Scheduler wanted = options.pipeline.scheduler;
  if (joined_) {
    std::erase_if(all, [](const ChosenSchedule& c) { return c.scheduler != Scheduler::kGpipe; });
    wanted = Scheduler::kGpipe;
    report_.note =
        "the gradient of the network's output is made of the output, for which all parts must have "
        "gone forward before any goes backward: there is no other schedule than 'gpipe'";
  }
  if (wanted != Scheduler::kBest) {
    auto chosen = std::find_if(all.begin(), all.end(),
                               [&](const ChosenSchedule& c) { return c.scheduler == wanted; });
    std::rotate(all.begin(), chosen, chosen + 1);
  }
  if (limit > 0 && all[0].most_held > limit) {
    LackOfMemory(all[0].most_held, options.AllDevices().devices(), limit,
                 fmt::format("with the schedule '{}'", Name(all[0].scheduler)));
  }
  for (size_t s = 0; s < costs.forward.size(); ++s) {
    report_.stages.push_back({costs.forward[s],
                              costs.backward[s],
                              memory[s].Parameters(),
                              memory[s].Activations(1),
                              all[0].most_kept[s],
                              {}});
  }
}

// By the last task that anything is part of which a node needs, itself included; otherwise as in
// the program, which processes with other pieces have in the same order.
void StageOrder::Schedule() {
  auto of = [&](int64_t stage, int64_t part, bool back) {
    return static_cast<size_t>((stage * report_.parts + part) * 2 + (back ? 1 : 0));
  };
  std::vector<int> number(of(static_cast<int64_t>(report_.stages.size()), 0, false));
  int tasks = 0;
  for (const StageTask& task : report_.schedules[0].simulation.order)
    number[of(task.stage, task.part, task.backward)] = ++tasks;
  std::vector<int> last(main_.nodes().size(), 0);
  for (const Node* node : main_.nodes()) {
    int& mine = last[node->id];
    for (const Var& v : node->inputs) mine = std::max(mine, last[v.node->id]);
    int64_t stage = stages_[node->id], part = parts_[node->id];
    bool sends = Is(node, "StageMove");  // when the value is there
    if (stage >= 0 && part >= 0 && !sends)
      mine = std::max(mine, number[of(stage, part, back_[node->id])]);
  }
  AddUpInOrder(&last);
  // Of one task, what joins parts comes behind what it joins.
  std::vector<bool> late(main_.nodes().size(), false);
  for (const Node* node : main_.nodes()) {
    bool behind = parts_[node->id] == kSeveral;
    for (const Var& v : node->inputs)
      behind = behind || (late[v.node->id] && last[v.node->id] == last[node->id]);
    late[node->id] = behind;
  }
  std::vector<Node*> sorted = main_.nodes();
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Node* a, const Node* b) {
    return std::pair(last[a->id], bool{late[a->id]}) < std::pair(last[b->id], bool{late[b->id]});
  });
  std::vector<bool> done(main_.nodes().size(), false);
  for (Node* node : sorted) Add(node, &done);
}

// The node behind what it needs, where the order by tasks says nothing of that.
void StageOrder::Add(Node* node, std::vector<bool>* done) {
  std::vector<Node*> pending{node};
  while (!pending.empty()) {
    Node* next = pending.back();
    size_t before = pending.size();
    if (!(*done)[next->id]) {
      for (const Var& v : next->inputs) {
        if (!(*done)[v.node->id]) pending.push_back(v.node);
      }
    }
    if (pending.size() > before) continue;
    pending.pop_back();
    if (!(*done)[next->id]) order_.push_back(next);
    (*done)[next->id] = true;
  }
}

// Gradients are added up from the last part to the first, as the program goes backward; when it is
// ordered by tasks, all would be kept until the first part comes. They are added as they come.
void StageOrder::AddUpInOrder(std::vector<int>* last) {
  std::vector<int> readers(main_.nodes().size(), 0);
  for (const Node* node : main_.nodes()) {
    for (const Var& v : node->inputs) ++readers[v.node->id];
  }
  for (const Var& v : main_.outputs()) readers[v.node->id] += 2;
  std::vector<bool> seen(main_.nodes().size(), false);
  for (auto it = main_.nodes().rbegin(); it != main_.nodes().rend(); ++it) {
    if (!Is(*it, "Add") || seen[(*it)->id]) continue;
    std::vector<Node*> sums;
    std::vector<Var> addends = Addends(*it, readers, &sums);
    for (const Node* sum : sums) seen[sum->id] = true;
    auto at = [&](const Var& v) { return (*last)[v.node->id]; };
    bool parts = sums.size() > 1 && std::all_of(addends.begin(), addends.end(), [&](const Var& v) {
                   return parts_[v.node->id] >= 0 && stages_[v.node->id] == stages_[(*it)->id];
                 });
    if (!parts) continue;
    std::stable_sort(addends.begin(), addends.end(),
                     [&](const Var& a, const Var& b) { return at(a) < at(b); });
    std::sort(sums.begin(), sums.end(), [](const Node* a, const Node* b) { return a->id < b->id; });
    Var sum = addends[0];
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i]->inputs = {sum, addends[i + 1]};
      (*last)[sums[i]->id] = std::max(at(sum), at(addends[i + 1]));
      sum = {sums[i], 0};
    }
  }
}

// What a sum over parts adds up, through sums that nothing else reads, which go to `sums`.
std::vector<Var> StageOrder::Addends(Node* sum, const std::vector<int>& readers,
                                     std::vector<Node*>* sums) {
  std::vector<Var> addends;
  std::vector<Node*> pending{sum};
  while (!pending.empty()) {
    Node* next = pending.back();
    pending.pop_back();
    sums->push_back(next);
    for (const Var& v : next->inputs) {
      bool inner = Is(v.node, "Add") && readers[v.node->id] == 1 && v.type() == sum->outputs[0] &&
                   parts_[v.node->id] == kSeveral;
      if (inner)
        pending.push_back(v.node);
      else
        addends.push_back(v);
    }
  }
  bool alike = std::all_of(addends.begin(), addends.end(),
                           [&](const Var& v) { return v.type() == sum->outputs[0]; });
  return alike && parts_[sum->id] == kSeveral ? addends : std::vector<Var>{sum->inputs[0]};
}

}  // namespace ms::parallel
