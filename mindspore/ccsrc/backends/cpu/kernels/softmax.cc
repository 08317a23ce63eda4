// Softmax, its logarithm and their gradients along any axis. Rows that lie side by side, and short
// ones, which are laid so, are taken many at a time; a few long ones that are not contiguous are
// gathered first, so that every cache line that is read is used.
#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/in_float32.h"
#include "backends/cpu/kernels/softmax_columns.h"
#include "backends/cpu/kernels/softmax_loops.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

// x as [outer, n, inner]; rows run along n.
struct AxisView {
  int64_t outer = 1, n = 1, inner = 1;

  explicit AxisView(const KernelRequest& r) {
    const Attr& attr = r.attrs[static_cast<size_t>(r.op.AttrIndex("axis"))];
    const Ints* list = std::get_if<Ints>(&attr);
    int64_t axis = list ? (*list)[0] : std::get<int64_t>(attr);
    const Shape& shape = r.shape(0);
    auto at = static_cast<int>(axis < 0 ? axis + shape.rank() : axis);
    outer = shape.Product(0, at);
    n = shape[at];
    inner = shape.Product(at + 1, shape.rank());
  }
  double elements() const {
    return static_cast<double>(outer) * static_cast<double>(n) * static_cast<double>(inner);
  }
};

constexpr int64_t kGather = 16;  // rows gathered at once

// rows[l][i] = x[i][first + l].
template <class T>
void Gather(const AxisView& v, const T* x, int64_t count, T* rows) {
  for (int64_t i = 0; i < v.n; ++i) {
    for (int64_t l = 0; l < count; ++l) rows[l * v.n + i] = x[i * v.inner + l];
  }
}

template <class T>
void Scatter(const AxisView& v, const T* rows, int64_t count, T* y) {
  for (int64_t i = 0; i < v.n; ++i) {
    for (int64_t l = 0; l < count; ++l) y[i * v.inner + l] = rows[l * v.n + i];
  }
}

// Applies row(in0, in1 or null, out) to every row.
template <class T, class F>
void EachRow(const AxisView& v, double ns, const T* a, const T* b, T* y, F&& row) {
  double cost = ns * static_cast<double>(v.n) + 5;
  if (v.n == 0) return;
  if (v.inner == 1) {
    ParallelFor(v.outer, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        row(a + i * v.n, b ? b + i * v.n : nullptr, y + i * v.n);
    });
    return;
  }
  int64_t groups = (v.inner + kGather - 1) / kGather;
  ParallelFor(v.outer * groups, 3 * cost * kGather, [&](int64_t begin, int64_t end) {
    thread_local std::vector<T> memory;
    auto size = static_cast<size_t>(kGather * v.n);
    memory.resize(3 * size);
    T* rows_a = memory.data();
    T* rows_b = rows_a + size;
    T* rows_y = rows_b + size;
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = i % groups * kGather;
      int64_t at = i / groups * v.n * v.inner + first;
      int64_t count = std::min(kGather, v.inner - first);
      Gather(v, a + at, count, rows_a);
      if (b) Gather(v, b + at, count, rows_b);
      for (int64_t l = 0; l < count; ++l) {
        row(rows_a + l * v.n, b ? rows_b + l * v.n : nullptr, rows_y + l * v.n);
      }
      Scatter(v, rows_y, count, y + at);
    }
  });
}

// What is better done for many rows at once: each lane of a vector is a row.
constexpr int64_t kShort = 32;    // rows of at most so many elements
constexpr int64_t kManyRows = 8;  // at least

bool SideBySide(const AxisView& v) {
  if (v.inner > 1) return v.inner >= kManyRows;
  return v.n <= kShort && v.outer >= kManyRows;
}

template <class T>
using ColumnsFn = void (*)(const T*, const T*, int64_t n, int64_t stride, int64_t rows, T*);

// Rows side by side in memory: `columns` on kSideBySide of them at a time.
template <class T>
void EachColumns(const AxisView& v, double ns, const T* a, const T* b, T* y, ColumnsFn<T> columns) {
  int64_t groups = (v.inner + kSideBySide - 1) / kSideBySide;
  double cost = ns * static_cast<double>(v.n * std::min(v.inner, kSideBySide));
  ParallelFor(v.outer * groups, cost, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      int64_t first = task % groups * kSideBySide;
      int64_t at = task / groups * v.n * v.inner + first;
      columns(a + at, b ? b + at : nullptr, v.n, v.inner, std::min(kSideBySide, v.inner - first),
              y + at);
    }
  });
}

// Short rows one behind the other, laid side by side first.
template <class T>
void EachShortRows(const AxisView& v, double ns, const T* a, const T* b, T* y,
                   ColumnsFn<T> columns) {
  auto* gather = MS_PICK_ISA(GatherColumns<T>);
  auto* scatter = MS_PICK_ISA(ScatterColumns<T>);
  int64_t groups = (v.outer + kSideBySide - 1) / kSideBySide;
  ParallelFor(groups, 3 * ns * static_cast<double>(v.n * kSideBySide),
              [&](int64_t begin, int64_t end) {
                alignas(64) T memory[2][kShort * kSideBySide];
                for (int64_t group = begin; group < end; ++group) {
                  int64_t first = group * kSideBySide, at = first * v.n;
                  int64_t rows = std::min(kSideBySide, v.outer - first);
                  gather(a + at, v.n, rows, memory[0]);
                  if (b) gather(b + at, v.n, rows, memory[1]);
                  columns(memory[0], memory[1], v.n, kSideBySide, rows, memory[0]);
                  scatter(memory[0], v.n, rows, y + at);
                }
              });
}

enum class Rule { kSoftmax, kLogSoftmax, kSoftmaxGrad, kLogSoftmaxGrad };

template <class T>
ColumnsFn<T> ColumnsOf(Rule rule) {
  switch (rule) {
    case Rule::kSoftmax:
      return MS_PICK_ISA(ColumnsSoftmax<T>);
    case Rule::kLogSoftmax:
      return MS_PICK_ISA(ColumnsLogSoftmax<T>);
    case Rule::kSoftmaxGrad:
      return MS_PICK_ISA(ColumnsSoftmaxGrad<T>);
    case Rule::kLogSoftmaxGrad:
      return MS_PICK_ISA(ColumnsLogSoftmaxGrad<T>);
  }
  return nullptr;
}

template <class T>
KernelChoice MakeSideBySide(const AxisView& v, Rule rule, double ns) {
  bool two = rule == Rule::kSoftmaxGrad || rule == Rule::kLogSoftmaxGrad;
  ColumnsFn<T> columns = ColumnsOf<T>(rule);
  auto each = v.inner > 1 ? EachColumns<T> : EachShortRows<T>;
  return FunctionKernel(
      [=](const KernelArgs& args) {
        each(v, ns, static_cast<const T*>(args.in[0]),
             two ? static_cast<const T*>(args.in[1]) : nullptr, static_cast<T*>(args.out[0]),
             columns);
      },
      ns * v.elements());
}

template <class T>
KernelChoice Make(const AxisView& v, Rule rule) {
  constexpr double kNs = sizeof(T) == 4 ? 0.5 : 4;
  double cost = kNs * v.elements();
  if (v.n > 0 && SideBySide(v)) return MakeSideBySide<T>(v, rule, kNs);
  if (rule == Rule::kSoftmax || rule == Rule::kLogSoftmax) {
    auto* row = rule == Rule::kSoftmax ? MS_PICK_ISA(RowSoftmax<T>) : MS_PICK_ISA(RowLogSoftmax<T>);
    return FunctionKernel(
        [v, row](const KernelArgs& args) {
          EachRow<T>(v, kNs, static_cast<const T*>(args.in[0]), nullptr,
                     static_cast<T*>(args.out[0]),
                     [&](const T* x, const T*, T* y) { row(x, v.n, y); });
        },
        cost);
  }
  auto* row = rule == Rule::kSoftmaxGrad ? MS_PICK_ISA(RowSoftmaxGrad<T>)
                                         : MS_PICK_ISA(RowLogSoftmaxGrad<T>);
  return FunctionKernel(
      [v, row](const KernelArgs& args) {
        EachRow<T>(v, kNs, static_cast<const T*>(args.in[0]), static_cast<const T*>(args.in[1]),
                   static_cast<T*>(args.out[0]),
                   [&](const T* y, const T* dy, T* dx) { row(y, dy, v.n, dx); });
      },
      cost);
}

KernelMaker Maker(Rule rule) {
  return [rule](const KernelRequest& r) -> KernelChoice {
    if (r.dtype(0) == DType::kFloat32) return Make<float>(AxisView(r), rule);
    if (r.dtype(0) == DType::kFloat64) return Make<double>(AxisView(r), rule);
    return No("needs Float32 or Float64, got {}", Name(r.dtype(0)));
  };
}

}  // namespace

void AddSoftmax(KernelTable& table) {
  auto add = [&](const char* op, Rule rule) {
    table.For(op).Try("rows", Maker(rule)).Try("in float32", InFloat32(Maker(rule)));
  };
  add("Softmax", Rule::kSoftmax);
  add("LogSoftmax", Rule::kLogSoftmax);
  add("SoftmaxGrad", Rule::kSoftmaxGrad);
  add("LogSoftmaxGrad", Rule::kLogSoftmaxGrad);
}

}  // namespace ms::cpu
