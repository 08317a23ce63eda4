// Random numbers: element by element those of the host, for the same seed and offset.
#include <ms_cuda_texts.h>  // made when this is built

#include <array>
#include <cmath>

#include "backends/cuda/codegen/scalar_text.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/sorting.h"
#include "kernel/sample_part.h"

namespace ms::cuda {
namespace {

constexpr size_t kTicket = 6, kRows = 7, kWidth = 10, kNumbers = 12;  // of struct Numbers

std::vector<long long> Padded(std::vector<long long> numbers) {
  numbers.resize(kNumbers);
  return numbers;
}

// The op's own seeds choose another stream; zeros leave the global one.
class Seeds {
 public:
  Seeds(const KernelRequest& r, const char* first, const char* second)
      : first_(r.attr<int64_t>(first)), second_(r.attr<int64_t>(second)) {}
  // Draws the offset, which depends on the order of the program alone.
  std::vector<long long> Numbers(RandomState* state, int64_t size, int64_t start) const {
    return Padded({static_cast<long long>(state->seed()),
                   static_cast<long long>(state->NextOffset()), size, start, first_, second_});
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
                   {args.in[0], args.out[0]}, Padded({0, 0, shape.size(), FirstElement(shape)}));
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
        numbers[kTicket] =
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
        numbers[kTicket] = stream.NextTicket(args.place, ErrorKind::kValue,
                                             "'p' must be in [0, 1], but is not at position {}");
        LaunchText(stream, *program, 0, BlocksFor(shape.size() / 4 + 32),
                   {stream.random_words(), args.in[1], args.out[0]}, numbers);
      },
      2000);
}

// ---- of device/sampling.cuh
std::string SamplingText() { return std::string(kSortingText) + kRandomText + kSamplingText; }

KernelChoice MakePermutation(const KernelRequest& r) {
  int64_t size = r.attr<int64_t>("n");
  if (size == 0)
    return FunctionKernel([](const KernelArgs& args) { args.random->NextOffset(); }, 10);
  std::string arguments = fmt::format("Recorded recorded, unsigned* heads, unsigned* next, {}* to",
                                      MemoryType(r.out[0].dtype()));
  std::string text = SamplingText() +
                     EntryText(0, arguments, "ListSwaps(recorded, heads, next, to, n);") +
                     EntryText(1, arguments, "FollowSwaps(heads, next, to, n);");
  size_t bytes = static_cast<size_t>(size) * sizeof(uint32_t);
  return FunctionKernel(
      [=, seeds = Seeds(r, "seed", "seed2"),
       program = Program::Of(text, 2)](const KernelArgs& args) {
        CudaStream& stream = StreamOf(args);
        auto numbers = seeds.Numbers(args.random, 2 * size, 0);
        char* heads = static_cast<char*>(args.workspace);
        TheMemory().Zero(heads, bytes);
        std::vector<const void*> addresses{stream.random_words(), heads, heads + bytes,
                                           args.out[0]};
        LaunchText(stream, *program, 0, BlocksFor(size / 2 + 32), addresses, numbers);
        LaunchText(stream, *program, 1, BlocksFor(size), addresses, numbers);
      },
      6000, 2 * bytes);
}

// Rows of weights. What is drawn from them: by running sums, or the first of keys that are sorted.
KernelChoice MakeMultinomial(const KernelRequest& r) {
  long long size = r.shape(0).back(), rows = r.shape(0).size() / size;
  long long kept = r.attr<int64_t>("num_samples");
  bool sums = r.attr<bool>("replacement");
  if (size >= UINT32_MAX) return No("needs fewer than 2^32 weights of a row, got {}", size);
  SortedKeys keys{rows, size, true};
  std::string arguments = fmt::format(
      "const {0}* from, {0}* to, Recorded recorded, const {1}* weights, {2}* out",
      sums ? "double" : keys.key_type(), MemoryType(r.dtype(0)), MemoryType(r.out[0].dtype()));
  std::vector<std::string> bodies{"SortTimes(recorded, weights, to, n);",
                                  "MergeRuns(from, to, n.rows, n.size, n.width);",
                                  "TakeFirst(from, out, n);"};
  if (sums)
    bodies = {"SumWeights(weights, to, n);", "DrawBySums(recorded, weights, from, out, n);"};
  int check = static_cast<int>(bodies.size());
  std::string needed = sums ? "1" : "n.kept", text = SamplingText();
  for (int phase = 0; phase < check; ++phase)
    text += EntryText(phase, arguments, bodies[static_cast<size_t>(phase)]);
  text += EntryText(check, arguments, fmt::format("CheckWeights(fault, weights, {}, n);", needed),
                    "OwnTicket(found, n)");
  return FunctionKernel(
      [=, seeds = Seeds(r, "seed", "seed2"),
       program = Program::Of(text, check + 1)](const KernelArgs& args) {
        CudaStream& stream = StreamOf(args);
        auto numbers = seeds.Numbers(args.random, 0, 0);
        if (rows == 0) return;
        numbers[kTicket] = stream.NextTicket(
            args.place, ErrorKind::kValue,
            "the weights must be finite and not negative, but are not at position {}");
        std::copy_n(std::array{rows, size, kept}.begin(), 3, numbers.begin() + kRows);
        numbers.back() =
            stream.NextTicket(args.place, ErrorKind::kValue,
                              "a row must have at least {} positive weights, but got {}");
        std::vector<const void*> others{stream.random_words(), args.in[0], args.out[0]};
        auto launch = [&](int phase, int64_t threads, const void* from) {
          LaunchText(stream, *program, phase, BlocksFor(threads),
                     {from, args.workspace, others[0], others[1], others[2]}, numbers);
        };
        launch(check, rows * 256, nullptr);
        if (kept == 0) return;
        if (sums) launch(0, rows * 256, nullptr);
        const void* from =
            sums ? args.workspace
                 : keys.Sort(stream, *program, args.workspace, others, numbers, kWidth);
        launch(check - 1, rows * kept, from);
      },
      10000, sums ? static_cast<size_t>(rows * size) * sizeof(double) : keys.workspace_bytes());
}

// Numbers of distributions of which each element is a parameter.
KernelMaker Rejected(const char* function) {
  return [function](const KernelRequest& r) -> KernelChoice {
    int64_t size = r.shape(0).size();
    std::string arguments =
        fmt::format("Recorded recorded, const {0}* x, {0}* out", MemoryType(r.dtype(0)));
    std::string body = fmt::format(
        "DrawEach(recorded, x, out, n, [](double x, Draws& draws) {{ return {}(x, draws); }});",
        function);
    return FunctionKernel(
        [=, seeds = Seeds(r, "seed", "seed2"),
         program = Program::Of(SamplingText() + EntryText(0, arguments, body), 1)](
            const KernelArgs& args) {
          auto numbers = seeds.Numbers(args.random, size, 0);
          if (size)
            LaunchText(StreamOf(args), *program, 0, BlocksFor(size),
                       {StreamOf(args).random_words(), args.in[0], args.out[0]}, numbers);
        },
        2000);
  };
}

}  // namespace

void AddRandom(KernelTable& table) {
  table.For("UniformReal").Try("text", Floats("Uniform"));
  table.For("StandardNormal").Try("text", Floats("Normal"));
  table.For("UniformInt").Try("text", MakeIntegers);
  table.For("RandomPermutation").Try("text", MakePermutation);
  table.For("Multinomial").Try("text", MakeMultinomial);
  table.For("StandardGamma").Try("text", Rejected("GammaOf"));
  table.For("StandardPoisson").Try("text", Rejected("PoissonOf"));
  table.For("Bernoulli").Try("text", MakeBernoulli);
  table.For("Dropout").Try("text", MakeDropout);
  table.For("DropoutKey").Try("text", MakeDropoutKey);
  table.For("DropoutMask").Try("text", MakeDropoutMask);
}

}  // namespace ms::cuda
