#include "passes/parallel/timeline.h"

#include <algorithm>

namespace ms::parallel {
namespace {

constexpr size_t kFew = 12;  // stages of the path that are told

size_t At(int i) { return static_cast<size_t>(i); }

}  // namespace

Timeline::Timeline(const Problem& problem, std::vector<Work> works, const std::vector<Move>& moves)
    : problem_(problem) {
  size_t n = problem.variables.size();
  in_.resize(n), out_.resize(n), made_.resize(n), came_.resize(n);
  for (const Move& move : moves) {
    const Link& link = problem.links[At(move.link)];
    in_[At(link.to)].push_back(move);
    out_[At(link.from)].push_back(move);
  }
  for (const Work& work : works) {
    if (!work.late) Forward(work);
  }
  std::reverse(works.begin(), works.end());
  for (const Work& work : works) {
    if (!work.late) Backward(work);
  }
  std::reverse(works.begin(), works.end());
  for (const Work& work : works) {
    if (work.late) Forward(work);
  }
}

int Timeline::Add(Task task) {
  double begin = 0;
  auto wait = [&](int other) {
    if (other < 0 || (tasks_[At(other)].end <= begin && task.because >= 0)) return;
    begin = tasks_[At(other)].end;
    task.because = other;
  };
  int& last = last_[task.moves];
  wait(last);
  for (int other : task.after) wait(other);
  task.end = begin + task.seconds;
  task.after.clear();
  tasks_.push_back(std::move(task));
  return last = static_cast<int>(tasks_.size()) - 1;
}

// The tasks that a value waits for: its own, or, of what is only handed on, those of who makes it.
void Timeline::Collect(int variable, std::vector<int>* tasks) const {
  const std::vector<int>& made = made_[At(variable)];
  tasks->insert(tasks->end(), made.begin(), made.end());
}

int Timeline::Moved(const Move& move, bool back, std::vector<int> after) {
  const Link& link = problem_.links[At(move.link)];
  const Node* node = problem_.variables[At(link.to)].node;
  if (!node) node = problem_.variables[At(link.from)].node;
  return Add({node, true, back, back ? move.back : move.there, std::move(after)});
}

void Timeline::Forward(const Work& work) {
  std::vector<int> ready;
  for (const Move& move : in_[At(work.variable)]) {
    const Link& link = problem_.links[At(move.link)];
    std::vector<int> made;
    Collect(link.from, &made);
    // A value in which readers share comes from where it was made.
    if (made.empty() && !problem_.variables[At(link.from)].node) {
      for (const Move& before : in_[At(link.from)]) {
        std::vector<int> origin;
        Collect(problem_.links[At(before.link)].from, &origin);
        made.push_back(before.there > 0 ? Moved(before, false, origin)
                       : origin.empty() ? -1
                                        : origin.back());
      }
      made_[At(link.from)] = made;
    }
    // Gradients that Parameters have got, for what updates them.
    if (work.late)
      made.insert(made.end(), came_[At(link.from)].begin(), came_[At(link.from)].end());
    if (move.there > 0)
      ready.push_back(Moved(move, false, made));
    else
      ready.insert(ready.end(), made.begin(), made.end());
  }
  const Node* node = problem_.variables[At(work.variable)].node;
  made_[At(work.variable)] = {Add({node, false, false, work.forward, ready})};
}

void Timeline::Backward(const Work& work) {
  if (work.backward <= 0) return;
  std::vector<int> ready;
  for (const Move& move : out_[At(work.variable)]) {
    const Link& link = problem_.links[At(move.link)];
    std::vector<int>& came = came_[At(link.to)];
    if (link.back && move.back > 0 && !came.empty())
      ready.push_back(Moved(move, true, came));
    else
      ready.insert(ready.end(), came.begin(), came.end());
  }
  const Node* node = problem_.variables[At(work.variable)].node;
  int done = Add({node, false, true, work.backward, ready});
  came_[At(work.variable)] = {done};
  for (const Move& move : in_[At(work.variable)]) {
    const Link& link = problem_.links[At(move.link)];
    if (problem_.variables[At(link.from)].node) continue;  // moved when the maker needs it
    int end = link.back && move.back > 0 ? Moved(move, true, {done}) : done;
    came_[At(link.from)].push_back(end);
    for (const Move& before : in_[At(link.from)]) {  // of a Parameter that readers share
      int origin = problem_.links[At(before.link)].from;
      if (!problem_.variables[At(origin)].node) came_[At(origin)].push_back(end);
    }
  }
}

CriticalPath Timeline::Path() const {
  CriticalPath path;
  int at = -1;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].end > path.seconds) path.seconds = tasks_[i].end, at = static_cast<int>(i);
  }
  for (; at >= 0; at = tasks_[At(at)].because) {
    const Task& task = tasks_[At(at)];
    (task.moves ? path.communication_seconds : path.compute_seconds) += task.seconds;
    if (task.node && task.seconds > 0)
      path.longest.push_back({task.node, task.moves, task.back, task.seconds});
  }
  std::stable_sort(path.longest.begin(), path.longest.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  path.longest.resize(std::min(path.longest.size(), kFew));
  return path;
}

}  // namespace ms::parallel
