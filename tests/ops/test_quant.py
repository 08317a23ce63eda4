"""Ops of quantised networks against their formulas, in both modes, and what they refuse."""

import importlib

import numpy as np
import pytest

import mindspore
from mindspore import QuantDtype, Tensor, context, jit, nn, ops
from mindspore import dtype as mstype
from mindspore.ops.auto_generate import (
    DynamicQuantExt,
    QuantBatchMatmul,
    QuantV2,
    WeightQuantBatchMatmul,
    quant_batch_matmul,
    weight_quant_batch_matmul,
)

RNG = np.random.default_rng(3)


def int8(*shape):
    return RNG.integers(-128, 128, shape).astype(np.int8)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def both_modes(function, *inputs):
    """The result of a run in each mode, which must be equal."""
    eager = function(*inputs)
    compiled = jit(function)(*inputs)
    assert eager.dtype == compiled.dtype
    a, b = (x.astype(mstype.float32).asnumpy() for x in (eager, compiled))
    np.testing.assert_array_equal(a, b)
    return a


@pytest.mark.parametrize("shape", [(3, 5, 7), (1, 64, 96), (130, 257, 40)])
@pytest.mark.parametrize("across", [False, True])
def test_product_of_bytes_is_exact(shape, across):
    m, k, n = shape
    x, w = int8(m, k), int8(k, n)
    scale, bias = floats(n) * 1e-3, RNG.integers(-1000, 1000, n).astype(np.int32)
    want = (x.astype(np.int64) @ w.astype(np.int64) + bias).astype(np.float32) * scale
    given = np.ascontiguousarray(w.T) if across else w

    def run(x, w, scale, bias):
        return quant_batch_matmul(x, w, scale, bias=bias, transpose_x2=across, dtype=mstype.float32)

    got = both_modes(run, *map(Tensor, (x, given, scale, bias)))
    np.testing.assert_array_equal(got, want)


def test_offset_row_scales_and_int8_result():
    x, w, scale, offset = int8(2, 4, 8), int8(8, 6), floats(6) * 1e-2, floats(1) * 10
    rows, bias = floats(4), floats(6)
    product = QuantBatchMatmul(dtype=mstype.int8)

    def run(x, w, scale, offset, bias, rows):
        return product(x, w, scale, offset, bias, rows)

    got = both_modes(run, *map(Tensor, (x, w, scale, offset, bias, rows)))
    sums = (x.astype(np.int64) @ w.astype(np.int64)).astype(np.float32)
    want = np.clip(np.round(sums * scale * rows[:, None] + bias + offset), -128, 127)
    assert np.abs(got - want).max() <= 1 and (got == want).mean() > 0.9
    assert product(*map(Tensor, (x, w, scale, offset))).dtype == mstype.int8


def test_results_of_half_types():
    x, w, scale = int8(3, 16), int8(16, 5), floats(1) * 1e-3
    want = (x.astype(np.int64) @ w.astype(np.int64)).astype(np.float32) * scale
    for dtype, close in ((mstype.float16, 1e-3), (mstype.bfloat16, 1e-2)):
        got = quant_batch_matmul(*map(Tensor, (x, w, scale)), dtype=dtype)
        assert got.dtype == dtype
        np.testing.assert_allclose(got.astype(mstype.float32).asnumpy(), want, rtol=close)


@pytest.mark.parametrize("group", [0, 4])
@pytest.mark.parametrize("across", [False, True])
def test_weight_of_bytes(group, across):
    x, w = floats(3, 8), int8(8, 6)
    scale, offset = (floats(8 // group, 6) if group else floats(6) for _ in range(2))
    wide = np.repeat(scale, group, 0) if group else scale
    shift = np.repeat(offset, group, 0) if group else offset
    want = x @ ((w + shift) * wide)
    given = np.ascontiguousarray(w.T) if across else w
    product = WeightQuantBatchMatmul(transpose_weight=across, antiquant_group_size=group)
    got = product(Tensor(x), Tensor(given), Tensor(scale), Tensor(offset))
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-4, atol=1e-3)
    quantised = weight_quant_batch_matmul(
        *map(Tensor, (x, given, scale, offset)),
        quant_scale=Tensor(np.float32([0.1])),
        quant_offset=Tensor(np.float32([3])),
        bias=Tensor(floats(6) * 0),
        transpose_weight=across,
        antiquant_group_size=group,
    )
    near = np.clip(np.round(want * 0.1 + 3), -128, 127)
    assert quantised.dtype == mstype.int8
    assert np.abs(quantised.asnumpy().astype(int) - near).max() <= 1


def test_quantising():
    x, scale, offset = (
        Tensor(np.array(v, np.float32)) for v in ([100.0, 150.0], [80.0, 40.0], [0.0, 2.0])
    )
    infer_ops = importlib.import_module("mindspore.ops.operations._infer_ops")
    assert infer_ops.QuantV2 is QuantV2
    np.testing.assert_array_equal(QuantV2()(x, scale, offset, False, "Round", mstype.int8), 127)
    small = Tensor(np.array([0.026, -0.037], np.float32))
    np.testing.assert_array_equal(QuantV2()(small, scale, offset).asnumpy(), [2, 1])
    got = QuantV2()(small, scale, offset, True)
    np.testing.assert_array_equal(got.asnumpy(), [127, -57])


def test_each_row_by_its_largest():
    x = floats(4, 9).astype(np.float16)
    x[2] = 0
    smooth = np.abs(floats(9)).astype(np.float16) + np.float16(0.1)

    def run(x, smooth):
        y, scale = DynamicQuantExt()(x, smooth)
        return y.astype(mstype.float32) * scale.expand_dims(-1)

    wide = x.astype(np.float32) * smooth
    got = both_modes(run, Tensor(x), Tensor(smooth))
    step = np.abs(wide).max(-1, keepdims=True) / 127
    assert (np.abs(got - wide) <= step * 0.51).all()
    y, scale = DynamicQuantExt()(Tensor(x))
    assert y.dtype == mstype.int8 and scale.dtype == mstype.float32 and scale.shape == (4,)


@pytest.mark.parametrize("pad_mode", ["same", "valid"])
@pytest.mark.parametrize("group", [1, 4])
def test_convolution_of_bytes(pad_mode, group):
    """The sums are those of whole numbers; a quantised network is near the one it was made of."""
    x, w = int8(2, 4, 7, 6), int8(8, 4 // group, 3, 3)
    convolution = ops.Conv2D(8, 3, pad_mode=pad_mode, stride=2, group=group)
    sums = both_modes(lambda x, w: convolution(x, w), Tensor(x), Tensor(w))
    want = convolution(Tensor(x.astype(np.float64)), Tensor(w.astype(np.float64))).asnumpy()
    np.testing.assert_array_equal(sums, want)
    assert convolution(Tensor(x), Tensor(w)).dtype == mstype.int32


def test_quantised_network_is_near():
    """Two dense layers by hand: weights by column, activations by row."""
    x = floats(16, 64)
    layers = [nn.Dense(64, 128), nn.Dense(128, 10)]
    want = layers[1](ops.relu(layers[0](Tensor(x)))).asnumpy()

    class Quantised(nn.Cell):
        def __init__(self, dense):
            super().__init__()
            weight = dense.weight.asnumpy()
            scale = np.abs(weight).max(1) / 127
            self.weight = mindspore.Parameter(
                Tensor(np.round(weight / scale[:, None]).astype(np.int8)), requires_grad=False
            )
            self.scale, self.bias = Tensor(scale.astype(np.float32)), dense.bias
            self.quantise = DynamicQuantExt()
            self.product = QuantBatchMatmul(transpose_x2=True, dtype=mstype.float32)

        def construct(self, x):
            y, rows = self.quantise(x)
            return self.product(y, self.weight, self.scale, None, self.bias, rows)

    first, second = (Quantised(dense) for dense in layers)
    got = both_modes(lambda x: second(ops.relu(first(x))), Tensor(x))
    assert np.abs(got - want).max() < 0.02 * np.abs(want).max()


def test_refusals():
    x, w, scale = Tensor(int8(2, 3)), Tensor(int8(3, 4)), Tensor(floats(4))
    with pytest.raises(TypeError, match=r"the dtype of 'x1' must be one of \(Int8\)"):
        quant_batch_matmul(Tensor(floats(2, 3)), w, scale)
    with pytest.raises(TypeError, match="the dtype of 'scale' must be"):
        quant_batch_matmul(x, w, Tensor(np.ones(4, np.int64)))
    with pytest.raises(ValueError, match="the inner sizes must be equal, but got 3 and 4"):
        quant_batch_matmul(x, w, scale, transpose_x2=True)
    with pytest.raises(ValueError, match=r"'scale' must have shape \(1,\) or \(4,\)"):
        quant_batch_matmul(x, w, Tensor(floats(3)))
    with pytest.raises(ValueError, match="'bias' must have 4 columns"):
        quant_batch_matmul(x, w, scale, bias=Tensor(floats(3)))
    with pytest.raises(ValueError, match=r"'pertokenScaleOptional' must have shape \(2,\)"):
        quant_batch_matmul(x, w, scale, pertokenScaleOptional=Tensor(floats(3)))
    with pytest.raises(TypeError, match="'dtype' must be one of"):
        quant_batch_matmul(x, w, scale, dtype=mstype.int32)
    with pytest.raises(ValueError, match="'weight' must be a matrix"):
        weight_quant_batch_matmul(Tensor(floats(2, 3)), Tensor(int8(1, 3, 4)), scale)
    with pytest.raises(ValueError, match="'antiquant_scale' must have one row for each 2 of 3"):
        weight_quant_batch_matmul(
            Tensor(floats(2, 3)), w, Tensor(floats(1, 4)), antiquant_group_size=2
        )
    with pytest.raises(ValueError, match="'rounding_mode' must be 'ROUND', but got 'CEIL'"):
        QuantV2()(Tensor(floats(2, 4)), scale, scale, False, "CEIL")
    with pytest.raises(ValueError, match="'offset' must have the last size of 'x'"):
        QuantV2()(Tensor(floats(2, 4)), scale, Tensor(floats(3)))
    with pytest.raises(ValueError, match="'smooth_scales' must have shape"):
        DynamicQuantExt()(Tensor(floats(2, 4)), Tensor(floats(3)))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"bias": (5, 1, 4)}, ValueError, "'bias' must broadcast to the product's shape"),
        ({"bias": (5,)}, ValueError, "'bias' must have 4 columns, but got shape"),
        ({"quant_scale": (5, 1, 1)}, ValueError, "'quant_scale' must broadcast to the product's"),
        ({"quant_scale": (4,), "quant_offset": (3,)}, ValueError, "'quant_offset' must broadcast"),
        ({"quant_offset": (4,)}, ValueError, "'quant_offset' must be None without 'quant_scale'"),
        ({"antiquant_group_size": 0.5}, TypeError, "'antiquant_group_size' must be an int"),
        ({"antiquant_group_size": True}, TypeError, "'antiquant_group_size' must be an int"),
    ],
)
@pytest.mark.parametrize("compiled", [False, True])
def test_refusals_about_a_weight_of_bytes(compiled, arguments, error, message):
    x, w, scale = Tensor(floats(2, 3)), Tensor(int8(3, 4)), Tensor(floats(4))
    given = {k: Tensor(floats(*v)) if isinstance(v, tuple) else v for k, v in arguments.items()}

    def product(x, w, scale):
        return weight_quant_batch_matmul(x, w, scale, **given)

    with pytest.raises(error, match="(?i)For 'weight_?quant_?batch_?matmul', " + message):
        (jit(product) if compiled else product)(x, w, scale)


def test_refusals_of_rows_without_elements():
    one = Tensor(np.float32(1))
    with pytest.raises(ValueError, match="'x' must have at least 2 dimensions to be transposed"):
        weight_quant_batch_matmul(Tensor(floats(3)), Tensor(int8(3, 4)), one, transpose_x=True)
    with pytest.raises(ValueError, match="'scale' must have the last size of 'x'"):
        QuantV2()(one, one, one)
    with pytest.raises(TypeError, match="'rounding_mode' must be a str, but got None"):
        QuantV2()(Tensor(floats(2, 4)), Tensor(floats(4)), Tensor(floats(4)), False, None)
    for shape in [(), (2, 0)]:
        with pytest.raises(ValueError, match="the rows of 'x' must have elements, but got shape"):
            DynamicQuantExt()(Tensor(np.zeros(shape, np.float32)))


def test_quant_dtype():
    """Names, numbers and text as tools read them."""
    assert mindspore.QuantDtype is QuantDtype and len(QuantDtype) == 32
    assert QuantDtype.INT8.value() == 7 and QuantDtype.UINT4.value() == 103
    assert str(QuantDtype.INT8) == "INT8" and QuantDtype["UINT16"] is QuantDtype.UINT16


@pytest.fixture(autouse=True)
def pynative():
    context.set_context(mode=context.PYNATIVE_MODE)
