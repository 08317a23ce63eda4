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
                       const ParallelOptions& options, const StagePlan& plan)
    : main_(main),
      stages_(StagesOf(main, inputs)),
      parts_(main.nodes().size(), kNone),
      back_(main.nodes().size(), false),
      done_(main.nodes().size(), false) {
  FindParts();
  Choose(options, plan);
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
      if (part == kNone || part == kSeveral) part = node->attr<int64_t>("part");
      back = back || node->attr<bool>("back");
    }
    parts_[node->id] = part;
    back_[node->id] = back;
    report_.parts = std::max(report_.parts, part + 1);
  }
}

// By costs that all processes have: they must come to the same list.
void StageOrder::Choose(const ParallelOptions& options, const StagePlan& plan) {
  report_.transfer = plan.costs.transfer;
  auto& all = report_.schedules;
  all = RankSchedules(plan.costs, static_cast<int>(report_.parts), options.plan.memory_limit);
  Scheduler wanted = options.pipeline.scheduler;
  if (wanted != Scheduler::kBest) {
    auto chosen = std::find_if(all.begin(), all.end(),
                               [&](const ChosenSchedule& c) { return c.scheduler == wanted; });
    std::rotate(all.begin(), chosen, chosen + 1);
  }
  for (size_t s = 0; s < plan.costs.forward.size(); ++s) {
    StageReport stage;
    stage.forward = plan.costs.forward[s];
    stage.backward = plan.costs.backward[s];
    stage.kept = plan.costs.kept[s];
    stage.most_kept = all[0].simulation.most_kept[s];
    report_.stages.push_back(std::move(stage));
  }
}

void StageOrder::Schedule() {
  // By stage, part and direction.
  auto of = [&](int64_t stage, int64_t part, bool back) {
    return static_cast<size_t>((stage * report_.parts + part) * 2 + (back ? 1 : 0));
  };
  std::vector<std::vector<Node*>> tasks(
      of(static_cast<int64_t>(report_.stages.size()), 0, false));
  for (Node* node : main_.nodes()) {
    if (IsTask(node))
      tasks[of(stages_[node->id], parts_[node->id], back_[node->id])].push_back(node);
    else if (parts_[node->id] == kSeveral)
      joins_.push_back(node);
  }
  for (const StageTask& task : report_.schedules[0].simulation.order) {
    for (Node* node : tasks[of(task.stage, task.part, task.backward)]) Add(node);
    AddWhatIsReady();
  }
  for (Node* node : main_.nodes()) Add(node);
}

// The node behind what it needs.
void StageOrder::Add(Node* node) {
  std::vector<Node*> pending{node};
  while (!pending.empty()) {
    Node* next = pending.back();
    size_t before = pending.size();
    if (!done_[next->id]) {
      for (const Var& v : next->inputs) {
        if (!done_[v.node->id]) pending.push_back(v.node);
      }
    }
    if (pending.size() > before) continue;
    pending.pop_back();
    if (done_[next->id]) continue;
    done_[next->id] = true;
    order_.push_back(next);
  }
}

// Sums over parts as soon as they can be: what they add up need not be kept any longer.
void StageOrder::AddWhatIsReady() {
  std::vector<Node*> later;
  for (Node* node : joins_) {
    bool ready = std::all_of(node->inputs.begin(), node->inputs.end(), [&](const Var& v) {
      return done_[v.node->id] || parts_[v.node->id] == kNone;
    });
    if (ready)
      Add(node);
    else if (!done_[node->id])
      later.push_back(node);
  }
  joins_ = std::move(later);
}

}  // namespace ms::parallel
