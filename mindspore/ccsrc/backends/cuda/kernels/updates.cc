// Updates of Parameters, each as one loop over them.
#include "backends/cuda/kernels/compositions.h"

namespace ms::cuda {
namespace {

// What Adam and its kin have in common: averages of the gradient and of its square. The numbers of
// an update are computed in double, as on the host.
struct Moments {
  Term gradient, m, v;
  Moments(const Composer& c, const Term& g, const Term& beta1, const Term& beta2) : gradient(g) {
    m = c.Wide(1) + Rest(beta1) * (gradient - c.Wide(1));
    v = c.Wide(2) + Rest(beta2) * (gradient * gradient - c.Wide(2));
  }
  Term Rest(const Term& beta) const { return CastTo(1 - beta, gradient.dtype()); }
};
Term Number(const Composer& c, size_t i) {
  return Reshape(CastTo(c.in[i], DType::kFloat64), Shape{});
}

// var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient.
Terms Adam(const Composer& c) {
  Term var = c.Wide(0), b1 = Number(c, 6), b2 = Number(c, 7);
  DType type = var.dtype();
  Moments now(c, CastTo(c.in[9], type), b1, b2);
  Term root = c.Call("Sqrt", {1 - Number(c, 4)});
  Term lr = CastTo(Number(c, 5) * root / (1 - Number(c, 3)), type);
  Term direction = now.m;
  if (c.request.attr<bool>("use_nesterov"))
    direction = CastTo(b1, type) * now.m + now.Rest(b1) * now.gradient;
  Term step = c.Call("Sqrt", {now.v}) + CastTo(Number(c, 8), type);
  return {var - lr * direction / step, now.m, now.v};
}

// var, m, v, lr, beta1, beta2, epsilon, decay, gradient.
Terms AdamWeightDecay(const Composer& c) {
  Term var = c.Wide(0);
  DType type = var.dtype();
  Moments now(c, CastTo(c.in[8], type), Number(c, 4), Number(c, 5));
  Term step = now.m / (c.Call("Sqrt", {now.v}) + CastTo(Number(c, 6), type));
  return {var - CastTo(Number(c, 3), type) * (step + CastTo(Number(c, 7), type) * var), now.m,
          now.v};
}

// parameters, gradient, learning_rate, accum, momentum, stat. Where there is no momentum, accum and
// stat stay; the velocity of an element's first update, which stat says, is its gradient.
Terms Sgd(const Composer& c) {
  Term w = c.Wide(0), accum = c.Wide(3), stat = c.Wide(5);
  DType type = w.dtype();
  Term lr = CastTo(Number(c, 2), type), momentum = CastTo(Number(c, 4), type);
  Term g = c.Wide(1) + w * c.request.attr<double>("weight_decay");
  Term zero = c.emitter.Scalar(0, type);
  Term moved = accum * momentum + g * (1 - c.request.attr<double>("dampening"));
  Term velocity = c.Call("Select", {c.Call("Greater", {stat, zero}), g, moved});
  Term step = c.request.attr<bool>("nesterov") ? g + velocity * momentum : velocity;
  Term moves = c.Call("NotEqual", {momentum, zero});
  auto either = [&](const Term& a, const Term& b) { return c.Call("Select", {moves, a, b}); };
  return {w - lr * either(step, g), either(velocity, accum), either(zero, stat)};
}

}  // namespace

void AddUpdates(KernelTable& table) {
  table.For("Adam").Try("nest", Composition(Adam));
  table.For("AdamWeightDecay").Try("nest", Composition(AdamWeightDecay));
  table.For("SGD").Try("nest", Composition(Sgd));
}

}  // namespace ms::cuda
