// Recurrent layers over whole sequences: each step is a product of matrices by cuBLASLt and a
// kernel for the gates, all of them launched by one op. Of halves, the products multiply halves,
// and what steps hand to each other else is Float32, as on the host.
#include <ms_cuda_texts.h>  // made when this is built

#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/products.h"
#include "backends/cuda/kernels/text_kernel.h"
#include "backends/cuda/kernels/workspace.h"
#include "kernel/recurrent_sizes.h"

namespace ms::cuda {
namespace {

const char* NameOf(RecurrentMode mode) {
  switch (mode) {
    case RecurrentMode::kLstm:
      return "Lstm";
    case RecurrentMode::kGru:
      return "Gru";
    case RecurrentMode::kTanh:
      return "Tanh";
    case RecurrentMode::kRelu:
      break;
  }
  return "Relu";
}

// Of Recurrence, [batch, hidden] by the weights; of its gradient, [batch, gates * hidden], which
// lies among the gradients of all steps.
Product ProductOf(const RecurrentSizes& s, DType dtype, bool backward) {
  int64_t wide = s.gates * s.hidden;
  Product p{s.batch, wide, s.hidden, false, true, dtype};
  if (backward) {
    p = {s.batch, s.hidden, wide, false, false, dtype};
    p.next_row = s.distance() * wide;
  }
  p.in_float32 = ItemSize(dtype) == 2;
  return p;
}

// See device/recurrent.cuh.
std::string Text(const KernelRequest& r, const RecurrentSizes& s, bool backward) {
  std::string arguments = fmt::format("{0}, {1}* products, {1}* state, {1}* cells",
                                      ArgumentsText(r), RegisterType(r.dtype(0)));
  int out = backward ? 2 : 1;
  std::string begin = fmt::format("Begin(x1, y{}, state, n);", out);
  if (s.mode == RecurrentMode::kLstm) begin += fmt::format(" Begin(x2, y{}, cells, n);", out + 1);
  std::string step =
      backward
          ? fmt::format("Backward<{}, {}, {}>(x0, x4, x5, x6, y0, y1, products, state, cells, n);",
                        NameOf(s.mode), s.gates, s.blocks)
          : fmt::format(
                "Forward<{}, {}, {}, {}>(x0, x4, x5, y0, y1, y2, y3, y4, products, state, "
                "cells, n);",
                NameOf(s.mode), s.gates, s.biases, s.blocks);
  std::string text =
      kRecurrentText + EntryText(0, arguments, begin) + EntryText(1, arguments, step);
  if (!backward) return text;
  return text + EntryText(2, arguments, "EndBackward(x4, y2, y3, products, state, cells, n);");
}

class RecurrentKernel : public Kernel {
 public:
  RecurrentKernel(const KernelRequest& r, const RecurrentSizes& sizes, bool backward,
                  std::unique_ptr<Kernel> product)
      : sizes_(sizes),
        backward_(backward),
        half_(ItemSize(r.dtype(0)) == 2),
        item_(ItemSize(r.dtype(0))),
        inputs_(r.in.size()),
        outputs_(r.out.size()),
        product_(std::move(product)),
        program_(Program::Of(Text(r, sizes, backward), backward ? 3 : 2)) {
    workspace_bytes_ = product_ ? RoundUp(product_->workspace_bytes()) : 0;
    products_ = Room(backward ? 1 : sizes.gates);
    state_ = Room(half_ ? 1 : 0);
    cells_ = Room(half_ && is(RecurrentMode::kLstm) ? 1 : 0);
    cost_ns_ = 4000 + 8000 * static_cast<double>(sizes.steps);  // of the host
  }

  void Run(const KernelArgs& args) const override {
    std::vector<const void*> addresses = Addresses(args);
    auto launch = [&](int phase, int64_t step, int64_t last) {
      LaunchText(StreamOf(args), *program_, phase, BlocksFor(sizes_.batch * sizes_.hidden),
                 addresses,
                 {sizes_.batch, sizes_.hidden, sizes_.keep, step, last, sizes_.Row(step),
                  sizes_.distance()});
    };
    launch(0, 0, -1);
    int64_t last = -1;
    for (int64_t i = 0; i < sizes_.steps; ++i) {
      int64_t step = sizes_.Step(backward_ ? sizes_.steps - 1 - i : i);
      if (!backward_) Multiply(args, args.out[1]);
      launch(1, step, last);
      last = step;
      if (!backward_) continue;
      auto* all = static_cast<const char*>(args.out[is(RecurrentMode::kGru) ? 1 : 0]);
      size_t row = static_cast<size_t>(sizes_.gates * sizes_.hidden) * item_;
      Multiply(args, all + static_cast<size_t>(sizes_.Row(step)) * row);
    }
    if (backward_) launch(2, 0, last);
  }

 private:
  bool is(RecurrentMode mode) const { return sizes_.mode == mode; }
  // In the workspace, for so many blocks of the units of all sequences.
  size_t Room(int blocks) {
    size_t at = workspace_bytes_, item = half_ ? sizeof(float) : item_;
    workspace_bytes_ += RoundUp(static_cast<size_t>(blocks * sizes_.batch * sizes_.hidden) * item);
    return at;
  }
  static void* InWorkspace(const KernelArgs& args, size_t at) {
    return static_cast<char*>(args.workspace) + at;
  }

  // Inputs, outputs, products, and what steps hand on: of halves in the workspace, else the outputs
  // themselves. Null: what this kind of layer has not.
  std::vector<const void*> Addresses(const KernelArgs& args) const {
    std::vector<const void*> all = AddressesOf(args, inputs_, outputs_);
    size_t state = backward_ ? 2 : 1, cells = state + 1;  // among the outputs
    all.push_back(InWorkspace(args, products_));
    all.push_back(half_ ? InWorkspace(args, state_) : args.out[state]);
    all.push_back(half_ ? InWorkspace(args, cells_) : args.out[cells]);
    if (!is(RecurrentMode::kLstm)) all[inputs_ + cells] = all.back() = nullptr;
    if (backward_ && !is(RecurrentMode::kGru)) all[inputs_ + 1] = nullptr;
    return all;
  }

  void Multiply(const KernelArgs& args, const void* x) const {
    const void* in[] = {x, args.in[3]};
    void* out[] = {InWorkspace(args, products_)};
    KernelArgs inner = args;  // whose workspace begins with the product's
    inner.in = in;
    inner.out = out;
    product_->Run(inner);
  }

  const RecurrentSizes sizes_;
  const bool backward_, half_;
  const size_t item_, inputs_, outputs_;
  const std::unique_ptr<Kernel> product_;  // null where there is no step
  const std::shared_ptr<Program> program_;
  size_t products_, state_, cells_;  // in the workspace
};

KernelMaker Steps(bool backward) {
  return [backward](const KernelRequest& r) -> KernelChoice {
    RecurrentSizes s(r);
    if (s.batch * s.hidden == 0) return NothingToDo();
    KernelChoice product{std::unique_ptr<Kernel>()};
    if (s.steps > 0) {
      product = MakeProduct(ProductOf(s, r.dtype(0), backward));
      if (!product.kernel) return product;
    }
    return std::make_unique<RecurrentKernel>(r, s, backward, std::move(product.kernel));
  };
}

}  // namespace

void AddRecurrent(KernelTable& table) {
  table.For("Recurrence").Try("cublaslt and text", Steps(false));
  table.For("RecurrenceGrad").Try("cublaslt and text", Steps(true));
}

}  // namespace ms::cuda
