// Sampling of images along up to three axes: the last two together, row by row, and in front of
// them or behind one of slices.
#include "ops/resample.h"

#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/in_float32.h"
#include "backends/cpu/kernels/resample_loops.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

constexpr int64_t kBlock = 16384;            // elements of the result in one unit of work
constexpr double kGather = 0.5, kAdd = 0.1;  // nanoseconds for a weighed element, either way

template <class T>
SampleAxis<T> MakeAxis(const SampleTable& table) {
  SampleAxis<T> axis;
  axis.in = table.in;
  axis.out = table.out();
  for (int64_t i = 0; i < axis.out; ++i) axis.most = std::max(axis.most, table.Count(i));
  auto out = static_cast<size_t>(axis.out), most = static_cast<size_t>(axis.most);
  axis.at.resize(out * most);
  axis.weights.resize(out * most);
  axis.copied = axis.most == 1;
  axis.same = axis.in == axis.out;
  for (size_t i = 0; i < out; ++i) {
    int64_t count = table.Count(static_cast<int64_t>(i));
    axis.count.push_back(static_cast<int32_t>(count));
    for (int64_t t = 0; t < axis.most; ++t) {
      bool real = t < count;
      auto to = static_cast<size_t>(t) * out + i;
      int64_t at = table.first[i] + std::min(t, std::max<int64_t>(count - 1, 0));
      axis.at[to] = static_cast<int32_t>(at);
      axis.weights[to] =
          static_cast<T>(real ? table.weights[static_cast<size_t>(table.begin[i] + t)] : 0);
    }
    axis.copied &= count == 1 && axis.weights[i] == T{1};
    axis.same &= axis.at[i] == static_cast<int32_t>(i);
  }
  axis.same &= axis.copied;
  return axis;
}

// The tables of all sampled axes; of a gradient their transposes.
std::vector<SampleTable> Tables(const KernelRequest& r, bool gradient) {
  Sampling sampling = ParseSampling(r.op, r.attrs);
  const auto& scales = r.attr<std::vector<double>>("scales");
  const Shape &in = r.shape(0), &out = r.out[0].shape();
  int axes = static_cast<int>(r.attr<Ints>("size").size());
  std::vector<SampleTable> tables;
  for (int i = 0; i < axes; ++i) {
    int64_t from = in[i - axes], to = out[i - axes];
    double scale = scales.empty() ? 0 : scales[static_cast<size_t>(i)];
    tables.push_back(gradient ? Transposed(MakeSampleTable(sampling, to, from, scale))
                              : MakeSampleTable(sampling, from, to, scale));
  }
  return tables;
}

template <class T>
struct Planes {
  SamplePlane<T> plane;
  int64_t blocks, rows;  // a plane's units of work, and their rows
  double cost;           // of a unit

  explicit Planes(SamplePlane<T> p) : plane(std::move(p)) {
    const SampleAxis<T>&y = plane.rows, &x = plane.columns;
    auto cost_of = [](int64_t rows, int64_t columns, const SampleAxis<T>& axis, double each) {
      return static_cast<double>(rows * columns * axis.most) * each;
    };
    double rows_first = cost_of(y.out, x.in, y, kAdd) + cost_of(y.out, x.out, x, kGather);
    double columns_first = cost_of(y.in, x.out, x, kGather) + cost_of(y.out, x.out, y, kAdd);
    plane.rows_first = rows_first <= columns_first;
    rows = std::clamp<int64_t>(kBlock / x.out, 1, y.out);
    blocks = (y.out + rows - 1) / rows;
    cost = std::min(rows_first, columns_first) / static_cast<double>(blocks);
  }
  int64_t in() const { return plane.rows.in * plane.columns.in; }
  int64_t out() const { return plane.rows.out * plane.columns.out; }

  void Run(int64_t count, const T* x, T* y) const {
    auto* sample = MS_PICK_ISA(SampleRows<T>);
    ParallelFor(count * blocks, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t first = i % blocks * rows;
        sample(plane, first, std::min(first + rows, plane.rows.out), x + i / blocks * in(),
               y + i / blocks * out());
      }
    });
  }
};

template <class T>
void RunSlices(const SampleAxis<T>& axis, int64_t count, int64_t inner, const T* x, T* y) {
  auto* sample = MS_PICK_ISA(SampleSlices<T>);
  double cost = kAdd * static_cast<double>(inner * axis.most);
  ParallelFor(count * axis.out, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      sample(axis, i % axis.out, inner, x + i / axis.out * axis.in * inner, y + i * inner);
    }
  });
}

template <class T>
KernelChoice MakeKernel(const KernelRequest& r, bool gradient) {
  std::vector<SampleTable> tables = Tables(r, gradient);
  int64_t count = r.shape(0).size();
  for (const SampleTable& table : tables) count /= table.in;
  SampleAxis<T> depth;
  if (tables.size() == 3) {
    depth = MakeAxis<T>(tables[0]);
  } else {
    depth.same = true;
  }
  SampleAxis<T> rows = tables.size() > 1
                           ? MakeAxis<T>(tables[tables.size() - 2])
                           : MakeAxis<T>(MakeSampleTable({SampleMode::kNearest}, 1, 1, 0));
  Planes<T> planes({std::move(rows), MakeAxis<T>(tables.back())});
  double cost = planes.cost * static_cast<double>(planes.blocks * count);
  if (depth.same) {
    count *= depth.in;
    return FunctionKernel(
        [planes, count](const KernelArgs& args) {
          planes.Run(count, static_cast<const T*>(args.in[0]), static_cast<T*>(args.out[0]));
        },
        cost);
  }
  bool depth_first = depth.out <= depth.in;
  int64_t between = depth_first ? depth.out * planes.in() : depth.in * planes.out();
  return FunctionKernel(
      [planes, depth, count, depth_first](const KernelArgs& args) {
        auto* x = static_cast<const T*>(args.in[0]);
        auto *y = static_cast<T*>(args.out[0]), *work = static_cast<T*>(args.workspace);
        if (depth_first) {
          RunSlices(depth, count, planes.in(), x, work);
          planes.Run(count * depth.out, work, y);
        } else {
          planes.Run(count * depth.in, x, work);
          RunSlices(depth, count, planes.out(), static_cast<const T*>(work), y);
        }
      },
      cost * static_cast<double>(depth.out), static_cast<size_t>(count * between) * sizeof(T));
}

// Elements that are copied are known by their size.
KernelChoice Copied(const KernelRequest& r) {
  if (r.attr<std::string>("mode") != "nearest") return No("weighs elements");
  switch (ItemSize(r.dtype(0))) {
    case 1:
      return MakeKernel<uint8_t>(r, false);
    case 2:
      return MakeKernel<uint16_t>(r, false);
    case 4:
      return MakeKernel<uint32_t>(r, false);
    case 8:
      return MakeKernel<uint64_t>(r, false);
    default:
      return No("needs elements of up to 8 bytes, got {}", Name(r.dtype(0)));
  }
}

KernelMaker Weighed(bool gradient) {
  return [gradient](const KernelRequest& r) {
    if (r.dtype(0) == DType::kFloat32) return MakeKernel<float>(r, gradient);
    if (r.dtype(0) == DType::kFloat64) return MakeKernel<double>(r, gradient);
    return No("needs Float32 or Float64, got {}", Name(r.dtype(0)));
  };
}

}  // namespace

void AddResample(KernelTable& table) {
  table.For("Resample")
      .Try("copies", Copied)
      .Try("weights", Weighed(false))
      .Try("weights in float32", InFloat32(Weighed(false)));
  table.For("ResampleGrad")
      .Try("weights", Weighed(true))
      .Try("weights in float32", InFloat32(Weighed(true)));
}

}  // namespace ms::cpu
