// A device named Toy: memory of its own, and kernels for nine kinds of ops, in one page. It
// computes at once and slowly, on the processor, in doubles, and so refuses dtypes of which these
// do not hold all numbers; what a real device does elsewhere is marked.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "kernel/plugin.h"

namespace {

using namespace ms;  // NOLINT: all of it is about the core

// ---- memory: what the host holds is no address of the processor
constexpr uintptr_t kMark = uintptr_t{1} << 62;
char* Here(const void* p) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(p) ^ kMark);
}

class ToyMemory : public Memory {
 public:
  std::string_view device() const override { return "Toy"; }
  void* Allocate(size_t bytes) override {
    void* data = std::aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (!data) Throw(ErrorKind::kMemory, "{} bytes must fit into the memory of Toy", bytes);
    return Here(data);
  }
  // A device with a stream does these in its order: `Store` has to take a copy, `FetchNow` to wait.
  void Free(void* data, size_t) noexcept override { std::free(Here(data)); }
  void Store(void* to, const void* host, size_t bytes) override {
    if (bytes) std::memcpy(Here(to), host, bytes);
  }
  void Copy(void* to, const void* from, size_t bytes) override {
    if (bytes) std::memmove(Here(to), Here(from), bytes);
  }
  void Zero(void* to, size_t bytes) override {
    if (bytes) std::memset(Here(to), 0, bytes);
  }

 private:
  void FetchNow(void* host, const void* from, size_t bytes) override {
    if (bytes) std::memcpy(host, Here(from), bytes);
  }
};

ToyMemory& TheMemory() {
  static auto* memory = new ToyMemory;  // tensors may outlive static objects
  return *memory;
}

class ToyStream : public Stream {
 public:
  ToyStream() : Stream(TheMemory()) {}
  std::unique_ptr<Event> Record() override { return std::make_unique<Done>(); }
  void Follow(const Event&) override {}

 private:
  void SynchronizeNow() override {}
  struct Done : Event {
    bool Reached() const override { return true; }
    void Synchronize() const override {}
  };
};

// ---- elements
double Get(const void* data, DType dtype, int64_t i) {
  return VisitDType(dtype, [&]<class T>(TypeTag<T>) -> double {
    if constexpr (IsComplex(kDTypeOf<T>))
      return 0;  // refused before
    else
      return static_cast<double>(reinterpret_cast<const T*>(Here(data))[i]);
  });
}
void Set(void* data, DType dtype, int64_t i, double value) {
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    T& to = reinterpret_cast<T*>(Here(data))[i];
    if constexpr (std::is_same_v<T, bool>)
      to = value != 0;
    else if constexpr (std::is_integral_v<T>)
      to = static_cast<T>(static_cast<int64_t>(value));  // beyond its range as processors have it
    else if constexpr (std::is_floating_point_v<T>)
      to = static_cast<T>(value);
    else
      to = T(static_cast<float>(value));
  });
}

bool IsHeld(DType dtype) {
  return IsFloating(dtype) || dtype == DType::kInt32 || dtype == DType::kBool;
}
constexpr char kOthers[] = "Toy computes with floats, Int32 and Bool only";

// Where element `at` of `shape` lies in a tensor of shape `of` that is broadcast to it.
int64_t Broadcast(int64_t at, const Shape& shape, const Shape& of) {
  int64_t index = 0, step = 1;
  for (int d = 1; d <= shape.rank(); ++d) {
    int64_t i = at % shape[shape.rank() - d];
    at /= shape[shape.rank() - d];
    if (d > of.rank()) continue;
    if (of[of.rank() - d] != 1) index += i * step;
    step *= of[of.rank() - d];
  }
  return index;
}

// ---- kernels
double Larger(double a, double b) { return a > b || std::isnan(a) ? a : b; }  // a nan wins

double Step(const ScalarNode& n, const std::vector<double>& v) {
  auto a = [&](int i) { return v[static_cast<size_t>(n.args[i])]; };
  switch (n.op) {
    case ScalarOp::kConstant:
      return n.value;
    case ScalarOp::kCast:
      if (n.dtype == DType::kBool) return a(0) != 0;
      return n.dtype == DType::kInt32 ? std::trunc(a(0)) : a(0);
    case ScalarOp::kAdd:
      return a(0) + a(1);
    case ScalarOp::kSub:
      return a(0) - a(1);
    case ScalarOp::kMul:
      return a(0) * a(1);
    case ScalarOp::kDiv:
      return a(0) / a(1);
    case ScalarOp::kMax:
      return Larger(a(0), a(1));
    case ScalarOp::kNeg:
      return -a(0);
    case ScalarOp::kExp:
      return std::exp(a(0));
    case ScalarOp::kLog:
      return std::log(a(0));
    case ScalarOp::kTanh:
      return std::tanh(a(0));
    case ScalarOp::kLess:
      return a(0) < a(1);
    case ScalarOp::kGreater:
      return a(0) > a(1);
    case ScalarOp::kEqual:
      return a(0) == a(1);
    case ScalarOp::kSelect:
      return a(0) != 0 ? a(1) : a(2);
    default:
      Throw(ErrorKind::kNotImplemented, "Toy does not know '{}'", Name(n.op));
  }
}

// Every op that is declared as a function of single elements.
KernelChoice Elementwise(const KernelRequest& r) {
  std::vector<DType> dtypes;
  for (const Type& type : r.in) dtypes.push_back(type.dtype());
  ScalarGraph graph = TraceScalar(r.op, dtypes, r.attrs);
  std::vector<double> unused(graph.nodes.size());
  for (const ScalarNode& n : graph.nodes) {
    if (!IsHeld(n.dtype)) return No("{}", kOthers);
    if (n.op == ScalarOp::kInput) continue;
    try {
      Step(n, unused);
    } catch (const Error& error) {
      return No("{}", error.message());
    }
  }
  return FunctionKernel(
      [graph, in = r.in, out = r.out[0]](const KernelArgs& args) {
        std::vector<double> values(graph.nodes.size());
        for (int64_t i = 0; i < out.shape().size(); ++i) {
          for (size_t k = 0; k < graph.nodes.size(); ++k) {
            const ScalarNode& n = graph.nodes[k];
            auto input = static_cast<size_t>(n.input);
            values[k] = n.op != ScalarOp::kInput
                            ? Step(n, values)
                            : Get(args.in[input], in[input].dtype(),
                                  Broadcast(i, out.shape(), in[input].shape()));
          }
          Set(args.out[0], out.dtype(), i, values.back());
        }
      },
      1000);
}

KernelChoice MatMul(const KernelRequest& r) {
  bool ta = r.attr<bool>("transpose_a"), tb = r.attr<bool>("transpose_b");
  int64_t rows = r.out[0].shape()[0], columns = r.out[0].shape()[1], inner = r.shape(0)[ta ? 0 : 1];
  DType dtype = r.dtype(0);
  return FunctionKernel(
      [=](const KernelArgs& args) {
        for (int64_t i = 0; i < rows * columns; ++i) {
          int64_t row = i / columns, column = i % columns;
          double sum = 0;
          for (int64_t k = 0; k < inner; ++k) {
            sum += Get(args.in[0], dtype, ta ? k * rows + row : row * inner + k) *
                   Get(args.in[1], dtype, tb ? column * inner + k : k * columns + column);
          }
          Set(args.out[0], dtype, i, sum);
        }
      },
      1000);
}

// `join` of what the axes that are summed, say, have; `start` of nothing.
template <class F>
KernelMaker Reduce(double start, F join, bool mean = false) {
  return [=](const KernelRequest& r) -> KernelChoice {
    Shape kept = r.shape(0);
    Ints axes = r.attr<Ints>("axis"), sizes(kept.begin(), kept.end());
    for (int64_t d = 0; d < kept.rank(); ++d) {
      bool summed = axes.empty();
      for (int64_t axis : axes) summed |= (axis < 0 ? axis + kept.rank() : axis) == d;
      if (summed) sizes[static_cast<size_t>(d)] = 1;
    }
    return FunctionKernel(
        [=, in = r.in[0], out = r.out[0], to = Shape(sizes)](const KernelArgs& args) {
          std::vector<double> totals(static_cast<size_t>(out.shape().size()), start);
          for (int64_t i = 0; i < in.shape().size(); ++i) {
            double& total = totals[static_cast<size_t>(Broadcast(i, in.shape(), to))];
            total = join(total, Get(args.in[0], in.dtype(), i));
          }
          double parts = 1;
          if (mean && !totals.empty())
            parts = static_cast<double>(in.shape().size()) / static_cast<double>(totals.size());
          for (size_t i = 0; i < totals.size(); ++i)
            Set(args.out[0], out.dtype(), static_cast<int64_t>(i), totals[i] / parts);
        },
        1000);
  };
}

KernelChoice BroadcastTo(const KernelRequest& r) {
  return FunctionKernel(
      [in = r.in[0], out = r.out[0]](const KernelArgs& args) {
        for (int64_t i = 0; i < out.shape().size(); ++i) {
          int64_t from = Broadcast(i, out.shape(), in.shape());
          Set(args.out[0], out.dtype(), i, Get(args.in[0], in.dtype(), from));
        }
      },
      1000);
}

KernelMaker Constant(double value) {
  return [value](const KernelRequest& r) -> KernelChoice {
    return FunctionKernel(
        [value, out = r.out[0]](const KernelArgs& args) {
          for (int64_t i = 0; i < out.shape().size(); ++i) Set(args.out[0], out.dtype(), i, value);
        },
        1000);
  };
}

// Of each row the cross entropy of its softmax against probabilities, and the gradient of the row.
KernelChoice CrossEntropy(const KernelRequest& r) {
  int64_t rows = r.shape(0)[0], columns = r.shape(0)[1];
  DType dtype = r.dtype(0);
  return FunctionKernel(
      [=](const KernelArgs& args) {
        for (int64_t row = 0; row < rows; ++row) {
          int64_t first = row * columns, end = first + columns;
          double most = -HUGE_VAL, sum = 0, loss = 0;
          for (int64_t i = first; i < end; ++i) most = Larger(most, Get(args.in[0], dtype, i));
          for (int64_t i = first; i < end; ++i) sum += std::exp(Get(args.in[0], dtype, i) - most);
          for (int64_t i = first; i < end; ++i) {
            double logit = Get(args.in[0], dtype, i) - most, wanted = Get(args.in[1], dtype, i);
            loss -= wanted * (logit - std::log(sum));
            Set(args.out[1], dtype, i, std::exp(logit) / sum - wanted);
          }
          Set(args.out[0], dtype, row, loss);
        }
      },
      1000);
}

class ToyBackend : public Backend {
 public:
  ToyBackend() : Backend(TheMemory()) {
    table_.ForScalar().Try("elementwise", Elementwise);
    auto add = [](double a, double b) { return a + b; };
    Make("MatMul", MatMul);
    Make("ReduceSum", Reduce(0, add));
    Make("ReduceMean", Reduce(0, add, true));
    Make("ReduceMax", Reduce(-HUGE_VAL, Larger));
    Make("Zeros", Constant(0));
    Make("Ones", Constant(1));
    Make("BroadcastTo", BroadcastTo);
    Make("SoftmaxCrossEntropyWithLogits", CrossEntropy);
  }
  std::string_view name() const override { return "Toy"; }
  const KernelTable& kernels() const override { return table_; }
  Stream& stream() const override {
    static auto* stream = new ToyStream;
    return *stream;
  }
  std::unique_ptr<Stream> NewStream() const override { return std::make_unique<ToyStream>(); }

 private:
  void Make(std::string_view op, KernelMaker make) {
    table_.For(op).Try("loops", [make](const KernelRequest& r) -> KernelChoice {
      for (const Types* types : {&r.in, &r.out}) {
        for (const Type& type : *types)
          if (!IsHeld(type.dtype())) return No("{}", kOthers);
      }
      return make(r);
    });
  }

  KernelTable table_;
};

}  // namespace

MS_BACKEND(ToyBackend)
