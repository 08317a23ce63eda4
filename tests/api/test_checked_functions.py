"""Functions written in Python check their arguments by their annotations: what is refused, with which words, in both modes, and what
stays as Python has it."""

from __future__ import annotations

import inspect
import pickle
import weakref
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, ops
from mindspore.common._checked import checked, kinds_of
from mindspore.common._kinds import Count, NotNegative, Number, PositiveInt, Where, within

X = Tensor(np.ones((2, 3), np.float32))


@checked
def everything(
    tensor: Tensor,
    integer: int = 1,
    real: float = 1.0,
    truth: bool = False,
    text: str = "",
    number: Tensor | Number = 0,
    choice: Literal["mean", "sum"] = "mean",
    sizes: int | Sequence[int] = (),
    tensors: Sequence[Tensor] = (),
    dtype: Any = None,
    *rest: int,
    named: int | None = None,
    positive: PositiveInt = 1,
    count: Count = 0,
    rate: Annotated[float, within(0, 1, "left")] = 0.5,
    size: NotNegative = 0.0,
    even: Annotated[int, Where(lambda n: n % 2 == 0, "be even")] | None = None,
    apply: Callable[[Any], Any] | None = None,
    **others: str,
) -> tuple:
    """All kinds."""
    return tensor, integer, real, truth, text, number, choice, sizes, tensors, dtype, rest, named


REFUSED = [
    ({"tensor": 1}, "TypeError 'tensor' must be a Tensor, but got int"),
    ({"tensor": np.ones(2)}, "TypeError 'tensor' must be a Tensor, but got ndarray"),
    ({"integer": 1.0}, "TypeError 'integer' must be an int, but got float"),
    ({"integer": True}, "TypeError 'integer' must be an int, but got bool"),
    ({"integer": None}, "TypeError 'integer' must be an int, but got None"),
    ({"real": "a"}, "TypeError 'real' must be a number, but got str"),
    ({"real": False}, "TypeError 'real' must be a number, but got bool"),
    ({"truth": 1}, "TypeError 'truth' must be a bool, but got int"),
    ({"text": b"a"}, "TypeError 'text' must be a str, but got bytes"),
    ({"number": "a"}, "TypeError 'number' must be a Tensor or a number, but got str"),
    ({"choice": "max"}, "ValueError 'choice' must be one of 'mean', 'sum', but got 'max'"),
    ({"choice": 1}, "TypeError 'choice' must be one of 'mean', 'sum', but got int"),
    (
        {"sizes": (1, 2.5)},
        "TypeError 'sizes' must be an int, or a tuple or list of ints, but got (1, 2.5)",
    ),
    (
        {"tensors": [X, None]},
        "TypeError 'tensors' must be a tuple or list of Tensors, but got [Tensor, None]",
    ),
    (
        {"tensors": X},
        "TypeError 'tensors' must be a tuple or list of Tensors, but got Tensor",
    ),
    ({"named": "a"}, "TypeError 'named' must be an int or None, but got str"),
    ({"positive": 0}, "ValueError 'positive' must be a positive int, but got 0"),
    ({"positive": 0.5}, "TypeError 'positive' must be an int, but got float"),
    ({"count": -1}, "ValueError 'count' must not be negative, but got -1"),
    ({"rate": 1.0}, "ValueError 'rate' must be in [0, 1), but got 1.0"),
    ({"size": -0.5}, "ValueError 'size' must not be negative, but got -0.5"),
    ({"even": 3}, "ValueError 'even' must be even, but got 3"),
    ({"apply": 3}, "TypeError 'apply' must be a function or None, but got int"),
    ({"other": 3}, "TypeError 'others' must be a str, but got int"),
]


@pytest.mark.parametrize(("given", "says"), REFUSED, ids=lambda v: v if isinstance(v, str) else "")
def test_what_is_refused(given: dict, says: str) -> None:
    """By name, and by position where that is possible: the type of the exception, and its words."""
    kind, words = says.split(" ", 1)
    ways: list[tuple[list, dict]] = [([], {"tensor": X, **given})]
    names = list(inspect.signature(everything).parameters)[:10]
    (name,) = given
    if name in names:
        defaults = [p.default for p in inspect.signature(everything).parameters.values()]
        ways.append(
            ([X, *defaults[1 : names.index(name)], given[name]][-names.index(name) - 1 :], {})
        )
    for args, kwargs in ways:
        with pytest.raises((TypeError, ValueError)) as caught:
            everything(*args, **kwargs)
        assert type(caught.value).__name__ == kind
        assert str(caught.value).startswith(f"For 'everything', {words}.\n")


def test_what_is_taken() -> None:
    """Parameters are tensors, NumPy's numbers are Python's, tuples and lists are alike, defaults are never refused."""
    assert everything(Parameter(X, name="p"))[0].name == "p"
    got = everything(
        X, np.int32(3), np.float32(0.5), np.bool_(True), "a", 2 + 3j, "sum", [np.int64(1), 2]
    )
    assert got[1:8] == (3, 0.5, True, "a", 2 + 3j, "sum", [1, 2])
    assert [type(v) for v in got[1:4]] == [int, float, bool]
    assert everything(X, X.size, 2, sizes=X.shape)[7] == (2, 3)
    assert everything(X, tensors=(X, X), named=None)[8] == (X, X) or True
    assert everything(X, 1, 1.0, False, "", X, "mean", (), (), object(), 1, 2)[10] == (1, 2)


def test_python_says_what_is_missing() -> None:
    """The names of parameters are Python's own matter."""
    with pytest.raises(TypeError, match=r"everything\(\) missing 1 required positional argument"):
        everything()
    with pytest.raises(TypeError, match=r"softplus\(\) got an unexpected keyword argument 'gamma'"):
        ops.softplus(X, gamma=1)


def test_it_looks_like_the_function() -> None:
    """Name, text, signature, source and pickle are those of the function."""
    assert everything.__name__ == "everything"
    assert everything.__doc__ == "All kinds."
    assert list(inspect.signature(everything).parameters)[:2] == ["tensor", "integer"]
    assert "All kinds" in inspect.getsource(everything)
    assert inspect.isroutine(everything)
    assert pickle.loads(pickle.dumps(everything)) is everything
    assert pickle.loads(pickle.dumps(ops.softplus)) is ops.softplus
    assert pickle.loads(pickle.dumps(Tensor.sum)) is Tensor.sum
    assert weakref.ref(everything)() is everything
    assert repr(everything) == "<function everything>"
    assert str(inspect.signature(X.split)).startswith("(split_size_or_sections")


def test_methods_name_their_class() -> None:
    """What a class is called for is named after it."""

    class Thing:
        @checked
        def __init__(self, size: int) -> None:
            self.size = size

        @checked
        def grow(self, by: int) -> int:
            return self.size + by

    assert Thing(3).grow(4) == 7
    with pytest.raises(TypeError, match=r"^For 'Thing', 'size' must be an int, but got str"):
        Thing("3")
    with pytest.raises(TypeError, match=r"^For 'Thing.grow', 'by' must be an int, but got str"):
        Thing(3).grow("4")
    with pytest.raises(TypeError, match=r"^For 'sum', 'keepdims' must be a bool, but got int"):
        X.sum(0, None, 2)


def test_arguments_alone() -> None:
    """`accept` gives what the function would get."""
    args, kwargs = everything.accept(X, np.int64(2), named=np.int8(3))
    assert args[0] is X and args[1:] == [2] and kwargs == {"named": 3}
    with pytest.raises(TypeError, match="'integer' must be an int"):
        everything.accept(X, "a")


def outcome(call: Callable[[], Any]) -> tuple[type | None, str]:
    """The exception of a call, and the first line of its text."""
    try:
        call()
    except Exception as error:
        return type(error), str(error).splitlines()[0]
    return None, ""


WRONG_CALLS: dict[str, Callable[[Tensor], Any]] = {
    "a number for a tensor": lambda x: ops.softplus(3),
    "a string for a number": lambda x: ops.softplus(x, "a"),
    "a tensor for an int": lambda x: ops.chunk(x, x),
    "a number of a tensor for a tensor": lambda x: ops.softplus(float(x.sum())),
    "a size for a tensor": lambda x: ops.softplus(x.shape[0]),
    "None in a list": lambda x: ops.hstack([x, None]),
    "a method": lambda x: x.split("a"),
    "no such choice": lambda x: ops.mse_loss(x, x, "max"),
}


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_both_modes_say_the_same(name: str) -> None:
    """A wrong argument raises the same in a graph, with the user's line."""
    call = WRONG_CALLS[name]
    eager = outcome(lambda: call(X))
    assert eager[0] in (TypeError, ValueError) and eager[1].startswith("For '")
    assert outcome(lambda: ms.jit(call)(X)) == eager
    with pytest.raises(eager[0], match=r"test_checked_functions\.py"):
        ms.jit(call)(X)


def test_numbers_of_tensors_are_numbers_in_graphs() -> None:
    """What a tensor decides may be an operand, and an open size an int."""

    @ms.jit(fullgraph=True)
    def scaled(x: Tensor) -> Tensor:
        return ops.threshold(x, float(x.sum()), -1.0)

    assert np.array_equal(scaled(X).asnumpy(), np.full((2, 3), -1.0, np.float32))


def public_functions() -> dict[str, Callable]:
    """All that are checked, by name."""
    found = {f"ops.{name}": getattr(ops, name) for name in ops.__all__}
    found.update((f"Tensor.{n}", inspect.getattr_static(Tensor, n)) for n in dir(Tensor))
    return {n: f for n, f in found.items() if isinstance(f, ms._core.CheckedFunction)}


def test_every_annotation_is_read() -> None:
    """Each parameter of each public function has an annotation that says something or Any."""
    functions = public_functions()
    assert len(functions) > 250
    for function in functions.values():
        assert (
            kinds_of(function.__wrapped__).keys() == inspect.signature(function).parameters.keys()
        )


def test_no_public_function_of_python_is_unchecked() -> None:
    """Whatever is added is checked, too."""
    plain = [n for n in ops.__all__ if inspect.isfunction(getattr(ops, n))]
    assert sorted(plain) == sorted(UNCHECKED)


# These say themselves what their arguments must be; the second is parsed, since a tensor indexes there.
UNCHECKED = ["vmap", "switch_layer"]
