"""Checks of arguments, `mindspore._checkparam`: functions since 2.0, before that static methods of Validator, and in the first releases
with the name in front of the value. All spellings raise the same: TypeError for a wrong type, ValueError for a wrong value."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import mindspore
from mindspore._compat.check_numbers import (  # noqa: F401 - names of this module, too
    _BINARY,
    EQ,
    GE,
    GT,
    IN,
    INC_BOTH,
    INC_LEFT,
    INC_NEITHER,
    INC_RIGHT,
    LE,
    LT,
    NE,
    NOT_IN,
    Rel,
    _either_order,
    _refuse,
    _related,
    _within,
    check_equal_int,
    check_float,
    check_float_legal_value,
    check_float_positive,
    check_float_range,
    check_int,
    check_int_range,
    check_integer,
    check_is_float,
    check_is_int,
    check_is_number,
    check_negative_float,
    check_negative_int,
    check_non_negative_float,
    check_non_negative_int,
    check_non_positive_float,
    check_non_positive_int,
    check_number,
    check_number_range,
    check_positive_float,
    check_positive_int,
)
from mindspore.common import dtype as mstype


# ---- other values
@_either_order
def check_bool(arg_value: Any, arg_name: Any = None, prim_name: Any = None) -> bool:
    """A bool."""
    if not isinstance(arg_value, bool):
        raise _refuse(TypeError, prim_name, arg_name, "be a bool", type(arg_value).__name__)
    return arg_value


def check_string(
    arg_value: Any, valid_values: Any, arg_name: Any = None, prim_name: Any = None
) -> str:
    """A str that is one of some."""
    if isinstance(valid_values, str):  # the order of the first releases
        arg_value, valid_values, arg_name = valid_values, arg_name, arg_value
    if not isinstance(arg_value, str):
        raise _refuse(ValueError, prim_name, arg_name, f"be one of {list(valid_values)}", arg_value)
    return _related(arg_value, list(valid_values), IN, arg_name, prim_name)


def check_str_by_regular(
    target: str, reg: str | None = None, flag: int = re.ASCII, prim_name: Any = None
) -> bool:
    """A str that a regular expression matches."""
    pattern = reg or r"^\w*[0-9a-zA-Z\_\.\-]*$"
    if not isinstance(target, str) or re.match(pattern, target, flag) is None:
        raise _refuse(ValueError, prim_name, "target", f"match {pattern!r}", repr(target))
    return True


def check_str_and_none_by_regular(
    target: str | None, reg: str | None = None, flag: int = re.ASCII, prim_name: Any = None
) -> bool:
    """The same, or None."""
    return target is None or check_str_by_regular(target, reg, flag, prim_name)


def check_file_name_by_regular(target: str, reg: str | None = None, prim_name: Any = None) -> bool:
    """The name of a file of plain characters."""
    return check_str_by_regular(target, reg or r"^[0-9a-zA-Z@\_\-\.\:\/\\]+$", prim_name=prim_name)


# ---- types
def _kinds(valid_types: Any) -> tuple[type, ...]:
    return tuple(valid_types) if isinstance(valid_types, Iterable) else (valid_types,)


def check_value_type(arg_name: Any, arg_value: Any, valid_types: Any, prim_name: Any = None) -> Any:
    """A value of one of some types; a bool is an int only where bool is named."""
    kinds = _kinds(valid_types)
    known = tuple(type(None) if k is None else k for k in kinds)
    if not isinstance(arg_value, known) or (isinstance(arg_value, bool) and bool not in kinds):
        names = [getattr(k, "__name__", str(k)) for k in kinds]
        must = f"be of type {names[0]}" if len(names) == 1 else f"be of one of the types {names}"
        raise _refuse(TypeError, prim_name, arg_name, must, type(arg_value).__name__)
    return arg_value


def check_isinstance(arg_name: Any, arg_value: Any, classes: Any) -> Any:
    """An object of a class."""
    if not isinstance(arg_value, classes):
        raise _refuse(ValueError, None, arg_name, f"be an instance of {classes}", arg_value)
    return arg_value


def check_element_type_of_iterable(
    arg_name: Any, arg_value: Any, valid_types: Any, prim_name: Any = None
) -> Any:
    """Items of some types."""
    check_value_type(arg_name, arg_value, [list, tuple, set, dict], prim_name)
    for i, item in enumerate(arg_value):
        check_value_type(f"{arg_name}[{i}]", item, valid_types, prim_name)
    return arg_value


def check_element_type_of_dict(
    arg_name: Any, arg_value: Any, key_types: Any, value_types: Any, prim_name: Any = None
) -> Any:
    """Keys and values of some types."""
    check_value_type(arg_name, arg_value, [dict], prim_name)
    for key, item in arg_value.items():
        check_value_type(f"a key of {arg_name}", key, key_types, prim_name)
        check_value_type(f"{arg_name}[{key!r}]", item, value_types, prim_name)
    return arg_value


def check_size_and_element_type_of_tuple(
    arg_name: Any,
    arg_value: Any,
    expect_size: int,
    expect_element_type: type,
    prim_name: Any = None,
) -> None:
    """A tuple of so many items of a type."""
    check_value_type(arg_name, arg_value, [tuple], prim_name)
    check_equal_int(len(arg_value), expect_size, f"the length of {arg_name}", prim_name)
    for i, item in enumerate(arg_value):
        check_value_type(f"{arg_name}[{i}]", item, [expect_element_type], prim_name)


def _element(kind: Any) -> Any:
    """The element type of a tensor type, or the type itself."""
    return kind.element_type() if isinstance(kind, mstype.TensorType) else kind


def check_subclass(
    arg_name: Any, type_: Any, template_types: Any, prim_name: Any, addition_error_info: Any = None
) -> None:
    """An element type of some kinds."""
    del addition_error_info
    kinds = _kinds(template_types)
    if not any(type_ == k or _is_subclass(type_, k) for k in kinds):
        raise _refuse(
            TypeError, prim_name, arg_name, f"be of {', '.join(str(k) for k in kinds)}", type_
        )


def _is_subclass(type_: Any, kind: Any) -> bool:
    try:
        return bool(mstype.issubclass_(type_, kind))
    except TypeError:
        return isinstance(type_, type) and isinstance(kind, type) and issubclass(type_, kind)


def check_type_name(arg_name: Any, arg_type: Any, valid_types: Any, prim_name: Any = None) -> Any:
    """One of some element types."""
    if _element(arg_type) not in _kinds(valid_types):
        must = f"be one of {[str(k) for k in _kinds(valid_types)]}"
        raise _refuse(TypeError, prim_name, arg_name, must, arg_type)
    return arg_type


def check_tensor_dtype_valid(
    arg_name: Any, arg_type: Any, valid_dtypes: Any, prim_name: Any
) -> Any:
    """A tensor type of one of some element types."""
    check_type_name(arg_name, arg_type, valid_dtypes, prim_name)
    return _element(arg_type)


def check_types_same_and_valid(args: dict, valid_values: Any, prim_name: Any) -> None:
    """Types that are the same, and one of some."""
    first = next(iter(args.items()))
    for name, kind in args.items():
        check_type_name(name, kind, valid_values, prim_name)
        if _element(kind) != _element(first[1]):
            raise _refuse(
                TypeError, prim_name, name, f"be of the type of '{first[0]}', {first[1]}", kind
            )


def check_tensors_dtypes_same_and_valid(args: dict, valid_dtypes: Any, prim_name: Any) -> Any:
    """Tensor types of the same element type, one of some."""
    check_types_same_and_valid(args, valid_dtypes, prim_name)
    return _element(next(iter(args.values())))


check_tensor_type_same = check_tensors_dtypes_same_and_valid


def check_scalar_or_tensor_types_same(
    args: dict, valid_values: Any, prim_name: Any, allow_mix: bool = False
) -> None:
    """Types of numbers or tensors, which are the same and one of some."""
    kinds = {isinstance(k, mstype.TensorType) for k in args.values()}
    if len(kinds) > 1 and not allow_mix:
        raise _refuse(TypeError, prim_name, ", ".join(args), "be all tensors or none", args)
    check_types_same_and_valid(args, valid_values, prim_name)


def check_astype_dtype(dtype: Any) -> Any:
    """An element type, by itself or by its name."""
    if isinstance(dtype, str):
        dtype = getattr(mindspore, "bool_" if dtype == "bool" else dtype, None)
    return mstype.pytype_to_dtype(dtype) if isinstance(dtype, type) else _known(dtype)


def _known(dtype: Any) -> Any:
    if dtype not in mstype.number_type and dtype != mstype.bool_:
        raise _refuse(TypeError, "astype", "dtype", "be a dtype", dtype)
    return dtype


# ---- sequences of numbers
def _each(check: Callable) -> Callable:
    def check_all(sequence: Any, arg_name: Any = None, prim_name: Any = None) -> Any:
        for i, item in enumerate(check_value_type(arg_name, sequence, [tuple, list], prim_name)):
            check(item, f"{arg_name or 'sequence'}[{i}]", prim_name)
        return sequence

    return check_all


check_positive_int_sequence = _each(check_positive_int)
check_non_negative_int_sequence = _each(check_non_negative_int)
check_positive_float_sequence = _each(check_positive_float)


# ---- shapes
def check_axis_in_range(axis: Any, ndim: int) -> int:
    """An axis, counted from the front."""
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
        raise _refuse(TypeError, None, "axis", "be an int", type(axis).__name__)
    return int(_within(axis, -ndim, ndim, INC_LEFT, "axis", None)) % max(ndim, 1)


def check_axis_valid(axes: Any, ndim: int) -> tuple[int, ...]:
    """Different axes, counted from the front; None for all."""
    if axes is None:
        return tuple(range(ndim))
    found = tuple(
        check_axis_in_range(a, ndim) for a in (axes if isinstance(axes, (tuple, list)) else (axes,))
    )
    if len(set(found)) != len(found):
        raise _refuse(ValueError, None, "axis", "name each axis once", axes)
    return found


check_and_canonicalize_axes = check_axis_valid


def check_transpose_axis(axes: Any, ndim: int) -> tuple[int, ...]:
    """An order of the axes: of none given, the reverse."""
    if not axes or axes == (None,):
        return tuple(range(ndim))[::-1]
    given = tuple(axes[0]) if isinstance(axes[0], (tuple, list)) else tuple(axes)
    if len(given) != ndim:
        raise _refuse(ValueError, None, "axes", f"name {ndim} axes", given)
    return check_axis_valid(given, ndim)


def infer_out_shape(*shapes: Any) -> tuple[int, ...]:
    """The shape that others are broadcast to."""
    return np.broadcast_shapes(*shapes)


# ---- the rest
def check_hook_fn(hook_fn: Any) -> bool:
    """A function."""
    if not callable(hook_fn):
        raise _refuse(TypeError, None, "hook_fn", "be a function", type(hook_fn).__name__)
    return True


def check_input_data(*data: Any, data_class: Any) -> None:
    """Objects of some classes, or lists, tuples and dicts of them."""
    for item in data:
        parts = item.values() if isinstance(item, dict) else item
        if isinstance(item, (list, tuple, dict)) and parts:
            check_input_data(*parts, data_class=data_class)
        elif not isinstance(item, data_class):
            raise ValueError(f"The data must be of {data_class}, but got {type(item).__name__}.")


def check_input_dataset(*dataset: Any, dataset_type: Any) -> bool:
    """Whether all are datasets."""
    return bool(dataset) and all(isinstance(item, dataset_type) for item in dataset)


def check(
    arg_name: Any,
    arg_value: Any,
    value_name: Any,
    value: Any,
    rel: int = EQ,
    prim_name: Any = None,
    excp_cls: type = ValueError,
) -> Any:
    """A value that relates to another one of a name."""
    holds, text = _BINARY[rel]
    if not holds(arg_value, value):
        must = f"be {text.format(f'{value_name}, {value}')}"
        raise _refuse(excp_cls, prim_name, arg_name, must, arg_value)
    return arg_value


def is_stub_tensor(tensor: Any) -> bool:
    """Whether a tensor stands for one that is not there yet: none does."""
    del tensor
    return False


def _repeated(count: int) -> Callable[[Any], tuple]:
    def repeat(m: Any) -> tuple:
        if isinstance(m, (tuple, list)):
            check_equal_int(len(m), count, "the length")
            return tuple(m)
        return (m,) * count

    return repeat


once, twice, triple = _repeated(1), _repeated(2), _repeated(3)


def args_type_check(*type_args: Any, **type_kwargs: Any) -> Callable:
    """Decorates a function whose arguments are of given types; None fits too."""

    def decorate(function: Callable) -> Callable:
        signature = inspect.signature(function)
        kinds = signature.bind_partial(*type_args, **type_kwargs).arguments

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                if name in kinds and value is not None and not isinstance(value, kinds[name]):
                    raise _refuse(
                        TypeError,
                        function.__qualname__,
                        name,
                        f"be of {kinds[name]}",
                        type(value).__name__,
                    )
            return function(*args, **kwargs)

        return call

    return decorate


class Validator:
    """The checks as static methods."""


for _name, _function in list(globals().items()):
    if callable(_function) and _name.startswith(("check", "infer_", "is_", "args_")):
        setattr(Validator, _name, staticmethod(_function))
ParamValidator = Validator
