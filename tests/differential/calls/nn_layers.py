"""Calls of layers and losses."""

import math

import numpy as np
from differential.calllib import at, case, f16, f32, f64, i32, made, of

# ---- losses
for reduction in ("none", "mean", "sum"):
    made("nn.PoissonNLLLoss", reduction=reduction)(
        f32(3, 4), f32(3, 4, low=0.0, high=5.0), grad=True
    )
made("nn.PoissonNLLLoss", False)(f32(3, 4, low=0.1), f32(3, 4, low=0.0, high=5.0), grad=True)
made("nn.PoissonNLLLoss", False, True, 0.1, "none")(
    f32(3, 4, low=0.0), of([[0.0, 1.0, 2.0, 3.0]] * 3)
)
made("nn.PoissonNLLLoss", full=True)(f16(4), of([0.0, 1.0, 2.0, 5.0], "float16"))
made("nn.PoissonNLLLoss", reduction="all")(f32(3), f32(3))
made("nn.MultiClassDiceLoss")(f32(3, 4), f32(3, 4, low=0.0, high=1.0), grad=True)
made("nn.MultiClassDiceLoss", ignore_indiex=2)(f32(2, 3, 4, 5), f32(2, 3, 4, 5, low=0.0))
made("nn.MultiClassDiceLoss", f32(4, 2), 1, "sigmoid")(f32(3, 4), f32(3, 4, low=0.0))
made("nn.MultiClassDiceLoss", activation=None)(f32(3, 4, low=0.0), f32(3, 4, low=0.0, seed=1))
made("nn.MultiClassDiceLoss", f32(4))(f32(3, 4), f32(3, 4))
made("nn.MultiClassDiceLoss", f32(3, 2))(f32(3, 4), f32(3, 4))
made("nn.MultiClassDiceLoss", activation="step")(f32(3, 4), f32(3, 4))
made("nn.MultiClassDiceLoss")(f32(3, 4), f32(3, 3))
for swap in (False, True):
    made("nn.TripletMarginWithDistanceLoss", None, swap)(
        f32(3, 4), f32(3, 4, seed=1), f32(3, 4, seed=2), grad=True
    )
made("nn.TripletMarginWithDistanceLoss", reduction="none", margin=0.1)(
    f32(2, 3, 4), f32(2, 3, 4, seed=1), f32(2, 3, 4, seed=2)
)
made("nn.TripletMarginWithDistanceLoss")(f32(4), f32(4, seed=1), f32(4, seed=2))
_SAMPLE = (of([0, 2], "int32"), f32(3, 1, low=0.1), f32(2, low=0.1))
made("nn.SampledSoftmaxLoss", 2, 5, 1, _SAMPLE)(
    f32(5, 4), f32(5), of([[3], [1], [4]], "int32"), f32(3, 4)
)
made("nn.SampledSoftmaxLoss", 2, 5, 1, _SAMPLE, False)(
    f32(5, 4), f32(5), of([[0], [1], [2]], "int32"), f32(3, 4), grad=True
)
made("nn.SampledSoftmaxLoss", 2, 5, 1, _SAMPLE)(
    f32(5, 4), f32(5), of([[0], [1], [2]], "int32"), f32(3, 4)
)
made("nn.SampledSoftmaxLoss", 2, 5, 2, (_SAMPLE[0], f32(3, 2, low=0.1), _SAMPLE[2]))(
    f32(5, 4), f32(5), of([[1, 3], [1, 4], [3, 4]], "int32"), f32(3, 4)
)
made("nn.SampledSoftmaxLoss", 7, 5)(f32(5, 4), f32(5), of([[0]], "int32"), f32(1, 4))
made("nn.SampledSoftmaxLoss", 2, 5, 1, _SAMPLE[:2])(
    f32(5, 4), f32(5), of([[0]], "int32"), f32(1, 4)
)
made("nn.L1LossExt")(f32(3, 4), f32(3, 4, seed=1), ref=lambda x, y: np.abs(x - y).mean())

# ---- functions
for name in ("LGamma", "DiGamma"):
    made(f"nn.{name}")(f32(3, 4, low=0.1, high=9.0))
    made(f"nn.{name}")(of([0.5, 1.0, 2.0, 30.0]))
made("nn.LBeta")(f32(3, 4, low=0.1, high=5.0), f32(3, 4, low=0.1, high=5.0, seed=1), tol=1e-4)
made("nn.LBeta")(of([0.5, 9.0, 100.0, 1e5]), of([20.0, 9.0, 0.1, 1e6]), tol=1e-4)
made("nn.L1Regularizer", 0.1)(f32(3, 4), grad=True)
made("nn.L1Regularizer", 2)(f16(4))
made("nn.L1Regularizer", 0)(f32(3))
made("nn.L1Regularizer", "a")(f32(3))

# ---- shapes
made("nn.Unflatten", 1, (2, 2))(f32(3, 4), grad=True)
made("nn.Unflatten", -1, [2, -1])(f32(3, 4))
made("nn.Unflatten", 0, (3, 1, 1))(i32(3, 4))
made("nn.Unflatten", 1, (3, 2))(f32(3, 4))
made("nn.Unflatten", 1, 3)(f32(3, 4))
made("nn.Unflatten", 2, (2, 2))(f32(3, 4))
made("nn.Roll", 1, 0)(f32(3, 4), ref=lambda x: np.roll(x, 1, 0))
made("nn.Roll", [1, -2], [0, 1])(i32(3, 4), ref=lambda x: np.roll(x, (1, -2), (0, 1)))
made("nn.Roll", (1,), (0, 1))(f32(3, 4))
made("nn.Roll", 1.0, 0)(f32(3, 4))
for time, other, shape in (
    (1, 0, (2, 3, 4)),
    (0, 1, (3, 2, 4)),
    (1, None, (2, 3, 4)),
    (-2, 0, (2, 3, 4)),
):
    made("nn.TimeDistributed", at("ops.ReLU"), time, other)(f32(*shape))


def timed(time, other, shape, make):
    """A layer over steps."""

    @case("nn.TimeDistributed")
    def program(ms):
        layer = ms.nn.TimeDistributed(make(ms), time, other)
        for parameter in layer.get_parameters():
            parameter.set_data(
                ms.Tensor(np.linspace(-1, 1, parameter.size).reshape(parameter.shape), ms.float32)
            )
        return layer(
            ms.Tensor(np.linspace(-2, 2, math.prod(shape)).reshape(shape).astype(np.float32))
        )


timed(1, 0, (2, 3, 4), lambda ms: ms.nn.Dense(4, 2))
timed(1, None, (2, 3, 4), lambda ms: ms.nn.Dense(4, 2))
timed(2, 0, (2, 3, 4), lambda ms: ms.nn.Dense(3, 2))
timed(0, 1, (2, 3, 4), lambda ms: ms.nn.Dense(4, 2))
timed(2, 0, (2, 3, 4, 5, 5), lambda ms: ms.nn.Conv2d(3, 2, 3))
timed(2, None, (2, 3, 4, 5, 5), lambda ms: ms.nn.Conv2d(3, 2, 3))
timed(0, None, (2, 3, 4), lambda ms: ms.nn.LayerNorm((4,)))
timed(1, 2, (2, 3, 4), lambda ms: ms.nn.ReLU())
timed(1, -1, (2, 3, 4), lambda ms: ms.nn.ReLU())
timed(1, None, (2, 3), lambda ms: ms.nn.ReLU())
timed(1, None, (2, 3, 4), lambda ms: 3)

# ---- dense and embeddings
made("nn.Linear", 3, 2)(f32(4, 3))
made("nn.Linear", 3, 2, bias=False)(f32(2, 4, 3))
made("nn.Linear", 3, 2, dtype=at("float16"))(f16(3))
made("nn.Linear", 3, 2, weight_init=f32(3, 3))(f32(4, 3))
made("nn.Linear", 0, 2)(f32(4, 3))
made("nn.BiDense", 3, 4, 2)(f32(5, 3), f32(5, 4))
made("nn.BiDense", 3, 4, 2, has_bias=False)(f32(2, 5, 3), f32(2, 5, 4))
made("nn.BiDense", 3, 4, 2, f32(2, 4, 3))(f32(5, 3), f32(5, 4))
made("nn.PReLUExt", 3)(f32(2, 3, 4))
made("nn.PReLUExt")(f32(3, 4))
made("nn.PReLUExt", 1, 0.5)(f32(3))
made("nn.DropoutExt", 0.3)(f32(3, 4))
made("nn.Dropout2dExt", 0.3)(f32(1, 2, 3, 4))
made("nn.LogSoftmaxExt")(f32(3, 4), ref=lambda x: x - np.log(np.exp(x).sum(1, keepdims=True)))
made("nn.LogSoftmaxExt")(f32(3), ref=lambda x: x - np.log(np.exp(x).sum()))
made("nn.LogSoftmaxExt", -2)(f32(3, 4), ref=lambda x: x - np.log(np.exp(x).sum(0, keepdims=True)))
made("nn.LogSoftmaxExt", 3)(f32(3, 4))
made("nn.LayerNormExt", [3, 4], elementwise_affine=False)(
    f32(2, 3, 4),
    ref=lambda x: (
        (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-5)
    ),
)
made("nn.LayerNormExt", 4, 0.1, False)(
    f32(2, 4), ref=lambda x: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 0.1)
)
made("nn.EmbeddingLookup", 5, 2)(of([[0, 4], [1, 1]], "int32"))
made("nn.EmbeddingLookup", 5, 2)(of([[0, 7]], "int32"))
made("nn.EmbeddingLookup", 5, 2, max_norm=0.5)(of([[0, 4], [1, 1]], "int32"))
made("nn.EmbeddingLookup", 5, 2, target="DEVICE", sparse=False)(of([0, 4], "int64"))
made("nn.EmbeddingLookup", 5, 2, sparse=False)(of([[0]], "int32"))
_FIELDS = (
    of([[2, 4, 6, 0, 0], [1, 3, 5, 0, 0]], "int32"),
    of([[0, 1, 1, 0, 0], [0, 0, 1, 0, 0]], "int32"),
)
for operator in ("SUM", "MEAN", "MAX"):
    for values in ([[1.0, 1, 1, 0, 0], [1, 2, 1, 0, 0]], [[1.0, -2, 0.5, 0, 0], [1, 2, -1, 0, 0]]):
        made("nn.MultiFieldEmbeddingLookup", 10, 2, 3, operator=operator)(
            _FIELDS[0], of(values), _FIELDS[1]
        )
made("nn.MultiFieldEmbeddingLookup", 10, 2, 3, max_norm=0.5)(_FIELDS[0], f32(2, 5), _FIELDS[1])
made("nn.MultiFieldEmbeddingLookup", 10, 2, 3, operator="MIN")(_FIELDS[0], f32(2, 5), _FIELDS[1])
made("nn.MultiFieldEmbeddingLookup", 10, 2, 0)(_FIELDS[0], f32(2, 5), _FIELDS[1])

# ---- sparse
_PLACES = of([[0, 1], [1, 2], [2, 0]], "int32")
made("nn.SparseTensorDenseMatmul")(_PLACES, f32(3), (3, 4), f32(4, 2))
made("nn.SparseTensorDenseMatmul", True)(_PLACES, f32(3), (3, 4), f32(3, 2))
made("nn.SparseTensorDenseMatmul", False, True)(_PLACES, f32(3), (3, 4), f32(2, 4))
made("nn.SparseTensorDenseMatmul", True, True)(_PLACES, f64(3), (3, 4), f64(2, 3))
made("nn.SparseTensorDenseMatmul", 1)(_PLACES, f32(3), (3, 4), f32(4, 2))
