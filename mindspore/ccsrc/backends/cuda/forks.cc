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
  const auto& after = after_[step];
  count_ += step > 0 && (after.size() != 1 || after[0] + 1 != step);
  Nodes nodes;
  bool behind = alone_ == 0;  // what may find something, or there is none
  for (uint32_t earlier : after) {
    Append(nodes, ends_[earlier]);
    followed_[earlier] = true;
    behind |= earlier + 1 >= alone_;
  }
  if (!behind) Append(nodes, ends_[alone_ - 1]);
  Follow(std::move(nodes));
}

void Forks::MayFind() {
  if (finds_) return;
  finds_ = true;
  Nodes nodes = Pending();
  for (size_t earlier = alone_; earlier < step_; ++earlier) {
    if (!followed_[earlier]) Append(nodes, ends_[earlier]);
  }
  Follow(std::move(nodes));
}

void Forks::End() {
  ends_[step_] = Pending();
  if (finds_) alone_ = step_ + 1;
}

}  // namespace ms::cuda
