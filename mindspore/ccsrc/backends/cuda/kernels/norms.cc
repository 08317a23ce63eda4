// Normalisation over batches: a nest that reduces to numbers of each channel, and one over all
// elements that uses them. Unlike cuDNN's, they leave stored statistics alone where a kernel before
// them found something wrong.
#include "backends/cuda/kernels/compositions.h"
#include "backends/cuda/memory.h"

namespace ms::cuda {
namespace {

// How values of channels lie against an image.
struct Channels {
  Ints others;      // the axes over which channels are averaged
  Shape broadcast;  // of values against the image
  int64_t count = 1;

  Channels(const Shape& x, const std::string& format) {
    int axis = x.rank() == 4 && format == "NHWC" ? 3 : 1;
    Dims dims(static_cast<size_t>(x.rank()), 1);
    dims[static_cast<size_t>(axis)] = x.dim(axis);
    broadcast = dims;
    for (int i = 0; i < x.rank(); ++i) {
      if (i == axis) continue;
      others.push_back(i);
      count *= x[i];
    }
  }
};

// Terms of a composition, in the type that is computed with.
struct Norm {
  const Composer& c;
  Channels channels;
  Term x;
  Norm(const Composer& composer, size_t image)
      : c(composer),
        channels(c.request.shape(image), c.request.attr<std::string>("data_format")),
        x(c.Wide(image)) {}
  Term Channel(size_t i) const { return Reshape(CastTo(c.in[i], x.dtype()), channels.broadcast); }
  Term Mean(const Term& t) const { return c.Along("ReduceMean", t, channels.others); }
  Term Sum(const Term& t) const { return c.Along("ReduceSum", t, channels.others); }
  Term Inverse(const Term& variance) const {
    return c.Call("Rsqrt", {variance + c.request.attr<double>("epsilon")});
  }
};

// ---- training: x, scale, bias, mean, variance
Terms Statistics(const Composer& c) {
  Norm n(c, 0);
  double share = c.request.attr<double>("momentum");
  auto count = static_cast<double>(n.channels.count);
  Term mean = n.Mean(n.x), d = n.x - mean, variance = n.Mean(d * d);
  Term unbiased = variance * (count > 1 ? count / (count - 1) : 1.0);
  return {n.Channel(3) * (1 - share) + mean * share, n.Channel(4) * (1 - share) + unbiased * share,
          mean, n.Inverse(variance)};
}
// x, scale, bias, the saved mean and its inverse deviation.
Terms Normalise(const Composer& c) {
  Norm n(c, 0);
  return {(n.x - n.Channel(3)) * (n.Channel(4) * n.Channel(1)) + n.Channel(2)};
}

// ---- its gradient: dy, x, scale, saved mean, saved inverse
Terms Sums(const Composer& c) {
  Norm n(c, 1);
  Term dy = c.Wide(0), h = (n.x - n.Channel(3)) * n.Channel(4);
  return {n.Sum(dy * h), n.Sum(dy)};
}
// These, and the sums.
Terms InputGrad(const Composer& c) {
  Norm n(c, 1);
  Term dy = c.Wide(0), r = n.Channel(4), sr = n.Channel(2) * r;
  if (!c.request.attr<bool>("is_training")) return {sr * dy};
  double share = 1 / static_cast<double>(n.channels.count);
  Term h = (n.x - n.Channel(3)) * r;
  return {sr * (dy - (n.Channel(6) + h * n.Channel(5)) * share)};
}

Terms Inference(const Composer& c) {
  Norm n(c, 0);
  return {(n.x - n.Channel(3)) * (n.Inverse(n.Channel(4)) * n.Channel(1)) + n.Channel(2)};
}

// The first kernel writes the outputs from 1 on; the second one reads `read` of the inputs and
// `reuse` of these outputs, and writes output 0.
class TwoNests : public Kernel {
 public:
  TwoNests(std::unique_ptr<Kernel> first, std::unique_ptr<Kernel> second, size_t read, Ints reuse)
      : first_(std::move(first)),
        second_(std::move(second)),
        read_(read),
        reuse_(std::move(reuse)) {
    workspace_bytes_ = std::max(first_->workspace_bytes(), second_->workspace_bytes());
    cost_ns_ = first_->cost_ns() + second_->cost_ns();
  }
  void Run(const KernelArgs& args) const override {
    KernelArgs one = args, two = args;
    one.out = args.out + 1;
    first_->Run(one);
    std::vector<const void*> in(args.in, args.in + read_);
    for (int64_t o : reuse_) in.push_back(args.out[o]);
    two.in = in.data();
    second_->Run(two);
  }
  std::string Contents() const override { return first_->Contents() + second_->Contents(); }

 private:
  std::unique_ptr<Kernel> first_, second_;
  const size_t read_;
  const Ints reuse_;
};

KernelMaker Two(Compose first, Compose second, size_t read, Ints reuse) {
  return [=](const KernelRequest& r) -> KernelChoice {
    if (r.shape(0).empty()) return No("needs elements, got none");
    Types rest(r.out.begin() + 1, r.out.end());
    KernelChoice one = Composition(first)({r.op, r.in, rest, r.attrs});
    if (!one.kernel) return one;
    auto given = static_cast<std::ptrdiff_t>(read);
    Types in(r.in.begin(), r.in.begin() + given), out{r.out[0]};
    for (int64_t o : reuse) in.push_back(r.out[static_cast<size_t>(o)]);
    KernelChoice two = Composition(second)({r.op, in, out, r.attrs});
    if (!two.kernel) return two;
    return std::make_unique<TwoNests>(std::move(one.kernel), std::move(two.kernel), read, reuse);
  };
}

}  // namespace

void AddNorms(KernelTable& table) {
  table.For("BatchNorm").Try("nests", Two(Statistics, Normalise, 3, {3, 4}));
  table.For("BatchNormGrad").Try("nests", Two(Sums, InputGrad, 5, {1, 2}));
  table.For("BatchNormInference").Try("nest", Composition(Inference));
}

}  // namespace ms::cuda
