// Images at the positions of grids, and the gradients of that.
#include "ops/grid.h"

#include <ms_cuda_texts.h>  // made when this is built

#include <limits>

#include "backends/cuda/codegen/scalar_text.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/sorting.h"

namespace ms::cuda {
namespace {

// The sizes of device/grid.cuh, and what of a rule the text has.
struct Points {
  std::vector<long long> numbers;
  std::string text;
  int64_t images, points, taps, plane;

  Points(const KernelRequest& r, const Shape& shape, const Shape& grid) {
    int axes = shape.rank() - 2;
    GridRule rule = ParseGridRule(r.op, r.attrs, axes);
    images = shape[0];
    points = grid.Product(1, axes + 1);
    taps = points * (rule.nearest ? 1 : 1 << axes);
    plane = shape.Product(2, shape.rank());
    numbers = {0, images, shape[1], points, plane};
    for (int i = 1; i <= 3; ++i) numbers.push_back(i <= axes ? shape[-i] : 1);
    text =
        std::string(kSortingText) +
        fmt::format(
            "enum {{ kZeros, kBorder, kReflection }};\n"
            "const int kAxes = {}, kPadding = {};\nconst bool kNearest = {}, kCorners = {};\n"
            "const unsigned kSlopes = {};\n",
            axes, static_cast<int>(rule.padding), rule.nearest, rule.align_corners, rule.slopes) +
        kGridText;
  }
};

// A thread has an element, or point, of what is written.
KernelChoice AtOnce(const KernelRequest& r, const char* function, size_t image, size_t grid) {
  if (r.out[0].shape().size() == 0) return NothingToDo();
  Points p(r, r.shape(image), r.shape(grid));
  std::string body = fmt::format("{}<{}, {}>({}, n);", function, MemoryType(r.dtype(0)),
                                 RegisterType(r.dtype(0)), NamesText(r));
  return FunctionKernel(
      [=, inputs = r.in.size(), size = r.out[0].shape().size(),
       program =
           Program::Of(p.text + EntryText(0, ArgumentsText(r), body), 1)](const KernelArgs& args) {
        LaunchText(StreamOf(args), *program, 0, BlocksFor(size), AddressesOf(args, inputs, 1),
                   p.numbers);
      },
      3000);
}

KernelChoice MakeSample(const KernelRequest& r) { return AtOnce(r, "Sample", 0, 1); }
KernelChoice MakeGridGrad(const KernelRequest& r) { return AtOnce(r, "MovePoints", 1, 2); }

KernelChoice MakeImageGrad(const KernelRequest& r) {
  const Shape& shape = r.out[0].shape();
  if (shape.size() == 0) return NothingToDo();
  Points p(r, shape, r.shape(1));
  if (std::max(p.plane, p.taps) >= std::numeric_limits<uint32_t>::max())
    return No("needs images of fewer than 2^32 elements, and as few that are sampled of each");
  std::string types = fmt::format("{}, {}", MemoryType(r.dtype(0)), RegisterType(r.dtype(0)));
  std::string arguments = "const uint64_t* from, uint64_t* to, " + ArgumentsText(r);
  std::string text =
      p.text + EntryText(0, arguments, fmt::format("SortTaps<{}>(x1, to, n);", types)) +
      EntryText(1, arguments, "MergeRuns(from, to, n.images, n.points * kTaps, n.width);") +
      EntryText(2, arguments, fmt::format("AddTaps<{}>(from, x0, x1, y0, n);", types));
  SortedKeys keys{p.images, p.taps};
  return FunctionKernel(
      [=, size = shape.size(), program = Program::Of(text, 3)](const KernelArgs& args) {
        std::vector<const void*> others = AddressesOf(args, 2, 1);
        const void* sorted =
            keys.Sort(StreamOf(args), *program, args.workspace, others, p.numbers, 0);
        others.insert(others.begin(), {sorted, nullptr});
        LaunchText(StreamOf(args), *program, 2, BlocksFor(size), others, p.numbers);
      },
      10000, keys.workspace_bytes());
}

}  // namespace

void AddGrid(KernelTable& table) {
  table.For("GridSample").Try("text", MakeSample);
  table.For("GridSampleGrad").Try("text", MakeImageGrad);
  table.For("GridSampleGridGrad").Try("text", MakeGridGrad);
}

}  // namespace ms::cuda
