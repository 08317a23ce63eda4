"""What optimizers do with each of their parameters. These loops are library code, which runs as it is while a program is traced:
an optimizer of a deep network has thousands of equal steps, and parsing each of them would be much of the time to compile."""

from __future__ import annotations

from typing import Any

from mindspore.ops import _exchange
from mindspore.ops._bind import raw
from mindspore.ops._custom import invoke
from mindspore.ops.primitive import Primitive


def each(op: Any, count: int, *columns: Any) -> None:
    """Calls `op` `count` times; a column is a tuple or list with an item for each call, or a value for all of them."""
    rows = zip(*(c if isinstance(c, (tuple, list)) else (c,) * count for c in columns))
    if isinstance(op, Primitive):
        for row in rows:
            op(*row)
    else:  # a user's own
        for row in rows:
            invoke(op, *row)


def steps(step: Any, columns: tuple, *shared: Any) -> None:
    """Calls a step of `ops._steps` for each row of the columns, with what all of them share behind."""
    for row in zip(*columns):
        step(*row, *shared)


def chosen(flags: tuple, values: Any, otherwise: Any) -> tuple:
    """By position `values`, or the value for all, where the flag is set, `otherwise` where it is not."""
    if not isinstance(values, (tuple, list)):
        values = (values,) * len(flags)
    return tuple(v if flag else otherwise for flag, v in zip(flags, values))


def with_decay(gradients: Any, parameters: tuple, flags: tuple, decays: Any) -> tuple:
    """The gradients, with decay * parameter added where the flag is set."""
    steps = zip(gradients, parameters, flags, chosen(flags, decays, None))
    return tuple(g + p * decay if flag else g for g, p, flag, decay in steps)


def scaled(gradients: Any, factor: Any) -> tuple:
    """The gradients, each times the factor."""
    return tuple(gradient * factor for gradient in gradients)


def as_weights(owner: str, gradients: Any, parameters: tuple) -> tuple:
    """The gradients, each in the dtype of its parameter, whose shape it has."""
    for gradient, parameter in zip(gradients, parameters):
        known = all(isinstance(size, int) and size >= 0 for size in gradient.shape)
        if known and gradient.shape != parameter.shape:
            raise ValueError(
                f"For '{owner}', a gradient must have the shape of its parameter, which is {tuple(parameter.shape)} for "
                f"'{parameter.name}', but got {tuple(gradient.shape)}."
            )
    pairs = zip(gradients, parameters)
    return tuple(g if g.dtype == p.dtype else g.astype(p.dtype) for g, p in pairs)


def of_each(values: Any, count: int) -> tuple:
    """A value for each parameter, from those of all or the one for all."""
    return tuple(values) if isinstance(values, (tuple, list)) else (values,) * count


def own_rows(gradients: Any, rows: tuple) -> tuple:
    """Of each gradient the rows from `begin` to `end`, or all where there are none, or where it has no others."""
    pairs = zip(gradients, rows)
    return tuple(
        g if own is None or g.shape[0] != own.all else g[own.begin : own.end] for g, own in pairs
    )


def rows_of_sums(gradients: Any, rows: tuple) -> tuple:
    """The sums of gradients over processes: of each its rows, or all where there are none. Those that are cut are
    added up in the order in which a backward pass makes them."""
    sums: list[Any] = [None] * len(rows)
    for i in reversed(range(len(rows))):
        if rows[i] is not None:
            sums[i] = _exchange.reduce_scatter(gradients[i], "sum", rows[i].at)
    return tuple(sums)


def take_rows(parts: tuple, weights: tuple, rows: tuple) -> None:
    """Gives each part its rows of the weight: somebody may have written to that."""
    for part, weight, own in zip(parts, weights, rows):
        if own is not None:
            raw("Assign")(part, weight[own.begin : own.end])


def give_rows(parts: tuple, weights: tuple, rows: tuple, at: Any) -> None:
    """Gives each weight the parts of all processes."""
    for part, weight, own in zip(parts, weights, rows):
        if own is not None:
            raw("Assign")(weight, _exchange.all_gather(part, at))
