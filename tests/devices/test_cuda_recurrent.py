"""Recurrent layers on the device GPU: each step is a product by cuBLASLt and one kernel, and the numbers are those of the host."""

from __future__ import annotations

import re

import pytest
from test_cuda import on_the_stub, pytestmark, run

__all__ = ["pytestmark"]

BEGIN = """
recurrence, gradient = _core.op("Recurrence"), _core.op("RecurrenceGrad")
GATES, SAVED = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}, {"lstm": 5, "gru": 4, "tanh": 1, "relu": 1}
def given(mode, dtype, steps, batch, hidden, lengths, batch_first):
    shape = (batch, steps) if batch_first else (steps, batch)
    biases = 4 if mode == "gru" else GATES[mode]
    cells = f32(batch, hidden, seed=2) if mode == "lstm" else np.zeros(0, np.float32)
    floats = (f32(*shape, GATES[mode] * hidden), f32(batch, hidden, seed=1) / 2, cells, f32(GATES[mode] * hidden, hidden, seed=3) / 2 / hidden ** 0.5,
              f32(biases * hidden, seed=4))
    return *(Tensor(v).astype(dtype) for v in floats), Tensor(lengths)
def layer(mode, dtype, steps, batch, hidden, lengths, batch_first=False, reverse=False, keep=True):
    x = given(mode, dtype, steps, batch, hidden, lengths, batch_first)
    how = dict(mode=mode, reverse=reverse, batch_first=batch_first)
    out = recurrence(*x, **how, keep=keep)
    found = out[:5] if keep else out[:3]
    if keep:
        dout = Tensor(f32(*out[0].shape, seed=5)).astype(dtype)
        found += gradient(dout, x[1], x[2], x[3], x[5], out[3], out[4], **how)
    return [v.astype(ms.float64).asnumpy() for v in found]
"""
TRAINING = """
def train(make, x, lengths=None):
    ms.set_seed(5)
    net = make()
    net.set_train()
    update = nn.SGD(net.trainable_params(), 0.1)
    def loss(x, lengths):
        outputs, last = net(x, None, lengths)
        states = last if isinstance(last, tuple) else (last,)
        return (outputs * outputs).sum() / 7 + sum(s.sum() for s in states) / 5
    gradient = ms.value_and_grad(loss, None, update.parameters)
    def step(x, lengths):
        value, grads = gradient(x, lengths)
        update(grads)
        return value
    step = ms.jit(step) if ms.get_context("mode") == 0 else step
    losses = [step(Tensor(x), None if lengths is None else Tensor(lengths)).asnumpy() for _ in range(3)]
    return losses + [p.asnumpy() for p in net.get_parameters()]
"""


@pytest.mark.slow
def test_layers_train_whole_as_on_the_host():
    """Of all kinds, in both modes, in layers and directions, with lengths and without."""
    program = """
KINDS = (nn.LSTM, nn.GRU, nn.RNN, lambda *a, **k: nn.RNN(*a, nonlinearity="relu", **k))
for mode in (1, 0):
    ms.set_context(mode=mode)
    for Kind in KINDS:
        for lengths in (None, np.array([2, 5, 0], np.int32)):
            for more in ({"bidirectional": True, "num_layers": 2}, {"batch_first": True}):
                x = f32(*((3, 5) if "batch_first" in more else (5, 3)), 4)
                right, found = both(train, lambda: Kind(4, 6, **more), x, lengths)
                for a, b in zip(found, right):
                    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
"""
    said = run(TRAINING + program, says=True, MS_LOG="dispatch")
    assert "between copies" not in said
    chosen = re.findall(r"^(Recurrence\w*)\(.* -> ([a-z ]+)", said, re.M)
    assert {*chosen} == {
        (op, how)
        for op in ("Recurrence", "RecurrenceGrad")
        for how in ("vectors", "cublaslt and text")
    }


@pytest.mark.slow
def test_all_dtypes_sizes_and_orders():
    """Halves hand Float32 from step to step, so that they stay as near as one rounding; sequences end where they like; nothing and no step."""
    run(
        BEGIN
        + """
def check(tolerance, *args, **kwargs):
    right, found = both(layer, *args, **kwargs)
    assert [a.shape for a in found] == [a.shape for a in right]
    for i, (a, b) in enumerate(zip(found, right)):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=f"{i} {args} {kwargs}")
for mode in GATES:
    for dtype, tolerance in ((ms.float32, 2e-5), (ms.float64, 1e-12), (ms.float16, 4e-3), (ms.bfloat16, 4e-2)):
        for lengths in ([4, 0, 2, 9, -1], np.array([3, 4, 1, 2, 4])):
            for batch_first, reverse in ((False, False), (True, True), (True, False)):
                check(tolerance, mode, dtype, 4, 5, 7, lengths, batch_first, reverse)
    check(2e-5, mode, ms.float32, 3, 2, 5, [3, 1], reverse=True, keep=False)
    check(1e-2, mode, ms.float16, 60, 2, 16, [60, 50])
    for steps, batch, hidden in ((0, 2, 3), (2, 0, 3), (2, 3, 0)):
        for dtype in (ms.float32, ms.bfloat16):
            check(0, mode, dtype, steps, batch, hidden, np.full(batch, steps), batch_first=True)
"""
    )


@on_the_stub
def test_a_step_of_a_sequence_is_a_product_and_a_kernel():
    run(
        BEGIN
        + """
ms.set_context(device_target="GPU")
for mode in ("lstm", "relu"):
    for steps in (3, 11):
        x = given(mode, ms.float16, steps, 2, 4, [steps, 2], False)
        with Counted() as found:
            out = recurrence(*x, mode=mode, keep=True)
        assert (found["launches"], found["products"]) == (1 + 2 * steps, steps), found.found
        with Counted() as found:
            gradient(out[0], x[1], x[2], x[3], x[5], out[3], out[4], mode=mode)
        assert (found["launches"], found["products"]) == (2 + 2 * steps, steps), found.found
"""
    )


@pytest.mark.slow
@on_the_stub
def test_a_recorded_step_gives_the_same_bits():
    program = (
        TRAINING
        + """
ms.set_context(mode=0, device_target="GPU")
found = train(lambda: nn.LSTM(4, 6, bidirectional=True), f32(9, 3, 4), np.array([9, 4, 0]))
print(b"".join(v.tobytes() for v in found).hex())
"""
    )
    recorded = run(program + "assert counts()['replays'] >= 1")
    assert recorded == run(program, MS_CUDA_GRAPHS="0")
