"""ParameterTuple: what it takes, the names its Parameters have in a cell, and its clones."""

from __future__ import annotations

from typing import Any

import pytest

from mindspore import Parameter, ParameterTuple, Tensor, nn


def make(name: str | None = None, **settings: Any) -> Parameter:
    return Parameter(Tensor([1.0]), name=name, **settings)


class Held(nn.Cell):
    def __init__(self, *tuples: ParameterTuple):
        super().__init__()
        for i, held in enumerate(tuples):
            setattr(self, f"held{i}", held)


def names(cell: nn.Cell) -> list[str]:
    return list(cell.parameters_dict())


def test_equal_names_are_refused() -> None:
    a = make("a")
    with pytest.raises(ValueError, match="'a' twice"):
        ParameterTuple([a, make("a")])
    with pytest.raises(ValueError, match="'a' twice"):
        nn.SGD([a, make("a")], 0.1)
    assert len(ParameterTuple([a, a])) == 2  # the same one may come twice
    assert len({p.name for p in ParameterTuple([make(), make()])}) == 2  # and those without a name


@pytest.mark.parametrize("items", [[Tensor([1.0])], [3], {"x": 1}, 3, None])
def test_only_parameters(items: Any) -> None:
    with pytest.raises(TypeError):
        ParameterTuple(items)


def test_it_is_a_tuple() -> None:
    held = ParameterTuple(p for p in (make("a"), make("b")))
    assert isinstance(held, tuple) and type(held[:1]) is tuple and ParameterTuple([]) == ()


def test_parameters_without_a_name_are_numbered_in_their_cell() -> None:
    def held() -> Held:
        first = ParameterTuple([make(), make()])
        return Held(first, ParameterTuple([make(), make("n"), make()]))

    numbered = ["Parameter$1", "Parameter$2", "Parameter$3", "n", "Parameter$4"]
    assert names(held()) == numbered
    cells = nn.CellList([held(), held()])
    assert names(cells) == [f"{i}.{name}" for i in range(2) for name in numbered]
    x, y = make(), make()
    assert names(Held(ParameterTuple([x, y]), ParameterTuple([y, x]))) == numbered[:2]


def test_names_of_different_cells_may_be_equal() -> None:
    cells = nn.SequentialCell(Held(ParameterTuple([make("u")])), Held(ParameterTuple([make("u")])))
    assert names(cells) == ["0.u", "1.u"]


def test_clones() -> None:
    held = ParameterTuple([make("a", requires_grad=False), make("b")])
    clones = held.clone("pre", init="zeros")
    assert type(clones) is ParameterTuple
    assert [(p.name, p.requires_grad) for p in clones] == [("pre.a", False), ("pre.b", True)]
    assert [p.asnumpy().tolist() for p in clones] == [[0.0], [0.0]]
    assert [p.asnumpy().tolist() for p in held.clone("pre")] == [[1.0], [1.0]]
    assert [p.asnumpy().tolist() for p in held.clone(prefix="pre", init=5)] == [[5.0], [5.0]]
    assert [p.name for p in held.clone("a.b_1")] == ["a.b_1.a", "a.b_1.b"]


@pytest.mark.parametrize("prefix", ["", ".a", "a b", "a/b"])
def test_prefixes_of_clones(prefix: str) -> None:
    with pytest.raises(ValueError, match="'prefix'"):
        ParameterTuple([make("a")]).clone(prefix)


def test_optimizers_keep_the_order_of_checkpoints() -> None:
    net = nn.Dense(2, 2)
    assert names(nn.Momentum(net.trainable_params(), 0.1, 0.9)) == [
        "global_step",
        "learning_rate",
        "weight",
        "bias",
        "momentum",
        "moments.weight",
        "moments.bias",
    ]
