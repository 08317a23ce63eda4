"""How a Primitive that a user defined is run: by the op that bears its name, or by its own vm_impl, of whose results infer_shape
and infer_dtype tell the types; its gradient is its bprop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common import dtype as mstype
from mindspore.common._tree import flatten
from mindspore.ops._custom import custom_call, invoke

# The classes made from the registry and those of Python values, by name; filled where they are made.
DECLARED: dict[str, type] = {}


class BpropRegistry:
    """Gradients of primitives by class or name: `@bprop_getters.register(MyOp)` marks a function of the primitive that returns
    its bprop(*inputs, out, dout)."""

    def __init__(self) -> None:
        self._getters: dict[Any, Callable] = {}

    def register(self, primitive: Any) -> Callable:
        """Decorates the function that returns the gradient of a primitive."""
        if not isinstance(primitive, (type, str)):
            raise TypeError(
                f"For 'bprop_getters.register', the primitive must be a class or a name, but got {primitive!r}."
            )
        if primitive in DECLARED or primitive in DECLARED.values():
            raise ValueError(
                f"For 'bprop_getters.register', the primitive must be your own, but got {primitive!r}, whose gradient "
                "is built in."
            )

        def add(getter: Callable) -> Callable:
            self._getters[primitive] = getter
            return getter

        return add

    def get(self, primitive: Any) -> Callable | None:
        """The gradient function of a primitive, or None."""
        for key in (*type(primitive).__mro__, primitive.name):
            if key in self._getters:
                return self._getters[key](primitive)
        own = getattr(primitive, "get_bprop", None)
        return None if own is None else own()


bprop_getters = BpropRegistry()


def run(primitive: Any, args: tuple) -> Any:
    """The result of a call."""
    _check(primitive, args)
    bprop = bprop_getters.get(primitive)
    if primitive.name in DECLARED:
        op = _declared(primitive)
        return op(*args) if bprop is None else _differentiated(primitive, op, bprop, args)
    types, single, known = _inferred(primitive, args)
    if known is not None:
        return known
    if getattr(primitive, "vm_impl", None) is None:
        raise TypeError(
            f"For '{primitive.name}', there must be an op of this name or a method vm_impl that computes it, but got "
            "neither."
        )

    def compute(*inputs: Any) -> list:
        return _checked(primitive, primitive.vm_impl(*inputs), types)

    def forward(*inputs: Any) -> Any:
        if not _core.is_tracing():
            made = compute(*inputs)
        else:
            made = _late.compiler.host_call_in_trace(primitive.name, compute, inputs, types)
        alone = single if types is not None else len(made) == 1
        return made[0] if alone else tuple(made)

    if bprop is None:
        bprop = _no_gradient(primitive.name)
    return _differentiated(primitive, forward, bprop, args)


def _differentiated(primitive: Any, forward: Callable, bprop: Callable, args: tuple) -> Any:
    return custom_call(
        f"{primitive.name}.bprop", forward, lambda *given: invoke(bprop, *given), args
    )


def _no_gradient(name: str) -> Callable:
    def missing(*_: Any) -> Any:
        raise TypeError(
            f"For '{name}', a gradient is asked for, but it has no bprop; define get_bprop, or register one with "
            "bprop_getters"
        )

    return missing


def _declared(primitive: Any) -> Any:
    """An instance of the class of the same name, with those attributes that it takes."""
    attributes = dict(primitive.attrs)
    known, made = primitive.__dict__.get("_declared", (None, None))
    if known != attributes:
        kind: Any = DECLARED[primitive.name]
        taken = {n: attributes[n] for n, _, _ in kind._constructor if n in attributes}
        made = kind(**taken)
        primitive.__dict__["_declared"] = (attributes, made)
    return made


# ---- inference ------------------------------------------------------------------------------------------------------------
def _defines(primitive: Any, name: str) -> bool:
    method = getattr(type(primitive), name, None)
    return method is not None and not getattr(method, "_ms_default", False)


def _shape_of(value: Any) -> Any:
    if isinstance(value, Tensor):
        return list(value.shape)
    if isinstance(value, (tuple, list)):
        return tuple(map(_shape_of, value))
    return None if value is None else []


def _dtype_of(value: Any) -> Any:
    if isinstance(value, Tensor):
        return mstype.TensorType(value.dtype)
    if isinstance(value, (tuple, list)):
        return tuple(map(_dtype_of, value))
    if isinstance(value, float):
        return mstype.float32  # among tensors
    if isinstance(value, (int, complex)):
        return mstype.get_py_obj_dtype(value)
    return None if value is None else mstype.string if isinstance(value, str) else type(value)


def _value_of(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(map(_value_of, value))
    return None if isinstance(value, Tensor) else value


def _facts(args: tuple) -> list[dict]:
    return [{"shape": _shape_of(a), "dtype": _dtype_of(a), "value": _value_of(a)} for a in args]


def _check(primitive: Any, args: tuple) -> None:
    """The checks of a PrimitiveWithCheck."""
    if _defines(primitive, "__check__"):
        primitive.__check__(*_facts(args))
        return
    if _defines(primitive, "check_shape"):
        primitive.check_shape(*map(_shape_of, args))
    if _defines(primitive, "check_dtype"):
        primitive.check_dtype(*map(_dtype_of, args))


def _inferred(primitive: Any, args: tuple) -> tuple[list | None, bool, Any]:
    """(dtype, shape) of each result, whether there is but one, and the value if it is known; types are None where the primitive
    does not say."""
    value = None
    if _defines(primitive, "__infer__"):
        found = primitive.__infer__(*_facts(args))
        dtypes, shapes, value = found["dtype"], found["shape"], found.get("value")
    else:
        dtypes = shapes = None
        if _defines(primitive, "infer_dtype"):
            dtypes = primitive.infer_dtype(*map(_dtype_of, args))
        if _defines(primitive, "infer_shape"):
            shapes = primitive.infer_shape(*map(_shape_of, args))
        if _defines(primitive, "infer_value"):
            value = primitive.infer_value(*map(_value_of, args))
    if dtypes is None or shapes is None or value is not None:
        return None, True, value
    single = not isinstance(dtypes, (tuple, list))
    pairs = [(dtypes, shapes)] if single else list(zip(dtypes, shapes))
    return [(_plain(primitive, d), [int(size) for size in s]) for d, s in pairs], single, value


def _plain(primitive: Any, dtype: Any) -> Any:
    dtype = dtype.element_type() if isinstance(dtype, mstype.TensorType) else dtype
    if not isinstance(dtype, _core.DType):
        raise TypeError(
            f"For '{primitive.name}', infer_dtype must return dtypes, but got {type(dtype).__name__}."
        )
    return dtype


def _checked(primitive: Any, result: Any, types: list | None) -> list:
    """The tensors that vm_impl returned; they must be what was inferred."""
    made = list(result) if isinstance(result, (tuple, list)) else [result]
    made = [m if isinstance(m, Tensor) else Tensor(m) for m in made]
    if types is None:
        return made
    if len(made) != len(types):
        raise ValueError(
            f"For '{primitive.name}', vm_impl must return {len(types)} tensors, but got {len(made)}."
        )
    for tensor, (dtype, shape) in zip(made, types):
        if tensor.dtype != dtype or list(tensor.shape) != shape:
            raise ValueError(
                f"For '{primitive.name}', vm_impl must return {dtype}{shape}, as inference says, but got "
                f"{tensor.dtype}{list(tensor.shape)}."
            )
    return flatten(made)
