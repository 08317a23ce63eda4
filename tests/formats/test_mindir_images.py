"""MINDIR files of ops on images and volumes, of losses, orders and indices: out and in again with equal numbers."""

from __future__ import annotations

import numpy as np
import pytest
from mindirlib import Function, floats, same, through

import mindspore as ms
from mindspore import Tensor, nn, ops

IMAGE, VOLUME, ROWS = floats(2, 4, 7, 8), floats(1, 2, 4, 6, 6), floats(3, 4)
LABELS = Tensor(np.array([0, 3, 1], np.int32))


def _pads(mode, rank=2):
    return lambda x: ops.pad(x, (1, 1, 1, 0)[: 2 * rank], mode=mode)


IMAGES = {
    "padded maxima": lambda x: nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)(x),
    "same": lambda x: nn.AvgPool2d(3, 2, pad_mode="same")(x),
    "ceiling": lambda x: nn.MaxPool2d(2, 2, pad_mode="pad", ceil_mode=True)(x),
    "padded means": lambda x: nn.AvgPool2d(3, 2, pad_mode="pad", padding=1, count_include_pad=False)(x),
    "divided": lambda x: nn.AvgPool2d(3, 2, divisor_override=5)(x),
    "grids": lambda x: (nn.AdaptiveAvgPool2d((None, 3))(x), nn.AdaptiveMaxPool2d(2)(x)),
    "filled": lambda x: ops.pad(x, (1, 1, 2, 0, 0, 1), value=1.5),
    "reflect": _pads("reflect"),
    "replicate": _pads("replicate"),
    "circular": _pads("circular"),
    "symmetric": lambda x: nn.Pad(((0, 0), (1, 1), (2, 0), (0, 0)), "SYMMETRIC")(x),
    "nearest": lambda x: ops.interpolate(x, size=(9, 3), mode="nearest"),
    "bilinear": lambda x: ops.interpolate(x, size=(9, 3), mode="bilinear"),
    "aligned": lambda x: ops.interpolate(x, size=(9, 3), mode="bilinear", align_corners=True),
    "bicubic": lambda x: ops.interpolate(x, size=(9, 13), mode="bicubic"),
    "scaled": lambda x: ops.interpolate(x, scale_factor=2.0, mode="bilinear", recompute_scale_factor=True),
    "grid samples": lambda x: ops.grid_sample(x, x[:, :2].transpose(0, 2, 3, 1), mode="nearest", padding_mode="border"),
    "windows": lambda x: ops.unfold(x, 3, dilation=2, padding=1, stride=2),
    "local responses": lambda x: nn.LRN(2)(x),
}  # fmt: skip

VOLUMES = {
    "same": lambda: nn.Conv3d(2, 4, 3, stride=2, group=2, has_bias=True),
    "padded": lambda: nn.Conv3d(2, 3, 3, stride=2, pad_mode="pad", padding=1),
    "dilated": lambda: nn.Conv3d(2, 4, 3, pad_mode="valid", dilation=(1, 1, 2)),
    "transposed": lambda: nn.Conv3dTranspose(2, 3, 3, stride=2, pad_mode="pad", padding=1),
    "transposed same": lambda: nn.Conv3dTranspose(2, 3, 2, stride=2),
    "maxima": lambda: nn.MaxPool3d(3, 2, pad_mode="pad", padding=1),
    "means": lambda: nn.AvgPool3d(3, 2, pad_mode="same"),
    "padded means": lambda: nn.AvgPool3d(3, 2, pad_mode="pad", padding=1, ceil_mode=True),
}

MATRICES = {
    "limits": lambda x, y: (ops.clamp(x, min=0.0), ops.clamp(x, y[0], y + 1), nn.Hardtanh()(x)),
    "orders": lambda x, y: (ops.sort(x, 0, descending=True), ops.argsort(y), ops.cummax(x, 1), ops.cummin(x, 1)),
    "places": lambda x, y: ops.searchsorted(ops.sort(x)[0], y, right=True),
    "scattered": lambda x, y: (ops.scatter_nd(Tensor([[2], [0]]), x[:2], (3, 4)), ops.tensor_scatter_update(x, Tensor([[1, 1]]), y[0, :1])),
    "no gradients": lambda x, y: ops.stop_gradient(x) * ops.logsumexp(y, 1, True),
    "activations": lambda x, y: (nn.LogSigmoid()(x), ops.celu(y, 2.0)),
    "distances": lambda x, y: ops.cdist(x, y),
    "diagonals": lambda x, y: ops.diag(x[0]),
    "uneven parts": lambda x, y: (ops.chunk(x, 3, 1), ops.split(y, [1, 3], 1)),
    "new axes": lambda x, y: (x[:, None], y[None, 1:, None, ::2], x[..., None], y[1, None, ..., None]),
}  # fmt: skip

LOSSES = {
    "negative likelihood": lambda x, y: ops.nll_loss(x, y, Tensor(np.float32([1, 2, 3, 4])), ignore_index=1, reduction="none"),
    "cross entropy": lambda x, y: ops.cross_entropy(x, y, label_smoothing=0.1, reduction="sum"),
    "sparse": lambda x, y: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")(x, y),
}  # fmt: skip


@pytest.mark.parametrize("name", IMAGES)
def test_images(tmp_path, name):
    net = Function(IMAGES[name])
    again = through(net, IMAGE, path=tmp_path / "net.mindir")
    same(again(IMAGE), net(IMAGE), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", VOLUMES)
def test_volumes(tmp_path, name):
    net = VOLUMES[name]()
    again = through(net, VOLUME, path=tmp_path / "net.mindir")
    same(again(VOLUME), net(VOLUME), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", MATRICES)
def test_matrices(tmp_path, name):
    net, other = Function(MATRICES[name]), floats(3, 4, seed=1)
    again = through(net, ROWS, other, path=tmp_path / "net.mindir")
    same(again(ROWS, other), net(ROWS, other), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_losses(tmp_path, name):
    net = Function(LOSSES[name])
    again = through(net, ROWS, LABELS, path=tmp_path / "net.mindir")
    same(again(ROWS, LABELS), net(ROWS, LABELS), rtol=1e-6)


REFUSED = {
    "scales": (lambda x: ops.interpolate(x, scale_factor=1.3, mode="bilinear"), "positions by the sizes, not by the scale"),
    "areas": (lambda x: ops.interpolate(x, size=(2, 2), mode="area"), None),
    "sequences": (lambda x: ops.interpolate(x[0], size=(4,), mode="linear"), "must be of images"),
    "uneven windows": (lambda x: ops.unfold(x, 2, padding=((1, 0), (0, 0))), None),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_files_cannot_say(tmp_path, name):
    function, says = REFUSED[name]
    with pytest.raises((ValueError, TypeError), match=says):
        ms.export(Function(function), IMAGE, file_name=str(tmp_path / "net"), file_format="MINDIR")
    assert not list(tmp_path.iterdir())
