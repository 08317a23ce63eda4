#include "driver/steady.h"

#include "base/late_errors.h"
#include "runtime/machine.h"
#include "tensor/exposure.h"

namespace ms {

SteadyValues::SteadyValues(std::shared_ptr<const Program> program, const Graph* graph)
    : program_(std::move(program)) {
  std::vector<bool> read(graph->nodes().size());
  for (const Node* node : graph->nodes()) {
    for (const Var& v : node->inputs) read[v.node->id] = true;
  }
  Vars inputs = graph->inputs();
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    if (read[inputs[i].node->id]) reads_.push_back(i);
  }
}

bool SteadyValues::Fits(const Kept& kept, std::span<const Tensor> inputs) const {
  if (kept.exposures != Exposures() || kept.late_errors != LateErrors()) return false;
  for (size_t i = 0; i < reads_.size(); ++i) {
    const Tensor& now = inputs[reads_[i]];
    const Tensor& then = kept.read[i];
    bool same = now.raw() == then.raw() && now.buffer().get() == then.buffer().get() &&
                now.shape() == then.shape() && now.dtype() == then.dtype();
    if (!same || now.exposed()) return false;
  }
  return true;
}

std::shared_ptr<const SteadyValues::Kept> SteadyValues::Compute(
    std::span<const Tensor> inputs) const {
  auto kept = std::make_shared<Kept>();
  kept->exposures = Exposures();
  kept->late_errors = LateErrors();
  for (uint32_t i : reads_) kept->read.push_back(inputs[i]);
  std::vector<RtValue> outputs;
  MachineLease(*program_)->RunMain(inputs, &outputs, nullptr);
  for (const RtValue& value : outputs) kept->values.push_back(value.tensor());
  return kept;
}

void SteadyValues::Append(std::vector<Tensor>* inputs) const {
  std::shared_ptr<const Kept> kept;
  {
    std::lock_guard lock(mutex_);
    kept = kept_;
  }
  if (!kept || !Fits(*kept, *inputs)) {
    kept = Compute(*inputs);
    auto old = kept;  // goes without the lock: an array may be its memory, which needs the GIL
    std::lock_guard lock(mutex_);
    old.swap(kept_);
  }
  inputs->insert(inputs->end(), kept->values.begin(), kept->values.end());
}

}  // namespace ms
