// Boxes, the tangents of closures: opened into their contents, and added element by element without
// recursion.
#include "kernel/launch.h"
#include "kernel/ledger.h"
#include "kernel/prepare.h"
#include "runtime/machine.h"

namespace ms {
namespace {

Cell Fresh(const Type& type, Memory& memory) {
  Cell cell{Buffer::Allocate(type.bytes(), memory), {}, nullptr};
  cell.data = cell.buffer->data();
  return cell;
}

Cell Zeros(const Type& type, Memory& memory) {
  if (!type.is_tensor()) return {};
  Cell cell = Fresh(type, memory);
  memory.Zero(cell.data, type.bytes());
  return cell;
}

Cell AddTensors(const Cell& a, const Cell& b, const Type& type, const Backend& backend,
                const LedgerRun& run) {
  static const OpDef& add = Ops().Get("Add");
  static const Attrs no_attrs;
  Types in{type, type}, out{type};
  auto kernel = PrepareKernel(backend, {add, in, out, no_attrs});
  Cell sum = Fresh(type, backend.memory());
  run.Makes(sum.data, type.bytes());
  BufferRef workspace = Buffer::Allocate(kernel->workspace_bytes(), backend.memory());
  const void* inputs[] = {a.data, b.data};
  void* outputs[] = {sum.data};
  LaunchPlace place{&add};
  Launch(*kernel, {inputs, outputs, workspace->data(), nullptr, &backend.stream(), &place});
  return sum;
}

const Box& AsBox(const Cell& cell) { return static_cast<const Box&>(*cell.object.get()); }

// A sum under construction.
struct Sum {
  const Box* a;
  const Box* b;
  std::vector<Cell> done;
};

}  // namespace

std::vector<Cell> OpenBox(const Cell& cell, std::span<const Type> types, Memory& memory) {
  if (cell.object) {
    MS_ASSERT(AsBox(cell).cells().size() == types.size());
    return AsBox(cell).cells();
  }
  std::vector<Cell> zeros;
  zeros.reserve(types.size());
  for (const Type& type : types) zeros.push_back(Zeros(type, memory));
  return zeros;
}

Cell AddBoxes(const Cell& a, const Cell& b, const Backend& backend, const LedgerRun& run) {
  if (!a.object) return b;
  if (!b.object) return a;
  std::vector<Sum> pending{{&AsBox(a), &AsBox(b), {}}};
  for (;;) {
    Sum& sum = pending.back();
    size_t i = sum.done.size();
    if (i == sum.a->cells().size()) {
      Cell result{{}, ObjectRef(new Box(std::move(sum.done), sum.a->types())), nullptr};
      pending.pop_back();
      if (pending.empty()) return result;
      pending.back().done.push_back(std::move(result));
      continue;
    }
    const Cell& x = sum.a->cells()[i];
    const Cell& y = sum.b->cells()[i];
    if (sum.a->types()[i].is_tensor())
      sum.done.push_back(AddTensors(x, y, sum.a->types()[i], backend, run));
    else if (!x.object || !y.object)
      sum.done.push_back(x.object ? x : y);
    else
      pending.push_back({&AsBox(x), &AsBox(y), {}});
  }
}

}  // namespace ms
