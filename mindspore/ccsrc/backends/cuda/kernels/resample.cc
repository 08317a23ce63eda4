// Images of another size, and the gradients of that.
#include "ops/resample.h"

#include <ms_cuda_texts.h>  // made when this is built

#include <bit>

#include "backends/cuda/codegen/scalar_text.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"
#include "tensor/buffer.h"

namespace ms::cuda {
namespace {

// The tables of three axes in one array, and the numbers of the kernel. Axes that are not sampled
// have one element, which is taken as it is.
struct Tables {
  std::vector<long long> words, numbers;

  Tables(const KernelRequest& r, bool gradient) : numbers{r.out[0].shape().size()} {
    Sampling sampling = ParseSampling(r.op, r.attrs);
    const auto& scales = r.attr<std::vector<double>>("scales");
    int axes = static_cast<int>(r.attr<Ints>("size").size());
    for (int i = 1; i <= 3; ++i) {
      if (i > axes) {
        Add(MakeSampleTable({SampleMode::kNearest}, 1, 1, 0));
        continue;
      }
      int64_t from = r.shape(0)[-i], to = r.out[0].shape()[-i];
      double scale = scales.empty() ? 0 : scales[static_cast<size_t>(axes - i)];
      Add(gradient ? Transposed(MakeSampleTable(sampling, to, from, scale))
                   : MakeSampleTable(sampling, from, to, scale));
    }
  }

 private:
  long long Put(const auto& values) {
    auto place = static_cast<long long>(words.size());
    for (auto value : values) words.push_back(std::bit_cast<long long>(value));
    return place;
  }
  void Add(const SampleTable& table) {
    long long first = Put(table.first), begin = Put(table.begin), weights = Put(table.weights);
    numbers.insert(numbers.end(), {table.in, table.out(), first, begin, weights});
  }
};

KernelMaker Sampled(bool gradient) {
  return [gradient](const KernelRequest& r) -> KernelChoice {
    if (r.out[0].shape().size() == 0) return NothingToDo();
    Tables tables(r, gradient);
    size_t bytes = tables.words.size() * sizeof(long long);
    BufferRef table = Buffer::Allocate(bytes, TheMemory());
    TheMemory().Store(table->data(), tables.words.data(), bytes);
    std::string text =
        kResampleText + EntryText(0,
                                  fmt::format("const {0}* x, const long long* table, {0}* out",
                                              MemoryType(r.out[0].dtype())),
                                  "Resample(x, table, out, n);");
    return FunctionKernel(
        [table, numbers = tables.numbers, program = Program::Of(text, 1)](const KernelArgs& args) {
          LaunchText(StreamOf(args), *program, 0, BlocksFor(numbers[0]),
                     {args.in[0], table->data(), args.out[0]}, numbers);
        },
        2000);
  };
}

}  // namespace

void AddResample(KernelTable& table) {
  table.For("Resample").Try("text", Sampled(false));
  table.For("ResampleGrad").Try("text", Sampled(true));
}

}  // namespace ms::cuda
