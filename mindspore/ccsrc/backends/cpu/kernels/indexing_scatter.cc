// Writing at positions. Threads share the rows that are written, not those that are read, so every
// row gets its updates in order and results do not depend on the number of threads.
#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/cpu/kernels/indexing.h"
#include "backends/cpu/strided_copy.h"
#include "kernel/parallel.h"
#include "ops/axes.h"

namespace ms::cpu {
namespace {

// What half types are accumulated for in Float32.
template <Write kHow>
inline constexpr bool kWide = kHow != Write::kSet && kHow != Write::kMax && kHow != Write::kMin;

template <class T>
inline constexpr bool kHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// Integers are divided towards zero; that no divisor is zero was checked.
template <class A>
A Quotient(A y, A x) {
  if constexpr (std::is_signed_v<A> && std::is_integral_v<A>) {
    if (x == -1) return static_cast<A>(0 - static_cast<uint64_t>(y));  // also of the lowest
  }
  return static_cast<A>(y / x);
}

template <Write kHow, class A, class T>
void Apply(A& y, const T& x) {
  if constexpr (kHow == Write::kSet) {
    y = static_cast<A>(x);
  } else if constexpr (kHow == Write::kDiv) {
    if constexpr (!std::is_same_v<A, bool>) y = Quotient(y, static_cast<A>(x));
  } else if constexpr (std::is_same_v<A, bool> && kHow == Write::kMul) {
    y = y && x;
  } else if constexpr (kHow == Write::kMul) {
    using W = std::conditional_t<std::is_integral_v<A>, uint64_t, A>;
    y = static_cast<A>(static_cast<W>(y) * static_cast<W>(static_cast<ComputeType<T>>(x)));
  } else if constexpr (std::is_same_v<A, bool>) {
    y = kHow == Write::kMin ? y && x : y || x;
  } else if constexpr (kHow == Write::kAdd || kHow == Write::kSub) {
    // Unsigned arithmetic wraps where signed arithmetic would overflow.
    using W = std::conditional_t<std::is_integral_v<A>, uint64_t, A>;
    W a = static_cast<W>(y), b = static_cast<W>(static_cast<ComputeType<T>>(x));
    y = static_cast<A>(kHow == Write::kAdd ? a + b : a - b);
  } else if constexpr (!IsComplex(kDTypeOf<T>)) {
    A v = static_cast<A>(x);
    bool nan = false;
    if constexpr (std::is_floating_point_v<A>) nan = v != v;
    y = nan || (kHow == Write::kMax ? v > y : v < y) ? v : y;
  }
}

template <Write kHow, class A, class T>
void WriteRows(const RowWriter& w, const int64_t* at, const T* x, A* y, int64_t begin,
               int64_t end) {
  for (int64_t row = 0; row < w.rows; ++row) {
    if (at[row] < begin || at[row] >= end) continue;
    const T* from = x + row * w.inner;
    A* to = y + at[row] * w.inner;
    if constexpr (kHow == Write::kSet && std::is_same_v<A, T>) {
      std::memcpy(static_cast<void*>(to), from, static_cast<size_t>(w.inner) * sizeof(T));
    } else {
      for (int64_t i = 0; i < w.inner; ++i) Apply<kHow>(to[i], from[i]);
    }
  }
}

template <Write kHow>
void RunWriter(const RowWriter& w, const int64_t* at, const void* from, void* to, float* wide) {
  VisitDType(w.dtype, [&]<class T>(TypeTag<T>) {
    const T* x = static_cast<const T*>(from);
    T* y = static_cast<T*>(to);
    ParallelFor(w.slices, w.cost_ns() / static_cast<double>(std::max<int64_t>(w.slices, 1)),
                [&](int64_t begin, int64_t end) {
                  if constexpr (kHalf<T> && kWide<kHow>) {
                    for (int64_t i = begin * w.inner; i < end * w.inner; ++i)
                      wide[i] = static_cast<float>(y[i]);
                    WriteRows<kHow>(w, at, x, wide, begin, end);
                    for (int64_t i = begin * w.inner; i < end * w.inner; ++i) y[i] = T(wide[i]);
                  } else if constexpr (kHalf<T> && kHow != Write::kSet) {
                    for (int64_t row = 0; row < w.rows; ++row) {
                      if (at[row] < begin || at[row] >= end) continue;
                      for (int64_t i = 0; i < w.inner; ++i) {
                        T& target = y[at[row] * w.inner + i];
                        float value = static_cast<float>(target);
                        Apply<kHow>(value, static_cast<float>(x[row * w.inner + i]));
                        target = T(value);
                      }
                    }
                  } else {
                    WriteRows<kHow>(w, at, x, y, begin, end);
                  }
                });
  });
}

// No exception may leave the loops, and the processor knows no integer over zero.
void RefuseZeros(const std::string& op, const RowWriter& w, const void* divisors) {
  VisitDType(w.dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (IsInteger(kDTypeOf<T>)) {
      const T* x = static_cast<const T*>(divisors);
      if (std::find(x, x + w.rows * w.inner, T(0)) != x + w.rows * w.inner)
        Throw(ErrorKind::kValue, "For '{}', integers must not be divided by zero, but got 0.", op);
    }
  });
}

// ---- ops whose positions are rows ---------------------------------------------------------------
// Input 0 is what to start from (or zeros), then indices and updates.
KernelChoice MakeRows(const KernelRequest& r, Write how, bool coordinates) {
  bool zeros = r.op.name == "ScatterNd";
  const Type& target = r.out[0];
  size_t indices = zeros ? 0 : 1, updates = indices + 1;
  if (r.dtype(updates) != target.dtype()) return No("the updates must be of the written dtype");
  const Shape& index = r.shape(indices);
  Coordinates c(target.shape(), coordinates ? index : Shape{index.size(), 1});
  RowWriter writer{how, target.dtype(), c.rows, c.slices, c.inner};
  size_t table = (static_cast<size_t>(c.rows) * 8 + 63) / 64 * 64;
  double cost = writer.cost_ns() + 0.1 * static_cast<double>(target.bytes());
  return FunctionKernel(
      [=, dtype = r.dtype(indices), name = r.op.name, size = target.shape().size(),
       item = ItemSize(target.dtype())](const KernelArgs& a) {
        auto* at = static_cast<int64_t*>(a.workspace);
        if (coordinates)
          c.Read(a.in[indices], dtype, name, at);
        else
          ReadPositions(a.in[indices], dtype, c.rows, c.slices, Negative::kRefused, name, at);
        if (how == Write::kDiv) RefuseZeros(name, writer, a.in[updates]);
        const uint64_t zero[2] = {};
        if (zeros)
          ParallelFill(a.out[0], zero, size, item);
        else if (a.out[0] != a.in[0])
          ParallelCopy(a.out[0], a.in[0], static_cast<size_t>(size) * item);
        writer.Run(at, a.in[updates], a.out[0],
                   reinterpret_cast<float*>(static_cast<char*>(a.workspace) + table));
      },
      cost, table + writer.wide_bytes());
}

// What a segment without rows has: what changes nothing, or the extreme of the type.
Tensor EmptySegment(Write how, DType dtype) {
  if (how == Write::kAdd || how == Write::kMul)
    return Tensor::Full(dtype, Shape{}, how == Write::kMul ? 1 : 0);
  return VisitDType(dtype, [&]<class T>(TypeTag<T>) -> Tensor {
    bool lowest = how == Write::kMax;
    if constexpr (IsInteger(kDTypeOf<T>)) {
      T value = lowest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
      Tensor made = Tensor::Full(dtype, Shape{}, 0);
      std::memcpy(made.raw(), &value, sizeof(T));
      return made;
    } else {
      double largest = dtype == DType::kFloat16    ? 65504.0
                       : dtype == DType::kBFloat16 ? 3.3895313892515355e38
                       : dtype == DType::kFloat32  ? std::numeric_limits<float>::max()
                                                   : std::numeric_limits<double>::max();
      return Tensor::Full(dtype, Shape{}, lowest ? -largest : largest);
    }
  });
}

KernelChoice MakeSegments(const KernelRequest& r, Write how) {
  int64_t segments = r.attr<int64_t>("num_segments"), rows = r.shape(1).size();
  int64_t inner = r.shape(0).Product(r.shape(1).rank(), r.shape(0).rank());
  RowWriter writer{how, r.dtype(0), rows, segments, inner};
  size_t table = (static_cast<size_t>(rows) * 8 + 63) / 64 * 64, item = ItemSize(r.dtype(0));
  return FunctionKernel(
      [=, dtype = r.dtype(1), name = r.op.name,
       empty = EmptySegment(how, r.dtype(0))](const KernelArgs& a) {
        auto* at = static_cast<int64_t*>(a.workspace);
        ReadPositions(a.in[1], dtype, rows, segments, Negative::kSkipped, name, at);
        ParallelFill(a.out[0], empty.raw(), segments * inner, item);
        writer.Run(at, a.in[0], a.out[0],
                   reinterpret_cast<float*>(static_cast<char*>(a.workspace) + table));
      },
      writer.cost_ns(), table + writer.wide_bytes());
}

// ---- element by element

// An axis of y is written at positions that lie as x does, in n columns of some rows.
struct ElementWriter {
  bool add;
  int64_t size, along, step, n,
      rows;            // step: from an element of a row to the next; rows of a block
  Ints dims, strides;  // of the rows, those of the axis zero

  ElementWriter(const Shape& y, const Shape& x, int axis, bool adds)
      : add(adds), size(y[axis]), n(x.back()), dims(x.begin(), x.end() - 1), strides(Strides(y)) {
    int last = x.rank() - 1;
    along = strides[static_cast<size_t>(axis)];
    step = axis == last ? 0 : 1;
    strides[static_cast<size_t>(axis)] = 0;
    strides.pop_back();
    rows = x.Product(axis == last ? last : axis, last);
  }

  // Rows [begin, end), their columns [from, to).
  template <class T, class I>
  void Run(int64_t begin, int64_t end, int64_t from, int64_t to, const I* at, const T* x,
           T* y) const {
    Odometer place(dims, strides, strides);
    place.Seek(begin);
    for (int64_t row = begin; row < end; ++row, place.Next()) {
      T* base = y + place.a();
      for (int64_t j = from; j < to; ++j) {
        int64_t i = at[row * n + j];
        T& target = base[(i < 0 ? i + size : i) * along + j * step];
        if (add)
          Apply<Write::kAdd>(target, x[row * n + j]);
        else
          target = x[row * n + j];
      }
    }
  }
};

// Blocks before the axis never meet, and neither do columns, unless the axis is theirs.
template <class T, class I>
void WriteElements(const ElementWriter& w, int64_t count, const I* at, const T* x, T* y) {
  constexpr int64_t kStrip = 16;  // columns that a thread takes at least
  if (w.step == 0) {
    return ParallelFor(count / w.n, static_cast<double>(w.n) * 2,
                       [&](int64_t begin, int64_t end) { w.Run(begin, end, 0, w.n, at, x, y); });
  }
  int64_t strips = (w.n + kStrip - 1) / kStrip, blocks = count / (w.rows * w.n);
  double ns = static_cast<double>(w.rows * std::min(w.n, kStrip)) * 2;
  ParallelFor(blocks * strips, ns, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      int64_t block = begin / strips, first = begin % strips;
      int64_t most = std::min(strips - first, end - begin);
      w.Run(block * w.rows, (block + 1) * w.rows, first * kStrip,
            std::min((first + most) * kStrip, w.n), at, x, y);
      begin += most;
    }
  });
}

KernelChoice MakeScatterElements(const KernelRequest& r) {
  Shape y = r.shape(0), shape = r.shape(1);
  if (shape.rank() == 0) y = Shape{1}, shape = Shape{1};
  int axis = Wrap(r.attr<int64_t>("axis"), shape.rank());
  ElementWriter writer(y, shape, axis, r.attr<std::string>("reduction") == "add");
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) {
    return FunctionKernel(
        [=, dtype = r.dtype(1), name = r.op.name](const KernelArgs& a) {
          CheckPositions(a.in[1], dtype, shape.size(), y[axis], name);
          if (a.out[0] != a.in[0])
            ParallelCopy(a.out[0], a.in[0], static_cast<size_t>(y.size()) * sizeof(T));
          if (shape.empty()) return;
          const T* x = static_cast<const T*>(a.in[2]);
          T* to = static_cast<T*>(a.out[0]);
          if (dtype == DType::kInt32)
            WriteElements(writer, shape.size(), static_cast<const int32_t*>(a.in[1]), x, to);
          else
            WriteElements(writer, shape.size(), static_cast<const int64_t*>(a.in[1]), x, to);
        },
        2.0 * static_cast<double>(shape.size()) + 0.1 * static_cast<double>(y.size()));
  });
}

}  // namespace

size_t RowWriter::wide_bytes() const {
  bool needed = (dtype == DType::kFloat16 || dtype == DType::kBFloat16) && how != Write::kSet &&
                how != Write::kMax && how != Write::kMin;
  return needed ? static_cast<size_t>(slices * inner) * sizeof(float) : 0;
}

void RowWriter::Run(const int64_t* at, const void* x, void* y, float* wide) const {
  switch (how) {
    case Write::kSet:
      return RunWriter<Write::kSet>(*this, at, x, y, wide);
    case Write::kAdd:
      return RunWriter<Write::kAdd>(*this, at, x, y, wide);
    case Write::kSub:
      return RunWriter<Write::kSub>(*this, at, x, y, wide);
    case Write::kMax:
      return RunWriter<Write::kMax>(*this, at, x, y, wide);
    case Write::kMin:
      return RunWriter<Write::kMin>(*this, at, x, y, wide);
    case Write::kMul:
      return RunWriter<Write::kMul>(*this, at, x, y, wide);
    case Write::kDiv:
      return RunWriter<Write::kDiv>(*this, at, x, y, wide);
  }
}

void AddScatter(KernelTable& table) {
  struct Form {
    const char* name;
    Write how;
    bool coordinates;
  };
  const Form forms[] = {
      {"TensorScatterUpdate", Write::kSet, true}, {"TensorScatterAdd", Write::kAdd, true},
      {"TensorScatterSub", Write::kSub, true},    {"TensorScatterMax", Write::kMax, true},
      {"TensorScatterMin", Write::kMin, true},    {"ScatterNd", Write::kAdd, true},
      {"ScatterNdUpdate", Write::kSet, true},     {"ScatterNdAdd", Write::kAdd, true},
      {"ScatterNdSub", Write::kSub, true},        {"ScatterUpdate", Write::kSet, false},
      {"ScatterAdd", Write::kAdd, false},         {"ScatterSub", Write::kSub, false},
      {"TensorScatterMul", Write::kMul, true},    {"TensorScatterDiv", Write::kDiv, true},
      {"ScatterNdMul", Write::kMul, true},        {"ScatterNdDiv", Write::kDiv, true},
      {"ScatterNdMax", Write::kMax, true},        {"ScatterNdMin", Write::kMin, true},
      {"ScatterMul", Write::kMul, false},         {"ScatterDiv", Write::kDiv, false},
      {"ScatterMax", Write::kMax, false},         {"ScatterMin", Write::kMin, false},
  };
  for (const Form& form : forms) {
    table.For(form.name).Try("reference", [form](const KernelRequest& r) {
      return MakeRows(r, form.how, form.coordinates);
    });
  }
  const std::pair<const char*, Write> segments[] = {{"UnsortedSegmentSum", Write::kAdd},
                                                    {"UnsortedSegmentMax", Write::kMax},
                                                    {"UnsortedSegmentMin", Write::kMin},
                                                    {"UnsortedSegmentProd", Write::kMul}};
  for (const auto& [name, how] : segments) {
    table.For(name).Try("reference",
                        [how = how](const KernelRequest& r) { return MakeSegments(r, how); });
  }
  table.For("TensorScatterElements").Try("reference", MakeScatterElements);
}

}  // namespace ms::cpu
