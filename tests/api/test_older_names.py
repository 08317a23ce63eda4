"""Arguments under the names of earlier releases mean what they meant; other names are refused as ever."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, jit, mint, nn, ops
from mindspore.ops import composite as C
from mindspore.ops import operations as P

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
S = Tensor(np.array([[4, 1], [1, 3]], np.float32))
AT = Tensor(np.array([0, 1], np.int32))
Q = Tensor(np.array([[0.2, 0.3, 0.9], [0.5, 0.1, 0.4]], np.float32))
ONE = Tensor(np.ones((1, 1, 1, 1), np.float32))

NAMES = {
    "ms": ms, "nn": nn, "ops": ops, "mint": mint, "P": P, "C": C, "Tensor": Tensor, "X": X, "S": S, "AT": AT, "Q": Q, "ONE": ONE
}  # fmt: skip

# What earlier releases call; what it is called today.
CALLS = """
ops.logsumexp(x=X, axis=1, keep_dims=True) == ops.logsumexp(X, 1, True)
ops.softmax(x=X, axis=0) == ops.softmax(X, 0)
ops.argmax(X, axis=1) == ops.argmax(X, 1)
ops.argmin(x=X, axis=1) == ops.argmin(X, 1)
ops.max(x=X, axis=1, keepdims=True)[0] == ops.max(X, 1, True)[0]
ops.cumprod(X, axis=1) == ops.cumprod(X, 1)
ops.prod(x=X, axis=1, keep_dims=True) == ops.prod(X, 1, True)
ops.amin(x=X, axis=1, keep_dims=True) == ops.amin(X, 1, True)
ops.all(x=X > 1, axis=1, keepdims=True) == ops.all(X > 1, 1, True)
ops.std(input_x=X, axis=1, unbiased=True, keep_dims=True) == ops.std(X, 1, True, True)
ops.var(X, axis=1, unbiased=False) == ops.var(X, 1, False)
ops.norm(X, p=1, axis=1, keep_dims=True) == ops.norm(X, 1, 1, True)
ops.topk(input_x=X, k=1)[0] == ops.topk(X, 1)[0]
ops.argsort(x=X, axis=1) == ops.argsort(X, 1)
ops.gather(params=X, indices=AT, axis=1) == ops.gather(X, AT, 1)
ops.index_select(x=X, axis=0, index=AT) == ops.index_select(X, 0, AT)
ops.masked_select(x=X, mask=X > 1) == ops.masked_select(X, X > 1)
ops.where(condition=X > 1, x=X, y=-X) == ops.where(X > 1, X, -X)
ops.select(cond=X > 1, x=X, y=-X) == ops.select(X > 1, X, -X)
ops.concat(input_x=(X, X), axis=1) == ops.concat((X, X), 1)
ops.stack(input_x=(X, X), axis=1) == ops.stack((X, X), 1)
ops.squeeze(input_x=X[None], axis=0) == X
ops.tile(input_x=X, multiples=(2, 2)) == ops.tile(X, (2, 2))
ops.tile(X, reps=(2, 1)) == ops.tile(X, (2, 1))
ops.transpose(input_x=X, input_perm=(1, 0)) == X.T
ops.permute(X, dims=(1, 0)) == X.T
ops.reshape(input_x=X, input_shape=(3, 2)) == X.reshape(3, 2)
ops.swapaxes(input_x=X, axis0=0, axis1=1) == X.T
ops.flip(X, axis=(0,)) == ops.flip(X, (0,))
ops.roll(X, shifts=1, axis=0) == ops.roll(X, 1, 0)
ops.repeat_interleave(X, repeats=2, dim=0) == ops.repeat_interleave(X, 2, 0)
ops.chunk(X, 3, dim=1)[2] == ops.chunk(X, 3, 1)[2]
ops.unbind(input_x=X)[1] == X[1]
ops.diagonal(X, axis1=0, axis2=1) == ops.diagonal(X)
ops.broadcast_to(x=X, shape=(2, 2, 3)) == ops.broadcast_to(X, (2, 2, 3))
ops.tril(input_x=X, diagonal=0) == ops.tril(X)
ops.triu(x=X) == ops.triu(X)
ops.cast(input_x=X, dtype=ms.int32) == X.int()
ops.full(shape=(2,), value=3.0) == ops.full((2,), 3.0)
ops.zeros(shape=(2,), dtype=ms.float32) == ops.zeros((2,), ms.float32)
ops.ones(shape=(2,), dtype=ms.float32) == ops.ones((2,), ms.float32)
ops.ones_like(x=X) == ops.ones_like(X)
ops.zeros_like(input_x=X) == ops.zeros_like(X)
ops.linspace(start=0.0, stop=1.0, num=3) == ops.linspace(0.0, 1.0, 3)
ops.eye(n=2, m=3, t=ms.float32) == ops.eye(2, 3, ms.float32)
ops.range(start=Tensor(0), limit=Tensor(3), delta=Tensor(1)) == ops.range(0, 3, 1)
ops.relu(x=X) == ops.relu(X)
ops.sigmoid(input_x=X) == ops.sigmoid(X)
ops.gelu(input_x=X, approximate="tanh") == ops.gelu(X, "tanh")
ops.leaky_relu(x=-X, alpha=0.2) == ops.leaky_relu(-X, 0.2)
ops.softplus(input_x=X) == ops.softplus(X)
ops.threshold(input_x=X, thr=1.0, value=0.0) == ops.threshold(X, 1.0, 0.0)
ops.exp(x=X) == ops.exp(X)
ops.sub(x=X, y=Q) == X - Q
ops.pow(x=X, y=2) == X**2
ops.greater(x=X, y=Q) == (X > Q)
ops.maximum(x=X, y=-X) == ops.maximum(X, -X)
ops.fmod(x=X, other=2) == ops.fmod(X, 2)
ops.lerp(start=X, end=-X, weight=0.25) == ops.lerp(X, -X, 0.25)
ops.less(x=X, y=Q) == (X < Q)
ops.clamp(x=X, min=1, max=2) == ops.clamp(X, 1, 2)
ops.matmul(x1=X, x2=X.T) == X @ X.T
ops.dot(x1=X, x2=X.T) == ops.dot(X, X.T)
ops.outer(x1=X[0], x2=X[1]) == ops.outer(X[0], X[1])
ops.kron(x=X, y=S) == ops.kron(X, S)
ops.addmm(x=S, mat1=X, mat2=X.T) == ops.addmm(S, X, X.T)
ops.det(x=S) == ops.det(S)
ops.inverse(x=S) == ops.inverse(S)
ops.trace(x=S) == ops.trace(S)
ops.cross_entropy(inputs=X, target=AT) == ops.cross_entropy(X, AT)
ops.smooth_l1_loss(logits=X, labels=Q, beta=1.0) == ops.smooth_l1_loss(X, Q)
ops.mse_loss(input_x=X, target=Q) == ops.mse_loss(X, Q)
ops.binary_cross_entropy_with_logits(logits=X, label=Q, weight=Q, pos_weight=Q) == ops.binary_cross_entropy_with_logits(X, Q, Q, Q)
ops.layer_norm(input_x=X, normalized_shape=(3,), gamma=Q[0], beta=Q[1]) == ops.layer_norm(X, (3,), Q[0], Q[1])
ops.conv2d(inputs=X[None, None], weight=ONE, pad=0, pad_mode="pad") == ops.conv2d(X[None, None], ONE)
ops.avg_pool2d(x=X[None, None], kernel_size=2) == ops.avg_pool2d(X[None, None], 2)
ops.adaptive_avg_pool2d(input_x=X[None, None], output_size=1) == ops.adaptive_avg_pool2d(X[None, None], 1)
ops.interpolate(x=X[None], sizes=(6,), mode="linear") == ops.interpolate(X[None], size=(6,), mode="linear")
ops.pixel_shuffle(x=X.reshape(1, 6, 1, 1)[:, :4], upscale_factor=2) == ops.pixel_shuffle(X.reshape(1, 6, 1, 1)[:, :4], 2)
ops.prelu(x=-X, weight=Q[0, :1]) == ops.prelu(-X, Q[0, :1])
ops.nonzero(input_x=X) == ops.nonzero(X)
ops.unique(x=AT)[0] == ops.unique(AT)[0]
ops.nan_to_num(x=X / 0) == ops.nan_to_num(X / 0)
ops.bincount(x=AT) == ops.bincount(AT)
ops.logical_and(x=X > 1, y=X < 4) == ops.logical_and(X > 1, X < 4)
P.Sub()(input_x=X, input_y=Q) == X - Q
P.MatMul()(x1=X, x2=X.T) == X @ X.T
P.Gather()(params=X, indices=AT, axis=0) == ops.gather(X, AT, 0)
P.Reshape()(input_x=X, input_shape=(3, 2)) == X.reshape(3, 2)
P.Tile()(input_x=X, multiples=(1, 2)) == ops.tile(X, (1, 2))
P.Transpose()(input_x=X, input_perm=(1, 0)) == X.T
P.Select()(cond=X > 1, x=X, y=-X) == ops.select(X > 1, X, -X)
P.Softmax(axis=1)(logits=X) == ops.softmax(X, 1)
P.SparseSoftmaxCrossEntropyWithLogits()(features=X, labels=AT) == P.SparseSoftmaxCrossEntropyWithLogits()(X, AT)
P.SigmoidCrossEntropyWithLogits()(predict=X, target=Q) == P.SigmoidCrossEntropyWithLogits()(X, Q)
P.MaxPool(ksize=2, strides=1, padding="same")(X[None, None]) == P.MaxPool(2, 1, "same")(X[None, None])
P.AvgPool(ksize=2, strides=1, padding="valid")(X[None, None]) == P.AvgPool(2, 1, "valid")(X[None, None])
P.MaxPoolWithArgmax(ksize=2, strides=1, padding="valid")(X[None, None])[1] == P.MaxPoolWithArgmax(2, 1, "valid")(X[None, None])[1]
P.SmoothL1Loss(sigma=0.5)(X, Q) == P.SmoothL1Loss(0.5)(X, Q)
nn.SmoothL1Loss(sigma=0.5)(X, Q) == nn.SmoothL1Loss(0.5)(X, Q)
nn.SoftmaxCrossEntropyWithLogits(is_grad=False, sparse=True, reduction="mean")(X, AT) == nn.SoftmaxCrossEntropyWithLogits(True, "mean")(X, AT)
X.argmax(dim=1) == X.argmax(1)
X.std(unbiased=True) == X.std(ddof=1)
X.repeat_interleave(repeats=2, axis=0) == X.repeat_interleave(2, 0)
"""
SIDES = ("then", "today")
BY_VALUE = (
    "masked_select",
    "nonzero",
    "unique",
    "bincount",
)  # run eagerly: values decide the shape
PAIRS = [line.split(" == ", 1) for line in CALLS.strip().splitlines()]


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    """Both sides of each line as functions, whose text the compiler finds in a file."""
    path = tmp_path_factory.mktemp("older") / "calls.py"
    lines = [
        f"def {side}_{i}(X, Q):\n    return {call}\n"
        for i, pair in enumerate(PAIRS)
        for side, call in zip(SIDES, pair)
    ]
    path.write_text("\n".join(lines))
    found = dict(NAMES)
    exec(compile(path.read_text(), str(path), "exec"), found)
    return found


@pytest.mark.parametrize("number", range(len(PAIRS)), ids=[then for then, _ in PAIRS])
def test_it_is_what_it_is_called_today(mode, functions, number):
    whole = not any(name in PAIRS[number][0] for name in BY_VALUE)
    run = jit(fullgraph=whole) if mode == ms.GRAPH_MODE else lambda function: function
    then, today = (run(functions[f"{side}_{number}"])(X, Q).asnumpy() for side in SIDES)
    np.testing.assert_array_equal(then, today, strict=True)


def test_the_other_classes_share_what_the_label_leaves(mode):
    """As the first releases smoothed labels: 0.1 among the four others."""
    logits = Tensor(np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32))
    labels = np.array([0, 4, 2])
    smoothed = np.where(np.arange(5) == labels[:, None], 0.9, 0.1 / 4)
    logs = logits.asnumpy() - np.log(np.exp(logits.asnumpy()).sum(1, keepdims=True))
    loss = nn.SoftmaxCrossEntropyWithLogits(
        sparse=True, reduction="mean", smooth_factor=0.1, num_classes=5
    )
    found = loss(logits, Tensor(labels.astype(np.int32)))
    np.testing.assert_allclose(found.asnumpy(), -(smoothed * logs).sum(1).mean(), rtol=1e-6)


def test_the_name_of_a_gradient_says_nothing(mode):
    class Square(nn.Cell):
        def construct(self, x):
            return x * x

    for grad in (C.GradOperation("grad", True), C.GradOperation(name="grad", get_all=True)):
        np.testing.assert_array_equal(grad(Square())(X)[0].asnumpy(), 2 * X.asnumpy())


REFUSED = {
    "ops.softmax(X, x=X)": r"unexpected keyword argument 'x'",
    "ops.std(X, 1, 0, unbiased=True)": r"unexpected keyword argument 'unbiased'",
    "ops.logsumexp(X, axis=1, dim=1)": r"unexpected keyword argument 'axis'",
    "ops.softmax(X, axes=1)": r"unexpected keyword argument 'axes'",
    "ops.tile(X, axis=(1, 1))": r"unexpected argument 'axis'",
    "ops.concat(X, X, input_x=X)": r"got two values for 'tensors'",
    "ops.concat(X, X, tensors=(X,))": r"got two values for 'tensors'",
    "ops.trapz(X, input=X)": r"unexpected (keyword )?argument 'input'",
    "ops.cdist(X, X, input=X)": r"unexpected (keyword )?argument 'input'",
    "mint.chunk(X, 2, axis=1)": r"unexpected keyword argument 'axis'",
    "P.MaxPool(2, ksize=2)": r"'MaxPool', the constructor has no argument 'ksize'",
    "nn.SmoothL1Loss(sigmas=1.0)": r"'SmoothL1Loss', the constructor has no argument 'sigmas'",
    "C.GradOperation('grad', 'all')": r"'GradOperation', 'get_all' must be a bool, but got str",
}


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_no_name_of_any_release(pynative, call):
    with pytest.raises(TypeError, match=REFUSED[call]):
        eval(call, dict(NAMES))


def test_a_gradient_is_no_loss(pynative):
    with pytest.raises(ValueError, match="'is_grad' must be one of False, but got True"):
        nn.SoftmaxCrossEntropyWithLogits(is_grad=True)
