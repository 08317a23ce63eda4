// Updates of Parameters, each as one loop over them.
#include "backends/cuda/kernels/compositions.h"

namespace ms::cuda {
namespace {

// The numbers of an update are computed in double, as on the host, and rounded to what elements are
// computed in.
Term Number(const Composer& c, size_t i) {
  Term number = CastTo(c.in[i], DType::kFloat64);  // of one element, in any number of dimensions
  return number.shape().rank() <= c.in[0].shape().rank() ? number : Reshape(number, Shape{});
}
Term Rounded(const Composer& c, size_t i) { return CastTo(Number(c, i), c.Wide(0).dtype()); }
Term Gradient(const Composer& c, size_t i) { return CastTo(c.in[i], c.Wide(0).dtype()); }
Term Root(const Composer& c, const Term& x) { return c.Call("Sqrt", {x}); }

// An average that moves on to x, of which it keeps a share.
Term Averaged(const Term& average, const Term& x, const Term& keep) {
  return average + CastTo(1 - keep, x.dtype()) * (x - average);
}

// What Adam and its kin have in common: averages of the gradient and of its square.
struct Moments {
  Term gradient, m, v;
  Moments(const Composer& c, const Term& g, const Term& beta1, const Term& beta2)
      : gradient(g), m(Averaged(c.Wide(1), g, beta1)), v(Averaged(c.Wide(2), g * g, beta2)) {}
};

// var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient.
Terms Adam(const Composer& c) {
  Term var = c.Wide(0), b1 = Number(c, 6), b2 = Number(c, 7);
  DType type = var.dtype();
  Moments now(c, Gradient(c, 9), b1, b2);
  Term lr = CastTo(Number(c, 5) * Root(c, 1 - Number(c, 4)) / (1 - Number(c, 3)), type);
  Term direction = now.m;
  if (c.request.attr<bool>("use_nesterov"))
    direction = CastTo(b1, type) * now.m + CastTo(1 - b1, type) * now.gradient;
  return {var - lr * direction / (Root(c, now.v) + Rounded(c, 8)), now.m, now.v};
}

// var, m, v, lr, beta1, beta2, epsilon, decay, gradient.
Terms AdamWeightDecay(const Composer& c) {
  Term var = c.Wide(0);
  Moments now(c, Gradient(c, 8), Number(c, 4), Number(c, 5));
  Term step = now.m / (Root(c, now.v) + Rounded(c, 6));
  return {var - Rounded(c, 3) * (step + Rounded(c, 7) * var), now.m, now.v};
}

// var, m, v, beta1_power, lr, beta1, beta2, epsilon, gradient.
Terms AdaMax(const Composer& c) {
  Term g = Gradient(c, 8), m = Averaged(c.Wide(1), g, Number(c, 5));
  Term old = Rounded(c, 6) * c.Wide(2), size = c.Call("Abs", {g});
  Term v = c.Call("Select", {c.Call("Greater", {old, size}), old, size});
  Term lr = CastTo(Number(c, 4) / (1 - Number(c, 3)), g.dtype());
  return {c.Wide(0) - lr * m / (v + Rounded(c, 7)), m, v};
}

// var, mean_square, moment, lr, gradient, decay, momentum, epsilon.
Terms RmsProp(const Composer& c) {
  Term g = Gradient(c, 4), square = Averaged(c.Wide(1), g * g, Number(c, 5));
  Term moment = Rounded(c, 6) * c.Wide(2) + Rounded(c, 3) * g / Root(c, square + Rounded(c, 7));
  return {c.Wide(0) - moment, square, moment};
}

// var, mean_gradient, mean_square, moment, gradient, lr, decay, momentum, epsilon.
Terms CenteredRmsProp(const Composer& c) {
  Term g = Gradient(c, 4), mean = Averaged(c.Wide(1), g, Number(c, 6));
  Term square = Averaged(c.Wide(2), g * g, Number(c, 6));
  Term root = Root(c, square - mean * mean + Rounded(c, 8));
  Term moment = Rounded(c, 7) * c.Wide(3) + Rounded(c, 5) * g / root;
  return {c.Wide(0) - moment, mean, square, moment};
}

// var, accum, lr, gradient.
Terms Adagrad(const Composer& c) {
  Term g = Gradient(c, 3), accum = c.Wide(1);
  if (c.request.attr<bool>("update_slots")) accum = accum + g * g;
  Term root = Root(c, accum);
  if (c.request.op.AttrIndex("epsilon") >= 0) root = root + c.request.attr<double>("epsilon");
  return {c.Wide(0) - Rounded(c, 2) * g / root, accum};
}

// var, accum, accum_update, lr, rho, epsilon, gradient.
Terms Adadelta(const Composer& c) {
  Term g = Gradient(c, 6), rho = Number(c, 4), epsilon = Rounded(c, 5);
  Term accum = Averaged(c.Wide(1), g * g, rho), past = c.Wide(2);
  Term step = Root(c, past + epsilon) / Root(c, accum + epsilon) * g;
  return {c.Wide(0) - Rounded(c, 3) * step, accum, Averaged(past, step * step, rho)};
}

// var, accum, linear, gradient, lr, l1, l2, lr_power.
Terms Ftrl(const Composer& c) {
  Term g = Gradient(c, 3), lr = Rounded(c, 4), l1 = Rounded(c, 5);
  Term zero = c.emitter.Scalar(0, g.dtype()), power = zero - Rounded(c, 7);
  Term accum = c.Wide(1) + g * g;
  auto scaled = [&](const Term& x) { return c.Call("Pow", {x, power}); };
  Term now = scaled(accum), before = scaled(c.Wide(1));
  Term linear = c.Wide(2) + (g - (now - before) / lr * c.Wide(0));
  Term clipped = c.Call("Select", {c.Call("Greater", {linear, zero}), l1, zero - l1});
  Term moves = c.Call("Greater", {c.Call("Abs", {linear}), l1});
  Term var = (clipped - linear) / (now / lr + Rounded(c, 6) * 2);
  return {c.Call("Select", {moves, var, zero}), accum, linear};
}

// var, alpha, delta.
Terms Descent(const Composer& c) { return {c.Wide(0) - Rounded(c, 1) * Gradient(c, 2)}; }

// parameters, gradient, learning_rate, accum, momentum, stat. Where there is no momentum, accum and
// stat stay; the velocity of an element's first update, which stat says, is its gradient.
Terms Sgd(const Composer& c) {
  Term w = c.Wide(0), accum = c.Wide(3), stat = c.Wide(5);
  Term lr = Rounded(c, 2), momentum = Rounded(c, 4);
  Term g = c.Wide(1) + w * c.request.attr<double>("weight_decay");
  Term zero = c.emitter.Scalar(0, w.dtype());
  Term moved = accum * momentum + g * (1 - c.request.attr<double>("dampening"));
  Term velocity = c.Call("Select", {c.Call("Greater", {stat, zero}), g, moved});
  Term step = c.request.attr<bool>("nesterov") ? g + velocity * momentum : velocity;
  Term moves = c.Call("NotEqual", {momentum, zero});
  auto either = [&](const Term& a, const Term& b) { return c.Call("Select", {moves, a, b}); };
  return {w - lr * either(step, g), either(velocity, accum), either(zero, stat)};
}

}  // namespace

void AddUpdates(KernelTable& table) {
  const std::pair<const char*, Compose> updates[] = {{"Adam", Adam},
                                                     {"AdamWeightDecay", AdamWeightDecay},
                                                     {"ApplyAdaMax", AdaMax},
                                                     {"ApplyRMSProp", RmsProp},
                                                     {"ApplyCenteredRMSProp", CenteredRmsProp},
                                                     {"ApplyAdagrad", Adagrad},
                                                     {"ApplyAdagradV2", Adagrad},
                                                     {"ApplyAdadelta", Adadelta},
                                                     {"ApplyFtrl", Ftrl},
                                                     {"ApplyGradientDescent", Descent},
                                                     {"SGD", Sgd}};
  for (const auto& [name, update] : updates) table.For(name).Try("nest", Composition(update));
}

}  // namespace ms::cuda
