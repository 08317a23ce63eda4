// Kernels that read at positions, and say late which one is out of range.
#include <ms_cuda_texts.h>  // made when this is built

#include "backends/cuda/codegen/scalar_text.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"
#include "ops/axes.h"

namespace ms::cuda {
namespace {

constexpr size_t kNumbers = 8;                // of struct Numbers in device/indexed.cuh
constexpr char kOwn[] = "(unsigned)n.at[0]";  // the ticket

std::vector<long long> Padded(std::vector<long long> numbers) {
  numbers.resize(kNumbers);
  return numbers;
}

// What is copied at once: bytes that divide a row, up to 16.
size_t UnitOf(size_t row_bytes, size_t most) {
  size_t unit = 16;
  while (row_bytes % unit != 0 || unit > most) unit /= 2;
  return unit;
}

std::shared_ptr<Program> GatherProgram(size_t unit, DType positions) {
  std::string type = UnitType(unit);
  std::string arguments =
      fmt::format("const {0}* in, const {1}* positions, {0}* out", type, MemoryType(positions));
  return Program::Of(
      kIndexedText + EntryText(0, arguments, "Gather(fault, in, positions, out, n);", kOwn), 1);
}

// What is gathered is [batch, outer, size, inner], the positions are [batch, count].
struct GatherSizes {
  GatherSizes(const KernelRequest& r, const Shape& params) {
    const Shape& at = r.shape(1);
    int axis = Wrap(r.attr<int64_t>("axis"), params.rank());
    int dims = static_cast<int>(r.attr<int64_t>("batch_dims"));
    if (dims < 0) dims += at.rank();
    size = params[axis], inner = params.Product(axis + 1, params.rank());
    outer = params.Product(dims, axis), count = at.Product(dims, at.rank());
  }
  unsigned Ticket(CudaStream& stream, const KernelArgs& args) const {
    return stream.NextTicket(
        args.place, ErrorKind::kIndex,
        fmt::format("the indices must be in [-{0}, {0}), but got {{}} at position {{}}", size));
  }
  int64_t outer, size, count, inner;
};

KernelChoice MakeGather(const KernelRequest& r) {
  GatherSizes sizes(r, r.shape(0));
  int64_t elements = r.out[0].shape().size();
  if (elements == 0 || r.shape(0).size() == 0) return No("needs elements, got none");
  size_t item = ItemSize(r.dtype(0)), row = static_cast<size_t>(sizes.inner) * item;
  size_t wide = UnitOf(row, 16), narrow = UnitOf(row, std::min<size_t>(item, 8));
  return FunctionKernel(
      [=, whole = GatherProgram(wide, r.dtype(1)),
       single = GatherProgram(narrow, r.dtype(1))](const KernelArgs& args) {
        CudaStream& stream = StreamOf(args);
        bool aligned = (AddressOf(args.in[0]) | AddressOf(args.out[0])) % wide == 0;
        size_t unit = aligned ? wide : narrow;
        auto units = static_cast<int64_t>(row / unit);
        int64_t all = elements / sizes.inner * units;
        LaunchText(
            stream, aligned ? *whole : *single, 0, BlocksFor(all),
            {args.in[0], args.in[1], args.out[0]},
            Padded({sizes.Ticket(stream, args), all, sizes.outer, sizes.size, sizes.count, units}));
      },
      3000);
}

// ---- losses by classes ---------------------------------------------------------------------
unsigned LabelTicket(CudaStream& stream, const KernelArgs& args, int64_t classes) {
  return stream.NextTicket(
      args.place, ErrorKind::kValue,
      fmt::format("the labels must be in [0, {}), but got {{}} at position {{}}", classes));
}

KernelChoice MakeLikelihood(const KernelRequest& r) {
  int64_t rows = r.shape(0)[0], classes = r.shape(0)[1];
  if (rows == 0) return No("needs rows, got none");
  const auto& reduction = r.attr<std::string>("reduction");
  bool none = reduction == "none";
  std::string arguments = fmt::format(
      "const {0}* logs, const {1}* labels, const {0}* weights, double* losses, {0}* out, "
      "{0}* weight",
      MemoryType(r.dtype(0)), MemoryType(r.dtype(1)));
  std::string text =
      kIndexedText +
      EntryText(0, arguments,
                fmt::format("LossOfRows(fault, logs, labels, weights, losses, {}, n);",
                            none ? "out" : fmt::format("({}*)0", MemoryType(r.dtype(0)))),
                kOwn) +
      EntryText(1, arguments,
                fmt::format("LossOfAll(losses, {}, {}, weight, n);", reduction == "mean",
                            none ? fmt::format("({}*)0", MemoryType(r.dtype(0))) : "out"),
                kOwn);
  return FunctionKernel(
      [=, ignored = r.attr<int64_t>("ignore_index"),
       program = Program::Of(text, 2)](const KernelArgs& args) {
        CudaStream& stream = StreamOf(args);
        std::vector<const void*> addresses{args.in[0],     args.in[1],  args.in[2],
                                           args.workspace, args.out[0], args.out[1]};
        auto numbers = Padded({LabelTicket(stream, args, classes), rows, classes, ignored});
        LaunchText(stream, *program, 0, BlocksFor(rows), addresses, numbers);
        LaunchText(stream, *program, 1, 1, addresses, numbers);
      },
      3000, static_cast<size_t>(rows) * 2 * sizeof(double));
}

KernelChoice MakeLikelihoodGrad(const KernelRequest& r) {
  int64_t rows = r.out[0].shape()[0], classes = r.out[0].shape()[1];
  if (rows * classes == 0) return No("needs elements, got none");
  const auto& reduction = r.attr<std::string>("reduction");
  std::string memory = MemoryType(r.dtype(0));
  std::string arguments = fmt::format(
      "const {0}* dloss, const {1}* labels, const {0}* weights, const {0}* total, {0}* out", memory,
      MemoryType(r.dtype(1)));
  std::string body = fmt::format(
      "LossGradient(fault, dloss, labels, weights, {}, {}, out, n);",
      reduction == "mean" ? "total" : fmt::format("(const {}*)0", memory), reduction == "none");
  return FunctionKernel(
      [=, ignored = r.attr<int64_t>("ignore_index"),
       program = Program::Of(kIndexedText + EntryText(0, arguments, body, kOwn), 1)](
          const KernelArgs& args) {
        CudaStream& stream = StreamOf(args);
        LaunchText(stream, *program, 0, BlocksFor(rows * classes),
                   {args.in[0], args.in[1], args.in[2], args.in[3], args.out[0]},
                   Padded({LabelTicket(stream, args, classes), rows, classes, ignored}));
      },
      3000);
}

// The mean over rows, or the gradient of the logits.
KernelChoice MakeSparseCrossEntropy(const KernelRequest& r) {
  int64_t rows = r.shape(0)[0], classes = r.shape(0)[1];
  if (rows == 0) return No("needs rows, got none");
  bool gradient = r.attr<bool>("is_grad");
  std::string memory = MemoryType(r.dtype(0)), type = RegisterType(r.dtype(0));
  std::string arguments = fmt::format("const {0}* x, const {1}* labels, double* losses, {0}* out",
                                      memory, MemoryType(r.dtype(1)));
  std::string text =
      kIndexedText + EntryText(0, arguments,
                               fmt::format("ClassRow<{}, {}>(fault, x, labels, {}, out, n);",
                                           memory, type, gradient ? "(double*)0" : "losses"),
                               kOwn);
  if (!gradient)
    text += EntryText(1, arguments,
                      fmt::format("MeanOfRows<{}, {}>(losses, out, n);", memory, type), kOwn);
  return FunctionKernel(
      [=, program = Program::Of(text, gradient ? 1 : 2)](const KernelArgs& args) {
        CudaStream& stream = StreamOf(args);
        std::vector<const void*> addresses{args.in[0], args.in[1], args.workspace, args.out[0]};
        auto numbers = Padded({LabelTicket(stream, args, classes), rows, classes});
        LaunchText(stream, *program, 0, (rows + 7) / 8, addresses, numbers);
        if (!gradient) LaunchText(stream, *program, 1, 1, addresses, numbers);
      },
      3000, gradient ? 0 : static_cast<size_t>(rows) * sizeof(double));
}

}  // namespace

void AddIndexed(KernelTable& table) {
  table.For("Gather").Try("text", MakeGather);
  table.For("NLLLoss").Try("text", MakeLikelihood);
  table.For("NLLLossGrad").Try("text", MakeLikelihoodGrad);
  table.For("SparseSoftmaxCrossEntropyWithLogits").Try("text", MakeSparseCrossEntropy);
}

}  // namespace ms::cuda
