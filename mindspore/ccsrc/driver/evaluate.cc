#include "driver/evaluate.h"

#include "kernel/launch.h"
#include "kernel/notice.h"
#include "kernel/prepare.h"

namespace ms {
namespace {

const Attrs kNoAttrs;

std::vector<Tensor> Evaluate(const Backend& backend, const Node& node) {
  if (node.op->view) return {node.inputs[0].node->value.Reshaped(node.outputs[0].shape())};
  if (node.op->effect != Effect::kNone || node.op->structural || !backend.kernels().Has(*node.op))
    return {};
  Types types;
  std::vector<const void*> in;
  for (const Var& v : node.inputs) {
    types.push_back(v.type());
    in.push_back(v.node->value.raw());
  }
  std::vector<Tensor> results;
  std::vector<void*> out;
  for (const Type& type : node.outputs) {
    results.emplace_back(type.dtype(), type.shape());
    out.push_back(results.back().raw());
  }
  // Types and attributes of folded nodes are many and not met again: the shared kernels are for
  // what runs.
  auto kernel = backend.kernels().Find(
      {*node.op, types, node.outputs, node.attrs ? *node.attrs : kNoAttrs}, backend.name());
  BufferRef workspace = Buffer::Allocate(kernel->workspace_bytes());
  Launch(*kernel, {in.data(), out.data(), workspace->data(), nullptr, &backend.stream()});
  return results;
}

}  // namespace

Evaluator EvaluateOn(const Backend& backend) {
  return [&backend](const Node& node) -> std::vector<Tensor> {
    NoNotices silent;
    try {
      return Evaluate(backend, node);
    } catch (const Error&) {
      return {};  // the run will report it, if it gets there
    }
  };
}

}  // namespace ms
