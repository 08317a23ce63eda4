// Tensors joined along an axis, and cut along one.
#include <ms_cuda_texts.h>  // made when this is built

#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"

namespace ms::cuda {
namespace {

constexpr size_t kParts = 16, kNumbers = 4 + kParts;  // of one launch; of struct Numbers

enum class Way : uint8_t { kJoin, kCut };

struct Launch {
  size_t first;  // of the parts
  int64_t blocks;
  std::vector<long long> numbers;
};

// `ends`: of each part in a row of the whole.
std::vector<Launch> Launches(long long rows, const std::vector<long long>& ends) {
  std::vector<Launch> launches;
  for (size_t first = 0; first < ends.size(); first += kParts) {
    size_t count = std::min(kParts, ends.size() - first);
    long long begin = first ? ends[first - 1] : 0, width = ends[first + count - 1] - begin;
    if (rows * width == 0) continue;
    std::vector<long long> numbers{rows, ends.back(), static_cast<long long>(count), begin};
    numbers.insert(numbers.end(), &ends[first], &ends[first] + count);
    numbers.resize(kNumbers);
    launches.push_back({first, BlocksFor(rows * width), std::move(numbers)});
  }
  return launches;
}

std::string Text(Way way, const std::string& unit) {
  std::string part = way == Way::kJoin ? "const " + unit : unit;
  std::string whole = way == Way::kJoin ? unit : "const " + unit;
  std::string arguments, names;
  for (size_t i = 0; i < kParts; ++i) {
    arguments += fmt::format("{}* p{}, ", part, i);
    names += fmt::format("{}p{}", i ? ", " : "", i);
  }
  return kJoinsText + EntryText(0, fmt::format("{}{}* whole", arguments, whole),
                                fmt::format("{}* const parts[] = {{{}}};\n  {}(parts, whole, n);",
                                            part, names, way == Way::kJoin ? "Join" : "Cut"));
}

// Of a new axis each part has one element.
KernelChoice Make(const KernelRequest& r, Way way, const char* axis_name, bool new_axis) {
  bool join = way == Way::kJoin;
  const Shape& whole = join ? r.out[0].shape() : r.shape(0);
  auto axis = r.attr<int64_t>(axis_name);
  int at = static_cast<int>(axis < 0 ? axis + whole.rank() : axis);
  long long inner = whole.Product(at + 1, whole.rank()), end = 0;
  std::vector<long long> ends;
  for (const Type& part : join ? r.in : r.out)
    ends.push_back(end += (new_axis ? 1 : part.shape()[at]) * inner);
  std::vector<Launch> launches = Launches(whole.Product(0, at), ends);
  auto program = Program::Of(Text(way, UnitType(ItemSize(r.dtype(0)))), 1);
  return FunctionKernel(
      [=](const KernelArgs& args) {
        for (const Launch& launch : launches) {
          std::vector<const void*> addresses;
          for (size_t i = launch.first; i < launch.first + kParts; ++i) {
            bool is_part = i < ends.size();
            addresses.push_back(!is_part ? nullptr : join ? args.in[i] : args.out[i]);
          }
          addresses.push_back(join ? args.out[0] : args.in[0]);
          LaunchText(StreamOf(args), *program, 0, launch.blocks, addresses, launch.numbers);
        }
      },
      2000);
}

KernelMaker Of(Way way, const char* axis, bool new_axis = false) {
  return [=](const KernelRequest& r) { return Make(r, way, axis, new_axis); };
}

}  // namespace

void AddJoins(KernelTable& table) {
  table.For("Concat").Try("text", Of(Way::kJoin, "axis"));
  table.For("Stack").Try("text", Of(Way::kJoin, "axis", true));
  table.For("Unstack").Try("text", Of(Way::kCut, "axis", true));
  table.For("Split").Try("text", Of(Way::kCut, "axis"));
  table.For("SplitV").Try("text", Of(Way::kCut, "split_dim"));
}

}  // namespace ms::cuda
