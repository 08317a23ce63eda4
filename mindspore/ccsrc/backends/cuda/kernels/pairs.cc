// Sums over all pairs of rows and columns: distances, and the products that cuBLASLt does not take,
// of integers, of no elements, or with leading dimensions that broadcast in part.
#include <ms_cuda_texts.h>  // made when this is built

#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"

namespace ms::cuda {
namespace {

constexpr int kMostLeads = 6;  // of struct Numbers in device/pairs.cuh

// Matrices of x, by rows, and of y, by columns: [points, size], or the other way round.
std::vector<long long> NumbersOf(const Shape& x, const Shape& y, const Shape& out, bool turned_x,
                                 bool turned_y) {
  auto lead = [](const Shape& shape) { return shape.Part(0, shape.rank() - 2); };
  Shape of_x = lead(x), of_y = lead(y), all = lead(out);
  int64_t size = x[turned_x ? -2 : -1];
  std::vector<long long> n{all.size(), out[-2], out[-1], size};
  for (auto [points, turned] : {std::pair(out[-2], turned_x), std::pair(out[-1], turned_y)})
    n.insert(n.end(), {turned ? 1 : size, turned ? points : 1});
  long long steps[] = {out[-2] * size, out[-1] * size};
  std::vector<long long> leads(3 * kMostLeads, 1);
  for (int i = 1; i <= kMostLeads; ++i) {
    auto* at = leads.data() + 3 * (kMostLeads - i);
    if (i <= all.rank()) at[0] = all[-i];
    for (int k : {0, 1}) {
      const Shape& own = k == 0 ? of_x : of_y;
      int64_t count = i <= own.rank() ? own[-i] : 1;
      at[1 + k] = count == 1 ? 0 : steps[k];
      steps[k] *= count;
    }
  }
  n.insert(n.end(), leads.begin(), leads.end());
  return n;
}

KernelChoice PairSums(const KernelRequest& r, const char* part, bool turned_x, bool turned_y) {
  const Type& out = r.out[0];
  if (out.shape().size() == 0) return NothingToDo();
  if (IsComplex(out.dtype())) return No("needs real numbers, got {}", Name(out.dtype()));
  auto numbers = NumbersOf(r.shape(0), r.shape(1), out.shape(), turned_x, turned_y);
  auto tiles = [](int64_t size) { return (size + 15) / 16; };
  int64_t blocks = numbers[0] * tiles(numbers[1]) * tiles(numbers[2]);
  std::string body =
      fmt::format("PairSums<{}, {}>({}, n);", part, RegisterType(out.dtype()), NamesText(r));
  return FunctionKernel(
      [=, program = Program::Of(kPairsText + EntryText(0, ArgumentsText(r), body), 1)](
          const KernelArgs& args) {
        LaunchText(StreamOf(args), *program, 0, BlocksFor(256 * blocks), AddressesOf(args, 2, 1),
                   numbers);
      },
      3000);
}

KernelMaker Distances(const char* part) {
  return [part](const KernelRequest& r) { return PairSums(r, part, false, false); };
}

KernelChoice MakeProducts(const KernelRequest& r) {
  return PairSums(r, "Products", r.attr<bool>("transpose_a"), !r.attr<bool>("transpose_b"));
}

// A thread has an element of the gradient.
KernelChoice MakeSigns(const KernelRequest& r) {
  int64_t elements = r.out[0].shape().size();
  if (elements == 0) return NothingToDo();
  std::string body = fmt::format("SumSigns<{}, {}>({}, n);", MemoryType(r.dtype(0)),
                                 RegisterType(r.dtype(0)), NamesText(r));
  return FunctionKernel(
      [=, numbers = NumbersOf(r.shape(1), r.shape(2), r.shape(0), false, false),
       program = Program::Of(kPairsText + EntryText(0, ArgumentsText(r), body), 1)](
          const KernelArgs& args) {
        LaunchText(StreamOf(args), *program, 0, BlocksFor(elements), AddressesOf(args, 3, 1),
                   numbers);
      },
      3000);
}

}  // namespace

void AddPairs(KernelTable& table) {
  table.For("SquaredDistances").Try("text", Distances("Squares"));
  table.For("AbsoluteDistances").Try("text", Distances("Sizes"));
  table.For("AbsoluteDistancesGrad").Try("text", MakeSigns);
  for (const char* op : {"MatMul", "BatchMatMul", "MatMulInteger"})
    table.For(op).Try("text", MakeProducts);
}

}  // namespace ms::cuda
