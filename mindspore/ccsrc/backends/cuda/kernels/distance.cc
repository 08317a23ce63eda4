// Distances between all pairs of points.
#include <ms_cuda_texts.h>  // made when this is built

#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"

namespace ms::cuda {
namespace {

// `x` is the place of the first points among the inputs, before the second ones.
KernelMaker Pairs(const char* function, size_t x) {
  return [=](const KernelRequest& r) -> KernelChoice {
    const Shape &rows = r.shape(x), &columns = r.shape(x + 1), &out = r.out[0].shape();
    if (out.size() == 0) return NothingToDo();
    std::vector<long long> numbers{rows.Product(0, rows.rank() - 2), rows[-2], columns[-2],
                                   rows[-1]};
    auto up = [](int64_t size) { return (size + 15) / 16 * 16; };
    bool tiles = x == 0;  // of pairs; else a thread has an element
    int64_t threads = tiles ? numbers[0] * up(numbers[1]) * up(numbers[2]) : out.size();
    std::string types = fmt::format("{}, {}", MemoryType(r.dtype(0)), RegisterType(r.dtype(0)));
    std::string body = fmt::format("{}{}>({}, n);", function, types, NamesText(r));
    return FunctionKernel(
        [=, inputs = r.in.size(),
         program = Program::Of(kDistanceText + EntryText(0, ArgumentsText(r), body), 1)](
            const KernelArgs& args) {
          LaunchText(StreamOf(args), *program, 0, BlocksFor(threads), AddressesOf(args, inputs, 1),
                     numbers);
        },
        3000);
  };
}

}  // namespace

void AddDistance(KernelTable& table) {
  table.For("SquaredDistances").Try("text", Pairs("PairSums<Squares, ", 0));
  table.For("AbsoluteDistances").Try("text", Pairs("PairSums<Sizes, ", 0));
  table.For("AbsoluteDistancesGrad").Try("text", Pairs("SumSigns<", 1));
}

}  // namespace ms::cuda
