#include "kernel/cache.h"

#include "kernel/prepare.h"
#include "kernel/refusal.h"

namespace ms {
namespace {

const Attrs kNoAttrs;

size_t KeyHash(const OpDef& op, std::span<const Tensor* const> inputs, const Attrs* attrs) {
  size_t hash = reinterpret_cast<size_t>(&op) >> 6;
  for (const Tensor* t : inputs) {
    hash = hash * 31 + static_cast<size_t>(t->dtype());
    for (int64_t d : t->shape()) hash = (hash ^ static_cast<size_t>(d)) * 0x9e3779b97f4a7c15ull;
  }
  if (attrs) hash = HashCombine(hash, Hash(*attrs));
  return hash ^ (hash >> 29);
}

bool Matches(const Prepared& p, const OpDef& op, std::span<const Tensor* const> inputs,
             const Attrs* attrs) {
  if (p.op != &op || p.inputs.size() != inputs.size()) return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (p.inputs[i].dtype() != inputs[i]->dtype() || !(p.inputs[i].shape() == inputs[i]->shape()))
      return false;
  }
  return attrs ? Equal(p.attrs, *attrs) : p.attrs.empty();
}

}  // namespace

Prepared& KernelCache::Find(const OpDef& op, std::span<const Tensor* const> inputs,
                            const AttrsRef& attrs) {
  if (uint64_t now = backend_.choices(); now != choices_) {
    Clear();
    choices_ = now;
  }
  size_t hash = KeyHash(op, inputs, attrs.get());
  for (size_t i = hash % kSlots;; i = (i + 1) % kSlots) {
    Slot& slot = slots_[i];
    if (!slot.prepared) break;
    if (slot.hash == hash && Matches(*slot.prepared, op, inputs, attrs.get()))
      return *slot.prepared;
  }
  auto fresh = std::make_unique<Prepared>();
  fresh->op = &op;
  for (const Tensor* t : inputs) fresh->inputs.emplace_back(t->dtype(), t->shape());
  if (attrs) fresh->attrs = *attrs;
  fresh->outputs = Infer(op, fresh->inputs, attrs ? *attrs : kNoAttrs);
  if (!op.view && (backend_.kernels().Has(op) || !op.expand)) {
    try {
      fresh->kernel = PrepareKernel(backend_, {op, fresh->inputs, fresh->outputs, fresh->attrs});
    } catch (const Refusal&) {
      if (!op.expand) throw;  // what no kernel takes is composed of other ops, as in a graph
    }
  }
  return Insert(hash, std::move(fresh));
}

Prepared& KernelCache::Insert(size_t hash, std::unique_ptr<Prepared> prepared) {
  if (used_ > kSlots / 2) Clear();
  size_t i = hash % kSlots;
  while (slots_[i].prepared) i = (i + 1) % kSlots;
  ++used_;
  slots_[i] = {hash, std::move(prepared)};
  return *slots_[i].prepared;
}

void KernelCache::Clear() {
  for (Slot& slot : slots_) slot.prepared.reset();
  used_ = 0;
}

}  // namespace ms
