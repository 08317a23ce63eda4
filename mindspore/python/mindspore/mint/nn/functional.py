"""What layers of `mint.nn` compute, as functions: faces of ops, and what takes other arguments than these."""

from __future__ import annotations

from mindspore.mint._faces import attribute_of, read_faces
from mindspore.mint.nn import functions

FACES = read_faces("""
    adaptive_avg_pool1d = ops.adaptive_avg_pool1d
    adaptive_avg_pool2d = ops.adaptive_avg_pool2d
    adaptive_avg_pool3d = ops.adaptive_avg_pool3d
    binary_cross_entropy = ops.binary_cross_entropy logits=input labels=target
    conv_transpose2d = ops.conv_transpose2d
    cosine_embedding_loss = ops.cosine_embedding_loss
    cross_entropy = ops.cross_entropy
    embedding = ops.embedding
    fold = ops.fold
    gelu = ops.gelu
    glu = ops.glu x=input axis=dim
    grid_sample = ops.grid_sample
    group_norm = ops.group_norm
    hardsigmoid = ops.hardsigmoid
    hardshrink = ops.hardshrink
    hardswish = ops.hardswish
    linear = ops.dense
    logsigmoid(input) = LogSigmoid
    max_unpool2d = ops.max_unpool2d x=input
    mish = ops.mish
    mse_loss = ops.mse_loss
    nll_loss = ops.nll_loss inputs=input
    pixel_shuffle = ops.pixel_shuffle
    prelu = ops.prelu
    selu = ops.selu
    sigmoid = ops.sigmoid
    soft_margin_loss = ops.soft_margin_loss
    tanh = ops.tanh
    unfold = ops.unfold
""")

__getattr__ = attribute_of(FACES, __name__, functions)
__all__ = sorted({*FACES, *functions.__all__})


def __dir__() -> list[str]:
    return __all__
