"""Primitive: the class form of an op, `P.MatMul(transpose_b=True)(x, y)`: attributes in the constructor, tensors in the call."""

from __future__ import annotations

from typing import Any

from mindspore import _core


class Primitive:
    """Base of the classes in `mindspore.ops.operations`, which are made from the op registry."""

    _op: str = ""
    _constructor: list = []
    _call_names: list[str] = []
    _attributes: frozenset = frozenset()
    _updates: list = []

    def __init__(self, *args: Any, **kwargs: Any):
        name = type(self).__name__
        accepted = self._constructor
        if len(args) > len(accepted):
            raise TypeError(
                f"For '{name}', the constructor takes {len(accepted)} arguments, but got {len(args)}."
            )
        values = dict(zip((n for n, _, _ in accepted), args))
        known = {n for n, _, _ in accepted}
        for key, value in kwargs.items():
            if key not in known:
                raise TypeError(
                    f"For '{name}', the constructor has no argument '{key}'; it takes {sorted(known)}."
                )
            if key in values:
                raise TypeError(f"For '{name}', the constructor got two values for '{key}'.")
            values[key] = value
        for n, default, has_default in accepted:
            if n not in values:
                if not has_default:
                    raise TypeError(f"For '{name}', the constructor needs '{n}'.")
                values[n] = default
        self.name = name
        self.attrs = values
        self.instance_name = ""
        self._bind()

    def _bind(self) -> None:
        attributes = {
            n: v for n, v in self.attrs.items() if n in self._attributes and v is not None
        }
        self._call = _core.make_function(self._op, self.name, self._call_names, attributes)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __getattr__(self, key: str) -> Any:
        attrs = self.__dict__.get("attrs", {})
        if key in attrs:
            return attrs[key]
        raise AttributeError(f"'{type(self).__name__}' has no attribute '{key}'")

    def __repr__(self) -> str:
        return f"Prim[{self.name}]<{', '.join(f'{k}={v}' for k, v in self.attrs.items())}>"

    def __deepcopy__(self, memo: dict) -> Primitive:
        return self

    def add_prim_attr(self, name: str, value: Any) -> Primitive:
        """Sets an attribute; one that the op declares takes effect on the next call."""
        self.attrs[name] = value
        if self._op:
            self._bind()
        return self

    def del_prim_attr(self, name: str) -> Primitive:
        """Removes an attribute."""
        self.attrs.pop(name, None)
        return self

    def init_prim_io_names(self, inputs: list[str], outputs: list[str]) -> None:
        """Names of inputs and outputs, for display only."""
        self.attrs.setdefault("input_names", inputs)
        self.attrs.setdefault("output_names", outputs)

    def set_prim_instance_name(self, name: str) -> Primitive:
        """A name for display."""
        self.instance_name = name
        return self

    def set_device(self, device_target: str) -> Primitive:
        """The device of this op; the default device is the only choice of this build."""
        return self.add_prim_attr("primitive_target", device_target)

    def set_stage(self, stage: int) -> Primitive:
        """The pipeline stage of this op."""
        return self.add_prim_attr("stage", stage)

    def shard(self, in_strategy: Any = None, out_strategy: Any = None) -> Primitive:
        """The sharding of this op's inputs and outputs; kept for parallel modes."""
        return self.add_prim_attr("in_strategy", in_strategy).add_prim_attr(
            "out_strategy", out_strategy
        )

    set_strategy = shard

    def recompute(self, mode: bool = True) -> Primitive:
        """Whether backward may run this op again instead of saving its result."""
        return self.add_prim_attr("recompute", mode)


class PythonPrimitive(Primitive):
    """A primitive whose call is Python."""

    def _bind(self) -> None:
        self.name = type(self).__name__


class PrimitiveWithInfer(Primitive):
    """Base of user-defined primitives of the first releases."""


class PrimitiveWithCheck(Primitive):
    """Base of user-defined primitives that check their inputs."""


def prim_attr_register(function):
    """Decorates a constructor: its arguments become attributes."""
    import functools
    import inspect

    signature = inspect.signature(function)

    @functools.wraps(function)
    def construct(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        values = dict(list(bound.arguments.items())[1:])
        self.name = (
            getattr(self, "name", type(self).__name__)
            if "name" in self.__dict__
            else type(self).__name__
        )
        self.__dict__.setdefault("attrs", {}).update(values)
        return function(self, *args, **kwargs)

    return construct


def constexpr(fn=None, get_instance=True, name=None, reuse_result=True, check=True):
    """Marks a function that runs while a graph is compiled, on values known then."""
    del get_instance, name, reuse_result, check

    def mark(function):
        function._ms_constexpr = True
        return function

    return mark if fn is None else mark(fn)


_primexpr = constexpr
