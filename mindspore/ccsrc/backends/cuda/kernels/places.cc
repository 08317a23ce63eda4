// Rows of a table that are read or written at places which are numbers of a tensor.
#include <ms_cuda_texts.h>  // made when this is built

#include <limits>

#include "backends/cuda/codegen/scalar_text.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/sorting.h"
#include "ops/axes.h"

namespace ms::cuda {
namespace {

constexpr size_t kMostAxes = 8;  // of struct Numbers in device/places.cuh
constexpr long long kLeftOut = std::numeric_limits<int64_t>::min();  // places below zero are

// What the numbers of a kernel are, and what is said of places that are out of range.
struct Places {
  struct Axis {
    long long size, stride = 1, count = 1;
    std::string what;
  };
  std::string form = "ByCoordinates";
  ErrorKind kind = ErrorKind::kIndex;
  long long rows = 0, inner = 1, slices = 0;
  long long outer = 1, count = 0, size = 0, low = 0, axis = 0;
  std::vector<Axis> axes;

  bool is_empty() const { return rows * inner == 0; }
  std::vector<long long> Numbers(CudaStream& stream, const KernelArgs& args) const {
    std::vector<long long> numbers{0,     rows, inner, slices, outer,
                                   count, size, low,   axis,   static_cast<long long>(axes.size())};
    for (const Axis& a : axes)
      numbers.insert(numbers.end(),
                     {a.size, a.stride, a.count, stream.NextTicket(args.place, kind, a.what)});
    numbers.resize(10 + 4 * kMostAxes);
    return numbers;
  }
};

std::string Range(long long low, long long size) {
  std::string range =
      low == kLeftOut ? fmt::format("below {}", size) : fmt::format("in [{}, {})", low, size);
  return fmt::format("the indices must be {}, but got {{}} at position {{}}", range);
}

// Slices of the first axes of a table, at coordinates that are rows of the index.
Places AtCoordinates(const Shape& table, const Shape& index) {
  Places p;
  int depth = static_cast<int>(index.back());
  p.rows = p.count = index.Product(0, index.rank() - 1);
  p.inner = table.Product(depth, table.rank());
  p.slices = p.size = table.Product(0, depth);
  for (int k = 0; k < depth; ++k) {
    p.axes.push_back({table[k], table.Product(k + 1, depth), 1,
                      fmt::format("the indices into axis {} must be in [0, {}), but got {{}} in "
                                  "row {{}}",
                                  k, table[k])});
  }
  return p;
}

// Slices of the first axis, at positions.
Places AtPositions(int64_t slices, int64_t inner, int64_t positions, long long low) {
  Places p;
  p.rows = p.count = positions, p.inner = inner, p.slices = p.size = slices, p.low = low;
  p.axes.push_back({slices, 1, 1, Range(low, slices)});
  return p;
}

// Elements of a table, whose coordinates are those of the index but for one.
Places AlongAxis(Shape table, Shape index, int64_t axis) {
  if (index.rank() == 0) table = Shape{1}, index = Shape{1};
  Places p;
  p.form = "AlongAxis";
  p.rows = p.count = index.size(), p.slices = p.size = table.size();
  p.axis = Wrap(axis, index.rank());
  for (int k = 0; k < index.rank(); ++k)
    p.axes.push_back(
        {table[k], table.Product(k + 1, table.rank()), index[k], Range(-table[k], table[k])});
  return p;
}

std::string Refusal(const Places& p) {
  if (p.axes.size() > kMostAxes) return fmt::format("needs at most {} axes", kMostAxes);
  if (std::max(p.rows, p.slices) >= UINT32_MAX) return "needs fewer than 2^32 rows";
  return "";
}

constexpr char kOwn[] = "Own(found, n)";
std::string Text() { return std::string(kSortingText) + kPlacesText; }

// ---- reading
// Input 0 at the places of the index.
KernelChoice Read(const KernelRequest& r, const Places& places, size_t index) {
  if (std::string why = Refusal(places); !why.empty()) return No("{}", why);
  if (places.is_empty()) return NothingToDo();
  if (places.slices == 0) return No("needs a table with elements");
  std::string unit = UnitType(ItemSize(r.dtype(0)));
  std::string arguments =
      fmt::format("const {0}* table, const {1}* index, {0}* out", unit, MemoryType(r.dtype(index)));
  std::string body = fmt::format("ReadRows<{}>(fault, table, index, out, n);", places.form);
  return FunctionKernel(
      [=, program = Program::Of(Text() + EntryText(0, arguments, body, kOwn), 1)](
          const KernelArgs& args) {
        CudaStream& stream = StreamOf(args);
        LaunchText(stream, *program, 0, BlocksFor(places.rows * places.inner),
                   {args.in[0], args.in[index], args.out[0]}, places.Numbers(stream, args));
      },
      3000);
}

// ---- writing
struct Written {
  const char* change;  // a struct of device/places.cuh
  int base;            // the input that is around what is written; -1: `around` is
  size_t index, updates;
  double around = 0;
};

KernelChoice Write(const KernelRequest& r, const Places& places, const Written& w) {
  const Type& type = r.out[0];
  bool sets = w.change == std::string_view("Set");
  if (std::string why = Refusal(places); !why.empty()) return No("{}", why);
  if (r.dtype(w.updates) != type.dtype()) return No("the updates must be of the written dtype");
  bool whole = IsInteger(type.dtype()) && w.change == std::string_view("Over");
  std::string memory = sets ? UnitType(ItemSize(type.dtype())) : MemoryType(type.dtype());
  std::string arguments =
      fmt::format("const uint64_t* from, uint64_t* to, const {1}* index, const {0}* x, {0}* out",
                  memory, MemoryType(r.dtype(w.index)));
  std::string first;
  if (w.base < 0)
    first = fmt::format("FillTable(out, Stored<{}>::Of({}), n);", memory,
                        ConstantText(w.around, type.dtype()));
  if (whole) first = "RefuseZeros(fault, x, (unsigned)n.width, n);";
  std::string text =
      TextOf(type.dtype()) + Text() +
      EntryText(0, arguments, fmt::format("SortPlaces<{}>(fault, index, to, n);", places.form),
                kOwn) +
      EntryText(1, arguments, "MergeRuns(from, to, 1, n.rows, n.width);") +
      EntryText(2, arguments,
                fmt::format("WriteRows<{}>(from, x, out, n);", whole ? "WholeOver" : w.change)) +
      (first.empty() ? "" : EntryText(3, arguments, first));
  SortedKeys keys{1, places.rows};
  int64_t elements = type.shape().size();
  return FunctionKernel(
      [=, bytes = type.bytes(),
       program = Program::Of(text, first.empty() ? 3 : 4)](const KernelArgs& args) {
        CudaStream& stream = StreamOf(args);
        std::vector<long long> numbers = places.Numbers(stream, args);
        std::vector<const void*> others{args.in[w.index], args.in[w.updates], args.out[0]};
        auto launch = [&](int phase, int64_t threads, const void* sorted) {
          LaunchText(stream, *program, phase, BlocksFor(threads),
                     {sorted, nullptr, others[0], others[1], others[2]}, numbers);
        };
        if (elements == 0) return;
        if (w.base < 0)
          launch(3, elements, nullptr);
        else if (args.out[0] != args.in[w.base])
          TheMemory().CopyInRun(args.out[0], args.in[w.base], bytes);
        if (places.is_empty()) return;
        int64_t updates = places.rows * places.outer * places.inner;
        if (whole) {
          numbers[0] = stream.NextTicket(args.place, ErrorKind::kValue,
                                         "integers must not be divided by zero, but got {} at "
                                         "position {}");
          launch(3, updates, nullptr);
        }
        const void* sorted = keys.Sort(stream, *program, args.workspace, others, numbers, 0);
        launch(2, updates, sorted);
      },
      10000, keys.workspace_bytes());
}

KernelChoice MakeGatherGrad(const KernelRequest& r) {
  const Shape &shape = r.out[0].shape(), &at = r.shape(1);
  int axis = Wrap(r.attr<int64_t>("axis"), shape.rank());
  int dims = static_cast<int>(r.attr<int64_t>("batch_dims"));
  if (dims < 0) dims += at.rank();
  Places p =
      AtPositions(shape[axis], shape.Product(axis + 1, shape.rank()), at.size(), -shape[axis]);
  p.outer = shape.Product(dims, axis), p.count = at.Product(dims, at.rank());
  p.slices = shape.Product(0, dims) * p.size;
  return Write(r, p, {"Plus", -1, 1, 0});
}

KernelChoice MakeScatterElements(const KernelRequest& r) {
  bool adds = r.attr<std::string>("reduction") == "add";
  return Write(r, AlongAxis(r.shape(0), r.shape(1), r.attr<int64_t>("axis")),
               {adds ? "Plus" : "Set", 0, 1, 2});
}

// What a segment without rows has.
double EmptySegment(std::string_view change, DType dtype) {
  if (change == "Plus" || change == "Times") return change == "Times";
  bool lowest = change == "Larger";
  if (IsInteger(dtype)) {
    IntegerRange range = RangeOf(dtype);
    return static_cast<double>(lowest ? range.low : range.high);
  }
  double largest = dtype == DType::kFloat16    ? 65504.0
                   : dtype == DType::kBFloat16 ? 0x1.fep127
                   : dtype == DType::kFloat32  ? std::numeric_limits<float>::max()
                                               : std::numeric_limits<double>::max();
  return lowest ? -largest : largest;
}

KernelMaker Segments(const char* change) {
  return [change](const KernelRequest& r) -> KernelChoice {
    if (ItemSize(r.dtype(0)) == 8 && IsInteger(r.dtype(0)) && change == std::string_view("Smaller"))
      return No("the largest integer of {} is no number of a text", Name(r.dtype(0)));
    const Shape &x = r.shape(0), &ids = r.shape(1);
    return Write(r,
                 AtPositions(r.attr<int64_t>("num_segments"), x.Product(ids.rank(), x.rank()),
                             ids.size(), kLeftOut),
                 {change, -1, 1, 0, EmptySegment(change, r.dtype(0))});
  };
}

KernelMaker Scatter(const char* change, bool coordinates) {
  return [=](const KernelRequest& r) -> KernelChoice {
    bool zeros = r.op.name == "ScatterNd";
    const Shape &table = r.out[0].shape(), &index = r.shape(zeros ? 0 : 1);
    Places p = coordinates ? AtCoordinates(table, index)
                           : AtPositions(table[0], table.Product(1, table.rank()), index.size(), 0);
    return Write(r, p, zeros ? Written{change, -1, 0, 1} : Written{change, 0, 1, 2});
  };
}

}  // namespace

void AddPlaces(KernelTable& table) {
  table.For("GatherD").Try("text", [](const KernelRequest& r) {
    return Read(r, AlongAxis(r.shape(0), r.shape(1), r.attr<int64_t>("dim")), 1);
  });
  table.For("GatherNd").Try("text", [](const KernelRequest& r) {
    return Read(r, AtCoordinates(r.shape(0), r.shape(1)), 1);
  });
  table.For("GatherGrad").Try("text", MakeGatherGrad);
  table.For("TensorScatterElements").Try("text", MakeScatterElements);
  const std::pair<const char*, const char*> changes[] = {
      {"Update", "Set"}, {"Add", "Plus"},   {"Sub", "Minus"},  {"Mul", "Times"},
      {"Div", "Over"},   {"Max", "Larger"}, {"Min", "Smaller"}};
  for (const auto& [name, change] : changes) {
    for (const char* family : {"TensorScatter{}", "ScatterNd{}", "Scatter{}"}) {
      bool coordinates = family != std::string_view("Scatter{}");
      table.For(fmt::format(fmt::runtime(family), name)).Try("text", Scatter(change, coordinates));
    }
  }
  table.For("ScatterNd").Try("text", Scatter("Plus", true));
  const std::pair<const char*, const char*> segments[] = {
      {"Sum", "Plus"}, {"Max", "Larger"}, {"Min", "Smaller"}, {"Prod", "Times"}};
  for (const auto& [name, change] : segments)
    table.For(fmt::format("UnsortedSegment{}", name)).Try("text", Segments(change));
}

}  // namespace ms::cuda
