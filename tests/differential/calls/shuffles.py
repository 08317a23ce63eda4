"""Calls of what moves elements between channels, batch and space."""

import numpy as np
from differential.calllib import call, f32, made, of

X1, X2 = f32(2, 4, 9), f32(2, 4, 6, 7)

call("ops.channel_shuffle", X2, 2)
call("ops.channel_shuffle", f32(1, 6, 2, 3), 3)
call("ops.channel_shuffle", X2, 3)
call("ops.channel_shuffle", X1, 2)
made("nn.ChannelShuffle", 2)(X2)
made("nn.ChannelShuffle", 3)(X2)
made("ops.operations.ChannelShuffle", 4)(X2)
call("ops.pixel_shuffle", X2, 2, grad=True)
call("ops.pixel_shuffle", f32(4, 3, 3), 2)
call("ops.pixel_shuffle", f32(2, 3, 4, 3, 3), 2)
call("ops.pixel_shuffle", X2, 3)
call("ops.pixel_shuffle", f32(4, 4), 2)
call("ops.pixel_unshuffle", f32(1, 2, 4, 6), 2)
call("ops.pixel_unshuffle", f32(2, 4, 6), 2, grad=True)
call("ops.pixel_unshuffle", X2, 2)
B = f32(4, 1, 2, 3)
made("ops.BatchToSpaceND", [2, 2], [[0, 1], [1, 0]])(B)
made("ops.BatchToSpaceND", 2, [[0, 1]])(B)
made("ops.BatchToSpaceND", [2, 2], [[0, 1], [1, 0]])(f32(4, 2, 2))
made("ops.BatchToSpaceND", [3, 2], [[0, 0], [0, 0]])(B)
made("ops.SpaceToBatchND", [2, 2], [[0, 0], [0, 2]])(f32(2, 1, 2, 4))
made("ops.SpaceToBatchND", [2, 3], [[1, 1], [1, 0]])(f32(2, 3, 2, 5), grad=True)
made("ops.SpaceToBatchND", [2, 2], [[0, 0], [0, 0]])(f32(2, 1, 3, 4))
call("ops.batch_to_space_nd", B, [2, 2], [[0, 0], [0, 0]], grad=True)
call("ops.batch_to_space_nd", B, 2, [[1, 0]])
call("ops.batch_to_space_nd", B, [2, 2], [[0, 0]])
call("ops.space_to_batch_nd", f32(1, 1, 2, 4), [2, 2], [[0, 0], [0, 0]])
call("ops.space_to_batch_nd", f32(1, 1, 2, 4), 2, [[0, 0]])
call("ops.space_to_batch_nd", f32(1, 1, 3, 4), [2, 2], [[0, 0], [0, 0]])


def blocks(paddings):
    """Elements of 2 by 2 blocks as items of the batch."""

    def run(x):
        x = np.pad(x, [(0, 0), (0, 0), *paddings])
        return np.concatenate([x[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)])

    return run


def unblocked(crops):
    """Items of the batch as elements of 2 by 2 blocks."""

    def run(x):
        n, c, h, w = x.shape
        y = np.zeros((n // 4, c, 2 * h, 2 * w), x.dtype)
        for k, (i, j) in enumerate(np.ndindex(2, 2)):
            y[:, :, i::2, j::2] = x[k * (n // 4) : (k + 1) * (n // 4)]
        (top, bottom), (left, right) = crops
        return y[:, :, top : 2 * h - bottom, left : 2 * w - right]

    return run


for borders in ([[0, 0], [0, 0]], [[1, 1], [0, 2]]):
    made("ops.operations.SpaceToBatch", 2, borders)(f32(2, 3, 2, 4), ref=blocks(borders))
for borders in ([[0, 0], [0, 0]], [[1, 0], [0, 1]]):
    made("ops.operations.BatchToSpace", 2, borders)(f32(8, 3, 2, 4), ref=unblocked(borders))
made("ops.operations.BatchToSpaceNDV2")(
    B,
    of([2, 2], "int32"),
    of([[0, 1], [1, 0]], "int32"),
    ref=lambda x, *_: unblocked([[0, 1], [1, 0]])(x),
)
