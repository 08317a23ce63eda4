"""Ops of quantised networks: int8 values stand for numbers scaled by a tensor, a row or a column. The products are made of bytes
with exact sums; the scaling around them is elementwise work, which the compiler fuses. Networks import them by this path."""

from __future__ import annotations

from typing import Any

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._checked import checked
from mindspore.common._dtypes import HALVES
from mindspore.ops._bind import raw
from mindspore.ops.function.linalg_func import matmul
from mindspore.ops.function.math_func import clamp, round
from mindspore.ops.function.reduce_func import amax
from mindspore.ops.primitive import PythonPrimitive

__all__ = [
    "DynamicQuantExt",
    "QuantBatchMatmul",
    "QuantV2",
    "WeightQuantBatchMatmul",
    "quant_batch_matmul",
    "weight_quant_batch_matmul",
]

Arguments = list[tuple[str, Any, bool]]  # name, default, has a default

_int8, _int32, _float32 = _core.int8, _core.int32, _core.float32
_FLOATS = (*HALVES, _float32)
_bytes, _reshape, _transpose = raw("MatMulInteger"), raw("Reshape"), raw("Transpose")


def _check_dtype(name: str, argument: str, x: Tensor, allowed: tuple[DType, ...]) -> None:
    if x.dtype not in allowed:
        kinds = ", ".join(str(t) for t in allowed)
        raise TypeError(
            f"For '{name}', the dtype of '{argument}' must be one of ({kinds}), but got {x.dtype}."
        )


def _check_columns(name: str, argument: str, x: Tensor, columns: int) -> None:
    if x.size not in (1, columns) or x.ndim != 1:
        raise ValueError(
            f"For '{name}', '{argument}' must have shape (1,) or ({columns},), but got {x.shape}."
        )


def _check_bias(name: str, bias: Any, allowed: tuple[DType, ...], result: tuple[int, ...]) -> None:
    """It has all columns, and makes the result no larger."""
    _check_dtype(name, "bias", bias, allowed)
    if bias.shape[-1:] != result[-1:]:
        raise ValueError(
            f"For '{name}', 'bias' must have {result[-1]} columns, but got shape {bias.shape}."
        )
    _check_spreads(name, "bias", bias, result)


def _check_spreads(name: str, argument: str, x: Tensor, result: tuple[int, ...]) -> None:
    sizes = zip(reversed(x.shape), reversed(result))
    if x.ndim > len(result) or any(size not in (1, to) for size, to in sizes):
        raise ValueError(
            f"For '{name}', '{argument}' must broadcast to the product's shape {result}, but got {x.shape}."
        )


def _to_int8(x: Tensor) -> Tensor:
    return clamp(round(x), -128, 127).astype(_int8)


def _check_result(name: str, dtype: Any) -> None:
    if dtype not in (_int8, *_FLOATS):
        raise TypeError(
            f"For '{name}', 'dtype' must be one of (Int8, Float16, BFloat16, Float32), but got {dtype}."
        )


@checked
def quant_batch_matmul(
    x1: Tensor,
    x2: Tensor,
    scale: Tensor,
    offset: Tensor | None = None,
    bias: Tensor | None = None,
    pertokenScaleOptional: Tensor | None = None,
    transpose_x1: bool = False,
    transpose_x2: bool = False,
    dtype: DType = _core.float16,
) -> Tensor:
    """The product of two int8 matrices, or stacks of them, as numbers: (x1 @ x2 + bias) * scale + offset, where an int32 bias
    belongs to the sums and another one is added at the end.

    Args:
        scale: One number, or one for each column.
        offset: As scale.
        bias: One number for each column.
        pertokenScaleOptional: A further factor for each row of x1.
        dtype: Of the result; for int8 it is rounded and limited.
    """
    name = "QuantBatchMatmul"
    _check_dtype(name, "x1", x1, (_int8,))
    _check_dtype(name, "x2", x2, (_int8,))
    _check_dtype(name, "scale", scale, _FLOATS)
    _check_result(name, dtype)
    sums = _bytes(x1, x2, transpose_a=transpose_x1, transpose_b=transpose_x2)
    columns = sums.shape[-1]
    _check_columns(name, "scale", scale, columns)
    if bias is not None:
        _check_bias(name, bias, (_int32, *_FLOATS), sums.shape)
        if bias.dtype == _int32:
            sums = sums + bias
    result = sums.astype(_float32) * scale.astype(_float32)
    if pertokenScaleOptional is not None:
        result = result * _per_row(name, pertokenScaleOptional, sums.shape[-2])
    if bias is not None and bias.dtype != _int32:
        result = result + bias.astype(_float32)
    if offset is not None:
        _check_dtype(name, "offset", offset, _FLOATS)
        _check_columns(name, "offset", offset, columns)
        result = result + offset.astype(_float32)
    return _to_int8(result) if dtype == _int8 else result.astype(dtype)


def _per_row(name: str, scale: Any, rows: int) -> Tensor:
    _check_dtype(name, "pertokenScaleOptional", scale, _FLOATS)
    if scale.shape != (rows,):
        raise ValueError(
            f"For '{name}', 'pertokenScaleOptional' must have shape ({rows},), but got {scale.shape}."
        )
    return _reshape(scale.astype(_float32), shape=(rows, 1))


@checked
def weight_quant_batch_matmul(
    x: Tensor,
    weight: Tensor,
    antiquant_scale: Tensor,
    antiquant_offset: Tensor | None = None,
    quant_scale: Tensor | None = None,
    quant_offset: Tensor | None = None,
    bias: Tensor | None = None,
    transpose_x: bool = False,
    transpose_weight: bool = False,
    antiquant_group_size: int = 0,
) -> Tensor:
    """x times a weight of bytes: x @ ((weight + antiquant_offset) * antiquant_scale) + bias, in the dtype of x.

    Args:
        antiquant_scale: One number, one for each column, or with antiquant_group_size [groups, columns].
        antiquant_offset: As antiquant_scale.
        quant_scale: With it the result is int8: round(result * quant_scale + quant_offset).
        antiquant_group_size: How many rows of the weight share a scale; 0: all.
    """
    name = "WeightQuantBatchMatmul"
    _check_dtype(name, "x", x, _FLOATS)
    _check_dtype(name, "weight", weight, (_int8,))
    if weight.ndim != 2:
        raise ValueError(f"For '{name}', 'weight' must be a matrix, but got shape {weight.shape}.")
    if transpose_weight:
        weight = _transpose(weight, perm=(1, 0))
    plain = weight.astype(x.dtype)
    if antiquant_offset is not None:
        plain = plain + _of_groups(
            name, "antiquant_offset", antiquant_offset, weight, antiquant_group_size
        ).astype(x.dtype)
    plain = plain * _of_groups(
        name, "antiquant_scale", antiquant_scale, weight, antiquant_group_size
    ).astype(x.dtype)
    if transpose_x:
        if x.ndim < 2:
            raise ValueError(
                f"For '{name}', 'x' must have at least 2 dimensions to be transposed, but got shape {x.shape}."
            )
        axes = list(range(x.ndim))
        x = _transpose(x, perm=(*axes[:-2], axes[-1], axes[-2]))
    result = matmul(x, plain)
    if bias is not None:
        _check_bias(name, bias, _FLOATS, result.shape)
        result = result + bias.astype(x.dtype)
    if quant_scale is None:
        if quant_offset is not None:
            raise ValueError(
                f"For '{name}', 'quant_offset' must be None without 'quant_scale', but got a Tensor."
            )
        return result
    _check_dtype(name, "quant_scale", quant_scale, _FLOATS)
    _check_spreads(name, "quant_scale", quant_scale, result.shape)
    result = result.astype(_float32) * quant_scale.astype(_float32)
    if quant_offset is not None:
        _check_dtype(name, "quant_offset", quant_offset, _FLOATS)
        _check_spreads(name, "quant_offset", quant_offset, result.shape)
        result = result + quant_offset.astype(_float32)
    return _to_int8(result)


def _of_groups(name: str, argument: str, scale: Any, weight: Tensor, group: int) -> Tensor:
    """The scale as something that broadcasts against the weight."""
    _check_dtype(name, argument, scale, _FLOATS)
    rows, columns = weight.shape
    if group == 0:
        if scale.size not in (1, columns):
            raise ValueError(
                f"For '{name}', '{argument}' must have 1 or {columns} elements, but got shape {scale.shape}."
            )
        return _reshape(scale, shape=(1, scale.size))
    if group < 0 or rows % group != 0 or scale.shape != (rows // group, columns):
        raise ValueError(
            f"For '{name}', '{argument}' must have one row for each {group} of {rows} rows and {columns} columns, but "
            f"got shape {scale.shape}."
        )
    return scale.repeat(group, axis=0)


class QuantBatchMatmul(PythonPrimitive):
    """The product of int8 matrices, scaled; see quant_batch_matmul."""

    _constructor: Arguments = [
        ("transpose_x1", False, True),
        ("transpose_x2", False, True),
        ("dtype", _core.float16, True),
    ]

    def __call__(
        self,
        x1: Tensor,
        x2: Tensor,
        scale: Tensor,
        offset: Tensor | None = None,
        bias: Tensor | None = None,
        pertokenScaleOptional: Tensor | None = None,
    ) -> Tensor:
        return quant_batch_matmul(
            x1,
            x2,
            scale,
            offset,
            bias,
            pertokenScaleOptional,
            self.transpose_x1,
            self.transpose_x2,
            self.dtype,
        )


class WeightQuantBatchMatmul(PythonPrimitive):
    """The product with a weight of bytes; see weight_quant_batch_matmul."""

    _constructor: Arguments = [
        ("transpose_x", False, True),
        ("transpose_weight", False, True),
        ("antiquant_group_size", 0, True),
    ]

    def __call__(
        self,
        x: Tensor,
        weight: Tensor,
        antiquant_scale: Tensor,
        antiquant_offset: Tensor | None = None,
        quant_scale: Tensor | None = None,
        quant_offset: Tensor | None = None,
        bias: Tensor | None = None,
    ) -> Tensor:
        return weight_quant_batch_matmul(
            x,
            weight,
            antiquant_scale,
            antiquant_offset,
            quant_scale,
            quant_offset,
            bias,
            self.transpose_x,
            self.transpose_weight,
            self.antiquant_group_size,
        )


class QuantV2(PythonPrimitive):
    """x as bytes: round(x * scale + offset), limited; with sqrt_mode round(x * scale * scale + offset)."""

    def __call__(
        self,
        x: Tensor,
        scale: Tensor,
        offset: Tensor,
        sqrt_mode: bool = False,
        rounding_mode: str = "ROUND",
        dst_type: DType = _int8,
    ) -> Tensor:
        name = "QuantV2"
        for argument, value in (("x", x), ("scale", scale), ("offset", offset)):
            _check_dtype(name, argument, value, _FLOATS)
        for argument, value in (("scale", scale), ("offset", offset)):
            if x.ndim < 1 or value.shape[-1:] != x.shape[-1:] or value.size != x.shape[-1]:
                raise ValueError(
                    f"For '{name}', '{argument}' must have the last size of 'x' {x.shape} and 1 elsewhere, but got "
                    f"{value.shape}."
                )
        if rounding_mode.upper() != "ROUND":
            raise ValueError(
                f"For '{name}', 'rounding_mode' must be 'ROUND', but got {rounding_mode!r}."
            )
        if dst_type != _int8:
            raise TypeError(f"For '{name}', 'dst_type' must be Int8, but got {dst_type}.")
        factor = scale.astype(_float32)
        wide = x.astype(_float32) * factor
        return _to_int8((wide * factor if sqrt_mode else wide) + offset.astype(_float32))


class DynamicQuantExt(PythonPrimitive):
    """Each row of x as bytes and one scale, the largest of its magnitudes over 127: (bytes, scales)."""

    def __call__(self, x: Tensor, smooth_scales: Tensor | None = None) -> tuple[Tensor, Tensor]:
        name = "DynamicQuantExt"
        _check_dtype(name, "x", x, _FLOATS)
        if x.shape[-1:] in ((), (0,)):
            raise ValueError(
                f"For '{name}', the rows of 'x' must have elements, but got shape {x.shape}."
            )
        wide = x.astype(_float32)
        if smooth_scales is not None:
            _check_dtype(name, "smooth_scales", smooth_scales, _FLOATS)
            if smooth_scales.shape != x.shape[-1:]:
                raise ValueError(
                    f"For '{name}', 'smooth_scales' must have shape {x.shape[-1:]}, but got {smooth_scales.shape}."
                )
            wide = wide * smooth_scales.astype(_float32)
        scale = amax(wide.abs(), -1, keepdims=True) / 127
        # A row of zeros has scale 0 and stays zero.
        return _to_int8(wide / (scale + (scale == 0))), _reshape(scale, shape=x.shape[:-1])
