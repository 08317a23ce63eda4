// Rows along an axis: sorted, their largest elements, and where their extremes are.
#include <ms_cuda_texts.h>  // made when this is built

#include "backends/cuda/codegen/scalar_text.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/sorting.h"
#include "ops/axes.h"

namespace ms::cuda {
namespace {

// Elements [outer, size, inner]; a row for each of outer and inner.
struct Rows {
  int64_t rows = 1, size = 1, inner = 1;
  Rows(const Shape& shape, int64_t axis) {
    if (shape.rank() == 0) return;
    int at = Wrap(axis, shape.rank());
    size = shape[at], inner = shape.Product(at + 1, shape.rank());
    rows = shape.Product(0, at) * inner;
  }
};

const char* OrderType(DType dtype) { return ItemSize(dtype) == 8 ? "uint64_t" : "uint32_t"; }

KernelChoice MakeSort(const KernelRequest& r, int64_t axis, bool descending) {
  if (IsComplex(r.dtype(0))) return No("needs real numbers, got {}", Name(r.dtype(0)));
  Rows x(r.shape(0), axis);
  if (x.size >= INT32_MAX) return No("needs an axis of less than 2^31 elements, got {}", x.size);
  if (r.out[0].shape().size() == 0) return NothingToDo();
  SortedKeys keys{x.rows, x.size, ItemSize(r.dtype(0)) == 8};
  std::string arguments =
      fmt::format("const {0}* from, {0}* to, const {1}* x, {1}* values, int32_t* places",
                  keys.key_type(), MemoryType(r.dtype(0)));
  std::string text = std::string(kSortingText) + kOrderText +
                     EntryText(0, arguments,
                               fmt::format("SortElements<{}, {}>(x, to, {}, n);", keys.key_type(),
                                           OrderType(r.dtype(0)), descending)) +
                     EntryText(1, arguments, "MergeRuns(from, to, n.rows, n.size, n.width);") +
                     EntryText(2, arguments, "TakeSorted(from, x, values, places, n);");
  int64_t kept = r.out[0].shape().size() / x.rows;
  return FunctionKernel(
      [=, program = Program::Of(text, 3)](const KernelArgs& args) {
        CudaStream& stream = StreamOf(args);
        std::vector<long long> numbers{x.rows, x.size, x.inner, kept, 0};
        std::vector<const void*> others{args.in[0], args.out[0], args.out[1]};
        const void* sorted = keys.Sort(stream, *program, args.workspace, others, numbers, 4);
        LaunchText(stream, *program, 2, BlocksFor(x.rows * kept),
                   {sorted, nullptr, others[0], others[1], others[2]}, numbers);
      },
      10000, keys.workspace_bytes());
}

KernelMaker Find(bool largest) {
  return [largest](const KernelRequest& r) -> KernelChoice {
    if (IsComplex(r.dtype(0))) return No("needs real numbers, got {}", Name(r.dtype(0)));
    Rows x(r.shape(0), r.attr<int64_t>("axis"));
    if (r.out[0].shape().size() == 0) return NothingToDo();
    // Rows whose elements are neighbours are read by neighbours.
    bool blocks = x.inner == 1 ? x.size > 64 : x.size > 256 && x.rows < 4096;
    std::string memory = MemoryType(r.dtype(0));
    std::string arguments =
        fmt::format("const {0}* x, {1}* places, {0}* values", memory, MemoryType(r.out[0].dtype()));
    std::string body =
        fmt::format("{}<{}>(x, places, values, {}, n);", blocks ? "FindByBlocks" : "FindByThreads",
                    OrderType(r.dtype(0)), largest);
    std::string text = std::string(kSortingText) + kOrderText + EntryText(0, arguments, body);
    bool with_value = r.out.size() == 2;
    return FunctionKernel(
        [=, program = Program::Of(text, 1)](const KernelArgs& args) {
          LaunchText(StreamOf(args), *program, 0, BlocksFor(x.rows * (blocks ? 256 : 1)),
                     {args.in[0], args.out[0], with_value ? args.out[1] : nullptr},
                     {x.rows, x.size, x.inner, 1, 0});
        },
        2000);
  };
}

KernelChoice MakeSearch(const KernelRequest& r) {
  bool one_row = r.shape(0).rank() == 1;
  long long size = r.shape(0).back(), count = r.shape(1).size();
  if (count == 0) return NothingToDo();
  long long kept = one_row ? count : r.shape(1).back();
  std::string arguments = fmt::format("const {0}* sorted, const {0}* values, {1}* out",
                                      MemoryType(r.dtype(0)), MemoryType(r.out[0].dtype()));
  std::string body =
      fmt::format("CountBelow(sorted, values, out, {}, {}, n);", one_row, r.attr<bool>("right"));
  std::string text = std::string(kSortingText) + kOrderText + EntryText(0, arguments, body);
  return FunctionKernel(
      [=, program = Program::Of(text, 1)](const KernelArgs& args) {
        LaunchText(StreamOf(args), *program, 0, BlocksFor(count),
                   {args.in[0], args.in[1], args.out[0]}, {count / kept, size, 1, kept, 0});
      },
      2000);
}

}  // namespace

void AddOrder(KernelTable& table) {
  table.For("Sort").Try("text", [](const KernelRequest& r) {
    return MakeSort(r, r.attr<int64_t>("axis"), r.attr<bool>("descending"));
  });
  table.For("SearchRows").Try("text", MakeSearch);
  table.For("TopK").Try("text", [](const KernelRequest& r) { return MakeSort(r, -1, true); });
  for (const char* op : {"Argmax", "ArgMaxWithValue"}) table.For(op).Try("text", Find(true));
  for (const char* op : {"Argmin", "ArgMinWithValue"}) table.For(op).Try("text", Find(false));
}

}  // namespace ms::cuda
