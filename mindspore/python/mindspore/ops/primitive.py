"""Primitive: the class form of an op, `P.MatMul(transpose_b=True)(x, y)`: attributes in the constructor, tensors in the call.
DeclaredPrimitive is the base of those made from the registry; the others are for users' own."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, Literal

from mindspore import _core
from mindspore.common._checked import check_methods, checked
from mindspore.common._kinds import Count
from mindspore.common._refused import refused_attributes
from mindspore.ops import _older_names, _pinned, _user_primitive


class Primitive:
    """An op as an object. A user's subclass, or `Primitive("MatMul")` itself, runs the op that bears its name, or else what its
    method vm_impl computes.

    Args:
        name: the name of the op.
    """

    name: str
    instance_name = ""
    attrs: dict[str, Any]

    @checked
    def __init__(self, name: str):
        self.name = name
        self.__dict__.setdefault("attrs", {})

    def __call__(self, *args: Any) -> Any:
        return _user_primitive.run(self, args)

    def __getattr__(self, key: str) -> Any:
        attrs = self.__dict__.get("attrs", {})
        if key in attrs:
            return attrs[key]
        raise AttributeError(f"'{type(self).__name__}' has no attribute '{key}'")

    def __repr__(self) -> str:
        shown = (
            f"{k}={v}" for k, v in self.attrs.items() if k not in ("input_names", "output_names")
        )
        text = ", ".join(shown)
        return f"Prim[{self.name}]<{text}>" if text else f"Prim[{self.name}]"

    def __deepcopy__(self, memo: dict) -> Primitive:
        return self

    def add_prim_attr(self, name: str, value: Any) -> Primitive:
        """Sets an attribute, of the object too; one that the op declares takes effect on the next call."""
        self.__dict__[name] = value
        self.attrs[name] = value
        self._changed()
        return self

    add_attr = add_prim_attr

    def del_prim_attr(self, name: str) -> Primitive:
        """Removes an attribute."""
        self.attrs.pop(name, None)
        self.__dict__.pop(name, None)
        self._changed()
        return self

    del_attr = del_prim_attr

    def get_attr_dict(self) -> dict[str, Any]:
        """The attributes by name."""
        return dict(self.attrs)

    def _changed(self) -> None:
        """An attribute changed."""
        _core.bump_epoch()

    def init_prim_io_names(self, inputs: list[str], outputs: list[str]) -> None:
        """Names of inputs and outputs, for display only."""
        self.attrs.setdefault("input_names", inputs)
        self.attrs.setdefault("output_names", outputs)

    def set_prim_instance_name(self, name: str) -> Primitive:
        """A name for display."""
        self.instance_name = name
        return self

    set_instance_name = set_prim_instance_name

    def set_device(self, device_target: str) -> Primitive:
        """The device of this op; the default device is the only choice of this build."""
        return self.add_prim_attr("primitive_target", device_target)

    def set_stage(self, stage: int) -> Primitive:
        """The pipeline stage of this op."""
        return self.add_prim_attr("stage", stage)

    def shard(self, in_strategy: Any = None, out_strategy: Any = None) -> Any:
        """How the op is cut among processes in the modes "semi_auto_parallel" and "auto_parallel".

        Args:
            in_strategy: For each tensor that goes in a tuple: how often each of its dimensions is cut; or a Layout.
            out_strategy: The same of what comes out.
        """
        _pinned.check_strategies(f"{self.name}.shard", in_strategy, out_strategy)
        return self.add_prim_attr("in_strategy", in_strategy).add_prim_attr(
            "out_strategy", out_strategy
        )

    set_strategy = shard

    @checked
    def place(
        self, role: Literal["MS_WORKER", "MS_SERVER", "MS_PSERVER", "MS_SCHED"], rank_id: Count
    ) -> Any:
        """The process that is to run this op; kept for parallel modes."""
        return self.add_prim_attr("placement", (role, rank_id))

    @checked
    def recompute(self, mode: bool = True) -> Any:
        """Whether backward may run this op again instead of saving its result."""
        return self.add_prim_attr("recompute", mode)

    @property
    def update_parameter(self) -> bool:
        """Whether a call gives a Parameter another value."""
        return bool(getattr(self, "_updates", ()))

    def check_elim(self, *args: Any) -> tuple[bool, Any]:
        """Whether a call with these arguments needs no op, and what it gives then; a subclass may say so."""
        del args
        return False, None

    def set_user_data(self, key: str, value: Any) -> None:
        """Keeps something beside the primitive."""
        self.__dict__.setdefault("_user_data", {})[key] = value

    def get_user_data(self, key: str) -> Any:
        """What was kept under a name; None if nothing was."""
        return self.__dict__.get("_user_data", {}).get(key)

    def _noted(self, *settings: Any) -> None:
        """Takes what other compilers must be told; here it is seen from the op."""
        del settings

    set_const_prim = set_const_input_indexes = set_inplace_prim = _noted
    set_prim_type = set_signatures = _noted


for _name, _refusal in refused_attributes("ops.Primitive").items():
    setattr(Primitive, _name, _refusal)


class _ConstructorSignature:
    """What `inspect.signature` and `help` show of a class whose constructor is declared."""

    def __get__(self, primitive: Any, kind: type[DeclaredPrimitive]) -> inspect.Signature:
        if primitive is not None or kind.__init__ is not DeclaredPrimitive.__init__:
            raise AttributeError("__signature__")  # that of `__call__`, or of the class's own
        parameters = [
            inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=default if has_default else inspect.Parameter.empty,
            )
            for name, default, has_default in kind._constructor
        ]
        return inspect.Signature(parameters)


class DeclaredPrimitive(Primitive):
    """Base of the classes in `mindspore.ops.operations`, which are made from the op registry."""

    _op: str = ""
    _constructor: list = []
    _call_names: list[str] = []
    _attributes: frozenset = frozenset()
    _updates: list = []
    __signature__ = _ConstructorSignature()

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
                left = sorted(known - values.keys() - kwargs.keys())
                now = _older_names.meant(type(self), key, left)
                if now is None:
                    raise TypeError(
                        f"For '{name}', the constructor has no argument '{key}'; it takes {sorted(known)}."
                    )
                key = now
            if key in values:
                raise TypeError(f"For '{name}', the constructor got two values for '{key}'.")
            values[key] = value
        for n, _, has_default in accepted:
            if n not in values and not has_default:
                raise TypeError(f"For '{name}', the constructor needs '{n}'.")
        self.name = name
        self.attrs = {n: values.get(n, default) for n, default, _ in accepted}
        self._bind()

    def _bind(self) -> None:
        attributes = {
            n: v for n, v in self.attrs.items() if n in self._attributes and v is not None
        }
        self._call = _core.make_function(self._op, self.name, self._call_names, attributes)
        if self.attrs.get("in_strategy") is not None:
            self._call = _pinned.pinned_call(self, self._call)

    def _changed(self) -> None:
        self._bind()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_call"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)


def _default(method: Callable) -> Callable:
    """Marks a method that says nothing: a subclass may."""
    method._ms_default = True  # type: ignore[attr-defined]
    return method


class PythonPrimitive(DeclaredPrimitive):
    """A primitive whose call is Python. What its constructor takes stands in `_constructor`, or in the signature of its own
    `__init__`, which hands all of it on in order."""

    def __init_subclass__(cls) -> None:
        if "__init__" in vars(cls):
            _, *parameters = inspect.signature(cls.__init__).parameters.values()
            cls._constructor = [
                (p.name, p.default, p.default is not inspect.Parameter.empty) for p in parameters
            ]
        check_methods(cls, ("__init__", "__call__"))

    def _bind(self) -> None:
        self.name = type(self).__name__


class PrimitiveWithInfer(Primitive):
    """Base of user-defined primitives: the subclass tells the types of its results from those of its inputs, by infer_shape and
    infer_dtype or by __infer__ on (shape, dtype, value) together, and computes them in vm_impl, unless an op bears its name."""

    def __init__(self, name: str):
        super().__init__(name)

    @_default
    def infer_shape(self, *args: Any) -> Any:
        """The shapes of the results from those of the inputs."""

    @_default
    def infer_dtype(self, *args: Any) -> Any:
        """The dtypes of the results from those of the inputs."""

    @_default
    def infer_value(self, *args: Any) -> Any:
        """The result, if it is known before anything runs; inputs that are tensors are None."""


class PrimitiveWithCheck(Primitive):
    """Base of user-defined primitives that check their inputs: by check_shape and check_dtype, or by __check__."""

    def __init__(self, name: str):
        super().__init__(name)

    @_default
    def check_shape(self, *args: Any) -> None:
        """Raises an exception if the shapes of the inputs are wrong."""

    @_default
    def check_dtype(self, *args: Any) -> None:
        """Raises an exception if the dtypes of the inputs are wrong."""


@checked
def prim_attr_register(function: types.FunctionType) -> Callable:
    """Decorates a constructor: the primitive is named after its class, and the arguments become attributes."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def construct(self: Any, *args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        Primitive.__init__(self, type(self).__name__)
        self.init_attrs = dict(list(bound.arguments.items())[1:])
        for name, value in self.init_attrs.items():
            self.__dict__[name] = self.attrs[name] = value
        return function(self, *args, **kwargs)

    return construct


prim_arg_register = prim_attr_register


@checked
def constexpr(
    fn: Callable | None = None,
    get_instance: bool = True,
    name: str | None = None,
    reuse_result: bool = True,
    check: bool = True,
) -> Any:
    """Marks a function that runs while a graph is compiled, on values known then; its result is a constant of the graph.

    The other arguments are accepted.
    """
    del get_instance, name, reuse_result, check
    return _marked("constexpr", fn, True)


def _primexpr(
    fn: Callable | None = None,
    get_instance: bool = True,
    name: str | None = None,
    reuse_result: bool = True,
) -> Any:
    """Like constexpr; but where an argument is known only at run time, the function is compiled."""
    del get_instance, name, reuse_result
    return _marked("_primexpr", fn, False)


def _marked(what: str, fn: Any, constant: bool) -> Any:
    def mark(function: Callable) -> Callable:
        if not callable(function):
            raise TypeError(
                f"For '{what}', the argument must be a function, but got {type(function).__name__}."
            )
        try:
            function._ms_constexpr = constant  # type: ignore[attr-defined]
        except (AttributeError, TypeError):
            raise TypeError(
                f"For '{what}', the argument must be a function, but got {function!r}."
            ) from None
        return function

    return mark if fn is None else mark(fn)
