// Boxes that stay, and grids of means of features inside of boxes.
#include "backends/cpu/kernels/boxes.h"

#include <cmath>
#include <vector>

#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/in_float32.h"
#include "kernel/parallel.h"
#include "ops/regions.h"

namespace ms::cpu {
namespace {

template <class F>
KernelChoice ForFloats(DType dtype, F make) {
  if (dtype == DType::kFloat32) return make(TypeTag<float>{});
  if (dtype == DType::kFloat64) return make(TypeTag<double>{});
  return No("needs Float32 or Float64, got {}", Name(dtype));
}

KernelChoice UnsuppressedBoxes(const KernelRequest& r) {
  int64_t n = r.shape(0)[-2], lists = n == 0 ? 0 : r.out[0].shape().size() / n;
  double threshold = r.attr<double>("iou_threshold");
  double cost = static_cast<double>(n) * static_cast<double>(n) * 0.2;
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* keep = MS_PICK_ISA(KeepBoxes<T>);
    return FunctionKernel(
        [=](const KernelArgs& args) {
          ParallelFor(lists, cost, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              keep(static_cast<const T*>(args.in[0]) + 4 * i * n, n, static_cast<T>(threshold),
                   static_cast<bool*>(args.out[0]) + i * n);
            }
          });
        },
        cost * static_cast<double>(lists));
  });
}

// ---- means inside of boxes
// A point of one axis between two elements; without weight where it is off the image.
template <class T>
struct Point {
  int64_t low = 0, high = 0;
  T low_weight = 0, high_weight = 0;
  bool is_inside() const { return low_weight + high_weight > 0; }
};

// The points of one axis of a box, those of each result one behind the other.
template <class T>
struct Points {
  std::vector<Point<T>> points;
  int64_t each = 0;  // of one result

  void Place(T begin, T length, int64_t results, int64_t samples, int64_t size) {
    T step = length / static_cast<T>(results);
    int64_t natural = step > 0 ? std::max<int64_t>(static_cast<int64_t>(step), 1) : 0;
    each = samples > 0 ? samples : natural;
    points.assign(static_cast<size_t>(each * results), {});
    for (int64_t i = 0; i < each * results; ++i) {
      T share = (static_cast<T>(i % each) + T{0.5}) / static_cast<T>(each);
      T at = begin + (static_cast<T>(i / each) + share) * step;
      if (size == 0 || !(at >= T{-1} && at <= static_cast<T>(size))) continue;
      at = std::clamp<T>(at, 0, static_cast<T>(size - 1));
      Point<T>& p = points[static_cast<size_t>(i)];
      p.low = static_cast<int64_t>(at);
      p.high = std::min(p.low + 1, size - 1);
      p.high_weight = at - static_cast<T>(p.low);
      p.low_weight = 1 - p.high_weight;
    }
  }
};

struct RegionGeometry {
  std::string_view op;                      // its name
  int64_t images, channels, height, width;  // of the features
  int64_t count, rows, columns;             // boxes, and what each becomes
  double scale;
  int64_t samples;
  bool end_counts;

  RegionGeometry(const KernelRequest& r, const Shape& features)
      : op(r.op.name),
        images(features[0]),
        channels(features[1]),
        height(features[2]),
        width(features[3]),
        count(r.shape(1)[0]),
        rows(r.attr<int64_t>("pooled_height")),
        columns(r.attr<int64_t>("pooled_width")),
        scale(r.attr<double>("spatial_scale")),
        samples(r.attr<int64_t>("sample_num")),
        end_counts(r.attr<int64_t>("roi_end_mode") == 1) {}
  double cost() const {
    int64_t points = samples > 0 ? samples * samples : 4;
    return 2.0 * static_cast<double>(count * channels * rows * columns * points);
  }
};

template <class T>
struct Region {
  int64_t image = 0;
  Points<T> y, x;

  // A box without the end is at least one element wide and high; one with it is what it is.
  void Place(const RegionGeometry& g, const T* rois, int64_t box) {
    const T* roi = rois + 5 * box;
    image = static_cast<int64_t>(roi[0]);
    if (!(roi[0] >= T{0} && image < g.images)) {
      Throw(ErrorKind::kValue,
            "For '{}', the numbers of images in 'rois' must be in [0, {}), but got {}.", g.op,
            g.images, roi[0]);
    }
    auto scale = static_cast<T>(g.scale), end = g.end_counts ? scale : T{0};
    T left = roi[1] * scale, top = roi[2] * scale;
    T w = roi[3] * scale + end - left, h = roi[4] * scale + end - top;
    if (!g.end_counts) {
      w = std::max(w, T{1});
      h = std::max(h, T{1});
    }
    for (T step : {h / static_cast<T>(g.rows), w / static_cast<T>(g.columns)}) {
      if (g.samples <= 0 && step > static_cast<T>(kMostRegionPoints))
        Throw(ErrorKind::kValue, "For '{}', {}.", g.op,
              fmt::format(kRegionTooLarge, kMostRegionPoints, box));
    }
    y.Place(top, h, g.rows, g.samples, g.height);
    x.Place(left, w, g.columns, g.samples, g.width);
  }

  // Calls visit(row, column, result) with what each result is the mean of.
  template <class F>
  void Each(const RegionGeometry& g, F&& visit) const {
    for (int64_t i = 0; i < g.rows; ++i) {
      for (int64_t j = 0; j < g.columns; ++j) {
        for (int64_t a = 0; a < y.each; ++a) {
          const Point<T>& row = y.points[static_cast<size_t>(i * y.each + a)];
          if (!row.is_inside()) continue;
          for (int64_t b = 0; b < x.each; ++b) {
            const Point<T>& column = x.points[static_cast<size_t>(j * x.each + b)];
            if (column.is_inside()) visit(row, column, i * g.columns + j);
          }
        }
      }
    }
  }
  T share() const { return T{1} / static_cast<T>(std::max<int64_t>(y.each * x.each, 1)); }
};

KernelChoice RoiAlign(const KernelRequest& r) {
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    RegionGeometry g(r, r.shape(0));
    auto run = [g](const KernelArgs& args) {
      int64_t plane = g.height * g.width, results = g.rows * g.columns;
      double cost = g.cost() / static_cast<double>(std::max<int64_t>(g.count, 1));
      ParallelFor(g.count, cost, [&](int64_t begin, int64_t end) {
        Region<T> region;
        for (int64_t n = begin; n < end; ++n) {
          region.Place(g, static_cast<const T*>(args.in[1]), n);
          const T* image = static_cast<const T*>(args.in[0]) + region.image * g.channels * plane;
          T* y = static_cast<T*>(args.out[0]) + n * g.channels * results;
          std::fill_n(y, g.channels * results, T{0});
          for (int64_t c = 0; c < g.channels; ++c, image += plane, y += results) {
            region.Each(g, [&](const Point<T>& row, const Point<T>& column, int64_t to) {
              const T *low = image + row.low * g.width, *high = image + row.high * g.width;
              y[to] += row.low_weight * (column.low_weight * low[column.low] +
                                         column.high_weight * low[column.high]) +
                       row.high_weight * (column.low_weight * high[column.low] +
                                          column.high_weight * high[column.high]);
            });
            for (int64_t k = 0; k < results; ++k) y[k] *= region.share();
          }
        }
      });
    };
    return FunctionKernel(run, g.cost());
  });
}

// Channels are independent of each other; boxes may lie on the same elements.
KernelChoice RoiAlignGrad(const KernelRequest& r) {
  return ForFloats(r.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    RegionGeometry g(r, r.out[0].shape());
    auto run = [g](const KernelArgs& args) {
      int64_t plane = g.height * g.width, results = g.rows * g.columns;
      std::vector<Region<T>> regions(static_cast<size_t>(g.count));
      for (size_t n = 0; n < regions.size(); ++n) {
        regions[n].Place(g, static_cast<const T*>(args.in[1]), static_cast<int64_t>(n));
      }
      T* dx = static_cast<T*>(args.out[0]);
      std::fill_n(dx, g.images * g.channels * plane, T{0});
      double cost = g.cost() / static_cast<double>(std::max<int64_t>(g.channels, 1));
      ParallelFor(g.channels, cost, [&](int64_t begin, int64_t end) {
        for (int64_t n = 0; n < g.count; ++n) {
          const Region<T>& region = regions[static_cast<size_t>(n)];
          for (int64_t c = begin; c < end; ++c) {
            const T* dy = static_cast<const T*>(args.in[0]) + (n * g.channels + c) * results;
            T* image = dx + (region.image * g.channels + c) * plane;
            region.Each(g, [&](const Point<T>& row, const Point<T>& column, int64_t from) {
              T d = dy[from] * region.share();
              T *low = image + row.low * g.width, *high = image + row.high * g.width;
              low[column.low] += d * row.low_weight * column.low_weight;
              low[column.high] += d * row.low_weight * column.high_weight;
              high[column.low] += d * row.high_weight * column.low_weight;
              high[column.high] += d * row.high_weight * column.high_weight;
            });
          }
        }
      });
    };
    return FunctionKernel(run, g.cost());
  });
}

}  // namespace

void AddBoxes(KernelTable& table) {
  table.For("UnsuppressedBoxes").Try("vectors", UnsuppressedBoxes);
  auto add = [&](const char* op, const KernelMaker& maker) {
    table.For(op).Try("boxes", maker).Try("boxes in float32", InFloat32(maker));
  };
  add("ROIAlign", RoiAlign);
  add("ROIAlignGrad", RoiAlignGrad);
}

}  // namespace ms::cpu
