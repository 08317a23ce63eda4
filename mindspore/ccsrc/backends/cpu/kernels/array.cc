// Ops that move elements without looking at them: each is one strided copy, or one for each tensor
// that is joined or cut.
#include "backends/cpu/kernels/array.h"

#include <cstring>

#include "backends/cpu/cpu.h"
#include "kernel/parallel.h"
#include "ops/axes.h"
#include "ops/slicing.h"

namespace ms::cpu {

KernelChoice CopyKernel(StridedCopy copy, size_t item, int64_t in_offset, int64_t out_offset) {
  double cost = copy.cost_ns() + 30;
  return FunctionKernel(
      [copy = std::move(copy), item, in_offset, out_offset](const KernelArgs& a) {
        copy.Run(Byte(a.in[0], in_offset, item), Byte(a.out[0], out_offset, item));
      },
      cost);
}

namespace {

size_t Item(const KernelRequest& r) { return ItemSize(r.out[0].dtype()); }

KernelChoice MakeTranspose(const KernelRequest& r) {
  const Shape& out = r.out[0].shape();
  Ints from = Strides(r.shape(0)), in;
  for (int64_t p : r.attr<Ints>("perm"))
    in.push_back(from[static_cast<size_t>(Wrap(p, out.rank()))]);
  return CopyKernel(StridedCopy(out.ToInts(), Strides(out), in, Item(r)), Item(r));
}

KernelChoice MakeBroadcastTo(const KernelRequest& r) {
  const Shape &in = r.shape(0), &out = r.out[0].shape();
  Ints from = Strides(in), strides(static_cast<size_t>(out.rank()), 0);
  for (int i = 0; i < in.rank(); ++i) {
    if (in[i] != 1)
      strides[static_cast<size_t>(i + out.rank() - in.rank())] = from[static_cast<size_t>(i)];
  }
  return CopyKernel(StridedCopy(out.ToInts(), Strides(out), strides, Item(r)), Item(r));
}

// Every axis is seen as (times, size), where the input does not move along the times.
KernelChoice MakeTile(const KernelRequest& r) {
  const Shape &in = r.shape(0), &out = r.out[0].shape();
  Ints from = Strides(in), to = Strides(out), dims, out_strides, in_strides;
  for (int i = 0; i < out.rank(); ++i) {
    int axis = i - (out.rank() - in.rank());
    int64_t size = axis < 0 ? 1 : in[axis];
    int64_t stride = to[static_cast<size_t>(i)];
    dims.insert(dims.end(), {size == 0 ? 0 : out[i] / size, size});
    out_strides.insert(out_strides.end(), {size * stride, stride});
    in_strides.insert(in_strides.end(), {0, axis < 0 ? 0 : from[static_cast<size_t>(axis)]});
  }
  return CopyKernel(StridedCopy(dims, out_strides, in_strides, Item(r)), Item(r));
}

KernelChoice MakeReverse(const KernelRequest& r) {
  const Shape& shape = r.shape(0);
  Ints strides = Strides(shape), in = strides;
  int64_t first = 0;
  for (int axis = 0; axis < shape.rank() && !shape.empty(); ++axis) {
    const Ints& axes = r.attr<Ints>("axis");
    bool named = std::any_of(axes.begin(), axes.end(),
                             [&](int64_t a) { return Wrap(a, shape.rank()) == axis; });
    if (!named) continue;
    auto i = static_cast<size_t>(axis);
    first += (shape[axis] - 1) * strides[i];
    in[i] = -strides[i];
  }
  return CopyKernel(StridedCopy(shape.ToInts(), strides, in, Item(r)), Item(r), first);
}

// ---- slices
KernelChoice MakeSlice(const KernelRequest& r) {
  const Shape &in = r.shape(0), &out = r.out[0].shape();
  Ints strides = Strides(in);
  int64_t first = 0;
  for (size_t i = 0; i < strides.size(); ++i) first += r.attr<Ints>("begin")[i] * strides[i];
  return CopyKernel(StridedCopy(out.ToInts(), Strides(out), strides, Item(r)), Item(r), first);
}

// The view of `shape` that a slice names.
struct SliceView {
  Ints sizes, strides, dense;
  int64_t first = 0;
  SliceView(const KernelRequest& r, const Shape& shape) {
    SliceSpec spec = ResolveSlice(r.op, r.attrs, shape);
    Ints whole = Strides(shape);
    sizes = Shape(spec.size).ToInts();
    dense = Strides(Shape(sizes));
    for (size_t i = 0; i < sizes.size(); ++i) {
      first += spec.begin[i].value() * whole[i];
      strides.push_back(spec.step[i] * whole[i]);
    }
  }
};

KernelChoice MakeStridedSlice(const KernelRequest& r) {
  SliceView v(r, r.shape(0));
  return CopyKernel(StridedCopy(v.sizes, v.dense, v.strides, Item(r)), Item(r), v.first);
}

KernelChoice MakeStridedSliceGrad(const KernelRequest& r) {
  SliceView v(r, r.out[0].shape());
  StridedCopy copy(v.sizes, v.strides, v.dense, Item(r));
  double cost = copy.cost_ns() + 0.1 * static_cast<double>(r.out[0].bytes());
  return FunctionKernel(
      [copy, first = v.first, item = Item(r),
       count = r.out[0].shape().size()](const KernelArgs& a) {
        const uint64_t zero[2] = {};
        ParallelFill(a.out[0], zero, count, item);
        copy.Run(a.in[0], Byte(a.out[0], first, item));
      },
      cost);
}

KernelChoice MakeStridedSliceAssign(const KernelRequest& r) {
  SliceView v(r, r.shape(0));
  StridedCopy copy(v.sizes, v.strides, v.dense, Item(r));
  double cost = copy.cost_ns() + 0.1 * static_cast<double>(r.out[0].bytes());
  return FunctionKernel(
      [copy, first = v.first, item = Item(r), bytes = r.out[0].bytes()](const KernelArgs& a) {
        if (a.out[0] != a.in[0]) ParallelCopy(a.out[0], a.in[0], bytes);
        copy.Run(a.in[1], Byte(a.out[0], first, item));
      },
      cost);
}

// ---- joining and cutting ------------------------------------------------------------------------
// Pieces of one
// big tensor along an axis: what joins and what cuts differ only in the direction of the copy.
struct Piece {
  StridedCopy copy;
  int64_t first = 0;
};

std::vector<Piece> Pieces(const Shape& whole, const std::vector<Shape>& parts, int axis, bool join,
                          size_t item) {
  std::vector<Piece> pieces;
  Ints big = Strides(whole);
  int64_t first = 0;
  for (const Shape& part : parts) {
    Ints small = Strides(part);
    pieces.push_back(
        {StridedCopy(part.ToInts(), join ? big : small, join ? small : big, item), first});
    first += part[axis] * big[static_cast<size_t>(axis)];
  }
  return pieces;
}

KernelChoice PiecesKernel(const KernelRequest& r, const Shape& whole,
                          const std::vector<Shape>& parts, int axis, bool join) {
  size_t item = Item(r);
  double cost = 30;
  std::vector<Piece> pieces = Pieces(whole, parts, axis, join, item);
  for (const Piece& p : pieces) cost += p.copy.cost_ns();
  return FunctionKernel(
      [pieces = std::move(pieces), join, item](const KernelArgs& a) {
        for (size_t i = 0; i < pieces.size(); ++i) {
          const Piece& p = pieces[i];
          if (join)
            p.copy.Run(a.in[i], Byte(a.out[0], p.first, item));
          else
            p.copy.Run(Byte(a.in[0], p.first, item), a.out[i]);
        }
      },
      cost);
}

KernelChoice MakeConcat(const KernelRequest& r) {
  std::vector<Shape> parts;
  for (const Type& t : r.in) parts.push_back(t.shape());
  const Shape& whole = r.out[0].shape();
  return PiecesKernel(r, whole, parts, Wrap(r.attr<int64_t>("axis"), whole.rank()), true);
}

KernelChoice MakeStack(const KernelRequest& r) {
  const Shape& whole = r.out[0].shape();
  int axis = Wrap(r.attr<int64_t>("axis"), whole.rank());
  return PiecesKernel(r, whole, std::vector<Shape>(r.in.size(), whole.With(axis, 1)), axis, true);
}

KernelChoice MakeUnstack(const KernelRequest& r) {
  const Shape& whole = r.shape(0);
  int axis = Wrap(r.attr<int64_t>("axis"), whole.rank());
  return PiecesKernel(r, whole, std::vector<Shape>(r.out.size(), whole.With(axis, 1)), axis, false);
}

KernelChoice MakeSplit(const KernelRequest& r, const char* axis) {
  std::vector<Shape> parts;
  for (const Type& t : r.out) parts.push_back(t.shape());
  return PiecesKernel(r, r.shape(0), parts, Wrap(r.attr<int64_t>(axis), r.shape(0).rank()), false);
}

// ---- triangles and diagonals
KernelChoice MakeTriangle(const KernelRequest& r, bool lower) {
  const Shape& shape = r.shape(0);
  int64_t rows = shape[-2], cols = shape[-1], diagonal = r.attr<int64_t>("diagonal");
  diagonal = std::clamp(diagonal, -rows - 1, cols + 1);
  size_t item = Item(r);
  int64_t lines = shape.Product(0, shape.rank() - 1);
  double ns = static_cast<double>(cols) * 0.1 * static_cast<double>(item);
  return FunctionKernel(
      [=](const KernelArgs& a) {
        ParallelFor(lines, ns, [&](int64_t begin, int64_t end) {
          for (int64_t line = begin; line < end; ++line) {
            // Lower: columns before `cut` are kept; upper: those from `cut` on.
            int64_t cut = std::clamp<int64_t>(line % rows + diagonal + (lower ? 1 : 0), 0, cols);
            int64_t kept = lower ? 0 : cut, gone = lower ? cut : 0, n = lower ? cut : cols - cut;
            const char* from = Byte(a.in[0], line * cols, item);
            char* to = Byte(a.out[0], line * cols, item);
            if (to != from)
              std::memcpy(Byte(to, kept, item), Byte(from, kept, item),
                          static_cast<size_t>(n) * item);
            std::memset(Byte(to, gone, item), 0, static_cast<size_t>(cols - n) * item);
          }
        });
      },
      ns * static_cast<double>(lines));
}

KernelChoice MakeDiag(const KernelRequest& r) {
  int64_t n = r.shape(0)[0];
  StridedCopy copy({n}, {n + 1}, {1}, Item(r));
  return FunctionKernel(
      [copy, n, item = Item(r)](const KernelArgs& a) {
        const uint64_t zero[2] = {};
        ParallelFill(a.out[0], zero, n * n, item);
        copy.Run(a.in[0], a.out[0]);
      },
      static_cast<double>(n * n));
}

KernelChoice MakeDiagPart(const KernelRequest& r) {
  int64_t n = r.shape(0)[0];
  return CopyKernel(StridedCopy({n}, {1}, {n + 1}, Item(r)), Item(r));
}

}  // namespace

void AddArray(KernelTable& table) {
  table.For("Transpose").Try("reference", MakeTranspose);
  table.For("BroadcastTo").Try("reference", MakeBroadcastTo);
  table.For("Tile").Try("reference", MakeTile);
  table.For("ReverseV2").Try("reference", MakeReverse);
  table.For("Slice").Try("reference", MakeSlice);
  table.For("StridedSlice").Try("reference", MakeStridedSlice);
  table.For("StridedSliceGrad").Try("reference", MakeStridedSliceGrad);
  table.For("StridedSliceAssign").Try("reference", MakeStridedSliceAssign);
  table.For("Concat").Try("reference", MakeConcat);
  table.For("Stack").Try("reference", MakeStack);
  table.For("Unstack").Try("reference", MakeUnstack);
  table.For("Split").Try("reference", [](const KernelRequest& r) { return MakeSplit(r, "axis"); });
  table.For("SplitV").Try("reference",
                          [](const KernelRequest& r) { return MakeSplit(r, "split_dim"); });
  table.For("Tril").Try("reference", [](const KernelRequest& r) { return MakeTriangle(r, true); });
  table.For("Triu").Try("reference", [](const KernelRequest& r) { return MakeTriangle(r, false); });
  table.For("Diag").Try("reference", MakeDiag);
  table.For("DiagPart").Try("reference", MakeDiagPart);
  AddPadding(table);
  AddCreation(table);
}

}  // namespace ms::cpu
