#include "backends/cpu/kernels/in_float32.h"

#include "backends/cpu/isa/tables.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

constexpr double kCastNs = 0.3;  // per element

// The dtype that the inner kernel sees.
using Wider = DType (*)(DType);

DType HalfAsFloat32(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 ? DType::kFloat32 : dtype;
}
DType IntegerAsFloat64(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kInt32 ? DType::kFloat64 : dtype;
}

void Convert(const void* from, DType from_type, void* to, DType to_type, int64_t n) {
  VectorFn cast = Vectors().Cast(from_type, to_type);
  size_t from_size = ItemSize(from_type);
  size_t to_size = ItemSize(to_type);
  ParallelFor(n, kCastNs, [&](int64_t begin, int64_t end) {
    auto first = static_cast<size_t>(begin);
    cast(static_cast<std::byte*>(to) + first * to_size,
         static_cast<const std::byte*>(from) + first * from_size, nullptr, nullptr, end - begin);
  });
}

// Where a value lives while the inner kernel runs.
struct Slot {
  DType dtype, wide;
  int64_t size;
  size_t offset;
  bool converted() const { return dtype != wide; }
};

class Widened : public Kernel {
 public:
  Widened(const Types& in, const Types& out, Wider wider, std::unique_ptr<Kernel> inner)
      : inner_(std::move(inner)) {
    size_t offset = Aligned(inner_->workspace_bytes());
    cost_ns_ = inner_->cost_ns();
    auto plan = [&](const Types& types, std::vector<Slot>* slots) {
      for (const Type& t : types) {
        slots->push_back({t.dtype(), wider(t.dtype()), t.shape().size(), offset});
        const Slot& slot = slots->back();
        if (!slot.converted()) continue;
        offset += Aligned(static_cast<size_t>(slot.size) * ItemSize(slot.wide));
        cost_ns_ += kCastNs * static_cast<double>(t.shape().size());
      }
    };
    plan(in, &in_);
    plan(out, &out_);
    workspace_bytes_ = offset;
  }

  void Run(const KernelArgs& args) const override {
    auto* workspace = static_cast<std::byte*>(args.workspace);
    constexpr size_t kMost = 16;
    const void* in[kMost];
    void* out[kMost];
    MS_ASSERT(in_.size() <= kMost && out_.size() <= kMost);
    for (size_t i = 0; i < in_.size(); ++i) {
      in[i] = in_[i].converted() ? workspace + in_[i].offset : args.in[i];
      if (in_[i].converted()) {
        Convert(args.in[i], in_[i].dtype, workspace + in_[i].offset, in_[i].wide, in_[i].size);
      }
    }
    for (size_t i = 0; i < out_.size(); ++i) {
      out[i] = out_[i].converted() ? workspace + out_[i].offset : args.out[i];
    }
    inner_->Run({in, out, workspace, args.random});
    for (size_t i = 0; i < out_.size(); ++i) {
      if (out_[i].converted()) {
        Convert(out[i], out_[i].wide, args.out[i], out_[i].dtype, out_[i].size);
      }
    }
  }

 private:
  static size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

  std::unique_ptr<Kernel> inner_;
  std::vector<Slot> in_, out_;
};

Types Widen(const Types& types, Wider wider) {
  Types wide;
  for (const Type& t : types) wide.emplace_back(wider(t.dtype()), t.shape());
  return wide;
}

KernelMaker In(Wider wider, const char* what, KernelMaker maker) {
  return [=, maker = std::move(maker)](const KernelRequest& r) -> KernelChoice {
    Types in = Widen(r.in, wider);
    Types out = Widen(r.out, wider);
    if (in == r.in && out == r.out) return No("is for {}", what);
    KernelChoice inner = maker({r.op, in, out, r.attrs});
    if (!inner.kernel) return inner;
    return KernelChoice(std::unique_ptr<Kernel>(
        std::make_unique<Widened>(r.in, r.out, wider, std::move(inner.kernel))));
  };
}

}  // namespace

KernelMaker InFloat32(KernelMaker maker) {
  return In(HalfAsFloat32, "Float16 and BFloat16", std::move(maker));
}

KernelMaker InFloat64(KernelMaker maker) { return In(IntegerAsFloat64, "Int8", std::move(maker)); }

}  // namespace ms::cpu
