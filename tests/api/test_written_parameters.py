"""What is written to a Parameter becomes of its dtype, at positions or everywhere."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, ops

TWOS = np.full((3, 2), 2)
HOW = {"Add": 3, "Sub": 1, "Mul": 2, "Div": 2, "Max": 2, "Min": 1, "Update": 1}


class Writes(ms.nn.Cell):
    def __init__(self, name: str, at: list, dtype: ms.dtype.Type) -> None:
        super().__init__()
        self.weight = Parameter(Tensor(TWOS).astype(dtype), name="weight")
        self.at, self.op = Tensor(at), getattr(ops, name)()

    def construct(self, updates: Tensor) -> Tensor:
        written = self.op(self.weight, self.at, updates)
        return (written * written).sum()


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
@pytest.mark.parametrize("how", HOW)
def test_updates_become_of_the_dtype_of_the_parameter(how: str, dtype: str, mode: int) -> None:
    ms.set_context(mode=mode)
    for name, at in ((f"Scatter{how}", [0, 2]), (f"ScatterNd{how}", [[0], [2]])):
        for updates in (ms.int32, ms.uint8, ms.bool_):
            net = Writes(name, at, getattr(ms, dtype))
            net(Tensor(np.ones((2, 2))).astype(updates))
            after = net.weight.astype(ms.float32).asnumpy()
            np.testing.assert_array_equal(after[:, 0], [HOW[how], 2, HOW[how]])


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_gradients_of_updates(dtype: type, mode: int) -> None:
    ms.set_context(mode=mode)
    updates = Tensor(np.full((2, 2), 3 if dtype == np.float32 else 3 + 1j, dtype))
    ones = np.ones((2, 2), dtype)
    u, w = updates.asnumpy(), 2
    expected = {
        "Add": 2 * (w + u).conj(),
        "Mul": 2 * (w * w * u).conj(),
        "Div": (-2 * w * w / u**3).conj(),
        "Update": 2 * u.conj(),
    }
    for how, value in expected.items():
        net = Writes(f"Scatter{how}", [0, 2], ms.float32 if dtype == np.float32 else ms.complex64)
        gradient = ms.grad(net)(updates).asnumpy()
        np.testing.assert_allclose(gradient, value * ones, rtol=1e-5, err_msg=how)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_truth_values_are_added_as_numbers(mode: int) -> None:
    ms.set_context(mode=mode)
    for name, after in (("AssignAdd", [2, 2]), ("AssignSub", [0, 2])):
        counts = Parameter(Tensor([1, 2]), name="counts")
        getattr(ops, name)()(counts, Tensor([True, False]))
        assert counts.asnumpy().tolist() == after


def test_what_would_lose_something_is_refused() -> None:
    counts = Parameter(Tensor([1, 2]), name="counts")
    with pytest.raises(TypeError, match="'updates' must be of the dtype of 'input_x' or one that"):
        ops.ScatterAdd()(counts, Tensor([0]), Tensor([1.5]))
    with pytest.raises(TypeError, match="'value' must be of the dtype of 'variable' or one that"):
        ops.AssignAdd()(counts, Tensor([1.5, 2.5]))
