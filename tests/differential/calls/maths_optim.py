"""Calls of optimizer primitives: what they return, and what their Parameters become."""

from differential.calllib import f32, made, of, param

VAR, STATE, MORE = f32(3, 2), f32(3, 2, low=0.1, high=1.0), f32(3, 2, low=0.1, high=1.0, seed=1)
GRAD, TOP = f32(3, 2, seed=2), f32(3, 2, low=1.0, high=2.0, seed=3)
LR, B1, B2, EPS = of(0.1), of(0.9), of(0.99), of(1e-8)

made("ops.ApplyAdagradDA")(
    param(VAR), param(STATE), param(MORE), GRAD, LR, of(0.01), of(0.02), of(2, "int32")
)
made("ops.ApplyAdamWithAmsgrad")(
    param(VAR), param(STATE), param(MORE), param(TOP), B1, B2, LR, GRAD
)
made("ops.ApplyAdamWithAmsgrad", 0.8, 0.9, 1e-6)(
    param(VAR), param(STATE), param(MORE), param(TOP), B1, B2, LR, GRAD
)
made("ops.ApplyAdamWithAmsgradV2")(
    param(VAR), param(STATE), param(MORE), param(TOP), B1, B2, LR, B1, B2, EPS, GRAD
)
for name in "AddSign PowerSign".split():
    made(f"ops.Apply{name}")(param(VAR), param(STATE), LR, of(1.5), B1, of(0.8), GRAD)
    made(f"ops.Apply{name}")(param(VAR), param(STATE), 0.1, 1.5, 0.9, 0.8, GRAD)
made("ops.ApplyProximalAdagrad")(param(VAR), param(STATE), LR, of(0.05), of(0.1), GRAD)
made("ops.ApplyProximalAdagrad")(param(VAR), param(STATE), 0.1, 0.05, 0.1, GRAD)
made("ops.ApplyProximalGradientDescent")(param(VAR), LR, of(0.05), of(0.1), GRAD)
made("ops.ApplyProximalGradientDescent")(param(VAR), 0.1, 0.05, 0.1, GRAD)
made("ops.AdamNoUpdateParam")(STATE, MORE, B1, B2, LR, B1, B2, EPS, GRAD)
made("ops.AdamNoUpdateParam", use_nesterov=True)(STATE, MORE, B1, B2, LR, B1, B2, EPS, GRAD)
made("ops.LARSUpdate")(
    VAR, GRAD, of(4.0), of(9.0), of(0.01), LR,
    ref=lambda w, g, ww, gg, d, lr: (g + d * w) * (0.001 * 2 / (3 + d * 2 + 1e-5)),
)  # fmt: skip
made("ops.LARSUpdate", use_clip=True, hyperpara=0.5)(
    VAR, GRAD, of(4.0), of(9.0), of(0.01), LR,
    ref=lambda w, g, ww, gg, d, lr: (g + d * w) * min(0.5 * 2 / (3 + d * 2 + 1e-5) / lr, 1),
)  # fmt: skip

# ---- rows that a gradient names
PLACES, ROWS = of([2, 0], "int32"), f32(2, 2, seed=4)
TWICE = of([1, 1], "int32")
made("ops.SparseApplyAdagrad", 0.1)(param(VAR), param(STATE), ROWS, PLACES)
made("ops.SparseApplyAdagrad", 0.1, False)(param(VAR), param(STATE), ROWS, PLACES)
made("ops.SparseApplyAdagradV2", 0.1, 1e-6)(param(VAR), param(STATE), ROWS, PLACES)
made("ops.SparseApplyFtrl", 0.1, 0.01, 0.02, -0.5)(
    param(VAR), param(STATE), param(MORE), ROWS, PLACES
)
made("ops.SparseApplyFtrl", 0.1, 0.01, 0.02, -0.7)(
    param(VAR), param(STATE), param(MORE), ROWS, PLACES
)
made("ops.SparseApplyProximalAdagrad")(
    param(VAR), param(STATE), LR, of(0.05), of(0.1), ROWS, PLACES
)
ALL, FULL = of([0, 1, 2], "int32"), f32(3, 2, seed=4)
made("ops.SparseApplyAdadelta", 1e-6)(param(VAR), param(STATE), param(MORE), LR, B1, FULL, ALL)
made("ops.SparseApplyRMSProp", 0.9, 0.1, 1e-6)(param(VAR), param(STATE), param(MORE), LR, FULL, ALL)
made("ops.SparseApplyAdagrad", 0.1)(param(VAR), param(STATE), FULL, PLACES)
