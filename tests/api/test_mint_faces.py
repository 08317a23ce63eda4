"""Functions of `mint` that ops have under other names: which arguments they take, and that each is one object."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint
from mindspore.mint._faces import face, read_faces
from mindspore.mint.linalg import FACES as LINALG
from mindspore.mint.nn.functional import FACES as FUNCTIONAL
from mindspore.mint.tables import FACES

X = Tensor(np.arange(12, dtype=np.float32).reshape(4, 3))
_TABLES = ((mint, FACES), (mint.linalg, LINALG), (mint.nn.functional, FUNCTIONAL))
_RENAMED = [
    (getattr(home, name), *(pair.split("=") for pair in line.split(" = ")[1].split()[1:]))
    for home, faces in _TABLES
    for name, line in faces.items()
]


def test_a_face_takes_the_declared_names() -> None:
    parts = mint.chunk(X, 3, dim=1)
    assert [p.shape for p in parts] == [(4, 1)] * 3
    assert [p.shape for p in mint.chunk(chunks=2, input=X)] == [(2, 3)] * 2
    assert str(inspect.signature(mint.frac)).startswith("(input: ")


@pytest.mark.parametrize("named", [{"axis": 1}, {"axis": 0, "dim": 1}])
def test_a_face_refuses_other_names(named: dict) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'axis'"):
        mint.chunk(X, 2, **named)


@pytest.mark.parametrize("entry", [r for r in _RENAMED if len(r) > 1], ids=lambda r: r[0].__name__)
def test_no_face_shows_a_name_that_it_does_not_take(entry: tuple) -> None:
    function, *renamed = entry
    parameters = inspect.signature(function).parameters
    for theirs, shown in renamed:
        assert shown in parameters and theirs not in parameters
        with pytest.raises(TypeError, match=theirs):
            function(**{theirs: X})


def test_errors_speak_of_the_declared_names() -> None:
    with pytest.raises(TypeError, match="For 'chunk', 'dim' must be an int"):
        mint.chunk(X, 2, dim="x")


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_faces_in_both_modes(mode: int) -> None:
    ms.set_context(mode=mode)

    class Net(ms.nn.Cell):
        def construct(self, x):
            return mint.nansum(x, dim=1, keepdim=True), mint.split(x, 2, dim=0)[1]

    total, last = Net()(X)
    assert total.asnumpy().tolist() == [[3], [12], [21], [30]]
    assert last.asnumpy().tolist() == X.asnumpy()[2:].tolist()


@pytest.mark.parametrize(("home", "faces"), _TABLES, ids=lambda x: getattr(x, "__name__", ""))
def test_a_name_means_one_object(home, faces: dict) -> None:
    assert all(getattr(home, name) is getattr(home, name) for name in faces)


def test_a_line_of_unknown_parameters_is_refused() -> None:
    (line,) = read_faces("chunk = ops.chunk axes=dim").values()
    with pytest.raises(ValueError, match="axes"):
        face(line, "mindspore.mint")
