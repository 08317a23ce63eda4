"""What a call is: a public name, its arguments, and how its result becomes something that can be kept and compared.

A call knows nothing of the package that it runs in: arrays are made from their text, dtypes and classes are named. So the
same lists run here and in the reference package, and the text of a call is its key."""

from __future__ import annotations

import importlib
import inspect
import sys
import types
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

CALLS = Path(__file__).parent / "calls"


@dataclass(frozen=True)
class Array:
    """An array that is known by the text that makes it; a Parameter of that value, where so said."""

    text: str
    value: np.ndarray = field(compare=False, repr=False)
    dtype: str = ""  # where NumPy has none
    parameter: bool = False

    def __repr__(self) -> str:
        return f"param({self.text})" if self.parameter else self.text


@dataclass(frozen=True)
class At:
    """Something of the package by its public name: `at("float16")`, `at("nn.ReLU")`."""

    name: str

    def __repr__(self) -> str:
        return f"at({self.name!r})"


def at(name: str) -> At:
    """The thing of that public name, in whatever package the call runs."""
    return At(name)


def _maker(name: str, dtype: str, of_integers: bool) -> Callable[..., Array]:
    least, most = (-9, 9) if of_integers else (-2.0, 2.0)

    def make(*shape: int, low: float = least, high: float = most, seed: int = 0) -> Array:
        options = {
            k: v
            for k, v, usual in (("low", low, least), ("high", high, most), ("seed", seed, 0))
            if v != usual
        }
        shown = [*map(repr, shape), *(f"{k}={v!r}" for k, v in options.items())]
        text = f"{name}({', '.join(shown)})"
        random = np.random.default_rng(zlib.crc32(text.encode()))
        if dtype == "bool":
            values = random.integers(0, 2, shape) > 0
        elif of_integers:
            values = random.integers(low, high, shape)
        else:
            values = random.uniform(low, high, shape)
            if dtype.startswith("complex"):
                values = values + 1j * random.uniform(low, high, shape)
        known = dtype if dtype != "bfloat16" else "float32"
        return Array(text, np.asarray(values).astype(known), dtype if known != dtype else "")

    make.__doc__ = f"A random array of {dtype}, the same for the same arguments."
    return make


f16, f32, f64 = (_maker(f"f{n}", f"float{n}", False) for n in (16, 32, 64))
c64, c128 = (_maker(f"c{n}", f"complex{n}", False) for n in (64, 128))
bf16, b1 = _maker("bf16", "bfloat16", False), _maker("b1", "bool", True)
i8, i16, i32, i64 = (_maker(f"i{n}", f"int{n}", True) for n in (8, 16, 32, 64))


def u8(*shape: int, low: int = 0, high: int = 9, seed: int = 0) -> Array:
    """A random array of uint8."""
    made = i32(*shape, low=low, high=high, seed=seed)
    return Array(f"u8({made.text[4:-1]})", made.value.astype(np.uint8))


def of(values: Any, dtype: str = "float32") -> Array:
    """An array of given values."""
    known = "float32" if dtype == "bfloat16" else dtype
    return Array(f"of({values!r}, {dtype!r})", np.asarray(values, known), dtype)


def param(array: Array) -> Array:
    """A Parameter of an array's value."""
    return Array(array.text, array.value, array.dtype, True)


@dataclass(frozen=True)
class Call:
    """One call. `made` are the arguments of a class whose object is then called; `program` replaces it all."""

    name: str
    args: tuple = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    made: tuple[tuple, dict[str, Any]] | None = None
    program: Callable | None = None
    label: str = ""
    tol: float | None = None
    grad: bool = False
    ref: Callable | None = None
    torch: str = ""  # what PyTorch calls it: asked where the reference has no kernel
    shape_only: bool = False

    @property
    def key(self) -> str:
        """The text of the call, by which its answer is found."""
        if self.program:
            return f"{self.name}: {self.label}"
        made = _listed(*self.made) if self.made else ""
        grad = " and gradients" if self.grad else ""
        return f"{self.name}{made}{_listed(self.args, self.kwargs)}{grad}"


def _listed(args: tuple, kwargs: dict[str, Any]) -> str:
    return f"({', '.join([*map(repr, args), *(f'{k}={v!r}' for k, v in kwargs.items())])})"


_listing: list[Call] = []
_OPTIONS = ("tol", "grad", "ref", "torch", "shape_only")


def call(name: str, *args: Any, **kwargs: Any) -> None:
    """Lists the call of a function; of a method as `Tensor.NAME`, whose first argument is the Tensor."""
    options = {k: kwargs.pop(k) for k in _OPTIONS if k in kwargs}
    _listing.append(Call(name, args, kwargs, **options))


def made(name: str, *args: Any, **kwargs: Any) -> Callable[..., None]:
    """Lists the call of an object of a class: `made("nn.Dense", 3, 4)(f32(2, 3))`."""

    def then(*inputs: Any, **named: Any) -> None:
        options = {k: named.pop(k) for k in _OPTIONS if k in named}
        _listing.append(Call(name, inputs, named, (args, kwargs), **options))

    return then


def case(
    name: str,
    tol: float | None = None,
    shape_only: bool = False,
    ref: Callable[[], Any] | None = None,
) -> Callable:
    """Lists a program over the package; what it returns is compared. Told from others by its docstring or number. `ref` says
    what it returns where the reference cannot run it."""

    def listed(program: Callable) -> Callable:
        count = sum(c.name == name and c.program is not None for c in _listing)
        label = (program.__doc__ or f"program {count}").splitlines()[0]
        options = {"tol": tol, "shape_only": shape_only, "ref": ref}
        _listing.append(Call(name, program=program, label=label, **options))
        return program

    return listed


def families() -> list[str]:
    """The lists there are."""
    return sorted(p.stem for p in CALLS.glob("*.py") if p.stem != "__init__")


def calls_of(family: str) -> list[Call]:
    """The calls that a list names, each once."""
    _listing.clear()
    source = CALLS / f"{family}.py"
    module = types.ModuleType(f"calls_{family}")
    sys.modules[module.__name__] = module  # where compilers look up what its programs name
    exec(compile(source.read_text(), str(source), "exec"), vars(module))
    keys: dict[str, Call] = {}
    for listed in _listing:
        if listed.key in keys:
            raise ValueError(f"{source}: {listed.key} is listed twice.")
        keys[listed.key] = listed
    return list(keys.values())


def found(ms: Any, name: str) -> Any:
    """What a public name means in a package."""
    here, *rest = name.split(".")
    path, value = ms.__name__, ms
    for part in (here, *rest):
        path = f"{path}.{part}"
        try:
            value = getattr(value, part)
        except AttributeError:
            value = importlib.import_module(path)
    return value


def given(ms: Any, value: Any) -> Any:
    """An argument as the package takes it: arrays become Tensors, names what they mean."""
    if isinstance(value, Array):
        tensor = ms.Tensor(value.value)
        if value.dtype == "bfloat16":
            tensor = tensor.astype(ms.bfloat16)
        return ms.Parameter(tensor, name="given") if value.parameter else tensor
    if isinstance(value, At):
        return found(ms, value.name)
    if isinstance(value, (list, tuple)):
        return type(value)(given(ms, v) for v in value)
    if isinstance(value, dict):
        return {k: given(ms, v) for k, v in value.items()}
    return value


def value_of(name: str, shape: Sequence[int]) -> np.ndarray:
    """What a parameter of a layer is given, known by its name."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    return random.uniform(0.1 if "var" in name else -1.0, 1.0, tuple(shape)).astype(np.float32)


def _filled(ms: Any, made: Any) -> Any:
    if isinstance(made, ms.nn.Cell):
        for parameter in made.get_parameters():
            values = value_of(parameter.name, parameter.shape)
            parameter.set_data(ms.Tensor(values, parameter.dtype))
    return made


def _callee(ms: Any, listed: Call) -> Callable:
    if listed.name.startswith("Tensor."):
        method = listed.name.removeprefix("Tensor.")
        return lambda self, *args, **kwargs: _attribute(self, method, args, kwargs)
    if listed.made is None:
        return found(ms, listed.name)
    args, kwargs = given(ms, listed.made)
    return _filled(ms, found(ms, listed.name)(*args, **kwargs))


def _attribute(self: Any, name: str, args: tuple, kwargs: dict) -> Any:
    value = getattr(self, name)
    return value(*args, **kwargs) if callable(value) else value


def result_of(ms: Any, listed: Call, compiled: bool = False) -> Any:
    """The result of a call as plain values; of one with gradients, followed by these."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_seed(1)
    if listed.program:
        ms.set_context(mode=ms.GRAPH_MODE if compiled else ms.PYNATIVE_MODE)
        return described(ms, listed.program(ms))
    callee = _callee(ms, listed)
    args, kwargs = given(ms, list(listed.args)), given(ms, listed.kwargs)
    if compiled:
        ms.set_context(mode=ms.GRAPH_MODE)
        callee = _compiled(ms, callee)
    result = [described(ms, callee(*args, **kwargs))]
    written = [a for a in args if isinstance(a, ms.Parameter)]
    result += [described(ms, w) for w in written]
    if listed.grad:
        result.append(described(ms, _gradients(ms, callee, args, kwargs)))
    return result


def _compiled(ms: Any, callee: Callable) -> Callable:
    class Net(ms.nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.callee = callee

        def construct(self, *args: Any, **kwargs: Any) -> Any:
            return self.callee(*args, **kwargs)

    return Net()


def _gradients(ms: Any, callee: Callable, args: list, kwargs: dict) -> Any:
    places = [i for i, a in enumerate(args) if isinstance(a, ms.Tensor) and "Float" in str(a.dtype)]

    def weighed(*inputs: Any) -> Any:
        results = callee(*inputs, **kwargs)
        total = 0
        for r in results if isinstance(results, (tuple, list)) else (results,):
            if isinstance(r, ms.Tensor) and "Float" in str(r.dtype):
                weights = np.cos(np.arange(r.size, dtype=np.float64)).reshape(r.shape) + 0.5
                total = total + (r * ms.Tensor(weights).astype(r.dtype)).sum()
        return total

    return ms.grad(weighed, tuple(places))(*args)


_MOST = 256  # elements that are kept of a large array


def described(ms: Any, value: Any) -> Any:
    """A result as plain values that JSON can keep."""
    if isinstance(value, ms.Tensor):
        dtype = str(value.dtype)
        array = value.astype(ms.float32) if dtype == "BFloat16" else value
        return _kept(dtype, array.asnumpy())
    if isinstance(value, (np.ndarray, np.generic)):
        return _kept(f"numpy {value.dtype}", np.asarray(value))
    if isinstance(value, (tuple, list)):
        return [described(ms, v) for v in value]
    if isinstance(value, dict):
        return {str(k): described(ms, v) for k, v in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if inspect.isclass(value):
        return f"class {value.__name__}"
    text = str(value)
    return text if text[:1].isupper() and len(text) < 40 else f"a {type(value).__name__}"


def _kept(dtype: str, array: np.ndarray) -> dict[str, Any]:
    flat = array.reshape(-1)
    if np.iscomplexobj(flat):
        flat = np.stack([flat.real, flat.imag], -1).reshape(-1)
    step = -(-flat.size // _MOST) or 1
    digits = 17 if flat.dtype == np.float64 else 9
    values = flat[::step].tolist()
    if flat.dtype.kind == "f":
        values = [float(f"{v:.{digits}g}") for v in values]
    return {"dtype": dtype, "shape": list(array.shape), "values": values}


def leaves(described_value: Any) -> Iterator[Any]:
    """The arrays and plain values of a result."""
    if isinstance(described_value, list):
        for part in described_value:
            yield from leaves(part)
    else:
        yield described_value
