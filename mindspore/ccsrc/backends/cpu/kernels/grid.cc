// Images at the positions of grids. A unit of work is a tile of points for all channels, or, where
// points may meet in an element, some channels for all points: nothing depends on who does what.
#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/grid_loops.h"
#include "backends/cpu/kernels/in_float32.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

constexpr double kVisit = 0.8;         // nanoseconds for an element that is read, or added to
constexpr double kPlace = 4;           // and for the weights of a point
constexpr int64_t kLargest = 1 << 30;  // elements of an image, whose places are int32
constexpr int64_t kShares = 16;  // parts of the channels of all images, each with weights anew

GridPlan MakePlan(const KernelRequest& r, const Shape& images, const Shape& grid) {
  GridPlan p;
  p.axes = images.rank() - 2;
  p.rule = ParseGridRule(r.op, r.attrs, p.axes);
  for (int i = 0; i < p.axes; ++i) p.sizes[i] = images[-1 - i];
  p.channels = images[1];
  p.points = grid.Part(1, p.axes + 1).size();
  return p;
}

// Of one point, for so many channels.
double Cost(const GridPlan& p, int64_t channels) {
  auto corners = static_cast<double>(p.rule.nearest ? 1 : 1 << p.axes);
  return corners * (kPlace + kVisit * static_cast<double>(channels));
}

// Calls run(image, begin, end) for tiles of points of all images.
template <class F>
void ForTiles(const GridPlan& p, int64_t images, F&& run) {
  int64_t tiles = (p.points + kGridTile - 1) / kGridTile;
  double cost = Cost(p, p.channels) * static_cast<double>(std::min(p.points, kGridTile));
  ParallelFor(images * tiles, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = i % tiles * kGridTile;
      run(i / tiles, first, std::min(first + kGridTile, p.points));
    }
  });
}

double Whole(const GridPlan& p, int64_t images) {
  return Cost(p, p.channels) * static_cast<double>(p.points * images);
}

template <class T>
KernelChoice Sample(const KernelRequest& r) {
  GridPlan p = MakePlan(r, r.shape(0), r.shape(1));
  int64_t images = r.shape(0)[0];
  auto* sample = MS_PICK_ISA(SamplePoints<T>);
  auto run = [=](const KernelArgs& args) {
    auto *x = static_cast<const T*>(args.in[0]), *grid = static_cast<const T*>(args.in[1]);
    auto* y = static_cast<T*>(args.out[0]);
    ForTiles(p, images, [&](int64_t i, int64_t begin, int64_t end) {
      sample(p, begin, end, x + i * p.channels * p.plane(), grid + i * p.points * p.axes,
             y + i * p.channels * p.points);
    });
  };
  return FunctionKernel(run, Whole(p, images));
}

template <class T>
KernelChoice Spread(const KernelRequest& r) {
  GridPlan p = MakePlan(r, r.out[0].shape(), r.shape(1));
  int64_t images = r.shape(0)[0];
  int64_t channels =
      std::clamp<int64_t>(images * p.channels / kShares, 1, std::max<int64_t>(p.channels, 1));
  int64_t blocks = (p.channels + channels - 1) / channels;
  double cost = Cost(p, channels) * static_cast<double>(p.points);
  auto* spread = MS_PICK_ISA(SpreadPoints<T>);
  auto run = [=](const KernelArgs& args) {
    auto *dy = static_cast<const T*>(args.in[0]), *grid = static_cast<const T*>(args.in[1]);
    auto* dx = static_cast<T*>(args.out[0]);
    ParallelFor(images * blocks, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t image = i / blocks, first = i % blocks * channels;
        int64_t count = std::min(channels, p.channels - first);
        int64_t plane = image * p.channels + first;
        std::fill_n(dx + plane * p.plane(), count * p.plane(), T{0});
        spread(p, count, dy + plane * p.points, grid + image * p.points * p.axes,
               dx + plane * p.plane());
      }
    });
  };
  return FunctionKernel(run, cost * static_cast<double>(images * blocks));
}

template <class T>
KernelChoice Move(const KernelRequest& r) {
  GridPlan p = MakePlan(r, r.shape(1), r.shape(2));
  int64_t images = r.shape(1)[0];
  auto* move = MS_PICK_ISA(MovePoints<T>);
  auto run = [=](const KernelArgs& args) {
    auto *dy = static_cast<const T*>(args.in[0]), *x = static_cast<const T*>(args.in[1]);
    auto* grid = static_cast<const T*>(args.in[2]);
    auto* dgrid = static_cast<T*>(args.out[0]);
    ForTiles(p, images, [&](int64_t i, int64_t begin, int64_t end) {
      int64_t to = i * p.points * p.axes;
      move(p, begin, end, dy + i * p.channels * p.points, x + i * p.channels * p.plane(), grid + to,
           dgrid + to);
    });
  };
  return FunctionKernel(run, Whole(p, images));
}

KernelMaker ForFloats(KernelChoice (*single)(const KernelRequest&),
                      KernelChoice (*twice)(const KernelRequest&)) {
  return [=](const KernelRequest& r) -> KernelChoice {
    const Shape& images = r.op.AttrIndex("input_size") >= 0 ? r.out[0].shape()
                          : r.in.size() == 3                ? r.shape(1)
                                                            : r.shape(0);
    if (images.Part(2, images.rank()).size() > kLargest)
      return No("needs images of up to {} elements, got shape {}", kLargest, images);
    if (r.dtype(0) == DType::kFloat32) return single(r);
    if (r.dtype(0) == DType::kFloat64) return twice(r);
    return No("needs Float32 or Float64, got {}", Name(r.dtype(0)));
  };
}

}  // namespace

void AddGrid(KernelTable& table) {
  auto add = [&](const char* op, const KernelMaker& maker) {
    table.For(op).Try("points", maker).Try("points in float32", InFloat32(maker));
  };
  add("GridSample", ForFloats(Sample<float>, Sample<double>));
  add("GridSampleGrad", ForFloats(Spread<float>, Spread<double>));
  add("GridSampleGridGrad", ForFloats(Move<float>, Move<double>));
}

}  // namespace ms::cpu
