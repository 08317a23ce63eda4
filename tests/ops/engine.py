"""The one engine over all rows: what is checked of every op, in terms of rows."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
from rowlib import Args, Row, Wrt

import mindspore
from mindspore import Tensor, _core

# What a float32 or an int32 sample is converted to, where the op admits it.
SAMPLES = {"float32": ("float16", "bfloat16", "float64"), "int32": ("int8", "int64", "uint8")}
HALF = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


@functools.cache
def registry() -> dict[str, dict]:
    """Facts of all ops by name, those with Python faces."""
    return {op["name"]: op for op in _core.registry() if not op["structural"]}


def numpy_dtype(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def admitted(op: dict, i: int) -> list[str]:
    """Names of the dtypes that input i may have, in NumPy's spelling."""
    return [n.lower() for n in op["inputs"][min(i, len(op["inputs"]) - 1)][1]]


def convert(op: dict, case: Args, source: str, target: str) -> Args | None:
    """The case with all `source` inputs that may be `target` converted; None where that loses."""
    inputs = list(case.inputs)
    changed = False
    for i, x in enumerate(inputs):
        if not isinstance(x, np.ndarray) or x.dtype.name != source or target not in admitted(op, i):
            continue
        with np.errstate(over="ignore"):
            inputs[i] = x.astype(numpy_dtype(target))
        if source == "int32" and not np.array_equal(inputs[i], x):
            return None
        changed = True
    return Args(tuple(inputs), case.attrs, kink=case.kink) if changed else None


def variants(op: dict, case: Args) -> Iterator[Args]:
    """The case as written, then in the other dtypes."""
    yield case
    for source, targets in SAMPLES.items():
        for target in targets:
            if (converted := convert(op, case, source, target)) is not None:
                yield converted


def tensors(op: dict, case: Args) -> list:
    """Inputs as the op wants them: what it updates must be a Parameter."""
    updated = {i for _, i in op["updates"]}
    made: list = []
    for i, x in enumerate(case.inputs):
        if not isinstance(x, np.ndarray):
            made.append(x)
        elif i in updated:
            made.append(mindspore.Parameter(Tensor(x), name=f"p{i}"))
        else:
            made.append(Tensor(x))
    return made


def as_tuple(x: Any) -> tuple:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def arrays(outputs: Any) -> list[np.ndarray]:
    return [t.asnumpy() for t in as_tuple(outputs)]


def arrays_like(outputs: Any, eager: list[np.ndarray]) -> list[np.ndarray]:
    """The same of compiled code, which hands out a number as Python's."""
    outputs = as_tuple(outputs)
    return [
        t.asnumpy() if isinstance(t, Tensor) else np.array(t, e.dtype)
        for t, e in zip(outputs, eager, strict=True)
    ]


def call(op: dict, inputs: list, attrs: dict) -> Any:
    if op["random"]:
        mindspore.set_seed(7)
    return _core.op(op["name"])(*inputs, **attrs)


def traced(op: dict, attrs: dict, n: int) -> Callable:
    """A function of n tensors that applies the op, to be compiled."""
    apply = _core.op(op["name"])
    if n == 0:

        def call0():
            return apply(**attrs)

        return call0
    if n == 1:

        def call1(a):
            return apply(a, **attrs)

        return call1
    if n == 2:

        def call2(a, b):
            return apply(a, b, **attrs)

        return call2
    if n == 3:

        def call3(a, b, c):
            return apply(a, b, c, **attrs)

        return call3

    def call_many(*inputs):
        return apply(*inputs, **attrs)

    return call_many


# ---- values ----------------------------------------------------------------------
def widen(x: Any) -> Any:
    """Half types as float32: NumPy computes with too few bits in them."""
    return x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype in HALF else x


def expected(row: Row, case: Args) -> tuple:
    with np.errstate(all="ignore"):
        return as_tuple(row.ref(*[widen(x) for x in case.inputs], **case.attrs))


def kind_of(dtype: np.dtype) -> str:
    """Booleans, integers, floats and complex numbers: b, i, f, c."""
    return {"u": "i", "V": "f"}.get(dtype.kind, dtype.kind)


def compare(row: Row, what: str, actual: np.ndarray, wanted: Any, loose: np.dtype) -> None:
    wanted = np.asarray(wanted)
    assert actual.shape == wanted.shape, f"{what}: shape {actual.shape} instead of {wanted.shape}"
    assert kind_of(actual.dtype) == kind_of(wanted.dtype), (
        f"{what}: {actual.dtype} instead of {wanted.dtype}"
    )
    if kind_of(actual.dtype) in "bi":
        np.testing.assert_array_equal(actual, wanted.astype(actual.dtype), err_msg=what)
        return
    tolerance = max(row.tolerance(actual.dtype), row.tolerance(loose))
    wide = np.complex128 if actual.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):  # what overflows a half type is inf there
        wanted = wanted.astype(actual.dtype) if actual.dtype in HALF else wanted
    np.testing.assert_allclose(
        actual.astype(wide), wanted.astype(wide), rtol=tolerance, atol=tolerance, err_msg=what
    )


def loosest(case: Args) -> np.dtype:
    """The least precise float among the inputs."""
    floats = [x.dtype for x in case.inputs if isinstance(x, np.ndarray) and kind_of(x.dtype) == "f"]
    return min(floats, key=lambda t: (t.itemsize, t.name), default=np.dtype(np.float64))


def describe(case: Args) -> str:
    shapes = [
        f"{x.dtype}{list(x.shape)}" if isinstance(x, np.ndarray) else repr(x) for x in case.inputs
    ]
    return ", ".join(shapes + [f"{k}={v}" for k, v in case.attrs.items()])


def check_eager(row: Row, case: Args) -> None:
    """Eager = reference, in every sampled dtype."""
    op = registry()[row.name]
    for variant in variants(op, case):
        actual = arrays(call(op, tensors(op, variant), variant.attrs))
        if row.ref is None:
            continue
        wanted = expected(row, variant)
        assert len(actual) == len(wanted), f"{len(actual)} outputs instead of {len(wanted)}"
        for i, (a, w) in enumerate(zip(actual, wanted)):
            compare(row, f"{row.name}({describe(variant)}) output {i}", a, w, loosest(variant))


def check_graph(row: Row, case: Args) -> None:
    """Compiled = eager, with the types that inference promised."""
    op = registry()[row.name]
    for variant in list(variants(op, case))[:2]:
        eager = arrays(call(op, tensors(op, variant), variant.attrs))
        inputs = tensors(op, variant)
        constants = [x for x in inputs if not isinstance(x, Tensor)]
        parameters = any(isinstance(x, mindspore.Parameter) for x in inputs)
        fn = (
            constant_call(op, inputs, variant.attrs)
            if constants or parameters
            else traced(op, variant.attrs, len(inputs))
        )
        if op["random"]:
            mindspore.set_seed(7)
        results = mindspore.jit(fn)(*[x for x in inputs if type(x) is Tensor])
        compiled = arrays_like(results, eager)
        for a, b in zip(compiled, eager):
            what = f"compiled {row.name}({describe(variant)})"
            assert a.dtype == b.dtype and a.shape == b.shape, (
                f"{what}: {a.dtype}{a.shape} is {b.dtype}{b.shape} eagerly"
            )
            np.testing.assert_array_equal(a, b, err_msg=what)


def constant_call(op: dict, inputs: list, attrs: dict) -> Callable:
    """Numbers and Parameters stay where they are; only plain tensors are arguments."""
    apply = _core.op(op["name"])
    places = [i for i, x in enumerate(inputs) if type(x) is Tensor]

    def call_rest(*given):
        values = list(inputs)
        for place, value in zip(places, given):
            values[place] = value
        return apply(*values, **attrs)

    return call_rest


def check_layouts(row: Row, case: Args) -> None:
    """Strided NumPy inputs, and for elementwise ops also empty and 0-d ones."""
    op = registry()[row.name]
    strided = []
    for x in case.inputs:
        if isinstance(x, np.ndarray) and x.ndim > 0:
            holder = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
            holder[..., ::2] = x
            strided.append(holder[..., ::2])
        else:
            strided.append(x)
    plain = arrays(call(op, tensors(op, case), case.attrs))
    for a, b in zip(
        plain, arrays(call(op, tensors(op, Args(tuple(strided), case.attrs)), case.attrs))
    ):
        np.testing.assert_array_equal(a, b)
    if not op["scalar"] or row.ref is None:
        return
    for shape in ((0,), (2, 0, 3), ()):
        inputs = tuple(np.resize(x, shape) if isinstance(x, np.ndarray) else x for x in case.inputs)
        case_of_shape = Args(inputs, case.attrs)
        actual = arrays(call(op, tensors(op, case_of_shape), case.attrs))
        for a, w in zip(actual, expected(row, case_of_shape)):
            compare(row, f"{row.name} of shape {shape}", a, w, loosest(case))


# ---- gradients ----------------------------------------------------------------------
EPSILON = 1e-6


def float64_case(row: Row, case: Args) -> Args | None:
    """All floats of the case in float64; None where the op does not take it, and at a kink."""
    floats = [x for x in case.inputs if isinstance(x, np.ndarray) and x.dtype == np.float32]
    if (
        case.kink
        or not any(x.size for x in floats)
        or not all(np.isfinite(x).all() for x in floats)
    ):
        return None
    return convert(registry()[row.name], case, "float32", "float64")


class Projected:
    """An op as a scalar function of its float64 inputs: the weighted sum of its float outputs."""

    def __init__(self, row: Row, case: Args):
        self.op = registry()[row.name]
        self.case = case
        updated = {i for _, i in self.op["updates"]}
        self.chosen = row.grad if isinstance(row.grad, Wrt) else None
        self.positions = tuple(
            i
            for i, x in enumerate(case.inputs)
            if isinstance(x, np.ndarray)
            and x.dtype == np.float64
            and i not in updated
            and (self.chosen is None or i in self.chosen.inputs)
        )
        self.random = np.random.default_rng(5)
        self.weights: list | None = None

    def __call__(self, *active: Tensor) -> Tensor:
        inputs = tensors(self.op, self.case)
        for i, x in zip(self.positions, active):
            inputs[i] = x
        outputs = as_tuple(call(self.op, inputs, self.case.attrs))
        if self.weights is None:
            self.weights = [self.random.uniform(0.5, 1.5, t.shape) for t in outputs]
        total: Any = None
        for t, w in self.weighted(outputs):
            term = _core.op("ReduceSum")(t * Tensor(w), axis=(), keep_dims=False)
            total = term if total is None else total + term
        return total

    def weighted(self, outputs: tuple) -> list[tuple]:
        """The outputs that count, with their weights."""
        assert self.weights is not None
        wanted = self.chosen.outputs if self.chosen else None
        return [
            (t, w)
            for i, (t, w) in enumerate(zip(outputs, self.weights))
            if t.dtype == mindspore.float64 and (wanted is None or i in wanted)
        ]

    def start(self) -> list[np.ndarray]:
        return [self.case.inputs[i] for i in self.positions]

    def direction(self) -> list[np.ndarray]:
        return [self.random.uniform(-1, 1, x.shape) for x in self.start()]

    def gradient(self, *active: Tensor) -> tuple:
        return as_tuple(mindspore.grad(self, grad_position=tuple(range(len(active))))(*active))


def differences(f: Callable, x: list[np.ndarray], v: list[np.ndarray]) -> float:
    """The slope of f at x along v, by central differences."""
    ahead = f(*[Tensor(a + EPSILON * b) for a, b in zip(x, v)])
    behind = f(*[Tensor(a - EPSILON * b) for a, b in zip(x, v)])
    return float((ahead.asnumpy() - behind.asnumpy()) / (2 * EPSILON))


def close(what: str, actual: float, wanted: float) -> None:
    np.testing.assert_allclose(actual, wanted, rtol=1e-3, atol=1e-5, err_msg=what)


def along(gradients: tuple, v: list[np.ndarray]) -> float:
    return float(sum((g.asnumpy() * b).sum() for g, b in zip(gradients, v)))


def check_gradient(row: Row, case: Args) -> None:
    """First and second order along one random direction."""
    wide = float64_case(row, case)
    if wide is None:
        return
    f = Projected(row, wide)
    x = f.start()
    v = f.direction()
    if f(*map(Tensor, x)) is None:  # no float64 comes out; the call also fixes the weights
        return
    close(
        f"gradient of {row.name}({describe(wide)})",
        along(f.gradient(*map(Tensor, x)), v),
        differences(f, x, v),
    )

    u = f.direction()

    def slope(*active: Tensor) -> Tensor:
        total = None
        for g, b in zip(f.gradient(*active), u):
            term = _core.op("ReduceSum")(g * Tensor(b), axis=(), keep_dims=False)
            total = term if total is None else total + term
        return total

    second = as_tuple(mindspore.grad(slope, grad_position=tuple(range(len(x))))(*map(Tensor, x)))
    close(
        f"second gradient of {row.name}({describe(wide)})",
        along(second, v),
        differences(slope, x, v),
    )


# ---- refusals ----------------------------------------------------------------------
def check_refusal(row: Row, case: Args) -> None:
    """A clear error, that names the op, in both modes."""
    op = registry()[row.name]
    inputs = tensors(op, case)
    compiled = mindspore.jit(constant_call(op, inputs, case.attrs))
    plain = [x for x in inputs if type(x) is Tensor]
    for mode, run in (
        ("eager", lambda: call(op, inputs, case.attrs)),
        ("compiled", lambda: compiled(*plain)),
    ):
        try:
            run()
            mindspore.runtime.synchronize()  # a device finds some of it late
        except (TypeError, ValueError, IndexError) as error:
            text = str(error)
            assert row.name in text, f"{mode}: the error does not name {row.name}: {text}"
            assert case.says in text, f"{mode}: the error does not say '{case.says}': {text}"
        else:
            raise AssertionError(f"{mode} {row.name}({describe(case)}) was not refused")
