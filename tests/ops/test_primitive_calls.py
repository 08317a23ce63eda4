"""Primitive classes: what their constructors and their calls take, against a table of the public API, and what they give."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, jit, nn, ops
from mindspore.ops import operations as P

# Name(constructor)(call) for each; (*args) where the call takes its arguments by position alone.
TABLE = (Path(__file__).parent / "primitive_signatures.txt").read_text().splitlines()

# Where ours differ on purpose: they take more than the API asks for.
MORE = {
    "DynamicShape",  # its one dtype is Int64
    "GatherV2",  # is Gather, with its batch_dims
    "Unpack",  # is Unstack, with its num
    "LSTM",  # without projections
}
DEFAULTS = {"()": (), "[]": (), "-1": (-1,), "0": (0,), "int32": None}  # said in another way


def parameters(text: str) -> list[tuple[str, Any]]:
    """Names and defaults, as written, of a parameter list."""
    arguments = ast.parse(f"lambda {text}: 0", mode="eval").body.args  # type: ignore[attr-defined]
    names = [a.arg for a in arguments.args]
    plain = [inspect.Parameter.empty] * (len(names) - len(arguments.defaults))
    return list(zip(names, plain + [ast.unparse(d) for d in arguments.defaults]))


def split(line: str) -> tuple[str, str, str]:
    """Name, constructor and call of a line of the table."""
    name, rest = line.split("(", 1)
    constructor, call = rest.rsplit(")(", 1)
    return name, constructor, call.removesuffix(")")


def constructor_of(kind: type) -> list[tuple[str, Any]]:
    if "__init__" in vars(kind) and "_constructor" not in vars(kind):
        signature = list(inspect.signature(kind).parameters.values())
        return [(p.name, p.default) for p in signature]
    return [(n, d if has else inspect.Parameter.empty) for n, d, has in kind._constructor]


def call_of(kind: type) -> list[str]:
    own = next(c for c in kind.__mro__ if "__call__" in vars(c))
    if own.__module__ == "mindspore.ops.primitive":
        return [n.split("@")[0] for n in kind._call_names]
    return list(inspect.signature(own.__call__).parameters)[1:]


def same_default(wanted: Any, ours: Any) -> bool:
    if wanted is inspect.Parameter.empty or ours is inspect.Parameter.empty:
        return wanted is ours
    if wanted in DEFAULTS and ours == DEFAULTS[wanted]:
        return True
    if wanted.isidentifier() and wanted not in ("None", "True", "False"):
        return getattr(ms, wanted) is ours
    return ast.literal_eval(wanted) == ours


@pytest.mark.parametrize("line", TABLE)
def test_signatures(line: str) -> None:
    name, constructor, call = split(line)
    kind = getattr(P, name, None) or getattr(ops, name)
    if name not in MORE:
        ours, wanted = constructor_of(kind), parameters(constructor)
        assert [n for n, _ in ours] == [n for n, _ in wanted]
        assert all(same_default(w, d) for (_, w), (_, d) in zip(wanted, ours)), (wanted, ours)
    if call != "*args":
        assert call_of(kind) == [n for n, _ in parameters(call)]


# ---- what some of them give ---------------------------------------------------------------------
X = Tensor(np.array([[0.1, 0.5, 0.3], [0.4, 0.2, 0.6]], np.float32))
INDICES = Tensor(np.array([[0], [2], [0]], np.int32))
UPDATES = Tensor(np.array([1.0, 2.0, 3.0], np.float32))
HALVES = Tensor(np.array([1.25, -1.25, 2.5, 3.5, -0.5, 1234.5], np.float32))
IMAGES = Tensor(np.arange(96).reshape(2, 3, 4, 4)[..., ::-1].astype(np.float32))
POSITIONS = [4, 6, 12, 14, 20, 22, 28, 30, 36, 38, 44, 46]  # in an image of three planes

CASES: dict[str, tuple[Callable, tuple, Any]] = {
    "ScatterNd": (lambda i, u: P.ScatterNd()(i, u, (4,)), (INDICES, UPDATES), [4, 0, 2, 0]),
    "ScatterNd named": (
        lambda i, u: P.ScatterNd()(indices=i, updates=u, shape=(4,)),
        (INDICES, UPDATES),
        [4, 0, 2, 0],
    ),
    "scatter_nd": (
        lambda i, u: ops.scatter_nd(indices=i, updates=u, shape=(4,)),
        (INDICES, UPDATES),
        [4, 0, 2, 0],
    ),
    "ScatterNd gradient": (
        lambda i, u: ms.grad(lambda v: P.ScatterNd()(i, v, (4,)).sum())(u),
        (INDICES, UPDATES),
        [1, 1, 1],
    ),
    "Round": (lambda x: P.Round()(x), (HALVES,), [1, -1, 2, 4, -0.0, 1234]),
    "Round decimals": (lambda x: P.Round()(x, -1), (HALVES,), [0, -0.0, 0, 0, -0.0, 1230]),
    "MaxPoolWithArgmax": (
        lambda x: P.MaxPoolWithArgmax(2, 2)(x)[1],
        (IMAGES,),
        np.reshape(POSITIONS * 2, (2, 3, 2, 2)).tolist(),
    ),
    "MaxPoolWithArgmax NHWC": (
        lambda x: P.MaxPoolWithArgmax(2, 2, data_format="NHWC")(x.transpose(0, 2, 3, 1))[1],
        (IMAGES,),
        np.reshape(POSITIONS * 2, (2, 3, 2, 2)).transpose(0, 2, 3, 1).tolist(),
    ),
    "MaxPool2d": (  # the layer counts within a plane
        lambda x: nn.MaxPool2d(2, 2, pad_mode="pad", return_indices=True)(x)[1],
        (IMAGES,),
        np.reshape([4, 6, 12, 14] * 6, (2, 3, 2, 2)).tolist(),
    ),
    "MatMul": (
        lambda x: P.MatMul(transpose_b=True)(input=x * 10, mat2=x * 10).round(),
        (X,),
        [[35, 32], [32, 56]],
    ),
    "Zeros": (lambda: P.Zeros()(size=(2,), dtype=ms.int32), (), [0, 0]),
    "Fill": (lambda: P.Fill()(dtype=ms.int32, dims=(2,), x=3), (), [3, 3]),
    "Transpose": (
        lambda x: P.Transpose()(input=x * 10, dims=(1, 0)).round(),
        (X,),
        [[1, 4], [5, 2], [3, 6]],
    ),
    "Bernoulli": (lambda x: P.Bernoulli(seed=3, offset=1)(x, Tensor(1.0)), (UPDATES,), [1, 1, 1]),
}


@pytest.mark.parametrize("name", CASES)
def test_results(name: str) -> None:
    function, args, expected = CASES[name]
    for f in (function, jit(function, fullgraph=True)):
        assert f(*args).asnumpy().tolist() == expected


def test_the_order_of_polygamma_comes_first() -> None:
    expected = [[101.4333, 4.934802, 12.245363], [7.275357, 26.267378, 3.6362095]]
    order = Tensor(1)
    for f in (lambda x: P.Polygamma()(order, x), lambda x: ops.polygamma(1, x)):
        np.testing.assert_allclose(f(X).asnumpy(), expected, rtol=1e-5)
        np.testing.assert_allclose(jit(f)(X).asnumpy(), expected, rtol=1e-5)


def test_shape_belongs_to_the_call() -> None:
    with pytest.raises(TypeError, match="constructor takes 0 arguments"):
        P.ScatterNd((4,))
    with pytest.raises(TypeError, match="'shape' is missing"):
        P.ScatterNd()(INDICES, UPDATES)


def test_integers_of_tuples_are_int32() -> None:
    assert P.TupleToArray()((1, 2, 3)).dtype == ms.int32
    assert ops.tuple_to_array((1, 2, 3)).asnumpy().tolist() == [1, 2, 3]
    assert P.TupleToArray()((1.0, 2.5)).dtype == ms.float32


def test_signatures_of_classes_are_their_constructors():
    from mindspore.ops import operations as P

    conv = inspect.signature(P.Conv2D)
    assert [*conv.parameters][:3] == ["out_channel", "kernel_size", "mode"]
    assert conv.parameters["out_channel"].default is inspect.Parameter.empty
    assert conv.parameters["pad_mode"].default == "valid"
    assert str(inspect.signature(P.ReLU)) == "()"

    class Mine(P.ReLU):
        def __init__(self, width):
            super().__init__()

    assert str(inspect.signature(Mine)) == "(width)"
    assert "*args" in str(inspect.signature(P.ReLU()))  # of the call
    for name in P.__all__:
        constructed = inspect.signature(getattr(P, name))
        assert not {"args", "kwargs"} & {*constructed.parameters} or name == "Custom", name
