"""The linear sum assignment problem: one row at a time gets a column, along a shortest augmenting path."""

from __future__ import annotations

import sys

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._checked import check_functions


def _assigned(cost: np.ndarray) -> np.ndarray:
    """The column of each row of a matrix with at least as many columns as rows."""
    rows, columns = cost.shape
    row_price, column_price = np.zeros(rows), np.zeros(columns)
    column_of, row_of = np.full(rows, -1), np.full(columns, -1)
    for start in range(rows):
        distance, before = np.full(columns, np.inf), np.full(columns, -1)
        seen, row, so_far, end = np.zeros(columns, bool), start, 0.0, -1
        while end < 0:  # Dijkstra's algorithm: to the nearest column that is free
            through = so_far + cost[row] - row_price[row] - column_price
            shorter = ~seen & (through < distance)
            distance[shorter], before[shorter] = through[shorter], row
            open_ = np.where(seen, np.inf, distance)
            least = open_.min()
            if np.isinf(least):
                raise ValueError(
                    "For 'linear_sum_assignment', there must be an assignment of finite cost, but got none."
                )
            nearest = np.flatnonzero(open_ == least)
            free = nearest[row_of[nearest] < 0]
            column, so_far = int(free[0] if len(free) else nearest[0]), float(least)
            seen[column] = True
            end, row = (column, row) if row_of[column] < 0 else (-1, int(row_of[column]))
        row_price[start] += so_far
        others = np.flatnonzero(seen & (row_of >= 0))
        row_price[row_of[others]] += so_far - distance[others]
        column_price[seen] -= so_far - distance[seen]
        while end >= 0:
            row = int(before[end])
            row_of[end] = row
            column_of[row], end = end, column_of[row]
    return column_of


def linear_sum_assignment(
    cost_matrix: Tensor, maximize: bool, dimension_limit: Tensor | int | None = None
) -> tuple[Tensor, Tensor]:
    """Rows and columns, each once, whose elements have the least sum.

    Args:
        cost_matrix: The costs, a matrix.
        maximize: Whether the sum is to be the largest instead.
        dimension_limit: How many columns count; all by default.

    Returns:
        The rows, in rising order, and their columns: Int64, as many as the shorter side of the matrix has elements. Where fewer columns
        count, -1 fills up both.
    """
    if cost_matrix.ndim != 2:
        raise ValueError(
            f"For 'linear_sum_assignment', 'cost_matrix' must be a matrix, but got shape {cost_matrix.shape}."
        )
    limit = cost_matrix.shape[1] if dimension_limit is None else int(dimension_limit)
    if limit < 1 and dimension_limit is not None:
        raise ValueError(
            f"For 'linear_sum_assignment', 'dimension_limit' must be greater than 0, but got {limit}."
        )
    cost = cost_matrix.asnumpy().astype(np.float64)[:, :limit]
    cost = -cost if maximize else cost
    if np.isnan(cost).any() or np.isneginf(cost).any():
        raise ValueError(
            "For 'linear_sum_assignment', 'cost_matrix' must have neither NaN nor an infinite gain, but got one."
        )
    if cost.shape[0] > cost.shape[1]:
        row_of = _assigned(cost.T)
        columns = np.argsort(row_of)
        rows = row_of[columns]
    else:
        rows, columns = np.arange(cost.shape[0]), _assigned(cost)
    missing = min(cost_matrix.shape) - len(rows)
    rows, columns = (np.pad(x, (0, missing), constant_values=-1) for x in (rows, columns))
    return Tensor(rows, _core.int64), Tensor(columns, _core.int64)


check_functions(sys.modules[__name__], ["linear_sum_assignment"])
