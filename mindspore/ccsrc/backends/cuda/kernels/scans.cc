// What runs on along an axis: sums, products, recurrences, extremes, logarithms of sums.
#include <ms_cuda_texts.h>  // made when this is built

#include "backends/cuda/codegen/scalar_text.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"
#include "ops/axes.h"

namespace ms::cuda {
namespace {

// `kind`: a struct of device/scans.cuh, with {} in the place of its type of elements.
KernelChoice Scan(const KernelRequest& r, const std::string& kind, bool exclusive, bool reverse) {
  const Shape& shape = r.shape(0);
  int64_t lines = 1, size = 1, inner = 1;
  if (shape.rank() > 0) {
    int axis = Wrap(r.attr<int64_t>("axis"), shape.rank());
    size = shape[axis], inner = shape.Product(axis + 1, shape.rank());
    lines = shape.Product(0, axis) * inner;
  }
  if (shape.size() == 0) return NothingToDo();
  bool blocks = size > 64 && lines < 4096;
  std::string memory = MemoryType(r.dtype(0));
  std::string body =
      fmt::format("{}<{}>(Arrays<{}>{{x, factor, y, places}}, {}, {}, n);",
                  blocks ? "ScanByBlocks" : "ScanByThreads",
                  fmt::format(fmt::runtime(kind), memory), memory, exclusive, reverse);
  std::string arguments =
      fmt::format("const {0}* x, const {0}* factor, {0}* y, long long* places", memory);
  return FunctionKernel(
      [=, two = r.in.size() > 1, places = r.out.size() > 1,
       program = Program::Of(TextOf(r.dtype(0)) + kScansText + EntryText(0, arguments, body), 1)](
          const KernelArgs& args) {
        LaunchText(
            StreamOf(args), *program, 0, BlocksFor(lines * (blocks ? 256 : 1)),
            {args.in[0], two ? args.in[1] : nullptr, args.out[0], places ? args.out[1] : nullptr},
            {lines, size, inner});
      },
      2000);
}

KernelMaker Running(const char* kind) {
  return [kind](const KernelRequest& r) {
    return Scan(r, kind, r.attr<bool>("exclusive"), r.attr<bool>("reverse"));
  };
}

}  // namespace

void AddScans(KernelTable& table) {
  table.For("CumSum").Try("text", Running("SumScan<{}>"));
  table.For("CumProd").Try("text", Running("ProdScan<{}>"));
  table.For("CumulativeLogsumexp").Try("text", Running("LogScan<{}>"));
  table.For("LinearScan").Try("text", [](const KernelRequest& r) {
    std::string kind = fmt::format("LinearScan<{{}}, {}>", r.attr<bool>("from_source"));
    return Scan(r, kind, false, r.attr<bool>("reverse"));
  });
  const std::pair<const char*, const char*> extremes[] = {{"CumMax", "ExtremeScan<{}, true>"},
                                                          {"CumMin", "ExtremeScan<{}, false>"}};
  for (const auto& [op, kind] : extremes) {
    table.For(op).Try(
        "text", [kind = kind](const KernelRequest& r) { return Scan(r, kind, false, false); });
  }
}

}  // namespace ms::cuda
