#include "backends/cuda/forks.h"

#include <algorithm>

#include "backends/cuda/libraries.h"

namespace ms::cuda {
namespace {

template <class T>
void Append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

// What the stream's next work would follow.
Forks::Nodes Forks::Pending() const {
  int captures = 0;
  const WorkNode* nodes = nullptr;
  size_t count = 0;
  Check(TheDriver().StreamGetCaptureInfo(stream_, &captures, nullptr, nullptr, &nodes, nullptr,
                                         &count),
        "cuStreamGetCaptureInfo");
  return {nodes, nodes + count};
}

void Forks::Follow(Nodes nodes) const {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  Check(TheDriver().StreamUpdateCaptureDependencies(stream_, nodes.data(), nullptr, nodes.size(),
                                                    kReplace),
        "cuStreamUpdateCaptureDependencies");
}

void Forks::Begin(size_t step) {
  step_ = step;
  finds_ = false;
  const RecordedStep& s = steps_[step];
  count_ += step > 0 && (s.after.size() != 1 || s.after[0] + 1 != step);
  Nodes nodes;
  for (uint32_t earlier : s.after) Append(nodes, ends_[earlier]);
  if (s.updates) Append(nodes, found_);
  Follow(std::move(nodes));
}

void Forks::MayFind() {
  if (finds_) return;
  finds_ = true;
  Nodes nodes = Pending();
  Append(nodes, found_);
  Append(nodes, updated_);
  Follow(std::move(nodes));
}

void Forks::End() {
  ends_[step_] = Pending();
  if (finds_) {
    found_ = ends_[step_];
    updated_.clear();
  } else if (steps_[step_].updates) {
    Append(updated_, ends_[step_]);
  }
}

}  // namespace ms::cuda
