// Launches of kernels whose text was written by hand (device/*.cuh).
#pragma once

#include <algorithm>

#include "backends/cuda/codegen/scalar_text.h"
#include "backends/cuda/device.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/program.h"

namespace ms::cuda {

// The kernel phase<i> of a text that declares a type Numbers: `arguments` are its parameters
// between the word of faults and these. One that reports faults itself, by the ticket `own`, goes
// on where it finds its own: else some threads of a block would leave, and others wait for them.
inline std::string EntryText(int phase, const std::string& arguments, const std::string& body,
                             const std::string& own = "0u") {
  return fmt::format(
      "extern \"C\" __global__ void __launch_bounds__(256) phase{}(Fault* fault, {}, Numbers n) "
      "{{\n  const unsigned found = *(volatile unsigned*)&fault->ticket;\n"
      "  if (found && found != {}) return;\n  {}\n}}\n",
      phase, arguments, own, body);
}

inline KernelChoice NothingToDo() {
  return FunctionKernel([](const KernelArgs&) {}, 10);
}

// Parameters for the inputs and outputs of a request, x0, x1, ... and y0, ..., and their names.
inline std::string ArgumentsText(const KernelRequest& r) {
  std::vector<std::string> all;
  for (size_t i = 0; i < r.in.size(); ++i)
    all.push_back(fmt::format("const {}* x{}", MemoryType(r.dtype(i)), i));
  for (size_t i = 0; i < r.out.size(); ++i)
    all.push_back(fmt::format("{}* y{}", MemoryType(r.out[i].dtype()), i));
  return fmt::format("{}", fmt::join(all, ", "));
}
inline std::string NamesText(const KernelRequest& r) {
  std::vector<std::string> all;
  for (size_t i = 0; i < r.in.size(); ++i) all.push_back(fmt::format("x{}", i));
  for (size_t i = 0; i < r.out.size(); ++i) all.push_back(fmt::format("y{}", i));
  return fmt::format("{}", fmt::join(all, ", "));
}
inline std::vector<const void*> AddressesOf(const KernelArgs& args, size_t inputs, size_t outputs) {
  std::vector<const void*> all(args.in, args.in + inputs);
  all.insert(all.end(), args.out, args.out + outputs);
  return all;
}

// Of what is copied, whatever it means.
inline std::string UnitType(size_t bytes) {
  return bytes == 16 ? "Unit16" : fmt::format("uint{}_t", 8 * bytes);
}

inline void LaunchText(CudaStream& stream, Program& program, int phase, int64_t blocks,
                       std::vector<const void*> addresses, std::vector<long long> numbers) {
  std::vector<void*> arguments;
  for (const void*& address : addresses) arguments.push_back(&address);
  arguments.push_back(numbers.data());
  Grid grid;
  grid.x = static_cast<unsigned>(blocks);
  stream.Launch(program.phase(phase), grid, arguments);
}

// Blocks for a loop over so many threads' work, each of which may go round several times.
inline int64_t BlocksFor(int64_t threads) {
  return std::clamp<int64_t>((threads + 255) / 256, 1, 32 * TheDevice().multiprocessors);
}

inline CudaStream& StreamOf(const KernelArgs& args) {
  return static_cast<CudaStream&>(*args.stream);
}

}  // namespace ms::cuda
