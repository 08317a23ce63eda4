"""Rows of recurrent layers. The references compute in float64, one step after the other."""

import numpy as np
from rowlib import args, bf16, f16, f32, i32, row

LOOSE = {f16: 3e-2, bf16: 2e-1, f32: 2e-4}
GATES = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}
BIASES = {"lstm": 4, "gru": 4, "tanh": 1, "relu": 1}
SAVED = {"lstm": 5, "gru": 4, "tanh": 1, "relu": 1}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(mode, x, h, c, weight, bias):
    """The new state and cells, and what is kept of the step."""
    product = np.split(h @ weight.T, GATES[mode], -1)
    x = np.split(x, GATES[mode], -1)
    b = np.split(bias, BIASES[mode])
    if mode == "lstm":
        i, f, g, o = (a + p + e for a, p, e in zip(x, product, b))
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        new = f * c + i * g
        return o * np.tanh(new), new, [i, f, g, o, c]
    if mode == "gru":
        r, z = (sigmoid(a + p + e) for a, p, e in zip(x[:2], product[:2], b[:2]))
        from_h = product[2] + b[3]
        n = np.tanh(x[2] + b[2] + r * from_h)
        return n + z * (h - n), c, [r, z, n, from_h]
    pre = x[0] + product[0] + b[0]
    h = np.tanh(pre) if mode == "tanh" else np.maximum(pre, 0)
    return h, c, [h]


def layer(from_x, h, c, weight, bias, lengths, mode, reverse, batch_first):
    """Outputs, last state, last cells, what is kept, states before each step."""
    from_x, h, c, weight, bias = (
        np.asarray(v).astype(np.float64) for v in (from_x, h, c, weight, bias)
    )
    if batch_first:
        from_x = from_x.swapaxes(0, 1)
    order = range(len(from_x))
    outputs, kept, before = ([None] * len(from_x) for _ in range(3))
    for t in reversed(order) if reverse else order:
        new, cells, saved = step(mode, from_x[t], h, c, weight, bias)
        on = (np.asarray(lengths) > t)[:, None]
        outputs[t], before[t], kept[t] = np.where(on, new, 0), h, np.concatenate(saved, -1)
        h, c = np.where(on, new, h), np.where(on, cells, c) if mode == "lstm" else c
    axis = 1 if batch_first else 0
    return *(np.stack(v, axis) for v in (outputs, kept, before)), h, c


def recurrence(
    from_x, h, c, weight, bias, lengths, mode="lstm", reverse=False, batch_first=False, keep=False
):
    output, kept, before, h, c = layer(
        from_x, h, c, weight, bias, lengths, mode, reverse, batch_first
    )
    if not keep:
        kept = before = np.zeros(0)
    return tuple(np.asarray(v).astype(from_x.dtype) for v in (output, h, c, kept, before))


def grad_step(mode, kept, before, dh, dc):
    """Gradients of the blocks of the input and of the product; what passes the product; dc."""
    if mode == "lstm":
        i, f, g, o, c = kept
        bent = np.tanh(f * c + i * g)
        dc = dc + dh * o * (1 - bent**2)
        d = [dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g**2)]
        d.append(dh * bent * o * (1 - o))
        return d, d, 0, dc * f
    if mode == "gru":
        r, z, n, from_h = kept
        dn = dh * (1 - z) * (1 - n**2)
        d = [dn * from_h * r * (1 - r), dh * (before - n) * z * (1 - z), dn]
        return d, [d[0], d[1], dn * r], dh * z, dc
    (h,) = kept
    d = [dh * (1 - h**2) if mode == "tanh" else np.where(h > 0, dh, 0)]
    return d, d, 0, dc


def recurrence_grad(
    dout, dh, dc, weight, lengths, saved, before, mode="lstm", reverse=False, batch_first=False
):
    given = dout.dtype
    dout, dh, dc, weight, saved, before = (
        np.asarray(v).astype(np.float64) for v in (dout, dh, dc, weight, saved, before)
    )
    if batch_first:
        dout, saved, before = (v.swapaxes(0, 1) for v in (dout, saved, before))
    order = range(len(dout))
    dx, dproduct = [None] * len(dout), [None] * len(dout)
    for t in order if reverse else reversed(order):
        on = (np.asarray(lengths) > t)[:, None]
        kept = np.split(saved[t], SAVED[mode], -1)
        d, p, past, cells = grad_step(mode, kept, before[t], dout[t] + dh, dc)
        dx[t], dproduct[t] = (np.where(on, np.concatenate(v, -1), 0) for v in (d, p))
        dh = np.where(on, dproduct[t] @ weight + past, dh)
        dc = np.where(on, cells, dc) if mode == "lstm" else dc
    axis = 1 if batch_first else 0
    dproduct = np.stack(dproduct, axis) if mode == "gru" else np.zeros(0)
    return tuple(np.asarray(v).astype(given) for v in (np.stack(dx, axis), dproduct, dh, dc))


def inputs(mode, steps, batch, hidden, lengths, batch_first=False):
    """Inputs of a layer."""
    shape = (batch, steps) if batch_first else (steps, batch)
    gates = GATES[mode] * hidden
    return (
        f32(*shape, gates),
        f32(batch, hidden),
        f32(batch, hidden) if mode == "lstm" else np.zeros(0, np.float32),
        f32(gates, hidden, low=-0.5, high=0.5),
        f32(BIASES[mode] * hidden),
        i32(lengths),
    )


def grad_inputs(mode, steps, batch, hidden, lengths, reverse=False, batch_first=False):
    """Inputs of the gradient, with what the layer keeps."""
    given = inputs(mode, steps, batch, hidden, lengths, batch_first)
    out = recurrence(*given, mode, reverse, batch_first, True)
    return (
        f32(*out[0].shape),
        f32(batch, hidden),
        f32(batch, hidden) if mode == "lstm" else np.zeros(0, np.float32),
        given[3],
        given[5],
        out[3],
        out[4],
    )


row(
    "Recurrence",
    ref=recurrence,
    good=[
        args(*inputs("lstm", 3, 2, 4, [3, 3]), keep=True),
        args(*inputs("lstm", 3, 2, 3, [3, 1], True), reverse=True, batch_first=True),
        args(*inputs("gru", 3, 2, 3, [3, 3]), mode="gru", keep=True),
        args(*inputs("gru", 2, 9, 17, [2, 2, 2, 2, 1, 0, 2, 2, 2]), mode="gru", reverse=True),
        args(*inputs("tanh", 3, 2, 5, [3, 2]), mode="tanh"),
        args(*inputs("relu", 3, 2, 5, [3, 2], True), mode="relu", batch_first=True, kink=True),
        args(*inputs("lstm", 1, 15, 70, [1] * 15)),
    ],
    bad=[
        args(*inputs("lstm", 2, 2, 2, [2, 2]), mode="cnn", says="'mode' must be 'lstm', 'gru'"),
        args(*inputs("gru", 2, 2, 2, [2, 2]), says="'from_x' must have shape"),
        args(f32(4, 8), *inputs("lstm", 2, 2, 2, [2, 2])[1:], says="'from_x' must"),
        args(*inputs("lstm", 2, 2, 2, [2, 2])[:5], i32([2]), says="'lengths' must have shape"),
        args(
            *inputs("lstm", 2, 2, 2, [2, 2])[:4],
            f32(8).astype(np.float64),
            i32([2, 2]),
            says="same dtype",
        ),
    ],
    tol=LOOSE,
)
row(
    "RecurrenceGrad",
    ref=recurrence_grad,
    good=[
        args(*grad_inputs("lstm", 3, 2, 3, [3, 3])),
        args(*grad_inputs("lstm", 2, 2, 2, [2, 1], True, True), reverse=True, batch_first=True),
        args(*grad_inputs("gru", 3, 2, 2, [3, 2], True), mode="gru", reverse=True),
        args(*grad_inputs("gru", 2, 9, 17, [2] * 8 + [1]), mode="gru"),
        args(*grad_inputs("tanh", 3, 2, 3, [3, 2]), mode="tanh"),
        args(*grad_inputs("relu", 3, 2, 3, [3, 2]), mode="relu", kink=True),
    ],
    bad=[
        args(*grad_inputs("lstm", 2, 2, 2, [2, 2])[:5], f32(2), f32(2), says="'saved' must have"),
        args(f32(2), *grad_inputs("lstm", 2, 2, 2, [2, 2])[1:], says="'dout' must"),
        args(
            *grad_inputs("lstm", 2, 2, 2, [2, 2])[:6],
            np.zeros((2, 2, 2)),
            says="same dtype",
        ),
    ],
    tol=LOOSE,
)
