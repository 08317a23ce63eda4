"""Calls that the reference has no kernel for on a CPU, or refuses: against their formulas in NumPy, or PyTorch where that has them."""

import numpy as np
from differential.calllib import call, case, f32, f64, made, of, param
from scipy import special


def by_torch(name, **kwargs):
    """What a function of PyTorch gives."""

    def run(*args):
        import torch

        given = [torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in args]
        function = torch
        for part in name.split("."):
            function = getattr(function, part)
        return function(*given, **kwargs)

    return run


def in_place(function):
    """The result twice: of the call, and of what it was written into."""

    def run(*args):
        return [function(*args)] * 2

    return run


NAN = float("nan")
X, Y, SHARE = f32(3, 4), f32(3, 4, seed=1), f32(3, low=-0.9, high=0.9)
HOLES = of([1.0, NAN, NAN]), of([2.0, 1.0, NAN])
for name in "ops", "Tensor":
    call(f"{name}.angle", X, ref=np.angle)
    call(f"{name}.fmin", X, Y, ref=np.fmin)
    call(f"{name}.fmin", *HOLES, ref=np.fmin)
    call(f"{name}.erfinv_", param(SHARE), ref=in_place(special.erfinv))
call("ops.fmin", f64(3, 4), f64(4), ref=np.fmin)
made("ops.Fmin")(*HOLES, ref=np.fmin)
made("ops.LerpScalar")(f32(3), f32(3, seed=1), 0.3, ref=lambda x, y, w: x + w * (y - x))
call("ops.tanh_", param(X), ref=in_place(np.tanh))
call("ops.inplace_sigmoid", param(X), ref=in_place(special.expit))
call("ops.zero_", param(X), ref=in_place(np.zeros_like))
call("ops.clamp_", param(X), -0.5, 0.5, ref=in_place(np.clip))
call("ops.baddbmm_ext", f32(2, 2, 4), f32(2, 2, 3), f32(2, 3, 4), ref=by_torch("baddbmm"))
call("mint.kthvalue", X, 2, ref=by_torch("kthvalue"))
call("mint.kthvalue", X, 2, 0, True, ref=by_torch("kthvalue"))
call("mint.index_add", X, 1, of([0, 3], "int64"), f32(3, 2), ref=by_torch("index_add"))
call("mint.npu_gelu", X, ref=by_torch("nn.functional.gelu"))
call(
    "mint.npu_gelu",
    X,
    "tanh",
    ref=lambda x, how: by_torch("nn.functional.gelu", approximate=how)(x),
)
call("ops.array_to_scalar", of(2.5), ref=float)
call("ops.array_to_scalar", of(3, "int32"), ref=int)
call("Tensor.repeat", X, 2, ref=lambda x, n: np.repeat(x, n))
call("Tensor.repeat", X, 2, 1, ref=np.repeat)
call("Tensor.repeat", X, [1, 0, 2], 0, ref=np.repeat)
call("Tensor.fills", X, 2.5, ref=np.full_like)
call("Tensor.fill_diagonal_", param(X), 7.0, ref=in_place(by_torch("Tensor.fill_diagonal_")))
call("Tensor.flush_from_cache", X, ref=lambda x: None)
made("mint.nn.UpsamplingBilinear2d", scale_factor=2.0)(
    f32(2, 4, 6, 6),
    ref=by_torch(
        "nn.functional.interpolate", scale_factor=2.0, mode="bilinear", align_corners=True
    ),
)
made("ops.SquareSumAll")(
    f32(3, 5), f32(3, 5, seed=1), ref=lambda x, y: [(x * x).sum(), (y * y).sum()]
)
made("ops.ComputeAccidentalHits", 2)(
    of([[1, 2], [0, 4], [3, 3]], "int64"),
    of([2, 0, 1, 4], "int64"),
    ref=lambda *_: [
        np.array([0, 0, 1, 1], np.int32),
        np.array([2, 0, 1, 3]),
        np.full(4, np.finfo(np.float32).min),
    ],
)

# ---- norms and losses


def normed(x, shape, weight=1, bias=0, epsilon=1e-5):
    """A layer norm, with the mean and the inverse of the deviation."""
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    mean = x.mean(axes, keepdims=True)
    inverse = 1 / np.sqrt(x.var(axes, keepdims=True) + epsilon)
    return (x - mean) * inverse * weight + bias, mean, inverse


call("ops.layer_norm", X, (4,), ref=lambda x, s: normed(x, s)[0])
call(
    "ops.layer_norm", f32(2, 4, 6), (4, 6), f32(4, 6), f32(4, 6, seed=1), 0.1,
    ref=lambda *a: normed(*a)[0],
)  # fmt: skip
call(
    "ops.add_layer_norm", X, Y, f32(4), f32(4, seed=1), additional_output=True,
    ref=lambda x, y, w, b: [*normed(x + y, (4,), w, b), x + y],
)  # fmt: skip
call("ops.mse_loss_ext", X, Y, ref=lambda x, y: np.mean((x - y) ** 2))
call("ops.mse_loss_ext", X, Y, "sum", ref=lambda x, y, _: np.sum((x - y) ** 2))
call("ops.mse_loss_ext", X, Y, "none", ref=lambda x, y, _: (x - y) ** 2)
made("ops.LogSoftmaxExt")(X, -1, None, ref=lambda x, *_: special.log_softmax(x, -1))
made("ops.LogSoftmaxExt")(X, 0, None, ref=lambda x, *_: special.log_softmax(x, 0))


def transduced(acts, labels, steps, lengths):
    """The costs of all paths through a lattice, whose blank is 0, and their gradients by differences."""
    return [_costs(acts, labels, steps, lengths).astype(np.float32)]


def _costs(acts, labels, steps, lengths):
    logs, costs = special.log_softmax(acts.astype(np.float64), -1), []
    for log, label, t, u in zip(logs, labels, steps, lengths):
        reached = np.full((t, u + 1), -np.inf)
        for i in range(t):
            for j in range(u + 1):
                ways = [0.0] if i == j == 0 else []
                ways += [reached[i - 1, j] + log[i - 1, j, 0]] if i else []
                ways += [reached[i, j - 1] + log[i, j - 1, label[j - 1]]] if j else []
                reached[i, j] = special.logsumexp(ways)
        costs.append(-(reached[-1, -1] + log[t - 1, u, 0]))
    return np.array(costs)


@case(
    "ops.RNNTLoss",
    ref=lambda: transduced(f32(2, 4, 3, 5).value, [[1, 2], [3, 0]], [4, 3], [2, 1]),
)
def _(ms):
    """costs of two sequences"""
    labels, steps, lengths = (ms.Tensor(v, ms.int32) for v in ([[1, 2], [3, 0]], [4, 3], [2, 1]))
    return [ms.ops.RNNTLoss()(ms.Tensor(f32(2, 4, 3, 5).value), labels, steps, lengths)[0]]


def steps_of_lstm(x, w, b):
    """The outputs and states of an LSTM of which one product makes input, candidate, forget and output gate."""
    size = w.shape[1] // 4
    h = c = np.zeros((x.shape[1], size), np.float32)
    kept = []
    for step in x:
        i, j, f, o = np.split(np.concatenate([step, h], 1) @ w + b, 4, 1)
        c = c * special.expit(f) + special.expit(i) * np.tanh(j)
        h = np.tanh(c) * special.expit(o)
        kept.append((h, c))
    return [np.stack(v) for v in zip(*kept)]


@case("ops.DynamicRNN", ref=lambda: steps_of_lstm(*(a.value for a in LSTM)))
def _(ms):
    """outputs and states"""
    outputs = ms.ops.DynamicRNN()(*(ms.Tensor(a.value) for a in LSTM))
    return [outputs[0], outputs[2]]


LSTM = f32(3, 2, 4), f32(9, 20), f32(20)


def steps_of_gru(x, w, v, b, c, h):
    """The outputs of a GRU whose gates are reset, update and new."""
    kept = []
    for step in x:
        (r, z, n), (s, y, m) = np.split(step @ w + b, 3, 1), np.split(h @ v + c, 3, 1)
        update = special.expit(z + y)
        h = (1 - update) * np.tanh(n + special.expit(r + s) * m) + update * h
        kept.append(h)
    return np.stack(kept)


@case("ops.DynamicGRUV2", ref=lambda: steps_of_gru(*(a.value for a in GRU)))
def _(ms):
    """outputs"""
    *weights, start = (ms.Tensor(a.value) for a in GRU)
    return ms.ops.DynamicGRUV2(gate_order="rzh")(*weights, None, start)[0]


GRU = f32(3, 2, 4), f32(4, 15), f32(5, 15), f32(15), f32(15, seed=1), f32(2, 5)

# ---- updates of parameters
VAR, STATE, MORE = f32(3, 2), f32(3, 2, low=0.1, high=1.0), f32(3, 2, low=0.1, high=1.0, seed=1)
ROWS, PLACES = f32(2, 2, seed=4), of([2, 0], "int32")
ALL, FULL = of([0, 1, 2], "int32"), f32(3, 2, seed=4)


def written(*values):
    """What an update gives and leaves."""
    return [list(values), *values] if len(values) > 1 else [values[0]] * 2


def _scattered(var, places, added):
    var = var.copy()
    np.add.at(var, tuple(places.T), added)
    return written(var)


def _proximal(var, state, rate, l1, l2, rows, places):
    state, var = state.copy(), var.copy()
    state[places] += rows**2
    rates = rate / np.sqrt(state[places])
    moved = var[places] - rates * rows
    var[places] = np.sign(moved) * np.maximum(np.abs(moved) - rates * l1, 0) / (1 + rates * l2)
    return written(var, state)


def _adadelta(var, squares, deltas, rate, rho, rows, places, epsilon=1e-6):
    var, squares, deltas = var.copy(), squares.copy(), deltas.copy()
    squares[places] = rho * squares[places] + (1 - rho) * rows**2
    step = np.sqrt((deltas[places] + epsilon) / (squares[places] + epsilon)) * rows
    deltas[places] = rho * deltas[places] + (1 - rho) * step**2
    var[places] -= rate * step
    return written(var, squares, deltas)


def _ftrl(var, squares, linear, rows, places, rate=0.1, l1=0.01, l2=0.02, shrinkage=0.1):
    var, squares, linear = var.copy(), squares.copy(), linear.copy()
    old, w = squares[places], var[places]
    squares[places] += rows**2
    new = squares[places]
    linear[places] += rows + 2 * shrinkage * w - (np.sqrt(new) - np.sqrt(old)) / rate * w
    moved = np.sign(linear) * l1 - linear
    scaled = np.where(np.abs(linear) > l1, moved / (np.sqrt(squares) / rate + 2 * l2), 0)
    var[places] = scaled[places]
    return written(var, squares, linear)


def _dual(var, sums, squares, gradient, rate, l1, l2, step):
    sums, squares, step = sums + gradient, squares + gradient**2, np.float32(step)
    moved = np.sign(sums) * np.maximum(np.abs(sums) - l1 * step, 0)
    var = -rate * moved / (l2 * step * rate + np.sqrt(squares))
    return [var, var, sums, squares]


def _weighed(decay, scale, var, state, rate, gradient, momentum):
    state = state * momentum + gradient * scale + var * decay
    return written(var - rate * state, state)


made("ops.ScatterNonAliasingAdd")(param(VAR), of([[0], [2]], "int32"), ROWS, ref=_scattered)
made("ops.ScatterNonAliasingAdd")(
    param(f32(4)), of([[1], [3]], "int32"), f32(2, seed=1), ref=_scattered
)
RATE = of(0.1)
made("ops.SparseApplyProximalAdagrad")(
    param(VAR), param(STATE), RATE, of(0.05), of(0.1), ROWS, PLACES, ref=_proximal
)
made("ops.SparseApplyAdadelta", 1e-6)(
    param(VAR), param(STATE), param(MORE), RATE, of(0.9), FULL, ALL, ref=_adadelta
)
made("ops.SparseApplyFtrlV2", 0.1, 0.01, 0.02, 0.1, -0.5)(
    param(VAR), param(STATE), param(MORE), ROWS, PLACES, ref=_ftrl
)
made("ops.ApplyAdagradDA")(
    param(VAR), param(MORE), param(STATE), FULL, RATE, of(0.01), of(0.02), of(2, "int32"), ref=_dual
)
made("ops.FusedWeightScaleApplyMomentum")(
    of(0.01), of(2.0), param(VAR), param(STATE), RATE, FULL, of(0.9), ref=_weighed
)

# ---- functions of functions


@case("ops.Map", ref=lambda: [np.float32([1, 4]), np.float32([9])])
def _(ms):
    """a function over a sequence"""
    return ms.ops.Map()(lambda x: x * x, [ms.Tensor([1.0, 2.0]), ms.Tensor([3.0])])


@case("ops.vjp", ref=lambda: [np.float32([1, 8]), np.float32([3, 24])])
def _(ms):
    """a weight backwards"""
    value, pull = ms.ops.vjp(lambda x: x**3, ms.Tensor([1.0, 2.0]))
    found = pull(ms.Tensor([1.0, 2.0]))
    return value, found[0] if isinstance(found, tuple) else found


@case("ops.linearize", ref=lambda: [np.float32([1, 8]), np.float32([3, 24])])
def _(ms):
    """a direction forwards"""

    class Cube(ms.nn.Cell):
        def construct(self, x):
            return x**3

    value, push = ms.ops.linearize(Cube(), ms.Tensor([1.0, 2.0]))
    return value, push(ms.Tensor([1.0, 2.0]))


for kind in "Jvp", "Vjp":

    @case(f"nn.{kind}", ref=lambda: [np.float32([1, 8]), np.float32([3, 24])])
    def _(ms, kind=kind):
        """of a cube"""

        class Cube(ms.nn.Cell):
            def construct(self, x):
                return x**3

        x, v = ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 2.0])
        value, found = getattr(ms.nn, kind)(Cube())(x, v)
        return value, found[0] if isinstance(found, tuple) else found
