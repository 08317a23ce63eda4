// Random numbers: element by element those of the host, for the same seed and offset.
#include <ms_cuda_texts.h>  // made when this is built

#include <cmath>

#include "backends/cuda/codegen/scalar_text.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"
#include "kernel/sample_part.h"

namespace ms::cuda {
namespace {

// The finaliser of SplitMix64.
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The op's own seeds choose another stream; zeros leave the global one.
class Seeds {
 public:
  Seeds(const KernelRequest& r, const char* first, const char* second)
      : first_(static_cast<uint64_t>(r.attr<int64_t>(first))),
        second_(static_cast<uint64_t>(r.attr<int64_t>(second))) {}
  // Draws the offset, which depends on the order of the program alone.
  std::vector<long long> Numbers(RandomState* state, int64_t size, int64_t start) const {
    uint64_t seed = state->seed();
    if (first_ != 0 || second_ != 0) seed = Mix(Mix(seed ^ first_) + second_);
    return {static_cast<long long>(seed), static_cast<long long>(state->NextOffset()), size, start};
  }

 private:
  uint64_t first_, second_;
};

KernelMaker Floats(const char* function) {
  return [function](const KernelRequest& r) -> KernelChoice {
    if (r.out[0].dtype() != DType::kFloat32) return No("needs Float32");
    int64_t size = r.out[0].shape().size();
    std::string body = fmt::format("{}(out, n);", function);
    return FunctionKernel(
        [=, seeds = Seeds(r, "seed", "seed2"),
         program = Program::Of(kRandomText + EntryText(0, "float* out", body), 1)](
            const KernelArgs& args) {
          auto numbers = seeds.Numbers(args.random, size, 0);
          if (size)
            LaunchText(StreamOf(args), *program, 0, BlocksFor(size / 4), {args.out[0]}, numbers);
        },
        2000);
  };
}

KernelChoice MakeDropout(const KernelRequest& r) {
  Shape shape = r.shape(0);
  double keep = r.attr<double>("keep_prob");
  std::string memory = MemoryType(r.dtype(0)), type = RegisterType(r.dtype(0));
  // Words below this are kept.
  auto threshold = static_cast<uint64_t>(std::max(std::llround(keep * 4294967296.0), 1ll));
  std::string body =
      fmt::format("Drop(x, y, mask, {}ull, {}, n);", threshold,
                  ConstantText(1 / keep, type == "double" ? DType::kFloat64 : DType::kFloat32));
  std::string arguments = fmt::format("const {0}* x, {0}* y, {0}* mask", memory);
  return FunctionKernel(
      [=, seeds = Seeds(r, "Seed0", "Seed1"),
       program =
           Program::Of(kRandomText + EntryText(0, arguments, body), 1)](const KernelArgs& args) {
        int64_t size = shape.size();
        auto numbers = seeds.Numbers(args.random, size, FirstElement(shape));
        if (size)
          LaunchText(StreamOf(args), *program, 0, BlocksFor(size / 4 + 32),
                     {args.in[0], args.out[0], args.out[1]}, numbers);
      },
      2000);
}

}  // namespace

void AddRandom(KernelTable& table) {
  table.For("UniformReal").Try("text", Floats("Uniform"));
  table.For("StandardNormal").Try("text", Floats("Normal"));
  table.For("Dropout").Try("text", MakeDropout);
}

}  // namespace ms::cuda
