"""Calls of the classes of pooling, random numbers, losses, steps of optimizers and recurrent layers."""

import numpy as np
from differential.calllib import at, call, case, f16, f32, i32, made, of, param


def _torch(call):
    """What PyTorch gives for the arrays: `call(torch, *tensors)`."""

    def ref(*values):
        from peers import torch  # the reference has none

        return call(
            torch, *(torch.from_numpy(v) if isinstance(v, np.ndarray) else v for v in values)
        )

    return ref


X = f32(3, 4)
IMAGE = f32(1, 2, 6, 6)

# ---- pooling ------------------------------------------------------------------------------------
made("ops.MaxPool")(IMAGE)
made("ops.MaxPool", 2, 2)(IMAGE, grad=True)
made("ops.MaxPool", kernel_size=(3, 2), strides=(2, 1), pad_mode="same")(IMAGE, grad=True)
made("ops.MaxPool", 3, 2, "VALID")(f16(2, 1, 5, 7))
made("ops.MaxPool", 2, 2, "x")(IMAGE)
made("ops.MaxPool", 2, 2)(f32(6, 6))
made("ops.MaxPool", 0)(IMAGE)
made("ops.MaxPool", 7)(IMAGE)
made("ops.MaxPoolWithArgmax")(IMAGE)
made("ops.MaxPoolWithArgmax", 2, 2)(IMAGE)
made("ops.MaxPoolWithArgmax", kernel_size=(3, 2), strides=(2, 1), pad_mode="same")(IMAGE)
made("ops.MaxPoolWithArgmax", 2, 2)(f32(6, 6))
made("ops.MaxPoolWithArgmax", 0)(IMAGE)

# ---- random: what can be said of every draw -----------------------------------------------------
for name in "UniformReal StandardNormal".split():
    made(f"ops.{name}")((2, 3), shape_only=True)
    made(f"ops.{name}", seed=2)((4,), shape_only=True)
    made(f"ops.{name}", 1, 2)((0, 2), shape_only=True)
    made(f"ops.{name}")((-1, 2))
    made(f"ops.{name}", -1)((2,))
made("ops.Gamma", seed=3)((3, 2), of([[3.0, 4.0], [5.0, 6.0]]), of([1.0]), shape_only=True)
made("ops.Gamma")((2,), of([1.0]), of([-1.0]))
made("ops.Gamma", seed=-1)((2,), of([1.0]), of([1.0]))
made("ops.Poisson", 1)((2, 3), of([4.0]), shape_only=True)
made("ops.Poisson")((2,), of([0.0]))
made("ops.Poisson")((-2,), of([4.0]))
made("ops.RandomChoiceWithMask", count=4)(
    of([[True, False], [True, True]], "bool"), shape_only=True
)
made("ops.RandomChoiceWithMask", 2, 1, 1)(of([[True, True, True]] * 3, "bool"), shape_only=True)
made("ops.RandomChoiceWithMask", 2)(i32(3, 4))
made("ops.RandomChoiceWithMask", -1)(of([[True]], "bool"))
made("ops.RandomCategorical")(X, 5, 0, shape_only=True)
made("ops.RandomCategorical", at("int32"))(X, 3, 1, shape_only=True)
made("ops.RandomCategorical")(of([[0.0, -1e9], [-1e9, 0.0]]), 4, 1)
made("ops.RandomCategorical")(f32(3), 5, 0)
made("ops.RandomCategorical", at("float32"))(X, 5, 0)
made("ops.Randperm", max_length=6, pad=-1)(
    of([1], "int32"), ref=lambda n: np.array([0, -1, -1, -1, -1, -1], "int32")
)
made("ops.Randperm", 4, -1, at("int64"))(
    of([4], "int32"), shape_only=True, ref=lambda n: np.arange(4)
)
made("ops.Randperm", 2)(of([4], "int32"))
for name, image in (("Dropout2D", f32(2, 3, 4, 4)), ("Dropout3D", f32(2, 3, 2, 2, 2))):
    made(f"ops.{name}", keep_prob=1.0)(image)
    made(f"ops.{name}", 0.0)(image)
    made(f"ops.{name}")(image, shape_only=True)
    made(f"ops.{name}", 1.5)(image)
    made(f"ops.{name}", "a")(image)
    made(f"ops.{name}")(X)


@case("ops.DropoutGenMask")
def _(ms):
    """A mask that keeps all, and one that keeps nothing, and what comes of them."""
    x = ms.Tensor(np.arange(6, dtype=np.float32))
    make, do = ms.ops.DropoutGenMask(), ms.ops.DropoutDoMask()
    return do(x, make((6,), ms.Tensor(1.0)), ms.Tensor(1.0))


made("ops.DropoutDoMask")(
    f32(4),
    of([5] + [0] * 15, "uint8"),
    of(0.5),
    ref=lambda x, m, p: x * np.array([1, 0, 1, 0], "float32") * 2,
)
made("ops.DropoutDoMask")(X, of([255] * 16, "uint8"), of(1.0), ref=lambda x, m, p: x)
made("ops.DropoutDoMask")(f32(400), of([255] * 16, "uint8"), of(1.0))
made("ops.DropoutGenMask")((2, 300), of(1.0), ref=lambda s, p: np.full(80, 255, "uint8"))

# ---- losses -------------------------------------------------------------------------------------
A, B, C = f32(3, 4), f32(3, 4, seed=1), f32(3, 4, seed=2)


def _triplet(swap, reduction):
    options = {"swap": swap, "reduction": reduction}
    return _torch(
        lambda t, a, b, c, m: t.nn.functional.triplet_margin_loss(a, b, c, 0.5, **options)
    )


for reduction in ("mean", "sum", "none"):
    for swap in (False, True):
        made("ops.TripletMarginLoss", swap=swap, reduction=reduction)(
            A, B, C, of(0.5), ref=_triplet(swap, reduction)
        )
made("ops.TripletMarginLoss", reduction="x")(A, B, C, of(0.5))
made("ops.TripletMarginLoss", p="x")(A, B, C, of(0.5))
made("ops.RNNTLoss", blank_label=0)(
    f32(1, 2, 3, 4), of([[1, 2]], "int32"), of([2], "int32"), of([2], "int32")
)
made("ops.RNNTLoss", 1)(
    f32(2, 3, 3, 5), of([[2, 3], [4, 0]], "int32"), of([3, 2], "int32"), of([2, 1], "int32")
)
made("ops.RNNTLoss")(f32(1, 2, 3, 4), of([[1.0, 2.0]]), of([2], "int32"), of([2], "int32"))

# ---- steps of optimizers: the parameters afterwards ---------------------------------------------
VAR, STATE, MORE, GRAD = (
    f32(3, 2),
    f32(3, 2, low=0.1, seed=1),
    f32(3, 2, low=0.1, seed=2),
    f32(3, 2, seed=3),
)
ROWS, PLACES = f32(3, 2, seed=4), of([0, 2, 0], "int32")
S = {x: of(x) for x in (0.1, 0.9, 0.99, 0.81, 0.98, 1e-8, 0.01, 0.05, 2.0)}


def _keras(nesterov):
    def ref(var, moved, lr, grad, momentum):
        moved = moved * momentum - lr * grad
        var = var + (moved * momentum - lr * grad if nesterov else moved)
        return (var, moved), var, moved

    return ref


def _step(name, count, *rest, made=(), **named):
    """The parameters after a step: what is returned there are numbers without meaning."""

    def program(ms):
        values = [
            ms.Parameter(ms.Tensor(p.value), name=f"p{i}") for i, p in enumerate(STATES[:count])
        ]
        inputs = [ms.Tensor(r.value) if hasattr(r, "value") else r for r in rest]
        getattr(ms.ops, name)(*made, **named)(*values, *inputs)
        return values

    program.__doc__ = f"made of {made} {named}, called with {rest}"
    case(f"ops.{name}", tol=1e-4)(program)


STATES = (VAR, STATE, MORE)
for nesterov in (False, True):
    made("ops.ApplyKerasMomentum", use_nesterov=nesterov)(
        param(VAR), param(STATE), S[0.1], GRAD, S[0.9], ref=_keras(nesterov)
    )
    for lazy in ("", "Lazy"):
        rates = [S[x] for x in (0.81, 0.98, 0.1, 0.9, 0.99, 1e-8)]
        _step(f"FusedSparse{lazy}Adam", 3, *rates, ROWS, PLACES, use_nesterov=nesterov)
made("ops.FusedSparseAdam", use_nesterov=1)(param(VAR))
made("ops.FusedSparseLazyAdam", use_locking="x")(param(VAR))
made("ops.ApplyKerasMomentum", use_nesterov=2)(param(VAR))
for rates in (
    (0.1, 0.01, 0.02, -0.5),
    (-0.1, 0.01, 0.02, -0.5),
    (0.1, 0.01, 0.02, 0.5),
    (0.1, -0.01, 0.02, 0),
):
    _step("FusedSparseFtrl", 3, ROWS, PLACES, made=rates)
_step(
    "SparseApplyFtrlV2",
    3,
    f32(2, 2, seed=4),
    of([0, 2], "int32"),
    made=(0.1, 0.01, 0.02, 0.1, -0.5),
)
_step(
    "SparseApplyFtrlV2", 3, ROWS, PLACES, lr=0.1, l1=-0.01, l2=0.02, l2_shrinkage=0.0, lr_power=-0.5
)
_step("FusedSparseProximalAdagrad", 2, S[0.1], S[0.05], S[0.1], ROWS, PLACES)
made("ops.FusedSparseProximalAdagrad", use_locking=3)(param(VAR))
made("ops.FusedWeightScaleApplyMomentum")(
    S[0.01], S[2.0], param(VAR), param(STATE), S[0.1], GRAD, S[0.9]
)
made("ops.FusedWeightScaleApplyMomentum")(param(VAR))
_step(
    "FusedCastAdamWeightDecay",
    3,
    *(S[x] for x in (0.1, 0.9, 0.99, 1e-8, 0.01)),
    f16(3, 2, seed=3),
    S[2.0],
)
made("ops.FusedCastAdamWeightDecay")(param(VAR))
SIZES = (of([1e-30, 1e-3]), of(1.0), of(0.9), of(0.8), of(0.0), of(0.03))


def _factored(name, *rest, **made):
    def program(ms):
        moments = (f32(3, 2, low=0.1), f32(3, low=0.1), f32(2, low=0.1), STATE)
        values = [ms.Parameter(ms.Tensor(p.value), name=p.text) for p in (VAR, *moments)]
        given = [ms.Tensor(x.value) for x in (*SIZES, GRAD)]
        getattr(ms.ops, name)(**made)(*given, *values, *(ms.Tensor(r.value) for r in rest))
        return values

    program.__doc__ = f"made of {made}, called with {rest}"
    case(f"ops.{name}", tol=1e-4)(program)


for name, rest in (("FusedAdaFactor", ()), ("FusedAdaFactorWithGlobalNorm", (of(2.0),))):
    _factored(name, *rest)
    _factored(name, *rest, enable_scale_parameter=True, enable_first_moment=True)
    made(f"ops.{name}", enable_weight_decay=3)(param(VAR))

# ---- recurrent ----------------------------------------------------------------------------------


def _lstm(layers, biases, both, size):
    @case("ops.LSTM", tol=1e-4)
    def _(ms):
        states = layers * (1 + both)
        x, h, c, w = f32(4, 2, 3), f32(states, 2, 2), f32(states, 2, 2, seed=1), f32(size, 1, 1)
        net = ms.ops.LSTM(3, 2, layers, biases, both, 0.0)
        return net(*(ms.Tensor(v.value) for v in (x, h, c, w)))[
            :3
        ]  # behind it is what a kernel keeps


_lstm(1, False, False, 40)
_lstm(1, True, True, 112)
made("ops.LSTM", 3, 2, 1, False, False, 1.5)(
    f32(4, 2, 3), f32(1, 2, 2), f32(1, 2, 2), f32(40, 1, 1)
)
made("ops.LSTM", 0, 2, 1, False, False, 0.0)(
    f32(4, 2, 3), f32(1, 2, 2), f32(1, 2, 2), f32(40, 1, 1)
)
made("ops.DynamicRNN")(f32(2, 3, 4), f32(9, 20), f32(2, 20))
made("ops.DynamicRNN", cell_type="x")(f32(2, 3, 4), f32(9, 20), f32(20))
made("ops.DynamicRNN", direction="x")(f32(2, 3, 4), f32(9, 20), f32(20))
made("ops.DynamicRNN")(f32(2, 3), f32(9, 20), f32(20))
made("ops.DynamicGRUV2", direction="x")(
    f32(2, 3, 4), f32(4, 15), f32(5, 15), f32(15), f32(15), None, f32(3, 5)
)
made("ops.DynamicGRUV2")(f32(2, 3, 4), f32(5, 15), f32(5, 15), f32(15), f32(15), None, f32(3, 5))
made("ops.DynamicGRUV2")(f32(2, 3), f32(4, 15), f32(5, 15), f32(15), f32(15), None, f32(3, 5))

# ---- factors ------------------------------------------------------------------------------------


@case("ops.Eig")
def _(ms):
    """Values alone, and with vectors."""
    x = ms.Tensor([[2.0, 1.0], [0.0, 3.0]])
    values, vectors = ms.ops.Eig(compute_v=True)(x)
    return ms.ops.Eig()(x)[0], values, np.abs(vectors.asnumpy())


made("ops.Eig", True)(f32(2, 3))
made("ops.Eig", "a")(f32(2, 2))
made("ops.Ormqr")(f32(3, 3), f32(3), f32(3, 2), ref=_torch(lambda t, *x: t.ormqr(*x)))
made("ops.Ormqr", left=False, transpose=True)(
    f32(3, 3), f32(3), f32(2, 3), ref=_torch(lambda t, *x: t.ormqr(*x, False, True))
)
made("ops.Ormqr")(f32(3, 3), f32(3), f32(2, 2))
made("ops.Ormqr", "x")(f32(3, 3), f32(3), f32(3, 2))

# ---- attention ----------------------------------------------------------------------------------


@_torch
def _attention(torch, q, k, v, heads):
    b, s, h = q.shape
    parts = [t.reshape(b, s, heads, -1).transpose(1, 2) for t in (q, k, v)]
    found = torch.nn.functional.scaled_dot_product_attention(*parts, scale=1.0)
    return found.transpose(1, 2).reshape(b, s, h)


call(
    "ops.flash_attention_score",
    f32(2, 3, 8),
    f32(2, 3, 8, seed=1),
    f32(2, 3, 8, seed=2),
    2,
    ref=_attention,
)
call(
    "ops.flash_attention_score",
    f32(2, 3, 8),
    f32(2, 3, 8, seed=1),
    f32(2, 3, 8, seed=2),
    1,
    ref=_attention,
)
call("ops.flash_attention_score", f32(2, 3, 8), f32(2, 3, 8, seed=1), f32(2, 3, 8, seed=2), 3)
call("ops.flash_attention_score", f32(2, 3, 8), f32(2, 3, 8), f32(2, 3, 8), 2, input_layout="x")
call(
    "ops.rotated_iou",
    of([[[0.0, 0.0, 2.0, 2.0, 0.0]]]),
    of([[[1.0, 0.0, 2.0, 2.0, 0.0]]]),
    ref=lambda a, b: np.array([[[1 / 3]]], "float32"),
)
call("ops.rotated_iou", f32(1, 4, 2), f32(1, 5, 2))
