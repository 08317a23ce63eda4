// Recurrent layers over whole sequences. The product of the inputs with their weights is a matrix
// product of its own; here one step follows the other, with the weights packed once and the work of
// a step shared by hidden units, so that a thread finds its part of the weights in its own cache.
#include "backends/cpu/kernels/recurrent.h"

#include <algorithm>
#include <vector>

#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/in_float32.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

constexpr double kNsPerProduct = 1.0 / 70;

// The weights of all blocks, and what they are for.
struct Packed {
  bool backward;
  int64_t units, blocks, floats;  // floats: of one block

  Packed(const RecurrentSizes& s, bool backwards) : backward(backwards) {
    units = MS_PICK_ISA(RecurrentUnits)(backward);
    blocks = (s.hidden + units - 1) / units;
    floats = units * s.gates * s.hidden;
  }
  size_t bytes() const { return static_cast<size_t>(blocks * floats) * sizeof(float); }

  void Fill(const RecurrentSizes& s, const float* weight, float* to) const {
    auto* pack = MS_PICK_ISA(PackRecurrent);
    ParallelFor(blocks, static_cast<double>(floats), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        pack(weight, s.hidden, s.gates, backward, b, to + b * floats);
    });
  }
};

// Which sequences have a step.
void MarkActive(const SequenceLengths& lengths, int64_t step, std::vector<uint8_t>* active) {
  for (size_t i = 0; i < active->size(); ++i) {
    (*active)[i] = step < lengths[static_cast<int64_t>(i)];
  }
}

RecurrentStep NewStep(const RecurrentSizes& s, const std::vector<uint8_t>& active) {
  RecurrentStep step{};
  step.batch = s.batch;
  step.hidden = s.hidden;
  step.distance = s.distance();
  step.active = active.data();
  return step;
}

// The rows of one step in a matrix `blocks` times as wide as the state.
template <class T>
T* RowsOf(const RecurrentSizes& s, T* matrix, int64_t step, int blocks) {
  return matrix ? matrix + s.Row(step) * blocks * s.hidden : nullptr;
}

// ---- forward
// Inputs: from_x, state, cells, weight, bias, lengths. Outputs: output, state, cells, saved,
// before.
void Forward(const RecurrentSizes& s, bool wide, const Packed& packed, const KernelArgs& args) {
  auto in = [&](size_t i) { return static_cast<const float*>(args.in[i]); };
  auto out = [&](size_t i) { return static_cast<float*>(args.out[i]); };
  auto* weights = static_cast<float*>(args.workspace);
  packed.Fill(s, in(3), weights);
  float* states[2] = {weights + packed.blocks * packed.floats, out(1)};
  // The last step writes into the output of the state.
  int at = s.steps % 2 == 0 ? 1 : 0;
  std::copy_n(in(1), s.batch * s.hidden, states[at]);
  if (s.mode == RecurrentMode::kLstm) std::copy_n(in(2), s.batch * s.hidden, out(2));
  std::vector<uint8_t> active(static_cast<size_t>(s.batch));
  RecurrentStep step = NewStep(s, active);
  step.bias = in(4);
  step.cells = out(2);
  auto* forward = MS_PICK_ISA(RecurrentForward);
  double cost = s.products() * kNsPerProduct / static_cast<double>(s.steps * packed.blocks);
  for (int64_t count = 0; count < s.steps; ++count, at = 1 - at) {
    int64_t t = s.Step(count);
    MarkActive(SequenceLengths(args.in[5], wide), t, &active);
    step.from_x = RowsOf(s, in(0), t, s.gates);
    step.state = states[at];
    step.new_state = states[1 - at];
    step.output = RowsOf(s, out(0), t, 1);
    step.saved = s.keep ? RowsOf(s, out(3), t, s.blocks) : nullptr;
    step.before = s.keep ? RowsOf(s, out(4), t, 1) : nullptr;
    ParallelFor(packed.blocks, cost, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) forward(s.mode, step, b, weights + b * packed.floats);
    });
  }
}

KernelChoice VectorRecurrence(const KernelRequest& r) {
  if (r.dtype(0) != DType::kFloat32) return No("needs Float32, got {}", Name(r.dtype(0)));
  RecurrentSizes s(r);
  Packed packed(s, false);
  bool wide = r.dtype(5) == DType::kInt64;
  size_t bytes = packed.bytes() + static_cast<size_t>(s.batch * s.hidden) * sizeof(float);
  return FunctionKernel(
      [s, wide, packed](const KernelArgs& args) { Forward(s, wide, packed, args); },
      s.products() * kNsPerProduct, bytes);
}

// ---- backward
// Inputs: dout, dstate, dcells, weight, lengths, saved, before. Outputs: dfrom_x, dproduct, dstate,
// dcells.
void Backward(const RecurrentSizes& s, bool wide, const Packed& packed, const KernelArgs& args) {
  auto in = [&](size_t i) { return static_cast<const float*>(args.in[i]); };
  auto out = [&](size_t i) { return static_cast<float*>(args.out[i]); };
  bool gru = s.mode == RecurrentMode::kGru;
  auto* weights = static_cast<float*>(args.workspace);
  packed.Fill(s, in(3), weights);
  std::copy_n(in(1), s.batch * s.hidden, out(2));
  if (s.mode == RecurrentMode::kLstm) std::copy_n(in(2), s.batch * s.hidden, out(3));
  std::vector<uint8_t> active(static_cast<size_t>(s.batch));
  RecurrentStep step = NewStep(s, active);
  step.dstate = out(2);
  step.dcells = out(3);
  auto* functions = MS_PICK_ISA(RecurrentBackward);
  auto* product = MS_PICK_ISA(RecurrentBackwardProduct);
  double cost = s.products() * kNsPerProduct / static_cast<double>(s.steps * packed.blocks);
  const float* last = nullptr;  // the gradient that the step before has left for its product
  for (int64_t count = s.steps - 1; count >= -1; --count) {
    if (count >= 0) {
      int64_t t = s.Step(count);
      MarkActive(SequenceLengths(args.in[4], wide), t, &active);
      step.dout = RowsOf(s, in(0), t, 1);
      step.kept = RowsOf(s, in(5), t, s.blocks);
      step.kept_before = RowsOf(s, in(6), t, 1);
      step.dfrom_x = RowsOf(s, out(0), t, s.gates);
      step.dproduct = gru ? RowsOf(s, out(1), t, s.gates) : nullptr;
    }
    ParallelFor(packed.blocks, cost, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        if (last) product(step, s.gates, last, b, weights + b * packed.floats);
        if (count >= 0) functions(s.mode, step, b);
      }
    });
    last = gru ? step.dproduct : step.dfrom_x;
  }
}

KernelChoice VectorRecurrenceGrad(const KernelRequest& r) {
  if (r.dtype(0) != DType::kFloat32) return No("needs Float32, got {}", Name(r.dtype(0)));
  RecurrentSizes s(r);
  if (s.steps == 0) return No("needs steps, got none");
  Packed packed(s, true);
  bool wide = r.dtype(4) == DType::kInt64;
  return FunctionKernel(
      [s, wide, packed](const KernelArgs& args) { Backward(s, wide, packed, args); },
      s.products() * kNsPerProduct, packed.bytes());
}

}  // namespace

void AddRecurrent(KernelTable& table) {
  table.For("Recurrence")
      .Try("vectors", VectorRecurrence)
      .Try("vectors in float32", InFloat32(VectorRecurrence))
      .Try("reference", ReferenceRecurrence);
  table.For("RecurrenceGrad")
      .Try("vectors", VectorRecurrenceGrad)
      .Try("vectors in float32", InFloat32(VectorRecurrenceGrad))
      .Try("reference", ReferenceRecurrenceGrad);
}

}  // namespace ms::cpu
