"""Arguments that are easily accepted and forgotten: hooks after a failure, compiled steps of `data_sink`, candidates without hits, norms
that must be finite."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops


class Failing(nn.Cell):
    """Doubles its input, or fails."""

    def __init__(self) -> None:
        super().__init__()
        self.fails = False

    def construct(self, x: Tensor) -> Tensor:
        if self.fails:
            raise ValueError("as it was told")
        return x * 2


def test_hooks_that_are_always_called() -> None:
    net, seen = Failing(), []
    net.register_forward_hook(lambda cell, args, out: seen.append(("usual", out)))
    net.register_forward_hook(
        lambda cell, args, kwargs, out: seen.append((len(args), kwargs, out)),
        with_kwargs=True,
        always_call=True,
    )
    net(Tensor([1.0]))
    assert [s[0] for s in seen] == ["usual", 1]
    seen.clear()
    net.fails = True
    with pytest.raises(ValueError, match="as it was told"):
        net(Tensor([1.0]))
    assert seen == [(1, {}, None)]


def test_a_hook_that_fails_gives_way() -> None:
    net, seen = Failing(), []
    net.fails = True

    def hook(cell: nn.Cell, args: tuple, out: None) -> None:
        raise KeyError("mine")

    net.register_forward_hook(hook, always_call=True)
    handle = net.register_forward_hook(lambda *_: seen.append(1), always_call=True)
    for _ in range(2):
        with (
            pytest.warns(UserWarning, match="Failing with always_call=True raised KeyError"),
            pytest.raises(ValueError, match="as it was told"),
        ):
            net(Tensor([1.0]))
        handle.remove()
    assert seen == [1]


def test_a_hook_after_one_that_fails() -> None:
    net, seen = Failing(), []
    net.register_forward_hook(lambda *_: 1 / 0)
    net.register_forward_hook(lambda cell, args, out: seen.append(out.asnumpy()), always_call=True)
    with pytest.raises(ZeroDivisionError):
        net(Tensor([1.0]))
    assert seen[0].tolist() == [2.0]


def test_data_sink_compiles() -> None:
    data = ms.dataset.NumpySlicesDataset({"x": np.ones((4, 2), np.float32)}, shuffle=False)
    seen: list[Tensor] = []

    def double(x: Tensor) -> Tensor:
        return x * 2

    def noting(x: Tensor) -> Tensor:  # which compiled code cannot do
        seen.append(x)
        return x * 2

    strict = ms.JitConfig(jit_syntax_level="STRICT")
    step = ms.data_sink(double, data, sink_size=2, jit_config=strict)
    assert [step().asnumpy().tolist() for _ in range(3)] == [[2.0, 2.0]] * 3
    assert ms.data_sink(noting, data)().asnumpy().tolist() == [2.0, 2.0]
    assert len(seen) == 1
    with pytest.raises(Exception, match="made outside of it"):
        ms.data_sink(noting, data, jit_config=strict)()
    with pytest.raises(TypeError, match="'jit_config' must be a JitConfig"):
        ms.data_sink(double, data, jit_config="O0")


@pytest.mark.parametrize("unique", [True, False])
def test_candidates_without_hits(unique: bool) -> None:
    def drawn(classes: Tensor, count: int) -> tuple[Tensor, ...]:
        return ops.uniform_candidate_sampler(
            classes, 2, count, unique, 10, remove_accidental_hits=True
        )

    true = Tensor([[3, 4], [4, 4]], ms.int64)
    for call in (drawn, ms.jit(drawn)):
        for _ in range(20):
            found, expected, of_drawn = (t.asnumpy() for t in call(true, 8))
            assert not {3, 4} & set(found.tolist())
            assert not unique or len(set(found.tolist())) == 8
            np.testing.assert_allclose(expected, np.full((2, 2), 0.8), rtol=1e-6)
            np.testing.assert_allclose(of_drawn, np.full(8, 0.8), rtol=1e-6)
    if unique:  # more than there are others: as few hits as must be
        assert sorted(drawn(true, 10)[0].asnumpy().tolist()) == list(range(10))


def test_norms_that_must_be_finite() -> None:
    def clipped(x: Tensor) -> Tensor:
        return ops.clip_by_norm(x, 1.0, error_if_nonfinite=True)

    for call in (clipped, ms.jit(clipped)):
        np.testing.assert_allclose(call(Tensor([3.0, 4.0])).asnumpy(), [0.6, 0.8], rtol=1e-5)
        with pytest.raises(
            RuntimeError, match="For 'clip_by_norm', the norm must be finite, but got inf"
        ):
            call(Tensor([3.0, np.inf]))
            ms._core.synchronize()


def test_unknown_boosters() -> None:
    with pytest.raises(ValueError, match="For 'build_train_network', 'boost_level' must be"):
        ms.amp.build_train_network(
            nn.Dense(2, 2), nn.SGD([ms.Parameter(Tensor([1.0]), name="w")]), boost_level="O9"
        )
