"""Rows of optimiser updates: what Python returns of them."""

import numpy as np
from rowlib import args, f32, i32, row

SHAPES = [(3,), (2, 5), (40, 33)]


def k(value):
    return np.float32([value])[0:1]


def wide(*arrays):
    return [a.astype(np.float64) for a in arrays]


MISMATCH = "must have the same shape"
for name, f in (("Assign", lambda x, v: v), ("AssignAdd", np.add), ("AssignSub", np.subtract)):
    row(
        name,
        ref=lambda x, v, f=f: f(x, v).astype(x.dtype),
        good=[
            args(f32(2, 3), f32(2, 3)),
            args(f32(2, 3), i32(2, 3).astype(np.int8)),
            args(i32(4), i32(4)),
            args(f32(), f32()),
        ],
        bad=[
            args(i32(2), f32(2), says="one that promotes to it, Int32, but got Float32"),
            args(f32(2), f32(3), says="must have the shape of 'variable', [2], but got [3]"),
        ],
        grad=False,
    )


def momentum(var, accum, lr, g, m, use_nesterov=False, use_locking=False, gradient_scale=1.0):
    v, a, g = wide(var, accum, g)
    g = g * gradient_scale
    a = a * m + g
    return (v - lr * (g + a * m if use_nesterov else a)).astype(var.dtype)


row(
    "ApplyMomentum",
    ref=momentum,
    good=[args(f32(*s), f32(*s), k(0.1), f32(*s), k(0.9)) for s in SHAPES]
    + [args(f32(5), f32(5), k(0.1), f32(5), k(0.9), use_nesterov=True, gradient_scale=0.5)],
    bad=[
        args(f32(2), f32(3), k(0.1), f32(2), k(0.9), says=MISMATCH),
        args(f32(2), f32(2), f32(2), f32(2), k(0.9), says="'learning_rate' must be a scalar"),
        args(
            f32(2),
            f32(2).astype(np.float64),
            k(0.1),
            f32(2),
            k(0.9),
            says="must have the same dtype",
        ),
    ],
    grad=False,
)


def sgd(var, g, lr, accum, m, stat, dampening=0.0, weight_decay=0.0, nesterov=False):
    v, a, g, s = wide(var, accum, g, stat)
    g = g + weight_decay * v
    if m[0] != 0:
        a = np.where(s > 0, g, a * m + (1 - dampening) * g)
        g = g + a * m if nesterov else a
    return (v - lr * g).astype(var.dtype)


row(
    "SGD",
    ref=sgd,
    good=[
        args(f32(4), f32(4), k(0.1), f32(4), k(0.9), f32([1, 0, 1, 0])),
        args(
            f32(4),
            f32(4),
            k(0.1),
            f32(4),
            k(0.9),
            f32([0, 0, 0, 0]),
            dampening=0.1,
            weight_decay=0.01,
        ),
        args(f32(4), f32(4), k(0.1), f32(4), k(0.9), f32([0, 0, 0, 0]), nesterov=True),
        args(f32(4), f32(4), k(0.1), f32(4), k(0), f32([0, 0, 0, 0])),
    ],
    bad=[args(f32(2), f32(3), k(0.1), f32(2), k(0.9), f32(2), says=MISMATCH)],
    grad=False,
)


def sgd_rows(var, g, lr, accum, m, stat, at, dampening=0.0, weight_decay=0.0, nesterov=False):
    dense = np.zeros(var.shape, np.float64)
    np.add.at(dense, at.ravel(), g.reshape(at.size, *var.shape[1:]))
    return sgd(var, dense.astype(var.dtype), lr, accum, m, stat, dampening, weight_decay, nesterov)


row(
    "SGDRows",
    ref=sgd_rows,
    good=[
        args(f32(4, 3), f32(3, 3), k(0.1), f32(4, 3), k(0), f32(4, 3), i32([1, -1, 1])),
        args(f32(4), f32(2, 2), k(0.1), f32(4), k(0.9), f32(4), i32([[0, 0], [2, 1]])),
        args(f32(4), f32(1), k(0.1), f32(4), k(0), f32(4), i32([2]), weight_decay=0.1),
    ],
    bad=[
        args(
            f32(4),
            f32(2),
            k(0.1),
            f32(4),
            k(0),
            f32(4),
            i32([2]),
            says="a row for each index, shape",
        ),
        args(f32(4), f32(1), k(0.1), f32(3), k(0), f32(4), i32([2]), says=MISMATCH),
        args(f32(4), f32(1), f32(2), f32(4), k(0), f32(4), i32([2]), says="must be a scalar"),
        args(
            f32(), f32(1), k(0.1), f32(), k(0), f32(), i32([2]), says="'parameters' must have rows"
        ),
        args(f32(4), f32(1), k(0.1), f32(4), k(0), f32(4), i32([4]), says="indices must be in"),
    ],
    grad=False,
)


def adam(var, m, v, b1p, b2p, lr, b1, b2, eps, g, use_locking=False, use_nesterov=False):
    x, mm, vv, gg = wide(var, m, v, g)
    mm = mm + (gg - mm) * (1 - b1)
    vv = vv + (gg * gg - vv) * (1 - b2)
    step = mm * b1 + (1 - b1) * gg if use_nesterov else mm
    x = x - lr * np.sqrt(1 - b2p) / (1 - b1p) * step / (np.sqrt(vv) + eps)
    return tuple(t.astype(var.dtype) for t in (x, mm, vv))


ADAM = (k(0.81), k(0.98), k(0.01), k(0.9), k(0.99), k(1e-3))
row(
    "Adam",
    ref=adam,
    good=[args(f32(*s), f32(*s), f32(*s, low=0.1), *ADAM, f32(*s)) for s in SHAPES]
    + [args(f32(5), f32(5), f32(5, low=0.1), *ADAM, f32(5), use_nesterov=True)],
    bad=[args(f32(2), f32(2), f32(3), *ADAM, f32(2), says=MISMATCH)],
    grad=False,
)


def adam_weight_decay(var, m, v, lr, b1, b2, eps, decay, g, use_locking=False):
    x, mm, vv, gg = wide(var, m, v, g)
    mm = b1 * mm + (1 - b1) * gg
    vv = b2 * vv + (1 - b2) * gg * gg
    x = x - lr * (mm / (np.sqrt(vv) + eps) + decay * x)
    return tuple(t.astype(var.dtype) for t in (x, mm, vv))


row(
    "AdamWeightDecay",
    ref=adam_weight_decay,
    good=[
        args(f32(*s), f32(*s), f32(*s, low=0.1), k(0.01), k(0.9), k(0.99), k(1e-3), k(0.1), f32(*s))
        for s in SHAPES
    ],
    bad=[args(f32(2), f32(2), f32(2), k(0), k(0), k(0), k(0), k(0), f32(3), says=MISMATCH)],
    grad=False,
)


def ada_max(var, m, v, b1p, lr, b1, b2, eps, g):
    x, mm, vv, gg = wide(var, m, v, g)
    mm = b1 * mm + (1 - b1) * gg
    vv = np.maximum(b2 * vv, np.abs(gg))
    return tuple(t.astype(var.dtype) for t in (x - lr / (1 - b1p) * mm / (vv + eps), mm, vv))


row(
    "ApplyAdaMax",
    ref=ada_max,
    good=[
        args(f32(5), f32(5), f32(5, low=0.1), k(0.81), k(0.01), k(0.9), k(0.99), k(1e-3), f32(5))
    ],
    bad=[args(f32(2), f32(2), f32(2), k(0), k(0), k(0), k(0), k(0), f32(3), says=MISMATCH)],
    grad=False,
)


def rms_prop(var, ms, mom, lr, g, decay, momentum, eps, use_locking=False):
    x, s, m, gg = wide(var, ms, mom, g)
    s = decay * s + (1 - decay) * gg * gg
    return (x - (momentum * m + lr * gg / np.sqrt(s + eps))).astype(var.dtype)


row(
    "ApplyRMSProp",
    ref=rms_prop,
    good=[args(f32(5), f32(5, low=0.1), f32(5), k(0.01), f32(5), k(0.9), k(0.5), k(1e-3))],
    bad=[args(f32(2), f32(3), f32(2), k(0), f32(2), k(0), k(0), k(0), says=MISMATCH)],
    grad=False,
)


def centered(var, mg, ms, mom, g, lr, decay, momentum, eps, use_locking=False):
    x, a, s, m, gg = wide(var, mg, ms, mom, g)
    a = decay * a + (1 - decay) * gg
    s = decay * s + (1 - decay) * gg * gg
    return (x - (momentum * m + lr * gg / np.sqrt(s - a * a + eps))).astype(var.dtype)


row(
    "ApplyCenteredRMSProp",
    ref=centered,
    good=[
        args(
            f32(5),
            f32(5, low=0, high=0.5),
            f32(5, low=1),
            f32(5),
            f32(5),
            k(0.01),
            k(0.9),
            k(0.5),
            k(1e-1),
        )
    ],
    bad=[args(f32(2), f32(3), f32(2), f32(2), f32(2), k(0), k(0), k(0), k(0), says=MISMATCH)],
    grad=False,
)


def adagrad(epsilon_of):
    def ref(var, accum, lr, g, update_slots=True, epsilon=0.0):
        x, a, gg = wide(var, accum, g)
        a = a + gg * gg * update_slots
        return (x - lr * gg / (np.sqrt(a) + epsilon)).astype(var.dtype), a.astype(var.dtype)

    return ref


row(
    "ApplyAdagrad",
    ref=adagrad(0),
    good=[
        args(f32(5), f32(5, low=0.1), k(0.1), f32(5)),
        args(f32(5), f32(5, low=0.1), k(0.1), f32(5), update_slots=False),
    ],
    bad=[args(f32(2), f32(3), k(0), f32(2), says=MISMATCH)],
    grad=False,
)
row(
    "ApplyAdagradV2",
    ref=adagrad(1),
    good=[args(f32(5), f32(5, low=0.1), k(0.1), f32(5), epsilon=1e-2)],
    bad=[args(f32(2), f32(3), k(0), f32(2), epsilon=1e-2, says=MISMATCH)],
    grad=False,
)


def adadelta(var, accum, update, lr, rho, eps, g):
    x, a, u, gg = wide(var, accum, update, g)
    a = rho * a + (1 - rho) * gg * gg
    step = np.sqrt(u + eps) / np.sqrt(a + eps) * gg
    u = rho * u + (1 - rho) * step * step
    return tuple(t.astype(var.dtype) for t in (x - lr * step, a, u))


row(
    "ApplyAdadelta",
    ref=adadelta,
    good=[args(f32(5), f32(5, low=0.1), f32(5, low=0.1), k(0.1), k(0.9), k(1e-3), f32(5))],
    bad=[args(f32(2), f32(3), f32(2), k(0), k(0), k(0), f32(2), says=MISMATCH)],
    grad=False,
)


def ftrl(var, accum, linear, g, lr, l1, l2, power, use_locking=False):
    x, a, z, gg = wide(var, accum, linear, g)
    now = a + gg * gg
    z = z + gg - (now**-power - a**-power) / lr * x
    x = np.where(np.abs(z) > l1, (np.sign(z) * l1 - z) / (now**-power / lr + 2 * l2), 0)
    return x.astype(var.dtype)


row(
    "ApplyFtrl",
    ref=ftrl,
    good=[args(f32(9), f32(9, low=0.1), f32(9), f32(9), k(0.1), k(0.5), k(0.1), k(-0.5))],
    bad=[args(f32(2), f32(3), f32(2), f32(2), k(0.1), k(0), k(0), k(0), says=MISMATCH)],
    grad=False,
)
row(
    "ApplyGradientDescent",
    ref=lambda x, alpha, d: (x.astype(np.float64) - alpha * d).astype(x.dtype),
    good=[args(f32(5), k(0.1), f32(5))],
    bad=[args(f32(2), k(0), f32(3), says=MISMATCH)],
    grad=False,
)
