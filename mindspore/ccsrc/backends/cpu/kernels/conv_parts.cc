#include "backends/cpu/kernels/conv_parts.h"

#include <omp.h>

#include <memory>
#include <vector>

#include "backends/cpu/kernels/conv_problem.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

// A longer one loses less to waiting than filters of its own for each thread cost.
constexpr double kShort = 4e6;
constexpr int64_t kSmallFilter = 1 << 15;

size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

class InParts : public Kernel {
 public:
  InParts(std::vector<std::unique_ptr<Kernel>> parts, const KernelRequest& r, double cost_ns)
      : parts_(std::move(parts)),
        filter_(r.out[0].shape().size()),
        outputs_(r.shape(0).size() / count()),
        images_(r.shape(1).size() / count()),
        filter_bytes_(Aligned(static_cast<size_t>(filter_) * sizeof(float))),
        room_(filter_bytes_ + Aligned(parts_[0]->workspace_bytes())) {
    cost_ns_ = cost_ns;
    workspace_bytes_ = room_ * parts_.size();
  }

  void Run(const KernelArgs& args) const override {
    ParallelFor(count(), cost_ns_ / static_cast<double>(count()), [&](int64_t i, int64_t end) {
      for (; i < end; ++i) RunPart(args, i);
    });
    auto* sum = static_cast<float*>(args.out[0]);
    ParallelFor(filter_, 0.2 * static_cast<double>(count()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        float total = PartOf(args, 0)[i];
        for (int64_t p = 1; p < count(); ++p) total += PartOf(args, p)[i];
        sum[i] = total;
      }
    });
  }

 private:
  int64_t count() const { return static_cast<int64_t>(parts_.size()); }
  float* PartOf(const KernelArgs& args, int64_t i) const {
    return reinterpret_cast<float*>(static_cast<std::byte*>(args.workspace) +
                                    room_ * static_cast<size_t>(i));
  }

  void RunPart(const KernelArgs& args, int64_t i) const {
    const void* in[] = {static_cast<const float*>(args.in[0]) + i * outputs_,
                        static_cast<const float*>(args.in[1]) + i * images_};
    void* out[] = {PartOf(args, i)};
    KernelArgs part;
    part.in = in;
    part.out = out;
    part.workspace = static_cast<std::byte*>(out[0]) + filter_bytes_;
    parts_[static_cast<size_t>(i)]->Run(part);
  }

  std::vector<std::unique_ptr<Kernel>> parts_;  // alike; each keeps what its thread needs
  int64_t filter_, outputs_, images_;           // elements, of a part
  size_t filter_bytes_, room_;
};

// oneDNN makes kernels for as many threads as the calling one may have.
class OneThread {
 public:
  OneThread() { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;

 private:
  int before_ = omp_get_max_threads();
};

}  // namespace

KernelChoice FilterGradInParts(const KernelRequest& r,
                               const std::function<KernelChoice(const Shape& images)>& make) {
  int threads = omp_get_max_threads();
  if (threads == 1) return No("needs several threads");
  if (r.dtype(0) != DType::kFloat32) return No("needs Float32, got {}", Name(r.dtype(0)));
  Shape images = r.shape(1);
  if (images.empty() || r.out[0].shape().empty()) return No("needs elements, got none");
  ConvGeometry g = MakeConvGeometry(r.op, r.attrs, images, r.out[0].shape());
  double cost = ConvCost(g);
  if (g.batch % threads != 0)
    return No("needs an equal part for each thread, got {} images", g.batch);
  if (cost > kShort || r.out[0].shape().size() > kSmallFilter) return No("needs a short one");
  Ints dims = images.ToInts();
  dims[0] /= threads;
  OneThread one;
  std::vector<std::unique_ptr<Kernel>> parts;
  for (int i = 0; i < threads; ++i) {
    KernelChoice part = make(Shape(dims));
    if (!part.kernel) return part;
    parts.push_back(std::move(part.kernel));
  }
  return std::make_unique<InParts>(std::move(parts), r, cost);
}

}  // namespace ms::cpu
