// Connectionist temporal classification.
#include <ms_cuda_texts.h>  // made when this is built

#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"
#include "kernel/ctc_sizes.h"

namespace ms::cuda {
namespace {

struct Problem : CtcSizes {
  using CtcSizes::CtcSizes;
  int64_t all_states() const { return batch * steps * states(); }
  // Of device/ctc.cuh.
  std::vector<long long> Numbers(CudaStream& stream, const KernelArgs& args) const {
    auto ticket = [&](const std::string& what) -> long long {
      return stream.NextTicket(args.place, ErrorKind::kValue, what);
    };
    auto length = [&](const char* name, int64_t most) {
      return ticket(fmt::format("'{}' must be in [0, {}], but got {{}}", name, most));
    };
    return {ticket(fmt::format("the labels must be in [0, {}), but got {{}}", classes)),
            length("input_lengths", steps),
            length("target_lengths", labels),
            steps,
            batch,
            classes,
            labels,
            blank,
            merge,
            zero_infinity};
  }
};

constexpr char kOwn[] = "Own(found, n)";

KernelChoice MakeForward(const KernelRequest& r) {
  Problem p(r, 0);
  if (p.batch == 0) return NothingToDo();
  std::string body = fmt::format("Forward(fault, {}, n);", NamesText(r));
  return FunctionKernel(
      [=, program = Program::Of(kCtcText + EntryText(0, ArgumentsText(r), body, kOwn), 1)](
          const KernelArgs& args) {
        LaunchText(StreamOf(args), *program, 0, BlocksFor(p.batch * 256), AddressesOf(args, 4, 2),
                   p.Numbers(StreamOf(args), args));
      },
      10000);
}

KernelChoice MakeBackward(const KernelRequest& r) {
  Problem p(r, 1);
  int64_t elements = r.out[0].shape().size();
  if (elements == 0) return NothingToDo();
  std::string arguments = fmt::format("{}, {}* beta", ArgumentsText(r), MemoryType(r.dtype(0)));
  std::string text =
      kCtcText + EntryText(0, arguments, "FromEnd(fault, x1, x2, x3, x4, beta, n);", kOwn) +
      EntryText(1, arguments, "PutProbabilities(fault, x0, x1, x2, x3, x4, x5, x6, y0, n);", kOwn) +
      EntryText(2, arguments, "TakeShares(fault, x0, x1, x2, x3, x4, x5, x6, beta, y0, n);", kOwn);
  return FunctionKernel(
      [=, program = Program::Of(text, 3)](const KernelArgs& args) {
        std::vector<const void*> addresses = AddressesOf(args, 7, 1);
        addresses.push_back(args.workspace);
        auto numbers = p.Numbers(StreamOf(args), args);
        int64_t threads[] = {p.batch * 256, elements, p.all_states()};
        for (int phase = 0; phase < 3; ++phase)
          LaunchText(StreamOf(args), *program, phase, BlocksFor(threads[phase]), addresses,
                     numbers);
      },
      20000, static_cast<size_t>(p.all_states()) * ItemSize(r.dtype(0)));
}

}  // namespace

void AddCtc(KernelTable& table) {
  table.For("CTCForward").Try("text", MakeForward);
  table.For("CTCBackward").Try("text", MakeBackward);
}

}  // namespace ms::cuda
