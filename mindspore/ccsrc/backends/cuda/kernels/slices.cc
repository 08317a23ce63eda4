// Slices that are put into a tensor, or into zeros.
#include <ms_cuda_texts.h>  // made when this is built

#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"
#include "ops/slicing.h"

namespace ms::cuda {
namespace {

constexpr size_t kMostAxes = 8, kNumbers = 2 + 4 * kMostAxes;  // of struct Numbers

// The numbers that PutSlice takes; axes that a slice has whole are one with those around them.
std::vector<long long> SliceNumbers(const KernelRequest& r) {
  const Shape& shape = r.out[0].shape();
  SliceSpec spec = ResolveSlice(r.op, r.attrs, shape);
  std::vector<long long> numbers{shape.size(), 0};
  long long inner = 1;  // elements of the axes that are whole
  auto add = [&](long long size, long long begin, long long step, long long count) {
    numbers.insert(numbers.end(), {size, begin, step, count});
    ++numbers[1];
  };
  for (int i = shape.rank() - 1; i >= 0; --i) {
    auto at = static_cast<size_t>(i);
    long long size = shape[i], begin = spec.begin[at].value(), step = spec.step[at],
              count = spec.size[at].value();
    if (step == 1 && count == size) {
      inner *= size;
      continue;
    }
    if (inner > 1 && step != 1) {
      add(inner, 0, 1, inner);
      inner = 1;
    }
    add(size * inner, begin * inner, step, count * inner);
    inner = 1;
  }
  if (inner > 1 || numbers[1] == 0) add(inner, 0, 1, inner);
  return numbers;
}

// `value` is the number of the input that is put in; input 0 is around it, where it is another one.
KernelMaker Put(size_t value) {
  return [value](const KernelRequest& r) -> KernelChoice {
    if (r.out[0].shape().size() == 0) return NothingToDo();
    std::vector<long long> numbers = SliceNumbers(r);
    if (numbers.size() > kNumbers) return No("needs at most {} axes", kMostAxes);
    numbers.resize(kNumbers);
    std::string unit = UnitType(ItemSize(r.dtype(0)));
    std::string text =
        kSlicesText + EntryText(0, fmt::format("const {0}* slice, const {0}* x, {0}* out", unit),
                                "PutSlice(slice, x, out, n);");
    return FunctionKernel(
        [=, program = Program::Of(text, 1)](const KernelArgs& args) {
          LaunchText(StreamOf(args), *program, 0, BlocksFor(numbers[0]),
                     {args.in[value], value == 0 ? nullptr : args.in[0], args.out[0]}, numbers);
        },
        2000);
  };
}

}  // namespace

void AddSlices(KernelTable& table) {
  table.For("StridedSliceGrad").Try("text", Put(0));
  table.For("StridedSliceAssign").Try("text", Put(1));
}

}  // namespace ms::cuda
