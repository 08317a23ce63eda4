// Reading at positions: Gather, GatherD, GatherNd and one-hot vectors.
#include "backends/cpu/kernels/indexing.h"

#include <atomic>
#include <cstring>

#include "backends/cpu/cpu.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/strided_copy.h"
#include "base/items.h"
#include "kernel/parallel.h"
#include "ops/axes.h"

namespace ms::cpu {

// to[j] = base[at[j] * along + j * step] for j < n, where negative positions count from `size`;
// false, and nothing written, when one is out of range. Positions are Int64 (`wide`) or Int32.
MS_DECLARE_ISA(bool GatherRow(const void* base, const void* at, bool wide, int64_t n, int64_t size,
                              int64_t along, int64_t step, void* to, size_t item);)

namespace {

// The least position that an axis admits.
int64_t Lowest(Negative negative, int64_t size) {
  return negative == Negative::kFromEnd ? -size : negative == Negative::kRefused ? 0 : INT64_MIN;
}

template <class I>
void RefuseFirst(const I* in, int64_t count, int64_t size, Negative negative,
                 const std::string& op) {
  int64_t low = Lowest(negative, size);
  for (int64_t i = 0; i < count; ++i) {
    if (in[i] >= low && in[i] < size) continue;
    std::string range = negative == Negative::kSkipped ? fmt::format("below {}", size)
                                                       : fmt::format("in [{}, {})", low, size);
    Throw(ErrorKind::kIndex, "For '{}', the indices must be {}, but got {} at position {}.", op,
          range, in[i], i);
  }
}

template <class I>
void ReadChecked(const I* in, int64_t count, int64_t size, Negative negative, const std::string& op,
                 int64_t* out) {
  int64_t low = Lowest(negative, size);
  std::atomic<bool> bad{false};
  ParallelFor(count, 0.8, [&](int64_t begin, int64_t end) {
    bool any = false;
    for (int64_t i = begin; i < end; ++i) {
      int64_t at = in[i];
      any |= (at < low) | (at >= size);
      int64_t wrapped = negative == Negative::kFromEnd ? at + size : -1;
      out[i] = at < 0 ? wrapped : at;
    }
    if (any) bad = true;
  });
  if (bad) RefuseFirst(in, count, size, negative, op);
}

template <class I>
void Check(const I* in, int64_t count, int64_t size, const std::string& op) {
  auto low = static_cast<uint64_t>(-size), last = static_cast<uint64_t>(size - 1);
  std::atomic<bool> bad{false};
  ParallelFor(count, 0.3, [&](int64_t begin, int64_t end) {
    uint64_t any = 0;  // its sign: that of a difference, or one that overflows, which also is bad
    for (int64_t i = begin; i < end; ++i) {
      auto at = static_cast<uint64_t>(int64_t{in[i]});
      any |= (at - low) | (last - at);
    }
    if (static_cast<int64_t>(any) < 0) bad = true;
  });
  if (bad) RefuseFirst(in, count, size, Negative::kFromEnd, op);
}

template <class T>
void CopyItems(const void* in, void* out, const int64_t* at, int64_t n) {
  const T* x = static_cast<const T*>(in);
  T* y = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) y[i] = x[at[i]];
}

// y[i] = x[at[i]] for rows of `bytes`.
void CopyRows(const void* in, void* out, const int64_t* at, int64_t n, size_t bytes) {
  switch (bytes) {
    case 1:
      return CopyItems<uint8_t>(in, out, at, n);
    case 2:
      return CopyItems<uint16_t>(in, out, at, n);
    case 4:
      return CopyItems<uint32_t>(in, out, at, n);
    case 8:
      return CopyItems<uint64_t>(in, out, at, n);
    default:
      break;
  }
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(static_cast<char*>(out) + static_cast<size_t>(i) * bytes,
                static_cast<const char*>(in) + static_cast<size_t>(at[i]) * bytes, bytes);
  }
}

struct GatherPlan {
  int64_t batch = 1, outer = 1, size = 1, indices = 1, inner = 1;
  GatherPlan(const KernelRequest& r, const Shape& params) {
    int axis = Wrap(r.attr<int64_t>("axis"), params.rank());
    int dims = static_cast<int>(r.attr<int64_t>("batch_dims"));
    if (dims < 0) dims += r.shape(1).rank();
    batch = params.Product(0, dims);
    outer = params.Product(dims, axis);
    size = params[axis];
    inner = params.Product(axis + 1, params.rank());
    indices = r.shape(1).Product(dims, r.shape(1).rank());
  }
};

KernelChoice MakeGather(const KernelRequest& r) {
  GatherPlan p(r, r.shape(0));
  size_t bytes = static_cast<size_t>(p.inner) * ItemSize(r.dtype(0));
  int64_t rows = p.batch * p.outer * p.indices, positions = p.batch * p.indices;
  double ns = 2 + 0.15 * static_cast<double>(bytes);
  return FunctionKernel(
      [=, dtype = r.dtype(1), name = r.op.name](const KernelArgs& a) {
        auto* at = static_cast<int64_t*>(a.workspace);
        ReadPositions(a.in[1], dtype, positions, p.size, Negative::kFromEnd, name, at);
        ParallelFor(rows, ns, [&](int64_t begin, int64_t end) {
          while (begin < end) {
            int64_t block = begin / p.indices, first = begin % p.indices,
                    n = std::min(p.indices - first, end - begin);
            const char* from =
                static_cast<const char*>(a.in[0]) + static_cast<size_t>(block * p.size) * bytes;
            char* to = static_cast<char*>(a.out[0]) + static_cast<size_t>(begin) * bytes;
            CopyRows(from, to, at + block / p.outer * p.indices + first, n, bytes);
            begin += n;
          }
        });
      },
      ns * static_cast<double>(rows), static_cast<size_t>(positions) * 8);
}

KernelChoice MakeGatherGrad(const KernelRequest& r) {
  GatherPlan p(r, r.out[0].shape());
  RowWriter writer{Write::kAdd, r.dtype(0), p.indices, p.size, p.inner};
  int64_t positions = p.batch * p.indices;
  size_t item = ItemSize(r.dtype(0)), table = (static_cast<size_t>(positions) * 8 + 63) / 64 * 64;
  double cost = writer.cost_ns() * static_cast<double>(p.batch * p.outer);
  return FunctionKernel(
      [=, dtype = r.dtype(1), name = r.op.name](const KernelArgs& a) {
        auto* at = static_cast<int64_t*>(a.workspace);
        auto* wide = reinterpret_cast<float*>(static_cast<char*>(a.workspace) + table);
        ReadPositions(a.in[1], dtype, positions, p.size, Negative::kFromEnd, name, at);
        const uint64_t zero[2] = {};
        ParallelFill(a.out[0], zero, p.batch * p.outer * p.size * p.inner, item);
        for (int64_t block = 0; block < p.batch * p.outer; ++block) {
          const char* from = static_cast<const char*>(a.in[0]) +
                             static_cast<size_t>(block * p.indices * p.inner) * item;
          char* to =
              static_cast<char*>(a.out[0]) + static_cast<size_t>(block * p.size * p.inner) * item;
          writer.Run(at + block / p.outer * p.indices, from, to, wide);
        }
      },
      cost, table + writer.wide_bytes());
}

// ---- element by element
template <class T, class I>
void GatherElements(const Shape& x_shape, const Shape& shape, int axis, const T* x, const I* index,
                    T* y) {
  int last = shape.rank() - 1;
  Ints dims(shape.begin(), shape.end() - 1), strides = Strides(x_shape);
  int64_t along = strides[static_cast<size_t>(axis)], size = x_shape[axis],
          step = axis == last ? 0 : 1, n = shape.back();
  strides[static_cast<size_t>(axis)] = 0;
  strides.pop_back();
  std::atomic<bool> bad{false};
  static const auto gather = MS_PICK_ISA(GatherRow);
  ParallelFor(shape.Product(0, last), static_cast<double>(n) * 1.5,
              [&](int64_t begin, int64_t end) {
                Odometer from(dims, strides, strides);
                from.Seek(begin);
                for (int64_t row = begin; row < end; ++row, from.Next()) {
                  const I* at = index + row * n;
                  const T* base = x + from.a();
                  T* to = y + row * n;
                  if (!gather(base, at, sizeof(I) == 8, n, size, along, step, to, sizeof(T))) {
                    bad = true;
                    return;
                  }
                }
              });
  if (!bad) return;
  std::vector<int64_t> scratch(static_cast<size_t>(shape.size()));
  ReadPositions(index, kDTypeOf<I>, shape.size(), size, Negative::kFromEnd, "GatherD",
                scratch.data());
}

KernelChoice MakeGatherD(const KernelRequest& r) {
  Shape x = r.shape(0), shape = r.shape(1);
  if (shape.rank() == 0) x = Shape{1}, shape = Shape{1};
  int axis = Wrap(r.attr<int64_t>("dim"), shape.rank());
  bool wide = r.dtype(1) == DType::kInt64;
  auto make = [&]<class T>(T) {
    return FunctionKernel(
        [=](const KernelArgs& a) {
          if (shape.empty()) return;
          const T* from = static_cast<const T*>(a.in[0]);
          T* to = static_cast<T*>(a.out[0]);
          if (wide)
            GatherElements(x, shape, axis, from, static_cast<const int64_t*>(a.in[1]), to);
          else
            GatherElements(x, shape, axis, from, static_cast<const int32_t*>(a.in[1]), to);
        },
        1.5 * static_cast<double>(shape.size()));
  };
  return VisitItem(ItemSize(r.dtype(0)), make);
}

KernelChoice MakeGatherNd(const KernelRequest& r) {
  Coordinates c(r.shape(0), r.shape(1));
  size_t bytes = static_cast<size_t>(c.inner) * ItemSize(r.dtype(0));
  double ns = 3 + 0.15 * static_cast<double>(bytes);
  return FunctionKernel(
      [=, dtype = r.dtype(1), name = r.op.name](const KernelArgs& a) {
        auto* at = static_cast<int64_t*>(a.workspace);
        c.Read(a.in[1], dtype, name, at);
        ParallelFor(c.rows, ns, [&](int64_t begin, int64_t end) {
          CopyRows(a.in[0], static_cast<char*>(a.out[0]) + static_cast<size_t>(begin) * bytes,
                   at + begin, end - begin, bytes);
        });
      },
      ns * static_cast<double>(c.rows), static_cast<size_t>(c.rows) * 8);
}

int64_t IndexAt(const void* in, DType dtype, int64_t i) {
  if (dtype == DType::kInt32) return static_cast<const int32_t*>(in)[i];
  if (dtype == DType::kInt64) return static_cast<const int64_t*>(in)[i];
  return static_cast<const uint8_t*>(in)[i];
}

KernelChoice MakeOneHot(const KernelRequest& r) {
  int axis = Wrap(r.attr<int64_t>("axis"), r.out[0].shape().rank());
  int64_t depth = r.attr<int64_t>("depth"), count = r.shape(0).size();
  int64_t inner = r.shape(0).Product(axis, r.shape(0).rank());
  size_t item = ItemSize(r.out[0].dtype());
  return FunctionKernel(
      [=, dtype = r.dtype(0)](const KernelArgs& a) {
        ParallelFill(a.out[0], a.in[2], count * depth, item);
        for (int64_t i = 0; i < count; ++i) {
          int64_t at = IndexAt(a.in[0], dtype, i);
          if (at < 0 || at >= depth) continue;
          int64_t to = (i / inner * depth + at) * inner + i % inner;
          std::memcpy(static_cast<char*>(a.out[0]) + static_cast<size_t>(to) * item, a.in[1], item);
        }
      },
      2.0 * static_cast<double>(count) + 0.05 * static_cast<double>(r.out[0].bytes()));
}

}  // namespace

void ReadPositions(const void* in, DType dtype, int64_t count, int64_t size, Negative negative,
                   const std::string& op, int64_t* out) {
  if (dtype == DType::kInt32)
    ReadChecked(static_cast<const int32_t*>(in), count, size, negative, op, out);
  else
    ReadChecked(static_cast<const int64_t*>(in), count, size, negative, op, out);
}

void CheckPositions(const void* in, DType dtype, int64_t count, int64_t size,
                    const std::string& op) {
  if (dtype == DType::kInt32)
    Check(static_cast<const int32_t*>(in), count, size, op);
  else
    Check(static_cast<const int64_t*>(in), count, size, op);
}

Coordinates::Coordinates(const Shape& shape, const Shape& indices) {
  depth = indices.back();
  rows = indices.Product(0, indices.rank() - 1);
  dims = Ints(shape.begin(), shape.begin() + depth);
  for (int64_t d : dims) slices *= d;
  inner = shape.Product(static_cast<int>(depth), shape.rank());
  strides = Ints(static_cast<size_t>(depth), 1);
  for (auto i = static_cast<int>(depth) - 2; i >= 0; --i) {
    auto k = static_cast<size_t>(i);
    strides[k] = strides[k + 1] * dims[k + 1];
  }
}

void Coordinates::Read(const void* in, DType dtype, const std::string& op, int64_t* out) const {
  std::fill(out, out + rows, 0);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t k = 0; k < depth; ++k) {
      int64_t at = IndexAt(in, dtype, row * depth + k);
      int64_t size = dims[static_cast<size_t>(k)];
      if (at < 0 || at >= size) {
        Throw(ErrorKind::kIndex,
              "For '{}', the indices into axis {} must be in [0, {}), but got {} in row {}.", op, k,
              size, at, row);
      }
      out[row] += at * strides[static_cast<size_t>(k)];
    }
  }
}

void AddIndexing(KernelTable& table) {
  table.For("Gather").Try("reference", MakeGather);
  table.For("GatherGrad").Try("reference", MakeGatherGrad);
  table.For("GatherD").Try("reference", MakeGatherD);
  table.For("GatherNd").Try("reference", MakeGatherNd);
  table.For("OneHot").Try("reference", MakeOneHot);
  AddScatter(table);
}

}  // namespace ms::cpu
