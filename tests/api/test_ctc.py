"""CTC against PyTorch, at sizes where lengths differ, and transducers against sums over all their paths."""

import itertools

import numpy as np
import pytest
from peers import torch

import mindspore as ms
from mindspore import Tensor, ops


def problem(seed, steps, batch, classes, labels, dtype=np.float32):
    random = np.random.default_rng(seed)
    logits = random.normal(size=(steps, batch, classes)).astype(dtype)
    targets = random.integers(1, classes, (batch, labels)).astype(np.int32)
    targets[:, 1::3] = targets[:, : targets[:, 1::3].shape[1] * 3 : 3]  # some repeat
    return (
        logits,
        targets,
        random.integers(steps // 2, steps + 1, batch).astype(np.int32),
        random.integers(0, labels + 1, batch).astype(np.int32),
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_against_torch(dtype, reduction, zero_infinity):
    logits, targets, steps, lengths = problem(0, 20, 7, 6, 9, dtype)
    feasible = lengths + (targets[:, 1:] == targets[:, :-1]).sum(1) <= steps
    assert feasible.any() and (zero_infinity or feasible.all() or reduction == "none")
    x = torch.tensor(logits, requires_grad=True)
    wanted = torch.nn.functional.ctc_loss(
        x.log_softmax(-1),
        *map(torch.tensor, (targets, steps, lengths)),
        reduction=reduction,
        zero_infinity=zero_infinity,
    )
    wanted[torch.isfinite(wanted)].sum().backward() if wanted.ndim else wanted.backward()

    def loss(x):
        made = ops.ctc_loss(
            ops.log_softmax(x, -1),
            *map(Tensor, (targets, steps, lengths)),
            0,
            reduction,
            zero_infinity,
        )[0]
        return ops.where(ops.isfinite(made), made, 0.0).sum(), made

    for function in (loss, ms.jit(loss)):
        (_, got), gradient = ms.value_and_grad(function, has_aux=True)(Tensor(logits))
        tolerance = 1e-5 if dtype == np.float32 else 1e-11
        np.testing.assert_allclose(got.asnumpy(), wanted.detach().numpy(), rtol=tolerance)
        np.testing.assert_allclose(gradient.asnumpy(), x.grad.numpy(), atol=tolerance)


def test_long_sequences_stay_in_range():
    logits, targets, steps, lengths = problem(1, 400, 3, 30, 120)
    logits *= 20
    log_probs = torch.tensor(logits).log_softmax(-1)
    wanted = torch.nn.functional.ctc_loss(
        log_probs, *map(torch.tensor, (targets, steps, lengths)), reduction="none"
    )
    got = ops.ctc_loss(
        *map(Tensor, (log_probs.numpy(), targets, steps, lengths)), reduction="none"
    )[0]
    np.testing.assert_allclose(got.asnumpy(), wanted.numpy(), rtol=2e-5)


def test_no_steps_and_no_labels():
    x = ops.log_softmax(Tensor(np.zeros((3, 2, 4), np.float32)), -1)
    loss = ops.ctc_loss(x, Tensor([[1], [1]]), (0, 3), (0, 0), reduction="none")[0].asnumpy()
    np.testing.assert_allclose(loss, [0, 3 * np.log(4)], rtol=1e-6)


def test_transducer_is_the_sum_over_paths():
    random = np.random.default_rng(2)
    acts = random.normal(size=(2, 4, 3, 5)).astype(np.float32)
    labels = np.array([[1, 2], [3, 4]], np.int32)
    steps, lengths = np.array([4, 3], np.int32), np.array([2, 1], np.int32)
    logs = acts - np.log(np.exp(acts).sum(-1, keepdims=True))
    wanted = []
    for b in range(2):
        total = -np.inf
        # When each label comes, before which of the blanks.
        for places in itertools.combinations_with_replacement(range(steps[b]), lengths[b]):
            t = u = 0
            log = 0.0
            for t in range(steps[b]):
                for _ in range(places.count(t)):
                    log += logs[b, t, u, labels[b, u]]
                    u += 1
                log += logs[b, t, u, 0]
            total = np.logaddexp(total, log)
        wanted.append(-total)
    inputs = (Tensor(labels), Tensor(steps), Tensor(lengths))
    op = ops.operations.RNNTLoss(0)
    for run in (op, ms.jit(lambda *a: op(*a))):
        costs, gradient = run(Tensor(acts), *inputs)
        np.testing.assert_allclose(costs.asnumpy(), wanted, rtol=1e-5)
        assert gradient.shape == acts.shape
        moved = acts.copy()
        moved[0, 1, 1, 2] += 1e-2
        change = run(Tensor(moved), *inputs)[0].asnumpy()[0] - costs.asnumpy()[0]
        np.testing.assert_allclose(gradient.asnumpy()[0, 1, 1, 2], change / 1e-2, atol=3e-3)
    with pytest.raises(ValueError, match="For 'RNNTLoss', 'acts' must have shape"):
        op(Tensor(acts[0]), *inputs)
