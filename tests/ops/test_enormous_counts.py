"""Counts that no memory holds are refused at once, before anything is made of them; neighbours of such calls that have an answer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, nn, ops

HUGE = 2**62
THREE = Tensor([1.0, 2.0, 3.0])
PLANE = Tensor(np.ones((2, 3), np.float32))
CLASSES = Tensor([[1], [2]], ms.int64)


def _padded(x: Tensor, last: tuple[int, int]) -> Tensor:
    return ops.MirrorPad("EDGE")(x, Tensor([(0, 0), last]))


TOO_MUCH: list[tuple[str, Callable]] = [
    ("combinations", lambda: ops.combinations(THREE, HUGE, with_replacement=True)),
    ("combinations", lambda: ops.combinations(ops.zeros(100_000), 50_000)),
    ("fftfreq", lambda: ops.fftfreq(HUGE)),
    ("rfftfreq", lambda: ops.rfftfreq(HUGE)),
    ("pad", lambda: mint.nn.ReplicationPad1d(2**40)(PLANE)),
    ("pad", lambda: ms.jit(lambda x: ops.pad(x, (2**40, 0), "replicate"))(PLANE)),
    ("MirrorPad", lambda: _padded(PLANE, (0, 2**40))),
    ("uniform_candidate_sampler", lambda: ops.uniform_candidate_sampler(CLASSES, 1, 2, True, HUGE)),
    (
        "log_uniform_candidate_sampler",
        lambda: ops.log_uniform_candidate_sampler(CLASSES, 1, 2, True, HUGE),
    ),
]


@pytest.mark.parametrize(("name", "call"), TOO_MUCH)
def test_too_much(name: str, call: Callable) -> None:
    with pytest.raises(MemoryError, match=f"^For '{name}', .* must fit into (memory|the device)"):
        call()


def test_more_than_there_are() -> None:
    assert ops.combinations(THREE, 2**40).shape == (0, 2**40)
    assert ops.combinations(THREE, 2).asnumpy().tolist() == [[1, 2], [1, 3], [2, 3]]
    assert ops.combinations(THREE[:1], 2, with_replacement=True).asnumpy().tolist() == [[1, 1]]
    with pytest.raises(ValueError, match="For 'combinations', 'r' must fit into 64 bits"):
        ops.combinations(THREE, 2**63)


def test_wide_borders_that_are_not_made() -> None:
    with pytest.raises(MemoryError, match=r"must fit into (memory|the device)"):
        ms.jit(lambda x: _padded(x, (2**40, 1)))(PLANE)
    nothing = Tensor(np.ones((0, 3), np.float32))
    assert _padded(nothing, (2**40, 0)).shape == (0, 2**40 + 3)


def test_a_wide_border() -> None:
    padded = ops.pad(PLANE, (2**21, 0), "replicate")
    assert padded.shape == (2, 2**21 + 3) and float(padded[1, 0]) == 1


def test_rates_beyond_numbers() -> None:
    for rate in (
        1e300,
        1e200,
    ):  # of which Python refuses one power, and another product is infinite
        with pytest.raises(
            ValueError, match="For 'exponential_decay_lr', all rates must be finite"
        ):
            nn.exponential_decay_lr(1e200, rate, 6, 1, 1)


def test_quotients_of_tuples() -> None:
    assert ops.tuple_div((4, 6.0), (2, 4)) == (2, 1.5)
    with pytest.raises(ValueError, match=r"For 'tuple_div', no divisor may be 0, but got \(0, 3\)"):
        ops.tuple_div((4, 6), (0, 3))
    with pytest.raises(TypeError, match="For 'tuple_div', 'x' must be a Tensor or a number"):
        ops.tuple_div((4, "a"), (1, 3))


def test_norms_of_doubles() -> None:
    """The joint norm has the digits of the finest tensor."""
    wide, narrow = Tensor(np.full((2, 2), 3.1)), Tensor(np.full(3, 0.1, np.float32))
    clipped, other = ops.clip_by_global_norm([wide, narrow])
    norm = np.sqrt(4 * 3.1**2 + 3 * float(np.float32(0.1)) ** 2)
    np.testing.assert_allclose(clipped.asnumpy(), 3.1 / norm, rtol=1e-14)
    assert (clipped.dtype, other.dtype) == (ms.float64, ms.float32)


@pytest.mark.host_device
def test_what_other_packages_cannot_share() -> None:
    with pytest.raises(BufferError, match="the dtype must be one that NumPy has"):
        THREE.astype(ms.bfloat16).to_dlpack()


def test_parts_of_sparse_tensors() -> None:
    with pytest.raises(ValueError, match="For 'CSRTensor', 'shape' must have at least 2 sizes"):
        ops.make_csr_tensor(Tensor([0, 1]), Tensor([0]), Tensor([1.0]), ())
    with pytest.raises(TypeError, match="For 'make_dict', 'keys' must be"):
        ops.make_dict([[1], [2]], [3, 4])
