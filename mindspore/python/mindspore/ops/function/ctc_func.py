"""Losses of sequences without alignment: CTC, whose recursion is an op, and that of transducers; and the decoding of the first."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._dtypes import INTEGERS
from mindspore.common._kinds import Reduction
from mindspore.ops._bind import bound, raw
from mindspore.ops._grad import grad
from mindspore.ops.function.index_func import _concrete

_cast, _reshape, _gather_d = raw("Cast"), raw("Reshape"), raw("GatherD")
_forward, _backward = raw("CTCForward"), raw("CTCBackward")


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | tuple | list,
    target_lengths: Tensor | tuple | list,
    blank: int = 0,
    reduction: Reduction = "mean",
    zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:
    """The negative log likelihood of label sequences, [N, S], under all alignments to a longer one of which `log_probs`, [T, N, C],
    are the LogSoftmax; and the logarithms of the likelihoods of all prefixes. The mean is that of losses over their lengths."""
    steps, labels = (_lengths(lengths) for lengths in (input_lengths, target_lengths))
    loss, log_alpha = _forward(
        log_probs, targets, steps, labels, blank=blank, zero_infinity=zero_infinity
    )
    if reduction == "sum":
        loss = bound.reduce_sum(loss)
    elif reduction == "mean":
        loss = bound.reduce_mean(loss / _cast(bound.maximum(labels, 1), dtype=loss.dtype))
    return loss, log_alpha


def _lengths(lengths: Any) -> Tensor:
    return lengths if isinstance(lengths, Tensor) else Tensor(lengths, _core.int64)


def _ctc_loss_class(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "none",
    zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:
    """The negative log likelihoods of label sequences, and the logarithms of those of all prefixes."""
    if reduction != "none":
        raise ValueError(f"For 'CTCLossV2', 'reduction' must be 'none', but got {reduction!r}.")
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, "none", zero_infinity)


def _dense_labels(indices: Tensor, values: Tensor, batch: int, steps: int) -> tuple[Tensor, Tensor]:
    """Labels by their coordinates as rows, and how many there are in each."""
    if indices.ndim != 2 or indices.shape[1] != 2 or indices.dtype not in INTEGERS:
        raise ValueError(
            f"For 'CTCLoss', 'labels_indices' must be integers of shape [n, 2], but got {indices.dtype}{list(indices.shape)}."
        )
    if values.ndim != 1:
        raise ValueError(
            f"For 'CTCLoss', 'labels_values' must have 1 dimension, but got shape {tuple(values.shape)}."
        )
    size = min(steps, values.shape[0])
    if not indices.is_symbolic:
        size = int(indices.asnumpy()[:, 1].astype(np.int64).max(initial=-1)) + 1
    at = _cast(indices, dtype=_core.int64)
    rows = raw("ScatterNd")(at, values, shape=(batch, max(size, 1)))
    ones = raw("Ones")(shape=values.shape, dtype=_core.int32)
    return rows, raw("UnsortedSegmentSum")(ones, at[:, 0], num_segments=batch)


def _collapsed(rows: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of labels without those that equal the one before."""
    count = rows.shape[1]
    places = Tensor(np.arange(count), _core.int32)
    inside = bound.less(places, _reshape(lengths, shape=(-1, 1)))
    same = bound.equal(rows[:, 1:], rows[:, :-1])
    first = raw("Zeros")(shape=(rows.shape[0], 1), dtype=_core.bool)
    dropped = bound.logical_or(raw("Concat")([first, same], axis=1), bound.logical_not(inside))
    order = raw("Sort")(_cast(dropped, dtype=_core.int32), axis=1)[1]  # stable
    kept = bound.reduce_sum(_cast(bound.logical_not(dropped), dtype=_core.int32), 1)
    return _gather_d(rows, order, dim=1), kept


def _ctc_loss(
    x: Tensor,
    labels_indices: Tensor,
    labels_values: Tensor,
    sequence_length: Tensor,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
) -> tuple[Tensor, Tensor]:
    """CTC losses of logits, [T, N, C], whose last class is the blank, and their gradients; labels are given by coordinates."""
    if x.ndim != 3:
        raise ValueError(
            f"For 'CTCLoss', 'x' must have 3 dimensions, but got shape {tuple(x.shape)}."
        )
    rows, lengths = _dense_labels(labels_indices, labels_values, x.shape[1], x.shape[0])
    if preprocess_collapse_repeated:
        rows, lengths = _collapsed(rows, lengths)
    logits = x if x.dtype in (_core.float32, _core.float64) else _cast(x, dtype=_core.float32)
    log_probs = raw("LogSoftmax")(logits, axis=-1)
    options = {
        "blank": x.shape[2] - 1,
        "merge_repeated": ctc_merge_repeated,
        "zero_infinity": ignore_longer_outputs_than_inputs,
    }
    problem = (log_probs, rows, sequence_length, lengths)
    loss, log_alpha = _forward(*problem, **options)
    ones = raw("OnesLike")(loss)
    gradient = _backward(ones, *problem, loss, log_alpha, **options)
    return _cast(loss, dtype=x.dtype), _cast(raw("StopGradient")(gradient), dtype=x.dtype)


def ctc_greedy_decoder(
    inputs: Tensor, sequence_length: Tensor, merge_repeated: bool = True
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The most likely class of each step of [T, N, C], without blanks, which are the last class, and without repetitions: coordinates
    and values of a matrix with a row for each sequence, its shape, and the sums of what was chosen, negative."""
    logits, lengths = (_concrete("ctc_greedy_decoder", t) for t in (inputs, sequence_length))
    if logits.ndim != 3 or lengths.shape != logits.shape[1:2]:
        raise ValueError(
            "For 'ctc_greedy_decoder', 'inputs' must have shape [T, N, C] and 'sequence_length' N elements, but got shapes "
            f"{logits.shape} and {lengths.shape}."
        )
    if (lengths < 0).any() or (lengths > logits.shape[0]).any():
        raise ValueError(
            f"For 'ctc_greedy_decoder', 'sequence_length' must be in [0, {logits.shape[0]}], but got {lengths.tolist()}."
        )
    best = logits.argmax(axis=2)
    kept = best != logits.shape[2] - 1
    if merge_repeated:
        kept[1:] &= best[1:] != best[:-1]
    inside = np.arange(len(best))[:, None] < lengths
    kept &= inside
    rows, _ = np.nonzero(kept.T)
    places = (np.cumsum(kept, axis=0) - 1).T[kept.T]
    size = [logits.shape[1], int(places.max(initial=-1)) + 1]
    chosen = -np.where(inside, logits.max(axis=2), 0).sum(axis=0, keepdims=True).T
    return (
        Tensor(np.stack([rows, places], axis=-1).astype(np.int64)),
        Tensor(best.T[kept.T].astype(np.int64)),
        Tensor(np.array(size, np.int64)),
        Tensor(chosen.astype(logits.dtype)),
    )


# ---- transducers ----------------------------------------------------------------------------------
def _transducer(
    acts: Tensor, labels: Tensor, input_lengths: Tensor, label_lengths: Tensor, blank: int
) -> Tensor:
    """The negative log likelihood of labels [B, U] by logits [B, T, U + 1, V]: a path goes on by a step with a blank, and by a label
    with it. Within a step, the sum over all places where it is entered is a running one."""
    log = raw("LogSoftmax")(acts, axis=-1)
    batch, steps, places, _ = acts.shape
    blanks = log[..., blank]
    index = raw("BroadcastTo")(
        _reshape(labels, shape=(batch, 1, places - 1, 1)), shape=(batch, steps, places - 1, 1)
    )
    emitted = _reshape(_gather_d(log[:, :, :-1], index, dim=3), shape=(batch, steps, places - 1))
    nothing = raw("Zeros")(shape=(batch, steps, 1), dtype=log.dtype)
    reached = raw("CumSum")(raw("Concat")([nothing, emitted], axis=2), axis=2)
    levels = [reached[:, 0]]
    for t in range(1, steps):
        entered = levels[-1] + blanks[:, t - 1]
        inside = bound.logcumsumexp(entered - reached[:, t], 1)
        levels.append(inside + reached[:, t])
    ends = raw("Stack")(levels, axis=1) + blanks  # [B, T, U + 1]
    last = (input_lengths - 1) * places + label_lengths
    flat = _reshape(ends, shape=(batch, steps * places))
    at = _reshape(_cast(last, dtype=_core.int64), shape=(batch, 1))
    return -_reshape(_gather_d(flat, at, dim=1), shape=(batch,))


def _rnnt_loss(
    acts: Tensor,
    labels: Tensor,
    input_lengths: Tensor,
    label_lengths: Tensor,
    blank_label: int = 0,
) -> tuple[Tensor, Tensor]:
    """The negative log likelihoods of label sequences by a transducer, and their gradients with respect to the logits."""
    if acts.ndim != 4 or tuple(labels.shape) != (acts.shape[0], acts.shape[2] - 1):
        raise ValueError(
            "For 'RNNTLoss', 'acts' must have shape [B, T, U + 1, V] and 'labels' shape [B, U], but got "
            f"{tuple(acts.shape)} and {tuple(labels.shape)}."
        )

    def total(x: Tensor) -> Tensor:
        losses = _transducer(x, labels, input_lengths, label_lengths, blank_label)
        return bound.reduce_sum(losses)

    costs = _transducer(acts, labels, input_lengths, label_lengths, blank_label)
    return costs, grad(total)(acts)


FACES = {
    "CTCLossV2(blank=0, reduction='none', zero_infinity=False)"
    "(log_probs, targets, input_lengths, target_lengths)": _ctc_loss_class,
    "CTCLoss(preprocess_collapse_repeated=False, ctc_merge_repeated=True, ignore_longer_outputs_than_inputs=False)"
    "(x, labels_indices, labels_values, sequence_length)": _ctc_loss,
    "CTCGreedyDecoder(merge_repeated=True)(inputs, sequence_length)": "ctc_greedy_decoder",
    "RNNTLoss(blank_label=0)(acts, labels, input_lengths, label_lengths)": _rnnt_loss,
}
__all__ = ["ctc_greedy_decoder", "ctc_loss"]
