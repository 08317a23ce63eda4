// The tape: recording ops that ran, and the reverse walks over it: one frees what it has consumed,
// the other emits onto another tape and leaves this one as it is.
#include "runtime/eager.h"

#include <cstring>
#include <unordered_set>

#include "tensor/exposure.h"

namespace ms {
namespace {

std::atomic<uint64_t> next_tape_id{1};

const OpDef& CompiledCall() {
  static const OpDef* op = [] {
    auto* def = new OpDef;
    def->name = "CompiledCall";
    def->structural = true;
    return def;
  }();
  return *op;
}

bool SameBits(const Tensor& a, const Tensor& b) {
  if (&a.memory() != &b.memory()) return false;
  if (a.raw() == b.raw()) return true;
  return a.on_host() && a.bytes() == b.bytes() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

}  // namespace

Tape::Tape() : graph_(module_.NewGraph("tape")), id_(next_tape_id.fetch_add(1)) {}

Var Tape::Leaf(const Tensor& value) {
  Type type = value.defined() ? Type(value.dtype(), value.shape()) : Type();
  Node* node = graph_->AddParameter(type, "");
  values_.push_back({value});
  return {node, 0};
}

Var Tape::Constant(Tensor value, bool) { return Leaf(value); }

const Tensor& Tape::Value(const Var& v) const {
  const Tensor& value = values_[v.node->id][v.index];
  MS_ASSERT(value.defined());
  return value;
}

void Tape::Keep(const Var& v, const Tensor& value) { values_[v.node->id][v.index] = value; }
void Tape::Drop(const Var& v) { values_[v.node->id][v.index] = Tensor(); }

// Memory that arrays share may have been written to since an op before read it: what that op saved
// stays, and this one reads another value that has the same tangent.
Var Tape::Read(const Var& v, const Tensor& present) {
  static const OpDef& identity = Ops().Get("Identity");
  Tensor& kept = values_[v.node->id][v.index];
  // The value of a leaf is what nobody has read yet.
  bool fresh = !kept.defined() || (kept.raw() == present.raw() && present.exposed());
  if (fresh) kept = Snapshot(present);
  if (fresh || SameBits(kept, present)) return v;
  Node* node = graph_->AddApply(identity, {v}, nullptr, {v.type()}, span);
  values_.push_back({Snapshot(present)});
  return {node, 0};
}

Node* Tape::Record(Prepared& prepared, const AttrsRef& attrs, Vars inputs,
                   std::span<const Tensor* const> values, std::span<const Tensor> outputs) {
  FindSaved(prepared);
  RequireOpen(inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) {
      inputs[i] = {graph_->AddParameter(prepared.inputs[i], ""), 0};
      values_.emplace_back(1);
    }
    if (prepared.saved_inputs[i]) inputs[i] = Read(inputs[i], *values[i]);
  }
  Node* node = graph_->AddApply(*prepared.op, std::move(inputs), attrs, prepared.outputs, span);
  values_.emplace_back(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (prepared.saved_outputs[i]) values_.back()[i] = Snapshot(outputs[i]);
  }
  return node;
}

Node* Tape::RecordCall(std::shared_ptr<BackwardFunction> back, Vars inputs,
                       std::span<const Tensor> outputs) {
  Types types;
  RequireOpen(inputs);
  for (const Tensor& t : outputs) types.emplace_back(t.dtype(), t.shape());
  for (Var& v : inputs) {
    if (!v) v = Leaf(Tensor());
  }
  Node* node = graph_->AddApply(CompiledCall(), std::move(inputs), nullptr, std::move(types), span);
  values_.emplace_back(outputs.size());
  calls_.emplace(node, std::move(back));
  return node;
}

Vars Tape::Forget(size_t first) {
  Vars read;
  std::unordered_set<Var, VarHash> seen;
  const auto& nodes = graph_->nodes();
  for (size_t id = first; id < nodes.size(); ++id) {
    for (const Var& v : nodes[id]->inputs) {
      if (v.node->id < first && seen.insert(v).second) read.push_back(v);
    }
    nodes[id]->kind = NodeKind::kParameter;
    nodes[id]->inputs.clear();
    for (Tensor& t : values_[id]) t = Tensor();
    calls_.erase(nodes[id]);
  }
  return read;
}

void Tape::Close(size_t first, std::string name) {
  closed_.push_back({first, size(), std::move(name)});
}

void Tape::RequireOpen(const Vars& inputs) const {
  if (closed_.empty()) [[likely]]
    return;
  for (const Var& v : inputs) {
    for (const Closed& call : closed_) {
      if (!v || v.node->id < call.first || v.node->id >= call.end) continue;
      Throw(ErrorKind::kRuntime,
            "For '{}', which runs again for its gradient, what it computes must leave it as a "
            "result, "
            "but a tensor that was made outside of it was given such a value, or an attribute or "
            "list was, and it is used after that.",
            call.name);
    }
  }
}

Vars Tape::Emit(const OpDef& op, const Vars& inputs, AttrsRef attrs) {
  std::vector<const Tensor*> values;
  for (const Var& v : inputs) values.push_back(&Value(v));
  EagerOutputs outputs;
  Prepared& prepared = CurrentRunner().Run(op, values, attrs, outputs);
  Node* node = graph_->AddApply(op, inputs, std::move(attrs), prepared.outputs, span);
  size_t count = outputs.size();
  values_.emplace_back(std::make_move_iterator(outputs.data()),
                       std::make_move_iterator(outputs.data() + count));
  Vars result;
  for (uint32_t i = 0; i < count; ++i) result.push_back({node, i});
  return result;
}

// ---- the reverse walk over a tape
namespace {

using Hooks = std::unordered_map<Var, std::vector<std::shared_ptr<TangentHook>>, VarHash>;

// What the hooks on a value make of its tangent.
Var AfterHooks(const Hooks& all, const Var& forward, Var tangent, Tape& tape, bool keep) {
  auto it = all.find(forward);
  if (it == all.end()) return tangent;
  auto hooks = it->second;  // running one may add others
  for (const auto& hook : hooks) tangent = hook->Run(tape, tangent, keep);
  return tangent;
}

std::vector<Seed> SeedsOf(const Vars& outputs, const Vars& tangents) {
  std::vector<Seed> seeds;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]) seeds.push_back({outputs[i], tangents[i]});
  }
  return seeds;
}

}  // namespace

class TapeHost : public BackwardHost {
 public:
  TapeHost(Tape& tape, bool keep) : tape_(tape), keep_(keep) {}

  void BeginRule() override { mark_ = tape_.size(); }
  void EndRule(const std::vector<Var>& kept) override {
    if (keep_) return;
    for (size_t id = mark_; id < tape_.size(); ++id) {
      Node* node = tape_.graph_->nodes()[id];
      for (uint32_t i = 0; i < node->outputs.size(); ++i) {
        if (std::find(kept.begin(), kept.end(), Var{node, i}) == kept.end()) tape_.Drop({node, i});
      }
    }
  }
  void Dropped(const Var& v) override {
    if (!keep_) tape_.Drop(v);
  }
  void Finished(const Node& node) override {
    if (keep_) return;
    for (Tensor& t : tape_.values_[node.id]) t = Tensor();
    tape_.calls_.erase(&node);
  }

  Vars CallGradient(const Node& node, const Vars& tangents,
                    const std::vector<bool>& needed) override {
    auto it = tape_.calls_.find(&node);
    if (it == tape_.calls_.end()) return BackwardHost::CallGradient(node, tangents, needed);
    std::shared_ptr<BackwardFunction> back = it->second;  // running it may change the table
    return back->Run(tape_, tangents, keep_);
  }

  Var Arrived(const Var& forward, const Var& tangent) override {
    return AfterHooks(tape_.hooks_, forward, tangent, tape_, keep_);
  }

 private:
  Tape& tape_;
  bool keep_;
  size_t mark_ = 0;
};

std::vector<Tensor> Tape::Gradient(const Vars& outputs, const Vars& tangents, const Vars& wrt,
                                   size_t first, bool keep, Vars* result_vars) {
  const auto& all = graph_->nodes();
  std::vector<Node*> nodes(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
  freed_ |= !keep;
  TapeHost host(*this, keep);
  Vars found = Backward(*this, nodes, SeedsOf(outputs, tangents), wrt, host);
  std::vector<Tensor> gradients;
  for (const Var& v : found) gradients.push_back(v ? Value(v) : Tensor());
  if (result_vars) *result_vars = found;
  return gradients;
}

// ---- the reverse walk onto another tape
class OtherTapeHost : public BackwardHost {
 public:
  OtherTapeHost(Tape& source, Tape& target, bool temporary)
      : source_(source), target_(target), temporary_(temporary) {}

  // A rule may ask for no more than the type of what it reads; then no value was kept.
  Var Use(const Var& forward) override {
    auto [it, fresh] = used_.try_emplace(forward);
    if (fresh) {
      it->second = {target_.graph_->AddParameter(forward.type(), ""), 0};
      target_.values_.push_back({source_.values_[forward.node->id][forward.index]});
    }
    return it->second;
  }

  void BeginRule() override { mark_ = target_.size(); }
  void EndRule(const std::vector<Var>& kept) override {
    if (!temporary_) return;
    for (size_t id = mark_; id < target_.size(); ++id) {
      Node* node = target_.graph_->nodes()[id];
      for (uint32_t i = 0; node->op && i < node->outputs.size(); ++i) {
        if (std::find(kept.begin(), kept.end(), Var{node, i}) == kept.end())
          target_.Drop({node, i});
      }
    }
  }
  void Dropped(const Var& v) override {
    if (temporary_) target_.Drop(v);
  }

  Vars CallGradient(const Node& node, const Vars& tangents,
                    const std::vector<bool>& needed) override {
    auto it = source_.calls_.find(&node);
    if (it == source_.calls_.end()) return BackwardHost::CallGradient(node, tangents, needed);
    std::shared_ptr<BackwardFunction> back = it->second;
    return back->Run(target_, tangents, !temporary_);
  }

  Var Arrived(const Var& forward, const Var& tangent) override {
    return AfterHooks(source_.hooks_, forward, tangent, target_, !temporary_);
  }

 private:
  Tape& source_;
  Tape& target_;
  bool temporary_;
  size_t mark_ = 0;
  std::unordered_map<Var, Var, VarHash> used_;
};

Vars Tape::GradientOnto(Tape& target, const Vars& outputs, const Vars& tangents, const Vars& wrt,
                        size_t first, bool temporary) {
  const auto& all = graph_->nodes();
  std::vector<Node*> nodes(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
  OtherTapeHost host(*this, target, temporary);
  return Backward(target, nodes, SeedsOf(outputs, tangents), wrt, host);
}

}  // namespace ms
