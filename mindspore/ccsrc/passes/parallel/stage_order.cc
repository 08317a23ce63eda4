#include "passes/parallel/stage_order.h"

#include <algorithm>

#include "ir/control.h"

namespace ms::parallel {
namespace {

bool Is(const Node* node, const char* name) {
  return node->kind == NodeKind::kApply && node->op->name == name;
}

int64_t BytesOf(const Node* node) {
  int64_t bytes = 0;
  for (const Type& type : node->outputs) {
    if (type.is_tensor()) bytes += static_cast<int64_t>(type.bytes());
  }
  return bytes;
}

}  // namespace

StageOrder::StageOrder(const Graph& main, const std::vector<int64_t>& inputs,
                       const ParallelOptions& options)
    : main_(main),
      options_(options),
      stages_(StagesOf(main, inputs)),
      parts_(main.nodes().size(), kNone),
      back_(main.nodes().size(), false),
      done_(main.nodes().size(), false) {
  FindParts();
  Measure();
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

void StageOrder::Measure() {
  auto parts = static_cast<double>(report_.parts);
  report_.stages.resize(static_cast<size_t>(options_.pipeline.stages));
  std::vector<bool> kept(main_.nodes().size(), false);
  for (const Node* node : main_.nodes()) {
    if (stages_[node->id] < 0 || node->kind != NodeKind::kApply) continue;
    StageReport& stage = report_.stages[static_cast<size_t>(stages_[node->id])];
    (back_[node->id] ? stage.backward : stage.forward) +=
        SecondsOf(*node, options_.plan.device) / parts;
    if (Is(node, "StageMove")) {
      double bytes = static_cast<double>(BytesOf(node));
      const PipelineOptions& link = options_.pipeline;
      report_.transfer = std::max(report_.transfer, link.alpha + bytes * link.beta);
    }
    if (!back_[node->id]) continue;
    for (const Var& v : node->inputs) {
      const Node* made = v.node;
      bool keeps = !kept[made->id] && !back_[made->id] && parts_[made->id] >= 0;
      if (!keeps) continue;
      kept[made->id] = true;
      stage.kept += BytesOf(made);
    }
  }
  for (StageReport& stage : report_.stages) stage.kept /= report_.parts;
}

void StageOrder::Schedule() {
  StageCosts costs;
  costs.transfer = report_.transfer;
  for (const StageReport& stage : report_.stages) {
    costs.forward.push_back(stage.forward);
    costs.backward.push_back(stage.backward);
    costs.kept.push_back(stage.kept);
  }
  report_.schedules =
      RankSchedules(costs, static_cast<int>(report_.parts), options_.plan.memory_limit);
  Scheduler wanted = options_.pipeline.scheduler;
  auto& all = report_.schedules;
  if (wanted != Scheduler::kBest) {
    auto chosen = std::find_if(all.begin(), all.end(),
                               [&](const ChosenSchedule& c) { return c.scheduler == wanted; });
    std::rotate(all.begin(), chosen, chosen + 1);
  }
  for (size_t s = 0; s < report_.stages.size(); ++s)
    report_.stages[s].most_kept = all[0].simulation.most_kept[s];

  // By stage, part and direction.
  auto of = [&](int64_t stage, int64_t part, bool back) {
    return static_cast<size_t>((stage * report_.parts + part) * 2 + (back ? 1 : 0));
  };
  std::vector<std::vector<Node*>> tasks(of(options_.pipeline.stages, 0, false));
  for (Node* node : main_.nodes()) {
    if (IsTask(node))
      tasks[of(stages_[node->id], parts_[node->id], back_[node->id])].push_back(node);
    else if (parts_[node->id] == kSeveral)
      joins_.push_back(node);
  }
  for (const StageTask& task : all[0].simulation.order) {
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
