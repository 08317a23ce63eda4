// Random numbers: element by element those of the host, for the same seed and offset.
#include <ms_cuda_texts.h>  // made when this is built

#include <cmath>

#include "backends/cuda/codegen/scalar_text.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"
#include "kernel/sample_part.h"

namespace ms::cuda {
namespace {

// The op's own seeds choose another stream; zeros leave the global one.
class Seeds {
 public:
  Seeds(const KernelRequest& r, const char* first, const char* second)
      : first_(r.attr<int64_t>(first)), second_(r.attr<int64_t>(second)) {}
  // Draws the offset, which depends on the order of the program alone.
  std::vector<long long> Numbers(RandomState* state, int64_t size, int64_t start) const {
    return {static_cast<long long>(state->seed()),
            static_cast<long long>(state->NextOffset()),
            size,
            start,
            first_,
            second_,
            0};
  }

 private:
  long long first_, second_;
};

KernelMaker Floats(const char* function) {
  return [function](const KernelRequest& r) -> KernelChoice {
    if (r.out[0].dtype() != DType::kFloat32) return No("needs Float32");
    int64_t size = r.out[0].shape().size();
    std::string body = fmt::format("{}(recorded, out, n);", function);
    return FunctionKernel(
        [=, seeds = Seeds(r, "seed", "seed2"),
         program = Program::Of(kRandomText + EntryText(0, "Recorded recorded, float* out", body),
                               1)](const KernelArgs& args) {
          auto numbers = seeds.Numbers(args.random, size, 0);
          if (size)
            LaunchText(StreamOf(args), *program, 0, BlocksFor(size / 4),
                       {StreamOf(args).random_words(), args.out[0]}, numbers);
        },
        2000);
  };
}

// Below which words an element is kept, and what it is multiplied by then.
std::string KeepText(double keep, const std::string& type) {
  auto threshold = static_cast<uint64_t>(std::max(std::llround(keep * 4294967296.0), 1ll));
  return fmt::format("{}ull, {}", threshold,
                     ConstantText(1 / keep, type == "double" ? DType::kFloat64 : DType::kFloat32));
}

KernelChoice MakeDropout(const KernelRequest& r) {
  Shape shape = r.shape(0);
  std::string memory = MemoryType(r.dtype(0)), type = RegisterType(r.dtype(0));
  std::string body = fmt::format("Drop(recorded, x, y, mask, {}, n);",
                                 KeepText(r.attr<double>("keep_prob"), type));
  std::string arguments = fmt::format("Recorded recorded, const {0}* x, {0}* y, {0}* mask", memory);
  return FunctionKernel(
      [=, seeds = Seeds(r, "Seed0", "Seed1"),
       program =
           Program::Of(kRandomText + EntryText(0, arguments, body), 1)](const KernelArgs& args) {
        int64_t size = shape.size();
        auto numbers = seeds.Numbers(args.random, size, FirstElement(shape));
        if (size)
          LaunchText(StreamOf(args), *program, 0, BlocksFor(size / 4 + 32),
                     {StreamOf(args).random_words(), args.in[0], args.out[0], args.out[1]},
                     numbers);
      },
      2000);
}

KernelChoice MakeDropoutKey(const KernelRequest& r) {
  std::string text = kRandomText + EntryText(0, "Recorded recorded, long long* key",
                                             "KeyOfDrop(recorded, key, n);");
  return FunctionKernel(
      [seeds = Seeds(r, "Seed0", "Seed1"), program = Program::Of(text, 1)](const KernelArgs& args) {
        LaunchText(StreamOf(args), *program, 0, 1, {StreamOf(args).random_words(), args.out[0]},
                   seeds.Numbers(args.random, 0, 0));
      },
      2000);
}

// The key stands where the words of a recording would: it is read when the kernel runs.
KernelChoice MakeDropoutMask(const KernelRequest& r) {
  Shape shape = r.out[0].shape();
  if (shape.size() == 0) return NothingToDo();
  std::string type = MemoryType(r.out[0].dtype());
  std::string body =
      fmt::format("MaskOfDrop(key, mask, {}, n);", KeepText(r.attr<double>("keep_prob"), type));
  std::string text = kRandomText + EntryText(0, fmt::format("Recorded key, {}* mask", type), body);
  return FunctionKernel(
      [=, program = Program::Of(text, 1)](const KernelArgs& args) {
        LaunchText(StreamOf(args), *program, 0, BlocksFor(shape.size() / 4 + 32),
                   {args.in[0], args.out[0]}, {0, 0, shape.size(), FirstElement(shape), 0, 0, 0});
      },
      2000);
}

constexpr char kOwn[] = "(unsigned)n.at[6]";  // the ticket

KernelChoice MakeIntegers(const KernelRequest& r) {
  int64_t size = r.out[0].shape().size();
  std::string arguments = fmt::format(
      "Recorded recorded, const {0}* low, const {0}* high, {0}* out", MemoryType(r.out[0].dtype()));
  std::string text =
      kRandomText + EntryText(0, arguments, "Integers(fault, recorded, low, high, out, n);", kOwn);
  return FunctionKernel(
      [=, seeds = Seeds(r, "seed", "seed2"),
       program = Program::Of(text, 1)](const KernelArgs& args) {
        CudaStream& stream = StreamOf(args);
        auto numbers = seeds.Numbers(args.random, 2 * size, 0);
        numbers.back() =
            stream.NextTicket(args.place, ErrorKind::kValue,
                              "'minval' must be less than 'maxval', but got {} and {}");
        LaunchText(stream, *program, 0, BlocksFor(size / 2),
                   {stream.random_words(), args.in[0], args.in[1], args.out[0]}, numbers);
      },
      2000);
}

KernelChoice MakeBernoulli(const KernelRequest& r) {
  if (IsComplex(r.dtype(0))) return No("needs real numbers, got {}", Name(r.dtype(0)));
  Shape shape = r.shape(0);
  std::string arguments = fmt::format("Recorded recorded, const {}* chances, {}* out",
                                      MemoryType(r.dtype(1)), MemoryType(r.dtype(0)));
  std::string body =
      fmt::format("Chances(fault, recorded, chances, {}, out, n);", r.shape(1).size() != 1);
  return FunctionKernel(
      [=, seeds = Seeds(r, "seed", "seed2"),
       program = Program::Of(kRandomText + EntryText(0, arguments, body, kOwn), 1)](
          const KernelArgs& args) {
        CudaStream& stream = StreamOf(args);
        auto numbers = seeds.Numbers(args.random, shape.size(), FirstElement(shape));
        if (shape.size() == 0) return;
        numbers.back() = stream.NextTicket(args.place, ErrorKind::kValue,
                                           "'p' must be in [0, 1], but is not at position {}");
        LaunchText(stream, *program, 0, BlocksFor(shape.size() / 4 + 32),
                   {stream.random_words(), args.in[1], args.out[0]}, numbers);
      },
      2000);
}

}  // namespace

void AddRandom(KernelTable& table) {
  table.For("UniformReal").Try("text", Floats("Uniform"));
  table.For("StandardNormal").Try("text", Floats("Normal"));
  table.For("UniformInt").Try("text", MakeIntegers);
  table.For("Bernoulli").Try("text", MakeBernoulli);
  table.For("Dropout").Try("text", MakeDropout);
  table.For("DropoutKey").Try("text", MakeDropoutKey);
  table.For("DropoutMask").Try("text", MakeDropoutMask);
}

}  // namespace ms::cuda
